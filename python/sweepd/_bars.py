"""Files of bars, by the library's own reader: the rules, messages and options of the command line (docs/files.md)."""
from __future__ import annotations

import dataclasses
import difflib
import importlib
import operator
import os
from collections.abc import Iterable
from typing import Any, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from . import _core, _inputs
from ._errors import BadParam

Path = str | os.PathLike[str]
Column = str | int | None

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
DECIMALS = {"point": ".", "comma": ","}
ORDERS = {"refuse": 0, "sort": 1}
DUPLICATES = {"refuse": 0, "first": 1, "last": 2}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Bars:
    """The bars of a file, oldest first. Takes the place of closes: sweepd.sweep(bars, ...), engine.load(bars).

    Arrays of the library's own memory, of one length; a column that was not asked for, or is not there, is None.
    """

    close: npt.NDArray[np.float64]
    time: npt.NDArray[np.datetime64] | None  #: datetime64[ns], instants in UTC, strictly rising
    open: npt.NDArray[np.float64] | None
    high: npt.NDArray[np.float64] | None
    low: npt.NDArray[np.float64] | None
    volume: npt.NDArray[np.float64] | None
    nan_count: int  #: closes that are NaN
    jumps_count: int  #: closes 100 times the one before, or a hundredth of it, and beyond
    summary: str  #: read 5000 bars, 2017-04-19 09:00 .. 2018-02-07 15:00, close column "Close"

    def __len__(self) -> int:
        """Bars."""
        return len(self.close)

    def __repr__(self) -> str:
        return f"<Bars: {self.summary}>"

    @property
    def _closes(self) -> npt.NDArray[np.float64]:
        return self.close

    def to_pandas(self) -> Any:
        """A DataFrame of the columns there are, by time where there is one."""
        pandas: Any = importlib.import_module("pandas")
        columns = {name: getattr(self, name) for name in ("open", "high", "low", "close", "volume")}
        index = None if self.time is None else pandas.DatetimeIndex(self.time, name="time")
        return pandas.DataFrame({name: column for name, column in columns.items() if column is not None}, index=index)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Inspection:
    """What a file is taken for. Printed, it is the screen that `sweepd inspect` shows."""

    text: str
    command: str  #: that sweeps the file
    refusal: str  #: why it is not read as the options stand; "": it is
    order: str  #: as given, or what it takes to read it
    duplicates: str
    step_ns: int  #: the most common distance of bars; 0: not known
    gaps_count: int
    repeats_count: int  #: stamps that were there before
    decisions: list[tuple[str, str, str, str]]  #: what, value, evidence, the options that override it
    gaps: list[tuple[int, int, int]]  #: the longest three: bar, line, nanoseconds
    jumps: list[tuple[int, int, float, float]]  #: the first three: bar, line, the close before, the close
    bars: Bars  #: as `command` reads them

    def __repr__(self) -> str:
        return self.text


def _sign(value: str | None, name: str, names: dict[str, str]) -> int:
    if value is None:
        return 0
    sign = names.get(value, value)
    if sign not in names.values():
        raise BadParam(f"{name} is {value!r}: expected {', '.join(names)} or the sign itself")
    return ord(sign)


def _column(value: object, name: str) -> str | None:
    if isinstance(value, bool) or not (value is None or isinstance(value, (str, int))):
        raise TypeError(f"{name} is {value!r}: expected a name in the header, or a number from 1")
    return None if value is None else str(value)


def _text(value: object, name: str) -> str | None:
    if not (value is None or isinstance(value, str)):
        raise TypeError(f"{name} is {value!r}: expected a str")
    return value


class Options(TypedDict, total=False):
    """Of read_csv() and inspect(), which say what they mean."""

    close: Column
    time: Column
    open: Column
    high: Column
    low: Column
    volume: Column
    delimiter: str | None
    decimal: str | None
    header: bool | None
    time_format: str | None
    time_zone: str | None
    order: str
    duplicates: str
    skip_lines: int
    from_time: str | None
    to_time: str | None
    dtype: str | None
    big_endian: bool
    allow: str | Iterable[str]


