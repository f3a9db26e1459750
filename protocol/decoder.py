#!/usr/bin/env python3
"""A decoder of the sweepd protocol, written from protocol.md alone: it shares nothing with the server, the client or
the generator of the vectors. Standard library only.

usage: decoder.py VECTORS       checks every vector, says how many passed
"""
import json
import pathlib
import struct
import sys

BAD_FRAME, UNKNOWN, BAD_PARAM, LIMIT = 2, 3, 4, 6

REQUESTS = {  # opcode: (flags, fixed part)
    0x10: (0, "HH:major minor,II:token_bytes name_bytes"), 0x11: (0, ""), 0x12: (0, "shape"),
    0x13: (0, "16s:fingerprint,shape"), 0x14: (0, "Q:handle"), 0x15: (3, "sweep"), 0x16: (0, "sweep"),
    0x17: (0, "I:request_id,zero"), 0x18: (0, "IIQII:strategy n_combos handle policy exec_bytes"),
    0x19: (3, "III:session n_bars columns,zero,Q:expected_bars"), 0x1a: (0, "I:session,zero"), 0x1b: (0, ""),
    0x1c: (0, "Q:ring_bytes"), 0x1d: (0, "shape"), 0x1e: (0, ""), 0x1f: (0, "I:session,zero"), 0x20: (0, ""),
    0x21: (0, "shape"),
    0x22: (0, "QI:upload column,zero,QQ:first_bar n_bars"), 0x23: (0, "Q:upload"), 0x24: (0, "Q:handle"), 0x25: (0, ""),
    0x26: (0, ""), 0x27: (0, "Q:handle"),
}
REPLIES = {  # opcode: fixed part of OK
    0x10: "HHIQQQII16s:major minor features max_body max_memory max_combos threads max_in_flight numbers_id",
    0x12: "series", 0x13: "series", 0x16: "Q:n_trades", 0x18: "I:session,zero", 0x1c: "Q:ring_bytes", 0x1d: "series",
    0x20: "I:session,zero", 0x21: "Q:upload", 0x23: "series", 0x25: "series", 0x27: "series",
}
MORE = {0x15: "QQQ:kind first count", 0x1c: "Q:ring_bytes"}
ERROR = "QQQ:at a b"
SHARED = {
    "shape": "QII:n_bars columns policy",
    "sweep": "QIIQQII:handle strategy param_form n_combos columns n_windows exec_bytes",
    "series": "Q16sQQQdd:handle fingerprint known n_bars n_nan first last",
    "zero": "I:",
}
HELLO, ECHO, LOAD, FIND, SWEEP, TRADES = 0x10, 0x11, 0x12, 0x13, 0x15, 0x16
LIVE_OPEN, LIVE_PUSH, LIVE_CLOSE, STATS, LOAD_FD = 0x18, 0x19, 0x1a, 0x1b, 0x1d
STRATEGIES, SNAPSHOT, RESTORE, LOAD_BEGIN, LOAD_PART, NAME, OPEN, LIST = 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x24, 0x25, 0x26
STATE_SIZE, ROW_SIZE, WINDOW_SIZE, EXEC_SIZE = 40, 48, 24, 32


class Refused(Exception):
    def __init__(self, status, at=None):
        super().__init__(f"status {status} at {at}")
        self.status, self.at = status, at


def need(condition, status, at):
    if not condition:
        raise Refused(status, at)


def fields_of(layout):
    """[(offset, format, name)] and the size; a name of "" is reserved."""
    out, offset = [], 0
    for part in filter(None, layout.split(",")):  # "formats:names", or one of SHARED
        formats, _, names = SHARED.get(part, part).partition(":")
        names = names.split() or [""]
        codes = ["16s" if c == "s" else c for c in formats.replace("16s", "s")]
        for code, name in zip(codes, names):
            out.append((offset, code, name))
            offset += struct.calcsize("<" + code)
    return out, offset


def decode(frame, direction="request", version=2, max_body=2**32 - 1, asked=None):
    """The message, as a dict; Refused with the status and the place. `frame` is one frame, its length included."""
    body_len, = struct.unpack_from("<I", frame)
    need(body_len >= (8 if version == 2 else 9), BAD_FRAME, 0)
    need(body_len <= max_body, LIMIT, None)
    end = 4 + body_len
    if version == 1:
        return decode_v1(frame, end)
    return decode_request(frame, end) if direction == "request" else decode_reply(frame, end, asked)


def decode_v1(frame, end):
    opcode, n_bars, n_combos = struct.unpack_from("<BII", frame, 4)
    need(opcode in (0, 1), BAD_FRAME, 4)
    expected = 13 + 8 * n_bars + 48 * n_combos
    need(end == expected, BAD_FRAME, min(end, expected))
    return {"opcode": opcode, "n_bars": n_bars, "n_combos": n_combos}


