"""The server as a process: whose socket it is, how it starts and stops, what it costs, what it tells a service manager."""
import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

import numpy as np
import pytest

from support.served import (BUSY, DENIED, ECHO, HELLO, LIST, OK, OPEN, PATIENCE, STATS, SWEEP, Ended, Peer, Served,
                            frame, lengths_params, study_close, study_params, sweep_payload, v1_frame)

NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to be another user")
needs_strace = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def serve_fails(sweepd, *options, code=1, **popen):
    words = [sweepd, "serve", *map(str, options)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, **popen)
    assert done.returncode == code, done
    return done.stderr


def echo(peer, data=b"x" * 8):
    assert peer.call(ECHO, data).payload == data


# ---- B48: whose socket it is ----


def test_socket_after_sigkill_is_replaced(sweepd, tmp_path):
    first = Served(sweepd, tmp_path).ready()
    with first.peer() as peer:
        echo(peer)
        assert first.stop("KILL") == -signal.SIGKILL
        assert peer.is_closed()
    assert stat.S_ISSOCK(os.stat(first.path).st_mode)
    with pytest.raises(ConnectionRefusedError):
        first.peer()
    with Served(sweepd, tmp_path) as second:
        with second.peer() as peer:
            echo(peer)
    assert not os.path.exists(second.path) and not os.path.exists(second.path + ".lock")


