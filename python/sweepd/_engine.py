"""An engine behind a boundary: connect(), Engine, Series."""
from __future__ import annotations

import collections
import contextlib
import json
import math
import os
import sys
import sysconfig
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, NoReturn, overload

import numpy as np
import numpy.typing as npt

from . import _core, _inputs
from ._errors import BadParam, Cancelled, ConnectionClosed, LimitExceeded, OutOfMemory, SweepdError, TimedOut
from ._grid import Grid, grid_of
from ._live import Live, LiveState, LiveStates
from ._result import Sweep
from ._timeout import Timeout, timeout_ms
from ._trades import TRADE

KERNELS = {name: number for number, name in enumerate(_core.KERNELS)}
THREADS_MAX = 1024  # of an engine of our own
CELL_TYPES = (np.float64, np.int64, np.int64, np.int64, np.int64, np.float64, np.float64, np.float64)

Progress = bool | Callable[[int, int], object]


def _show_progress(done: int, total: int) -> None:
    print(f"\rsweepd: {done:,} of {total:,} combos, {done / total:.0%}", end="\n" if done == total else "", file=sys.stderr,
          flush=True)


def _progress_call(progress: Progress) -> Callable[[int, int], object] | None:
    if progress is True:
        return _show_progress
    if progress is False or progress is None:
        return None
    if not callable(progress):
        raise TypeError(f"progress is {progress!r}: expected True, False or a function of combos done and combos")
    return progress


def _own_program(url: str) -> str:
    """spawn: without a program is the one that came with this package, where there is one."""
    beside = os.path.join(sysconfig.get_path("scripts"), "sweepd")
    return f"spawn:{beside}" if url == "spawn:" and os.access(beside, os.X_OK) else url


class Series:
    """A series of closes that an engine holds for us. Made by Engine.load, find and open; any thread may use it.

    As a context manager it is dropped at the end. One that nobody refers to any more is dropped by the engine's next load.
    """

    def __init__(self, engine: Engine, core: _core.Series, name: str | None) -> None:
        self._engine, self._core, self._is_dropped = engine, core, False
        self.name = name  #: that it was loaded or opened by; None: none
        _, self.bars, _, self.first, self.last = engine._core.info(core)  #: bars; closes of the first and last bar

    @property
    def fingerprint(self) -> str:
        """XXH3-128 of its closes, 32 hexadecimal digits: the same closes have the same one on every engine."""
        fingerprint = self._engine._core.info(self._core)[0]
        if fingerprint is None:
            self._engine._core.hash(self._core, 0)
            fingerprint = self._engine._core.info(self._core)[0]
        assert fingerprint is not None
        return fingerprint.hex()

    @property
    def nan_count(self) -> int:
        """Closes that are NaN."""
        self._engine._core.hash(self._core, 0)
        return self._engine._core.info(self._core)[2]

    def drop(self) -> None:
        """Gives it back to the engine, when the last sweep over it has ended. Twice is allowed."""
        self._is_dropped = True
        self._engine._core.drop(self._core, 0)

    def __len__(self) -> int:
        """Bars."""
        return self.bars

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name is not None else ""
        return f"<Series{name} of {self.bars} bars at {self._engine.url}>"

    def __enter__(self) -> Series:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with contextlib.suppress(SweepdError):
            self.drop()

    def __del__(self) -> None:
        if not getattr(self, "_is_dropped", True):
            self._engine._left.append(self._core)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Series stands for memory of an engine and cannot be pickled: name it, and open(name) there")


