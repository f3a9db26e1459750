"""sweepd verify: what it compares, and that it says so."""
import re
import subprocess

import numpy as np
import pytest


def verify(sweepd, *words):
    return subprocess.run([sweepd, "verify", *map(str, words)], capture_output=True, text=True, timeout=300)


@pytest.fixture
def path(tmp_path):
    close = 100.0 * np.exp(np.cumsum(0.01 * np.random.default_rng(3).standard_normal(700)))
    close[300:360] = close[300]
    np.save(tmp_path / "bars.npy", close)
    return tmp_path / "bars.npy"


def test_every_kernel_is_compared_and_found_identical(sweepd, path):
    done = verify(sweepd, path)
    assert done.returncode == 0, done.stdout + done.stderr
    version = subprocess.run([sweepd, "--version"], capture_output=True, text=True, check=True).stdout
    for kernel in re.search(r"^kernels: (.+)$", version, re.M)[1].split():
        assert re.search(rf"^{kernel} +identical on 1, 2, 3 and 8 threads, entry first and cross$", done.stdout, re.M)
    assert done.stdout.endswith("identical: 80 combos over 700 bars, every column bit for bit\n")


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
