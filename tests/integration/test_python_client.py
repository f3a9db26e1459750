"""sweepd.connect() over every door: the same numbers, and a word for everything that goes wrong there."""
import copy
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import served  # noqa: E402

package = pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")

DOORS = ["inproc", "unix", "tcp", "shm", "spawn"]
LENGTHS = range(6, 60)
PATIENCE = 60


@pytest.fixture
def service(sweepd, tmp_path):
    with served.Served(sweepd, tmp_path, listen=("unix", "tcp")) as service:
        yield service


@pytest.fixture
def close():
    return served.study_close(5000)


def url_of(service, sweepd, door):
    urls = {"inproc": "inproc:", "spawn": f"spawn:{sweepd}", "shm": f"shm:{service.path}"}
    return urls.get(door) or service.url(door)


@pytest.fixture(params=DOORS)
def engine(request, sweepd, service):
    door = request.param
    url = url_of(service, sweepd, door)
    with package.connect(url, timeout=PATIENCE) as engine:
        yield engine


def columns_of(result):
    return {name: column.tobytes() for name, column in result.to_dict().items()}


# ---- the same numbers ----

def test_every_door_gives_the_bits_of_this_process(engine, close):
    grids = ({"length": LENGTHS}, {"length": [6, 9, 30], "length3": [5, 40]}, {"params": served.study_params(7)},
             {"params": {"half": [3, 4], "full": [6], "smooth": [2, 3], "third": [1], "mid": [2], "p": [3, 5, 9]}})
    series = engine.load(close)
    for grid in grids:
        for more in {}, {"entry": "cross", "fee": -0.5, "kernel": "strict"}, {"windows": [[0, 100, 900], [1000, 1200, 5000]]}:
            assert columns_of(engine.sweep(series, **grid, **more)) == columns_of(package.sweep(close, **grid, **more))


def test_every_door_gives_the_trades_of_this_process(engine, close):
    series = engine.load(close)
    for options in {}, {"entry": "cross", "fee": -0.5, "kernel": "strict"}, {"window": [1000, 1200, 5000]}:
        for combo in {"length": 7}, {"length": 9, "length3": 20}, {"params": [3, 6, 2, 1, 2, 3]}:
            trades = engine.trades(series, **combo, **options)
            assert trades.dtype == package.TRADE and trades.flags.writeable and len(trades) > 100
            assert trades.tobytes() == package.trades(close, **combo, **options).tobytes()
    assert len(engine.trades(close[:5], length=200)) == 0
    with pytest.raises(package.BadParam, match="one combo"):
        engine.trades(series, length=[6, 7])
    with pytest.raises(package.BadParam, match="one window"):
        engine.trades(series, length=6, window=[[0, 0, 9], [0, 0, 10]])
    with pytest.raises(package.BadParam) as error:
        engine.trades(series, params=[3, 6, 2, 0, 2, 3])
    assert error.value.at == 3
    for bad in {}, {"length": 7, "allow": "nan"}:
        with pytest.raises(TypeError):
            engine.trades(series, **bad)


def test_axes_are_their_product_the_last_fastest(engine, close):
    axes = {"half": [3, 4], "full": [6], "smooth": [2, 3], "third": [1], "mid": [2], "p": [3, 5, 9]}
    rows = np.stack(np.meshgrid(*axes.values(), indexing="ij"), axis=-1).reshape(-1, 6)
    by_axes, by_rows = engine.sweep(close, params=axes), engine.sweep(close, params=rows)
    assert by_axes.params.tolist() == rows.tolist()
    assert columns_of(by_axes) == columns_of(by_rows)


def test_length3_gives_third_mid_and_p(engine, close):
    result = engine.sweep(close, length=[6, 9], length3=[20, 7, 30])
    assert result.lengths.tolist() == [6, 6, 6, 9, 9, 9] and result.lengths3.tolist() == [20, 7, 30] * 2
    for row, length, length3 in zip(result.params, result.lengths, result.lengths3):
        assert row[:3].tolist() == package.sweep(close, length=length).params[0, :3].tolist()
        assert row[3:].tolist() == package.sweep(close, length=length3).params[0, 3:].tolist()


