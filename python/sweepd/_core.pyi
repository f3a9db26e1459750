"""The compiled part: buffers in, buffers out. The package's functions are the ones to call."""
from collections.abc import Buffer  # type: ignore[attr-defined,unused-ignore]

VERSION: str
COMPILER: str
KERNELS: list[str]
ENTRY_FIRST: int
ENTRY_CROSS: int
ALLOW_NAN: int
ALLOW_INF: int
ALLOW_NONPOSITIVE: int

def params_from_lengths(lengths: Buffer, params: Buffer, /) -> None: ...
def bars_needed(params: Buffer, bars: Buffer, /) -> None: ...
def sweep(
    close: Buffer, params: Buffer,
    pnl: Buffer, trades: Buffer, first_bar: Buffer,
    open_side: Buffer, open_entry_bar: Buffer, open_entry: Buffer, open_last: Buffer, open_pnl: Buffer,
    fee: float, entry: int, kernel: int, threads: int, allow: int, /,
) -> None: ...
def forget_engine() -> None: ...
