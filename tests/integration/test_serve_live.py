"""Live sessions in raw bytes: limits at the bound and one past it, order within a session, and what drains and ends."""
import struct

import numpy as np
import pytest

from support.served import BAD_PARAM, LIMIT, NOT_FOUND, OK, Served, lengths_params, study_close

LIVE_OPEN, LIVE_PUSH, LIVE_CLOSE = 0x18, 0x19, 0x1a
NONE = 2**64 - 1


@pytest.fixture
def served(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--max-sessions", 3, "--max-live-memory", "256KiB") as server:
        yield server


def opening(params, handle=0, policy=0):
    rows = np.asarray(params, "<i8").reshape(-1, 6)
    return struct.pack("<IIQII", 1, len(rows), handle, policy, 0) + rows.tobytes()


def pushing(session, close, expected=NONE):
    return struct.pack("<IIIIQ", session, len(close), 1, 0, expected) + np.asarray(close, "<f8").tobytes()


def session_of(reply):
    assert reply.status == OK, reply
    return struct.unpack_from("<I", reply.payload)[0]


ONE = lengths_params([20])


def test_sessions_at_the_bound_and_one_past_it(served):
    with served.peer() as peer:
        sessions = [session_of(peer.call(LIVE_OPEN, opening(ONE))) for _ in range(3)]
        assert peer.call(LIVE_OPEN, opening(ONE)).status == LIMIT
        with served.peer() as other:  # a connection has its own
            session_of(other.call(LIVE_OPEN, opening(ONE)))
            assert other.call(LIVE_PUSH, pushing(sessions[2], [1.0])).status == NOT_FOUND
        assert peer.call(LIVE_CLOSE, struct.pack("<II", sessions[0], 0)).status == OK
        session_of(peer.call(LIVE_OPEN, opening(ONE)))


def test_memory_is_limited_and_comes_back(served):
    wide = np.array([[2**31 - 1, 20, 4, 3, 5, 10]])
    with served.peer() as peer:
        assert peer.call(LIVE_OPEN, opening(wide)).status == LIMIT
        session_of(peer.call(LIVE_OPEN, opening(ONE)))
        assert peer.call(LIVE_OPEN, opening(np.array([[0, 1, 1, 1, 1, 1]]))).status == BAD_PARAM


def test_requests_of_a_session_run_in_order_and_others_beside_a_long_one(served):
    close = study_close(20_000)
    with served.peer() as peer:
        long = session_of(peer.call(LIVE_OPEN, opening(lengths_params(range(6, 60)))))
        short = session_of(peer.call(LIVE_OPEN, opening(ONE)))
        peer.request(LIVE_PUSH, pushing(long, close), id=11)
        peer.request(LIVE_PUSH, pushing(long, close[:1], len(close)), id=12)
        peer.request(LIVE_CLOSE, struct.pack("<II", long, 0), id=13)
        peer.request(LIVE_PUSH, pushing(long, close[:1]), id=14)
        peer.request(LIVE_PUSH, pushing(short, close[:1]), id=15)
        replies = [peer.reply() for _ in range(5)]
        assert [r.id for r in replies] == [15, 11, 12, 13, 14]
        assert [r.status for r in replies] == [OK, OK, OK, OK, NOT_FOUND]
        seen = [struct.unpack_from("<q", r.payload)[0] for r in replies[:4]]
        assert seen == [1, len(close), len(close) + 1, len(close) + 1]


def test_a_connection_that_goes_in_the_middle_of_a_push_takes_its_session_along(served):
    close = study_close(20_000)
    for _ in range(10):
        with served.peer() as peer:
            long = session_of(peer.call(LIVE_OPEN, opening(lengths_params(range(6, 60)))))
            peer.request(LIVE_PUSH, pushing(long, close), id=2)
            peer.request(LIVE_PUSH, pushing(long, close[:5]), id=3)
    with served.peer() as peer:  # the memory is there again
        session_of(peer.call(LIVE_OPEN, opening(lengths_params(range(6, 60)))))