class Engine:
    """An engine behind a boundary, made by connect(). Any number of threads may use one; the GIL is released in every call.

    Errors of every call: TimedOut, ConnectionClosed (the next call connects again and finds its series again),
    ConnectionRefused, WrongProcess in a forked child, and what the call says. All are SweepdErrors; `at` is the place.
    As a context manager it is closed at the end.
    """

    def __init__(
        self, url: str, timeout: float | None, token: bytes, threads: int | None, name: str, spin_us: int | None,
    ) -> None:
        self.url = url
        self._left: collections.deque[_core.Series] = collections.deque()
        self._core = _core.Client(
            _own_program(url), timeout_ms(timeout), token, _inputs.threads_count(threads, THREADS_MAX), name, _inputs.spin_us(spin_us),
        )
        self._max_memory, self._max_combos, self.threads, numbers_id, self.version = self._core.server()
        self.numbers_id = numbers_id.hex()  #: engines with the same one compute the same numbers

    # ---- series ----

    def _drop_left(self) -> None:
        while self._left:
            with contextlib.suppress(SweepdError, IndexError):
                self._core.drop(self._left.popleft(), 0)

    def load(
        self, close: _inputs.Closes, name: str | None = None, allow: str | Iterable[str] = (), *, keep: bool = False,
        timeout: Timeout = ...,
    ) -> Series:
        """Sends a series, once; sweeps then name it.

        close    [bars] prices, oldest first: anything one-dimensional that numpy can see, of any stride: arrays, pandas
                 Series, buffers, lists; or that has Arrow's PyCapsule interface: polars Series, Arrow arrays and streams of
                 them. Floats of up to 64 bits, or integers up to 2^53: carried over exactly or refused. Missing values
                 become NaN
        name     for open(), for everybody of our identity at this engine
        allow    what closes are let in that are refused else: any of "nan", "inf", "nonpositive"
                 What series_buffer() made is handed over as it is, over unix: and shm:, and judged when it is first used
        keep     hold a copy here, and send it again if the engine loses it (restart); else a lost one is NotFound
        timeout  seconds; None: no limit; not given: the engine's own

        Raises TypeError for a dtype that cannot be carried over exactly, ValueError for a shape; BadParam for a close that is
        not allowed (at: its bar), or a name that is taken; LimitExceeded for the engine's memory.
        """
        return self._send(self._core.load, close, name, allow, keep, timeout)

    def find(
        self, close: _inputs.Closes, name: str | None = None, allow: str | Iterable[str] = (), *, keep: bool = False,
        timeout: Timeout = ...,
    ) -> Series:
        """As load(), but sends only a fingerprint of the closes. NotFound when the engine does not hold them."""
        return self._send(self._core.find, close, name, allow, keep, timeout)

    def _send(
        self, send: Callable[[Any, int, bool, int], _core.Series], close: Any, name: str | None, allow: str | Iterable[str],
        keep: bool, timeout: Timeout,
    ) -> Series:
        array, bits, limit_ms = _inputs.closes(close), _inputs.allow_bits(allow), timeout_ms(timeout)
        if keep:
            array = array.copy()
        self._drop_left()
        buffer = _inputs.buffer_of(array) if send == self._core.load and not keep else None
        core = self._core.load_buffer(buffer, bits, limit_ms) if buffer is not None else None
        if core is None:
            core = send(array, bits, keep, limit_ms)
        try:
            if name is not None:
                self._core.name(core, name, limit_ms)
        except BaseException:
            self._left.append(core)
            raise
        return Series(self, core, name)

    def open(self, name: str, *, timeout: Timeout = ...) -> Series:
        """The series that was given this name. Raises NotFound."""
        self._drop_left()
        return Series(self, self._core.open(name, timeout_ms(timeout)), name)

    def series(self, *, timeout: Timeout = ...) -> list[dict[str, Any]]:
        """The series one may use here: a dict each."""
        listed: list[dict[str, Any]] = json.loads(self._core.list(timeout_ms(timeout)))
        return listed

    # ---- sweeps ----

    def sweep(
        self,
        series: Series | _inputs.Closes,
        *,
        length: range | npt.ArrayLike | None = None,
        length3: range | npt.ArrayLike | None = None,
        params: npt.ArrayLike | dict[str, Any] | None = None,
        fee: float = 0.09,
        entry: str = "first",
        threads: int | None = None,
        kernel: str = "auto",
        windows: npt.ArrayLike | None = None,
        progress: Progress = False,
        timeout: Timeout = ...,
        allow: str | Iterable[str] = (),
    ) -> Sweep:
        """Runs hma-cross with every parameter set over one series.

        The strategy is always in the market: long while HMA3 > HMA, short while HMA3 < HMA; a tie keeps the position. It
        fills at the close of the bar that decided.

        series    of this engine; or closes, which are loaded with `allow` and dropped again
        length    bars: one number, or many, e.g. range(6, 201); each stands for the six windows of length L: half =
                  round(L/2), full = L, smooth = round(sqrt L), p = round(L/2), third = round(p/3), mid = round(p/2), rounded
                  half to even, at least 1
        length3   bars: third, mid and p from these instead; every length with every length3, the second fastest
        params    instead of lengths: [n, 6] half, full, smooth, third, mid, p, each 1..2^31-1 bars; or a dict of these six
                  names with a list of values each: their product, the last fastest
        fee       percentage points a round trip, taken when a trade closes; -100..100
        entry     "first": in at the first bar where the averages are valid and differ; "cross": at the first change of sign
                  after that
        threads   at most so many of the engine's; None: all
        kernel    "auto" or one of kernels(): the numbers are the same
        windows   [w, 3] warm, begin, end: bars begin..end-1 trade, bars from warm on feed the averages; results are [w, n]
        progress  True: a line on stderr; or a function of (combos done, combos), called at most 10 times a second; what it
                  raises ends the sweep
        timeout   seconds; None: no limit; not given: the engine's own

        Results of any size come in blocks, into arrays that stand ready (65 bytes a combo and window).

        Raises BadParam, a ValueError, for a value (at: its index); TypeError and ValueError for kinds and shapes;
        LimitExceeded and OutOfMemory, a MemoryError, before anything is sent. Ctrl+C cancels the sweep on the engine and
        raises KeyboardInterrupt; that, TimedOut, ConnectionClosed, Cancelled and what progress raises have `partial`, a Sweep
        of the combos that were finished, in input order. The engine goes on to serve the next call.
        """
        grid = grid_of(length, length3, params)
        spans = _inputs.windows(windows)
        request = (
            float(fee), _inputs.choice(entry, "entry", _inputs.ENTRIES), _inputs.choice(kernel, "kernel", KERNELS),
            _inputs.threads_count(threads), timeout_ms(timeout), _progress_call(progress),
        )
        if isinstance(series, Series):
            if allow != ():
                raise TypeError("allow is said when a series is loaded")
            return self._sweep(series, grid, spans, request)
        with self.load(series, allow=allow, timeout=timeout) as loaded:
            return self._sweep(loaded, grid, spans, request)

    def _sweep(self, series: Series, grid: Grid, windows: npt.NDArray[np.uint64], request: tuple[Any, ...]) -> Sweep:
        has_windows = len(windows) > 0
        shape = (len(windows), grid.combos) if has_windows else (grid.combos,)
        rows = math.prod(shape)
        if rows > self._max_combos:
            raise LimitExceeded(f"{grid.combos} combos in {max(1, len(windows))} windows: the engine's limit is {self._max_combos}")
        try:
            cells = tuple([np.empty(shape, kind) for kind in CELL_TYPES])
            finished = np.zeros(shape, np.uint8)
        except (MemoryError, ValueError):
            raise OutOfMemory(f"no memory for {rows} results of {8 * len(CELL_TYPES) + 1} bytes") from None
        sweep = Sweep(grid, None, cells, series.bars, windows if has_windows else None)
        try:
            self._core.sweep(series._core, grid.form, grid.lists, grid.combos, windows, cells, finished, *request)
        except BaseException as error:
            if not isinstance(error, SweepdError) or isinstance(error, (Cancelled, TimedOut, ConnectionClosed)):
                whole = finished.all(axis=0) if has_windows else finished
                error.partial = sweep._take(np.flatnonzero(whole))  # type: ignore[attr-defined]
            if isinstance(error, TimedOut):
                error.add_note("sweep(..., timeout=None) waits as long as it takes; what was finished is in .partial")
            raise
        return sweep

    def trades(
        self,
        series: Series | _inputs.Closes,
        *,
        length: int | None = None,
        length3: int | None = None,
        params: npt.ArrayLike | None = None,
        fee: float = 0.09,
        entry: str = "first",
        kernel: str = "auto",
        window: npt.ArrayLike | None = None,
        timeout: Timeout = ...,
        allow: str | Iterable[str] = (),
    ) -> npt.NDArray[np.void]:
        """Every trade of one combo, in order, one still open last: [n] of TRADE, a structured array.

            t = engine.trades(series, length=20)
            t["pnl"], t["entry_bar"], t["side"]     entry_bar, exit_bar, side, entry, exit, pnl: see TRADE

        length, length3   one number each; or
        params            six: half, full, smooth, third, mid, p
        window            warm, begin, end: as one of sweep()'s; bars count from the series' beginning
        the others        as sweep()'s

        The closed ones are what sweep() counts: their number is its `trades`, their sum in this order its `pnl`, bit for bit.
        Raises as sweep() does, BadParam for more than one combo, and LimitExceeded when the list does not fit a frame.
        """
        grid = grid_of(length, length3, params if params is None else np.atleast_2d(params))
        if grid.combos != 1:
            raise BadParam(f"trades() takes one combo, not {grid.combos}")
        spans = _inputs.windows(window if window is None else np.atleast_2d(window))
        if len(spans) > 1:
            raise BadParam(f"trades() takes one window, not {len(spans)}")
        request = (
            np.ascontiguousarray(grid.rows(np.arange(1))), spans, float(fee), _inputs.choice(entry, "entry", _inputs.ENTRIES),
            _inputs.choice(kernel, "kernel", KERNELS), timeout_ms(timeout),
        )
        if isinstance(series, Series):
            if allow != ():
                raise TypeError("allow is said when a series is loaded")
            return np.frombuffer(self._core.trades(series._core, *request), TRADE)
        with self.load(series, allow=allow, timeout=timeout) as loaded:
            return np.frombuffer(self._core.trades(loaded._core, *request), TRADE)

    # ---- live sessions ----

    @overload
    def live(
        self, *, length: int, fee: float = ..., entry: str = ..., warmup: Series | _inputs.Closes | None = ...,
        allow: str | Iterable[str] = ..., timeout: Timeout = ...,
    ) -> Live[LiveState]: ...

    @overload
    def live(
        self, *, length: range | npt.ArrayLike | None = ..., length3: range | npt.ArrayLike | None = ...,
        params: npt.ArrayLike | dict[str, Any] | None = ..., fee: float = ..., entry: str = ...,
        warmup: Series | _inputs.Closes | None = ..., allow: str | Iterable[str] = ..., timeout: Timeout = ...,
    ) -> Live[LiveStates]: ...

    def live(
        self, *, length: Any = None, length3: Any = None, params: Any = None, fee: float = 0.09, entry: str = "first",
        warmup: Series | _inputs.Closes | None = None, allow: str | Iterable[str] = (), timeout: Timeout = ...,
    ) -> Live[Any]:
        """Opens a live session: bars are pushed as they close, and after each its state is that of a sweep over all of them.

        length, length3, params, fee, entry   as sweep(); with one number as `length`, alone, states are a LiveState of plain
                                              numbers, else LiveStates of arrays
        warmup                                bars before the first push, which trade and count: closes or a Series
        allow                                 what closes are let in, of the warm-up and of pushes
        timeout                               seconds; None: no limit; not given: the engine's own

        Raises as sweep() does; BadParam for a close of the warm-up that is not allowed (at: its bar); LimitExceeded for the
        engine's sessions and memory.
        """
        grid = grid_of(length, length3, params)
        is_one = np.ndim(length) == 0 and length is not None and length3 is None
        rows = np.ascontiguousarray(grid.rows(np.arange(grid.combos)))
        request = (rows, float(fee), _inputs.choice(entry, "entry", _inputs.ENTRIES), _inputs.allow_bits(allow))
        if warmup is None or isinstance(warmup, Series):
            return self._live(warmup, request, is_one, timeout)
        with self.load(warmup, allow=allow, timeout=timeout) as loaded:
            return self._live(loaded, request, is_one, timeout)

    def _live(
        self, warmup: Series | None, request: tuple[npt.NDArray[np.int64], float, int, int], is_one: bool, timeout: Timeout,
    ) -> Live[Any]:
        combos = len(request[0])
        cells = np.empty((combos, 5), np.int64)
        series = warmup._core if warmup is not None else None
        core = self._core.live_open(series, *request, cells, timeout_ms(timeout))
        return Live(core, combos, is_one, int(cells[0, 0]))

    def restore(self, snapshot: Any, *, timeout: Timeout = ...) -> Live[Any]:
        """A live session that goes on as if it had never stopped, from Live.snapshot(): states are a LiveState when it has
        one combo, else LiveStates. BadParam (at: the byte) for bytes that are none or damaged; Unknown for those of an engine
        that computes other numbers."""
        core, combos = self._core.live_restore(snapshot, timeout_ms(timeout))
        live: Live[Any] = Live(core, combos, combos == 1, 0)
        live.bars = live.state(timeout=timeout).bars
        return live

    # ---- the rest ----

    def echo(self, data: Any, *, timeout: Timeout = ...) -> bytes:
        """The same bytes, there and back. `data`: anything with the buffer protocol."""
        return self._core.echo(data, timeout_ms(timeout))

    def stats(self, *, timeout: Timeout = ...) -> dict[str, float]:
        """What the engine counts: its Prometheus names, with their labels, and values."""
        lines = self._core.stats(timeout_ms(timeout)).splitlines()
        counts = (line.rpartition(" ") for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, _, value in counts}

    def close(self) -> None:
        """Ends the connection, when the calls of other threads have ended. Twice is allowed."""
        self._core.close()

    def __repr__(self) -> str:
        return f"<Engine at {self.url}, version {self.version}, {self.threads} threads>"

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("an Engine is a connection of this process and cannot be pickled: connect() in each process")


def connect(
    url: str = "unix:", *, timeout: float | None = 30, token: bytes | str = b"", threads: int | None = None,
    name: str = "python", spin_us: int | None = None,
) -> Engine:
    """An engine at one of

        unix:PATH      a daemon's socket; "unix:" alone: the default one
        shm:PATH       the same daemon through shared memory: the quickest crossing
        tcp:HOST:PORT  a daemon's port; loopback only
        spawn:PROGRAM  a process of our own; "spawn:" alone: the program that came with this package, else the one on PATH
        inproc:        this process

    timeout  seconds a call may take, reconnecting included; None: no limit. Calls may say another
    token    for a daemon that asks for one
    threads  of the engine of inproc: and spawn:; None: the CPUs this process may use
    name     for the daemon's log
    spin_us  microseconds to look for an answer before sleeping, which makes short calls quicker and costs CPU time meanwhile;
             0: never; None: 20, where the process may use two CPUs and while it pays

    Raises BadParam for the address or an option; ConnectionRefused, TimedOut, ConnectionClosed; Denied (the token); Busy (too
    many connections); Unknown (no common version of the protocol).
    """
    return Engine(url, timeout, token.encode() if isinstance(token, str) else token, threads, name, spin_us)
