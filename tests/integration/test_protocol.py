"""The specification and what is made from it agree: tables, vectors, the decoder written from the text, the v1 client."""
import json
import pathlib
import socket
import struct
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROTOCOL = ROOT / "protocol"
sys.path[:0] = [str(PROTOCOL), str(ROOT / "examples" / "clients")]

import decoder  # noqa: E402
import v1_client  # noqa: E402

CASES = [case for path in sorted((PROTOCOL / "vectors").glob("*/*.json")) for case in json.loads(path.read_text("utf-8"))]


def run(*command):
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_tables_of_the_document_are_those_of_messages_json():
    run("tools/gen_messages.py", "protocol/messages.json", "check", "protocol/protocol.md")


def test_vectors_are_those_the_generator_writes():
    run("tools/gen_vectors.py", "protocol/messages.json", "protocol/vectors", "--check")


def test_decoder_written_from_the_specification_uses_the_standard_library_only():
    source = (PROTOCOL / "decoder.py").read_text("utf-8")
    imports = {line.split()[1] for line in source.splitlines() if line.startswith(("import ", "from "))}
    assert imports <= set(sys.stdlib_module_names)


@pytest.mark.parametrize("kind", ["valid", "invalid"])
def test_decoder_written_from_the_specification_passes_every_vector(kind):
    cases = [case for case in CASES if ("fields" in case) == (kind == "valid")]
    assert len(cases) > 80
    assert [wrong for wrong in map(decoder.check, cases) if wrong] == []


@pytest.mark.parametrize("case", [c for c in CASES if c["direction"] == "request" and "fields" in c], ids=lambda c: c["name"])
def test_decoder_refuses_a_frame_with_one_byte_more_or_takes_it_as_data(case):
    frame = decoder.frame_of(case)
    longer = struct.pack("<I", len(frame) - 3) + frame[4:] + b"\0"
    try:
        decoder.decode(longer, case["direction"], case["version"], case["max_body"])
    except decoder.Refused as refused:
        assert refused.at == len(frame) or case["name"].endswith("255-bytes")
    else:
        assert case["fields"]["opcode"] in (decoder.ECHO, decoder.RESTORE, decoder.NAME, decoder.OPEN)


def test_exceptions_and_constants_for_python_compile_and_agree(tmp_path):
    spec = json.loads((PROTOCOL / "messages.json").read_text("utf-8"))
    made = {}
    for form in ("python", "constants"):
        run("tools/gen_messages.py", "protocol/messages.json", form, tmp_path / "made.py")
        exec((tmp_path / "made.py").read_text("utf-8"), made)
    for message in spec["messages"]:
        assert made["OP_" + message["name"]] == message["opcode"]
    assert made["BY_STATUS"][made["STALE"]].__name__ == "Stale"


def test_v1_client_sends_the_specified_bytes_and_reads_the_reply():
    case = next(c for c in CASES if c["name"] == "v1-sweep" and "fields" in c)
    expected = decoder.frame_of(case)
    ours, theirs = socket.socketpair()
    received = []

    def serve():
        with theirs, theirs.makefile("rwb") as stream:
            received.append(stream.read(len(expected)))
            for byte in struct.pack("<Idq", 16, -1.25, 7):
                theirs.sendall(bytes([byte]))

    server = threading.Thread(target=serve)
    server.start()
    with ours, ours.makefile("rwb") as stream:
        assert v1_client.sweep(stream, [1.5, 2.5], [(3, 6, 2, 1, 2, 3)]) == [(-1.25, 7)]
    server.join()
    assert received == [expected]
