"""Live sessions from Python: the sweep's numbers after every bar, on every door that needs no daemon."""
import copy
import pickle
import threading

import numpy as np
import pytest

import sweepd

CLOSE = 100 + np.cumsum(np.sin(np.arange(400.0) ** 1.3))


@pytest.fixture
def engine():
    with sweepd.connect("inproc:", threads=1) as engine:
        yield engine


def of_sweep(engine, close, **options):
    with engine.load(close, allow=("nan", "inf", "nonpositive")) as series:
        r = engine.sweep(series, **options)
    entry = np.where(r.open.side != 0, r.open.entry, 0.0)
    return len(close), r.open.side, entry, r.pnl, r.trades


def same(state, expected):
    for got, right in zip(state, expected, strict=True):
        assert np.asarray(got).tobytes() == np.asarray(right).reshape(np.shape(got)).tobytes()


@pytest.mark.parametrize("entry", ["first", "cross"])
def test_each_push_leaves_the_state_of_a_sweep(engine, entry):
    with engine.live(length=20, entry=entry, warmup=CLOSE[:50]) as live:
        for bar in range(50, len(CLOSE)):
            peeked = live.peek(CLOSE[bar])
            state = live.push(float(CLOSE[bar]))
            assert isinstance(state, sweepd.LiveState) and state == peeked
            same(state, of_sweep(engine, CLOSE[: bar + 1], length=20, entry=entry))
        assert live.bars == len(CLOSE) and live.state() == state


def test_many_combos_and_many_bars_at_once(engine):
    with engine.live(length=range(6, 30)) as live:
        for at in range(0, len(CLOSE), 7):
            state = live.push(CLOSE[at : at + 7])
        same(state, of_sweep(engine, CLOSE, length=range(6, 30)))
        assert state.pnl.dtype == np.float64 and len(state.trades) == live.combos == 24


def test_a_restored_session_goes_on(engine):
    with engine.live(length=20) as live:
        live.push(CLOSE[:100])
        snapshot = live.snapshot()
        right = live.push(CLOSE[100:])
    with sweepd.connect("inproc:") as other, other.restore(snapshot) as restored:
        assert restored.bars == 100
        assert restored.push(CLOSE[100:]) == right
    with pytest.raises(sweepd.BadParam) as refused:
        engine.restore(snapshot[:-1])
    assert refused.value.at == len(snapshot) - 1


def test_refused_closes_change_nothing(engine):
    with engine.live(length=20) as live:
        live.push(CLOSE[:50])
        before = live.state()
        for bad in (float("nan"), -1.0, [100.0, 0.0]):
            with pytest.raises(sweepd.BadParam) as refused:
                live.push(bad)
            assert refused.value.at == (1 if isinstance(bad, list) else 0)
        assert live.state() == before
    with engine.live(length=20, allow="nan") as live:
        assert live.push(float("nan")).bars == 1
    with pytest.raises(sweepd.BadParam):
        engine.live(length=20, warmup=[1.0, np.nan])
    with pytest.raises(TypeError):
        engine.live()


def test_what_has_ended_says_so(engine):
    live = engine.live(length=20)
    with pytest.raises(TypeError, match="snapshot"):
        pickle.dumps(live)
    with pytest.raises(TypeError):
        copy.copy(live)
    live.close()
    live.close()
    with pytest.raises(ValueError, match="closed"):
        live.push(1.0)
    left = engine.live(length=20)
    engine.close()
    with pytest.raises(sweepd.ConnectionClosed):
        left.push(1.0)
    left.close()


def test_a_session_is_one_threads_at_a_time(engine):
    """Whoever comes second is told, whatever the order: the session itself is never touched by two."""
    with engine.live(length=range(6, 100)) as live:
        done = []

        def push():
            for _ in range(50):
                try:
                    done.append(live.push(CLOSE[:20]).bars)
                except RuntimeError as error:
                    assert "in use by another thread" in str(error)

        threads = [threading.Thread(target=push) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(done) > 0 and sorted(done) == [20 * (i + 1) for i in range(len(done))]
        assert live.state().bars == max(done)
