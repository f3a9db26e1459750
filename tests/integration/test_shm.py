"""Shared memory and handed-over series: what a hostile peer can do, what is left when somebody dies, what waiting costs.

The peer is support/ring_peer.py, so that it can do what no client of ours does."""
import fcntl
import mmap
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from support.ring_peer import (F_ADD_SEALS, FUTURE_WRITE, GROW, PAGE, SEAL, SHRINK, SLEEPING, TAIL, WAITS, WRITE, RingPeer, ask,
                               memory)
from support.served import (BAD_FRAME, BAD_PARAM, DENIED, DROP, ECHO, FIND, HASH, LIMIT, LOAD_FD, OK, PATIENCE, SHM_OPEN, STATS,
                            SWEEP, UNKNOWN, Served, frame, lengths_params, study_close, sweep_payload)

RING = 1 << 16


@pytest.fixture
def served(sweepd, tmp_path):
    with Served(sweepd, tmp_path) as server:
        yield server


def wait_until(true, what):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, what
        time.sleep(0.005)


def metrics(peer):
    lines = peer.call(STATS, id=77).payload.decode().splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if line and not line.startswith("#")}


def at_rest(served):
    """Its descriptors, once what was closed last is closed there, too."""
    count = served.descriptors()
    for _ in range(5):
        time.sleep(0.02)
        last, count = count, served.descriptors()
        if last == count:
            return count
    return count


def unmapped(served):
    """The server has no ring and no handed-over series mapped."""
    with open(f"/proc/{served.pid}/maps") as maps:
        return not any("memfd:" in line for line in maps)


# ---- opening ----


def rings_that_are_refused():
    whole = struct.pack("<8sIIQ", b"swp-ring", 1, PAGE, RING)
    yield "not a memfd", lambda: (os.open("/dev/null", os.O_RDWR), None), DENIED
    yield "not sealed", lambda: memory(RING, seals=0), DENIED
    yield "may shrink", lambda: memory(RING, seals=SEAL | GROW | FUTURE_WRITE), DENIED
    yield "may grow", lambda: memory(RING, seals=SEAL | SHRINK | FUTURE_WRITE), DENIED
    yield "may have holes", lambda: memory(RING, seals=SEAL | SHRINK | GROW), DENIED
    yield "seals may be added", lambda: memory(RING, seals=SHRINK | GROW | FUTURE_WRITE), DENIED
    yield "a byte short", lambda: memory(RING, size=PAGE + RING - 1), DENIED
    yield "a page long", lambda: memory(RING, size=2 * PAGE + RING), DENIED
    yield "empty", lambda: memory(RING, size=PAGE, fill=False), DENIED
    yield "sparse", lambda: memory(RING, fill=False), DENIED
    yield "no magic", lambda: memory(RING, header=b"swp-rang" + whole[8:]), BAD_FRAME
    yield "another version", lambda: memory(RING, header=whole[:8] + b"\2" + whole[9:]), BAD_FRAME
    yield "another header size", lambda: memory(RING, header=whole[:12] + struct.pack("<I", 0) + whole[16:]), BAD_FRAME
    yield "another ring size", lambda: memory(RING, header=whole[:16] + struct.pack("<Q", 2 * RING)), BAD_FRAME


@pytest.mark.parametrize("make, status", [pytest.param(make, status, id=name) for name, make, status in rings_that_are_refused()])
def test_memory_that_is_not_as_it_must_be_is_refused_and_the_connection_goes_on(served, make, status):
    with served.peer() as peer:
        assert peer.call(ECHO).status == OK
        before = at_rest(served)
        fd, mapped = make()
        body, theirs = ask(peer, RING, fd)
        os.close(fd)
        assert (body[1], theirs) == (status, None), body
        assert at_rest(served) == before
        assert unmapped(served)
        assert peer.call(ECHO, b"x").payload == b"x"
        fd, mapped = memory(RING)
        assert ask(peer, RING, fd)[0][1] == OK
        os.close(fd)


def test_the_servers_own_memory_cannot_be_written_shrunk_or_holed(served):
    with served.peer() as peer:
        fd, _ = memory(RING)
        body, theirs = ask(peer, RING, fd)
        assert body[1] == OK
        for attempt in (lambda: os.ftruncate(theirs, 0), lambda: os.pwrite(theirs, b"x", 0),
                        lambda: fcntl.fcntl(theirs, F_ADD_SEALS, WRITE),
                        lambda: mmap.mmap(theirs, PAGE + RING, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)):
            with pytest.raises(PermissionError):
                attempt()
        done = subprocess.run(["fallocate", "--punch-hole", "--offset", "0", "--length", str(PAGE), f"/proc/self/fd/{theirs}"],
                              pass_fds=[theirs], capture_output=True, timeout=PATIENCE)
        assert done.returncode != 0
        os.close(theirs)
        os.close(fd)


