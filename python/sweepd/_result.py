"""What a sweep found."""
from __future__ import annotations

import dataclasses
import functools
import importlib
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._grid import NAMES, Grid, Integers

Floats = npt.NDArray[np.float64]

SHOWN = 10  # combos in a repr


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class OpenTrades:
    """Each combo's trade still open at the last bar; in neither `pnl` nor `trades` of the result. Shapes as theirs."""

    side: Integers  #: +1 long, -1 short, 0 none
    entry_bar: Integers  #: bar of the entry, from 0; -1: none
    entry: Floats  #: price of the entry; 0: none
    last: Floats  #: last close that is a number; 0: none
    pnl: Floats  #: percentage points at `last`, no fee; 0: none


class Sweep:
    """What sweep() found, one element a combo, in input order: [n], or [windows, n] where windows were asked for."""

    pnl: Floats  #: percentage points, fees taken, closed trades only
    trades: Integers  #: closed trades
    first_bar: Integers  #: first bar that may trade where both averages are valid, from 0; -1: none
    bars: int  #: bars of the series
    windows: npt.NDArray[np.uint64] | None  #: [windows, 3] warm, begin, end; None: the whole series

    def __init__(
        self, grid: Grid, index: Integers | None, columns: tuple[Any, ...], bars: int, windows: npt.NDArray[np.uint64] | None
    ) -> None:
        self._grid, self._index, self._columns = grid, index, columns
        self.pnl, self.trades, self.first_bar = columns[:3]
        self.bars, self.windows = bars, windows

    @functools.cached_property
    def open(self) -> OpenTrades:
        """Each combo's trade still open at the last bar."""
        return OpenTrades(*self._columns[3:])

    @property
    def _places(self) -> Integers:
        return np.arange(self._grid.combos) if self._index is None else self._index

    @property
    def params(self) -> Integers:
        """[n, 6] half, full, smooth, third, mid, p: window lengths in bars."""
        return self._grid.rows(self._places)

    @property
    def lengths(self) -> Integers | None:
        """[n] the lengths asked for; None when params were given."""
        return self._grid.lengths(self._places)

    @property
    def lengths3(self) -> Integers | None:
        """[n] the lengths of HMA3 asked for; None when they were not given apart."""
        return self._grid.lengths3(self._places)

    @property
    def bars_needed(self) -> Integers:
        """[n] bars a series must have for this combo's averages to be valid once."""
        needed = np.empty(len(self), np.int64)
        _core.bars_needed(np.ascontiguousarray(self.params), needed)
        return needed

    def __len__(self) -> int:
        """Combos."""
        return int(self.pnl.shape[-1])

    def _take(self, chosen: Any) -> Sweep:
        """The combos at these places, in their order."""
        columns = tuple(column[..., chosen] for column in self._columns)
        return Sweep(self._grid, self._places[chosen], columns, self.bars, self.windows)

    def best(self, n: int = 10) -> Sweep:
        """The n combos with the highest pnl (of several windows: their sum), best first; equal ones in input order."""
        score = self.pnl if self.windows is None else self.pnl.sum(axis=0)
        return self._take(np.argsort(-score, kind="stable")[: max(n, 0)])

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """A table, column by column: a row a combo, or a row a window and combo, all combos of the first window first."""
        times = 1 if self.windows is None else len(self.windows)
        table: dict[str, npt.NDArray[Any]] = {}
        if self.windows is not None:
            table["window"] = np.repeat(np.arange(times), len(self))
        for name, lengths in ("length", self.lengths), ("length3", self.lengths3):
            if lengths is not None:
                table[name] = lengths if times == 1 else np.tile(lengths, times)
        for name, values in zip(NAMES, self.params.T, strict=True):
            table[name] = np.tile(values, times)
        found = ("pnl", "trades", "first_bar", "open_side", "open_entry_bar", "open_entry", "open_last", "open_pnl")
        table.update((name, column.reshape(-1)) for name, column in zip(found, self._columns, strict=True))
        return table

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of to_dict(); ImportError without pandas."""
        return importlib.import_module("pandas").DataFrame(self.to_dict())

    def to_polars(self) -> Any:
        """A polars.DataFrame of to_dict(); ImportError without polars."""
        return importlib.import_module("polars").DataFrame(self.to_dict())

    def to_arrow(self) -> Any:
        """A pyarrow.Table of to_dict(); ImportError without pyarrow."""
        return importlib.import_module("pyarrow").table(self.to_dict())

    def _summary(self) -> str:
        needed = self.bars_needed
        short = int((needed > self.bars).sum())
        note = f", {short} of them need up to {needed.max()} bars" if short else ""
        windows = "" if self.windows is None else f" in {len(self.windows)} windows"
        return f"{len(self)} combos over {self.bars} bars{windows}, {int(self.trades.sum())} trades{note}"

    def __repr__(self) -> str:
        if len(self) == 0:
            return f"<Sweep of no combos over {self.bars} bars>"
        head = self._take(slice(0, SHOWN))
        table = {k: v for k, v in head.to_dict().items() if k not in ("first_bar", "open_entry_bar", "open_entry", "open_last")}
        if self.lengths is not None:
            table = {k: v for k, v in table.items() if k not in NAMES}
        texts = [[k, *(f"{x:.2f}" if v.dtype.kind == "f" else str(x) for x in v[:SHOWN])] for k, v in table.items()]
        widths = [max(map(len, column)) for column in texts]
        lines = ["  ".join(t.rjust(w) for t, w in zip(row, widths, strict=True)) for row in zip(*texts, strict=True)]
        if self.pnl.size > SHOWN:
            lines.append(f"... {self.pnl.size - len(lines) + 1} more")
        return f"<Sweep of {self._summary()}>\n" + "\n".join(lines)
