"""sweepd sweep: a file of bars in, results out, in every format, whole, ranked, interrupted or refused."""
import csv
import io
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import time

import numpy as np
import pytest

from reference.cases import params_of_length
from reference.gate import Case, FLOATS, plain_table

JSON = ["--format", "json"]


def walk(bars, seed=1):
    return 100.0 * np.exp(np.cumsum(0.01 * np.random.default_rng(seed).standard_normal(bars)))


@pytest.fixture
def bars_file(tmp_path):
    """Writes closes as .npy and returns the path."""
    def write(close, name="bars.npy"):
        path = tmp_path / name
        np.save(path, np.asarray(close, "<f8"))
        return path

    return write


def run(sweepd, *words, **kwargs):
    words = [str(word) for word in words]
    return subprocess.run([sweepd, "sweep", *words], capture_output=True, text=True, timeout=300, **kwargs)


def ok(sweepd, *words, **kwargs):
    done = run(sweepd, *words, **kwargs)
    assert done.returncode == 0, done.stderr
    return done.stdout


def swept(sweepd, *words):
    return json.loads(ok(sweepd, *words, *JSON))


def number(value):
    """JSON's number or the string that stands for what is not finite."""
    return float(value.replace("Infinity", "inf")) if isinstance(value, str) else value


def table_of_json(result):
    """As the gate's tables: the bits of every column."""
    rows = []
    for combo in result["combos"]:
        trade = combo["open"] or {"side": 0, "entry_bar": -1, "entry": 0.0, "last": 0.0, "pnl": 0.0}
        first = -1 if combo["first_bar"] is None else combo["first_bar"]
        columns = [combo["pnl"], combo["trades"], first, trade["side"], trade["entry_bar"], trade["entry"], trade["last"],
                   trade["pnl"]]
        rows.append(columns)
    return rows


def assert_is_reference(rows, close, params, fee=0.09, entry="first"):
    expected = plain_table(Case("", np.asarray(close, np.float64), np.array(params), fee, entry))
    assert len(rows) == len(expected)
    for row, reference in zip(rows, expected.tolist(), strict=True):
        for field, got, bits in zip(("pnl", "trades", "first_bar", "side", "entry_bar", "entry", "last", "open_pnl"), row,
                                    reference, strict=True):
            if field in FLOATS:
                value = number(got)
                assert isinstance(value, float), (field, got)
                got = int(np.float64(value).view(np.int64)) if not math.isnan(value) else 0x7FF8000000000000
            assert got == bits, field


# ---- numbers and formats ----


@pytest.mark.parametrize("entry", ["first", "cross"])
@pytest.mark.parametrize("fee", [0.09, 0.0, -1.5])
def test_json_is_the_reference_to_the_bit(sweepd, bars_file, entry, fee):
    close = walk(300)
    result = swept(sweepd, bars_file(close), "--length", "2:40:3", "--fee", fee, "--entry", entry)
    lengths = list(range(2, 41, 3))
    assert [c["length"] for c in result["combos"]] == lengths
    assert [c["params"] for c in result["combos"]] == [params_of_length(n) for n in lengths]
    assert_is_reference(table_of_json(result), close, [params_of_length(n) for n in lengths], fee, entry)


def test_json_has_exactly_the_documented_members_in_order(sweepd, bars_file):
    text = ok(sweepd, bars_file(walk(60)), "--length", "9,100", *JSON)
    result = json.loads(text)
    assert list(result) == ["series", "strategy", "fee", "combos"]
    assert result["series"] == {"bars": 60} and result["strategy"] == "hma-cross" and result["fee"] == 0.09
    trading, too_short = result["combos"]
    assert list(trading) == ["length", "params", "pnl", "trades", "first_bar", "open"]
    assert list(trading["open"]) == ["side", "entry_bar", "entry", "last", "pnl"]
    assert trading["open"]["side"] in (1, -1)
    assert too_short == {"length": 100, "params": params_of_length(100), "pnl": 0.0, "trades": 0, "first_bar": None,
                         "open": None}


