"""Seconds as callers say them -> milliseconds as the library takes them."""
from __future__ import annotations

import math
from types import EllipsisType

from . import _core
from ._errors import BadParam

Timeout = float | None | EllipsisType


def timeout_ms(timeout: Timeout) -> int:
    """0 stands for the client's own."""
    if isinstance(timeout, EllipsisType):
        return 0
    if timeout is None:
        return _core.NO_TIMEOUT
    if not 0 < timeout <= 4_000_000:
        raise BadParam(f"timeout is {timeout}, expected seconds, above 0 and at most 4000000, or None")
    return max(1, math.ceil(timeout * 1000))