def read_fixed(frame, end, layout, message):
    """Adds the fields to `message`; returns (name -> offset in the frame, where the tail begins)."""
    fields, size = fields_of(layout)
    need(end >= 12 + size, BAD_FRAME, end)
    at = {}
    for offset, code, name in fields:
        value, = struct.unpack_from("<" + code, frame, 12 + offset)
        if name == "":
            need(value == 0, BAD_FRAME, 12 + offset)
        else:
            message[name] = value.hex() if code == "16s" else value
            at[name] = 12 + offset
    message["tail_size"] = end - 12 - size
    return at, 12 + size


def check_tail(begin, end, size):
    need(end == begin + size, BAD_FRAME, min(end, begin + size))


# ---- Requests ----


def decode_request(frame, end):
    opcode, flags, reserved, number = struct.unpack_from("<BBHI", frame, 4)
    need(opcode in REQUESTS, UNKNOWN, 4)
    known, layout = REQUESTS[opcode]
    need(flags & ~known == 0, BAD_FRAME, 5)
    need(reserved == 0, BAD_FRAME, 6)
    m = {"opcode": opcode, "flags": flags, "id": number}
    at, tail = read_fixed(frame, end, layout, m)
    check_request(m, at, tail)
    size = request_tail_size(m)
    if size is not None:
        check_tail(tail, end, size)
    if opcode in (SWEEP, TRADES, LIVE_OPEN):
        m = {"fields": m, "sweep": decode_sweep(frame, tail, end, m)}
    return m


def check_columns(m, at):
    need(m["columns"] < 64, UNKNOWN, at["columns"])
    need(m["columns"] & 1, BAD_PARAM, at["columns"])


def check_request(m, at, tail):
    op = m["opcode"]
    if op == HELLO:
        need(m["major"] >= 2, UNKNOWN, at["major"])
        need(m["token_bytes"] <= 1024, BAD_PARAM, at["token_bytes"])
        need(m["name_bytes"] <= 255, BAD_PARAM, at["name_bytes"])
    elif op in (LOAD, LOAD_FD, LOAD_BEGIN, FIND):
        need(m["n_bars"] > 0, BAD_PARAM, at["n_bars"])
        check_columns(m, at)
        need(m["policy"] < 8, UNKNOWN, at["policy"])
    elif op == LIVE_PUSH:
        check_columns(m, at)
    elif op == LOAD_PART:
        need(m["column"] < 64, UNKNOWN, at["column"])
        need(bin(m["column"]).count("1") == 1, BAD_PARAM, at["column"])
        need(m["first_bar"] + m["n_bars"] < 2**64, BAD_PARAM, at["first_bar"])
        need(m["n_bars"] > 0, BAD_PARAM, at["n_bars"])
    elif op in (NAME, OPEN):
        need(1 <= m["tail_size"] <= 255, BAD_PARAM, tail)
    elif op in (SWEEP, TRADES, LIVE_OPEN):
        check_sweep(m, at)


def check_sweep(m, at):
    need(m["strategy"] == 1, UNKNOWN, at["strategy"])
    need(m.get("param_form", 0) <= 2, UNKNOWN, at.get("param_form"))
    need(m["n_combos"] > 0, BAD_PARAM, at["n_combos"])
    if m["opcode"] == SWEEP:
        need(m["columns"] > 0, BAD_PARAM, at["columns"])
        need(m["columns"] < 256, UNKNOWN, at["columns"])
    elif m["opcode"] == TRADES:
        need(m["n_combos"] == 1, BAD_PARAM, at["n_combos"])
        need(m["columns"] == 0, BAD_PARAM, at["columns"])
        need(m["n_windows"] <= 1, BAD_PARAM, at["n_windows"])
    else:
        need(m["policy"] < 8, UNKNOWN, at["policy"])
    need(m["exec_bytes"] % 8 == 0, BAD_FRAME, at["exec_bytes"])
    need(m["exec_bytes"] <= EXEC_SIZE, UNKNOWN, at["exec_bytes"])


def request_tail_size(m):
    """Bytes the tail must have; None when any size will do."""
    op = m["opcode"]
    if op == HELLO:
        return m["token_bytes"] + m["name_bytes"]
    if op in (LOAD, LIVE_PUSH):
        return m["n_bars"] * 8 * bin(m["columns"]).count("1")
    if op == LOAD_PART:
        return m["n_bars"] * 8
    if op in (SWEEP, TRADES, LIVE_OPEN):
        least = m["exec_bytes"] + WINDOW_SIZE * m.get("n_windows", 0)
        form = m.get("param_form", 0)
        if form == 0:
            return least + ROW_SIZE * m["n_combos"]
        return max(m["tail_size"], least + (48 if form == 1 else 16))
    return None if op in (ECHO, RESTORE, NAME, OPEN) else 0


