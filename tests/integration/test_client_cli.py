"""The command line as a client: the same output whatever the door, and a word for everything that goes wrong there."""
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))

import served  # noqa: E402

DOORS = ["unix", "tcp", "shm", "spawn", "inproc"]


def run(sweepd, *words, **options):
    return subprocess.run([sweepd, *map(str, words)], capture_output=True, timeout=120, **options)


def text_of(sweepd, *words):
    done = run(sweepd, *words)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture
def bars(tmp_path):
    path = tmp_path / "bars.npy"
    np.save(path, served.study_close(5000))
    return path


@pytest.fixture
def long_bars(tmp_path):
    """A sweep of --length 2:3000 over these takes minutes with the strict kernel."""
    path = tmp_path / "long.npy"
    np.save(path, served.study_close(400_000))
    return path


LONG = ["--length", "2:3000", "--kernel", "strict-checked"]


@pytest.fixture
def service(sweepd, tmp_path):
    with served.Served(sweepd, tmp_path, listen=("unix", "tcp")) as service:
        yield service


def url_of(service, door):
    if door == "shm":
        return f"shm:{service.path}"
    return f"{door}:" if door in ("spawn", "inproc") else service.url(door)


# ---- the same bytes ----

@pytest.mark.parametrize("door", DOORS)
def test_a_sweep_prints_the_same_bytes_on_every_door(sweepd, service, bars, door):
    for words in (["--format", "json"], ["--format", "csv", "--kernel", "strict"],
                  ["--format", "csv", "--length", "4:40:4", "--length3", "3:30:9", "--entry", "cross", "--fee", "-0.5"]):
        here = text_of(sweepd, "sweep", bars, *words)
        assert text_of(sweepd, "sweep", bars, "--engine", url_of(service, door), *words) == here


KERNELS = ("auto", "strict", "strict-checked", "exact", "certified")


def hash_of(pnl, trades):
    return hashlib.sha256(np.asarray(pnl, "<f8").tobytes() + np.asarray(trades, "<i8").tobytes()).hexdigest()


def hashes_of_peers(sweepd, tmp_path, close, params, options):
    """In raw bytes, without sweepd's client: version 1, then version 2, on each door that moves bytes."""
    hashes = {}
    with served.Served(sweepd, tmp_path, *options, listen=("unix", "tcp")) as service:
        for door in ("unix", "tcp", "stdio"):
            def peer():
                return served.Peer.spawn(sweepd, *options) if door == "stdio" else service.peer(door)
            with peer() as v1, peer() as v2:
                hashes["version 1", door] = hash_of(*v1.v1_sweep(close, params))
                reply = v2.call(served.SWEEP, served.sweep_payload(v2.load(close), params))
                assert reply.status == served.OK, reply
                hashes["version 2", door] = hash_of(*served.v1_results(reply.payload, len(params)))
    return hashes


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_every_door_version_kernel_and_thread_count_gives_the_same_hash_as_in_process(sweepd, tmp_path, threads):
    close, params = served.study_close(20_000), served.study_params(20)
    path = tmp_path / "bars.npy"
    np.save(path, close)

    def command(kernel, *engine):
        out = json.loads(text_of(sweepd, "sweep", path, "--length", "6:200/20", "--kernel", kernel, "--threads", threads,
                                 "--format", "json", *engine))
        return hash_of([combo["pnl"] for combo in out["combos"]], [combo["trades"] for combo in out["combos"]])

    in_process = command("strict")
    hashes = {}
    with served.Served(sweepd, tmp_path, "--threads", threads, listen=("unix", "tcp")) as service:
        for kernel in KERNELS:
            hashes["in-process", kernel] = command(kernel)
            for door in DOORS:
                hashes["command", door, kernel] = command(kernel, "--engine", url_of(service, door))
    for kernel in KERNELS:
        options = ["--threads", threads, "--kernel", kernel]
        for (version, door), sha in hashes_of_peers(sweepd, tmp_path, close, params, options).items():
            hashes[version, door, kernel] = sha
    assert len(hashes) == len(KERNELS) * (1 + len(DOORS) + 2 * 3)
    assert set(hashes.values()) == {in_process}, hashes


