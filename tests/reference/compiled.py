"""The text of hma_cross.py compiled by numba: as strict as the interpreter, a thousand times as fast.

No fastmath: nothing is fused or reordered (test_reference.py looks at the machine code). error_model "numpy": x/0 is IEEE's.
"""
import types

import numba

from reference import hma_cross as plain

STRICT = {"fastmath": False, "error_model": "numpy", "cache": True}

wma = numba.njit(**STRICT)(plain.wma)
hma_cross = numba.njit(**STRICT)(
    types.FunctionType(plain.hma_cross.__code__, {**vars(plain), "wma": wma}, "hma_cross")
)