def test_shared_memory_is_opened_once_alone_and_nothing_comes_behind_it(served):
    with RingPeer.connect(served.url("unix")) as peer:
        reply = peer.call(SHM_OPEN, struct.pack("<Q", RING))
        assert (reply.status, reply.at) == (UNKNOWN, 4)
    with served.peer() as peer:
        fd, _ = memory(RING)
        data = struct.pack("<IBBHIQ", 16, SHM_OPEN, 0, 0, 1, RING) + frame(ECHO, b"behind")
        socket.send_fds(peer.sock, [data], [fd])
        os.close(fd)
        wait_until(lambda: unmapped(served), "the connection is closed")
    with served.peer() as peer:
        assert peer.call(ECHO, b"x").payload == b"x"


def test_two_descriptors_with_one_frame_are_refused(served):
    with served.peer() as peer:
        fds = [memory(RING)[0] for _ in range(5)]
        assert peer.call(ECHO).status == OK
        before = at_rest(served)
        socket.send_fds(peer.sock, [struct.pack("<IBBHIQ", 16, SHM_OPEN, 0, 0, 1, RING)], fds)
        reply = peer.reply()
        assert (reply.status, reply.a, reply.b) == (LIMIT, 1, 2)
        assert peer.call(ECHO, b"x").payload == b"x"
        assert at_rest(served) == before
        for fd in fds:
            os.close(fd)


def test_rings_count_against_the_buffers_limit(sweepd, tmp_path):
    half = 1 << 19
    with Served(sweepd, tmp_path, "--max-buffers", "1MiB", "--max-ring", "512KiB") as served:
        with RingPeer.connect(served.url("unix"), half), served.peer() as other:
            assert metrics(other)["sweepd_buffer_bytes"] >= half
            for size, expected in ((2 * half, (half, 2 * half)), (half, None), (half, (2 * half, half))):
                with served.peer() as peer:
                    fd, _ = memory(size)
                    body, theirs = ask(peer, size, fd)
                    os.close(fd)
                    assert body[1] == (OK if expected is None else LIMIT)
                    assert expected is None or struct.unpack_from("<QQ", body, 16) == expected
                    if theirs is not None:
                        os.close(theirs)
                        peers = peer, peer.sock.dup()  # its ring stays
        peers[1].close()
        wait_until(lambda: unmapped(served), "the rings are gone")
        with served.peer() as peer:
            assert metrics(peer)["sweepd_buffer_bytes"] < half


# ---- what a hostile peer does to its own memory ----


def next_word(size=8, lap=0, flags=0):
    def scribble(peer):
        peer.write(peer.head, struct.pack("<IHH", size, lap, flags))
        peer.wake()
    return scribble


def tail(value):
    def scribble(peer):
        peer.word(TAIL, value)
        peer.send(frame(ECHO, bytes(30_000)))  # several answers, so that the tail is looked at
        peer.send(frame(ECHO, bytes(30_000), 2))
        peer.send(frame(ECHO, bytes(30_000), 3))
    return scribble