def test_a_million_combos_by_axes_come_whole(service):
    """In blocks, into arrays that stand ready."""
    close = served.study_close(60)
    axes = {"half": range(2, 12), "full": range(2, 12), "smooth": range(2, 12), "third": range(1, 11),
            "mid": range(1, 11), "p": range(1, 11)}
    with package.connect(service.url("unix"), timeout=PATIENCE) as engine:
        result = engine.sweep(close, params=axes)
    assert len(result) == 10**6
    some = np.arange(0, 10**6, 9973)
    assert columns_of(result._take(some)) == columns_of(package.sweep(close, params=result.params[some]))


# ---- series ----

def test_series_by_name_and_by_fingerprint(engine, close):
    with pytest.raises(package.NotFound):
        engine.open("bars")
    with pytest.raises(package.NotFound):
        engine.find(close)
    series = engine.load(close, name="bars")
    assert (len(series), series.first, series.last, series.nan_count) == (5000, close[0], close[-1], 0)
    for same in engine.open("bars"), engine.find(close):
        assert same.fingerprint == series.fingerprint and len(same.fingerprint) == 32
        assert columns_of(engine.sweep(same, length=7)) == columns_of(package.sweep(close, length=7))
    assert [listed["name"] for listed in engine.series()] == ["bars"]
    with pytest.raises(package.BadParam):
        engine.load(close[:-1], name="bars")


def test_a_dropped_series_is_a_value_error(engine, close):
    with engine.load(close) as series:
        assert engine.series()
    series.drop()
    with pytest.raises(ValueError, match="dropped"):
        engine.sweep(series, length=7)
    with package.connect("inproc:") as other, pytest.raises(ValueError, match="another client's"):
        other.sweep(series, length=7)


def test_series_nobody_refers_to_are_dropped_by_the_next_load(engine, close):
    for i in range(20):
        engine.load(close + i)
    stats = engine.stats()
    assert stats["sweepd_series"] - stats["sweepd_series_unused"] <= 2


def test_this_process_does_not_keep_all_that_it_ever_swept():
    close = served.study_close(1_000_000)
    with package.connect("inproc:") as engine:
        for i in range(20):
            engine.sweep(close + i, length=7)
        assert engine.stats()["sweepd_series_bytes"] <= 64 << 20


def test_nan_are_counted(engine, close):
    close[[7, 70]] = np.nan
    assert engine.load(close, allow="nan").nan_count == 2
    with pytest.raises(package.BadParam) as error:
        engine.load(close)
    assert error.value.at == 7


# ---- the rest ----

def test_echo_gives_the_same_bytes(engine):
    for data in b"", b"8 bytes.", os.urandom(1_200_000):
        assert engine.echo(data) == data
    assert engine.echo(np.arange(3.0)) == np.arange(3.0).tobytes()


def test_stats_are_numbers_by_name(engine, close):
    engine.sweep(close, length=LENGTHS)
    stats = engine.stats()
    assert stats and all(isinstance(value, float) for value in stats.values())


def test_errors_have_the_same_status_and_place_on_every_door(engine, close):
    series = engine.load(close)
    for options, at in [({"params": [[3, 6, 2, 1, 2, 3], [3, 6, 2, 0, 2, 3]]}, 9), ({"length": 7, "fee": 101}, None),
                        ({"length": 7, "windows": [[0, 0, 10], [0, 9, 5001]]}, 1)]:
        with pytest.raises(package.BadParam) as error:
            engine.sweep(series, **options)
        assert error.value.at == at and error.value.status == 4
    with pytest.raises(MemoryError):
        engine.sweep(series, length=range(1, 65537), length3=range(1, 65537))
    with pytest.raises(package.LimitExceeded):
        engine.sweep(series, params={name: range(1, 200) for name in ("half", "full", "smooth", "third", "mid", "p")})
    assert len(engine.sweep(series, length=7)) == 1


def test_a_closed_engine_says_so(engine, close):
    series = engine.load(close)
    engine.close()
    engine.close()
    series.drop()
    for call in (lambda: engine.echo(b"x"), lambda: engine.sweep(series, length=7), lambda: engine.load(close),
                 engine.stats, engine.series):
        with pytest.raises(package.ConnectionClosed, match="closed"):
            call()


