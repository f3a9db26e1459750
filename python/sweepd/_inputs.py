"""What a caller may hand in -> the arrays the engine takes. Values are carried over exactly or refused, never rounded."""
from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import BadParam

INTEGER_MAX = 2**53  # every integer up to here is a float64


class ArrowArray(Protocol):
    """What has Arrow's PyCapsule interface for an array, e.g. a pyarrow.Array."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class ArrowStream(Protocol):
    """What has it for a stream of arrays, e.g. a pyarrow.ChunkedArray or a polars.Series."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class HasCloses(Protocol):
    """Bars of read_csv()."""

    @property
    def _closes(self) -> npt.NDArray[np.float64]: ...


Closes = npt.ArrayLike | ArrowArray | ArrowStream | HasCloses

NO_WINDOWS = np.empty((0, 3), np.uint64)
SPIN_MAX = 1_000_000  # microseconds

ENTRIES = {"first": _core.ENTRY_FIRST, "cross": _core.ENTRY_CROSS}
ALLOWED = {"nan": _core.ALLOW_NAN, "inf": _core.ALLOW_INF, "nonpositive": _core.ALLOW_NONPOSITIVE}


def _refuse_integer(index: int, value: object) -> None:
    raise BadParam(f"close of bar {index} is the integer {value}: beyond 2^53 a float64 does not hold every integer", index)


def _check_integers(array: npt.NDArray[Any], missing: npt.NDArray[np.bool_] | None = None, first: int = 0) -> None:
    """`first`: bar of the first one."""
    if array.dtype.itemsize < 8:
        return
    beyond = array > INTEGER_MAX
    if array.dtype.kind == "i":
        beyond |= array < -INTEGER_MAX
    if missing is not None:
        beyond &= ~missing
    if beyond.any():
        index = int(beyond.argmax())
        _refuse_integer(first + index, array[index])


def _refuse_bools(values: Any, name: str) -> None:
    """What numpy makes of a list no longer shows that there was a bool among its numbers."""
    if isinstance(values, (list, tuple)):
        if not {bool, np.bool_}.isdisjoint(map(type, values)):
            raise TypeError(f"{name} has a bool among its numbers: expected numbers")
        for row in values:
            _refuse_bools(row, name)


def _check_integers_of_list(values: Any, array: npt.NDArray[Any]) -> None:
    """Integers among floats have been rounded already, and beyond 64 bits numpy keeps objects: those are looked at in the
    values themselves."""
    for index in range(array.size) if array.dtype.kind == "O" else np.flatnonzero(np.abs(array) >= INTEGER_MAX):
        value = values[int(index)]
        if isinstance(value, (int, np.integer)) and abs(int(value)) > INTEGER_MAX:
            _refuse_integer(int(index), value)


# ---- Arrow ----


def is_arrow(close: Any) -> bool:
    """pandas has the interface too, but by way of pyarrow, which need not be there."""
    has_interface = hasattr(close, "__arrow_c_array__") or hasattr(close, "__arrow_c_stream__")
    return has_interface and not isinstance(close, np.ndarray) and not hasattr(close, "isna")


def _chunk_of_arrow(
    values: Any, validity: Any, bit: int, dtype: str, first: int
) -> npt.NDArray[Any]:
    """`first`: bar of its first value. What is missing becomes NaN."""
    array = np.frombuffer(values, dtype)
    missing = None
    if validity is not None:
        missing = np.unpackbits(np.frombuffer(validity, np.uint8), bitorder="little")[bit : bit + len(array)] == 0
    if array.dtype.kind in "iu":
        _check_integers(array, missing, first)
    return array if missing is None else np.where(missing, np.nan, array)


