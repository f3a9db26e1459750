"""Series and parameters that hypothesis makes: small, and cruel."""
import numpy as np
from hypothesis import strategies as st

from reference.gate import Case

_ticks = st.integers(-4, 4).map(lambda n: 100.0 + n * 0.25)
_two = st.sampled_from([100.0, 101.0])
_walkable = st.floats(90, 110)
_any_magnitude = st.floats(1e-300, 1e300)
_mantissa_and_power = st.builds(lambda m, e: m * 10.0**e, st.floats(1, 10), st.integers(-300, 300))
_jumpy = st.sampled_from([100.0, 1e8, 100.5, 1e-4, 1e6])
_anything = st.floats(allow_nan=True, allow_infinity=True, allow_subnormal=True)
_flavours = st.sampled_from([_ticks, _two, _walkable, _any_magnitude, _mantissa_and_power, _jumpy, _anything])


@st.composite
def series(draw, bars_max):
    """0, 1, 2 bars or more; a constant, or one flavour of values, some runs repeated, with holes or without."""
    bars = draw(st.one_of(st.integers(0, 3), st.integers(0, bars_max)))
    values = draw(_flavours)
    if draw(st.integers(0, 9)) == 0:
        close = np.full(bars, draw(values))
    else:
        close = np.array(draw(st.lists(values, min_size=bars, max_size=bars)), np.float64)
    for hole in draw(st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 0.0, -0.0]), max_size=2)):
        if bars > 0:
            close[draw(st.lists(st.integers(0, bars - 1), max_size=4))] = hole
    return close


@st.composite
def combos(draw, bars):
    window = st.one_of(st.integers(1, 8), st.integers(1, max(1, bars)), st.integers(bars + 1, bars + 3), st.just(1))
    rows = draw(st.lists(st.lists(window, min_size=6, max_size=6), min_size=1, max_size=6))
    return np.array(rows, np.int64)


@st.composite
def cases(draw, bars_max=200):
    close = draw(series(bars_max))
    fee = draw(st.one_of(st.sampled_from([0.09, 0.0, 1.0]), st.floats(-100, 100)))
    return Case("hypothesis", close, draw(combos(len(close))), fee, draw(st.sampled_from(["first", "cross"])))
