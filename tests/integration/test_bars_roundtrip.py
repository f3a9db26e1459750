"""What another program wrote is read back to the same bits, or refused: dialects made up by hypothesis, and NumPy's own files."""
import datetime
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.bars_file import ALL, NAN, NONPOSITIVE, Refused, read

many = settings(max_examples=150, deadline=None,
                suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
price = st.floats(min_value=0, exclude_min=True, allow_infinity=False, allow_subnormal=True)
instant = st.datetimes(datetime.datetime(1680, 1, 1), datetime.datetime(2260, 12, 31))
EPOCH = datetime.datetime(1970, 1, 1)


def ns(stamp):
    return (stamp - EPOCH) // datetime.timedelta(microseconds=1) * 1000


def with_offset(minutes):
    zone = datetime.timezone(datetime.timedelta(minutes=minutes))
    return lambda stamp: stamp.replace(tzinfo=datetime.timezone.utc).astimezone(zone).isoformat()


ZONES = [with_offset(0), with_offset(330), with_offset(-240)]
CALENDAR = [lambda s: s.isoformat(), lambda s: s.isoformat(sep=" "), lambda s: s.isoformat() + "Z"] + ZONES
NUMBERS = [repr, lambda x: f"{x:.17g}", lambda x: f"{x:.20e}", lambda x: f"+{x!r}", lambda x: f"{x:.1100f}".rstrip("0")]


@st.composite
def dialect(draw):
    """(bytes of a CSV file, closes, instants)."""
    closes = draw(st.lists(price, min_size=1, max_size=20))
    stamps = sorted(draw(st.sets(instant, min_size=len(closes), max_size=len(closes))))
    delimiter, eol = draw(st.sampled_from(",;\t|")), draw(st.sampled_from(["\n", "\r\n", "\r"]))
    stamp_text, number_text = draw(st.sampled_from(CALENDAR)), draw(st.sampled_from(NUMBERS))
    names = [draw(st.sampled_from(["Date", "time", "", "Timestamp", "Unbekannt"])), "Open", draw(st.sampled_from(["close", "CLOSE"]))]
    quote = draw(st.sampled_from(["", '"']))
    rows = [names] + [[stamp_text(stamp), "1", number_text(close)] for stamp, close in zip(stamps, closes)]
    lines = [delimiter.join(quote + cell + quote for cell in row) for row in rows]
    blank = draw(st.sampled_from(["", eol]))
    text = (eol + blank).join(lines) + draw(st.sampled_from(["", eol, eol * 3]))
    mark = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    return mark + text.encode(), closes, [ns(stamp) for stamp in stamps]


@many
@given(dialect())
def test_csv_dialects_read_back_to_the_same_bits(sweepd, tmp_path, made):
    text, closes, times = made
    path = tmp_path / "bars.csv"
    path.write_bytes(text)
    bars = read(sweepd, path)
    assert np.array_equal(bars.close.view("u8"), np.array(closes).view("u8"))
    assert bars.time_ns.tolist() == times


@many
@given(dialect(), st.data())
def test_csv_with_one_byte_changed_is_read_or_refused_with_a_line(sweepd, tmp_path, made, data):
    text = bytearray(made[0])
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "bars.csv"
    path.write_bytes(text)
    try:
        bars = read(sweepd, path)
        assert np.all(np.isfinite(bars.close)) and np.all(bars.close > 0)
        assert bars.time_ns is None or np.all(bars.time_ns[1:] > bars.time_ns[:-1])
    except Refused as refused:
        assert refused.status == 4
        assert f"bars.csv:{refused.at}: " in refused.message


EPOCH_UNITS = [(10**9, 10**9, 4 * 10**9), (10**6, 10**12, 4 * 10**12), (10**3, 10**15, 4 * 10**15), (1, 10**18, 4 * 10**18)]


@many
@given(st.sampled_from(EPOCH_UNITS).flatmap(lambda unit: st.tuples(
    st.just(unit[0]), st.sets(st.integers(unit[1], unit[2]), min_size=1, max_size=20))))
def test_epoch_stamps_of_every_unit_are_instants(sweepd, tmp_path, made):
    unit_ns, stamps = made
    path = tmp_path / "bars.csv"
    path.write_text("timestamp,close\n" + "".join(f"{stamp},1\n" for stamp in sorted(stamps)))
    assert read(sweepd, path).time_ns.tolist() == [stamp * unit_ns for stamp in sorted(stamps)]


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


DTYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]


