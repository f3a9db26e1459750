"""The strategy hma-cross as docs/numbers.md specifies it, line for line: the truth every kernel is compared with.

Written for reading, and for two readers: Python runs it as it stands, compiled.py has numba compile the same text. Arrays are
numpy float64, so that division by zero and overflow give what IEEE arithmetic gives.
"""
import numpy as np


def wma(x, m):
    out = np.full(len(x), np.nan)
    for i in range(m - 1, len(x)):
        total = 0.0
        for k in range(m):
            total = total + x[i - m + 1 + k] * (k + 1)
        out[i] = total / (m * (m + 1) / 2)
    return out


def hma_cross(close, half, full, smooth, third, mid, p, fee, cross):
    """One combo: pnl, trades, first_bar, and the open trade's side, entry_bar, entry, last, pnl."""
    hma = wma(2.0 * wma(close, half) - wma(close, full), smooth)
    hma3 = wma(3.0 * wma(close, third) - wma(close, mid) - wma(close, p), p)

    position = 0
    armed = 0
    entry = 0.0
    entry_bar = -1
    first_bar = -1
    pnl = 0.0
    trades = 0
    for i in range(len(close)):
        if np.isnan(hma[i]) or np.isnan(hma3[i]):
            continue
        if first_bar < 0:
            first_bar = i
        if hma3[i] > hma[i]:
            s = 1
        elif hma3[i] < hma[i]:
            s = -1
        else:
            continue  # a tie keeps the position
        if cross and position == 0:
            if armed == 0:
                armed = s
                continue
            if s == armed:
                continue
        if s != position:
            if position != 0:
                pnl = pnl + (position * (close[i] - entry) / entry * 100.0 - fee)
                trades = trades + 1
            position = s
            entry = close[i]
            entry_bar = i

    last = 0.0
    open_pnl = 0.0
    if position != 0:
        i = len(close) - 1
        while np.isnan(close[i]):
            i = i - 1
        last = close[i]
        open_pnl = position * (last - entry) / entry * 100.0
    return pnl, trades, first_bar, position, entry_bar, entry, last, open_pnl
