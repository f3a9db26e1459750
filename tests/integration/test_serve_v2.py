"""Version 2 in raw bytes: series, sweeps, pipelining, cancelling, limits, and every refusal by status and place."""
import json
import os
import struct
import time

import numpy as np
import pytest

from support.ring_peer import RingPeer
from support.served import (BAD_FRAME, BAD_PARAM, CANCEL, CANCELLED, DROP, ECHO, FIND, HASH, HELLO, LIMIT, LIST, LOAD,
                            LOAD_BEGIN, LOAD_COMMIT, LOAD_FD, LOAD_PART, MORE, NAME, NOT_FOUND, OK, OPEN, PATIENCE,
                            SHM_OPEN, SHUTTING_DOWN, STATS, STRATEGIES, SWEEP, UNKNOWN, Peer, Served, frame,
                            lengths_params,
                            load_payload, study_close, study_params, sweep_payload)

NONE = 2**64 - 1


@pytest.fixture
def served(sweepd, tmp_path):
    with Served(sweepd, tmp_path) as server:
        yield server


@pytest.fixture(params=["unix", "tcp", "stdio", "shm"])
def peer(request, sweepd, tmp_path):
    if request.param == "stdio":
        with Peer.spawn(sweepd) as spawned:
            yield spawned
    elif request.param == "shm":
        with Served(sweepd, tmp_path) as server, RingPeer.connect(server.url("unix")) as connected:
            yield connected
    else:
        with Served(sweepd, tmp_path, listen=(request.param,)) as server, server.peer(request.param) as connected:
            yield connected


def series(reply):
    assert reply.status == OK, reply
    assert len(reply.payload) == 64
    names = ("handle", "low", "high", "known", "n_bars", "n_nan", "first", "last")
    return dict(zip(names, struct.unpack("<QQQQQQdd", reply.payload)))


def columns(reply, rows, *kinds):
    assert reply.status == OK, reply
    return [np.frombuffer(reply.payload, kind, rows, i * rows * 8) for i, kind in enumerate(kinds)]


def v1_answer(peer_of, close, params):
    with peer_of() as peer:
        return peer.v1_sweep(close, params)


# ---- HELLO, ECHO, STRATEGIES ----


def test_hello_states_what_the_server_takes(peer):
    reply = peer.call(HELLO, struct.pack("<HHII", 2, 0, 0, 4) + b"test")
    assert reply.status == OK
    major, minor, features, max_body, max_memory, max_combos, threads, in_flight = struct.unpack_from("<HHIQQQII",
                                                                                                      reply.payload)
    assert (major, minor, max_body, max_memory, in_flight) == (2, 0, 1 << 30, 4 << 30, 64)
    assert threads >= 1 and max_combos == 1 << 40
    assert reply.payload[56:].decode().count(".") == 2  # a version
    again = peer.call(HELLO, struct.pack("<HHII", 2, 0, 0, 0), id=2)
    assert again.status == BAD_FRAME


def test_hello_of_a_later_major_gets_ours_and_of_an_earlier_one_is_unknown(served):
    with served.peer() as peer:
        assert struct.unpack_from("<HH", peer.call(HELLO, struct.pack("<HHII", 3, 7, 0, 0)).payload) == (2, 0)
    with served.peer() as peer:
        assert peer.call(HELLO, struct.pack("<HHII", 1, 0, 0, 0)).status == UNKNOWN
        assert peer.is_closed()


def test_echo_of_any_size(peer):
    for size in (0, 1, 7, 4096, 16384, 16385, 1 << 20):
        data = os.urandom(size)
        assert peer.call(ECHO, data).payload == data


def test_strategies_are_json(peer):
    strategy, = json.loads(peer.call(STRATEGIES).payload)
    assert (strategy["id"], strategy["name"], strategy["columns"]) == (1, "hma-cross", ["close"])
    assert [p["name"] for p in strategy["parameters"]] == ["half", "full", "smooth", "third", "mid", "p"]
    assert all(p["min"] == 1 and p["max"] == 2**31 - 1 for p in strategy["parameters"])


