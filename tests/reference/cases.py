"""The cases that are run by rule, beside the ones hypothesis finds: shapes that have told kernels apart."""
import numpy as np

from reference.gate import Case


def params_of_length(length):
    """docs/numbers.md, `length`. Python's round() is half to even."""
    p = max(1, round(length / 2))
    return [p, length, max(1, round(length**0.5)), max(1, round(p / 3)), max(1, round(p / 2)), p]


STUDY_PARAMS = np.array([params_of_length(int(length)) for length in np.rint(np.linspace(6, 200, 80))], np.int64)


def study():
    z = np.random.default_rng(42).standard_normal(150_000)
    return Case("study", 100.0 * np.exp(np.cumsum(0.0008 * z)), STUDY_PARAMS)


def _series(rng, bars):
    walk = 100.0 * np.exp(np.cumsum(rng.normal(0, 0.01, bars)))
    yield "walk", walk
    yield "tick-grid", np.round(walk)
    yield "half-ticks", np.round(walk * 2) / 2
    yield "constant", np.full(bars, 100.0)
    yield "constant 0.1", np.full(bars, 0.1)
    yield "coin", rng.integers(0, 2, bars).astype(float)
    yield "alternating", np.where(np.arange(bars) % 2, 102.0, 100.0)
    yield "ramp", np.arange(1.0, bars + 1)
    yield "steps", 100.0 + np.arange(bars) // 97
    yield "flat noise", 100.0 + rng.normal(0, 1e-13, bars)
    for name, hole, share in [("nan", np.nan, 0.01), ("many nan", np.nan, 0.2), ("inf", np.inf, 0.01), ("-inf", -np.inf, 0.01)]:
        holed = walk.copy()
        holed[rng.random(bars) < share] = hole
        yield name + " holes", holed
    yield "all nan", np.full(bars, np.nan)
    jump = walk.copy()
    jump[bars // 2:] *= 1e6
    yield "jump up", jump
    yield "jump down", jump[::-1].copy()
    yield "negative", walk - 100.0
    yield "zeros", np.where(rng.random(bars) < 0.1, 0.0, np.round(walk))
    yield "negative zeros", np.where(rng.random(bars) < 0.5, -0.0, 0.0)
    yield "1e300", walk * 1e300
    with np.errstate(over="ignore"):
        yield "overflow", walk * 1e306
    yield "1e-300", walk * 1e-300
    yield "subnormal", walk * 1e-312
    yield "magnitudes", 2.0 ** rng.integers(-60, 60, bars).astype(float)


def _params(rng, bars):
    """Lengths 1 and up, the series' own and beyond; windows in any order of size."""
    rows = [params_of_length(length) for length in (1, 2, 3, 4, 6, 7, 11, 30, max(1, bars // 2), bars, bars + 1, 2**31 - 1)]
    rows += [[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 2, 1], [9, 2, 5, 8, 3, 1], [1, 1, 1, 1, 1, bars], [bars, 1, 1, 1, 1, 1]]
    rows += rng.integers(1, 40, (8, 6)).tolist()
    return np.array(rows, np.int64)


def by_rule(bars=700, seed=7, long=True):
    """Every shape with every kind of parameters, both entry rules and several fees; `long` adds what plain Python is slow at."""
    rng = np.random.default_rng(seed)
    fees = (0.09, 0.0, 1.0, -0.25, 1e-17)
    for i, (name, close) in enumerate(_series(rng, bars)):
        params = _params(rng, bars)
        for entry in ("first", "cross"):
            yield Case(f"{name}, {entry}", close, params, fees[i % len(fees)], entry)
    for bars_few in (1, 2, 3, 5, 17, 64, 65):
        yield Case(f"{bars_few} bars", rng.normal(100, 1, bars_few), _params(rng, bars_few))
    if not long:
        return
    # kernels work in blocks of 512, 2,048 ... bars: their seams, and windows that reach over several blocks
    for name, close in _series(rng, 9001):
        yield Case(f"{name}, 9,001 bars", close, STUDY_PARAMS[::3], entry=("first", "cross")[len(name) % 2])
    long_walk = 100.0 + np.cumsum(rng.integers(-3, 4, 6200)) * 0.25
    yield Case("block seams", long_walk, np.array([params_of_length(n) for n in (2, 6, 100, 2047, 2049, 4000)], np.int64))
