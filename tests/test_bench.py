"""bench/kernels.py, bench/python.py and bench/boundary.py: that they time only what was proved, and what they report. How fast anything is, no test
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

sys.path.append(str(ROOT / "bench"))

import boundary  # noqa: E402
import kernels  # noqa: E402
import report  # noqa: E402


def run(sweepd, *options):
    command = [sys.executable, ROOT / "bench" / "kernels.py", "--builds", "installed", "--bars", "500", "--rounds", "3", *options]
    return subprocess.run(
        list(map(str, command)), env={"PATH": "/usr/bin:/bin", "SWEEPD": sweepd}, capture_output=True, text=True, check=False
    )


def test_every_kernel_joins_by_its_name_and_each_table_is_of_the_samples(sweepd, tmp_path):
    done = run(sweepd, "--only", "headline", "--kernels", ",".join(package.kernels()), "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    samples = json.loads((tmp_path / "headline.json").read_text())["samples"]
    names = list(samples["seconds"])
    assert names[0] == "numba"
    assert {name.split(",")[0].split()[0] for name in names[1:]} == set(package.kernels())
    table = (tmp_path / "headline.md").read_text()
    assert samples["hash"] in table and table.partition("<!--")[0].strip() in done.stdout
    for name, seconds in samples["seconds"].items():
        assert len(seconds) == 3 and min(seconds) > 0
        assert f"| {name} | {report.shown(seconds, 1e3)} |" in table


def test_every_shape_is_proved_and_the_worst_is_named(sweepd, tmp_path):
    done = run(sweepd, "--only", "shapes", "--shapes", "randwalk,nan-holes", "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    shapes = json.loads((tmp_path / "shapes.json").read_text())["samples"]
    assert [shape["shape"] for shape in shapes] == ["randwalk", "nan-holes"]
    assert all(name == "numba" or name.startswith("certified ") for name in shapes[0]["seconds"])
    assert "| worst of the medians |" in done.stdout


def test_a_section_that_is_not_there_is_refused_with_those_that_are(sweepd):
    done = run(sweepd, "--only", "shades")
    assert done.returncode == 2 and "shades" in done.stderr and "shapes" in done.stderr


def test_numbers_keep_three_digits_that_count():
    assert [report.number(v) for v in (0.0123456, 1.23456, 12.3456, 123.456, 1234.56, 0.0)] == [
        "0.0123", "1.23", "12.3", "123", "1,235", "0"]


def test_a_slow_base_stands_for_the_rounds_after_it():
    assert kernels.ratios_to([10.0, 20.0], [1.0, 2.0, 4.0, 5.0]) == [10.0, 5.0, 5.0, 4.0]
    assert kernels.fastest_strict({"numba": [9.0], "strict, gcc": [3.0, 4.0], "strict, clang": [2.0, 5.0]}) == [2.0, 4.0]


class Contender:
    """Gives a table that is all zeros but for one PnL."""

    def __init__(self, name, pnl, folder):
        self.name, self.path = name, str(folder / f"{name}.npy")
        table = np.zeros((80, 8), np.int64)
        table[3, 0] = pnl
        np.save(self.path, table)

    def ask(self, **request):
        return {"table": self.path, "hash": "1"}


def test_a_contender_that_differs_ends_the_run(tmp_path):
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


def test_the_boundary_bench_tells_every_goal_and_keeps_every_sample(sweepd, tmp_path):
    words = [sys.executable, ROOT / "bench" / "boundary.py", "--rounds", "2", "--trips", "5", "--pairs", "3", "--seconds", "0.1",
             "--program", sweepd, "--out", tmp_path]
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    met_or_missed = [line for line in done.stdout.splitlines() if re.search(r"\*\*(met|missed)\*\* \|$", line)]
    assert len(met_or_missed) == 8 + 1 + 5 + 1
    counts = {}
    for section in ("echoes", "spinning", "sweeps", "stdio"):
        rows = json.loads((tmp_path / f"boundary-{section}.json").read_text())["samples"]
        assert sum(row["goal"] is not None for row in rows) == sum(line in (tmp_path / f"boundary-{section}.md").read_text()
                                                                   for line in met_or_missed)
        counts.update({row["name"]: len(row["values"]) for row in rows})
    assert counts["ours, not spinning, one core"] == 2 and counts["batch, preloaded: how much more"] == 3


def test_a_goal_is_met_by_the_median_at_most():
    row = {"table": "Echo of 8 bytes: ratios", "name": "ours / bare", "unit": "x", "goal": 1.15, "values": [1.0, 1.15, 9.0]}
    assert boundary.goal_row(row) == ["8 bytes: ours / bare", "1.15 x", "1.15 x", "**met**"]
    assert boundary.goal_row({**row, "values": [1.0, 1.2, 1.3]})[-1] == "**missed**"
