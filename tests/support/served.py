"""A server of its own for a test, and peers that speak to it in raw bytes: nothing of sweepd's client code is used."""
import os
import re
import select
import socket
import struct
import subprocess
import time

import numpy as np

OK, MORE, BAD_FRAME, UNKNOWN, BAD_PARAM, NOT_FOUND, LIMIT, CANCELLED, DENIED = range(9)
SHUTTING_DOWN, BUSY = 10, 13
HELLO, ECHO, LOAD, FIND, DROP, SWEEP, TRADES, CANCEL = range(0x10, 0x18)
STATS, SHM_OPEN, LOAD_FD, STRATEGIES = 0x1B, 0x1C, 0x1D, 0x1E
LOAD_BEGIN, LOAD_PART, LOAD_COMMIT, NAME, OPEN, LIST, HASH = range(0x21, 0x28)
PATIENCE = 60  # seconds a test waits for what must come


class Served:
    """`sweepd serve` in a process; `log()` is what it said. Used as a context it must stop in time, with exit code 0.
    """

    def __init__(self, program, tmp_path, *options, listen=("unix",), env=None, prefix=(), **popen):
        self.tmp_path = tmp_path
        self.path = str(tmp_path / "s")
        self.listens = [f"unix:{self.path}" if door == "unix" else "tcp:127.0.0.1:0" if door == "tcp" else door
                        for door in listen]
        self.log_path = tmp_path / "log"
        words = [str(word) for word in (*prefix, program, "serve")]
        for url in self.listens:
            words += ["--listen", url]
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(words + [str(o) for o in options], stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=log, env=env, **popen)
        self.pid = self.process.pid

    def log(self):
        return self.log_path.read_text()

    def wait_for(self, pattern, count=1):
        """Waits until the log has `count` matches; returns the last one."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = list(re.finditer(pattern, self.log()))
            if len(found) >= count:
                return found[count - 1]
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode}: {self.log()}")
            time.sleep(0.01)
        raise AssertionError(f"no {pattern!r} in: {self.log()}")

    def ready(self):
        self.wait_for("listening on", len(self.listens))
        self.urls = re.findall(r'listening on ([^\s"]+)', self.log())
        return self

    def url(self, door):
        return next(u for u in self.urls if u.startswith(door + ":"))

    def peer(self, door="unix"):
        return Peer.connect(self.url(door))

    def stop(self, signal="TERM"):
        if self.process.poll() is None:
            self.process.send_signal(getattr(__import__("signal"), "SIG" + signal))
        return self.process.wait(PATIENCE)

    def __enter__(self):
        try:
            return self.ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def __exit__(self, kind, *_):
        if kind is not None:
            self.process.kill()
            self.process.wait()
            return
        assert self.stop() == 0, self.log()

    # what the system says of the process

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def status(self, field):
        with open(f"/proc/{self.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(field + ":"))

    def threads(self):
        return self.status("Threads")

    def rss_kib(self):
        return self.status("VmRSS")

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Ended(Exception):
    """The stream ended; .args[0] is what came of the bytes asked for."""


class Peer:
    """The client's end of a stream: a socket, or the pipes of a process."""

    def __init__(self, sock=None, process=None):
        self.sock = sock
        self.process = process

    @classmethod
    def connect(cls, url):
        if url.startswith("unix:"):
            sock = socket.socket(socket.AF_UNIX)
            sock.settimeout(PATIENCE)
            try:
                sock.connect(url[5:])
            except OSError:
                sock.close()
                raise
        else:
            host, port = url[4:].rsplit(":", 1)
            sock = socket.create_connection((host.strip("[]"), int(port)), PATIENCE)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(sock)

    @classmethod
    def spawn(cls, program, *options):
        words = [program, "serve", "--listen", "stdio:", *map(str, options)]
        return cls(process=subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, bufsize=0))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.sock is not None:
            self.sock.close()
        elif self.process is not None:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait(PATIENCE)
            self.process.stderr.close()

    def send(self, data):
        if self.sock is not None:
            self.sock.sendall(data)
            return
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view):]

    def end(self):
        if self.sock is not None:
            self.sock.shutdown(socket.SHUT_WR)
        else:
            self.process.stdin.close()

    def recv_some(self, size):
        if self.sock is not None:
            try:
                return self.sock.recv(size)
            except ConnectionResetError:
                return b""
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            raise TimeoutError
        return self.process.stdout.read(size)

    def recv(self, size):
        data = bytearray()
        while len(data) < size:
            more = self.recv_some(min(size - len(data), 1 << 20))
            if not more:
                raise Ended(bytes(data))
            data += more
        return bytes(data)

    def body(self):
        size, = struct.unpack("<I", self.recv(4))
        return self.recv(size)

    def is_closed(self):
        """Waits for the end; nothing may come before it."""
        try:
            self.recv(1)
        except Ended as ended:
            return ended.args[0] == b""
        return False

    # version 1

    def v1_sweep(self, close, params):
        self.send(v1_frame(0, close, params))
        return v1_results(self.body(), len(params))

    # version 2

    def request(self, opcode, payload=b"", id=1, flags=0):
        self.send(frame(opcode, payload, id, flags))

    def reply(self):
        return Reply(self.body())

    def call(self, opcode, payload=b"", id=1, flags=0):
        self.request(opcode, payload, id, flags)
        reply = self.reply()
        assert (reply.opcode, reply.id) == (opcode, id), reply
        return reply

    def load(self, close, policy=0, id=1):
        reply = self.call(LOAD, load_payload(close, policy), id)
        assert reply.status == OK, reply
        return struct.unpack_from("<Q", reply.payload)[0]