def test_of_two_starts_at_once_one_runs_and_the_other_says_so(sweepd, tmp_path):
    for _ in range(5):
        words = [sweepd, "serve", "--listen", f"unix:{tmp_path}/s"]
        both = [subprocess.Popen(words, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        end = time.monotonic() + PATIENCE
        while all(p.poll() is None for p in both) and time.monotonic() < end:
            time.sleep(0.01)
        failed, running = sorted(both, key=lambda p: p.poll() is None)
        assert failed.returncode == 1 and running.poll() is None
        assert "already running" in failed.stderr.read()
        with Peer.connect(f"unix:{tmp_path}/s") as peer:
            echo(peer)
        running.terminate()
        assert running.wait(PATIENCE) == 0
        running.stderr.close(), failed.stderr.close()


def test_path_of_a_live_server_is_refused_and_the_server_unharmed(sweepd, tmp_path):
    with Served(sweepd, tmp_path) as served:
        assert "already running" in serve_fails(sweepd, "--listen", f"unix:{served.path}")
        with served.peer() as peer:
            echo(peer)


def test_a_plain_file_is_left_as_it_is(sweepd, tmp_path):
    path = tmp_path / "s"
    path.write_text("mine")
    assert "not a socket" in serve_fails(sweepd, "--listen", f"unix:{path}")
    assert path.read_text() == "mine"


def test_socket_is_0600_and_its_default_folder_0700(sweepd, tmp_path):
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    env.pop("XDG_RUNTIME_DIR", None)
    with Served(sweepd, tmp_path, listen=("unix:",), env=env) as served:
        path = pathlib.Path(served.url("unix")[5:])
        assert path == tmp_path / f"sweepd-{os.geteuid()}" / "sweepd.sock"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    env["XDG_RUNTIME_DIR"] = str(tmp_path / "run")
    os.mkdir(tmp_path / "run", 0o700)
    with Served(sweepd, tmp_path, listen=("unix:",), env=env) as served:
        assert served.url("unix") == f"unix:{tmp_path}/run/sweepd.sock"


def run_as(uid, task, groups=()):
    """What `task` returns, bytes, when somebody else runs it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(groups)
            os.setgid(uid)
            os.setuid(uid)
            os.write(writing, task())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as file:
        result = file.read()
    os.waitpid(child, 0)
    return result


def ask_echo(path):
    def task():
        with socket.socket(socket.AF_UNIX) as s:
            try:
                s.connect(path)
            except PermissionError:
                return b"permission denied"
            with contextlib.suppress(BrokenPipeError):  # it was told before it asked
                s.sendall(frame(ECHO, b"hi"))
            return s.recv(4096)
    return task


def open_folder(tmp_path):
    for folder in (tmp_path, *tmp_path.parents):
        if folder != pathlib.Path("/") and folder != pathlib.Path("/tmp"):
            folder.chmod(0o711)


@needs_root
def test_another_user_may_not_connect(sweepd, tmp_path):
    open_folder(tmp_path)
    with Served(sweepd, tmp_path) as served:
        assert run_as(NOBODY, ask_echo(served.path)) == b"permission denied"
        os.chmod(served.path, 0o666)  # even where the file's mode would let it in
        answer = run_as(NOBODY, ask_echo(served.path))
        assert answer[4] == 0x80 and answer[5] == DENIED and b"--group" in answer
        served.wait_for("refused uid 65534")


@needs_root
def test_members_of_the_group_may_connect_and_nobody_else(sweepd, tmp_path):
    open_folder(tmp_path)
    import grp
    group = grp.getgrnam("daemon")
    with Served(sweepd, tmp_path, "--group", "daemon") as served:
        info = os.stat(served.path)
        assert stat.S_IMODE(info.st_mode) == 0o660 and info.st_gid == group.gr_gid
        assert run_as(NOBODY, ask_echo(served.path), [4, group.gr_gid]) == frame(ECHO | 0x80, b"hi")
        assert run_as(NOBODY, ask_echo(served.path), [4]) == b"permission denied"
        os.chmod(served.path, 0o666)
        assert run_as(NOBODY, ask_echo(served.path), [4])[5] == DENIED


@needs_root
def test_a_folder_one_may_not_write_to_is_explained(sweepd, tmp_path):
    open_folder(tmp_path)
    closed = tmp_path / "closed"
    closed.mkdir(0o755)
    program = tmp_path / "sweepd"
    shutil.copy(sweepd, program)
    words = [program, "serve", "--listen", f"unix:{closed}/s"]
    said = run_as(NOBODY, lambda: subprocess.run(words, capture_output=True, timeout=PATIENCE).stderr)
    assert b"Permission denied: its directory must be one we may write to" in said


# ---- what is asked for on the command line ----


@pytest.mark.parametrize("options, says", [
    (["--listen", "tcp:0.0.0.0:7000"], "SSH or TLS tunnel"),
    (["--listen", "nonsense"], "expected unix:PATH"),
    (["--listen", "spawn:"], "cannot listen on"),
    (["--listen", "unix:/a", "--listen", "unix:/a"], "given twice"),
    (["--group", "no-such-group"], "no such group"),
    (["--token-file", "/nonexistent"], "token file /nonexistent: No such file"),
])
def test_what_cannot_be_served_is_explained(sweepd, options, says):
    assert says in serve_fails(sweepd, *options)


@pytest.mark.parametrize("options, says", [
    (["--max-frame", "1"], "expected 4KiB..4294967295 bytes"),
    (["--max-frame", "5GiB"], "expected 4KiB.."),
    (["--idle-timeout", "3 s"], "--idle-timeout is \"3 s\""),
    (["--spin", "20ms"], "--spin is \"20ms\""),
    (["--max-conections", "3"], "did you mean --max-connections?"),
    (["--max-frame"], "--max-frame needs a value"),
])
def test_limits_out_of_bounds_are_wrong_usage(sweepd, options, says):
    assert says in serve_fails(sweepd, *options, code=2)


def test_help_shows_every_limit_with_its_default(sweepd):
    text = subprocess.run([sweepd, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    for words in ("--max-frame N", "[1GiB]", "--max-connections N", "[1024]", "--stall-timeout N", "[30s]",
                  "--slow-rate N", "[64KiB]", "--max-memory N"):
        assert words in text


# ---- series that are there from the start ----


def test_loaded_files_are_open_to_everybody_by_name(sweepd, tmp_path):
    close = study_close(300)
    np.save(tmp_path / "a.npy", close)
    (tmp_path / "b.csv").write_text("time,close\n2024-01-01,1.5\n2024-01-02,2.5\n")
    options = ["--load", f"study={tmp_path}/a.npy", "--load", f"tiny={tmp_path}/b.csv", "--pin"]
    with Served(sweepd, tmp_path, *options, listen=("unix", "tcp")) as served:
        for door in ("unix", "tcp"):
            with served.peer(door) as peer:
                names = {entry["name"]: entry for entry in json.loads(peer.call(LIST).payload)}
                assert set(names) == {"study", "tiny"}
                assert names["tiny"]["columns"] == ["close", "time"] and names["tiny"]["pinned"]
                opened = peer.call(OPEN, b"study")
                handle, = struct.unpack_from("<Q", opened.payload)
                reply = peer.call(SWEEP, sweep_payload(handle, lengths_params([6])))
                assert reply.status == OK
            with served.peer(door) as other:  # the same bits as the array itself gives
                pnl, trades = other.v1_sweep(close, lengths_params([6]))
                assert pnl.tobytes() + trades.tobytes() == reply.payload
        assert "series study: read 300 bars" in served.log()


@pytest.mark.parametrize("word, says", [
    ("nothing", 'expected NAME=FILE'),
    ("a=", 'expected NAME=FILE'),
    ("a=/nonexistent.npy", "--load a: /nonexistent.npy"),
])
def test_what_cannot_be_loaded_is_explained(sweepd, tmp_path, word, says):
    assert says in serve_fails(sweepd, "--listen", f"unix:{tmp_path}/s", "--load", word)


# ---- stopping ----


def test_sigterm_lets_running_requests_finish(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--threads", 1, "--kernel", "strict") as served:
        with served.peer() as peer, served.peer() as idle:
            echo(idle)
            peer.send(v1_frame(0, study_close(), study_params(8)))
            while int(stats(idle)["sweepd_sweeps_in_progress"]) == 0:
                pass
            served.process.send_signal(signal.SIGTERM)
            served.wait_for("stopping: 2 connections, 1 sweeps in progress")
            with pytest.raises((ConnectionRefusedError, FileNotFoundError)):
                served.peer()
            assert len(peer.body()) == 8 * 16
            assert peer.is_closed() and idle.is_closed()


def stats(peer):
    text = peer.call(STATS).payload.decode()
    return dict(line.split() for line in text.splitlines() if not line.startswith("#"))


def long_sweep(peer):
    """Hours of work."""
    peer.send(v1_frame(0, study_close(), study_params(8).repeat(20_000, axis=0)))


def test_a_second_sigterm_stops_at_once(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--drain-timeout", "1h", "--kernel", "strict") as served:
        with served.peer() as peer, served.peer() as other:
            long_sweep(peer)
            while int(stats(other)["sweepd_sweeps_in_progress"]) == 0:
                pass
            served.process.send_signal(signal.SIGTERM)
            served.wait_for("stopping: ")
            time.sleep(0.05)
            assert served.process.poll() is None
            assert served.stop() == 0
            assert peer.is_closed()


def test_the_drain_time_out_ends_what_runs(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--drain-timeout", "200ms", "--kernel", "strict") as served:
        with served.peer() as peer, served.peer() as other:
            long_sweep(peer)
            while int(stats(other)["sweepd_sweeps_in_progress"]) == 0:
                pass
            assert served.stop() == 0
            assert "drain time-out is over: 1 sweeps are given up" in served.log()


def test_version_1_sweeps_are_not_begun_while_draining(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--drain-timeout", "1h", "--kernel", "strict") as served:
        with served.peer() as peer, served.peer() as other, served.peer() as third:
            third.send(v1_frame(1, [1.0], [])), third.body()
            long_sweep(peer)
            while int(stats(other)["sweepd_sweeps_in_progress"]) == 0:
                pass
            served.process.send_signal(signal.SIGTERM)
            served.wait_for("stopping: ")
            third.send(v1_frame(1, [1.0], []))
            assert third.body() == struct.pack("<d", 1)  # anything else goes on
            third.send(v1_frame(0, [1.0], study_params(1)))
            assert third.is_closed()


# ---- connections ----


def test_one_connection_too_many_is_told_busy(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--max-connections", 3) as served:
        peers = [served.peer() for _ in range(3)]
        for peer in peers:
            echo(peer)
        with served.peer() as surplus:
            reply = surplus.reply()
            assert (reply.opcode, reply.status, reply.id) == (0, BUSY, 0)
            assert "--max-connections" in reply.text
            assert surplus.is_closed()
        peers.pop().close()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            with served.peer() as again:
                again.send(frame(ECHO, b"y"))
                if again.reply().status == OK:
                    break
        else:
            pytest.fail("no room after a connection was closed")
        for peer in peers:
            echo(peer)
            peer.close()


def test_connect_ask_and_close_before_the_reply(sweepd, tmp_path):
    """B47"""
    close, params = study_close(20_000), study_params(20)
    with Served(sweepd, tmp_path, listen=("unix", "tcp")) as served:
        with served.peer() as peer:
            echo(peer)
            before = served.descriptors()  # with one connection, as in the end
        for i in range(100):
            with served.peer(("unix", "tcp")[i % 2]) as peer:
                peer.send(v1_frame(0, close, params)[:None if i % 3 else -100])
        with served.peer() as peer:
            echo(peer)
            wait_until(lambda: int(stats(peer)["sweepd_sweeps_in_progress"]) == 0)
            wait_until(lambda: int(stats(peer)["sweepd_connections"]) == 1)
            assert int(stats(peer)["sweepd_buffer_bytes"]) <= 65536
            wait_until(lambda: served.descriptors() == before)


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_thousand_connections_and_a_hundred_thousand_requests_leave_nothing(sweepd, tmp_path):
    with Served(sweepd, tmp_path) as served:
        def round_trip(connections, requests):
            for _ in range(connections):
                with served.peer() as peer:
                    echo(peer)
            batch = b"".join(frame(ECHO, b"%08d" % i, i) for i in range(50))
            with served.peer() as peer:
                for _ in range(requests // 50):
                    peer.send(batch)
                    assert len(peer.recv(len(batch))) == len(batch)
            wait_until(lambda: served.descriptors() == idle)

        idle = served.descriptors()
        round_trip(100, 5_000)
        threads, rss = served.threads(), served.rss_kib()
        round_trip(1_000, 100_000)
        assert served.threads() == threads
        assert served.rss_kib() <= rss + 1024, "more than a MiB is left behind"


def test_idle_costs_nothing(sweepd, tmp_path):
    with Served(sweepd, tmp_path) as served:
        peers = [served.peer() for _ in range(50)]
        for peer in peers:
            for _ in range(20):
                echo(peer)
        time.sleep(0.2)
        before = voluntary_switches(served)
        time.sleep(1)
        assert voluntary_switches(served) == before  # it did not wake up once
        for peer in peers:
            peer.close()


def voluntary_switches(served):
    return served.status("voluntary_ctxt_switches")


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def test_descriptor_exhaustion_is_survived(sweepd, tmp_path):
    with Served(sweepd, tmp_path, preexec_fn=limit_descriptors) as served:
        peers = [served.peer() for _ in range(200)]  # the backlog takes them all
        echo(peers[0])
        served.wait_for("cannot accept: Too many open files")
        cpu, begun = served.cpu_seconds(), time.monotonic()
        while time.monotonic() < begun + 2:
            echo(peers[0])  # who is served goes on to be
            time.sleep(0.05)
        assert served.cpu_seconds() - cpu < 0.5 * (time.monotonic() - begun)
        assert served.log().count("cannot accept") == 1, "the log is not flooded"
        for peer in peers[1:150]:
            peer.close()
        echo(peers[199])  # accepted at last
        for peer in peers:
            peer.close()
        wait_until(lambda: served.descriptors() < 15)
        with served.peer() as peer:
            echo(peer)


# ---- slow peers, judged by progress ----


def big_reply(served, door="unix", size=64 << 20):
    peer = served.peer(door)
    peer.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    peer.send(struct.pack("<IBBHI", 8 + size, ECHO, 0, 0, 1))
    chunk = bytes(1 << 20)
    for _ in range(size >> 20):
        peer.send(chunk)
    return peer


@pytest.mark.parametrize("door", ["unix", "tcp"])
def test_a_peer_that_takes_nothing_is_closed(sweepd, tmp_path, door):
    with Served(sweepd, tmp_path, "--stall-timeout", "300ms", listen=("unix", "tcp")) as served:
        with big_reply(served, door) as slow, served.peer() as other:
            served.wait_for("closed: it takes no bytes of a reply that waits")
            echo(other)
            wait_until(lambda: int(stats(other)["sweepd_connections"]) == 1)
            assert int(stats(other)["sweepd_buffer_bytes"]) <= 65536
            if door == "unix":
                with pytest.raises(Ended):
                    slow.recv(64 << 20)


def test_a_peer_that_takes_a_little_now_and_then_is_closed(sweepd, tmp_path):
    """B45: 1 KB/s is progress, but not enough of it."""
    with Served(sweepd, tmp_path, "--slow-window", "1s", "--stall-timeout", "10s") as served:
        with big_reply(served) as slow:
            with pytest.raises(Ended):
                while "too slowly" not in served.log():
                    slow.recv(1024)
                    time.sleep(0.05)
                slow.recv(64 << 20)
        served.wait_for("closed: it takes a reply that waits too slowly")


def test_a_peer_that_sends_a_frame_drop_by_drop_is_closed(sweepd, tmp_path):
    """A byte now and then is not a stall, and would hold the frame's buffer for ever."""
    with Served(sweepd, tmp_path, "--slow-window", "1s", "--stall-timeout", "10s") as served:
        with served.peer() as slow, served.peer() as other:
            slow.send(struct.pack("<IBBHI", 8 + (1 << 20), ECHO, 0, 0, 1))
            with pytest.raises(OSError):
                while "too slowly" not in served.log():
                    slow.send(b"x")
                    time.sleep(0.05)
                while True:
                    slow.send(b"x")
                    time.sleep(0.05)
            served.wait_for("closed: it sends a frame too slowly")
            wait_until(lambda: int(stats(other)["sweepd_connections"]) == 1)
            assert int(stats(other)["sweepd_buffer_bytes"]) <= 65536


def test_slow_requests_that_are_whole_are_welcome(sweepd, tmp_path):
    """Each ends inside the next one's head: the rate is that of a frame, not of the connection."""
    with Served(sweepd, tmp_path, "--slow-window", "2s") as served, served.peer() as peer:
        bytes_ = frame(ECHO, b"x" * 8) * 100
        peer.send(bytes_[:6])
        for at in range(6, len(bytes_), 20):
            peer.send(bytes_[at:at + 20])
            time.sleep(0.05)
        assert len(peer.recv(len(bytes_))) == len(bytes_)


def test_fifty_readers_at_a_kilobyte_a_second_keep_nobody_up(sweepd, tmp_path):
    """B45, and readers that are killed in mid reply."""
    with Served(sweepd, tmp_path, "--max-buffers", "64MiB") as served:
        slow = [big_reply(served, ("unix"), 1 << 20) for _ in range(50)]
        with served.peer() as other:
            for _ in range(5):
                for peer in slow:
                    peer.recv(1024)
                echo(other)
                assert served.rss_kib() < 100 << 10
            for peer in slow:
                peer.close()
            wait_until(lambda: int(stats(other)["sweepd_connections"]) == 1)
            assert int(stats(other)["sweepd_buffer_bytes"]) <= 65536
            cpu = served.cpu_seconds()
            time.sleep(0.5)
            assert served.cpu_seconds() - cpu < 0.1


def test_reading_stops_while_replies_wait(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--max-waiting", "1MiB") as served:
        with served.peer() as peer, served.peer() as other:
            peer.sock.setblocking(False)
            data, sent = frame(ECHO, bytes(100_000)), 0
            stuck = 0
            while stuck < 20:
                try:
                    sent += peer.sock.send(data[sent % len(data):])
                    stuck = 0
                except BlockingIOError:
                    stuck += 1
                    time.sleep(0.01)
            assert sent < 4 << 20  # the waiting replies, and the sockets' own buffers
            assert int(stats(other)["sweepd_buffer_bytes"]) < 2 << 20
            peer.sock.settimeout(PATIENCE)
            whole = sent // len(data)
            assert len(peer.recv(whole * len(data))) == whole * len(data)  # and goes on once they are taken
            echo(other)


def test_two_large_frames_do_not_deadlock(sweepd, tmp_path):
    """Both peers read while they write."""
    import threading
    size, count = 8 << 20, 4
    with Served(sweepd, tmp_path) as served:
        with served.peer() as peer:
            data = frame(ECHO, os.urandom(size))
            writer = threading.Thread(target=lambda: [peer.send(data) for _ in range(count)])
            writer.start()
            for _ in range(count):
                assert peer.reply().payload == data[12:]
            writer.join()


def test_a_half_sent_frame_is_closed(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--stall-timeout", "200ms") as served:
        with served.peer() as peer, served.peer() as idle:
            echo(idle)
            peer.send(frame(ECHO, bytes(100))[:50])
            assert peer.is_closed()
            served.wait_for("closed: it stopped inside a frame")
            echo(idle)  # an idle one is not slow


def test_idle_connections_are_closed_only_when_asked_for(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--idle-timeout", "300ms") as served:
        with served.peer() as idle, served.peer() as busy:
            end = time.monotonic() + 1
            while time.monotonic() < end:
                echo(busy)
                time.sleep(0.02)
            assert idle.is_closed()
            echo(busy)


# ---- B39 ----


def relay(listening, url):
    """Passes one byte at a time, both ways."""
    import threading
    a, _ = listening.accept()
    b = Peer.connect(url).sock

    def pump(source, sink):
        while data := source.recv(4096):
            for i in range(len(data)):
                sink.sendall(data[i:i + 1])
        sink.shutdown(socket.SHUT_WR)
    threads = [threading.Thread(target=pump, args=pair) for pair in ((a, b), (b, a))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    a.close(), b.close()


def test_a_relay_that_passes_one_byte_at_a_time(sweepd, tmp_path):
    import threading
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(Served(sweepd, tmp_path, listen=("unix", "tcp")))
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        thread = threading.Thread(target=relay, args=(listening, served.url("tcp")))
        thread.start()
        with Peer.connect("tcp:127.0.0.1:%d" % listening.getsockname()[1]) as peer:
            data = os.urandom(100_000)
            echo(peer, data)
            peer.end()
            assert peer.is_closed()
        thread.join()


def test_an_8_mb_reply_and_a_header_split_after_3_bytes(sweepd, tmp_path):
    with Served(sweepd, tmp_path, listen=("unix", "tcp")) as served:
        for door in ("unix", "tcp"):
            with served.peer(door) as peer:
                data = frame(ECHO, os.urandom(8 << 20))
                peer.send(data[:3])
                time.sleep(0.05)
                peer.send(data[3:])
                assert peer.reply().payload == data[12:]


# ---- stdio ----


def test_stdio_exit_status_tells_success(sweepd):
    with Peer.spawn(sweepd) as peer:
        echo(peer)
        peer.end()
        assert peer.is_closed()
        assert peer.process.wait(PATIENCE) == 0
        assert peer.process.stderr.read() == b""


def test_stdio_starts_no_thread_before_a_sweep_needs_one(sweepd):
    with Peer.spawn(sweepd) as peer:
        echo(peer)
        assert len(os.listdir(f"/proc/{peer.process.pid}/task")) == 1


def test_stdio_reads_a_file_and_writes_a_file(sweepd, tmp_path):
    requests = frame(ECHO, b"abc") + frame(ECHO, os.urandom(1 << 20), 2)
    (tmp_path / "in").write_bytes(requests)
    with open(tmp_path / "in", "rb") as source, open(tmp_path / "out", "wb") as sink:
        done = subprocess.run([sweepd, "serve", "--listen", "stdio:"], stdin=source, stdout=sink, timeout=PATIENCE)
    assert done.returncode == 0
    out = (tmp_path / "out").read_bytes()
    assert len(out) == len(requests) and out[12:15] == b"abc" and out[27:] == requests[27:]


def test_stdio_whose_reader_is_gone_fails(sweepd):
    process = subprocess.Popen([sweepd, "serve", "--listen", "stdio:"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL)
    process.stdout.close()
    process.stdin.write(frame(ECHO, b"abc"))
    process.stdin.flush()
    assert process.wait(PATIENCE) == 1
    process.stdin.close()


def test_stdio_over_a_socket_pair(sweepd):
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([sweepd, "serve", "--listen", "stdio:"], stdin=theirs, stdout=theirs)
    theirs.close()
    with Peer(ours) as peer:
        peer.sock.settimeout(PATIENCE)
        echo(peer, os.urandom(1 << 20))
        peer.end()
        assert peer.is_closed()
    assert process.wait(PATIENCE) == 0


def test_stdio_leaves_a_shared_descriptor_blocking(sweepd):
    read_end, write_end = os.pipe()
    out_read, out_write = os.pipe()
    os.write(write_end, frame(ECHO, b"abc"))
    os.close(write_end)
    done = subprocess.run([sweepd, "serve", "--listen", "stdio:"], stdin=read_end, stdout=out_write, timeout=PATIENCE)
    assert done.returncode == 0
    assert os.get_blocking(read_end) and os.get_blocking(out_write)
    for fd in (read_end, out_read, out_write):
        os.close(fd)


# ---- token ----


def hello(token=b"", name=b"test", major=2):
    return struct.pack("<HHII", major, 0, len(token), len(name)) + token + name


@pytest.fixture
def token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text("open sesame\n")
    path.chmod(0o600)
    return path


def test_a_token_is_demanded_first_and_compared(sweepd, tmp_path, token_file):
    with Served(sweepd, tmp_path, "--token-file", token_file, listen=("tcp", "unix")) as served:
        for door in ("tcp", "unix"):
            with served.peer(door) as peer:
                reply = peer.call(ECHO, b"x")
                assert reply.status == DENIED and "HELLO" in reply.text
                assert peer.call(HELLO, hello(b"open sesame")).status == OK
                echo(peer)
            for wrong in (b"", b"open sesamE", b"open sesame\n", b"open sesam"):
                with served.peer(door) as peer:
                    assert peer.call(HELLO, hello(wrong)).status == DENIED
                    assert peer.is_closed()
            with served.peer(door) as peer:
                peer.send(v1_frame(1, [1.0], []))
                assert peer.is_closed()
        served.wait_for("speaks version 1, which cannot bring the token")


def test_a_token_file_others_can_read_is_refused(sweepd, tmp_path, token_file):
    token_file.chmod(0o644)
    assert "chmod it to 0600" in serve_fails(sweepd, "--token-file", token_file)
    token_file.chmod(0o600)
    token_file.write_text("\n")
    assert "the token has no bytes" in serve_fails(sweepd, "--token-file", token_file)


# ---- the log ----


def test_json_lines(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--log-format", "json", "--log-level", "debug") as served:
        with served.peer() as peer:
            assert peer.call(HELLO, hello(name="n\u00e4me \"quoted\"".encode())).status == OK
    lines = [json.loads(line) for line in served.log().splitlines()]
    assert {"info", "debug"} == {line["level"] for line in lines}
    assert any("is \"n\u00e4me \"quoted\"\"" in line["text"] for line in lines)
    assert lines[-1]["text"] == "stopped"


# ---- the service manager ----


def test_ready_watchdog_and_stopping_are_told(sweepd, tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(PATIENCE)
        env = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "200000"}
        with Served(sweepd, tmp_path, env=env) as served:
            assert manager.recv(100) == b"READY=1"
            assert manager.recv(100) == b"WATCHDOG=1"
            assert manager.recv(100) == b"WATCHDOG=1"
            served.process.send_signal(signal.SIGTERM)
            told = manager.recv(100)
            while told == b"WATCHDOG=1":
                told = manager.recv(100)
            assert told == b"STOPPING=1"


ACTIVATE = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ["LISTEN_FDS"] = "1"
os.environ["LISTEN_PID"] = str(os.getpid())
os.execv(sys.argv[2], sys.argv[2:])
"""


def activated(sweepd, tmp_path, listening):
    served = Served(sweepd, tmp_path, listen=(), prefix=(sys.executable, "-c", ACTIVATE, str(listening.fileno())),
                    pass_fds=(listening.fileno(), 3))
    served.listens = ["inherited"]
    return served


@pytest.mark.parametrize("door", ["unix", "tcp"])
def test_socket_activation(sweepd, tmp_path, door):
    if door == "unix":
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(tmp_path / "manager.sock"))
        listening.listen()
        url = f"unix:{tmp_path}/manager.sock"
    else:
        listening = socket.create_server(("127.0.0.1", 0))
        url = "tcp:127.0.0.1:%d" % listening.getsockname()[1]
    with listening, activated(sweepd, tmp_path, listening) as served:
        assert served.urls == [url]
        with Peer.connect(url) as peer:
            echo(peer)
    if door == "unix":
        assert os.path.exists(tmp_path / "manager.sock")  # it is the manager's


def test_a_socket_on_all_addresses_is_not_taken_over(sweepd, tmp_path):
    with socket.create_server(("0.0.0.0", 0)) as listening:
        served = activated(sweepd, tmp_path, listening)
        assert served.process.wait(PATIENCE) == 1
        assert "neither a Unix socket nor a loopback address" in served.log()


# ---- system calls ----


def count_calls(sweepd, tmp_path, requests, *options):
    """System calls of the server while it answers, by name."""
    if any(mark in pathlib.Path(sweepd).read_bytes() for mark in (b"__tsan_init", b"__asan_init")):
        pytest.skip("a sanitizer makes system calls of its own")
    out = tmp_path / "strace"
    prefix = ("strace", "-f", "-c", "-S", "name", "-o", out)
    with Served(sweepd, tmp_path, *options, prefix=prefix) as served:
        with served.peer() as peer:
            requests(peer)
        child = int(pathlib.Path(f"/proc/{served.pid}/task/{served.pid}/children").read_text().split()[0])
        os.kill(child, signal.SIGTERM)
        assert served.process.wait(PATIENCE) == 0
    counts = {}
    for line in out.read_text().splitlines():
        fields = line.split()
        if len(fields) >= 5 and fields[3].isdigit() and fields[-1] != "total":
            counts[fields[-1]] = int(fields[3])
    return counts


@needs_strace
def test_a_call_costs_the_server_three_system_calls(sweepd, tmp_path):
    calls = 500

    def ask(peer):
        for _ in range(calls):
            echo(peer)
    once = count_calls(sweepd, tmp_path, echo, "--spin", 0)
    many = count_calls(sweepd, tmp_path, ask, "--spin", 0)
    more = sum(many.values()) - sum(once.values())
    assert more <= 3 * (calls - 1) + 5, many
    for name in ("epoll_wait", "recvmsg", "sendmsg"):
        assert many[name] >= calls


@needs_strace
def test_a_small_sweep_costs_the_server_three_system_calls(sweepd, tmp_path):
    calls, close, params = 200, study_close(500), lengths_params([6, 9])

    def ask(peer, count=calls):
        for _ in range(count):
            peer.v1_sweep(close, params)
    once = count_calls(sweepd, tmp_path, lambda peer: ask(peer, 1), "--spin", 0)
    many = count_calls(sweepd, tmp_path, ask, "--spin", 0)
    frequent = {name: n for name, n in many.items() if n >= calls // 2}
    assert sum(many.values()) - sum(once.values()) <= 3 * (calls - 1) + 30, frequent