def _array_of_arrow(close: Any) -> npt.NDArray[np.float64]:
    """The producer's own memory where it is one chunk of float64 without gaps."""
    if hasattr(close, "__arrow_c_array__"):
        capsules = close.__arrow_c_array__()  # by name: what is refused is released after the exception has been raised
        dtype, chunks = _core.arrow_array(*capsules)
    else:
        capsules = close.__arrow_c_stream__()
        dtype, chunks = _core.arrow_stream(capsules)
    arrays: list[npt.NDArray[np.float64]] = []
    first = 0
    for values, validity, bit in chunks:
        array = _chunk_of_arrow(values, validity, bit, dtype, first)
        arrays.append(np.require(array, np.float64, ["ALIGNED"]))
        first += len(array)
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays or [np.empty(0)])


# ---- whatever numpy can see ----


def _array_of(close: Any) -> npt.NDArray[Any]:
    """What is missing in the nullable types of pandas becomes NaN; numpy alone would make objects of them."""
    kind = getattr(getattr(close, "dtype", None), "kind", None)
    if kind not in ("i", "u", "f") or isinstance(close.dtype, np.dtype) or not hasattr(close, "isna"):
        return np.asarray(close)
    missing = np.asarray(close.isna())
    if kind == "f" or not missing.any():
        return np.asarray(close.to_numpy(dtype="f8" if kind == "f" else f"{kind}8", na_value=np.nan if kind == "f" else 0))
    integers = close.to_numpy(dtype=f"{kind}8", na_value=0)
    _check_integers(integers)
    return np.where(missing, np.nan, integers)


def closes(close: Any) -> npt.NDArray[np.float64]:
    """float64, contiguous, aligned, native byte order; the caller's own memory where it is that already."""
    close = getattr(close, "_closes", close)  # of Bars
    if isinstance(close, np.ma.MaskedArray):
        raise TypeError("close is a masked array: fill its gaps first, e.g. close.filled(numpy.nan)")
    array = _array_of_arrow(close) if is_arrow(close) else _array_of(close)
    kind, exact = array.dtype.kind, array.dtype.itemsize <= 8
    listed = not isinstance(getattr(close, "dtype", None), np.dtype) and not hasattr(close, "isna") and not is_arrow(close)
    if array.ndim == 1 and listed and kind in "fO":
        _check_integers_of_list(close, array)
    if kind not in "iuf" or not exact:
        raise TypeError(f"close has dtype {array.dtype}: expected floats of up to 64 bits, or integers")
    if array.ndim != 1:
        raise ValueError(f"close has {array.ndim} dimensions, shape {array.shape}: expected one")
    _refuse_bools(close, "close")
    if kind in "iu":
        _check_integers(array)
    if array.size == 0:
        raise BadParam("close: no bars")
    return np.require(array, np.float64, ["C_CONTIGUOUS", "ALIGNED"])


def series_buffer(bars: int) -> npt.NDArray[np.float64]:
    """An array for closes, [bars], all 0.0, whose memory Engine.load() hands over as it is.

        close = sweepd.series_buffer(1_000_000)
        close[:] = prices                      # or read into it: numpy.copyto, file.readinto(close), out=close
        series = engine.load(close)            # unix: and shm: not one byte is copied

    It stays an array like others, to be read and written and loaded again: what is written after a load is seen here only. Raises
    BadParam for less than one bar, OutOfMemory, a MemoryError.
    """
    bars = operator.index(bars)
    if bars < 1:
        raise BadParam(f"series_buffer of {bars} bars: expected at least 1")
    return np.frombuffer(memoryview(_core.series_buffer(bars)), np.float64)


def buffer_of(array: npt.NDArray[np.float64]) -> _core.SeriesBuffer | None:
    """The memory that series_buffer() made, if this array is the whole of it."""
    base: Any = array
    while isinstance(base, (np.ndarray, memoryview)):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if not isinstance(base, _core.SeriesBuffer):
        return None
    whole = np.frombuffer(memoryview(base), np.float64)
    is_whole = array.size == whole.size and array.ctypes.data == whole.ctypes.data and array.strides == whole.strides
    return base if is_whole else None


