"""sweep(): many parameter sets over one series of closes."""
from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core, _inputs

KERNELS = {name: number for number, name in enumerate(_core.KERNELS)}


def kernels() -> tuple[str, ...]:
    """Names of the kernels there are, the specification's own first: "strict", "strict-checked", ...

    Every one of them finds the same numbers, bit for bit. "auto", the fastest, is one of these.
    """
    return tuple(name for name in KERNELS if name != "auto")


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class OpenTrades:
    """Each combo's trade still open at the last bar; in neither `pnl` nor `trades` of the result."""

    side: npt.NDArray[np.int64]  #: [n] +1 long, -1 short, 0 none
    entry_bar: npt.NDArray[np.int64]  #: [n] bar of the entry, from 0; -1: none
    entry: npt.NDArray[np.float64]  #: [n] price of the entry; 0: none
    last: npt.NDArray[np.float64]  #: [n] last close that is a number; 0: none
    pnl: npt.NDArray[np.float64]  #: [n] percentage points at `last`, no fee; 0: none


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Sweep:
    """What sweep() found, one element a combo, in input order."""

    pnl: npt.NDArray[np.float64]  #: [n] percentage points, fees taken, closed trades only
    trades: npt.NDArray[np.int64]  #: [n] closed trades
    params: npt.NDArray[np.int64]  #: [n, 6] half, full, smooth, third, mid, p: window lengths in bars
    length: npt.NDArray[np.int64] | None  #: [n] the lengths asked for; None when params were given
    first_bar: npt.NDArray[np.int64]  #: [n] first bar where both averages are valid, from 0; -1: none
    open: OpenTrades
    bars: int  #: bars of the series
    bars_needed: npt.NDArray[np.int64]  #: [n] bars a series must have for this combo's averages to be valid once

    def __len__(self) -> int:
        return len(self.pnl)

    def __repr__(self) -> str:
        short = int((self.bars_needed > self.bars).sum())
        note = f", {short} of them need up to {self.bars_needed.max()} bars" if short else ""
        return f"<Sweep of {len(self)} combos over {self.bars} bars, {int(self.trades.sum())} trades{note}>"


def sweep(
    close: npt.ArrayLike,
    *,
    length: range | npt.ArrayLike | None = None,
    params: npt.ArrayLike | None = None,
    fee: float = 0.09,
    entry: str = "first",
    threads: int | None = None,
    kernel: str = "auto",
    allow: str | Iterable[str] = (),
) -> Sweep:
    """Runs hma-cross with every parameter set over one series of closes.

    The strategy is always in the market: long while HMA3 > HMA, short while HMA3 < HMA; a tie keeps the position. It fills
    at the close of the bar that decided.

    close    [bars] prices, oldest first: a one-dimensional array of any stride (floats of up to 64 bits, or integers up to
             2^53, which are carried over exactly) or a list of numbers
    length   bars: one number, or many, e.g. range(6, 201); each stands for the six windows of length L: half = round(L/2),
             full = L, smooth = round(sqrt L), p = round(L/2), third = round(p/3), mid = round(p/2), rounded half to even,
             at least 1
    params   instead of length: [n, 6] half, full, smooth, third, mid, p, each 1..2^31-1 bars
    fee      percentage points a round trip, taken when a trade closes
    entry    "first": in at the first bar where the averages are valid and differ; "cross": at the first change of sign
             after that
    threads  at most so many; None: the CPUs this process may use
    kernel   "auto" or one of kernels(): the numbers are the same
    allow    what closes are let in that are refused else: any of "nan", "inf", "nonpositive"

    Returns a Sweep: pnl, trades, params, first_bar, open, bars_needed, in input order.
    Raises TypeError for a dtype that cannot be carried over exactly, ValueError for a shape, and BadParam, a ValueError, for
    a value (its `at` is the index); MemoryError. The GIL is released while it runs; Ctrl+C ends it.
    """
    if (length is None) == (params is None):
        raise TypeError("sweep() takes either length or params")
    closes = _inputs.closes(close)
    lengths = _inputs.lengths(length) if length is not None else None
    rows = _inputs.params(params) if lengths is None else _inputs.params_of_lengths(lengths)
    n = len(rows)
    pnl, entry_price, last, open_pnl = (np.empty(n, np.float64) for _ in range(4))
    trades, first_bar, side, entry_bar = (np.empty(n, np.int64) for _ in range(4))
    _core.sweep(
        closes, rows, pnl, trades, first_bar, side, entry_bar, entry_price, last, open_pnl, float(fee),
        _inputs.choice(entry, "entry", _inputs.ENTRIES), _inputs.choice(kernel, "kernel", KERNELS),
        _inputs.threads_count(threads), _inputs.allow_bits(allow),
    )
    bars_needed = np.empty(n, np.int64)
    _core.bars_needed(rows, bars_needed)
    open_trades = OpenTrades(side, entry_bar, entry_price, last, open_pnl)
    return Sweep(pnl, trades, rows, lengths, first_bar, open_trades, len(closes), bars_needed)