@many
@given(st.data(), st.sampled_from(DTYPES), st.sampled_from("<>"), st.sampled_from([(1, 0), (2, 0), (3, 0)]))
def test_npy_of_every_dtype_equals_numpys_own_widening(sweepd, tmp_path, data, kind, order, version):
    """M5, as the tests of .npy after it."""
    dtype = np.dtype(order + kind)
    count = data.draw(st.integers(1, 40))
    raw = data.draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    array = np.frombuffer(raw, dtype)
    if kind in ("i8", "u8"):
        array = (array // np.array(2**12, dtype)).astype(dtype)  # within 2^53
    path = tmp_path / "bars.npy"
    path.write_bytes(npy(array, version))
    bars = read(sweepd, path, allow=ALL)
    with np.errstate(invalid="ignore"):  # signalling NaN
        np.testing.assert_array_equal(bars.close, array.astype("f8"))


def test_b08_npy_float32_near_its_ends_is_widened_first(sweepd, tmp_path):
    array = np.array([2e38, 16777217, 3.4e38, 1e-45, 0.1], "f4")
    path = tmp_path / "bars.npy"
    np.save(path, array)
    assert np.array_equal(read(sweepd, path).close, array.astype("f8"))


@pytest.mark.parametrize("array, part", [
    (np.array([True, False]), "dtype '|b1' is not read"),
    (np.array([1 + 2j]), "dtype '<c16' is not read"),
    (np.array([1.0], "longdouble"), "dtype '<f16' is not read"),
    (np.array(["2024-01-01"], "M8[ns]"), "dtype '<M8[ns]' is not read"),
    (np.array([(1.0, 2.0)], "f8,f8"), "the .npy header is not"),
    (np.ones((3, 2)), "shape (3, 2): bars by 2 columns; choose the closes by --close N"),
    (np.ones((3, 2, 2)), "shape (3, 2, 2): expected one axis"),
    (np.array(1.0), "shape (): expected one axis"),
    (np.array([], "f8"), "no bars"),
    (np.array([1, 2**53 + 1]), "close of bar 1 is an integer beyond 2^53"),
])
def test_npy_that_is_no_series_is_refused_by_name(sweepd, tmp_path, array, part):
    path = tmp_path / "bars.npy"
    path.write_bytes(npy(array))
    with pytest.raises(Refused, match="bars.npy: ") as refused:
        read(sweepd, path)
    assert part in refused.value.message


@many
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x93NUMPY\x01\x00\x40\x00", npy(np.ones(3))[:100]]))
def test_npy_of_any_bytes_is_read_or_refused(sweepd, tmp_path, tail, head):
    path = tmp_path / "bars.npy"
    path.write_bytes(head + tail)
    try:
        read(sweepd, path)
    except Refused as refused:
        assert refused.status == 4


def test_npy_cut_at_every_byte_is_refused(sweepd, tmp_path):
    whole = npy(np.array([1.0, 2.0, 3.0]))
    path = tmp_path / "bars.npy"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(Refused):
            read(sweepd, path)


@many
@given(st.data(), st.sampled_from(DTYPES), st.sampled_from("<>"), st.sampled_from("CF"))
def test_npy_of_two_axes_gives_the_column_as_numpy_does(sweepd, tmp_path, data, kind, order, memory):
    shape = data.draw(st.tuples(st.integers(1, 30), st.integers(1, 8)))
    values = data.draw(st.lists(st.integers(0, 100), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    column = data.draw(st.integers(0, shape[1] - 1))
    array = np.asarray(np.reshape(values, shape), np.dtype(order + kind), order=memory)
    path = tmp_path / "bars.npy"
    path.write_bytes(npy(array))
    bars = read(sweepd, path, allow=ALL, close=column + 1)
    assert np.array_equal(bars.close, array[:, column].astype("f8"))


@many
@given(st.data(), st.sampled_from(DTYPES), st.booleans())
def test_raw_numbers_of_every_dtype_equal_numpys_own(sweepd, tmp_path, data, kind, big_endian):
    array = np.array(data.draw(st.lists(st.integers(1, 100), min_size=1, max_size=40)), (">" if big_endian else "<") + kind)
    path = tmp_path / "bars.bin"
    path.write_bytes(array.tobytes())
    bars = read(sweepd, path, dtype=kind, big_endian=int(big_endian))
    assert np.array_equal(bars.close, array.astype("f8"))


def test_npy_from_a_pipe_equals_the_file(sweepd, tmp_path):
    import os
    import threading
    closes = np.linspace(1, 2, 100_000)
    pipe = tmp_path / "pipe.npy"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(npy(closes)))
    writer.start()
    bars = read(sweepd, pipe)
    writer.join()
    assert np.array_equal(bars.close, closes)


@pytest.mark.parametrize("name, place", [("bars.csv", "bars.csv:5: close \"0\""), ("bars.npy", "bars.npy: close of bar 3, 0,"),
                                         ("bars.f64", "bars.f64: close of bar 3, 0,")])
def test_b19_closes_that_are_not_above_zero_are_refused_naming_row_3(sweepd, tmp_path, name, place):
    closes = np.array([3, 2, 1, 0, -1, -2, 1, 3], "<f8")
    path = tmp_path / name
    path.write_bytes({"bars.csv": ("close\n" + "".join(f"{close:g}\n" for close in closes)).encode(), "bars.npy": npy(closes),
                      "bars.f64": closes.tobytes()}[name])
    with pytest.raises(Refused) as refused:
        read(sweepd, path)
    assert f'{place} is not above zero; allow "nonpositive" to let it in' in refused.value.message
    assert np.array_equal(read(sweepd, path, allow=NONPOSITIVE).close, closes)


def test_b24_stamps_of_13_then_16_digits_are_refused_with_the_line(sweepd, tmp_path):
    path = tmp_path / "bars.csv"
    path.write_text("open_time,close\n1637971200000,1\n1637971260000,2\n1637971320000000,3\n")
    with pytest.raises(Refused) as refused:
        read(sweepd, path)
    assert refused.value.at == 4
    assert 'bars.csv:4: time "1637971320000000" is microseconds since 1970' in refused.value.message


def test_f64_is_the_doubles_as_they_are(sweepd, tmp_path):
    path = tmp_path / "bars.f64"
    closes = np.array([3, 2, 1, 0, -1, -2, 1, 3], "<f8")
    path.write_bytes(closes.tobytes())
    with pytest.raises(Refused, match="close of bar 3, 0, is not above zero") as refused:
        read(sweepd, path)
    assert refused.value.at == 3
    assert np.array_equal(read(sweepd, path, allow=NONPOSITIVE).close, closes)


@many
@given(st.lists(st.one_of(price, st.just(float("nan"))), min_size=1, max_size=30))
def test_missing_closes_are_nan_only_when_allowed(sweepd, tmp_path, closes):
    path = tmp_path / "bars.csv"
    texts = ["" if close != close else repr(close) for close in closes]
    path.write_text("volume,close\n" + "".join(f"0,{text}\n" for text in texts))
    bars = read(sweepd, path, allow=NAN)
    np.testing.assert_array_equal(bars.close, closes)
    if "" in texts:
        with pytest.raises(Refused, match=f"bars.csv:{2 + texts.index('')}: close \"\" is blank"):
            read(sweepd, path)
