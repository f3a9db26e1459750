"""Series that broke other tools, and what is right: values known by hand, for every kernel.

B01 and B03 (values of the averages) are in test_reference.py, B08, B32 and B33 (kinds of arrays) in python/tests.
"""
import json

import numpy as np
import pytest

import sweepd
from reference import gate
from reference.cases import params_of_length

# With these windows HMA is the close and HMA3 - HMA is a third of the last bar's change: exact for multiples of three.
CHANGE = [[1, 1, 1, 1, 2, 1]]


def of_changes(*thirds):
    """Closes whose HMA3 - HMA with CHANGE is `thirds`, from bar 1 on."""
    return 300.0 + np.cumsum([0.0, *(3.0 * third for third in thirds)])


@pytest.fixture(params=sweepd.kernels())
def run(request):
    """sweepd.sweep() with one kernel, proved against the reference on the way."""

    def sweep(close, params, fee=0.0, entry="first"):
        case = gate.Case("by hand", np.asarray(close, np.float64), np.array(params, np.int64), fee, entry)
        gate.check(case, gate.package_table(case, request.param), gate.reference_table(case))
        return sweepd.sweep(close, params=params, fee=fee, entry=entry, kernel=request.param,
                            allow=("nan", "inf", "nonpositive"))

    return sweep


def test_b01_length_7_has_its_first_hma_at_row_8(run):
    hma = params_of_length(7)[:3]
    result = run(np.arange(1.0, 21) ** 2, [[*hma, 1, 1, 1]])
    assert result.first_bar.tolist() == [8]
    assert sweepd.sweep([1.0], length=7).params.tolist() == [params_of_length(7)]


def test_b03_a_nan_invalidates_the_windows_that_hold_it_and_keeps_the_position(run):
    close = of_changes(1, 1, 1, -1, -1, -1, 1, 1, 1)
    close[4] = np.nan  # bars 4 and 5 are passed over: the fall is seen at bar 6
    result = run(close, CHANGE)
    assert result.first_bar.tolist() == [1] and result.trades.tolist() == [2]
    assert result.pnl[0] == (close[6] - close[1]) / close[1] * 100.0 + -(close[7] - close[6]) / close[6] * 100.0


def test_b05_ten_bars_are_too_few_for_hma_9_and_the_result_says_so(run):
    combo = params_of_length(9)
    ten = run(np.arange(1.0, 11), [combo])
    assert (ten.trades[0], ten.pnl[0], ten.first_bar[0]) == (0, 0.0, -1)
    assert (ten.bars, ten.bars_needed.tolist()) == (10, [11])
    assert "1 of them need up to 11 bars" in repr(run(np.arange(1.0, 11), [combo]))
    assert run(np.arange(1.0, 12), [combo]).first_bar.tolist() == [10]


def test_b06_a_combo_too_long_for_the_series_changes_no_other(run):
    close = np.round(100 + np.cumsum(np.random.default_rng(3).normal(size=100)), 2)
    combos = [params_of_length(length) for length in (3, 30, 101)]
    together = run(close, combos)
    assert together.first_bar[2] == -1 and together.trades[2] == 0
    for i, combo in enumerate(combos):
        alone = run(close, [combo])
        assert (alone.pnl[0], alone.trades[0]) == (together.pnl[i], together.trades[i])


def test_b06_no_bars_are_an_error_and_one_bar_makes_no_trade(run):
    with pytest.raises(sweepd.BadParam, match="no bars"):
        sweepd.sweep([], params=CHANGE)
    one = run([5.0], [params_of_length(1), params_of_length(6)])
    assert one.trades.tolist() == [0, 0] and one.first_bar.tolist() == [0, -1]


def test_b10_a_difference_that_passes_zero_reverses_once_at_the_bar_that_turns_positive(run):
    close = of_changes(-2, -1, 0, 1, 2)
    result = run(close, CHANGE)
    assert result.trades.tolist() == [1]
    assert (result.open.side[0], result.open.entry_bar[0]) == (1, 4)
    assert result.pnl[0] == -(close[4] - close[1]) / close[1] * 100.0


def test_b10_a_touch_of_zero_reverses_nothing(run):
    result = run(of_changes(-1, 0, -1), CHANGE)
    assert result.trades.tolist() == [0]
    assert (result.open.side[0], result.open.entry_bar[0]) == (-1, 1)


@pytest.mark.parametrize("price", [100.0, 0.25, 3.0, 0.1, 1.07219, 1e-300, 1e300])
def test_b12_a_constant_price_trades_nothing_at_any_length(run, price):
    result = run(np.full(500, price), [params_of_length(length) for length in range(1, 501)])
    assert not result.trades.any() and not result.pnl.any()


