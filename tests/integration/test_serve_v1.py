"""Version 1 over every door: the study's two calls, byte for byte, and what happens to what is not one."""
import struct

import numpy as np
import pytest

from support.served import Ended, Peer, Served, lengths_params, study_close, study_params, v1_frame, v1_results

DOORS = ("unix", "tcp", "stdio")


class Door:
    """A server and a way to connect to it."""

    def __init__(self, name, sweepd, tmp_path):
        self.name, self.sweepd = name, sweepd
        self.served = None if name == "stdio" else Served(sweepd, tmp_path, listen=(name,)).__enter__()

    def peer(self):
        return Peer.spawn(self.sweepd) if self.served is None else self.served.peer(self.name)

    def close(self):
        if self.served is not None:
            self.served.__exit__(None, None, None)


@pytest.fixture(params=DOORS)
def door(request, sweepd, tmp_path):
    opened = Door(request.param, sweepd, tmp_path)
    yield opened
    opened.close()


def test_fingerprint(door):
    with door.peer() as peer:
        pnl, trades = peer.v1_sweep(study_close(), study_params())
    assert trades[0] == 57_029 and trades.sum() == 485_310
    assert round(pnl[0], 2) == -5165.58 and round(pnl.sum(), 2) == -42341.01


def test_a_client_of_fifteen_lines(door):
    """As protocol.md shows it."""
    close, params = study_close(1000), lengths_params([6])
    with door.peer() as peer:
        body = struct.pack("<BII", 0, len(close), 1) + close.tobytes() + params.tobytes()
        peer.send(struct.pack("<I", len(body)) + body)
        size, = struct.unpack("<I", peer.recv(4))
        pnl, trades = struct.unpack("<dq", peer.recv(size))
    assert size == 16 and trades > 100 and pnl < 0


def test_echo_gives_the_closes_back(door):
    close = np.array([1.5, -0.0, np.nan, np.inf, 5e-324])
    with door.peer() as peer:
        for array in (close, close[:1], close[:0], np.random.default_rng(1).standard_normal(100_000)):
            peer.send(v1_frame(1, array, []))
            assert peer.body() == array.astype("<f8").tobytes()


def test_echo_ignores_parameters_but_takes_them(door):
    with door.peer() as peer:
        peer.send(v1_frame(1, [1.0, 2.0], [[1, 1, 1, 1, 1, 1]]))
        assert peer.body() == struct.pack("<dd", 1, 2)


def test_any_close_and_any_length_is_let_in(door):
    close = np.array([1.0, np.nan, -3.0, 0.0, np.inf, 2.0] * 4)
    params = [[1, 2, 1, 1, 1, 1], [2**40] * 6, [2**63 - 1] * 6]
    with door.peer() as peer:
        pnl, trades = peer.v1_sweep(close, params)
        assert trades[0] > 0 and list(trades[1:]) == [0, 0] and list(pnl[1:]) == [0, 0]


def test_no_bars_gives_zero_pairs_and_no_combos_an_empty_reply(door):
    with door.peer() as peer:
        pnl, trades = peer.v1_sweep([], study_params(3))
        assert pnl.tobytes() == bytes(24) and trades.tobytes() == bytes(24)
        peer.send(v1_frame(0, study_close(100), []))
        assert peer.body() == b""
        peer.send(v1_frame(0, [], []))
        assert peer.body() == b""


def test_replies_come_in_order_however_many_are_sent_ahead(door):
    close = study_close(3000)
    params = [lengths_params([6 + i]) for i in range(50)]
    with door.peer() as peer:
        peer.send(b"".join(v1_frame(0, close[:3000 - i], p) + v1_frame(1, [float(i)], [])
                           for i, p in enumerate(params)))
        for i, p in enumerate(params):
            got = v1_results(peer.body(), 1)
            assert peer.body() == struct.pack("<d", i)
            with door.peer() as other:
                assert [a.tobytes() for a in other.v1_sweep(close[:3000 - i], p)] == [a.tobytes() for a in got]


@pytest.mark.parametrize("size", [1, 3, 4, 5, 12, 13, 17])
def test_bytes_may_come_in_pieces(door, size):
    data = v1_frame(0, study_close(50), lengths_params([6, 7])) * 2
    with door.peer() as peer:
        for at in range(0, len(data), size):
            peer.send(data[at:at + size])
        assert len(peer.body()) == 32
        assert len(peer.body()) == 32


BAD = {
    "unknown opcode": struct.pack("<IBII", 9, 2, 0, 0),
    "an opcode of neither version": struct.pack("<IB", 9, 0xF0),
    "too short for its header": struct.pack("<IB", 8, 0) + bytes(7),
    "empty": bytes(4),
    "longer than its counts": struct.pack("<IBII", 10, 0, 0, 0) + b"x",
    "shorter than its counts": struct.pack("<IBII", 9, 0, 1, 0),
    "counts that wrap 32 bits": struct.pack("<IBII", 9, 0, 0x20000000, 0),
    "parameter 0": v1_frame(0, [1.0, 2.0], [[1, 1, 1, 0, 1, 1]]),
    "parameter -1": v1_frame(0, [1.0, 2.0], [[1, 1, 1, 1, 1, -1]]),
    "above the frame limit": struct.pack("<IB", 2**30 + 1, 0),
}


@pytest.mark.parametrize("what", BAD)
def test_a_malformed_frame_closes_the_connection_and_the_log_says_why(door, what):
    with door.peer() as peer:
        peer.send(BAD[what])
        assert peer.is_closed()
        if door.name == "stdio":
            assert peer.process.wait(10) == 1
            assert b"closed: " in peer.process.stderr.read()
    if door.name != "stdio":
        door.served.wait_for("closed: ")
        with door.peer() as peer:  # nobody else is disturbed
            peer.send(v1_frame(1, [7.0], []))
            assert peer.body() == struct.pack("<d", 7)


def test_frames_before_a_malformed_one_are_answered(door):
    with door.peer() as peer:
        peer.send(v1_frame(0, study_close(1000), lengths_params([6])) + BAD["parameter 0"])
        assert len(peer.body()) == 16
        assert peer.is_closed()


def test_the_end_of_the_stream_still_gets_its_answers(door):
    with door.peer() as peer:
        peer.send(v1_frame(0, study_close(), study_params(8)))
        peer.end()
        assert len(peer.body()) == 128
        assert peer.is_closed()
        if door.name == "stdio":
            assert peer.process.wait(10) == 0


def test_the_end_inside_a_frame_is_a_failure(door):
    with door.peer() as peer:
        peer.send(v1_frame(0, study_close(100), study_params(8))[:-1])
        peer.end()
        with pytest.raises(Ended):
            peer.body()
        if door.name == "stdio":
            assert peer.process.wait(10) == 1
            assert b"ended inside a frame" in peer.process.stderr.read()
