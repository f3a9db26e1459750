"""An HTTP door of its own for a test: `sweepd-http` in a process, in front of an engine."""
import contextlib
import http.client
import json
import re
import signal
import socket
import subprocess
import time

from support.served import PATIENCE

JSON = {"Content-Type": "application/json"}


class Door:
    """`sweepd-http` in a process, in front of an engine."""

    def __init__(self, program, engine_url, log_path, *options):
        words = [program, "--engine", engine_url, "--listen", "tcp:localhost:0", *map(str, options)]
        self.log_path = log_path
        with open(log_path, "wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=log)
        self.port = int(self.wait_for(r"listening on tcp:127\.0\.0\.1:(\d+)").group(1))

    def log(self):
        return self.log_path.read_text()

    def wait_for(self, pattern):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if found := re.search(pattern, self.log()):
                return found
            assert self.process.poll() is None, self.log()
            time.sleep(0.01)
        raise AssertionError(f"no {pattern!r} in: {self.log()}")

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL if kind else signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        assert kind or code == 0, self.log()

    def ask(self, method, path, body=None, headers=None):
        """(HTTP status, headers, body)"""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path, body, headers or {})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()

    def post(self, request, **headers):
        """(HTTP status, what the JSON of the answer says). A request that is no text is written as JSON."""
        body = request if isinstance(request, (bytes, str)) else json.dumps(request)
        status, _, answer = self.ask("POST", "/v1/sweep", body, {**JSON, **headers})
        return status, json.loads(answer)

    def swept(self, request):
        status, answer = self.post(request)
        assert status == 200, answer
        return answer

    def refused(self, request, **headers):
        """(HTTP status, status, at)"""
        code, answer = self.post(request, **headers)
        return (code, *error_of(answer))

    def raw(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def metric(self, name):
        page = self.ask("GET", "/metrics")[2].decode()
        return float(re.search(rf"^{name} (\S+)$", page, re.M).group(1))

    def wait_until(self, name, condition):
        end = time.monotonic() + PATIENCE
        while not condition(self.metric(name)):
            assert time.monotonic() < end, f"{name} is {self.metric(name)}"
            time.sleep(0.05)


def error_of(answer):
    assert set(answer) == {"error"} and set(answer["error"]) == {"status", "at", "message"}
    assert answer["error"]["message"]
    return answer["error"]["status"], answer["error"]["at"]