def _check_integers_of_parameters(values: Any, name: str, width: int) -> None:
    """Of integers beyond 64 bits numpy makes floats or objects."""
    array = np.asarray(values, dtype=object)
    if all(type(value) is int for value in array.flat):
        index = next(i for i, value in enumerate(array.flat) if not -(2**63) <= value < 2**63)
        raise BadParam(f"{name}: {array.flat[index]} does not fit 64 bits", index // width if array.ndim > 0 else None)


def _integers(values: Any, name: str, things: str = "combos", width: int = 1) -> npt.NDArray[np.int64]:
    """width: how many of them share a place in errors."""
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: take what is not masked first, e.g. {name}.compressed()")
    array = np.asarray(values)
    if array.size == 0:
        raise BadParam(f"{name}: no {things}")
    if array.dtype.kind in "fO" and not hasattr(values, "dtype"):
        _check_integers_of_parameters(values, name, width)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} has dtype {array.dtype}: expected integers")
    _refuse_bools(values, name)
    beyond = array.dtype.kind == "u" and np.flatnonzero(array > np.iinfo(np.int64).max)
    if beyond is not False and beyond.size > 0:
        raise BadParam(f"{name}: {array.flat[beyond[0]]} does not fit 64 bits", int(beyond[0]) // width if array.ndim > 0 else None)
    return np.require(array, np.int64, ["C_CONTIGUOUS", "ALIGNED"])


def lengths(length: Any, name: str) -> npt.NDArray[np.int64]:
    array = np.atleast_1d(_integers(length, name))
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}: expected one number or a list of them")
    return array


def params_of_lengths(length: Any, name: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The lengths, and [n, 6]."""
    array = lengths(length, name)
    params = np.empty((array.size, 6), np.int64)
    try:
        _core.params_from_lengths(array, params)
    except BadParam as error:
        if np.ndim(length) == 0:
            error.at = None
        raise
    return array, params


def params(rows: Any) -> npt.NDArray[np.int64]:
    array = _integers(rows, "params")
    if array.ndim != 2 or array.shape[1] != 6:
        raise ValueError(f"params has shape {array.shape}: expected (n, 6): half, full, smooth, third, mid, p")
    return array


def windows(spans: Any) -> npt.NDArray[np.uint64]:
    """[0, 3] stands for None: the whole series."""
    if spans is None:
        return NO_WINDOWS
    array = _integers(spans, "windows", "windows", 3)
    if array.ndim != 2 or array.shape[1] != 3:
        raise ValueError(f"windows has shape {array.shape}: expected (n, 3): warm, begin, end")
    if (array < 0).any():
        raise BadParam(f"windows: {array.min()} is below 0", int((array < 0).any(axis=1).argmax()))
    return array.astype(np.uint64)


def choice(value: str, name: str, numbers: dict[str, int], at: int | None = None) -> int:
    if value not in numbers:
        raise BadParam(f"{name} is {value!r}, expected one of {', '.join(numbers)}", at)
    return numbers[value]


def allow_bits(allow: str | Iterable[str]) -> int:
    if isinstance(allow, str):
        return choice(allow, "allow", ALLOWED)
    return sum({choice(name, "allow", ALLOWED, at) for at, name in enumerate(allow)})


def threads_count(threads: int | None, most: int = 2**32 - 1) -> int:
    """0 stands for None: all the process may use."""
    if threads is None:
        return 0
    if not 1 <= threads <= most:
        raise BadParam(f"threads is {threads}, expected 1..{most} or None")
    return threads


def spin_us(spin: int | None) -> int:
    """0 stands for None: the library's own."""
    if spin is None:
        return 0
    if not 0 <= spin <= SPIN_MAX:
        raise BadParam(f"spin_us is {spin}, expected 0..{SPIN_MAX} or None")
    return spin or _core.NO_SPIN