def _arguments(path: Path, options: Options) -> tuple[Any, ...]:
    """As read_bars and inspect_bars take them."""
    for name in options:
        if name not in Options.__annotations__:
            nearest = difflib.get_close_matches(name, Options.__annotations__, 1)
            raise TypeError(f"no option {name!r}" + (f"; did you mean {nearest[0]!r}?" if nearest else ""))
    skip_lines = operator.index(options.get("skip_lines", 0))
    if skip_lines < 0:
        raise BadParam(f"skip_lines is {skip_lines}: expected 0 or more")
    header = options.get("header")
    columns = [_column(options.get(name), name) for name in ("close", "time", "open", "high", "low", "volume")]
    time_format, time_zone, from_time, to_time, dtype = (
        _text(options.get(name), name) for name in ("time_format", "time_zone", "from_time", "to_time", "dtype"))
    return (
        os.fsencode(path), *columns, _sign(options.get("delimiter"), "delimiter", DELIMITERS),
        _inputs.allow_bits(options.get("allow", ())), _sign(options.get("decimal"), "decimal", DECIMALS),
        0 if header is None else 1 if header else 2, _inputs.choice(options.get("order", "refuse"), "order", ORDERS),
        _inputs.choice(options.get("duplicates", "refuse"), "duplicates", DUPLICATES), time_format, time_zone, skip_lines, from_time,
        to_time, dtype, options.get("big_endian", False),
    )


def _bars_of(found: tuple[Any, ...]) -> Bars:
    summary, _, nan_count, jumps_count, close, time, open, high, low, volume = found

    def array(column: Any, dtype: Any = np.float64) -> Any:
        return None if column is None else np.frombuffer(memoryview(column), dtype)

    return Bars(array(close), array(time, "datetime64[ns]"), array(open), array(high), array(low), array(volume), nan_count,
                jumps_count, summary)


def read_csv(path: Path, **options: Unpack[Options]) -> Bars:
    """Reads bars from a CSV or TSV file, plain or compressed by gzip or zstd; from .npy and raw numbers, too, by the name's ending.

    close, time              columns: the name in the header, or a number from 1; not given: recognised. time="none": not looked at
    open, high, low, volume  columns that are checked and kept beside the closes
    delimiter, decimal       "comma", "semicolon", "tab", "pipe"; "point", "comma"; or the sign itself
    header                   True, False; None: found out
    time_format, time_zone   dmy, mdy, ymd; s, ms, us, ns; or a pattern; "UTC", "+02:00", "Europe/Paris": of stamps without an offset
    order, duplicates        "refuse", "sort"; "refuse", "first", "last": what is done with stamps that do not rise
    skip_lines               above the header, or the first bar
    from_time, to_time       the first and the last instant that are read; a date as the last counts to its end
    dtype, big_endian        of raw numbers: f2, f4, f8, i1 .. i8, u1 .. u8
    allow                    closes to let in that are refused else: any of "nan", "inf", "nonpositive"

    The options, rules and messages of `sweepd sweep FILE` (docs/files.md): what is not recognised is refused, never guessed. Raises
    BadParam, a ValueError, whose text begins with the file and line (at: the line, or the byte of .npy); FileError, an OSError, for
    what the system refuses; OutOfMemory.
    """
    return _bars_of(_core.read_bars(*_arguments(path, options)))


def inspect(path: Path, **options: Unpack[Options]) -> Inspection:
    """What a file is taken for and by which evidence, what is odd about it, and the command that reads it.

    Options and errors are read_csv's. A file whose stamps do not rise is read sorted, where no option says anything else: `refusal`,
    `order` and `duplicates` tell.
    """
    (text, command, refusal, order, duplicates, step_ns, gaps_count, repeats_count, decisions, gaps, jumps,
     bars) = _core.inspect_bars(*_arguments(path, options))
    return Inspection(text, command, refusal, list(ORDERS)[order], list(DUPLICATES)[duplicates], step_ns, gaps_count, repeats_count,
                      decisions, gaps, jumps, _bars_of(bars))
