"""Any dtype, stride, shape and container that Python hands in gives the numbers of the specification over the same values, computed
in plain Python."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from support.arrow_producer import FORMATS, Chunks, Column

from .hma_cross import hma_cross

package = pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")

ANY = ("nan", "inf", "nonpositive")
NUMBERS = st.one_of(
    hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"), hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
)
COMBOS = st.lists(st.tuples(*[st.integers(1, 5)] * 6), min_size=1, max_size=3)


def values_of(dtype):
    if dtype.kind == "f":
        ticks = st.sampled_from([96.0, 99.5, 100.0, 100.25, 101.0, float("nan")])
        return st.one_of(ticks, st.floats(width=8 * dtype.itemsize))
    limits = np.iinfo(dtype)
    return st.one_of(st.integers(95, 105), st.integers(max(-(2**53), int(limits.min)), min(2**53, int(limits.max))))


def assert_is_the_reference(close, values, combos, fee, entry):
    """`close`: what is handed in; `values`: what it says."""
    found = package.sweep(close, params=combos, fee=fee, entry=entry, allow=ANY)
    for i, combo in enumerate(combos):
        with np.errstate(all="ignore"):
            right = hma_cross(values, *combo, fee, entry == "cross")
        open_trade = (column[i] for column in (found.open.side, found.open.entry_bar, found.open.entry, found.open.last, found.open.pnl))
        for got, expected in zip((found.pnl[i], found.trades[i], found.first_bar[i], *open_trade), right, strict=True):
            assert np.asarray(got, "f8").tobytes() == np.asarray(expected, "f8").tobytes() or (np.isnan(got) and np.isnan(expected))


@settings(max_examples=200, deadline=None)
@given(st.data(), NUMBERS, COMBOS, st.sampled_from([0.09, 0.0, -1.5]), st.sampled_from(["first", "cross"]))
def test_b32_b33_any_array_gives_the_numbers_of_the_specification(data, dtype, combos, fee, entry):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=30).filter(lambda s: np.prod(s) < 500))
    table = data.draw(hnp.arrays(dtype, shape, elements=values_of(dtype)))
    table = data.draw(st.sampled_from([np.asarray, np.asfortranarray]))(table)
    axis = data.draw(st.integers(0, table.ndim - 1))
    place = [data.draw(st.integers(0, side - 1)) for side in table.shape]
    step = data.draw(st.integers(-4, 4).filter(bool))
    close = table[tuple(slice(None, None, step) if i == axis else at for i, at in enumerate(place))]
    if data.draw(st.booleans()):
        close.flags.writeable = False
    before = table.tobytes()
    assert_is_the_reference(close, np.array([float(value) for value in close]), combos, fee, entry)
    assert table.tobytes() == before


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(sorted(FORMATS)), COMBOS)
def test_any_arrow_array_or_stream_gives_the_numbers_of_the_specification(data, kind, combos):
    dtype = np.dtype(kind)
    close = data.draw(hnp.arrays(dtype, st.integers(1, 60), elements=values_of(dtype)))
    missing = data.draw(st.none() | hnp.arrays(bool, len(close)))
    values = np.array([float(value) for value in close])
    if missing is not None:
        values[missing] = np.nan
    cut = data.draw(st.integers(0, len(close)))
    halves = [(close[part], missing if missing is None else missing[part], data.draw(st.integers(0, 9)))
              for part in (slice(None, cut), slice(cut, None))]
    for handed in Column(close, missing, offset=data.draw(st.integers(0, 9))), Chunks(halves):
        assert_is_the_reference(handed, values, combos, 0.09, "first")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.integers(-(2**53), 2**53), st.floats()), min_size=1, max_size=60), COMBOS)
def test_b33_any_list_of_numbers_gives_the_numbers_of_the_specification(close, combos):
    assert_is_the_reference(close, np.array([float(value) for value in close]), combos, 0.09, "first")