# ---- series ----


def test_load_find_and_sweep_give_the_fingerprint(peer):
    close, params = study_close(), study_params()
    loaded = series(peer.call(LOAD, load_payload(close)))
    assert (loaded["n_bars"], loaded["n_nan"], loaded["known"]) == (150_000, 0, 3)
    assert (loaded["first"], loaded["last"]) == (close[0], close[-1])
    found = series(peer.call(FIND, struct.pack("<QQQII", loaded["low"], loaded["high"], len(close), 1, 0)))
    assert found == loaded
    pnl, trades = columns(peer.call(SWEEP, sweep_payload(loaded["handle"], params)), 80, "<f8", "<i8")
    assert trades[0] == 57_029 and trades.sum() == 485_310
    assert round(pnl[0], 2) == -5165.58


def test_the_same_content_is_held_once_and_seen_by_the_same_user_only(served):
    payload = load_payload(study_close(1000))
    with served.peer() as a, served.peer() as b:
        one, two = series(a.call(LOAD, payload)), series(b.call(LOAD, payload))
        assert one == two
    with served.peer() as later:  # it stays in the cache
        assert series(later.call(FIND, struct.pack("<QQQII", one["low"], one["high"], 1000, 1, 0))) == one


def test_over_tcp_each_connection_is_on_its_own(sweepd, tmp_path):
    payload = load_payload(study_close(1000))
    with Served(sweepd, tmp_path, listen=("tcp", "unix")) as served:
        with served.peer("tcp") as a, served.peer("tcp") as b, served.peer("unix") as c:
            one = series(a.call(LOAD, payload))
            find = struct.pack("<QQQII", one["low"], one["high"], 1000, 1, 0)
            assert b.call(FIND, find).status == NOT_FOUND
            assert c.call(FIND, find).status == NOT_FOUND
            assert b.call(SWEEP, sweep_payload(one["handle"], study_params(2))).status == NOT_FOUND


def test_with_a_token_whoever_brings_it_sees_the_same(sweepd, tmp_path):
    token = tmp_path / "token"
    token.write_text("x")
    token.chmod(0o600)
    payload = load_payload(study_close(1000))
    with Served(sweepd, tmp_path, "--token-file", token, listen=("tcp", "unix")) as served:
        with served.peer("tcp") as a, served.peer("unix") as b:
            for peer in (a, b):
                assert peer.call(HELLO, struct.pack("<HHII", 2, 0, 1, 0) + b"x").status == OK
            assert series(a.call(LOAD, payload)) == series(b.call(LOAD, payload))


def test_all_columns_travel(peer):
    close = study_close(100)
    time_ns = np.arange(100, dtype="<i8") * 60_000_000_000
    floats = [close, close - 1, close + 1, close - 2, np.full(100, 5.0)]
    payload = struct.pack("<QII", 100, 63, 0) + b"".join(a.tobytes() for a in floats) + time_ns.tobytes()
    assert series(peer.call(LOAD, payload))["n_bars"] == 100
    time_ns[50] = time_ns[49]
    payload = struct.pack("<QII", 100, 63, 0) + b"".join(a.tobytes() for a in floats) + time_ns.tobytes()
    reply = peer.call(LOAD, payload)
    assert (reply.status, reply.at) == (BAD_PARAM, 50)


@pytest.mark.parametrize("value, policy", [(np.nan, 1), (np.inf, 2), (-np.inf, 2), (0.0, 4), (-1.0, 4)])
def test_the_input_policy_names_the_first_bar(peer, value, policy):
    close = study_close(1000)
    close[[700, 900]] = value
    reply = peer.call(LOAD, load_payload(close))
    assert (reply.status, reply.at) == (BAD_PARAM, 700)
    assert peer.call(LOAD, load_payload(close, policy), 2).status == OK


