"""What Engine.load takes: whatever numpy can see, carried over exactly or refused. None of the libraries is required."""
import array
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sweepd

ANY = ("nan", "inf", "nonpositive")


@pytest.fixture(scope="module")
def engine():
    with sweepd.connect("inproc:", threads=1) as engine:
        yield engine


def fingerprint(engine, close):
    with engine.load(close, allow=ANY) as series:
        return series.fingerprint


def exactly(close):
    """A contiguous float64 copy, value by value."""
    return np.array([float(value) for value in close], dtype=np.float64)


NUMBERS = st.one_of(
    hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"), hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
)
OTHERS = st.one_of(
    hnp.boolean_dtypes(), hnp.complex_number_dtypes(), hnp.datetime64_dtypes(), hnp.timedelta64_dtypes(),
    hnp.unicode_string_dtypes(), hnp.byte_string_dtypes(),
)


@settings(max_examples=150, deadline=None)
@given(st.data(), NUMBERS, st.integers(1, 3), st.integers(-5, 5).filter(bool), st.booleans())
def test_b32_b33_any_dtype_stride_and_order_equals_its_contiguous_copy(engine, data, dtype, columns, step, is_fortran):
    elements = None if dtype.kind == "f" else st.integers(
        max(-(2**53), int(np.iinfo(dtype).min)), min(2**53, int(np.iinfo(dtype).max)))
    table = data.draw(hnp.arrays(dtype, (data.draw(st.integers(1, 40)), columns), elements=elements))
    close = (np.asfortranarray(table) if is_fortran else table)[::step, data.draw(st.integers(0, columns - 1))]
    before = table.tobytes()
    canonical = exactly(close)
    if np.isnan(canonical).any():
        canonical[np.isnan(canonical)] = np.nan
        close = close.copy()
        close[np.isnan(close)] = np.nan
    assert fingerprint(engine, close) == fingerprint(engine, canonical)
    assert table.tobytes() == before


@settings(max_examples=50, deadline=None)
@given(st.data(), OTHERS)
def test_b33_any_other_dtype_is_a_type_error_that_names_it(engine, data, dtype):
    close = data.draw(hnp.arrays(dtype, 3))
    with pytest.raises(TypeError, match="dtype") as error:
        engine.load(close)
    assert str(close.dtype) in str(error.value)


@settings(max_examples=50, deadline=None)
@given(hnp.array_shapes(min_dims=0, max_dims=4, max_side=3).filter(lambda shape: len(shape) != 1))
def test_any_other_shape_is_a_value_error_that_names_it(engine, shape):
    with pytest.raises(ValueError, match="dimensions"):
        engine.load(np.ones(shape))


def test_buffers_without_numpy(engine):
    close = np.arange(1.0, 50.0)
    for buffer in array.array("d", close), memoryview(close)[::2], array.array("i", range(1, 50)):
        assert fingerprint(engine, buffer) == fingerprint(engine, exactly(np.asarray(buffer)))
    for refused in b"bytes of no type", bytearray(16):
        with pytest.raises((TypeError, ValueError)):
            engine.load(refused)


def test_pandas(engine):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    values = [3.0, 2.5, 7.0, 5.0]
    expected = fingerprint(engine, values)
    frame = pandas.DataFrame({"other": [0.0] * 4, "close": values}, index=pandas.date_range("2020-01-01", periods=4))
    for close in frame["close"], frame["close"].astype("float32"), frame["close"].astype("Float64"), pandas.Index(values):
        assert fingerprint(engine, close) == expected
    gap = pandas.Series([3, None, 7], dtype="Int64")
    assert fingerprint(engine, gap) == fingerprint(engine, [3.0, np.nan, 7.0])
    with pytest.raises(sweepd.BadParam) as error:
        engine.load(gap)
    assert error.value.at == 1
    for big in pandas.Series([1, None, 2**53 + 1], dtype="Int64"), pandas.Series([1, 2, 2**53 + 1], dtype="Int64"):
        with pytest.raises(sweepd.BadParam, match="beyond") as error:
            engine.load(big)
        assert error.value.at == 2
    for refused in pandas.Series(["a"]), pandas.Series([True]), pandas.Series([1.5, "x"], dtype=object):
        with pytest.raises(TypeError):
            engine.load(refused)
    with pytest.raises(ValueError, match="dimensions"):
        engine.load(frame)
    table = engine.sweep(frame["close"], length=[1, 2]).to_pandas()
    assert list(table.columns[:3]) == ["length", "half", "full"] and table["pnl"].dtype == "f8" and len(table) == 2


