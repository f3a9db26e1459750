"""Real files that people have: read with the right values, or refused with the line."""
import csv
import datetime
import subprocess

import numpy as np
import pytest

from support.bars_file import Refused, read


def columns(path, close, time, delimiter=","):
    """Closes and stamps by the standard library alone; naive stamps are UTC."""
    with open(path, newline="") as f:
        rows = list(csv.reader(f, delimiter=delimiter))
    names, rows = rows[0], rows[1:]
    texts = [" ".join(row[names.index(name)] for name in time) for row in rows]
    stamps = [datetime.datetime.fromisoformat(text) for text in texts]
    utc = datetime.timezone.utc
    epoch = datetime.datetime(1970, 1, 1, tzinfo=utc)
    instants = [stamp if stamp.tzinfo else stamp.replace(tzinfo=utc) for stamp in stamps]
    time_ns = [(instant - epoch) // datetime.timedelta(microseconds=1) * 1000 for instant in instants]
    return np.array([float(row[names.index(close)]) for row in rows]), np.array(time_ns)


@pytest.mark.parametrize("name, options, close, time, delimiter, summary", [
    ("eurusd_hourly.csv", {}, "Close", [""], ",",
     'read 5000 bars, 2017-04-19 09:00 .. 2018-02-07 15:00, close column "Close"'),
    ("goog_daily.csv", {}, "Close", [""], ",", 'read 2148 bars, 2004-08-19 .. 2013-03-01, close column "Close"'),
    ("index_5min_date_time_columns.csv", {}, "Close", ["Date", "Time"], ",",
     'read 2142 bars, 2006-01-02 09:05 .. 2006-01-30 17:30, close column "Close"'),
    ("orcl_daily_yahoo.csv", {}, "Close", ["Date"], ",", 'read 252 bars, 2014-01-02 .. 2014-12-31, close column "Close"'),
    ("orcl_daily_yahoo.csv", {"close": "Adj Close"}, "Adj Close", ["Date"], ",",
     'read 252 bars, 2014-01-02 .. 2014-12-31, close column "Adj Close"'),
    ("futures_semicolon.csv", {}, "close", ["timestamp_utc"], ";",
     'read 9 bars, 2024-01-01 23:01 .. 2024-01-01 23:09, close column "close"'),
    ("gbpusd_1m_offset_no_volume.csv", {}, "close", ["timestamp"], ",",
     'read 30117 bars, 2012-02-01 00:00 .. 2012-03-01 00:00 UTC, close column "close"'),
    ("wig20_polish_names.csv", {"close": "Zamkniecie"}, "Zamkniecie", ["Data"], ",",
     'read 1000 bars, 2020-03-16 .. 2024-03-06, close column "Zamkniecie"'),
    ("wig20_polish_names.csv", {"close": "5", "time": "1"}, "Zamkniecie", ["Data"], ",",
     'read 1000 bars, 2020-03-16 .. 2024-03-06, close column "Zamkniecie"'),
], ids=["F01", "F02", "F04", "F05", "F05_adjusted", "F08", "F10", "F26", "F26_by_number"])
def test_file_reads_with_the_right_values(sweepd, shared_data, name, options, close, time, delimiter, summary):
    expected_close, expected_time = columns(shared_data / name, close, time, delimiter)
    bars = read(sweepd, shared_data / name, **options)
    assert bars.summary == summary
    assert np.array_equal(bars.close.view("u8"), expected_close.view("u8"))
    assert np.array_equal(bars.time_ns, expected_time)


@pytest.mark.parametrize("name, options, line, part", [
    ("aapl_newest_first.csv", {}, 3, 'newest first: "2011-12-29" comes after "2011-12-30" of line 2'),
    ("gold_descending_blank_cells.csv", {}, 1, "no column is called close; choose by --close NAME or number; columns: \"Date\", \"USD\""),
    ("gold_descending_blank_cells.csv", {"close": "USD"}, 3, "newest first: "),
    ("gold_descending_blank_cells.csv", {"close": "EUR"}, 771, 'close "" is blank; allow "nan" to read it as NaN'),
    ("wig20_polish_names.csv", {}, 1, 'columns: "Data", "Otwarcie", "Najwyzszy", "Najnizszy", "Zamkniecie", "Wolumen"'),
], ids=["F16_newest_first", "F16_no_close", "F16_by_name", "F16_blank", "F26"])
def test_file_that_is_not_recognised_is_refused_with_its_line(sweepd, shared_data, name, options, line, part):
    with pytest.raises(Refused) as refused:
        read(sweepd, shared_data / name, **options)
    assert f"{name}:{line}: " in refused.value.message
    assert part in refused.value.message
    assert refused.value.at == line


def test_f09_binance_klines_without_a_header(sweepd, shared_data):
    path = shared_data / "binance_klines_1m_headerless.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    bars = read(sweepd, path)
    assert bars.summary.endswith("close column 5, Binance klines")
    assert bars.close.tolist() == [float(row[4]) for row in rows]
    assert bars.time_ns.tolist() == [int(row[0]) * 10**6 for row in rows]


def test_f18_ninjatrader_without_a_header(sweepd, shared_data):
    path = shared_data / "spy_ninjatrader_semicolon_headerless.csv"
    rows = [line.split(";") for line in path.read_text().splitlines()]
    bars = read(sweepd, path)
    stamps = [datetime.datetime.strptime(row[0], "%Y%m%d %H%M%S").replace(tzinfo=datetime.timezone.utc) for row in rows]
    assert bars.close.tolist() == [float(row[4]) for row in rows]
    assert bars.time_ns.tolist() == [int(stamp.timestamp()) * 10**9 for stamp in stamps]


def test_f13_lwma_of_six_agrees_to_the_digits_of_the_file(sweepd, shared_data):
    path = shared_data / "spx_lwma6_reference.csv"
    published = [line.split(",")[2] for line in path.read_text().splitlines()[1:]]
    close = read(sweepd, path).close
    weights = np.arange(1.0, 7.0)
    for bar in range(5, len(close)):
        digits = len(published[bar].partition(".")[2])
        assert abs(np.dot(close[bar - 5 : bar + 1], weights) / 21 - float(published[bar])) < 10.0**-digits  # cut off, not rounded


def test_f08_long_windows_say_what_they_need(sweepd, shared_data):
    done = subprocess.run([sweepd, "sweep", shared_data / "futures_semicolon.csv", "--length", "4,30"], capture_output=True, text=True)
    assert done.returncode == 0 and "needs 34 bars, has 9" in done.stdout, done.stdout


HOUR = 3600 * 10**9


def test_m4_the_hour_that_comes_twice_by_offset_is_in_order(sweepd, tmp_path):
    path = tmp_path / "offsets.csv"
    path.write_text("time,close\n2024-10-27T01:30:00+02:00,1\n2024-10-27T02:30:00+02:00,2\n2024-10-27T02:30:00+01:00,3\n"
                    "2024-10-27T03:30:00+01:00,4\n")
    bars = read(sweepd, path)
    assert bars.close.tolist() == [1, 2, 3, 4]
    assert np.diff(bars.time_ns).tolist() == [HOUR] * 3


def test_m4_the_hour_that_comes_twice_in_naive_time_falls_under_the_duplicate_rule(sweepd, tmp_path):
    path = tmp_path / "naive.csv"
    path.write_text("time,close\n2024-10-27 01:30:00,1\n2024-10-27 02:30:00,2\n2024-10-27 02:30:00,3\n2024-10-27 03:30:00,4\n")
    with pytest.raises(Refused) as refused:
        read(sweepd, path)
    assert refused.value.at == 4 and '"2024-10-27 02:30:00"' in refused.value.message
    for which, kept in ("first", [1, 2, 4]), ("last", [1, 3, 4]):
        words = [sweepd, "sweep", path, "--duplicates", which, "--length", "2", "--format", "json"]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0 and f"read {len(kept)} bars" in done.stderr, done.stderr