def test_names_open_drop_and_list(served):
    with served.peer() as a, served.peer() as b:
        handle = a.load(study_close(500))
        assert a.call(NAME, struct.pack("<Q", handle) + "sp\u00e4t".encode()).status == OK
        opened = series(b.call(OPEN, "sp\u00e4t".encode()))
        assert opened["handle"] == handle
        entry, = json.loads(b.call(LIST).payload)
        assert (entry["name"], entry["bars"], entry["bytes"]) == ("sp\u00e4t", 500, 4000)
        assert b.call(DROP, struct.pack("<Q", handle)).status == OK
        assert b.call(DROP, struct.pack("<Q", handle)).status == NOT_FOUND
        assert b.call(SWEEP, sweep_payload(handle, study_params(1))).status == NOT_FOUND
        assert a.call(SWEEP, sweep_payload(handle, study_params(1))).status == OK
        other = a.load(study_close(501))
        assert a.call(NAME, struct.pack("<Q", other) + "sp\u00e4t".encode()).status == BAD_PARAM
        for bad in (b"", b"x" * 256, b"a\nb", b"\xff"):
            assert a.call(NAME, struct.pack("<Q", other) + bad).status in (BAD_FRAME, BAD_PARAM)
        assert b.call(OPEN, b"none").status == NOT_FOUND
        assert series(a.call(HASH, struct.pack("<Q", other)))["n_bars"] == 501


def test_an_upload_in_parts_in_any_order_is_the_same_series(peer):
    close = study_close(1000)
    whole = series(peer.call(LOAD, load_payload(close)))
    upload, = struct.unpack("<Q", peer.call(LOAD_BEGIN, struct.pack("<QII", 1000, 1, 0)).payload)

    def part(first, n):
        return peer.call(LOAD_PART, struct.pack("<QIIQQ", upload, 1, 0, first, n) + close[first:first + n].tobytes())
    assert part(600, 400).status == OK
    assert part(0, 599).status == OK
    missing = peer.call(LOAD_COMMIT, struct.pack("<Q", upload))
    assert (missing.status, missing.at) == (BAD_PARAM, 599)
    assert part(500, 300).status == OK  # again is no error
    beyond = peer.call(LOAD_PART, struct.pack("<QIIQQ", upload, 1, 0, 999, 2) + bytes(16))
    assert beyond.status == BAD_PARAM
    assert series(peer.call(LOAD_COMMIT, struct.pack("<Q", upload))) == whole
    assert peer.call(LOAD_COMMIT, struct.pack("<Q", upload)).status == NOT_FOUND


