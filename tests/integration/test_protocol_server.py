"""The server answers what the vectors say: it is held to the same list as the codec and the decoder."""
import json
import pathlib
import socket
import struct
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "protocol"), str(ROOT / "examples" / "clients")]

import decoder  # noqa: E402
import v1_client  # noqa: E402
from support.served import Peer, Served  # noqa: E402

SPEC = json.loads((ROOT / "protocol" / "messages.json").read_text("utf-8"))
SIZES = {"u16": 2, "b16": 16, "u32": 4, "z32": 4}
MESSAGES = [{**m, "size": sum(SIZES.get(kind, 8) for kind, _, _ in SPEC["structs"].get(m["request"], []))}
            for m in SPEC["messages"]]


def vectors(name):
    return json.loads((ROOT / "protocol" / "vectors" / f"{name}.json").read_text("utf-8"))


DEFAULT_MAX_BODY = next(x["value"] for x in SPEC["limits"] if x["name"] == "BODY_DEFAULT")
VALID = vectors("valid/request")
REFUSED = [case for case in vectors("invalid/request") if case["max_body"] == DEFAULT_MAX_BODY]
V1_REFUSED = [case for case in vectors("invalid/v1") if case["max_body"] == DEFAULT_MAX_BODY]
PING = bytes.fromhex("0c000000 11000000 63000000 61626364")  # ECHO of 4 bytes


@pytest.fixture(scope="module", params=["unix", "tcp"])
def address(request, sweepd, tmp_path_factory):
    with Served(sweepd, tmp_path_factory.mktemp("server"), listen=(request.param,)) as served:
        yield served.url(request.param)


def connect(address):
    return Peer.connect(address).sock


def read_reply(stream):
    """(status, id, at) of the next reply, which is an error; None at the end of the stream."""
    length = stream.read(4)
    if not length:
        return None
    body = stream.read(*struct.unpack("<I", length))
    _, status, _, number, at = struct.unpack_from("<BBHIQ", body)
    return status, number, None if at == 2**64 - 1 else at


@pytest.fixture(scope="module")
def served(address):
    """Opcodes that are not answered with UNKNOWN when asked with a valid frame."""
    found = {}
    for case in VALID:
        with connect(address) as s, s.makefile("rb") as stream:
            s.sendall(PING + decoder.frame_of(case))
            stream.read(len(PING))
            length, = struct.unpack("<I", stream.read(4))
            body = stream.read(length)
            unknown = body[1] == decoder.UNKNOWN and struct.unpack_from("<Q", body, 8) == (4,)
            found.setdefault(case["fields"]["opcode"], not unknown)
    return {opcode for opcode, is_served in found.items() if is_served}


# Known over every door; UNKNOWN in the end where the door has no memory to share.
SHM_OPEN = next(m["opcode"] for m in MESSAGES if m["name"] == "SHM_OPEN")


def expected_answer(case, frame, served):
    """Steps 1..3 of the specification come before a message that is not served is UNKNOWN."""
    size = next((m["size"] for m in MESSAGES if m["opcode"] == frame[4]), 0)
    early = case["at"] is None or case["at"] <= 6 or len(frame) < 12 + size or frame[4] == SHM_OPEN
    return (case["status"], case["at"]) if early or frame[4] in served else (decoder.UNKNOWN, 4)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_server_refuses_an_invalid_frame_as_its_vector_says_and_goes_on(address, served, case):
    frame = decoder.frame_of(case)
    status, at = expected_answer(case, frame, served)
    bad_length = at == 0 or status == decoder.LIMIT
    no_common_version = frame[4] == decoder.HELLO and status == decoder.UNKNOWN
    with connect(address) as s, s.makefile("rb") as stream:
        s.sendall(PING)  # so that an odd opcode is not the first
        assert stream.read(len(PING))[12:] == PING[12:]
        s.sendall(frame)
        assert read_reply(stream) == (status, 0 if bad_length else struct.unpack_from("<I", frame, 8)[0], at)
        if bad_length or no_common_version:
            assert stream.read(1) == b""
        else:
            s.sendall(PING)
            assert stream.read(len(PING))[12:] == PING[12:]


def test_server_serves_every_message_that_is_not_a_draft(address, served):
    assert served == {m["opcode"] for m in MESSAGES if m["built"]} - ({SHM_OPEN} if address.startswith("tcp:") else set())


@pytest.mark.parametrize("case", V1_REFUSED, ids=lambda case: case["name"])
def test_server_closes_a_version_1_connection_on_an_invalid_frame(address, case):
    with connect(address) as s:
        s.sendall(decoder.frame_of(case))
        s.shutdown(socket.SHUT_WR)
        assert s.recv(1) == b""


def test_v1_client_gets_the_numbers_of_the_published_study(address):
    numpy = pytest.importorskip("numpy")
    z = numpy.random.default_rng(42).standard_normal(150000)
    close = (100 * numpy.exp(numpy.cumsum(0.0008 * z))).tolist()
    with connect(address) as s, s.makefile("rwb") as stream:
        (pnl, trades), = v1_client.sweep(stream, close, [(3, 6, 2, 1, 2, 3)])
    assert trades == 57029
    assert round(pnl, 2) == -5165.58
