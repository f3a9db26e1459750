"""What a caller may hand in -> the arrays the engine takes. Values are carried over exactly or refused, never rounded."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import BadParam

INTEGER_MAX = 2**53  # every integer up to here is a float64

ENTRIES = {"first": _core.ENTRY_FIRST, "cross": _core.ENTRY_CROSS}
ALLOWED = {"nan": _core.ALLOW_NAN, "inf": _core.ALLOW_INF, "nonpositive": _core.ALLOW_NONPOSITIVE}


def _refuse_integer(index: int, value: object) -> None:
    raise BadParam(f"close of bar {index} is the integer {value}: beyond 2^53 a float64 does not hold every integer", index)


def _check_integers(array: npt.NDArray[Any]) -> None:
    beyond = array > INTEGER_MAX
    if array.dtype.kind == "i":
        beyond |= array < -INTEGER_MAX
    if beyond.any():
        index = int(beyond.argmax())
        _refuse_integer(index, array[index])


def _check_integers_of_list(values: Any, array: npt.NDArray[Any]) -> None:
    """Integers among floats have been rounded already: those are looked at in the list itself."""
    for index in np.flatnonzero(np.abs(array) >= INTEGER_MAX):
        value = values[index]
        if isinstance(value, (int, np.integer)) and abs(int(value)) > INTEGER_MAX:
            _refuse_integer(int(index), value)


def closes(close: Any) -> npt.NDArray[np.float64]:
    """float64, contiguous, native byte order; the caller's own memory where it is that already."""
    if isinstance(close, np.ma.MaskedArray):
        raise TypeError("close is a masked array: fill its gaps first, e.g. close.filled(numpy.nan)")
    array = np.asarray(close)
    if array.ndim != 1:
        raise ValueError(f"close has {array.ndim} dimensions, shape {array.shape}: expected one")
    kind, exact = array.dtype.kind, array.dtype.itemsize <= 8
    if kind in "iu":
        _check_integers(array)
    elif kind != "f" or not exact:
        raise TypeError(f"close has dtype {array.dtype}: expected floats of up to 64 bits, or integers")
    elif not hasattr(close, "dtype"):
        _check_integers_of_list(close, array)
    return np.ascontiguousarray(array, dtype=np.float64)


def _integers(values: Any, name: str) -> npt.NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        raise BadParam(f"{name}: no combos")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}: expected integers")
    if array.dtype.kind == "u" and (array > np.iinfo(np.int64).max).any():
        raise BadParam(f"{name}: {array.max()} is beyond 2^31-1")
    return np.ascontiguousarray(array, dtype=np.int64)


def lengths(length: Any) -> npt.NDArray[np.int64]:
    array = np.atleast_1d(_integers(length, "length"))
    if array.ndim != 1:
        raise ValueError(f"length has shape {array.shape}: expected one number or a list of them")
    return array


def params_of_lengths(array: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    params = np.empty((array.size, 6), np.int64)
    _core.params_from_lengths(array, params)
    return params


def params(rows: Any) -> npt.NDArray[np.int64]:
    array = _integers(rows, "params")
    if array.ndim != 2 or array.shape[1] != 6:
        raise ValueError(f"params has shape {array.shape}: expected (n, 6): half, full, smooth, third, mid, p")
    return array


def choice(value: str, name: str, numbers: dict[str, int]) -> int:
    if value not in numbers:
        raise BadParam(f"{name} is {value!r}, expected one of {', '.join(numbers)}")
    return numbers[value]


def allow_bits(allow: str | Iterable[str]) -> int:
    names = [allow] if isinstance(allow, str) else allow
    return sum({choice(name, "allow", ALLOWED) for name in names})


def threads_count(threads: int | None) -> int:
    """0 stands for None: all the process may use."""
    if threads is None:
        return 0
    if not 1 <= threads <= 1024:
        raise BadParam(f"threads is {threads}, expected 1..1024 or None")
    return threads
