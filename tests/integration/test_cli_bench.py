"""sweepd bench sweep: its report, and that it is about what it says."""
import json
import re
import subprocess

import pytest

SMALL = ["--bars", "2000", "--combos", "5", "--runs", "4"]


def bench(sweepd, *words):
    done = subprocess.run([sweepd, "bench", "sweep", *words], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def report(sweepd, *words):
    return json.loads(bench(sweepd, *SMALL, "--format", "json", *words))


def test_report_names_the_input_and_spreads_the_runs(sweepd):
    r = report(sweepd, "--shape", "tick-grid", "--threads", "2")
    assert (r["bench"], r["shape"], r["bars"], r["combos"], r["runs"], r["threads"]) == (
        "sweep", "tick-grid", 2000, 5, 4, 2)
    assert r["gate"] == "identical to strict"
    assert 0 < r["seconds"]["min"] <= r["seconds"]["median"] <= r["seconds"]["max"]
    for name, seconds in r["seconds"].items():
        assert r["ns_per_bar_and_combo"][name] == pytest.approx(seconds * 1e9 / (2000 * 5))


def test_combos_are_a_sweeps_own_options_and_samples_are_told(sweepd):
    r = json.loads(bench(sweepd, "--bars", "2000", "--runs", "4", "--format", "json", "--length", "6:40:2", "--length3", "10,20"))
    assert r["combos"] == 36 and len(r["samples"]) == 4 and r["first_seconds"] > 0
    assert (min(r["samples"]), max(r["samples"])) == (r["seconds"]["min"], r["seconds"]["max"])


def test_one_by_one_gives_what_a_batch_gives(sweepd):
    batch, calls = report(sweepd), report(sweepd, "--one-by-one")
    assert batch["hash"] == calls["hash"] and not batch["one_by_one"] and calls["one_by_one"]


def test_numbers_may_be_held_against_another_kernel(sweepd):
    assert report(sweepd, "--against", "exact")["gate"] == "identical to exact"


def test_combos_stands_beside_no_other_choice_of_combos(sweepd):
    done = subprocess.run([sweepd, "bench", "sweep", "--combos", "5", "--length", "6"], capture_output=True, text=True)
    assert done.returncode == 1 and "--combos makes the combos" in done.stderr


def test_hash_is_the_same_for_every_kernel_and_thread_count_and_not_for_another_input(sweepd):
    kernels = subprocess.run([sweepd, "--version"], capture_output=True, text=True, check=True).stdout
    kernels = re.search(r"^kernels: (.+)$", kernels, re.M)[1].split()
    hashes = {report(sweepd, "--kernel", k, "--threads", t)["hash"] for k in kernels for t in ("1", "3")}
    assert len(hashes) == 1
    assert re.fullmatch(r"[0-9a-f]{32}", hashes.pop())
    assert len({report(sweepd, "--seed", s)["hash"] for s in ("1", "2")}) == 2


def test_hash_is_xxh3_128_over_pnl_then_trades(sweepd):
    """One combo over a constant price has no trade: 0.0 and 0 are sixteen zero bytes. The digest is what libxxhash gives."""
    r = report(sweepd, "--shape", "constant", "--combos", "1")
    assert r["hash"] == "e5189a9599e3f86205ea23ef06e28b2d"


def test_many_combos_are_all_different_pairs(sweepd):
    assert report(sweepd, "--combos", "400", "--bars", "500", "--runs", "1")["combos"] == 400


def test_table_is_for_people(sweepd):
    text = bench(sweepd, *SMALL, "--shape", "constant")
    assert text.startswith("constant, seed 42: 2000 bars x 5 combos; kernel auto")
    assert re.search(r"seconds +\d+\.\d{6} +\d+\.\d{6} +\d+\.\d{6}\n", text)
    assert re.search(r"identical to the strict kernel; result hash [0-9a-f]{32}\n$", text)