def test_polars(engine):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    expected = fingerprint(engine, [3.0, 2.5, 7.0])
    assert fingerprint(engine, polars.Series([3.0, 2.5, 7.0])) == expected
    chunks = polars.concat([polars.Series([3.0]), polars.Series([2.5, 7.0])], rechunk=False)
    assert fingerprint(engine, chunks) == expected
    for gap in polars.Series([3, None, 7]), polars.Series([3.0, None, 7.0]), polars.Series([1.0, 3.0, None, 7.0])[1:]:
        assert fingerprint(engine, gap) == fingerprint(engine, [3.0, np.nan, 7.0])
        with pytest.raises(sweepd.BadParam) as error:
            engine.load(gap)
        assert error.value.at == 1
    with pytest.raises(sweepd.BadParam, match="beyond") as error:
        engine.load(polars.Series([1, None, 2**53 + 1]))
    assert error.value.at == 2
    for kind in polars.Int8, polars.UInt8, polars.Int16, polars.Int64, polars.UInt64, polars.Float32:
        assert fingerprint(engine, polars.Series([3, 2, 7], dtype=kind)) == fingerprint(engine, [3.0, 2.0, 7.0])
    for refused in polars.Series(["a"]), polars.Series([True]), polars.Series([None, None]), polars.Series(["a"], dtype=polars.Categorical):
        with pytest.raises(TypeError, match="dtype"):
            engine.load(refused)
    with pytest.raises(ValueError, match="dimensions.*columns a, b"):
        engine.load(polars.DataFrame({"a": [1.0], "b": [2.0]}))
    assert engine.sweep([3.0, 2, 5, 4, 6], length=[1, 2]).to_polars()["length"].to_list() == [1, 2]


def test_pyarrow(engine):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    expected = fingerprint(engine, [3.0, 2.5, 7.0])
    for close in (pyarrow.array([3.0, 2.5, 7.0]), pyarrow.array([0.0, 3.0, 2.5, 7.0]).slice(1),
                  pyarrow.chunked_array([[3.0], [2.5, 7.0]])):
        assert fingerprint(engine, close) == expected
    for gap in (pyarrow.array([3, None, 7]), pyarrow.array([1.0, 3.0, None, 7.0]).slice(1),
                pyarrow.chunked_array([[], [3], [None, 7]], pyarrow.int32())):
        assert fingerprint(engine, gap) == fingerprint(engine, [3.0, np.nan, 7.0])
        with pytest.raises(sweepd.BadParam) as error:
            engine.load(gap)
        assert error.value.at == 1
    with pytest.raises(sweepd.BadParam, match="beyond") as error:
        engine.load(pyarrow.array([1, None, 2**53 + 1]))
    assert error.value.at == 2
    for kind in pyarrow.int8(), pyarrow.uint16(), pyarrow.int64(), pyarrow.uint64(), pyarrow.float16(), pyarrow.float32():
        assert fingerprint(engine, pyarrow.array([3, 2, 7]).cast(kind)) == fingerprint(engine, [3.0, 2.0, 7.0])
    for refused in (pyarrow.array(["a"]), pyarrow.array([True]), pyarrow.nulls(3), pyarrow.array([1.0]).dictionary_encode(),
                    pyarrow.array([1]).cast(pyarrow.timestamp("ns")), pyarrow.array([[1.0]])):
        with pytest.raises(TypeError, match="dtype"):
            engine.load(refused)
    for table in pyarrow.table({"a": [1.0], "b": [2.0]}), pyarrow.record_batch({"a": [1.0], "b": [2.0]}):
        with pytest.raises(ValueError, match="dimensions.*columns a, b"):
            engine.load(table)
    windows = [[0, 0, 3], [0, 2, 5]]
    table = engine.sweep([3.0, 2, 5, 4, 6], length=[1, 2], windows=windows).to_arrow()
    assert table["window"].to_pylist() == [0, 0, 1, 1] and table.num_rows == 4


def test_best_is_the_highest_first_and_keeps_its_combos(engine):
    close = 100 + np.cumsum(np.sin(np.arange(900.0) ** 1.1))
    result = engine.sweep(close, length=range(2, 90))
    best = result.best(5)
    order = sorted(range(len(result)), key=lambda i: (-result.pnl[i], i))[:5]
    assert best.lengths.tolist() == [int(result.lengths[i]) for i in order]
    assert best.pnl.tolist() == [float(result.pnl[i]) for i in order]
    assert best.params.tolist() == [result.params[i].tolist() for i in order]
    assert len(result.best(1000)) == len(result) and len(result.best(0)) == 0
    assert "best" not in repr(best) and "length" in repr(best) and "no combos" in repr(result.best(0))


def test_the_package_is_typed(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), "-p", "sweepd"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
