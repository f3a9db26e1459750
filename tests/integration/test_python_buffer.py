"""sweepd.series_buffer(): an array whose memory an engine takes over, and that stays an array like others."""
import gc
import os
import sys
import threading

import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import served  # noqa: E402

package = pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")

DOORS = ["inproc", "unix", "tcp", "shm", "spawn"]
HANDED_OVER = ["unix", "shm"]


@pytest.fixture(params=DOORS)
def door(request):
    return request.param


@pytest.fixture
def engine(door, sweepd, tmp_path):
    with served.Served(sweepd, tmp_path, listen=("unix", "tcp")) as service:
        urls = {"inproc": "inproc:", "spawn": f"spawn:{sweepd}", "shm": f"shm:{service.path}"}
        with package.connect(urls.get(door) or service.url(door), timeout=60) as engine:
            yield engine


def filled(close):
    array = package.series_buffer(len(close))
    assert array.dtype == np.float64 and array.shape == close.shape and not array.any()
    array[:] = close
    return array


def is_known(engine, series):
    """Does the engine know its fingerprint? Not of memory that was handed over, which nobody has looked at."""
    return engine._core.info(series._core)[0] is not None


def test_a_buffer_is_loaded_as_it_was_and_goes_on_as_an_array(engine, door):
    close = served.study_close(5000)
    expected = package.sweep(close, length=range(6, 40)).to_dict()
    array = filled(close)
    series = engine.load(array)
    assert is_known(engine, series) == (door not in HANDED_OVER)
    array *= 2  # a page of its own
    assert {n: c.tobytes() for n, c in engine.sweep(series, length=range(6, 40)).to_dict().items()} == {
        n: c.tobytes() for n, c in expected.items()}
    assert (array == 2 * close).all()
    again = engine.load(array)
    assert is_known(engine, again)
    assert again.fingerprint == engine.load(2 * close).fingerprint != series.fingerprint
    del array
    gc.collect()
    assert engine.sweep(series, length=9).pnl.tobytes() == package.sweep(close, length=9).pnl.tobytes()


def test_a_part_of_a_buffer_is_copied(engine):
    close = served.study_close(1000)
    array = filled(close)
    for part in array[:-1], array[1:], array[::2], array[::-1]:
        series = engine.load(part)
        assert is_known(engine, series)
        assert series.fingerprint == engine.load(part.copy()).fingerprint
    assert not is_known(engine, engine.load(array[:])) or engine.url.split(":")[0] not in HANDED_OVER  # that is all of it


def test_what_is_to_be_kept_is_copied(engine):
    assert is_known(engine, engine.load(filled(served.study_close(100)), keep=True))


def test_a_close_that_is_not_allowed_is_told_when_it_is_used(engine, door):
    array = filled(served.study_close(1000))
    array[7] = np.nan
    if door in HANDED_OVER:
        series = engine.load(array)
        with pytest.raises(package.BadParam) as error:
            engine.sweep(series, length=6)
    else:
        with pytest.raises(package.BadParam) as error:
            engine.load(array)
    assert error.value.at == 7
    allowed = engine.load(array, allow="nan")
    assert allowed.nan_count == 1


def test_threads_may_load_one_buffer_at_once(engine):
    close = served.study_close(200_000)
    array = filled(close)
    found = []
    threads = [threading.Thread(target=lambda: found.append(engine.load(array).fingerprint)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {engine.load(close).fingerprint} and len(found) == 8


def test_buffers_that_cannot_be_are_refused():
    for bars in 0, -1:
        with pytest.raises(package.BadParam, match="expected at least 1"):
            package.series_buffer(bars)
    for bars in 2**40, 2**61, 2**63:
        with pytest.raises((package.OutOfMemory, OverflowError)):
            package.series_buffer(bars)
    with pytest.raises(TypeError):
        package.series_buffer(3.0)


def test_memory_goes_back_when_the_array_goes():
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    package.series_buffer(1_000_000)[:] = 1.0
    before, descriptors = resident(), len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        package.series_buffer(1_000_000)[:] = 1.0
    assert resident() < before + 16_000_000
    assert len(os.listdir("/proc/self/fd")) == descriptors