class Reply:
    def __init__(self, body):
        self.opcode, self.status, zero, self.id = struct.unpack_from("<BBHI", body)
        assert zero == 0 and self.opcode & 0x80
        self.opcode &= 0x7F
        self.payload = body[8:]
        if self.status not in (OK, MORE):
            self.at, self.a, self.b = struct.unpack_from("<QQQ", self.payload)
            self.text = self.payload[24:].decode()

    def __repr__(self):
        text = getattr(self, "text", f"{len(self.payload)} bytes")
        return f"<opcode {self.opcode:#x} status {self.status} id {self.id}: {text}>"


def frame(opcode, payload=b"", id=1, flags=0):
    return struct.pack("<IBBHI", 8 + len(payload), opcode, flags, 0, id) + payload


def v1_frame(opcode, close, params):
    close = np.asarray(close, "<f8")
    params = np.asarray(params, "<i8").reshape(-1, 6)
    body = struct.pack("<BII", opcode, len(close), len(params)) + close.tobytes() + params.tobytes()
    return struct.pack("<I", len(body)) + body


def v1_results(body, combos):
    assert len(body) == 16 * combos
    return np.frombuffer(body, "<f8", combos), np.frombuffer(body, "<i8", combos, 8 * combos)


def load_payload(close, policy=0):
    close = np.asarray(close, "<f8")
    return struct.pack("<QII", len(close), 1, policy) + close.tobytes()


def sweep_payload(handle, params, columns=3, windows=(), fee=None):
    params = np.asarray(params, "<i8").reshape(-1, 6)
    exec_ = b"" if fee is None else struct.pack("<d", fee)
    head = struct.pack("<QIIQQII", handle, 1, 0, len(params), columns, len(windows), len(exec_))
    return head + exec_ + b"".join(struct.pack("<QQQ", *w) for w in windows) + params.tobytes()


def study_close(bars=150_000):
    z = np.random.default_rng(42).standard_normal(bars)
    return 100 * np.exp(np.cumsum(0.0008 * z))


def lengths_params(lengths):
    def combo(length):
        half, smooth = max(1, round(length / 2)), max(1, round(length ** 0.5))
        return [half, length, smooth, max(1, round(half / 3)), max(1, round(half / 2)), half]
    return np.array([combo(int(length)) for length in lengths], "<i8")


def study_params(count=80):
    return lengths_params(np.round(np.linspace(6, 200, count)))
