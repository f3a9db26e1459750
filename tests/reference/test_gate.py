"""The gate: every kernel the library offers gives the reference's numbers, bit for bit."""
import json
import os

import numpy as np
import pytest
from hypothesis import given

import sweepd
from reference import cases, elsewhere, files, gate, golden, isa, strategies

KERNELS = sweepd.kernels()


@pytest.fixture(scope="module")
def study():
    case = cases.study()
    return case, gate.reference_table(case)


def test_the_study_s_80_combos(study):
    case, expected = study
    for kernel in ("auto", *KERNELS):
        gate.check(case, gate.package_table(case, kernel), expected)
    assert expected[:, gate.FIELDS.index("trades")].sum() == 485_310


def test_the_study_s_80_combos_on_any_number_of_threads(study):
    case, expected = study
    for threads in (1, 2, 3):
        gate.check(case, gate.package_table(case, "auto", threads), expected)


@pytest.fixture(scope="module")
def by_rule():
    return [(case, gate.reference_table(case)) for case in cases.by_rule()]


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_cases_by_rule(kernel, by_rule):
    for case, expected in by_rule:
        gate.check(case, gate.package_table(case, kernel), expected)


def test_the_golden_file():
    for case, expected in golden.read():
        gate.check(case, gate.reference_table(case), expected)
        for kernel in KERNELS:
            gate.check(case, gate.package_table(case, kernel), expected)


@given(strategies.cases())
def test_anything(case):
    if len(case.close) == 0:
        with pytest.raises(sweepd.BadParam, match="no bars"):
            gate.package_table(case)
        return
    expected = gate.reference_table(case)
    for kernel in KERNELS:
        gate.check(case, gate.package_table(case, kernel), expected)


@pytest.mark.parametrize("name", files.CLOSES)
def test_market_files(name, shared_data):
    close = files.read_close(shared_data, name)
    for entry in ("first", "cross"):
        case = gate.Case(name, close, cases.STUDY_PARAMS, entry=entry)
        expected = gate.reference_table(case)
        for kernel in KERNELS:
            gate.check(case, gate.package_table(case, kernel), expected)


# Values published beside the files: what the first three of 80 combos give, and all trades.
PUBLISHED = {
    "eurusd_hourly.csv": ((1942, 1461, 1022), 15_804),
    "gbpusd_1m_offset_no_volume.csv": ((11448, 8555, 6045), 102_146),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_market_files_have_their_published_trades(name, shared_data):
    first, total = PUBLISHED[name]
    trades = sweepd.sweep(files.read_close(shared_data, name), params=cases.STUDY_PARAMS).trades
    assert tuple(trades[:3]) == first and trades.sum() == total


def test_eurusd_has_its_published_pnl(shared_data):
    pnl = sweepd.sweep(files.read_close(shared_data, "eurusd_hourly.csv"), params=cases.STUDY_PARAMS[:3]).pnl
    assert pnl.round(8).tolist() == [-190.87332184, -140.82114614, -92.13297449]


# ---- the instruction sets ----

@pytest.mark.parametrize("name", isa.FLAGS)
def test_every_instruction_set(name, study, by_rule):
    """SWP_ISA is read once a process, so each has one of its own."""
    if name not in isa.of_this_machine():
        pytest.skip(f"this CPU has no {name}")
    case, _ = study
    small = gate.Case("study, 20,000 bars", case.close[:20_000], case.params)
    expected = [(small, gate.reference_table(small)), *by_rule]
    assert elsewhere.differences(expected, KERNELS, {**os.environ, "SWP_ISA": name}) == []


# ---- the program ----

def test_the_program_gives_the_study_s_numbers(sweep_file, study, tmp_path):
    case, expected = study
    np.save(tmp_path / "study.npy", case.close)
    done = sweep_file(tmp_path / "study.npy", "--length", "6:200/80", "--format", "json")
    assert done.returncode == 0, done.stderr
    gate.check(case, gate.cli_table(json.loads(done.stdout)), expected)


def test_the_program_takes_params_and_lets_in_what_it_is_told(sweep_file, tmp_path):
    for case in cases.by_rule(bars=90):
        np.save(tmp_path / "close.npy", case.close)
        np.savetxt(tmp_path / "params.csv", case.params, fmt="%d", delimiter=",")
        done = sweep_file(tmp_path / "close.npy", "--params", tmp_path / "params.csv", "--fee", repr(case.fee),
                          "--entry", case.entry, "--allow", "nan,inf,nonpositive", "--format", "json")
        assert done.returncode == 0, done.stderr
        gate.check(case, gate.cli_table(json.loads(done.stdout)), gate.reference_table(case))


@pytest.mark.parametrize("name", files.CLOSES)
def test_the_program_reads_market_files_to_the_same_numbers(name, sweep_file, shared_data):
    options = files.OPTIONS.get(name, ())
    done = sweep_file(shared_data / name, *options, "--length", "6:200/80", "--format", "json")
    if done.returncode != 0:
        pytest.skip(f"not read yet: {done.stderr.strip()}")
    case = gate.Case(name, files.read_close(shared_data, name), cases.STUDY_PARAMS)
    gate.check(case, gate.cli_table(json.loads(done.stdout)), gate.reference_table(case))
