"""Which combos a sweep runs, as they are sent: expanded only when somebody looks at them."""
from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _core, _inputs

Integers = npt.NDArray[np.int64]
NAMES = ("half", "full", "smooth", "third", "mid", "p")


class Grid(NamedTuple):
    form: int
    lists: tuple[Integers, ...]  #: ROWS: one of [n, 6]; AXES: six of values; PAIRS: (half, full, smooth), (third, mid, p)
    combos: int
    length: Integers | None = None  #: that `lists` came from
    length3: Integers | None = None

    def rows(self, index: Integers) -> Integers:
        """[n, 6]"""
        if self.form == _core.GRID_ROWS:
            return self.lists[0][index]
        if self.form == _core.GRID_PAIRS:
            hma, hma3 = self.lists
            return np.hstack([hma[index // len(hma3)], hma3[index % len(hma3)]])
        places = np.unravel_index(index, tuple(len(axis) for axis in self.lists))
        return np.stack([axis[place] for axis, place in zip(self.lists, places, strict=True)], axis=1)

    def lengths(self, index: Integers) -> Integers | None:
        if self.length is None:
            return None
        return self.length[index if self.length3 is None else index // len(self.length3)]

    def lengths3(self, index: Integers) -> Integers | None:
        return None if self.length3 is None else self.length3[index % len(self.length3)]


def _of_lengths(length: Any, length3: Any) -> Grid:
    lengths, rows = _inputs.params_of_lengths(length, "length")
    if length3 is None:
        return Grid(_core.GRID_ROWS, (rows,), len(rows), lengths)
    lengths3, rows3 = _inputs.params_of_lengths(length3, "length3")
    triples = np.ascontiguousarray(rows[:, :3]), np.ascontiguousarray(rows3[:, 3:])
    return Grid(_core.GRID_PAIRS, triples, len(lengths) * len(lengths3), lengths, lengths3)


def _of_axes(axes: Mapping[str, Any]) -> Grid:
    if set(axes) != set(NAMES):
        raise TypeError(f"params has the axes {', '.join(map(str, axes))}: expected all of {', '.join(NAMES)}")
    lists = tuple(_inputs.lengths(axes[name], name) for name in NAMES)
    return Grid(_core.GRID_AXES, lists, math.prod(len(values) for values in lists))


def grid_of(length: Any, length3: Any, params: Any) -> Grid:
    if (length is None) == (params is None) or (length is None and length3 is not None):
        raise TypeError("sweep() takes either length or params; length3 goes with length")
    if length is not None:
        return _of_lengths(length, length3)
    if isinstance(params, Mapping):
        return _of_axes(params)
    rows = _inputs.params(params)
    return Grid(_core.GRID_ROWS, (rows,), len(rows))
