"""The list of a combo's trades against the specification in plain Python, over series nobody chose, and against what the sweep
counts."""
import hypothesis
import numpy as np
import pytest

from .cases import params_of_length
from .hma_cross import hma_cross, wma
from .strategies import cases

package = pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")

ANY = ("nan", "inf", "nonpositive")


def trades_of(close, combo, fee, cross):
    """docs/numbers.md: a row a trade, one still open last."""
    half, full, smooth, third, mid, p = combo
    hma = wma(2.0 * wma(close, half) - wma(close, full), smooth)
    hma3 = wma(3.0 * wma(close, third) - wma(close, mid) - wma(close, p), p)
    signs = [(i, 1 if hma3[i] > hma[i] else -1) for i in range(len(close)) if hma3[i] > hma[i] or hma3[i] < hma[i]]
    changes = [(i, s) for n, (i, s) in enumerate(signs) if (n > 0 and s != signs[n - 1][1]) or (n == 0 and not cross)]
    rows = []
    for (begin, side), end in zip(changes, [i for i, _ in changes[1:]] + [None]):
        entry = close[begin]
        left = close[end] if end is not None else close[~np.isnan(close)][-1]
        pnl = side * (left - entry) / entry * 100.0
        rows.append((begin, -1, side, entry, left, pnl) if end is None else (begin, end, side, entry, left, pnl - fee))
    return np.array(rows, package.TRADE)


def assert_same(found, right):
    for name in package.TRADE.names:
        a, b = found[name], right[name]
        nan = np.isnan(b) if b.dtype.kind == "f" else np.zeros(len(b), bool)
        assert len(a) == len(b) and a[~nan].tobytes() == b[~nan].tobytes(), name
        assert np.isnan(a[nan]).all(), name


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.given(cases(120))
def test_trades_are_the_references(case):
    if len(case.close) == 0:
        return
    with np.errstate(all="ignore"):
        for combo in case.params:
            found = package.trades(case.close, params=combo, fee=case.fee, entry=case.entry, allow=ANY)
            right = trades_of(case.close, combo.tolist(), case.fee, case.entry == "cross")
            pnl, trades, _, side, *_ = hma_cross(case.close, *combo.tolist(), case.fee, case.entry == "cross")
            assert_same(found, right)
            assert (found["exit_bar"] >= 0).sum() == trades and (len(found) and found["side"][-1] or 0) == side


def test_closed_trades_are_what_the_sweep_counts_and_sums():
    close = 100 * np.exp(np.cumsum(np.random.default_rng(5).normal(0, 0.002, 20_000)))
    for windows in None, [[100, 400, 15_000]]:
        for entry in "first", "cross":
            swept = package.sweep(close, length=range(2, 60), windows=windows, entry=entry)
            for i, length in enumerate(range(2, 60)):
                trades = package.trades(close, length=length, window=windows and windows[0], entry=entry)
                closed = trades[trades["exit_bar"] >= 0]
                total = 0.0
                for pnl in closed["pnl"]:
                    total = total + pnl
                assert (len(closed), total) == (swept.trades[..., i].item(), swept.pnl[..., i].item())
                assert len(trades) - len(closed) == 1 and trades["entry_bar"][-1] == swept.open.entry_bar[..., i]
                assert trades["pnl"][-1] == swept.open.pnl[..., i] and trades["exit"][-1] == swept.open.last[..., i]


def test_the_reference_of_this_file_counts_as_the_reference_does():
    """It is written another way than hma_cross.py: here as changes of sign, there as a state."""
    close = np.round(100 + np.cumsum(np.random.default_rng(3).normal(0, 0.5, 400)), 1)
    for length in 2, 7, 30:
        for cross in False, True:
            rows = trades_of(close, params_of_length(length), 0.09, cross)
            pnl, trades, _, side, entry_bar, *_ = hma_cross(close, *params_of_length(length), 0.09, cross)
            assert (rows["exit_bar"] >= 0).sum() == trades > 0 and sum(rows["pnl"][:-1].tolist(), 0.0) == pnl
            assert (rows["side"][-1], rows["entry_bar"][-1]) == (side, entry_bar)