def test_bars_are_sent_once_and_found_after(sweepd, service, bars):
    for _ in range(3):
        text_of(sweepd, "sweep", bars, "--format", "csv", "--engine", service.url("unix"))
    stats = text_of(sweepd, "stats", service.url("unix")).decode()
    assert re.search(r"^sweepd_series_loaded_total 1$", stats, re.M)
    assert re.search(r"^sweepd_series_found_total 2$", stats, re.M)
    held = json.loads(text_of(sweepd, "list", service.url("unix")))
    assert [series["bars"] for series in held] == [5000]


def test_closes_are_refused_with_the_same_words(sweepd, service, tmp_path):
    path = tmp_path / "nan.npy"
    np.save(path, np.array([1.0, 2.0, np.nan, 4.0] * 100))
    here = run(sweepd, "sweep", path, "--length", "2:4")
    there = run(sweepd, "sweep", path, "--length", "2:4", "--engine", service.url("unix"))
    assert (here.returncode, here.stdout, here.stderr) == (there.returncode, there.stdout, there.stderr)
    allowed = ["--length", "2:4", "--allow", "nan", "--format", "csv"]
    assert text_of(sweepd, "sweep", path, *allowed) == text_of(sweepd, "sweep", path, *allowed, "--engine", service.url("unix"))


# ---- ping, stats, list ----

@pytest.mark.parametrize("door", DOORS)
def test_ping_tells_percentiles(sweepd, service, door):
    told = json.loads(text_of(sweepd, "ping", url_of(service, door), "--count", 50, "--bytes", 100_000, "--format", "json"))
    assert (told["count"], told["bytes"]) == (50, 100_000)
    trip = told["round_trip_us"]
    assert 0 < trip["min"] <= trip["p50"] <= trip["p90"] <= trip["p99"] <= trip["p99.9"] <= trip["max"]
    assert trip["min"] <= trip["mean"] <= trip["max"]
    table = text_of(sweepd, "ping", url_of(service, door), "--count", 3).decode()
    assert "3 round trips of 8 bytes" in table


@pytest.mark.parametrize("door", ["unix", "tcp", "spawn"])
def test_a_small_call_costs_the_client_two_system_calls(sweepd, service, tmp_path, door):
    if run("strace", "-V").returncode != 0:
        pytest.skip("no strace here")

    def calls(count):
        log = tmp_path / f"strace.{count}"
        words = ["strace", "-c", "-o", log, sweepd, "ping", url_of(service, door), "--count", count, "--spin", 0]
        done = subprocess.run(list(map(str, words)), capture_output=True, timeout=120)
        if done.returncode != 0:
            pytest.skip(f"strace cannot trace here: {done.stderr.decode()[:200]}")
        rows = (line.split() for line in log.read_text().splitlines()[2:])
        return {row[-1]: int(row[3]) for row in rows if len(row) >= 5 and row[3].isdigit() and row[-1] != "total"}

    few, many = calls(100), calls(1100)
    more = {name: many[name] - few.get(name, 0) for name in many if many[name] != few.get(name, 0)}
    assert more.pop("sendmsg") == 1000
    assert more.pop("recvmsg") == 1000
    assert sum(more.values()) < 20, more  # memory for the times, printing


def test_a_reader_that_goes_away_ends_the_program_quietly(sweepd, service):
    done = subprocess.run(["sh", "-c", f"'{sweepd}' stats '{service.url('unix')}' | head -1; exit 0"],
                          capture_output=True, timeout=60)
    assert done.stdout.startswith(b"# HELP")
    assert done.stderr == b""
    text_of(sweepd, "ping", service.url("unix"), "--count", 1)


# ---- what goes wrong ----