def test_what_does_not_fit_max_memory_is_refused_and_its_body_skipped(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--max-memory", "1MiB") as served, served.peer() as peer:
        reply = peer.call(LOAD, load_payload(np.ones(200_000)))
        assert (reply.status, reply.a) == (LIMIT, 1 << 20)
        assert reply.b >= 1_600_000
        assert peer.call(ECHO, b"still here").status == OK
        assert peer.call(LOAD, load_payload(np.ones(1000))).status == OK


def test_a_load_cut_short_leaves_nothing(served):
    with served.peer() as peer:
        peer.send(frame(LOAD, load_payload(np.ones(100_000)))[:400_000])
    with served.peer() as peer:
        wait_until(lambda: metrics(peer)["sweepd_connections"] == 1)
        assert metrics(peer)["sweepd_series_bytes"] == 0


def metrics(peer):
    text = peer.call(STATS, id=999).payload.decode()
    return {k: float(v) for k, v in (line.split() for line in text.splitlines() if not line.startswith("#"))}


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


# ---- sweeps ----


def test_every_result_column(peer):
    close, params = study_close(5000), study_params(6)
    handle = peer.load(close)
    kinds = ("<f8", "<i8", "<i8", "<i8", "<i8", "<f8", "<f8", "<f8")
    pnl, trades, first, side, entry_bar, entry, last, open_pnl = columns(
        peer.call(SWEEP, sweep_payload(handle, params, 255)), 6, *kinds)
    assert [a.tobytes() for a in peer_v1(peer, close, params)] == [pnl.tobytes(), trades.tobytes()]
    assert (first == np.maximum(np.maximum(params[:, 0], params[:, 1]) + params[:, 2],
                                params[:, 3:].max(axis=1) + params[:, 5]) - 2).all()
    assert set(side) <= {-1, 1} and (last == close[-1]).all()
    assert (entry == close[entry_bar]).all()
    assert open_pnl == pytest.approx(side * (last - entry) / entry * 100)
    only = columns(peer.call(SWEEP, sweep_payload(handle, params, 128 + 2)), 6, "<i8", "<f8")
    assert [a.tobytes() for a in only] == [trades.tobytes(), open_pnl.tobytes()]


def peer_v1(peer, close, params):
    """The same numbers by version 1, from a process of its own."""
    words = ["--threads", "1"]
    program = peer.process.args[0] if peer.process else os.environ.get("SWEEPD", "build/sweepd")
    with Peer.spawn(program, *words) as other:
        return other.v1_sweep(close, params)


def test_windows_fee_and_exec_options(peer):
    close, params = study_close(4000), study_params(3)
    handle = peer.load(close)
    whole, = columns(peer.call(SWEEP, sweep_payload(handle, params, 2)), 3, "<i8")
    windows = [(0, 0, 4000), (0, 1000, 2000), (1000, 1000, 2000)]
    trades = columns(peer.call(SWEEP, sweep_payload(handle, params, 2, windows)), 9, "<i8")[0].reshape(3, 3)
    assert (trades[0] == whole).all() and (trades[1] >= trades[2]).all() and (trades[1] < whole).all()
    free, = columns(peer.call(SWEEP, sweep_payload(handle, params, 1, fee=0.0)), 3, "<f8")
    paid, = columns(peer.call(SWEEP, sweep_payload(handle, params, 1, fee=0.5)), 3, "<f8")
    assert free - paid == pytest.approx(0.5 * whole)
    bad = peer.call(SWEEP, sweep_payload(handle, params, 1, fee=101.0))
    assert bad.status == BAD_PARAM and "fee" in bad.text
    for window in [(5, 4, 10), (0, 5, 5), (0, 0, 4001)]:
        reply = peer.call(SWEEP, sweep_payload(handle, params, 1, [(0, 0, 10), window]))
        assert (reply.status, reply.at) == (BAD_PARAM, 1), window
    params[1][4] = 0
    reply = peer.call(SWEEP, sweep_payload(handle, params, 1))
    assert (reply.status, reply.at) == (BAD_PARAM, 6 + 4)


def axes_payload(handle, axes, columns=3, combos=None):
    count = int(np.prod([len(a) for a in axes])) if combos is None else combos
    lists = b"".join(struct.pack("<Q", len(a)) + np.asarray(a, "<i8").tobytes() for a in axes)
    return struct.pack("<QIIQQII", handle, 1, 1, count, columns, 0, 0) + lists


def test_axes_are_expanded_the_last_one_fastest(peer):
    close = study_close(2000)
    handle = peer.load(close)
    axes = [[3, 4], [6, 8, 10], [2], [1, 2], [2], [3, 5]]
    rows = np.array(np.meshgrid(*axes, indexing="ij")).reshape(6, -1).T
    expected = peer.call(SWEEP, sweep_payload(handle, rows))
    assert peer.call(SWEEP, axes_payload(handle, axes)).payload == expected.payload
    assert peer.call(SWEEP, axes_payload(handle, axes, combos=25)).status in (BAD_PARAM, BAD_FRAME)


def test_a_grid_too_large_for_a_frame_is_refused_with_the_number(served):
    """B37: 65536 x 65536 combos."""
    with served.peer() as peer:
        handle = peer.load(study_close(100))
        lists = [np.arange(1, 65537), np.arange(1, 65537), [1], [1], [1], [1]]
        reply = peer.call(SWEEP, axes_payload(handle, lists))
        assert (reply.status, reply.a, reply.b) == (LIMIT, 1 << 30, 2**32 * 16)
        assert "in blocks" in reply.text


# ---- blocks, progress, cancel ----


def collect(peer, id=1):
    """All frames of a request up to the final one."""
    more = []
    while True:
        reply = peer.reply()
        assert reply.id == id
        if reply.status != MORE:
            return more, reply
        more.append((*struct.unpack_from("<QQQ", reply.payload), reply.payload[24:]))


def test_blocks_bring_each_combo_once_and_the_same_bits(peer):
    handle = peer.load(study_close(300))
    axes = [np.arange(2, 52), np.arange(2, 52), [3], [1, 2], [2], np.arange(3, 18)]
    count = 50 * 50 * 2 * 15
    whole = columns(peer.call(SWEEP, axes_payload(handle, axes)), count, "<f8", "<i8")
    peer.request(SWEEP, axes_payload(handle, axes), flags=2)
    more, final = collect(peer)
    assert (final.status, final.payload) == (OK, b"")
    assert len(more) > 1
    pnl, trades, seen = np.full(count, np.nan), np.zeros(count, "<i8"), np.zeros(count, int)
    for kind, first, n, data in more:
        assert kind == 1 and len(data) == 16 * n
        pnl[first:first + n] = np.frombuffer(data, "<f8", n)
        trades[first:first + n] = np.frombuffer(data, "<i8", n, 8 * n)
        seen[first:first + n] += 1
    assert (seen == 1).all()
    assert [pnl.tobytes(), trades.tobytes()] == [a.tobytes() for a in whole]


def test_progress_rises_to_the_total(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--kernel", "strict") as served, served.peer() as peer:
        handle = peer.load(study_close(50_000))
        peer.request(SWEEP, sweep_payload(handle, study_params(40)), flags=1)
        more, final = collect(peer)
        assert final.status == OK
        done = [d for kind, d, total, _ in more if (kind, total) == (0, 40)]
        assert len(done) == len(more) >= 1
        assert done == sorted(done) and done[-1] == 40


def long_sweep(peer, handle, id=1, flags=0):
    peer.request(SWEEP, sweep_payload(handle, study_params(8).repeat(5000, axis=0)), id, flags)


def test_cancel_ends_a_sweep_and_is_answered_after_it(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--kernel", "strict") as served, served.peer() as peer:
        handle = peer.load(study_close())
        long_sweep(peer, handle, 7)
        peer.request(CANCEL, struct.pack("<II", 7, 0), 8)
        peer.request(CANCEL, struct.pack("<II", 7, 0), 9)
        first = peer.reply()
        assert (first.id, first.status) == (7, CANCELLED)
        assert {(r.id, r.status) for r in (peer.reply(), peer.reply())} == {(8, OK), (9, OK)}
        assert peer.call(CANCEL, struct.pack("<II", 7, 0), 10).status == OK  # what has ended is no error
        assert peer.call(CANCEL, struct.pack("<II", 12345, 0), 11).status == OK


def test_blocks_sent_before_a_cancel_stay_valid(sweepd, tmp_path):
    params = study_params(8).repeat(5000, axis=0)
    with Served(sweepd, tmp_path, "--max-block-bytes", "4096", "--kernel", "strict") as served, served.peer() as peer:
        close = study_close(3000)
        handle = peer.load(close)
        peer.request(SWEEP, sweep_payload(handle, params), flags=2)
        first = peer.reply()
        assert first.status == MORE
        peer.request(CANCEL, struct.pack("<II", 1, 0), 2)
        more = [(*struct.unpack_from("<QQQ", first.payload), first.payload[24:])]
        rest, final = collect(peer)
        assert final.status == CANCELLED
        assert peer.reply().id == 2
        expected = {}
        for kind, start, n, data in more + rest:
            pnl = np.frombuffer(data, "<f8", n)
            for i in (0, n - 1):
                key = bytes(params[start + i].tobytes())
                if key not in expected:
                    reply = peer.call(SWEEP, sweep_payload(handle, params[start + i], 1))
                    expected[key] = reply.payload
                assert pnl[i:i + 1].tobytes() == expected[key]


def test_a_small_request_does_not_wait_behind_a_large_one(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--kernel", "strict", "--threads", 1) as served:
        with served.peer() as big, served.peer() as small:
            handle = big.load(study_close())
            long_sweep(big, handle)
            wait_until(lambda: metrics(small)["sweepd_sweeps_in_progress"] == 1)
            own = small.load(study_close(1000))
            for i in range(20):
                assert small.call(SWEEP, sweep_payload(own, study_params(2)), i).status == OK
            assert metrics(small)["sweepd_sweeps_in_progress"] == 1  # still at it
            big.close()
            wait_until(lambda: metrics(small)["sweepd_sweeps_in_progress"] == 0)  # whose asker is gone


# ---- pipelining ----


def test_replies_come_out_of_order_and_each_request_gets_its_own(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--kernel", "strict") as served, served.peer() as peer:
        handle = peer.load(study_close(20_000))
        params = study_params(30)
        alone = {i: peer.call(SWEEP, sweep_payload(handle, params[i])).payload for i in range(30)}
        sweeps = [frame(SWEEP, sweep_payload(handle, params[i]), i) for i in range(30)]
        peer.send(b"".join(sweeps) + frame(ECHO, b"e", 99))
        got = [peer.reply() for _ in range(31)]
        assert {r.id for r in got} == {*range(30), 99}
        assert all(r.payload == alone[r.id] for r in got if r.id != 99)


def test_one_past_the_bound_in_flight_is_limit_and_reading_goes_on(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--max-in-flight", 3, "--kernel", "strict") as served, served.peer() as peer:
        handle = peer.load(study_close())
        for id in (1, 2, 3):
            long_sweep(peer, handle, id)
        reply = peer.call(ECHO, b"x" * 100_000, 4)
        assert (reply.status, reply.a, reply.b) == (LIMIT, 3, 4)
        long_sweep(peer, handle, 5)
        assert peer.reply().status == LIMIT
        for id in (1, 2, 3):
            peer.request(CANCEL, struct.pack("<II", id, 0), 10 + id)  # which can always be asked for
        ends = [peer.reply() for _ in range(6)]
        assert {(r.id, r.status) for r in ends} == {(i, CANCELLED) for i in (1, 2, 3)} | {(i, OK) for i in (11, 12, 13)}
        assert peer.call(ECHO, b"room again").status == OK


def test_an_id_in_flight_may_not_be_reused_and_later_it_may(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--kernel", "strict") as served, served.peer() as peer:
        handle = peer.load(study_close())
        long_sweep(peer, handle, 7)
        reply = peer.call(ECHO, b"x", 7)
        assert (reply.status, reply.at) == (BAD_FRAME, 8)
        peer.request(CANCEL, struct.pack("<II", 7, 0), 8)
        assert peer.reply().status == CANCELLED
        assert peer.reply().id == 8
        assert peer.call(ECHO, b"x", 7).status == OK


# ---- refusals ----


def raw(opcode, payload=b"", flags=0, reserved=0, id=1):
    return struct.pack("<IBBHI", 8 + len(payload), opcode, flags, reserved, id) + payload


REFUSED = {
    "unknown opcode": (raw(0x7F), UNKNOWN, 4),
    "shared memory without a descriptor": (raw(SHM_OPEN, struct.pack("<Q", 1 << 16)), BAD_FRAME, 4),
    "a ring of no power of two": (raw(SHM_OPEN, struct.pack("<Q", 100_000)), BAD_PARAM, 12),
    "a ring that is too short": (raw(SHM_OPEN, struct.pack("<Q", 1 << 15)), BAD_PARAM, 12),
    "a ring above the limit": (raw(SHM_OPEN, struct.pack("<Q", 1 << 25)), LIMIT, None),
    "a series without its descriptor": (raw(LOAD_FD, struct.pack("<QII", 1, 1, 0)), BAD_FRAME, 4),
    "unknown flag": (raw(ECHO, flags=1), BAD_FRAME, 5),
    "reserved bits": (raw(ECHO, reserved=1), BAD_FRAME, 6),
    "no room for the fixed part": (raw(LOAD, bytes(15)), BAD_FRAME, None),
    "trailing bytes": (raw(CANCEL, bytes(9)), BAD_FRAME, 20),
    "no bars": (raw(LOAD, struct.pack("<QII", 0, 1, 0)), BAD_PARAM, 12),
    "columns without the close": (raw(LOAD, struct.pack("<QII", 1, 2, 0) + bytes(8)), BAD_PARAM, 20),
    "no combos": (raw(SWEEP, sweep_payload(1, [])), BAD_PARAM, 28),
    "unknown strategy": (raw(SWEEP, struct.pack("<QIIQQII", 1, 2, 0, 1, 1, 0, 0) + bytes(48)), UNKNOWN, 20),
    "a count that wraps": (raw(LOAD, struct.pack("<QII", 2**61, 1, 0)), BAD_FRAME, None),
    "unknown handle": (raw(SWEEP, sweep_payload(12345, [[1] * 6])), NOT_FOUND, None),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_names_status_and_place_and_the_connection_goes_on(served, what):
    data, status, at = REFUSED[what]
    with served.peer() as peer:
        peer.send(data)
        reply = peer.reply()
        assert (reply.status, reply.id) == (status, 1), reply
        assert at is None or reply.at == at, reply
        assert peer.call(ECHO, b"x", 2).payload == b"x"


def test_a_frame_above_the_limit_is_answered_and_closes(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--max-frame", "4096") as served:
        with served.peer() as peer:
            assert peer.call(ECHO, bytes(4088)).status == OK
            peer.send(struct.pack("<I", 4097))
            reply = peer.reply()
            assert (reply.opcode, reply.id, reply.status, reply.a, reply.b) == (0, 0, LIMIT, 4096, 4097)
            assert peer.is_closed()


def test_a_body_too_short_for_its_header_is_answered_and_closes(served):
    with served.peer() as peer:
        assert peer.call(ECHO).status == OK
        peer.send(struct.pack("<I", 7))
        reply = peer.reply()
        assert (reply.opcode, reply.id, reply.status) == (0, 0, BAD_FRAME)
        assert peer.is_closed()


def test_draining_refuses_new_work_and_nothing_else(sweepd, tmp_path):
    with Served(sweepd, tmp_path, "--kernel", "strict", "--drain-timeout", "1h") as served, served.peer() as peer:
        handle = peer.load(study_close())
        long_sweep(peer, handle, 1)
        wait_until(lambda: metrics(peer)["sweepd_sweeps_in_progress"] == 1)
        served.process.terminate()
        served.wait_for("stopping: ")
        assert peer.call(SWEEP, sweep_payload(handle, study_params(1)), 2).status == SHUTTING_DOWN
        assert peer.call(LOAD, load_payload(np.ones(100_000)), 3).status == SHUTTING_DOWN
        assert peer.call(ECHO, b"x", 4).status == OK
        assert peer.call(DROP, struct.pack("<Q", handle), 5).status == OK  # the sweep keeps what it uses
        peer.request(CANCEL, struct.pack("<II", 1, 0), 6)
        assert peer.reply().status == CANCELLED
        assert peer.reply().id == 6
        assert peer.is_closed()
        assert served.process.wait(PATIENCE) == 0


# ---- descriptors that no frame asked for ----


def test_descriptors_nobody_asked_for_are_closed(served):
    import socket
    with served.peer() as peer:
        assert peer.call(ECHO).status == OK
        before = served.descriptors()
        null = os.open("/dev/null", os.O_RDONLY)
        for count in (1, 4, 16, 200):
            socket.send_fds(peer.sock, [frame(ECHO, b"x")], [null] * count)
            assert peer.reply().payload == b"x"
            assert served.descriptors() == before
        data = frame(ECHO, b"y" * 100_000)
        socket.send_fds(peer.sock, [data[:50]], [null] * 3)
        peer.send(data[50:])
        assert peer.reply().status == OK
        assert served.descriptors() == before
        os.close(null)
