"""sweepd.read_csv() and inspect(): the library's reader, with the command line's numbers, options and messages."""
import gc
import gzip
import json
import os
import pathlib
import subprocess
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sweepd

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("SWEEPD", str(ROOT / "build" / "sweepd"))

REAL = [
    ("eurusd_hourly.csv", {}), ("goog_daily.csv", {}), ("index_5min_date_time_columns.csv", {}), ("orcl_daily_yahoo.csv", {}),
    ("orcl_daily_yahoo.csv", {"close": "Adj Close"}), ("futures_semicolon.csv", {}), ("gbpusd_1m_offset_no_volume.csv", {}),
    ("binance_klines_1m_headerless.csv", {}), ("spx_lwma6_reference.csv", {}), ("spy_ninjatrader_semicolon_headerless.csv", {}),
    ("aapl_newest_first.csv", {"order": "sort"}), ("gold_descending_blank_cells.csv", {"close": "USD", "order": "sort"}),
    ("wig20_polish_names.csv", {"close": "Zamkniecie"}), ("wig20_polish_names.csv", {"close": 5}),
]


@pytest.fixture(scope="module")
def data():
    path = pathlib.Path(os.environ.get("SWEEPD_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not path.is_dir():
        pytest.skip(f"no market files at {path} (SWEEPD_SHARED_DATA names another folder)")
    return path


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


# ---- as the command line ----


@pytest.mark.parametrize(("name", "options"), REAL)
def test_real_files_give_what_the_command_line_gives(data, name, options):
    bars = sweepd.read_csv(data / name, **options)
    words = [f"--{option}={value}" for option, value in options.items()]
    done = subprocess.run([PROGRAM, "sweep", data / name, "--length", "5,6", "--format", "json", *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert bars.summary == done.stderr.splitlines()[0]
    expected = json.loads(done.stdout)
    assert len(bars) == expected["series"]["bars"] == len(bars.close)
    r = sweepd.sweep(bars, length=[5, 6])
    assert [combo["pnl"] for combo in expected["combos"]] == r.pnl.tolist()
    assert [combo["trades"] for combo in expected["combos"]] == r.trades.tolist()


@pytest.mark.parametrize(("name", "options"), REAL)
def test_an_inspection_is_the_screen_of_the_command_line(data, name, options):
    found = sweepd.inspect(data / name, **options)
    words = [f"--{option}={value}" for option, value in options.items()]
    done = subprocess.run([PROGRAM, "inspect", data / name, *words], capture_output=True, text=True)
    assert repr(found) == done.stdout
    assert found.command in found.text
    assert found.bars.close.tobytes() == sweepd.read_csv(data / name, **options).close.tobytes()


# ---- columns ----

ROWS = "day;o;h;l;c;v\n2024-01-01;1,0;4;0,5;2;10\n2024-01-02;2;5;1;3;0\n2024-01-04;3;600;2;400;5\n"


def test_columns_are_kept_with_their_values_and_outlive_everything(tmp_path):
    path = write(tmp_path / "rows.csv", ROWS)
    bars = sweepd.read_csv(path, close="c", time=1, open="o", high="h", low=4, volume="v", decimal="comma", delimiter=";")
    path.unlink()
    columns = bars.close, bars.open, bars.high, bars.low, bars.volume
    time = bars.time
    del bars
    gc.collect()
    assert [column.tolist() for column in columns] == [[2, 3, 400], [1, 2, 3], [4, 5, 600], [0.5, 1, 2], [10, 0, 5]]
    assert (time == np.array(["2024-01-01", "2024-01-02", "2024-01-04"], "datetime64[ns]")).all()


def test_a_column_that_is_not_asked_for_is_none_and_jumps_are_counted(tmp_path):
    bars = sweepd.read_csv(write(tmp_path / "rows.csv", ROWS), close="c", decimal=",", time="none")
    assert bars.time is None and bars.open is None and bars.volume is None
    assert bars.jumps_count == 1 and bars.nan_count == 0
    found = sweepd.inspect(tmp_path / "rows.csv", close="c", decimal=",", time=1)
    assert found.jumps == [(2, 4, 3.0, 400.0)]
    assert (found.gaps_count, found.gaps, found.step_ns) == (1, [(1, 3, 2 * 86_400 * 10**9)], 86_400 * 10**9)


def test_bars_go_where_closes_go(tmp_path):
    bars = sweepd.read_csv(write(tmp_path / "rows.csv", ROWS), close="c", decimal=",")
    with sweepd.connect("inproc:") as engine:
        assert engine.load(bars).fingerprint == engine.load(bars.close).fingerprint
        with engine.live(length=2, warmup=bars) as live:
            assert live.bars == 3


def test_a_data_frame_of_what_there_is(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = sweepd.read_csv(write(tmp_path / "rows.csv", ROWS), close="c", time=1, volume="v", decimal=",").to_pandas()
    assert list(frame.columns) == ["close", "volume"] and frame.index[2] == pandas.Timestamp("2024-01-04")


@settings(max_examples=60, deadline=None)
@given(closes=st.lists(st.floats(min_value=5e-324, max_value=1.7e308), min_size=1, max_size=30), packed=st.booleans())
def test_what_was_written_is_read_back_to_the_same_bits(tmp_path_factory, closes, packed):
    text = "close\n" + "".join(f"{close!r}\n" for close in closes)
    path = tmp_path_factory.mktemp("bars") / "bars.csv"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert sweepd.read_csv(path).close.tobytes() == np.array(closes).tobytes()


def test_other_files_than_text_are_read_by_their_names(tmp_path):
    close = np.array([1.5, 2.5, 4.0])
    np.save(tmp_path / "x.npy", np.stack([close, close * 2], axis=1))
    close.astype(">f4").tofile(tmp_path / "x.bin")
    assert sweepd.read_csv(tmp_path / "x.npy", close=2).close.tolist() == [3, 5, 8]
    assert sweepd.read_csv(tmp_path / "x.bin", dtype="f4", big_endian=True).close.tolist() == [1.5, 2.5, 4]


# ---- what is refused ----


@pytest.mark.parametrize(("text", "options", "at", "part"), [
    ("close\n1\nx\n", {}, 3, 'bars.csv:3: close "x"'),
    ("a,b\n1,2\n", {}, 1, 'bars.csv:1: no column is called close; choose by --close NAME or number; columns: "a", "b"'),
    ("time,close\n2024-01-02,1\n2024-01-01,2\n", {}, 3, "bars.csv:3: newest first"),
    ("close\n-1\n", {}, 2, "is not above zero"),
    ("", {}, None, "bars.csv"),
])
def test_refusals_name_the_file_and_the_line(tmp_path, text, options, at, part):
    with pytest.raises(sweepd.BadParam) as error:
        sweepd.read_csv(write(tmp_path / "bars.csv", text), **options)
    assert part in str(error.value)
    assert at is None or error.value.at == at
    with pytest.raises(sweepd.BadParam):
        sweepd.inspect(tmp_path / "bars.csv", order="refuse", **options) if "newest" not in part else sweepd.read_csv(tmp_path / "bars.csv")


def test_what_the_system_refuses_is_an_oserror(tmp_path):
    with pytest.raises(sweepd.FileError, match="No such file"):
        sweepd.read_csv(tmp_path / "none.csv")
    with pytest.raises(OSError):
        sweepd.inspect(tmp_path / "none.csv")


@pytest.mark.parametrize(("options", "error", "part"), [
    ({"clsoe": 3}, TypeError, "no option 'clsoe'; did you mean 'close'"),
    ({"close": 1.5}, TypeError, "close is 1.5"),
    ({"close": True}, TypeError, "close is True"),
    ({"delimiter": "x"}, sweepd.BadParam, "delimiter is 'x'"),
    ({"order": "newest"}, sweepd.BadParam, "order is 'newest', expected one of refuse, sort"),
    ({"skip_lines": -1}, sweepd.BadParam, "skip_lines is -1"),
    ({"time_zone": 2}, TypeError, "time_zone is 2"),
    ({"from_time": "soon"}, sweepd.BadParam, "soon"),
])
def test_options_that_cannot_be_are_refused(tmp_path, options, error, part):
    with pytest.raises(error, match=part):
        sweepd.read_csv(write(tmp_path / "bars.csv", "time,close\n2024-01-01,1\n"), **options)


def test_other_threads_go_on_while_a_file_is_read(tmp_path):
    """From a pipe that nobody has written to yet: were the interpreter held, the writer would never come."""
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    found = []
    reader = threading.Thread(target=lambda: found.append(sweepd.read_csv(pipe).close.tolist()))
    reader.start()
    with open(pipe, "w", encoding="ascii") as file:
        file.write("close\n1\n2\n")
    reader.join(60)
    assert found == [[1.0, 2.0]]