def test_refused_timed_out_and_closed_are_told_apart(sweepd, service, tmp_path, long_bars):
    """B42"""
    refused = run(sweepd, "ping", f"unix:{tmp_path}/nobody")
    assert refused.returncode == 1 and b"nobody listens" in refused.stderr
    os.kill(service.pid, signal.SIGSTOP)
    try:
        begun = time.monotonic()
        stopped = run(sweepd, "ping", service.url("unix"), "--timeout", "0.3")
        assert 0.25 < time.monotonic() - begun < 20
    finally:
        os.kill(service.pid, signal.SIGCONT)
    assert stopped.returncode == 1 and b"time-out" in stopped.stderr
    words = [sweepd, "sweep", str(long_bars), "--engine", service.url("unix"), *LONG]
    client = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until_sweeping(sweepd, service)
    os.kill(service.pid, signal.SIGKILL)
    out, error = client.communicate(timeout=60)
    service.process.wait()
    assert client.returncode == 1 and out == b"" and b"the connection ended" in error
    service.stop = lambda *_: 0  # it is dead as intended


def wait_until_sweeping(sweepd, service):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if b"\nsweepd_sweeps_in_progress 1\n" in text_of(sweepd, "stats", service.url("unix")):
            return
        time.sleep(0.05)
    raise AssertionError("no sweep begins")


def test_a_server_stopped_in_mid_sweep_is_given_up_in_time(sweepd, service, long_bars):
    """B42"""
    words = [sweepd, "sweep", str(long_bars), "--engine", service.url("unix"), "--timeout", "3", *LONG]
    client = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until_sweeping(sweepd, service)
    os.kill(service.pid, signal.SIGSTOP)
    try:
        out, error = client.communicate(timeout=60)
    finally:
        os.kill(service.pid, signal.SIGCONT)
    assert client.returncode == 1 and out == b"" and b"time-out" in error


def test_ctrl_c_prints_what_the_server_has_finished(sweepd, service, long_bars):
    words = [sweepd, "sweep", str(long_bars), "--engine", service.url("unix"), "--format", "json", *LONG]
    client = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until_sweeping(sweepd, service)
    time.sleep(0.5)
    client.send_signal(signal.SIGINT)
    out, error = client.communicate(timeout=60)
    assert client.returncode == 130, error
    assert json.loads(out)["partial"] is True
    assert b"interrupted" in error
    end = time.monotonic() + 60
    while b"\nsweepd_sweeps_in_progress 0\n" not in text_of(sweepd, "stats", service.url("unix")):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_token_is_brought_and_a_wrong_one_is_denied(sweepd, tmp_path, bars):
    for name, token in (("right", "s3cret"), ("wrong", "secret")):
        (tmp_path / name).write_text(token + "\n")
        (tmp_path / name).chmod(0o600)
    with served.Served(sweepd, tmp_path, "--token-file", tmp_path / "right") as service:
        url = service.url("unix")
        text_of(sweepd, "sweep", bars, "--engine", url, "--token-file", tmp_path / "right")
        text_of(sweepd, "ping", url, "--token-file", tmp_path / "right", "--count", 1)
        for words in (["ping", url], ["ping", url, "--token-file", tmp_path / "wrong"],
                      ["sweep", bars, "--engine", url]):
            done = run(sweepd, *words)
            assert done.returncode == 1 and done.stdout == b"" and b"token" in done.stderr


def test_a_hundred_clients_that_ask_and_leave_do_the_daemon_no_harm(sweepd, service, long_bars):
    for i in range(100):
        client = subprocess.Popen([sweepd, "sweep", str(long_bars), "--engine", service.url("unix"), *LONG],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.002 * (i % 10))
        client.kill()
        client.wait()
    text_of(sweepd, "ping", service.url("unix"), "--count", 1)


def test_options_of_an_engine_elsewhere_are_refused_without_one(sweepd, bars):
    done = run(sweepd, "sweep", bars, "--timeout", 3)
    assert done.returncode == 2 and b"--engine" in done.stderr
