"""The reference itself: against published values, in plain Python and in numba, and that numba fused nothing."""
import csv

import numba
import numpy as np
import pytest
from hypothesis import given, settings

from reference import cases, compiled, gate, hma_cross, strategies

BOTH = pytest.mark.parametrize("wma", [hma_cross.wma, compiled.wma], ids=["python", "numba"])


@BOTH
def test_b01_hma_of_squares_is_67_at_row_8(wma):
    close = np.arange(1.0, 21) ** 2
    hma = wma(2.0 * wma(close, 4) - wma(close, 7), 3)
    assert np.isnan(hma[:8]).all() and hma[8] == 67.0
    assert cases.params_of_length(7)[:3] == [4, 7, 3]


@BOTH
def test_b03_a_nan_makes_every_window_that_holds_it_invalid(wma):
    close = np.arange(1.0, 11)
    close[4] = np.nan
    average = wma(close, 3)
    assert np.flatnonzero(np.isnan(average)).tolist() == [0, 1, 4, 5, 6]
    assert average[7:].round(3).tolist() == [7.333, 8.333, 9.333]


@BOTH
def test_f13_wma_6_agrees_with_published_values(wma, shared_data):
    with open(shared_data / "spx_lwma6_reference.csv", encoding="utf-8") as f:
        rows = list(csv.DictReader(f))
    average = wma(np.array([float(row["Close"]) for row in rows]), 6)
    for found, row in zip(average[5:], rows[5:], strict=True):
        digits = len(row["LWMA"].partition(".")[2])
        assert abs(found - float(row["LWMA"])) < 10.0**-digits  # some of the file's values are cut, some rounded


def test_the_study_s_fingerprint():
    case = cases.study()
    pnl, trades, *_ = compiled.hma_cross(case.close, *map(int, case.params[0]), case.fee, False)
    assert (round(pnl, 2), trades) == (-5165.58, 57029)


def test_python_and_numba_agree_on_the_cases_by_rule():
    for case in cases.by_rule(bars=40, long=False):
        gate.check(case, gate.plain_table(case), gate.reference_table(case))


@settings(max_examples=200)
@given(strategies.cases(bars_max=60))
def test_python_and_numba_agree(case):
    gate.check(case, gate.plain_table(case), gate.reference_table(case))


FUSED = ("vfmadd", "vfmsub", "vfnmadd", "vfnmsub", "fmadd", "fmsub", "fnmadd", "fnmsub", "fmla", "fmls")


def fused_in(function):
    function(np.ones(3), 1)
    return [word for assembly in function.inspect_asm().values() for word in assembly.split() if word.startswith(FUSED)]


def test_numba_fuses_nothing():
    """Compiled with the gate's options there is no fused multiply-add in the machine code, whatever the CPU has."""
    options = {**compiled.STRICT, "cache": False}  # numba shows no machine code that came from its cache
    assert fused_in(numba.njit(**options)(hma_cross.wma)) == []


def test_a_product_is_rounded_before_it_is_added():
    """(1+e)*3 is rounded to 3+4e, which -3-4e takes to zero; a fused multiply-add would leave -e."""
    e = 2.0**-52
    x = np.array([-3.0 - 4 * e, 0.0, 1.0 + e])
    for wma in hma_cross.wma, compiled.wma:
        assert wma(x, 3)[2] == 0.0
