"""sweepd verify: what it compares, and that it says so."""
import json
import os
import pathlib
import re
import shlex
import struct
import subprocess

import numpy as np
import pytest

from conftest import ROOT


def verify(sweepd, *words):
    return subprocess.run([sweepd, "verify", *map(str, words)], capture_output=True, text=True, timeout=300)


@pytest.fixture
def path(tmp_path):
    close = 100.0 * np.exp(np.cumsum(0.01 * np.random.default_rng(3).standard_normal(700)))
    close[300:360] = close[300]
    np.save(tmp_path / "bars.npy", close)
    return tmp_path / "bars.npy"


def version(sweepd, **kwargs):
    text = subprocess.run([sweepd, "--version"], capture_output=True, text=True, check=True, **kwargs).stdout
    return re.search(r"^kernels: (.+)$", text, re.M)[1].split(), re.search(r"^instruction set: (.+)$", text, re.M)[1]


def test_every_kernel_of_every_instruction_set_is_compared_and_found_identical(sweepd, path):
    done = verify(sweepd, path)
    assert done.returncode == 0, done.stdout + done.stderr
    kernels, best = version(sweepd)
    for kernel in kernels:
        assert re.search(rf"^{kernel} +c +identical on 1, 2, 3 and 8 threads, entry first and cross$", done.stdout, re.M)
    isas = ["c", "avx2", "avx512"][: ["c", "avx2", "avx512"].index(best) + 1]
    for isa in isas:
        assert re.search(rf"^exact +{isa} +identical", done.stdout, re.M)
    runs = 8 * len(re.findall(r" identical on 1, 2, 3 and 8 threads", done.stdout))
    assert done.stdout.endswith(f"identical: 80 combos over 700 bars in {runs} runs, every column bit for bit\n")


def test_swp_isa_narrows_it_to_one_instruction_set(sweepd, path):
    done = subprocess.run([sweepd, "verify", path], env={**os.environ, "SWP_ISA": "c"}, capture_output=True, text=True)
    assert done.returncode == 0
    assert set(re.findall(r"^\S+ +(\S+) +identical on", done.stdout, re.M)) == {"c"}


def test_swp_isa_that_names_nothing_is_refused(sweepd, path):
    for words in (["verify", path], ["sweep", path], ["bench", "sweep"], ["--version"]):
        done = subprocess.run([sweepd, *words], env={**os.environ, "SWP_ISA": "sse9"}, capture_output=True, text=True)
        assert done.returncode == 1
        assert "SWP_ISA names no instruction set; expected c, avx2 or avx512" in done.stderr


def test_it_takes_combos_as_sweep_does(sweepd, path, tmp_path):
    file = tmp_path / "combos.csv"
    file.write_text("3,6,2,1,2,3\n9,9,9,9,9,9\n")
    assert "identical: 2 combos over" in verify(sweepd, path, "--params", file).stdout
    assert "identical: 6 combos over" in verify(sweepd, path, "--length", "6,9", "--length3", "3:5").stdout
    assert verify(sweepd, path, "--length", "x").returncode == 2


def test_it_verifies_series_with_holes(sweepd, tmp_path):
    close = np.arange(1.0, 200.0)
    close[[3, 50, 51]] = [np.nan, np.inf, -1.0]
    np.save(tmp_path / "holes.npy", close)
    done = verify(sweepd, tmp_path / "holes.npy", "--allow", "nan,inf,nonpositive", "--length", "1:30")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_that_is_not_there_is_an_error(sweepd, tmp_path):
    done = verify(sweepd, tmp_path / "no.npy")
    assert done.returncode == 1 and "no.npy" in done.stderr


# ---- they can fail ----


@pytest.fixture(scope="module")
def mistaken(sweepd, tmp_path_factory):
    """The same program with a mistake in one kernel, strict-checked: its windows are one bar short."""
    build = pathlib.Path(sweepd).parent
    if not (build / "build.ninja").is_file():
        pytest.skip(f"{build} is no build folder to link another program in")
    folder = tmp_path_factory.mktemp("mistaken")
    kernel = "src/kernel/hma_cross_strict.inc"
    text = (ROOT / kernel).read_text()
    loop = "for (int64_t k = 0; k < m; k++) {"
    assert text.count(loop) == 1
    (folder / "kernel").mkdir()
    (folder / "kernel" / "hma_cross_strict.inc").write_text(text.replace(loop, loop.replace("k = 0", "k = 1")))
    commands = subprocess.run(["ninja", "-C", build, "-t", "commands", "sweepd"], capture_output=True, text=True, check=True)
    lines = [line for line in commands.stdout.splitlines() if not line.startswith("ninja:")]
    compiling = shlex.split(next(line for line in lines if "hma_cross_strict_checked.c.o " in line))
    compiling[compiling.index("-o") + 1] = str(folder / "kernel.o")
    compiling[compiling.index("-MF") + 1] = str(folder / "kernel.d")
    subprocess.run([compiling[0], f"-I{folder}", *compiling[1:]], cwd=build, check=True)
    linking = shlex.split(lines[-1])
    linking[linking.index("-o") + 1] = str(folder / "sweepd")
    subprocess.run([linking[0], str(folder / "kernel.o"), *linking[1:]], cwd=build, check=True)
    return str(folder / "sweepd")


def test_verify_tells_the_first_difference_of_each_run_and_fails(mistaken, path):
    done = verify(mistaken, path, "--length", "9,30")
    assert done.returncode == 1 and done.stderr == ""
    found = re.findall(r"^DIFFERENT: kernel (\S+) \(c\), (\d) threads?, entry (first|cross), combo (\d), "
                       r"length (\d+) \([\d,]+\): pnl is (\S+) \(0x([0-9a-f]{16})\), expected (\S+) \(0x([0-9a-f]{16})\)$",
                       done.stdout, re.M)
    assert [f[:3] for f in found] == [("strict-checked", t, e) for e in ("first", "cross") for t in "1238"]
    for *_, combo, length, got, got_bits, expected, expected_bits in found:
        assert (combo, length) == ("0", "9")
        for decimal, bits in ((got, got_bits), (expected, expected_bits)):
            assert struct.pack(">d", float(decimal)).hex() == bits
        assert got != expected
    right = json.loads(subprocess.run([mistaken, "sweep", path, "--length", "9", "--format", "json", "--kernel", "strict"],
                                      capture_output=True, check=True).stdout)["combos"][0]["pnl"]
    assert float(found[0][7]) == right
    assert re.search(r"^strict +c +identical", done.stdout, re.M)
    assert re.search(r"^NOT identical: 8 of \d+ runs differ from the strict kernel on one thread\n\Z", done.stdout, re.M)


def test_bench_refuses_to_time_a_difference(mistaken):
    done = subprocess.run([mistaken, "bench", "sweep", "--bars", "500", "--kernel", "strict-checked"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and done.stdout == ""
    assert "before timing, kernel strict-checked is not the strict one and is not timed: combo 0, pnl is" in done.stderr