def test_json_doubles_are_the_shortest_that_read_back(sweepd, bars_file):
    """Python writes the shortest, too: what it reads it writes again, letter for letter."""
    text = ok(sweepd, bars_file(walk(2000, 5)), "--length", "2:60", "--fee", "1e-05", *JSON)
    assert text.startswith('{"series":{"bars":2000},"strategy":"hma-cross","fee":1e-05,"combos":[\n')
    assert json.dumps(json.loads(text), separators=(",", ":")) == text.replace("\n", "")


def test_json_says_not_finite_in_words_and_keeps_the_sign_of_zero(sweepd, bars_file):
    close = [1.0, 3.0, 2.0, 4.0, math.inf, 2.0, 1.0, 3.0, 2.0, 2.5]
    path = bars_file(close)
    result = swept(sweepd, path, "--length", "1,2,3", "--allow", "inf")
    assert_is_reference(table_of_json(result), close, [params_of_length(n) for n in (1, 2, 3)])
    text = ok(sweepd, bars_file([5.0, 4.0, 6.0, 3.0, 1e308, 1e-308, 1e308], "b.npy"), "--length", "2,3", *JSON)
    for word in re.findall(r":(-?(?:NaN|Infinity))", text):
        pytest.fail(f"{word} without quotes")
    # short at 3.0, still at 3.0: the open trade's pnl is -1 * 0 / 3 * 100 = -0.0
    flat = [9.0, 9.0, 3.0, 3.0]
    rows = table_of_json(swept(sweepd, bars_file(flat, "c.npy"), "--length", "2"))
    assert_is_reference(rows, flat, [params_of_length(2)])


def test_csv_holds_what_json_holds(sweepd, bars_file):
    path = bars_file(walk(120))
    lines = ok(sweepd, path, "--length", "5:100:5", "--format", "csv").splitlines()
    assert lines[0] == ("length,half,full,smooth,third,mid,p,pnl,trades,first_bar,open_side,open_entry_bar,open_entry,"
                        "open_last,open_pnl")
    combos = swept(sweepd, path, "--length", "5:100:5")["combos"]
    assert len(lines) == 1 + len(combos)
    for row, combo in zip(csv.DictReader(lines), combos, strict=True):
        assert int(row["length"]) == combo["length"]
        assert [int(row[k]) for k in ("half", "full", "smooth", "third", "mid", "p")] == combo["params"]
        assert (float(row["pnl"]), int(row["trades"])) == (combo["pnl"], combo["trades"])
        assert row["first_bar"] == ("" if combo["first_bar"] is None else str(combo["first_bar"]))
        trade = combo["open"]
        if trade is None:
            assert {row[k] for k in row if k.startswith("open_")} == {""}
        else:
            assert (int(row["open_side"]), int(row["open_entry_bar"])) == (trade["side"], trade["entry_bar"])
            assert [float(row[f"open_{k}"]) for k in ("entry", "last", "pnl")] == [
                trade[k] for k in ("entry", "last", "pnl")]


def test_length3_makes_the_product_with_the_second_fastest(sweepd, bars_file):
    close = walk(200)
    path = bars_file(close)
    result = swept(sweepd, path, "--length", "6,9", "--length3", "5:11:3")
    pairs = [(a, b) for a in (6, 9) for b in (5, 8, 11)]
    assert [(c["length"], c["length3"]) for c in result["combos"]] == pairs
    params = [params_of_length(a)[:3] + params_of_length(b)[3:] for a, b in pairs]
    assert [c["params"] for c in result["combos"]] == params
    assert_is_reference(table_of_json(result), close, params)
    lines = ok(sweepd, path, "--length", "6,9", "--length3", "5:11:3", "--format", "csv").splitlines()
    assert lines[0].startswith("length,length3,half,")
    assert [tuple(map(int, line.split(",")[:2])) for line in lines[1:]] == pairs


