"""bench/kernels.py and bench/python.py: that they time only what was proved, and what they report. How fast anything is, no test
says."""
import importlib.util
import json
import re
import subprocess
import sys

import numpy as np
import pytest

import sweepd as package
from conftest import ROOT


def run(sweepd, *options):
    command = [sys.executable, ROOT / "bench" / "kernels.py", "--builds", "installed", "--bars", "500", "--rounds", "3", *options]
    return subprocess.run(
        list(map(str, command)), env={"PATH": "/usr/bin:/bin", "SWEEPD": sweepd}, capture_output=True, text=True, check=False
    )


def test_every_kernel_joins_by_its_name_and_every_shape_is_proved(sweepd, tmp_path):
    done = run(sweepd, "--shapes", "randwalk,nan-holes", "--out", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert [shape["shape"] for shape in report["shapes"]] == ["randwalk", "nan-holes"]
    for shape in report["shapes"]:
        names = [row["contender"] for row in shape["rows"]]
        assert names[0] == "numba"
        assert {name.split(",")[0].split()[0] for name in names[1:]} == set(package.kernels())
        for row in shape["rows"]:
            assert 0 < row["seconds"]["min"] <= row["seconds"]["median"] <= row["seconds"]["max"]
            assert row["times_numba"]["min"] <= row["times_numba"]["median"] <= row["times_numba"]["max"]
        assert shape["rows"][0]["times_numba"] == {"min": 1, "median": 1, "max": 1}
        assert f"hash {shape['hash']}" in done.stdout


class Contender:
    """Gives a table that is all zeros but for one PnL."""

    def __init__(self, name, pnl, folder):
        self.name, self.path = name, str(folder / f"{name}.npy")
        table = np.zeros((80, 8), np.int64)
        table[3, 0] = pnl
        np.save(self.path, table)

    def ask(self, **request):
        return {"table": self.path} if request.get("table") else {"hash": "1"}


def test_a_contender_that_differs_ends_the_run(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import kernels

    close_path = str(tmp_path / "close.npy")
    np.save(close_path, np.ones(3))
    same = [Contender("numba", 1, tmp_path), Contender("strict", 1, tmp_path)]
    assert kernels.prove(same, close_path) == "1"
    with pytest.raises(SystemExit, match="other is not identical to the reference.*combo 3"):
        kernels.prove([*same, Contender("other", 2, tmp_path)], close_path)


def test_the_python_bench_tells_every_goal_and_what_came_of_it(sweepd):
    words = [sys.executable, ROOT / "bench" / "python.py", "--rounds", "1", "--trips", "5", "--sweeps", "2", "--bars", "2000"]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    goals = [line for line in done.stdout.splitlines() if "at most" in line]
    assert len(goals) == 10 and all("**met**" in line or "**missed**" in line for line in goals)
    for table in "echo, microseconds", "80 combos over 2,000 bars", "a whole sweep call|skipped: sweepd-http", "steal":
        assert re.search(table, done.stdout)


def test_the_python_bench_ends_where_numbers_differ(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    spec = importlib.util.spec_from_file_location("bench_python", ROOT / "bench" / "python.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.gate({"one": b"12", "two": b"12"}, b"12")
    with pytest.raises(SystemExit, match="two gives other numbers: nothing is timed"):
        module.gate({"one": b"12", "two": b"13"}, b"12")
