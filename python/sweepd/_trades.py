"""The trades of one combo: Engine.trades()."""
from __future__ import annotations

import numpy as np

TRADE = np.dtype([
    ("entry_bar", np.int64), ("exit_bar", np.int64), ("side", np.int64),
    ("entry", np.float64), ("exit", np.float64), ("pnl", np.float64),
])
"""A trade, as Engine.trades() gives it:

    entry_bar  bar whose close it was entered at, from 0
    exit_bar   bar whose close it was left at; -1: open at the last bar
    side       +1 long, -1 short
    entry      price
    exit       price; of an open trade the last close that is a number
    pnl        percentage points, the fee taken; of an open trade without fee
"""