SCRIBBLES = {
    "a record of no bytes": next_word(size=0, lap=1),
    "a record longer than a quarter": next_word(size=RING // 4 - 7),
    "a record of 4 GiB": next_word(size=2**32 - 1),
    "a record of another round": next_word(lap=1),
    "a record with bits that mean nothing": next_word(flags=1),
    "a tail beyond what was sent": tail(1 << 40),
    "a tail within a line": tail(8),
    "a tail near 2^64": tail(2**64 - 64),
    "bytes on the socket": lambda peer: peer.sock.sendall(b"\0\0\1\0"),
    "a frame on the socket": lambda peer: peer.sock.sendall(frame(ECHO, b"x")),
}


@pytest.mark.parametrize("what", SCRIBBLES)
def test_what_cannot_be_ends_the_connection_and_no_other(served, what):
    with RingPeer.connect(served.url("unix")) as good, RingPeer.connect(served.url("unix")) as bad:
        assert bad.call(ECHO, b"before").payload == b"before"
        SCRIBBLES[what](bad)
        wait_until(lambda: not bad.is_alive(), "it is closed")
        assert good.call(ECHO, b"after").payload == b"after"
        assert "cannot be" in served.log()


def test_a_header_that_is_scribbled_over_later_is_not_looked_at(served):
    with RingPeer.connect(served.url("unix")) as peer:
        peer.ours[:24] = b"\xff" * 24
        data = os.urandom(200_000)
        assert peer.call(ECHO, data).payload == data


def test_sleeping_and_waiting_that_make_no_sense_cost_wakes_alone(served):
    with RingPeer.connect(served.url("unix")) as peer:
        for i in range(2000):
            peer.word(SLEEPING, random.getrandbits(64))
            peer.word(WAITS, random.getrandbits(64))
            assert peer.call(ECHO, struct.pack("<Q", i)).payload == struct.pack("<Q", i)


@pytest.mark.parametrize("seed", range(12))
def test_random_scribbles_while_requests_run_hurt_only_their_writer(served, seed):
    """Writes over words, tail and bytes of records while they are read; then vanishes in the middle of something."""
    rng = random.Random(seed)
    closes = study_close(2000)
    with served.peer() as judge:
        handle = judge.load(closes)
        right = judge.call(SWEEP, sweep_payload(handle, lengths_params([6, 20]))).payload
        for _ in range(8):
            peer = RingPeer.connect(served.url("unix"))
            peer.patience = 0.5
            stop = threading.Event()

            def scribble(peer=peer, stop=stop):
                while not stop.is_set():
                    at = rng.choice([TAIL, SLEEPING, WAITS, PAGE + 64 * rng.randrange(RING // 64), PAGE + rng.randrange(RING - 8)])
                    peer.ours[at:at + 8] = rng.choice([bytes(8), rng.randbytes(8), struct.pack("<IHH", rng.randrange(1 << 14), 0, 0)])

            thread = threading.Thread(target=scribble)
            thread.start()
            try:
                for i in range(rng.randrange(1, 20)):
                    peer.put(frame(ECHO, rng.randbytes(rng.choice([8, 8, 1000, 10_000])), i))
                    if not peer.is_alive():
                        break
            except AssertionError:
                pass  # no room any more, or the server says what no server says
            stop.set()
            thread.join()
            peer.sock.close()
            peer.ours.close()
            peer.theirs.close()
            assert judge.call(SWEEP, sweep_payload(handle, lengths_params([6, 20]))).payload == right
    wait_until(lambda: unmapped(served), "all rings are gone")


# ---- series that are handed over ----


def series_memory(closes, seals=WRITE | SHRINK | GROW | SEAL, size=None, fill=True):
    data = np.asarray(closes, "<f8").tobytes()
    fd = os.memfd_create("test-series", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(fd, len(data) if size is None else size)
    if fill:
        os.pwrite(fd, data, 0)
    if seals:
        fcntl.fcntl(fd, F_ADD_SEALS, seals)
    return fd


def hand_over(peer, fds, bars, policy=0, id=1, columns=1):
    data = frame(LOAD_FD, struct.pack("<QII", bars, columns, policy), id)
    if isinstance(peer, RingPeer):
        if fds:
            peer.wake(fds)
        peer.send(data)
    elif fds:
        socket.send_fds(peer.sock, [data], fds)
    else:
        peer.send(data)
    return peer.reply()


@pytest.fixture(params=["unix", "shm"])
def peer(request, served):
    with (RingPeer.connect(served.url("unix")) if request.param == "shm" else served.peer()) as connected:
        assert connected.call(ECHO).status == OK
        yield connected


def handle_of(reply):
    assert reply.status == OK, reply
    return struct.unpack_from("<Q", reply.payload)[0]


def test_a_series_that_was_handed_over_gives_the_same_bits(served, peer):
    closes, ask_ = study_close(20_000), lengths_params([6, 20, 100])
    before = at_rest(served)
    fd = series_memory(closes)
    reply = hand_over(peer, [fd], len(closes))
    os.close(fd)
    assert at_rest(served) == before  # it is mapped
    handle = handle_of(reply)
    low, high, known, bars, nans, first, last = struct.unpack_from("<QQQQQdd", reply.payload, 8)
    assert (low, high, known, bars, nans, first, last) == (0, 0, 0, 20_000, 0, closes[0], closes[-1])
    sent = peer.load(closes, id=2)
    assert sent != handle  # it is not merged
    got = [peer.call(SWEEP, sweep_payload(h, ask_)).payload for h in (handle, sent)]
    assert got[0] == got[1]
    hashed = peer.call(HASH, struct.pack("<Q", handle))
    low, high, known = struct.unpack_from("<QQQ", hashed.payload, 8)
    assert known == 3
    assert peer.call(DROP, struct.pack("<Q", sent)).status == OK
    assert peer.call(FIND, struct.pack("<QQQII", low, high, len(closes), 1, 0)).status == OK
    assert peer.call(DROP, struct.pack("<Q", handle)).status == OK


def test_what_must_not_be_in_it_is_said_at_first_use(peer):
    closes = study_close(5000)
    closes[1234] = np.nan
    handle = handle_of(hand_over(peer, [fd := series_memory(closes)], len(closes)))
    os.close(fd)
    for _ in range(2):
        for opcode, payload in ((SWEEP, sweep_payload(handle, lengths_params([6]))), (HASH, struct.pack("<Q", handle))):
            reply = peer.call(opcode, payload, 3)
            assert (reply.status, reply.at) == (BAD_PARAM, 1234)
    assert peer.call(ECHO, b"x").payload == b"x"


def series_that_are_refused():
    closes = study_close(1000)
    yield "not a memfd", lambda: os.open("/dev/zero", os.O_RDONLY), DENIED
    yield "a file", lambda: os.open(__file__, os.O_RDONLY), DENIED
    yield "not sealed", lambda: series_memory(closes, 0), DENIED
    yield "may be written", lambda: series_memory(closes, SHRINK | GROW | SEAL), DENIED
    yield "may be written by who has it mapped", lambda: series_memory(closes, SHRINK | GROW | FUTURE_WRITE), DENIED
    yield "may shrink", lambda: series_memory(closes, WRITE | GROW), DENIED
    yield "may grow", lambda: series_memory(closes, WRITE | SHRINK), DENIED
    yield "short", lambda: series_memory(closes[:-1]), DENIED
    yield "long", lambda: series_memory(np.append(closes, 1.0)), DENIED
    yield "sparse", lambda: series_memory(closes, fill=False), DENIED
    yield "none", lambda: None, BAD_FRAME


@pytest.mark.parametrize("make, status", [pytest.param(make, status, id=name) for name, make, status in series_that_are_refused()])
def test_a_descriptor_that_is_not_as_it_must_be_is_refused(served, peer, make, status):
    before = at_rest(served)
    fd = make()
    reply = hand_over(peer, [] if fd is None else [fd], 1000)
    assert reply.status == status, reply
    assert status != BAD_FRAME or reply.at == 4
    if fd is not None:
        os.close(fd)
    assert at_rest(served) == before
    assert peer.call(ECHO, b"x").payload == b"x"
    fd = series_memory(study_close(1000))
    handle_of(hand_over(peer, [fd], 1000))
    os.close(fd)


def test_handed_over_memory_counts_and_is_given_back(sweepd, tmp_path):
    closes = np.ones(100_000)
    with Served(sweepd, tmp_path, "--max-memory", "2000000") as served, served.peer() as peer:
        handles = []
        for status in (OK, OK, LIMIT):
            fd = series_memory(closes)
            reply = hand_over(peer, [fd], len(closes))
            os.close(fd)
            assert reply.status == status
            handles += [handle_of(reply)] if status == OK else []
        assert 1_600_000 <= metrics(peer)["sweepd_series_bytes"] <= 1_700_000
        for handle in handles:
            assert peer.call(DROP, struct.pack("<Q", handle)).status == OK
        assert metrics(peer)["sweepd_series_bytes"] == 0
        assert unmapped(served)


def test_many_series_handed_over_at_once_each_get_their_own_descriptor(served):
    with RingPeer.connect(served.url("unix")) as peer:
        for i in range(20):
            fd = series_memory(np.full(10, float(i + 1)))
            peer.wake([fd])
            os.close(fd)
            peer.send(frame(LOAD_FD, struct.pack("<QII", 10, 1, 0), i + 1))
        firsts = {}
        for _ in range(20):
            reply = peer.reply()
            firsts[reply.id] = struct.unpack_from("<d", reply.payload, 48)[0]
        assert firsts == {i + 1: float(i + 1) for i in range(20)}


# ---- who dies ----


CLIENT = """
import sys, numpy as np, sweepd
engine = sweepd.connect(sys.argv[1], timeout=60)
closes = 100 + np.sin(np.arange(200_000.0))
series = engine.load(closes)
live = engine.live(length=20)
print("ready", flush=True)
while True:
    live.push(closes[0])
    engine.sweep(series, length=range(6, 30))
"""


@pytest.fixture
def package():
    return pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")


def test_fifty_clients_that_are_killed_leave_nothing_with_the_daemon(sweepd, tmp_path, package):
    """B49"""
    with Served(sweepd, tmp_path) as served:
        with served.peer() as peer:
            assert peer.call(ECHO).status == OK
        descriptors, shm = at_rest(served), sorted(os.listdir("/dev/shm"))
        memory_of = []
        for cycle in range(50):
            client = subprocess.Popen([sys.executable, "-c", CLIENT, f"shm:{served.path}"], stdout=subprocess.PIPE, text=True)
            assert client.stdout.readline() == "ready\n"
            time.sleep(0.001 * (cycle % 10))
            assert not unmapped(served)
            client.kill()
            client.wait()
            client.stdout.close()
            wait_until(lambda: unmapped(served) and served.descriptors() == descriptors, "rings and series are gone")
            memory_of.append(served.rss_kib())
        with served.peer() as peer:
            told = metrics(peer)
        assert told["sweepd_connections"] == 1
        assert told["sweepd_series_bytes"] < 1.1 * 8 * 200_000  # fifty loads of one content: one series, in the cache
        assert told["sweepd_buffer_bytes"] < 1 << 16  # the page of numbers itself
        assert told["sweepd_live_sessions"] == 0
        assert sorted(os.listdir("/dev/shm")) == shm
        if b"__asan_init" not in pathlib.Path(sweepd).read_bytes():  # which keeps what was freed
            assert max(memory_of[25:]) <= 1.1 * max(memory_of[:25]) + 4096


def own_rings():
    with open("/proc/self/maps") as maps:
        return sum("memfd:sweepd" in line for line in maps)


def test_fifty_daemons_that_are_killed_cost_a_client_one_call_each_and_leave_nothing(sweepd, tmp_path, package):
    """B49"""
    def start(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        return Served(sweepd, folder, listen=(f"unix:{tmp_path}/s",)).ready()

    closes, shm = study_close(2000), sorted(os.listdir("/dev/shm"))
    daemon = start(0)
    try:
        engine = package.connect(f"shm:{tmp_path}/s", timeout=PATIENCE)
        series = engine.load(closes, keep=True)
        right = engine.sweep(series, length=[6, 20]).pnl.tobytes()
        descriptors, rings = len(os.listdir("/proc/self/fd")), own_rings()
        for cycle in range(1, 51):
            daemon.process.kill()
            daemon.process.wait()
            begun = time.monotonic()
            with pytest.raises(package.SweepdError) as error:
                engine.echo(b"x")
            assert isinstance(error.value, (package.ConnectionClosed, package.ConnectionRefused)), error.value
            assert time.monotonic() - begun < PATIENCE / 2
            with pytest.raises(package.ConnectionRefused):  # it says once that the connection is lost; then, that nobody is there
                engine.echo(b"x")
            daemon = start(cycle)
            assert engine.sweep(series, length=[6, 20]).pnl.tobytes() == right
            assert (len(os.listdir("/proc/self/fd")), own_rings()) == (descriptors, rings)
        engine.close()
        assert own_rings() == 0
        assert sorted(os.listdir("/dev/shm")) == shm
    finally:
        daemon.process.kill()
        daemon.process.wait()


# ---- waiting ----


def on_cpu_ns(pid):
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat") as stat:
            total += int(stat.read().split()[0])
    return total


def test_who_waits_uses_no_cpu(sweepd, tmp_path):
    """A daemon with twenty connections over shared memory that were busy just now, and a client that waits for a sweep: less
    than a hundredth of the time that passes."""
    close = tmp_path / "close.npy"
    np.save(close, study_close(400_000))
    with Served(sweepd, tmp_path) as served:
        peers = [RingPeer.connect(served.url("unix")) for _ in range(20)]
        for peer in peers:
            assert peer.call(ECHO, b"x").payload == b"x"
        time.sleep(0.2)
        begun, used = time.monotonic_ns(), on_cpu_ns(served.pid)
        time.sleep(1)
        assert on_cpu_ns(served.pid) - used < 0.01 * (time.monotonic_ns() - begun)
        for peer in peers:
            peer.close()
        words = ["sweep", close, "--length", "2:3000", "--kernel", "strict-checked", "--engine", f"shm:{served.path}"]
        client = subprocess.Popen([sweepd, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with served.peer() as peer:
                wait_until(lambda: metrics(peer)["sweepd_sweeps_in_progress"] == 1, "the sweep runs")
            time.sleep(0.2)
            begun, used = time.monotonic_ns(), on_cpu_ns(client.pid)
            time.sleep(1)
            assert on_cpu_ns(client.pid) - used < 0.01 * (time.monotonic_ns() - begun)
        finally:
            client.kill()
            client.wait()
