"""`sweepd inspect`: one screen on what a file is taken for, and a command that reads it as it stands."""
import shlex
import subprocess

import pytest


def inspect(sweepd, *words):
    return subprocess.run([sweepd, "inspect", *words], capture_output=True, text=True, check=False)


def run_last_line(sweepd, run):
    words = shlex.split(run.stdout.splitlines()[-1])
    assert words[:2] == ["sweepd", "sweep"]
    return subprocess.run([sweepd, *words[1:], "--length", "6"], capture_output=True, text=True, check=False)


DECISIONS = ["delimiter", "header", "close", "time", "stamps", "zone", "decimal", "order"]
OVERRIDES = ("--delimiter", "--header, --skip-lines", "--close", "--time", "--time-format", "--time-zone", "--decimal",
             "--order, --duplicates")


@pytest.mark.parametrize("name, options, parts", [
    ("aapl_newest_first.csv", [], ["not as it stands: ", "newest first", "--order sort", "read 252 bars"]),
    ("binance_klines_1m_headerless.csv", [], ["Binance klines", "step 1 min"]),
    ("eurusd_hourly.csv", [], ["read 5000 bars", "step 1 h, 42 gaps, the longest 3 d 1 h behind line 4263"]),
    ("futures_semicolon.csv", [], ["read 9 bars", "step 1 min, 0 gaps"]),
    ("gbpusd_1m_offset_no_volume.csv", [], ["30117 bars"]),
    ("gold_descending_blank_cells.csv", ["--close", "USD"], ["--close USD --order sort"]),
    ("goog_daily.csv", [], ["step 1 d"]),
    ("index_5min_date_time_columns.csv", [], ["step 5 min"]),
    ("orcl_daily_yahoo.csv", ["--close", "Adj Close"], ["--close 'Adj Close'"]),
    ("spx_lwma6_reference.csv", [], ["month first"]),
    ("spy_ninjatrader_semicolon_headerless.csv", [], ["NinjaTrader"]),
    ("wig20_polish_names.csv", ["--close", "Zamkniecie"], ["read 1000 bars"]),
])
def test_a_screen_for_each_real_file_and_its_command_runs(sweepd, shared_data, name, options, parts):
    run = inspect(sweepd, str(shared_data / name), *options)
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) <= 24
    decided = [line.split()[0] for line in lines if line.startswith("  ") and line.endswith(OVERRIDES)]
    assert [what for what in decided if what != "dates"] == DECISIONS
    assert any("repeated stamp" in line for line in lines) and any(line.endswith(" NaN") for line in lines)
    for part in parts:
        assert part in run.stdout
    swept = run_last_line(sweepd, run)
    assert swept.returncode == 0, swept.stderr
    summary = next(line for line in run.stdout.splitlines() if line.startswith("read "))
    assert swept.stdout.splitlines()[0] == summary
    assert inspect(sweepd, *shlex.split(lines[-1])[2:]).stdout.splitlines()[-1] == lines[-1]


def test_the_command_survives_names_with_spaces_and_quotes(sweepd, tmp_path):
    path = tmp_path / "it's mine.csv"
    path.write_text("d;a b\n01/02/2024;1,5\n02/02/2024;1,6\n")
    run = inspect(sweepd, str(path), "--close", "a b", "--time-format", "dmy", "--decimal", "comma", "--allow", "nan,inf")
    assert run.returncode == 0, run.stderr
    assert "read 2 bars, 2024-02-01 .. 2024-02-02" in run.stdout
    assert run_last_line(sweepd, run).returncode == 0


def test_standard_input_is_named_as_such_and_read_once(sweepd):
    def of(text):
        return subprocess.run([sweepd, "inspect", "-"], input=text, capture_output=True, text=True, check=False)

    assert of("time,close\n2024-01-01,1\n2024-01-02,2\n").stdout.splitlines()[-1] == "sweepd sweep -"
    falling = of("time,close\n2024-01-03,1\n2024-01-02,2\n")
    assert falling.returncode == 1 and "-:3: newest first" in falling.stderr and "--order sort" in falling.stderr


def test_what_is_doubtful_is_left_to_the_person(sweepd, tmp_path):
    path = tmp_path / "f.csv"
    path.write_text("Data,Kurs\n2024-01-01,1\n")
    run = inspect(sweepd, str(path))
    assert run.returncode == 1 and run.stdout == ""
    assert 'choose by --close NAME or number; columns: "Data", "Kurs"' in run.stderr
