"""sweepd: one backtest kernel behind every boundary; here, in this process.

    >>> import numpy, sweepd
    >>> close = 100 + numpy.cumsum(numpy.sin(numpy.arange(500.0)))
    >>> result = sweepd.sweep(close, length=range(6, 201), fee=0.09)
    >>> best = result.pnl.argmax()
    >>> result.length[best], result.pnl[best], result.trades[best]  # doctest: +SKIP
"""
import os

from . import _core, _errors
from ._errors import *  # noqa: F403
from ._sweep import OpenTrades, Sweep, kernels, sweep

__version__: str = _core.VERSION
__all__ = ["OpenTrades", "Sweep", "kernels", "sweep", *_errors.__all__]

os.register_at_fork(after_in_child=_core.forget_engine)
