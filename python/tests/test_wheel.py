"""The wheel: built as a user's pip builds it, one file for every Python from 3.11 on, and whole."""
import os
import shutil
import subprocess
import sys
import zipfile

import pytest

from conftest import ROOT


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    pytest.importorskip("mesonpy", reason="meson-python is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build*", ".*", "__pycache__", "dist", "demo"))
    command = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", str(folder), str(source)]
    tools_first = {**os.environ, "PATH": os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]}
    done = subprocess.run(command, env=tools_first, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_it_is_for_the_stable_abi(wheel):
    assert "-cp311-abi3-" in wheel.name


def test_it_holds_the_package_and_the_program_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    package = sorted(name for name in names if not name.split("/")[0].endswith(".dist-info"))
    (program,) = [name for name in package if name.endswith(".data/scripts/sweepd")]
    package.remove(program)
    assert package == sorted(f"sweepd/{name}" for name in (
        "__init__.py", "_core.abi3.so", "_core.pyi", "_engine.py", "_errors.py", "_grid.py", "_inputs.py", "_live.py",
        "_result.py", "_sweep.py", "_timeout.py", "py.typed",
    ))


def test_it_sweeps_from_where_it_is_unpacked(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    script = "import sweepd; print(sweepd.__file__); print(sweepd.sweep([1.0, 3, 2, 5, 4, 6], length=[1, 2]).trades.tolist())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(tmp_path / "sweepd" / "__init__.py"), "[0, 4]"]