def test_params_from_csv_have_no_length(sweepd, bars_file, tmp_path):
    close = walk(200)
    params = [[3, 6, 2, 1, 2, 3], [1, 1, 1, 1, 1, 1], [9, 4, 2, 7, 3, 5], [150, 300, 12, 1, 2, 3]]
    file = tmp_path / "combos.csv"
    file.write_text("half,full,smooth,third,mid,p\n" + "\n".join(",".join(map(str, row)) for row in params))
    result = swept(sweepd, bars_file(close), "--params", file)
    assert all("length" not in c and "length3" not in c for c in result["combos"])
    assert [c["params"] for c in result["combos"]] == params
    assert_is_reference(table_of_json(result), close, params)


@pytest.mark.parametrize("dtype", ["<i8", ">i8", "<i4", "<u2", "|u1", ">u4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_params_from_npy_of_any_integer_and_order(sweepd, bars_file, tmp_path, dtype, order):
    params = np.array([[3, 6, 2, 1, 2, 3], [4, 8, 3, 1, 2, 4], [200, 17, 9, 1, 1, 30]], dtype, order=order)
    np.save(tmp_path / "combos.npy", params)
    combos = swept(sweepd, bars_file(walk(100)), "--params", tmp_path / "combos.npy")["combos"]
    assert [c["params"] for c in combos] == params.tolist()


@pytest.mark.parametrize(
    "params, says",
    [
        (np.ones((2, 6)), "dtype is floating point; parameters are whole numbers"),
        (np.ones(6, int), "shape (6): expected (n, 6)"),
        (np.ones((2, 5), int), "shape (2, 5): expected (n, 6)"),
        (np.ones((0, 6), int), "shape (0, 6): expected (n, 6)"),
        (np.array([[1] * 6, [1, 1, 1, 0, 1, 1]]), "row 1 (from 0): third is not within 1..2147483647"),
        (np.array([[1] * 6, [1, 1, -1, 1, 1, 1]]), "row 1 (from 0): smooth is not within 1..2147483647"),
        (np.array([[1, 2**31, 1, 1, 1, 1]]), "row 0 (from 0): full is not within 1..2147483647"),
        (np.array([[1, 1, 1, 1, 1, 2**63]], np.uint64), "row 0 (from 0): p is not within 1..2147483647"),
        (np.array([[True] * 6]), "dtype '|b1' is not read"),
    ],
)
def test_params_from_npy_are_refused_by_name(sweepd, bars_file, tmp_path, params, says):
    np.save(tmp_path / "combos.npy", params)
    done = run(sweepd, bars_file(walk(20)), "--params", tmp_path / "combos.npy")
    assert done.returncode == 1 and done.stdout == ""
    assert "combos.npy" in done.stderr and says in done.stderr


def test_params_from_npy_of_another_size_are_refused(sweepd, bars_file, tmp_path):
    file = tmp_path / "combos.npy"
    np.save(file, np.ones((100, 6), int))
    whole = file.read_bytes()
    for content in (whole[:-1], whole + b"x", whole[:60], b""):
        file.write_bytes(content)
        done = run(sweepd, bars_file(walk(20)), "--params", file)
        assert done.returncode == 1 and "combos.npy" in done.stderr


def test_nothing_of_a_locale_shows(sweepd, bars_file):
    path = bars_file(walk(100))
    for words in (JSON, ["--format", "csv"]):
        outputs = {ok(sweepd, path, *words, "--fee", "0.25", env={**os.environ, "LC_ALL": name})
                   for name in ("C", "de_DE.UTF-8", "hi_IN.UTF-8")}
        assert len(outputs) == 1


def test_results_are_in_input_order_for_any_kernel_and_thread_count(sweepd, bars_file):
    path = bars_file(walk(3000))
    words = ["--length", "40,9,9,200,3", *JSON]
    outputs = {ok(sweepd, path, *words, "--kernel", k, "--threads", t)
               for k in ("auto", "strict", "strict-checked") for t in (1, 2, 5)}
    assert len(outputs) == 1
    assert [c["length"] for c in json.loads(outputs.pop())["combos"]] == [40, 9, 9, 200, 3]


# ---- the table ----


def table_rows(text):
    lines = text.split("\n\n", 1)[1].splitlines()
    return [dict(zip(lines[0].split(), line.split())) for line in lines[1:] if re.match(r" *\d+  ", line)]


def test_table_ranks_by_pnl_and_shows_the_top(sweepd, bars_file):
    path = bars_file(walk(500))
    combos = swept(sweepd, path, "--length", "2:60")["combos"]
    best = sorted(combos, key=lambda c: -c["pnl"])
    text = ok(sweepd, path, "--length", "2:60", "--top", "7")
    rows = table_rows(text)
    assert [int(r["length"]) for r in rows] == [c["length"] for c in best[:7]]
    assert [r["pnl"] for r in rows] == [f"{c['pnl']:.2f}" for c in best[:7]]
    assert [int(r["rank"]) for r in rows] == list(range(1, 8))
    assert "... 52 more" in text
    assert len(table_rows(ok(sweepd, path, "--length", "2:60"))) == 20


def test_table_ranks_by_trades_with_ties_in_input_order(sweepd, bars_file):
    path = bars_file(walk(300))
    lengths = "30,8,8,8,14"
    combos = swept(sweepd, path, "--length", lengths)["combos"]
    expected = sorted(combos, key=lambda c: -c["trades"])
    rows = table_rows(ok(sweepd, path, "--length", lengths, "--rank", "trades"))
    assert [int(r["trades"]) for r in rows] == [c["trades"] for c in expected]
    assert [int(r["length"]) for r in rows] == [c["length"] for c in expected]


def test_table_heading_tells_series_combos_trades_and_seconds(sweepd, bars_file):
    path = bars_file(walk(400))
    trades = sum(c["trades"] for c in swept(sweepd, path)["combos"])
    text = ok(sweepd, path, "--threads", "1", "--kernel", "strict")
    heading = text.split("\n\n")[0]
    assert "400 bars" in heading
    assert re.search(rf"hma-cross, fee 0.09, entry first: 80 combos, {trades} trades in all; "
                     r"\d+\.\d{3} s on 1 thread, kernel strict$", heading)


def test_table_says_what_is_too_short_and_ranks_it_last(sweepd, bars_file):
    """A combo that cannot trade has a PnL of 0, which is no reason to stand above one that lost."""
    path = bars_file(walk(10))
    text = ok(sweepd, path, "--length", "9,3", "--fee", "50")
    rows = table_rows(text)
    assert [r["length"] for r in rows] == ["3", "9"]
    assert re.search(r"^ +2 +9 .* needs 11 bars, has 10$", text, re.M)
    assert "1 of 2 combos are too short of bars and never trade: the longest needs 11 bars, has 10" in text


def test_table_says_when_every_window_holds_a_nan(sweepd, bars_file):
    close = walk(60)
    close[::10] = math.nan
    text = ok(sweepd, bars_file(close), "--length", "3,40", "--allow", "nan")
    assert "a NaN in every window" in text
    assert "6" in text.split("\n\n")[0]


def test_study_fingerprint(sweepd, tmp_path):
    path = tmp_path / "study.npy"
    subprocess.run([sweepd, "generate", "--out", path], check=True, capture_output=True)
    combos = swept(sweepd, path)["combos"]
    assert len(combos) == 80
    assert combos[0]["params"] == [3, 6, 2, 1, 2, 3]
    assert f"{combos[0]['pnl']:.2f}" == "-5165.58" and combos[0]["trades"] == 57029
    assert sum(c["trades"] for c in combos) == 485310


# ---- people's files ----


@pytest.mark.parametrize(
    "name, trades, pnl, in_all",
    [
        ("eurusd_hourly.csv", [1942, 1461, 1022], ["-190.87332184", "-140.82114614", "-92.13297449"], 15804),
        ("gbpusd_1m_offset_no_volume.csv", [11448, 8555, 6045], None, 102146),
    ],
)
def test_market_files_give_the_figures_of_the_plan(sweepd, shared_data, name, trades, pnl, in_all):
    combos = swept(sweepd, shared_data / name, "--length", "6:200/80")["combos"]
    assert [c["trades"] for c in combos[:3]] == trades
    assert pnl is None or [f"{c['pnl']:.8f}" for c in combos[:3]] == pnl
    assert sum(c["trades"] for c in combos) == in_all


def test_what_was_recognised_goes_to_standard_error_beside_json(sweepd, bars_file):
    done = run(sweepd, bars_file(walk(50)), *JSON)
    assert re.match(r"read 50 bars", done.stderr)
    assert done.stdout.startswith("{")


@pytest.mark.parametrize(
    "close, allow, place",
    [([3, 2, 1, 0, -1, -2, 1, 3], "nonpositive", "0"), ([1, 2, math.nan, 3], "nan", "nan"), ([1, math.inf, 2], "inf", "inf")],
)
def test_closes_are_refused_unless_allowed(sweepd, bars_file, close, allow, place):
    path = bars_file(close)
    refused = run(sweepd, path)
    assert refused.returncode == 1 and refused.stdout == ""
    assert path.name in refused.stderr and place in refused.stderr.lower()
    result = swept(sweepd, path, "--length", "1,2", "--allow", allow)
    assert_is_reference(table_of_json(result), close, [params_of_length(n) for n in (1, 2)])


def test_a_file_that_is_not_there_is_an_error_with_its_name(sweepd, tmp_path):
    done = run(sweepd, tmp_path / "no.csv")
    assert done.returncode == 1 and done.stdout == ""
    assert "no.csv" in done.stderr and "No such file or directory" in done.stderr


# ---- refusals ----


@pytest.mark.parametrize(
    "words, says",
    [
        (["--length", "9:6"], '--length "9:6": LO 9 is above HI 6'),
        (["--length", "0:6"], "not within 1..2147483647"),
        (["--length3", "6;7"], '--length3 "6;7"'),
        (["--length", "1:65536", "--length3", "1:65536"], "65536 x 65536 are 4294967296 combos, at most 16777216"),
        (["--length", "1:2147483647"], "2147483647 lengths, at most 16777216"),
        (["--params", "p.csv", "--length", "6"], "--length and --length3 cannot stand beside it"),
        (["--params", "p.csv", "--length3", "6"], "--length and --length3 cannot stand beside it"),
        (["--format", "json", "--top", "5"], "--top is for the table"),
        (["--format", "csv", "--rank", "pnl"], "--rank is for the table"),
        (["--fee", "0,09"], '--fee is "0,09", expected a number, -100..100'),
        (["--delimiter", "x"], "expected comma, semicolon, tab, pipe"),
        (["--lenght", "6"], "did you mean --length?"),
    ],
)
def test_wrong_usage_exits_with_2_before_the_file_is_looked_at(sweepd, words, says):
    done = run(sweepd, "/nonexistent/bars.csv", *words)
    assert done.returncode == 2 and done.stdout == ""
    assert says in done.stderr


def test_a_bad_line_of_params_is_named(sweepd, bars_file, tmp_path):
    file = tmp_path / "combos.csv"
    file.write_text("3,6,2,1,2,3\n3,6,2,1,x,3\n")
    done = run(sweepd, bars_file(walk(20)), "--params", file)
    assert done.returncode == 1 and done.stdout == ""
    assert f'{file}:2: mid is "x", expected a whole number' in done.stderr


# ---- where it goes ----


def test_out_holds_what_standard_output_would(sweepd, bars_file, tmp_path):
    path, out = bars_file(walk(100)), tmp_path / "result"
    for words in (JSON, ["--format", "csv"]):
        expected = ok(sweepd, path, *words)
        assert ok(sweepd, path, *words, "--out", out) == ""
        assert out.read_text() == expected
    assert sorted(os.listdir(tmp_path)) == ["bars.npy", "result"]


def test_out_never_replaces_what_the_sweep_reads(sweepd, bars_file, tmp_path):
    path, combos = bars_file(walk(20)), tmp_path / "combos.csv"
    combos.write_text("3,6,2,1,2,3\n")
    (tmp_path / "link").symlink_to(path)
    before = path.read_bytes()
    for out in (path, tmp_path / "link", combos):
        done = run(sweepd, path, "--params", combos, "--out", out)
        assert done.returncode == 2
        assert f"--out {out} is a file that this sweep reads" in done.stderr
    assert path.read_bytes() == before and combos.read_text() == "3,6,2,1,2,3\n"


def test_out_that_cannot_be_written_fails_before_the_sweep(sweepd, bars_file, tmp_path):
    done = run(sweepd, bars_file(walk(100)), "--out", tmp_path / "no" / "result")
    assert done.returncode == 1
    assert "No such file or directory" in done.stderr


@pytest.mark.parametrize("words", [["--out", "/dev/full"], []])
def test_a_full_disk_is_an_error(sweepd, bars_file, words):
    with open("/dev/full", "w") as full:
        stdout = subprocess.PIPE if words else full
        done = subprocess.run([sweepd, "sweep", bars_file(walk(100)), *JSON, *words], stdout=stdout,
                              stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


def test_a_disk_that_fills_up_leaves_the_old_result(sweepd, bars_file, tmp_path):
    out = tmp_path / "result"
    out.write_text("old")
    script = 'trap "" XFSZ; ulimit -f 8; "$0" sweep "$1" --length 1:2000 --format csv --out "$2"'
    done = subprocess.run(["bash", "-c", script, sweepd, bars_file(walk(100)), out], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 1
    assert "cannot be written: File too large" in done.stderr
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["bars.npy", "result"]


def test_head_ends_it_quietly(sweepd, bars_file):
    script = 'exec 4>&2; { "$0" sweep "$1" --length 1:5000 --format csv 2>&4; echo $? >&4; } | head -1'
    done = subprocess.run(["bash", "-c", script, sweepd, bars_file(walk(50))], capture_output=True, text=True, timeout=60)
    assert done.stdout.startswith("length,half")
    assert re.fullmatch(r"read 50 bars.*\n141\n", done.stderr)


# ---- interrupted ----

LONG = ["--length", "2:2000", "--kernel", "strict", "--progress", "never"]  # minutes, if nobody interrupts


@pytest.fixture(scope="module")
def long_file(sweepd, tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "walk.npy"
    subprocess.run([sweepd, "generate", "--out", path], check=True, capture_output=True)
    return path


def wait_until_it_catches(process, number):
    """Until the signal would no longer end it outright: the sweep runs, or is about to."""
    while True:
        caught = re.search(r"^SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{process.pid}/status").read_text(), re.M)
        if int(caught[1], 16) >> (number - 1) & 1:
            return
        assert process.poll() is None
        time.sleep(0.01)


def interrupt(sweepd, number, *words):
    process = subprocess.Popen([sweepd, "sweep", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_until_it_catches(process, number)
        time.sleep(0.5)  # so that a few combos are finished; whether they are changes nothing below
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    return process.returncode, stdout, stderr


def test_interrupted_json_is_marked_partial_and_what_is_there_is_right(sweepd, long_file):
    code, stdout, stderr = interrupt(sweepd, signal.SIGINT, long_file, *LONG, *JSON)
    assert code == 130
    assert stderr.endswith("sweepd: interrupted; the result is partial\n")
    result = json.loads(stdout)
    assert result["partial"] is True
    assert len(result["combos"]) < 1999
    if result["combos"]:
        lengths = ",".join(str(c["length"]) for c in result["combos"])
        assert swept(sweepd, long_file, "--length", lengths)["combos"] == result["combos"]


def test_interrupted_csv_and_table_are_marked_partial(sweepd, long_file):
    code, stdout, _ = interrupt(sweepd, signal.SIGINT, long_file, *LONG, "--format", "csv")
    assert code == 130
    count = len(stdout.splitlines()) - 2
    assert stdout.endswith(f"# partial: {count} of 1999 combos\n")
    code, stdout, _ = interrupt(sweepd, signal.SIGINT, long_file, *LONG)
    assert code == 130
    assert re.search(r"^PARTIAL: interrupted with \d+ of 1999 combos finished$", stdout, re.M)


def test_interrupted_out_leaves_the_old_result_and_keeps_what_is_finished_beside_it(sweepd, long_file, tmp_path):
    out = tmp_path / "result.json"
    out.write_text("old")
    code, stdout, stderr = interrupt(sweepd, signal.SIGINT, long_file, *LONG, *JSON, "--out", out)
    assert code == 130 and stdout == ""
    assert out.read_text() == "old"
    assert json.loads((tmp_path / "result.json.partial").read_text())["partial"] is True
    assert sorted(os.listdir(tmp_path)) == ["result.json", "result.json.partial"]
    assert f"{out}.partial" in stderr


@pytest.mark.parametrize("kernel", ["exact", "auto"])
def test_interrupted_in_a_combo_of_hours_it_ends_soon(sweepd, tmp_path, kernel):
    path = tmp_path / "flat.npy"
    subprocess.run([sweepd, "generate", "--bars", "1000000", "--shape", "constant", "--out", path], check=True, capture_output=True)
    words = [path, "--length", "300000:300400", "--kernel", kernel, "--progress", "never", *JSON]
    code, stdout, _ = interrupt(sweepd, signal.SIGINT, *words)
    assert code == 130
    assert json.loads(stdout)["partial"] is True


def test_terminated_ends_like_interrupted_with_its_own_code(sweepd, long_file, tmp_path):
    out = tmp_path / "result.json"
    code, _, _ = interrupt(sweepd, signal.SIGTERM, long_file, *LONG, *JSON, "--out", out)
    assert code == 143
    assert os.listdir(tmp_path) == ["result.json.partial"]


# ---- progress ----


def on_terminal(sweepd, *words):
    """Runs it with a terminal as standard error until it draws or ends; what it drew, and its exit code."""
    ours, theirs = os.openpty()
    process = subprocess.Popen([sweepd, "sweep", *map(str, words)], stdout=subprocess.PIPE, stderr=theirs,
                               env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    drawn = b""
    try:
        while b"\r[" not in drawn and (chunk := read_some(ours)):
            drawn += chunk
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        while chunk := read_some(ours):
            drawn += chunk
    finally:
        process.kill()
        os.close(ours)
    return drawn.decode(), process.returncode


def read_some(descriptor):
    try:
        return os.read(descriptor, 4096)
    except OSError:  # a terminal whose other side is closed
        return b""


def test_progress_is_drawn_on_a_terminal_and_wiped_at_the_end(sweepd, long_file):
    drawn, code = on_terminal(sweepd, long_file, "--length", "2:2000", "--kernel", "strict", *JSON)
    assert code == 130
    assert re.search(r"\r\[[#.]{30}\] +\d+ %  \d+ of 1999 combos, \d+ s", drawn)
    assert "\r\x1b[K" in drawn[drawn.rindex("\r["):]


def test_progress_is_not_drawn_elsewhere_or_when_told_not_to(sweepd, long_file):
    words = [long_file, "--length", "6:120", "--kernel", "strict", *JSON]
    assert "\r" not in run(sweepd, *words).stderr
    drawn, _ = on_terminal(sweepd, *words[:1], "--length", "6:60", *words[3:], "--progress=never")
    assert "\r[" not in drawn
