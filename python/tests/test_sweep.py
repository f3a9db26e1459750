"""What sweepd.sweep() takes, gives and refuses. That its numbers are right is tests/reference."""
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

import sweepd

LENGTHS = range(6, 30)


def walk(bars=600, seed=1):
    return np.round(100 + np.cumsum(np.random.default_rng(seed).normal(0, 0.5, bars)), 2)


def numbers(close, **options):
    result = sweepd.sweep(close, length=LENGTHS, **options)
    return result.pnl.tolist(), result.trades.tolist()


def test_b32_strided_views_equal_the_contiguous_copy():
    flat, table = walk(1200), walk(6000).reshape(1000, 6)
    for view in flat[::2], table[:, 3], flat[::-1], flat[7:900:3], np.asfortranarray(table)[:, 1]:
        assert not view.flags.c_contiguous or view.base is not None
        assert numbers(view) == numbers(np.array(view, dtype=np.float64, order="C", copy=True))


def test_b32_read_only_and_memmap(tmp_path):
    close = walk()
    expected = numbers(close.copy())
    close.flags.writeable = False
    assert numbers(close) == expected
    np.save(tmp_path / "close.npy", close)
    assert numbers(np.load(tmp_path / "close.npy", mmap_mode="r")) == expected


@pytest.mark.parametrize("dtype", ["f2", "f4", ">f8", ">f4", "i1", "u1", "i2", ">i4", "u4", "i8", "u8"])
def test_b33_floats_and_integers_are_carried_over_exactly(dtype):
    close = walk().astype(dtype)
    assert numbers(close) == numbers(np.array([float(value) for value in close]))


def test_b08_float32_is_widened_before_any_arithmetic():
    close = np.array([2e38, 1.9e38, 16777217, 3e38, 1.5e38] * 40, dtype=np.float32)
    assert numbers(close) == numbers(np.array([float(value) for value in close]))


def test_b33_lists_and_tuples_are_taken():
    close = walk()
    assert numbers(close.tolist()) == numbers(tuple(close)) == numbers(close)
    assert numbers([3, 2, 5.5, 4] * 50) == numbers(np.array([3, 2, 5.5, 4] * 50))


@pytest.mark.parametrize(
    "close",
    [
        np.ones(50, bool), np.ones(50, object), np.ones(50, complex), np.ones(50, np.longdouble),
        np.array(["1"] * 50), np.zeros(50, "M8[s]"), np.zeros(50, "m8[s]"), np.zeros(50, [("close", "f8")]),
        [True, False], [1, None], ["1.5"], None, b"abc", (price for price in [1.0]),
    ],
    ids=lambda close: str(np.asarray(close).dtype),
)
def test_b33_other_dtypes_are_a_type_error_that_names_them(close):
    with pytest.raises(TypeError) as error:
        sweepd.sweep(close, length=6)
    assert str(np.asarray(close).dtype) in str(error.value)


def test_a_bool_among_numbers_is_a_type_error():
    for bools in [True, 2.5, 3.5], [1, True], (2, np.True_):
        with pytest.raises(TypeError, match="bool"):
            sweepd.sweep(bools, length=6)
        with pytest.raises(TypeError, match="bool|float64"):
            sweepd.sweep(walk(), length=bools)
    with pytest.raises(TypeError, match="bool"):
        sweepd.sweep(walk(), params=[[1, 1, 1, 1, 1, True]])


def test_b32_arrays_that_are_not_aligned():
    close = walk()
    skewed = np.frombuffer(b"\0" + close.tobytes(), offset=1)
    assert not skewed.flags.aligned
    assert numbers(skewed) == numbers(close)
    lengths = np.frombuffer(b"\0" + np.array(LENGTHS).tobytes(), dtype="i8", offset=1)
    assert sweepd.sweep(close, length=lengths).pnl.tolist() == numbers(close)[0]


@pytest.mark.parametrize("value", [2**53 + 1, 2**53 + 2, -(2**53) - 1, 2**62, 2**64, -(2**70)])
def test_an_integer_beyond_2_to_53_is_a_value_error_with_its_index(value):
    arrays = [np.array([1, 2, value, 4])] if abs(value) < 2**63 else []
    for close in *arrays, [1, 2, value, 4], [1, 2, value, 4.5]:
        with pytest.raises(ValueError, match=f"bar 2 is the integer {value}") as error:
            sweepd.sweep(close, length=1)
        assert error.value.at == 2


