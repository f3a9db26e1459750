"""sweep(): many parameter sets over one series of closes, in this process."""
from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from ._engine import KERNELS, THREADS_MAX, Engine, Series, connect
from ._inputs import Closes
from ._result import Sweep

_lock = threading.Lock()
_shared: Engine | None = None


def kernels() -> tuple[str, ...]:
    """Names of the kernels there are, the specification's own first: "strict", "strict-checked", ...

    Every one of them finds the same numbers, bit for bit. "auto", the fastest, is one of these.
    """
    return tuple(name for name in KERNELS if name != "auto")


def _shared_engine() -> Engine:
    global _shared
    with _lock:
        if _shared is None:
            _shared = connect("inproc:", timeout=None)
        return _shared


def _forget_engine() -> None:
    """In a forked child: the engine's threads are not in it."""
    global _lock, _shared
    _lock, _shared = threading.Lock(), None


os.register_at_fork(after_in_child=_forget_engine)


def sweep(close: Closes, **options: Any) -> Sweep:
    """Engine.sweep on the engine of this process: the same arguments, results and errors, without a time limit.

        sweep(close, length=range(6, 201), fee=0.09)

    close    [bars] prices, oldest first; see Engine.load
    options  length, length3, params, fee, entry, threads, kernel, windows, progress, timeout, allow; see Engine.sweep
    """
    if isinstance(close, Series):
        return close._engine.sweep(close, **options)
    engine = _shared_engine()
    threads = options.get("threads")
    if isinstance(threads, int) and engine.threads < threads <= THREADS_MAX:
        with connect("inproc:", timeout=None, threads=threads) as own:
            return own.sweep(close, **options)
    return engine.sweep(close, **options)


def trades(close: Closes, **options: Any) -> npt.NDArray[np.void]:
    """Engine.trades on the engine of this process: every trade of one combo, without a time limit.

        trades(close, length=20, fee=0.09)["pnl"]

    close    [bars] prices, oldest first; see Engine.load
    options  length, length3, params, fee, entry, kernel, window, timeout, allow; see Engine.trades
    """
    engine = close._engine if isinstance(close, Series) else _shared_engine()
    return engine.trades(close, **options)
