"""protocol/vectors/calls.json: calls that are refused, with status and place, which are the same whichever door they come by:
this process, sockets, a process of our own, JSON over HTTP, and the protocol's frames."""
import json
import struct

import pytest

from conftest import ROOT
from support.served import BAD_PARAM, LOAD, NOT_FOUND, OK, OPEN, PATIENCE, SWEEP, Served, load_payload
from support.served_http import JSON, Door

package = pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")

CASES = json.loads((ROOT / "protocol" / "vectors" / "calls.json").read_text("utf-8"))
NAMES = {status["number"]: status["name"] for status in json.loads((ROOT / "protocol" / "messages.json").read_text())["statuses"]}
CODES = {"BAD_PARAM": 400, "NOT_FOUND": 404}
POLICY = {"nan": 1, "inf": 2, "nonpositive": 4}
WORKING = {"close": [100, 101.5, 99.25, 100.75, 102, 101], "params": [[1, 2, 1, 1, 1, 1], [2, 3, 2, 1, 1, 2]]}


def numbers(values):
    """JSON's words for what is not finite, as numbers."""
    if isinstance(values, list):
        return [numbers(value) for value in values]
    return float(values.replace("Infinity", "inf")) if isinstance(values, str) else values


@pytest.fixture(scope="module")
def service(sweepd, tmp_path_factory):
    with Served(sweepd, tmp_path_factory.mktemp("engine"), listen=("unix", "tcp")) as served:
        yield served


# ---- doors: each answers a call with (status, at), or None when it is not refused ----


def by_python(engine):
    def ask(call):
        options = dict(call)
        try:
            name, close, allow = options.pop("series", None), options.pop("close", None), options.pop("allow", ())
            if "fee" in options:
                options["fee"] = numbers(options["fee"])
            if name is None:
                engine.sweep(numbers(close), allow=allow, **options)
            else:
                engine.sweep(engine.open(name), **options)
        except package.SweepdError as error:
            return NAMES[error.status], error.at
        return None
    return ask


def by_http(door):
    def ask(call):
        code, _, answer = door.ask("POST", "/v1/sweep", json.dumps(call), JSON)
        if code == 200:
            return None
        error = json.loads(answer)["error"]
        assert code == CODES[error["status"]]
        return error["status"], error["at"]
    return ask


def by_frames(service):
    """Of what a frame can say at all."""
    def refusal(reply):
        return NAMES[reply.status], None if reply.at == 2**64 - 1 else reply.at

    def ask(call):
        with service.peer() as peer:
            if "series" in call:
                reply = peer.call(OPEN, call["series"].encode())
            else:
                policy = sum(POLICY[name] for name in call.get("allow", []))
                reply = peer.call(LOAD, load_payload(numbers(call["close"]), policy))
            if reply.status == OK:
                windows = call.get("windows", [])
                head = struct.pack("<QIIQQII", *struct.unpack_from("<Q", reply.payload), 1, 0, len(call["params"]), 3, len(windows), 8)
                tail = struct.pack("<d", numbers(call.get("fee", 0.09))) + b"".join(struct.pack("<3Q", *w) for w in windows)
                reply = peer.call(SWEEP, head + tail + b"".join(struct.pack("<6q", *row) for row in call["params"]))
            return None if reply.status == OK else refusal(reply)
    return ask


def fits_frames(call):
    """Lengths and names of options are the clients' words; numbers beyond 64 bits fit no frame; and what a frame has none of is
    a fault of its own, with a byte for its place (vectors/invalid)."""
    if {"length", "entry", "kernel", "threads"} & set(call) or "all" in call.get("allow", []):
        return False
    empty = call.get("close") == [] or call["params"] == [] or not 0 < len(call.get("series", "x")) < 256
    bars = [bar for window in call.get("windows", []) for bar in window]
    return not empty and max(map(max, call["params"])) < 2**63 and all(0 <= bar < 2**64 for bar in bars)


DOORS = ["inproc", "unix", "tcp", "spawn", "http", "frames"]
ASKED = [(door, case) for door in DOORS for case in CASES if door != "frames" or fits_frames(case["call"])]


@pytest.fixture(scope="module")
def ask(request, sweepd, service, tmp_path_factory):
    if request.param == "frames":
        yield by_frames(service)
    elif request.param == "http":
        program = request.getfixturevalue("sweepd_http")
        with Door(program, service.url("unix"), tmp_path_factory.mktemp("http") / "log") as door:
            yield by_http(door)
    else:
        url = {"inproc": "inproc:", "spawn": f"spawn:{sweepd}"}.get(request.param) or service.url(request.param)
        with package.connect(url, timeout=PATIENCE) as engine:
            yield by_python(engine)


@pytest.mark.parametrize(("ask", "case"), ASKED, indirect=["ask"], ids=lambda value: value if isinstance(value, str) else value["name"])
def test_every_door_refuses_with_the_status_and_place_of_the_vector(ask, case):
    assert ask(case["call"]) == (case["status"], case["at"])


@pytest.mark.parametrize("ask", DOORS, indirect=True)
def test_every_door_goes_on_after_what_it_refused(ask):
    assert ask(WORKING) is None


def test_the_vectors_say_all_that_a_caller_can_get_wrong():
    assert {case["status"] for case in CASES} == {NAMES[BAD_PARAM], NAMES[NOT_FOUND]} == set(CODES)
    assert len({case["name"] for case in CASES}) == len(CASES)
    said = set().union(*(case["call"] for case in CASES))
    assert said == {"close", "series", "params", "length", "windows", "fee", "entry", "kernel", "threads", "allow"}