def test_integers_up_to_2_to_53_are_taken():
    for close in np.array([2**53, 1] * 9), np.array([2**53, 1] * 9, np.uint64), [2**53, 1.5] * 9, [2.0**60, 1.5] * 9:
        assert len(sweepd.sweep(close, length=1)) == 1


def test_a_masked_array_is_refused():
    with pytest.raises(TypeError, match="masked"):
        sweepd.sweep(np.ma.masked_less(walk(), 100), length=6)
    with pytest.raises(TypeError, match="masked"):
        sweepd.sweep(walk(), length=np.ma.masked_equal([6, 7], 7))
    with pytest.raises(TypeError, match="masked"):
        sweepd.sweep(walk(), params=np.ma.masked_equal([[1, 1, 1, 1, 1, 2]], 2))


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**64)])
def test_a_parameter_beyond_64_bits_is_a_value_error(value):
    with pytest.raises(sweepd.BadParam):
        sweepd.sweep(walk(), length=[6, value])


@pytest.mark.parametrize("close", [np.ones((3, 3)), np.float64(3), 3.0, np.ones((1, 50))])
def test_a_shape_other_than_one_dimension_is_refused(close):
    with pytest.raises(ValueError, match="expected one"):
        sweepd.sweep(close, length=6)


@pytest.mark.parametrize("empty", [[], np.empty(0), np.empty(0, int)])
def test_an_empty_series_is_an_error(empty):
    with pytest.raises(sweepd.BadParam, match="no bars"):
        sweepd.sweep(empty, length=6)


def test_length_and_its_params_are_reported():
    result = sweepd.sweep(walk(), length=[7, 200, 1])
    assert result.lengths.tolist() == [7, 200, 1]
    assert result.params.tolist() == [[4, 7, 3, 1, 2, 4], [100, 200, 14, 33, 50, 100], [1, 1, 1, 1, 1, 1]]
    assert sweepd.sweep(walk(), length=7).params.tolist() == [[4, 7, 3, 1, 2, 4]]


def test_params_win_nothing_and_lose_nothing_against_length():
    by_length = sweepd.sweep(walk(), length=LENGTHS)
    by_params = sweepd.sweep(walk(), params=by_length.params)
    assert by_params.lengths is None
    assert by_params.pnl.tolist() == by_length.pnl.tolist()
    assert by_params.trades.tolist() == by_length.trades.tolist()


def test_results_are_arrays_of_the_documented_dtypes_in_input_order():
    result = sweepd.sweep(walk(), length=list(LENGTHS)[::-1])
    forward = sweepd.sweep(walk(), length=LENGTHS)
    assert len(result) == len(LENGTHS)
    for array, dtype in [
        (result.pnl, "f8"), (result.trades, "i8"), (result.first_bar, "i8"), (result.open.side, "i8"),
        (result.open.entry_bar, "i8"), (result.open.entry, "f8"), (result.open.last, "f8"), (result.open.pnl, "f8"),
    ]:
        assert array.dtype == dtype and array.shape == (len(LENGTHS),)
    assert result.pnl.tolist() == forward.pnl.tolist()[::-1]
    assert "24 combos" in repr(result)


