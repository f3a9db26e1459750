"""The clients of examples/clients, each in its own language, against one engine: the same bits as in this process, over
every door; errors by name and place; and engines that answer wrongly, late or never."""
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

from support.served import HELLO, Served, frame

CLIENTS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "clients"
LENGTHS = [6, 7, 9, 10, 13, 200, 199, 64, 3, 1, 2, 4, 5, 8] + list(range(11, 64))
PATIENCE = 120  # seconds one client may take: compilers and virtual machines start slowly on a loaded machine

PROGRAM = pathlib.Path(os.environ.get("SWEEPD", CLIENTS.parents[1] / "build" / "sweepd")).resolve()

# language: (what must be installed, how it is built into `{out}`, how it is run)
LANGUAGES = {
    "node": (["node"], None, ["node", CLIENTS / "node" / "sweepd_client.mjs"]),
    "go": (["go"], ["go", "build", "-o", "{out}/client", CLIENTS / "go" / "sweepd_client.go"], ["{out}/client"]),
    "rust": (["rustc", "sha256sum"],
             ["rustc", "--edition", "2021", "-D", "warnings", "-o", "{out}/client", CLIENTS / "rust" / "sweepd_client.rs"],
             ["{out}/client"]),
    "java": (["java", "javac"], ["javac", "-Xlint:all", "-Werror", "-d", "{out}", CLIENTS / "java" / "SweepdClient.java"],
             ["java", "-XX:TieredStopAtLevel=1", "-cp", "{out}", "SweepdClient"]),
    # Over libsweepd, which checks what it can before anything is sent and connects again: built beside the program.
    "c": (["sha256sum"], None, [PROGRAM.parent / "tests" / "c_client"]),
    "python": ([], None, [sys.executable, CLIENTS / "python" / "sweepd_client.py"]),
}
OVER_THE_LIBRARY = ("c", "python")  # a damaged answer, a lost connection: src/client/client_test.c
EXCEPTIONS = {"BadParam": "BAD_PARAM", "LimitExceeded": "LIMIT", "Denied": "DENIED", "Busy": "BUSY", "ConnectionRefused": "REFUSED",
              "ConnectionClosed": "CLOSED", "TimedOut": "TIMED_OUT"}


@pytest.fixture(scope="module", params=LANGUAGES)
def client(request, tmp_path_factory):
    """Runs the client of one language: client(url, file, lengths, fingerprint) -> the finished process."""
    needs, build, run = LANGUAGES[request.param]
    missing = [program for program in needs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"{request.param}: {' and '.join(missing)} not installed: this language is not tested")
    out = tmp_path_factory.mktemp(request.param)
    # Go keeps a cache below HOME, and asks the network for nothing.
    environment = {**os.environ, "GOCACHE": str(out / "cache"), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOPROXY": "off"}

    def fill(words):
        return [str(word).format(out=out) for word in words]

    if build:
        subprocess.run(fill(build), check=True, env=environment, timeout=600)

    def run_client(url, file, lengths=LENGTHS, fingerprint=None, **variables):
        words = fill(run) + [url, str(file), ",".join(map(str, lengths))] + ([fingerprint] if fingerprint else [])
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, env={**environment, **variables})
        if request.param == "python" and done.returncode == 1:  # Python says an exception's name
            name = re.match(r"\w*", done.stderr).group()
            done.stderr = EXCEPTIONS.get(name, name) + done.stderr.removeprefix(name)
        return done

    return run_client


@pytest.fixture
def plain_client(request, client):
    """Those that are a file of their own and speak the protocol themselves."""
    if request.node.callspec.params["client"] in OVER_THE_LIBRARY:
        pytest.skip("the library's own tests have this")
    return client


@pytest.fixture(scope="module")
def closes(tmp_path_factory):
    """A file of closes with ties, flat stretches and both signs of change."""
    z = np.random.default_rng(7).standard_normal(20_000)
    close = np.round(100 * np.exp(np.cumsum(0.002 * z)), 1)
    path = tmp_path_factory.mktemp("closes") / "closes.f64"
    close.astype("<f8").tofile(path)
    return path


@pytest.fixture(scope="module")
def in_process(sweepd, closes):
    """(sha256 of pnl and trades, the printed rows) of a sweep without any boundary."""
    words = [sweepd, "sweep", closes, "--length", ",".join(map(str, LENGTHS)), "--format", "json"]
    combos = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["combos"]
    columns = struct.pack(f"<{len(combos)}d", *(c["pnl"] for c in combos)) + struct.pack(
        f"<{len(combos)}q", *(c["trades"] for c in combos))
    rows = [f"{length} {c['pnl']:.2f} {c['trades']}" for length, c in zip(LENGTHS, combos)]
    assert len(combos) == len(LENGTHS) and combos[0]["trades"] > 1000
    return hashlib.sha256(columns).hexdigest(), rows[:3]