def test_refused_wrong_and_denied_addresses(tmp_path, sweepd):
    with pytest.raises(package.ConnectionRefused):
        package.connect(f"unix:{tmp_path}/nobody")
    for url in "http://localhost", "", "stdio:":
        with pytest.raises(package.BadParam):
            package.connect(url)
    for timeout in 0, -1, float("nan"):
        with pytest.raises(package.BadParam, match="timeout"):
            package.connect("inproc:", timeout=timeout)
    token = tmp_path / "token"
    token.write_text("a secret of enough length 0123456789")
    token.chmod(0o600)
    with served.Served(sweepd, tmp_path, "--token-file", token) as service:
        with pytest.raises(package.Denied):
            package.connect(service.url("unix"), token="another")
        with package.connect(service.url("unix"), token=token.read_text()) as engine:
            assert engine.echo(b"in") == b"in"


def test_neither_engine_nor_series_is_pickled(engine, close):
    for thing in engine, engine.load(close):
        for take in pickle.dumps, copy.copy, copy.deepcopy:
            with pytest.raises(TypeError, match="cannot be pickled"):
                take(thing)
    result = engine.sweep(close, length=LENGTHS)
    assert columns_of(pickle.loads(pickle.dumps(result))) == columns_of(result)


def test_a_forked_child_gets_wrong_process(engine, close):
    series = engine.load(close)
    calls = (lambda: engine.echo(b"x"), lambda: engine.sweep(series, length=7), lambda: engine.load(close), engine.stats,
             lambda: engine.open("x"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork in a process with threads
        child = os.fork()
    if child == 0:
        told = 0
        for call in calls:
            try:
                call()
            except package.WrongProcess:
                told += 1
        engine.close()
        os._exit(told)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == len(calls)
    assert len(engine.sweep(series, length=7)) == 1


# ---- threads ----

def test_b44_8_threads_of_200_sweeps_share_one_client(engine, close):
    close = close[:400]
    series = engine.load(close)
    expected = package.sweep(close, length=range(1, 201)).pnl
    wrong = []

    def run(first):
        for i in range(200):
            length = 1 + (first + i) % 200
            pnl = engine.sweep(series, length=length).pnl[0]
            if pnl != expected[length - 1]:
                wrong.append((length, pnl))

    threads = [threading.Thread(target=run, args=(25 * i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_closing_while_other_threads_sweep_lets_them_end(engine, close):
    series, ended = engine.load(close), []

    def run():
        try:
            while True:
                ended.append(len(engine.sweep(series, length=LENGTHS)))
        except package.ConnectionClosed:
            ended.append("closed")

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(ended) < 8:
        time.sleep(0.001)
    engine.close()
    for thread in threads:
        thread.join(PATIENCE)
    assert ended.count("closed") == 4 and set(ended) == {"closed", len(LENGTHS)}


# ---- progress and Ctrl+C ----

def test_progress_is_told_and_may_end_the_sweep(engine):
    series, told = engine.load(served.study_close(400_000)), []
    engine.sweep(series, length=LENGTHS, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told) and told[-1] == (len(LENGTHS), len(LENGTHS))

    def stop(done, total):
        raise ZeroDivisionError("enough")

    with pytest.raises(ZeroDivisionError) as error:
        engine.sweep(series, length=range(2, 3000), kernel="strict", progress=stop)
    assert 0 < len(error.value.partial) < 2998
    assert len(engine.sweep(series, length=7)) == 1


INTERRUPTED = """
import os, signal, sys, threading
import numpy as np
import sweepd
close = np.load(sys.argv[2])
with sweepd.connect(sys.argv[1], timeout=None) as engine:
    series = engine.load(close)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        engine.sweep(series, length=range(2, 3000), kernel="strict-checked")
        print("no interrupt")
    except KeyboardInterrupt as error:
        partial = error.partial
        right = sweepd.sweep(close, params=partial.params)
        same = partial.pnl.tobytes() == right.pnl.tobytes() and partial.trades.tobytes() == right.trades.tobytes()
        print(0 < len(partial) < 2998, same, partial.lengths.tolist() == sorted(partial.lengths.tolist()))
    print(len(engine.sweep(series, length=[6, 7])), [int(v) for k, v in engine.stats().items() if "cancel" in k])
"""


@pytest.mark.parametrize("door", DOORS)
def test_ctrl_c_cancels_on_the_server_and_leaves_the_client_usable(sweepd, service, tmp_path, door):
    np.save(tmp_path / "close.npy", served.study_close(60_000))
    url = url_of(service, sweepd, door)
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, url, str(tmp_path / "close.npy")], capture_output=True,
                          text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "True True True" and lines[1].startswith("2 "), done.stdout


def test_a_signal_handler_that_raises_ends_a_sweep(sweepd):
    script = (
        "import signal, numpy, sweepd\n"
        "class Enough(Exception): pass\n"
        "def enough(*_): raise Enough\n"
        "signal.signal(signal.SIGINT, enough)\n"
        "import os, threading\n"
        "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    sweepd.sweep(numpy.ones(2_000_000), length=[20_000] * 1000, kernel='strict')\n"
        "except Enough as error:\n"
        "    print(len(error.partial) < 1000, signal.getsignal(signal.SIGINT) is enough)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "True True\n", done.stderr


# ---- a server that is slow, dies or stops ----

class Relay:
    """Between a client and a socket: passes bytes on in pieces of `size`, both ways."""

    def __init__(self, path, target, size):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.target, self.size = target, size
        self.thread = threading.Thread(target=self.accept)
        self.thread.start()

    def accept(self):
        near, _ = self.listener.accept()
        far = socket.socket(socket.AF_UNIX)
        far.connect(self.target)
        ways = [threading.Thread(target=self.pass_on, args=way) for way in ((near, far), (far, near))]
        for way in ways:
            way.start()
        for way in ways:
            way.join()
        near.close()
        far.close()

    def pass_on(self, source, sink):
        try:
            while data := source.recv(1 << 16):
                for i in range(0, len(data), self.size):
                    sink.sendall(data[i:i + self.size])
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@pytest.mark.parametrize("size", [1, 3, 4096])
def test_b39_a_relay_of_single_bytes_changes_nothing(service, tmp_path, close, size):
    relay = Relay(str(tmp_path / "relay"), service.path, size)
    with package.connect(f"unix:{tmp_path}/relay", timeout=PATIENCE) as engine:
        close = close[:500]
        assert columns_of(engine.sweep(close, length=LENGTHS)) == columns_of(package.sweep(close, length=LENGTHS))
    relay.thread.join(PATIENCE)
    relay.listener.close()


def test_b39_an_8_mb_reply_comes_whole(engine):
    data = os.urandom(8 << 20)
    assert engine.echo(data) == data


class Cutter:
    """A relay that passes on `count` bytes one way, and all the other way, and then ends the stream of both."""

    def __init__(self, path, target, count, to_client):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()
        self.target, self.count, self.to_client = target, count, to_client
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            with near, socket.socket(socket.AF_UNIX) as far:
                far.connect(self.target)
                ways = [(near, far, None if self.to_client else self.count), (far, near, self.count if self.to_client else None)]
                threads = [threading.Thread(target=self.pass_on, args=(*way, (near, far))) for way in ways]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()

    @staticmethod
    def pass_on(source, sink, left, both):
        try:
            while left != 0 and (data := source.recv(min(left or 1 << 16, 1 << 16))):
                sink.sendall(data)
                left = left and left - len(data)
        except OSError:
            pass
        for end in both:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(PATIENCE)


@pytest.mark.parametrize("to_client", [False, True])
def test_b39_a_stream_that_ends_in_mid_frame_is_closed_never_a_shorter_answer(service, tmp_path, to_client):
    """In both directions, cut in HELLO, in a header and in the bytes of an echo."""
    for n, count in enumerate([1, 3, 4, 11, 60, 200, 40_000]):
        cutter = Cutter(str(tmp_path / f"cut{n}"), service.path, count, to_client)
        try:
            with pytest.raises((package.ConnectionClosed, package.TimedOut)) as error:
                with package.connect(f"unix:{tmp_path}/cut{n}", timeout=PATIENCE) as engine:
                    engine.echo(bytes(100_000))
            assert isinstance(error.value, package.ConnectionClosed)
        finally:
            cutter.close()


def test_b37_b38_products_are_sized_in_64_bits_and_refused_or_streamed(engine):
    series = engine.load(served.study_close(40))
    result = engine.sweep(series, length=range(1, 2001), length3=range(1, 2001), timeout=None)
    assert len(result) == 2000 * 2000 and result.best(1).trades.shape == (1,)
    for lists in ({"length": range(1, 65537), "length3": range(1, 65537)},
                  {"params": {name: range(1, 2049) for name in ("half", "full", "smooth", "third", "mid", "p")}}):
        with pytest.raises((package.LimitExceeded, package.OutOfMemory), match=r"[0-9]{10}"):
            engine.sweep(series, **lists)
    assert len(engine.sweep(series, length=7)) == 1


KILLED_READER = """
import sys, numpy as np, sweepd
with sweepd.connect(sys.argv[1], timeout=None) as engine:
    series = engine.load(100 + np.cumsum(np.sin(np.arange(200.0))))
    print("ready", flush=True)
    while True:
        engine.sweep(series, length=range(1, 1001), length3=range(1, 1001))
"""


def test_b45_readers_killed_in_mid_reply_leave_the_daemon_as_it_was(service, close):
    with package.connect(service.url("unix"), timeout=PATIENCE) as engine:
        expected = columns_of(package.sweep(close, length=LENGTHS))
        assert columns_of(engine.sweep(close, length=LENGTHS)) == expected
        at_rest = service.descriptors()
        readers = [subprocess.Popen([sys.executable, "-c", KILLED_READER, service.url("unix")], stdout=subprocess.PIPE, text=True)
                   for _ in range(4)]
        for i, reader in enumerate(readers):
            assert reader.stdout.readline() == "ready\n"
            time.sleep(0.05 * i)
            reader.kill()
            reader.wait()
            reader.stdout.close()
        assert columns_of(engine.sweep(close, length=LENGTHS)) == expected
        until = time.monotonic() + PATIENCE
        while (service.descriptors() != at_rest or engine.stats()["sweepd_sweeps_in_progress"] > 0) and time.monotonic() < until:
            time.sleep(0.01)
        assert service.descriptors() == at_rest and engine.stats()["sweepd_sweeps_in_progress"] == 0


def test_b48_what_is_no_socket_is_refused_and_left_alone(sweepd, tmp_path):
    plain = tmp_path / "plain"
    plain.write_text("mine")
    for url in f"unix:{plain}", f"unix:{tmp_path}", f"unix:{tmp_path}/nowhere/s":
        with pytest.raises(package.ConnectionRefused) as error:
            package.connect(url)
        assert url.removeprefix("unix:") in str(error.value)
    assert plain.read_text() == "mine"
    service = served.Served(sweepd, tmp_path).ready()
    service.process.kill()
    service.process.wait()
    assert os.path.exists(service.path)
    with pytest.raises(package.ConnectionRefused):  # a socket that is there, and nobody behind it
        package.connect(service.url("unix"))


def test_b42_killed_stopped_and_absent_are_three_errors(sweepd, tmp_path):
    service = served.Served(sweepd, tmp_path).ready()
    engine = package.connect(service.url("unix"), timeout=PATIENCE)
    series = engine.load(served.study_close(400_000))

    def sweep(timeout):
        engine.sweep(series, length=range(2, 3000), kernel="strict-checked", timeout=timeout)

    try:
        threading.Timer(0.3, os.kill, (service.pid, signal.SIGSTOP)).start()
        with pytest.raises(package.TimedOut) as error:
            sweep(1)
        assert isinstance(error.value, TimeoutError) and len(error.value.partial) < 2998
        os.kill(service.pid, signal.SIGCONT)
        assert engine.echo(b"usable") == b"usable"
        threading.Timer(0.3, os.kill, (service.pid, signal.SIGKILL)).start()
        with pytest.raises(package.ConnectionClosed) as error:
            sweep(PATIENCE)
        assert len(error.value.partial) < 2998
    finally:
        service.process.kill()
        service.process.wait()
    with pytest.raises(package.ConnectionRefused):
        engine.echo(b"x")
    engine.close()


@pytest.mark.parametrize("keep", [False, True])
def test_b50_after_a_restart_what_was_kept_is_sent_again(sweepd, tmp_path, close, keep):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    path, expected = tmp_path / "socket", columns_of(package.sweep(close, length=LENGTHS))
    mine = close.copy()
    with served.Served(sweepd, tmp_path / "a", listen=(f"unix:{path}",)):
        engine = package.connect(f"unix:{path}", timeout=PATIENCE)
        series = engine.load(mine, keep=keep)
    mine[:] = 1
    with served.Served(sweepd, tmp_path / "b", listen=(f"unix:{path}",)):
        try:
            found = columns_of(engine.sweep(series, length=LENGTHS))
        except package.ConnectionClosed:  # once, clearly
            found = None
        except package.NotFound:
            assert not keep
            return
        try:
            assert (found or columns_of(engine.sweep(series, length=LENGTHS))) == expected and keep
        except package.NotFound:
            assert not keep
        finally:
            engine.close()


def test_b47_connect_ask_and_close_100_times(service, close):
    for _ in range(100):
        engine = package.connect(service.url("unix"), timeout=PATIENCE)
        with pytest.raises(package.TimedOut):
            engine.sweep(served.study_close(60_000), length=range(2, 300), kernel="strict", timeout=0.005)
        engine.close()
    with package.connect(service.url("unix"), timeout=PATIENCE) as engine:
        assert columns_of(engine.sweep(close, length=LENGTHS)) == columns_of(package.sweep(close, length=LENGTHS))


# ---- live sessions ----


def test_live_is_the_sweep_on_every_door(engine, close):
    with engine.live(length=[6, 20, 50], warmup=close[:1000]) as live:
        for at in range(1000, 1100):
            peeked, state = live.peek(close[at]), live.push(close[at])
            assert [np.asarray(x).tobytes() for x in peeked] == [np.asarray(x).tobytes() for x in state]
        with engine.load(close[:1100]) as series:
            right = engine.sweep(series, length=[6, 20, 50])
        assert state.bars == 1100
        for got, expected in [(state.position, right.open.side), (state.entry, right.open.entry), (state.pnl, right.pnl),
                              (state.trades, right.trades)]:
            assert got.tobytes() == expected.tobytes()
        with engine.restore(live.snapshot()) as restored:
            assert restored.push(close[1100:1200]).pnl.tobytes() == live.push(close[1100:1200]).pnl.tobytes()


def test_a_daemon_that_was_killed_loses_the_session_and_says_how_to_restore_it(sweepd, tmp_path, close):
    service = served.Served(sweepd, tmp_path).ready()
    try:
        engine = package.connect(service.url("unix"), timeout=PATIENCE)
        live = engine.live(length=20)
        live.push(close[:100])
        snapshot, right = live.snapshot(), live.state()
    finally:
        service.process.kill()
        service.process.wait()
    for _ in range(2):
        with pytest.raises(package.ConnectionClosed, match="live session is lost.*restore"):
            live.push(close[100])
    engine.close()
    with package.connect("inproc:") as other:
        assert other.restore(snapshot).state() == right


def test_a_client_that_was_killed_leaves_no_session(sweepd, service):
    code = """
import sys, sweepd
engine = sweepd.connect(sys.argv[1])
lives = [engine.live(length=200) for _ in range(20)]
print("ready", flush=True)
sys.stdin.read()
"""
    with package.connect(service.url("unix"), timeout=PATIENCE) as engine:
        rest = engine.stats()["sweepd_live_bytes"]
        for _ in range(5):
            with subprocess.Popen([sys.executable, "-c", code, service.url("unix")], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as client:
                assert client.stdout.readline() == "ready\n"
                assert engine.stats()["sweepd_live_sessions"] == 20
                client.kill()
            until = time.monotonic() + PATIENCE
            while engine.stats()["sweepd_live_sessions"] and time.monotonic() < until:
                time.sleep(0.01)
            assert engine.stats()["sweepd_live_sessions"] == 0
            assert engine.stats()["sweepd_live_bytes"] == rest