@pytest.mark.parametrize(
    ("options", "at", "text"),
    [
        ({"length": [6, 0]}, 1, "length 0"),
        ({"length": [6, 7, 2**31]}, 2, "length 2147483648"),
        ({"length": range(0)}, None, "no combos"),
        ({"params": np.empty((0, 6), int)}, None, "no combos"),
        ({"params": [[3, 6, 2, 1, 2, 3], [3, 6, 2, 0, 2, 3]]}, 9, "combo 1: third is 0"),
        ({"length": 6, "fee": float("nan")}, None, "fee is NaN"),
        ({"length": 6, "fee": 100.5}, None, "fee is 100.5"),
        ({"length": 6, "entry": "last"}, None, "entry is 'last', expected one of first, cross"),
        ({"length": 6, "kernel": "turbo"}, None, "kernel is 'turbo', expected one of auto, strict"),
        ({"length": 6, "threads": 0}, None, "threads is 0"),
        ({"length": 6, "allow": "nan,inf"}, None, "allow is 'nan,inf', expected one of nan, inf, nonpositive"),
    ],
)
def test_a_value_out_of_range_is_named(options, at, text):
    with pytest.raises(sweepd.BadParam) as error:
        sweepd.sweep(walk(), **options)
    assert text in str(error.value)
    assert error.value.at == at
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize("options", [{}, {"length": 6, "params": [[3, 6, 2, 1, 2, 3]]}])
def test_length_or_params_is_required(options):
    with pytest.raises(TypeError, match="either length or params"):
        sweepd.sweep(walk(), **options)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"length": 6.5}, TypeError), ({"length": True}, TypeError), ({"length": [[6]]}, ValueError),
        ({"params": [3, 6, 2, 1, 2, 3]}, ValueError), ({"params": [[3, 6, 2, 1, 2]]}, ValueError),
        ({"params": [[3.0, 6, 2, 1, 2, 3]]}, TypeError),
    ],
)
def test_parameters_of_another_kind_are_refused(options, error):
    with pytest.raises(error):
        sweepd.sweep(walk(), **options)


@pytest.mark.parametrize(
    ("value", "name"), [(float("nan"), "nan"), (float("inf"), "inf"), (-float("inf"), "inf"), (0.0, "nonpositive"),
                        (-1.0, "nonpositive")]
)
def test_refused_closes_name_their_bar_and_are_let_in_by_name(value, name):
    close = walk()
    close[[40, 300]] = value
    with pytest.raises(sweepd.BadParam, match="bar 40") as error:
        sweepd.sweep(close, length=LENGTHS, allow={"nan", "inf", "nonpositive"} - {name})
    assert error.value.at == 40
    assert len(sweepd.sweep(close, length=LENGTHS, allow=[name])) == len(LENGTHS)
    assert len(sweepd.sweep(close, length=LENGTHS, allow=name)) == len(LENGTHS)


def test_the_callers_array_is_left_alone():
    close = walk()
    before = close.copy()
    sweepd.sweep(close, length=LENGTHS)
    assert np.array_equal(close, before)


def test_any_number_of_threads_gives_the_same_numbers():
    close = walk(3000)
    expected = numbers(close, threads=1)
    for threads in 2, 3, 64, None:
        assert numbers(close, threads=threads) == expected


def test_many_threads_sweep_at_once():
    series = [walk(seed=seed) for seed in range(8)]
    expected = [numbers(close) for close in series]
    found = [None] * len(series)

    def run(i):
        for _ in range(20):
            found[i] = numbers(series[i])

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(series))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected


def test_the_gil_is_released():
    """Another thread goes on while a long sweep runs: it is that thread that ends the sweep."""
    script = (
        "import os, signal, threading, numpy, sweepd\n"
        "threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "sweepd.sweep(numpy.ones(2_000_000), length=[20_000] * 1000, kernel='strict')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert "KeyboardInterrupt" in done.stderr


def test_ctrl_c_ends_a_long_sweep():
    script = (
        "import numpy, sweepd\n"
        "print('started', flush=True)\n"
        "sweepd.sweep(numpy.ones(2_000_000), length=[20_000] * 1000, kernel='strict')\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "started\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=120)
    assert "KeyboardInterrupt" in err


def test_a_forked_child_has_an_engine_of_its_own():
    expected = numbers(walk(), threads=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork in a process with threads, which is the point
        child = os.fork()
    if child == 0:
        os._exit(0 if numbers(walk()) == expected else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_kernels_lists_the_specification_first():
    assert sweepd.kernels()[:2] == ("strict", "strict-checked")
    assert "auto" not in sweepd.kernels()


def test_errors_are_one_family_with_the_builtin_ones():
    for name in sweepd._errors.__all__:
        error = getattr(sweepd, name)
        assert issubclass(error, sweepd.SweepdError)
        assert error("text").at is None and str(error("text", 7)) == "text"
    assert issubclass(sweepd.BadParam, ValueError)
    assert issubclass(sweepd.OutOfMemory, MemoryError)
    assert issubclass(sweepd.TimedOut, TimeoutError)


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(sweepd.BadParam("close of bar 3", 3)))
    assert (type(error), str(error), error.at) == (sweepd.BadParam, "close of bar 3", 3)