@pytest.fixture(scope="module")
def engine(sweepd, tmp_path_factory):
    with Served(sweepd, tmp_path_factory.mktemp("engine"), listen=("unix", "tcp")) as served:
        yield served


def read(done):
    """(sha256, rows, fingerprint, found or loaded)"""
    assert done.returncode == 0, done.stderr
    first, second, *rows = done.stdout.splitlines()
    _, fingerprint, bars, how = second.split(" ")
    assert bars == "20000"
    return first.removeprefix("sha256 "), rows, fingerprint, how


def assert_fails(done, status, at=None):
    assert done.returncode == 1, done.stdout + done.stderr
    place, _, text = done.stderr.partition(": ")
    assert place == (status if at is None else f"{status} at {at}"), done.stderr
    assert text.strip(), done.stderr
    assert done.stdout == ""


def written(path, close):
    np.asarray(close, "<f8").tofile(path)
    return path


# ---- The same bits ----


@pytest.mark.parametrize("door", ["unix", "tcp"])
def test_a_client_gets_the_bits_of_a_sweep_in_process(client, engine, closes, in_process, door):
    sha256, rows, _, how = read(client(engine.url(door), closes))
    assert (sha256, rows) == in_process
    assert how in ("loaded", "found")


def test_a_series_is_found_by_its_fingerprint_and_else_loaded(client, engine, closes, in_process):
    _, _, fingerprint, how = read(client(engine.url("unix"), closes, fingerprint="00112233445566778899aabbccddeeff"))
    assert how == "loaded"
    sha256, rows, again, how = read(client(engine.url("unix"), closes, fingerprint=fingerprint))
    assert (again, how, (sha256, rows)) == (fingerprint, "found", in_process)
    # Over tcp without a token each connection is a user of its own: what others loaded is not found.
    sha256, rows, again, how = read(client(engine.url("tcp"), closes, fingerprint=fingerprint))
    assert (again, how, (sha256, rows)) == (fingerprint, "loaded", in_process)


def test_frames_may_come_and_go_one_byte_at_a_time(client, engine, tmp_path, in_process):
    z = np.random.default_rng(3).standard_normal(50)
    file = written(tmp_path / "small.f64", 100 * np.exp(np.cumsum(0.01 * z)))
    with relay(tmp_path / "r", engine.path) as url:
        slow = client(url, file, [6, 7])
    straight = client(engine.url("unix"), file, [6, 7])
    assert slow.returncode == 0, slow.stderr
    assert slow.stdout.splitlines()[0] == straight.stdout.splitlines()[0]


# ---- What the engine refuses ----


def test_a_refused_close_is_named_by_its_index(client, engine, tmp_path):
    for index, close in ((7, float("nan")), (0, -1.0), (9, float("inf"))):
        series = [100.0 + i for i in range(10)]
        series[index] = close
        assert_fails(client(engine.url("unix"), written(tmp_path / "bad.f64", series)), "BAD_PARAM", index)


def test_a_refused_parameter_is_named_by_its_index(plain_client, engine, closes):
    assert_fails(plain_client(engine.url("tcp"), closes, [6, 8, 0]), "BAD_PARAM", 2 * 6 + 1)  # `full` of row 2


def test_an_empty_series_is_refused_at_its_field(plain_client, engine, tmp_path):
    assert_fails(plain_client(engine.url("unix"), written(tmp_path / "empty.f64", [])), "BAD_PARAM", 12)


def test_half_a_double_is_not_dropped(client, engine, tmp_path):
    (tmp_path / "torn.f64").write_bytes(bytes(20))
    done = client(engine.url("unix"), tmp_path / "torn.f64")
    assert done.returncode == 1 and done.stderr and not done.stdout


def test_limits_and_tokens_are_told_by_name(client, sweepd, closes, in_process, tmp_path):
    token = tmp_path / "token"
    token.write_text("open sesame\n")
    token.chmod(0o600)
    with Served(sweepd, tmp_path, "--token-file", token, "--max-combos", "20", listen=("tcp",)) as served:
        url = served.url("tcp")
        assert_fails(client(url, closes), "DENIED")
        assert_fails(client(url, closes, SWEEPD_TOKEN="open sesame!"), "DENIED")
        assert_fails(client(url, closes, SWEEPD_TOKEN="open sesame"), "LIMIT")
        assert read(client(url, closes, LENGTHS[:20], SWEEPD_TOKEN="open sesame"))[1] == in_process[1]


def test_a_request_beyond_the_engines_frame_is_not_sent(plain_client, sweepd, closes, tmp_path):
    with Served(sweepd, tmp_path, "--max-frame", "4KiB") as served:
        assert_fails(plain_client(served.url("unix"), closes), "LIMIT")


