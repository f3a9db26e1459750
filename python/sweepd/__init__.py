"""sweepd: one backtest kernel behind every boundary.

In this process:

    >>> import numpy, sweepd
    >>> close = 100 + numpy.cumsum(numpy.sin(numpy.arange(500.0)))
    >>> result = sweepd.sweep(close, length=range(6, 201), fee=0.09)
    >>> result.best(3)  # doctest: +SKIP

Behind a boundary, with the same numbers bit for bit:

    >>> with sweepd.connect("unix:/run/x.sock") as engine:  # doctest: +SKIP
    ...     series = engine.load(close)
    ...     result = engine.sweep(series, length=range(6, 201), fee=0.09)
"""
from . import _core, _errors
from ._bars import Bars, Inspection, inspect, read_csv
from ._engine import Engine, Series, connect
from ._errors import *  # noqa: F403
from ._inputs import series_buffer
from ._live import Live, LiveState, LiveStates
from ._result import OpenTrades, Sweep
from ._sweep import kernels, sweep, trades
from ._trades import TRADE

__version__: str = _core.VERSION
__all__ = [
    "TRADE", "Bars", "Engine", "Inspection", "Live", "LiveState", "LiveStates", "OpenTrades", "Series", "Sweep", "connect",
    "inspect", "kernels", "read_csv", "series_buffer", "sweep", "trades",
    *_errors.__all__,
]