@pytest.mark.parametrize("price", [100.0, 0.25, 3.0])
def test_b12_a_constant_price_of_few_digits_is_a_tie_throughout(run, price):
    """Every average is then exact. (0.1 has rounding in its averages, the same at each bar: one side is taken and kept.)"""
    result = run(np.full(500, price), [params_of_length(length) for length in range(1, 501)])
    assert not result.open.side.any()


def test_b13_every_change_of_sign_reverses(run):
    close = np.where(np.arange(200) % 2, 102.0, 100.0)
    result = run(close, CHANGE)
    assert result.trades.tolist() == [198]  # bar 1 enters, each of bars 2..199 reverses


def test_b15_the_last_trade_is_open_and_valued_at_the_last_close(run):
    close = of_changes(*[-1] * 19, *[1] * 10)
    result = run(close, CHANGE, fee=0.09)
    trade = result.open
    assert len(close) == 30 and result.trades.tolist() == [1]
    assert (trade.side[0], trade.entry_bar[0], trade.entry[0], trade.last[0]) == (1, 20, close[20], close[29])
    assert trade.pnl[0] == (close[29] - close[20]) / close[20] * 100.0
    assert result.pnl[0] == -(close[20] - close[1]) / close[1] * 100.0 - 0.09


def test_b15_a_nan_at_the_end_is_not_the_last_close(run):
    close = of_changes(1, 1, 1)
    close = np.append(close, [np.nan, np.nan])
    assert run(close, CHANGE).open.last[0] == close[3]


def test_b17_reversals_at_a_flat_price_cost_exactly_the_fee(run):
    close = [97.0, 100.0, 103.0, 100.0, 97.0, 100.0, 103.0, 100.0, 97.0, 100.0]
    combos = CHANGE  # in at bar 1, reversed at bars 3, 5, 7, 9: always at 100
    with_fee, without = run(close, combos, fee=1.0), run(close, combos, fee=0.0)
    assert with_fee.trades.tolist() == without.trades.tolist() == [4]
    assert with_fee.pnl.tolist() == [-4.0]
    assert without.pnl.tolist() == [0.0]


def test_b19_closes_that_are_not_above_zero_are_refused_by_default_and_ieee_by_option(run):
    close = [3.0, 2.0, 1.0, 0.0, -1.0, -2.0, 1.0, 3.0]
    with pytest.raises(sweepd.BadParam, match="bar 3") as error:
        sweepd.sweep(close, params=CHANGE)
    assert error.value.at == 3
    for params in CHANGE, [params_of_length(2)], [[1, 1, 1, 1, 1, 2]]:
        run(close, params)  # equals the reference


def test_entry_at_the_first_cross_waits_for_a_change_of_sign(run):
    close = of_changes(1, 1, 0, -1, -1, 1, -1)
    first, cross = run(close, CHANGE, entry="first"), run(close, CHANGE, entry="cross")
    assert first.trades.tolist() == [3] and cross.trades.tolist() == [2]
    assert cross.pnl[0] == -(close[6] - close[4]) / close[4] * 100.0 + (close[7] - close[6]) / close[6] * 100.0


def test_b37_2000_by_2000_lengths_are_all_answered_or_refused_with_the_number(sweep_file, three_bars):
    done = sweep_file(three_bars, "--length", "1:2000", "--length3", "1:2000", "--top", "3")
    if done.returncode != 0:
        assert "4000000" in done.stderr.replace(",", "")


def test_b38_65536_by_65536_combos_are_refused_with_the_number(sweep_file, three_bars):
    done = sweep_file(three_bars, "--length", "1:65536", "--length3", "1:65536")
    assert done.returncode != 0
    assert "4294967296" in done.stderr.replace(",", "")


@pytest.fixture
def three_bars(tmp_path):
    np.save(tmp_path / "close.npy", np.array([1.0, 2.0, 3.0]))
    return tmp_path / "close.npy"


def test_b05_the_program_says_how_many_bars_a_combo_needs(sweep_file, tmp_path):
    np.save(tmp_path / "close.npy", np.arange(1.0, 11))
    table = sweep_file(tmp_path / "close.npy", "--length", "3,9")
    assert "needs 11 bars, has 10" in table.stdout + table.stderr
    report = json.loads(sweep_file(tmp_path / "close.npy", "--length", "3,9", "--format", "json").stdout)
    assert [combo["first_bar"] is None for combo in report["combos"]] == [False, True]