def test_nobody_listens(client, closes, tmp_path):
    assert_fails(client(f"unix:{tmp_path}/nobody", closes), "REFUSED")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert_fails(client(f"tcp:127.0.0.1:{port}", closes), "REFUSED")


def test_an_address_that_is_none_is_refused(plain_client, closes):
    assert_fails(plain_client("udp:127.0.0.1:7117", closes), "BAD_PARAM")


# ---- Engines that misbehave ----


@contextlib.contextmanager
def listening(path, serve):
    """Runs serve(connection) for one connection on a Unix socket; gives its URL."""
    with socket.socket(socket.AF_UNIX) as acceptor:
        acceptor.bind(str(path))
        acceptor.listen(1)

        def accept():
            with contextlib.suppress(OSError, EOFError), acceptor.accept()[0] as connection:
                serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        yield f"unix:{path}"
        with contextlib.suppress(OSError):
            acceptor.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)
        assert not thread.is_alive()


def relay(path, target):
    """Passes bytes one at a time, both ways."""
    def pump(source, sink):
        with contextlib.suppress(OSError):
            while byte := source.recv(1):
                sink.sendall(byte)
            sink.shutdown(socket.SHUT_WR)

    def serve(connection):
        with socket.socket(socket.AF_UNIX) as engine:
            engine.connect(target)
            back = threading.Thread(target=pump, args=(engine, connection))
            back.start()
            pump(connection, engine)
            back.join()

    return listening(path, serve)


def request(stream):
    """(opcode, id) of the next request."""
    length = stream.read(4)
    if len(length) < 4:
        raise EOFError
    body = stream.read(*struct.unpack("<I", length))
    return body[0], struct.unpack_from("<I", body, 4)[0]


def reply(opcode, number, payload, status=0):
    return frame(opcode | 0x80, payload, number, status)


def error_reply(opcode, number, status, at, text):
    return reply(opcode, number, struct.pack("<QQQ", at, 0, 0) + text, status)


def greeted(path, answer, closes):
    """An engine that answers HELLO, and the next request with answer(opcode, id); then closes, or waits for the end."""
    def serve(connection):
        with connection.makefile("rb") as stream:
            opcode, number = request(stream)
            assert opcode == HELLO
            hello = struct.pack("<HHIQQQII16s", 2, 0, 0, 1 << 30, 1 << 30, 1 << 40, 1, 64, bytes(16)) + b"0.1.0"
            connection.sendall(reply(HELLO, number, hello))
            connection.sendall(answer(*request(stream)))
            if not closes:
                request(stream)

    return listening(path, serve)


NONE = 2**64 - 1
SERIES = struct.pack("<Q16sQQQdd", 1, bytes(16), 3, 20_000, 0, 1.0, 2.0)
WRONG_ANSWERS = {
    "none_and_closes": (lambda opcode, number: b"", "CLOSED"),
    "half_a_frame_and_closes": (lambda opcode, number: reply(opcode, number, SERIES)[:40], "CLOSED"),
    "too_short": (lambda opcode, number: reply(opcode, number, SERIES[:-1]), "CLOSED"),
    "too_long": (lambda opcode, number: reply(opcode, number, SERIES + b"\0"), "CLOSED"),
    "of_no_request": (lambda opcode, number: reply(opcode, number + 1, SERIES), "CLOSED"),
    "of_another_opcode": (lambda opcode, number: reply(opcode + 1, number, SERIES), "CLOSED"),
    "more_unasked": (lambda opcode, number: reply(opcode, number, SERIES, status=1), "CLOSED"),
    "error_too_short": (lambda opcode, number: reply(opcode, number, bytes(23), status=4), "CLOSED"),
    "body_of_no_bytes": (lambda opcode, number: bytes(4), "CLOSED"),
    "of_a_status_to_come": (lambda opcode, number: error_reply(opcode, number, 55, 9, b"new"), "status 55 at 9"),
    "of_the_connection": (lambda opcode, number: error_reply(0, 0, 6, NONE, "zu groß".encode()), "LIMIT"),
    "none": (lambda opcode, number: b"", "TIMED_OUT"),
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_a_wrong_answer_is_never_taken_for_a_result(plain_client, closes, tmp_path, name):
    answer, outcome = WRONG_ANSWERS[name]
    status, _, at = outcome.partition(" at ")
    variables = {"SWEEPD_TIMEOUT_MS": "1000"} if status == "TIMED_OUT" else {}
    with greeted(tmp_path / "e", answer, name.endswith("closes")) as url:
        assert_fails(plain_client(url, closes, **variables), status, at or None)


def test_busy_is_told_unasked(client, closes, tmp_path):
    def serve(connection):
        connection.sendall(error_reply(0, 0, 13, NONE, b"1 connection at most"))
        connection.shutdown(socket.SHUT_WR)
        connection.recv(1000)

    with listening(tmp_path / "e", serve) as url:
        assert_fails(client(url, closes), "BUSY")