def decode_sweep(frame, tail, end, m):
    options = [0.09, 0, 0, 0]
    for i in range(m["exec_bytes"] // 8):
        options[i], = struct.unpack_from("<d" if i == 0 else "<Q", frame, tail + 8 * i)
    need(options[1] <= 1, BAD_PARAM, tail + 8)
    need(options[2] <= 4, BAD_PARAM, tail + 16)
    out = dict(zip(("fee", "entry", "kernel", "max_threads"), options))
    at = tail + m["exec_bytes"]
    n_windows = m.get("n_windows", 0)
    out["windows"] = [list(struct.unpack_from("<QQQ", frame, at + WINDOW_SIZE * i)) for i in range(n_windows)]
    at += WINDOW_SIZE * len(out["windows"])
    form = m.get("param_form", 0)
    if form == 0:
        out["rows"] = [list(struct.unpack_from("<6q", frame, at + ROW_SIZE * i)) for i in range(m["n_combos"])]
        return out
    width, lists = (1, 6) if form == 1 else (3, 2)
    found = []
    for _ in range(lists):
        need(at + 8 <= end, BAD_FRAME, end)
        count, = struct.unpack_from("<Q", frame, at)
        at += 8
        need(at + 8 * width * count <= end, BAD_FRAME, end)
        values = struct.unpack_from(f"<{count * width}q", frame, at)
        at += 8 * width * count
        found.append(list(values) if width == 1 else [list(values[i:i + 3]) for i in range(0, len(values), 3)])
    need(at == end, BAD_FRAME, at)
    out["axes" if form == 1 else "pairs"] = found
    return out


# ---- Replies ----


def decode_reply(frame, end, asked):
    opcode, status, reserved, number = struct.unpack_from("<BBHI", frame, 4)
    need(opcode & 0x80, BAD_FRAME, 4)
    opcode &= 0x7f
    need(opcode in REQUESTS or status > 1, BAD_FRAME, 4)
    need(status < 64 and (status != 1 or opcode in MORE), BAD_FRAME, 5)
    need(reserved == 0, BAD_FRAME, 6)
    layout = ERROR if status > 1 else MORE[opcode] if status == 1 else REPLIES.get(opcode, "")
    need(opcode == (asked["opcode"] if asked else 0), BAD_FRAME, 4)
    m = {"opcode": opcode, "status": status, "id": number}
    at, tail = read_fixed(frame, end, layout, m)
    if status > 1:
        check_tail(tail, end, min(m["tail_size"], 1024))
        return m
    if status == 1 and opcode == SWEEP:
        check_more(m, at, asked)
    size = reply_tail_size(m, asked)
    if size is not None:
        check_tail(tail, end, size)
    return m


def check_more(m, at, asked):
    need(m["kind"] <= 1 and asked.get("flags", 0) & (2 if m["kind"] else 1), BAD_FRAME, at["kind"])
    if m["kind"] == 0:
        need(m["count"] >= m["first"], BAD_FRAME, at["count"])
    else:
        need(m["first"] < asked["n_combos"], BAD_FRAME, at["first"])
        need(1 <= m["count"] <= asked["n_combos"] - m["first"], BAD_FRAME, at["count"])


def result_size(asked, n_combos):
    return max(asked.get("n_windows", 0), 1) * n_combos * 8 * bin(asked["columns"]).count("1")


def reply_tail_size(m, asked):
    op, flags = m["opcode"], asked.get("flags", 0)
    if op == ECHO:
        return asked["tail_size"]
    if op == SWEEP and m["status"] == 1:
        return result_size(asked, m["count"]) if m["kind"] else 0
    if op == SWEEP:
        return 0 if flags & 2 else result_size(asked, asked["n_combos"])
    if op == TRADES:
        return 48 * m["n_trades"]
    if op == LIVE_OPEN:
        return STATE_SIZE * asked["n_combos"]
    if op == LIVE_PUSH:
        positions = asked["n_bars"] * asked["session_combos"] if flags & 1 else 0
        return STATE_SIZE * asked["session_combos"] + (positions + 7) // 8 * 8
    if op == LIVE_CLOSE:
        return STATE_SIZE * asked["session_combos"]
    if op == RESTORE:
        return STATE_SIZE * max(m["tail_size"] // STATE_SIZE, 1)
    return None if op in (HELLO, STATS, STRATEGIES, SNAPSHOT, LIST) else 0


# ---- Vectors ----


def frame_of(case):
    return b"".join(bytes.fromhex(line.partition("#")[0]) for line in case["hex"])


def check(case):
    """What is wrong with the decoder's answer to a vector; None when nothing is."""
    try:
        got = decode(frame_of(case), case["direction"], case["version"], case["max_body"], case.get("asked"))
    except Refused as refused:
        got = {"status": refused.status, "at": refused.at}
        want = {"status": case.get("status"), "at": case.get("at")}
    else:
        got = got if "sweep" in got else {"fields": got}
        want = {k: case[k] for k in ("fields", "sweep") if k in case}
    return None if got == want else f"{case['name']}: got {got}, expected {want}"


def main():
    paths = sorted(pathlib.Path(sys.argv[1]).glob("*/*.json"))
    cases = [case for path in paths for case in json.loads(path.read_text("utf-8"))]
    wrong = [w for w in map(check, cases) if w]
    print("\n".join(wrong), file=sys.stderr)
    print(f"{len(cases) - len(wrong)} vectors passed, {len(wrong)} failed")
    sys.exit(1 if wrong or not cases else 0)


if __name__ == "__main__":
    main()
