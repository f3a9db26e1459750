"""One truth over builds (parity.py), and what would change it without a word: options of the compiler, a library in the process."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT
from reference import gate, isa, parity

MESON = [sys.executable, "-m", "mesonbuild.mesonmain"]


@pytest.mark.parametrize("name", [make.__name__ for make in parity.SERIES])
def test_the_committed_hashes_are_the_references(name):
    case = next(case for case in parity.cases() if case.name == name)
    expected = next(row for row in parity.golden() if row["name"] == name)
    assert parity.sha256(case.close.astype("<f8")) == expected["closes"]
    assert parity.sha256(gate.reference_table(case).astype("<i8")) == expected["results"]


def test_every_kernel_and_instruction_set_gives_the_committed_hashes(sweepd):
    assert parity.check_program([sweepd]) == len(parity.SERIES) * len(parity.KERNELS) * len(isa.of_this_machine())


def test_a_result_that_differs_in_one_bit_is_found(sweepd, monkeypatch):
    honest = parity.program_table

    def off_by_a_bit(case, **kwargs):
        table = honest(case, **kwargs)
        if case.name == "coin":
            table[3, 0] ^= 1
        return table

    monkeypatch.setattr(parity, "program_table", off_by_a_bit)
    with pytest.raises(AssertionError, match="kernel strict, SWP_ISA=c: .*coin"):
        parity.check_program([sweepd])


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast", "-ffp-contract=fast", "-funsafe-math-optimizations", "-fassociative-math",
                                  "-freciprocal-math", "-ffinite-math-only", "-fno-signed-zeros", "-frounding-math"])
def test_a_build_with_an_option_that_changes_the_numbers_is_refused(tmp_path, flag):
    done = subprocess.run([*MESON, "setup", tmp_path / "build", ROOT, f"-Dc_args=-g {flag}"], capture_output=True, text=True)
    assert done.returncode != 0
    assert f"{flag} changes the numbers, which are specified to the bit" in done.stdout


def test_an_allowed_option_is_not_taken_for_one_that_changes_the_numbers(tmp_path):
    """Else the test above would pass whatever is refused."""
    done = subprocess.run([*MESON, "setup", tmp_path / "build", ROOT, "-Dc_args=-g -fno-math-errno"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.fixture(scope="module")
def flushing_library(tmp_path_factory):
    """A library that switches subnormals off in the process that loads it, as those built by -Ofast have done."""
    folder = tmp_path_factory.mktemp("flushing")
    if "x86_64" not in os.uname().machine:
        pytest.skip("the library that flushes subnormals is for x86-64")
    (folder / "flush.c").write_text(
        "#include <xmmintrin.h>\n"
        "__attribute__((constructor)) static void flush(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }\n"
        "double twice(double x) { volatile double y = x; return y * 2; }\n", encoding="utf-8")
    subprocess.run([shutil.which("gcc") or "cc", "-O2", "-shared", "-fPIC", folder / "flush.c", "-o", folder / "flush.so"], check=True)
    return str(folder / "flush.so")


@pytest.mark.parametrize("kernel", parity.KERNELS)
def test_a_library_that_flushes_subnormals_changes_nothing_in_the_program(sweepd, flushing_library, kernel):
    if b"__asan_init" in pathlib.Path(sweepd).read_bytes():
        pytest.skip("the sanitizers' library must come first")
    case = next(case for case in parity.cases() if case.name == "tiny")
    expected = next(row for row in parity.golden() if row["name"] == "tiny")
    for name in isa.of_this_machine():
        table = parity.program_table(case, [sweepd], kernel, {"SWP_ISA": name, "LD_PRELOAD": flushing_library})
        assert parity.sha256(table.astype("<i8")) == expected["results"]


IN_PYTHON = """
import ctypes, sys
import numpy as np
sys.path.insert(0, sys.argv[2])
from reference import gate, parity
case = next(case for case in parity.cases() if case.name == "tiny")
before = case.close.view(np.int64).copy()
library = ctypes.CDLL(sys.argv[1])
library.twice.restype, library.twice.argtypes = ctypes.c_double, [ctypes.c_double]
assert library.twice(5e-324) == 0.0, "subnormals are not flushed here"
print(parity.sha256(gate.package_table(case, threads=int(sys.argv[3])).astype("<i8")))
assert (case.close.view(np.int64) == before).all()
assert library.twice(5e-324) == 0.0, "the caller's own state is left as it was"
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_a_library_that_flushes_subnormals_changes_nothing_in_python(flushing_library, threads):
    expected = next(row for row in parity.golden() if row["name"] == "tiny")
    done = subprocess.run([sys.executable, "-c", IN_PYTHON, flushing_library, str(parity.TESTS), str(threads)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == expected["results"]


SESSION = """
import pathlib, sys
import numpy as np
import sweepd
sys.path.insert(0, sys.argv[1])
from reference import parity
close = np.array(parity.walk())
with sweepd.connect("inproc:") as engine:
    if sys.argv[2] == "save":
        live = engine.live(length=list(parity.LENGTHS), fee=0.09, warmup=close[:900])
        live.push(close[900:1000])
    else:
        live = engine.restore(pathlib.Path(sys.argv[3]).read_bytes())
        live.push(close[1000:])
    pathlib.Path(sys.argv[4]).write_bytes(live.snapshot())
"""


def test_a_session_saved_under_one_instruction_set_goes_on_under_another(tmp_path):
    """Snapshots are the same bytes whoever makes them, and whoever goes on from them."""
    names = isa.of_this_machine()

    def run(name, *words):
        done = subprocess.run([sys.executable, "-c", SESSION, str(parity.TESTS), *map(str, words)], capture_output=True, text=True,
                              env={**os.environ, "SWP_ISA": name})
        assert done.returncode == 0, done.stderr

    for name in names:
        run(name, "save", "-", tmp_path / f"saved-{name}")
        for other in names:
            run(other, "restore", tmp_path / f"saved-{name}", tmp_path / f"ended-{name}-{other}")
    assert len({(tmp_path / f"saved-{name}").read_bytes() for name in names}) == 1
    assert len({path.read_bytes() for path in tmp_path.glob("ended-*")}) == 1
    assert len(list(tmp_path.glob("ended-*"))) == len(names) ** 2
