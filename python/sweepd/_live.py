"""Live sessions: Engine.live(), Engine.restore()."""
from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Generic, NamedTuple, NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core, _inputs
from ._errors import SweepdError
from ._timeout import Timeout, timeout_ms


class LiveState(NamedTuple):
    """What one combo has done after the last bar."""

    bars: int  #: seen, warm-up included
    position: int  #: -1 short, 0 flat, +1 long
    entry: float  #: price; 0 when flat
    pnl: float  #: percentage points, fees taken, closed trades only
    trades: int  #: closed ones


class LiveStates(NamedTuple):
    """What each combo has done after the last bar: arrays in the combos' order, as LiveState."""

    bars: int
    position: npt.NDArray[np.int64]
    entry: npt.NDArray[np.float64]
    pnl: npt.NDArray[np.float64]
    trades: npt.NDArray[np.int64]


State = TypeVar("State", LiveState, LiveStates)

_NO_BARS = np.empty(0)


def _unpack(cells: npt.NDArray[np.int64]) -> LiveStates:
    reals = cells.view(np.float64)
    return LiveStates(int(cells[0, 0]), cells[:, 1], reals[:, 2], reals[:, 3], cells[:, 4])


class Live(Generic[State]):
    """A live session: after each push its state is that of a sweep over all bars so far, bit for bit.

    Made by Engine.live() and Engine.restore(). It is one thread's at a time, belongs to the engine's connection and ends with
    it: then its next call raises ConnectionClosed, which says so; restore a snapshot, or open it again with a warm-up. After
    TimedOut push the same closes again: they count once. As a context manager it is closed at the end.
    """

    def __init__(self, core: _core.Live, combos: int, is_one: bool, bars: int) -> None:
        self._core, self._is_one = core, is_one
        self.combos = combos  #: parameter sets
        self.bars = bars  #: seen, warm-up included

    def _ask(self, close: float | _inputs.Closes, peeks: bool, timeout: Timeout) -> State:
        if self._is_one and isinstance(close, (float, int)):
            return LiveState(*self._core.push_one(close, peeks, timeout_ms(timeout)))  # type: ignore[return-value]
        is_one_close = not _inputs.is_arrow(close) and np.ndim(close) == 0  # type: ignore[arg-type]
        bars = _inputs.closes(np.atleast_1d(close) if is_one_close else close)  # type: ignore[arg-type]
        return self._push(bars, peeks, timeout)

    def _push(self, bars: npt.NDArray[np.float64], peeks: bool, timeout: Timeout) -> State:
        cells = np.empty((self.combos, 5), np.int64)
        self._core.push(bars, peeks, cells, timeout_ms(timeout))
        states = _unpack(cells)
        if not self._is_one:
            return states  # type: ignore[return-value]
        return LiveState(states.bars, *(column[0].item() for column in states[1:]))  # type: ignore[return-value]

    def push(self, close: float | _inputs.Closes, *, timeout: Timeout = ...) -> State:
        """One close, or several, oldest first: the state after the last. BadParam for a close that `allow` refuses (at: its
        index): then nothing is kept."""
        state = self._ask(close, False, timeout)
        self.bars = state.bars
        return state

    def peek(self, close: float | _inputs.Closes, *, timeout: Timeout = ...) -> State:
        """The state if these bars closed now; nothing is kept."""
        return self._ask(close, True, timeout)

    def state(self, *, timeout: Timeout = ...) -> State:
        """As it is."""
        return self._push(_NO_BARS, False, timeout)

    def snapshot(self, *, timeout: Timeout = ...) -> bytes:
        """The session as bytes, for Engine.restore() of any engine that computes the same numbers."""
        return self._core.snapshot(timeout_ms(timeout))

    def close(self) -> None:
        """Ends the session. Twice is allowed."""
        self._core.close(0)

    def __repr__(self) -> str:
        return f"<Live session of {self.combos} combo{'s' if self.combos != 1 else ''} after {self.bars} bars>"

    def __enter__(self) -> Live[State]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with contextlib.suppress(SweepdError):
            self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Live session belongs to a connection and cannot be pickled: pickle its snapshot()")
