#!/usr/bin/env python3
"""Writes protocol/vectors: frames, valid and invalid, with what they mean (protocol.md, section 13).

usage: gen_vectors.py messages.json VECTORS [--check]

Made from messages.json and from the expectations written here, by no code that the server or a client shares.
--check fails when a file would change.
"""
import copy
import json
import pathlib
import struct
import sys

FORMATS = {"u16": "<H", "u32": "<I", "u64": "<Q", "i64": "<q", "f64": "<d", "z32": "<I"}
PAYLOAD_AT = 12
NONE = 2**64 - 1


def pack(kind, value):
    return bytes.fromhex(value) if kind == "b16" else struct.pack(FORMATS[kind], value)


def f64(*values, what="f64"):
    return [(struct.pack("<d", v), f"{what} {v!r}") for v in values]


def i64(*values, what="i64"):
    return [(struct.pack("<q", v), f"{what} {v}") for v in values]


def u64(*values, what="u64"):
    return [(struct.pack("<Q", v), f"{what} {v}") for v in values]


def text(value):
    return [(value.encode(), json.dumps(value))] if value else []


class Frame:
    """A frame in the making: everything about it can be overridden before it is turned into bytes."""

    def __init__(self, spec, name, direction="request", status="OK", id=7, flags=0, fields=None, tail=(), **meaning):
        self.spec, self.direction, self.id, self.flags, self.tail = spec, direction, id, flags, list(tail)
        self.message = next(m for m in spec["messages"] if m["name"] == name)
        self.opcode = self.message["opcode"] | (0x80 if direction == "reply" else 0)
        self.status = next(s["number"] for s in spec["statuses"] if s["name"] == status)
        part = "request" if direction == "request" else {"OK": "reply", "MORE": "more"}.get(status)
        self.struct = spec["structs"].get(self.message.get(part)) if part else spec["structs"]["error"]
        self.struct = self.struct or []
        self.fields = {field: 0 for _, field, _ in self.struct}
        self.fields.update(fields or {})
        self.header_reserved = 0
        self.body_len = None   # None: the true one
        self.cut = None        # bytes of the payload that are there; None: all
        self.max_body = 1 << 30
        self.meaning = meaning  # sweep=..., asked=...

    def but(self, **changes):
        """A copy with fields (by name) or attributes changed."""
        other = copy.copy(self)
        other.fields = dict(self.fields)
        for name, value in changes.items():
            if name in other.fields:
                other.fields[name] = value
            else:
                setattr(other, name, value)
        return other

    def at(self, field):
        offset = PAYLOAD_AT
        for kind, name, _ in self.struct:
            if name == field:
                return offset
            offset += len(pack(kind, "00" * 16 if kind == "b16" else 0))
        raise KeyError(field)

    def payload(self):
        """[(bytes, comment)]"""
        fixed = [(pack(kind, self.fields[name]), f"{name} {self.fields[name]}") for kind, name, _ in self.struct]
        pieces = [p for p in fixed + self.tail if p[0]]
        if self.cut is None:
            return pieces
        left, out = self.cut, []
        for data, comment in pieces:
            out.append((data[:left], comment if left >= len(data) else comment + ", cut"))
            left = max(0, left - len(data))
        return [p for p in out if p[0]]

    def fixed_size(self):
        return sum(len(pack(kind, self.fields[name])) for kind, name, _ in self.struct)

    def tail_size(self):
        return sum(len(data) for data, _ in self.tail)

    def end(self):
        """Bytes of the frame."""
        return PAYLOAD_AT + sum(len(data) for data, _ in self.payload())

    def pieces(self):
        payload = self.payload()
        body_len = self.body_len if self.body_len is not None else 8 + sum(len(data) for data, _ in payload)
        second = self.flags if self.direction == "request" else self.status
        return [(struct.pack("<I", body_len), f"body_len {body_len}"),
                (bytes([self.opcode]), f"opcode {self.message['name']}" if self.direction == "request" else
                 f"reply to {self.message['name']}"),
                (bytes([second]), ("flags" if self.direction == "request" else "status") + f" {second}"),
                (struct.pack("<H", self.header_reserved), "reserved"),
                (struct.pack("<I", self.id), f"id {self.id}")] + payload

    def says(self):
        out = {"opcode": self.opcode & 0x7f}
        out["flags" if self.direction == "request" else "status"] = self.flags if self.direction == "request" else self.status
        out["id"] = self.id
        for kind, name, _ in self.struct:
            if kind != "z32":
                out[name] = self.fields[name]
        out["tail_size"] = self.tail_size()
        return out

    def case(self, name):
        out = {"name": name, "direction": self.direction, "version": 2, "max_body": self.max_body,
               "hex": hex_lines(self.pieces())}
        if "asked" in self.meaning:
            out["asked"] = self.meaning["asked"]
        return out


def hex_lines(pieces):
    return [data.hex(" ") + f"  # {comment}" for data, comment in pieces]


# ---- Version 2: the valid frames ----

ROW = (3, 6, 2, 1, 2, 3)
EXEC = {"fee": 0.09, "entry": 0, "kernel": 0, "max_threads": 0}
FINGERPRINT = "000102030405060708090a0b0c0d0e0f"
SERIES = dict(handle=(0x5eed << 32) + 1, fingerprint=FINGERPRINT, known=3, n_bars=2, n_nan=0, first=1.5, last=2.5)


def exec_block(fee=0.09, entry=0, kernel=0, max_threads=0, options=4):
    block = [*f64(fee, what="fee"), *u64(entry, what="entry"), *u64(kernel, what="kernel"),
             *u64(max_threads, what="max_threads")]
    return block[:options]


def lists(*columns):
    """u64 count and the values, for axes (numbers) and pairs (triples)."""
    out = []
    for values in columns:
        out += u64(len(values), what="count")
        flat = [v for value in values for v in (value if isinstance(value, tuple) else (value,))]
        out += i64(*flat)
    return out


def requests(spec):
    """name -> valid request frame."""
    def frame(message, **arguments):
        return Frame(spec, message, **arguments)

    def sweep(message="SWEEP", options=4, exec_values=None, windows=(), form=0, n_combos=1, columns=3, params=None, flags=0,
              tail=None):
        exec_values = exec_values or {}
        params = params or {"rows": [list(ROW)] * n_combos}
        body = exec_block(options=options, **exec_values)
        body += [p for w in windows for p in u64(*w, what="bar")]
        body += i64(*(v for row in params["rows"] for v in row)) if tail is None else tail
        shown = {**EXEC, **exec_values} if options == 4 else dict(list({**EXEC, **exec_values}.items())[:options])
        return frame(message, flags=flags, tail=body, sweep={**EXEC, **shown, "windows": [list(w) for w in windows], **params},
                     fields=dict(handle=SERIES["handle"], strategy=1, param_form=form, n_combos=n_combos, columns=columns,
                                 n_windows=len(windows), exec_bytes=8 * options))

    axes = [[3, 4], [6], [2], [1], [2, 3, 4], [3]]
    hma, hma3 = [(3, 6, 2), (4, 8, 3)], [(1, 2, 3), (1, 3, 5), (2, 4, 6)]
    yield "hello", frame("HELLO", fields=dict(major=2, minor=0, token_bytes=0, name_bytes=0))
    yield "hello-token-and-name", frame("HELLO", fields=dict(major=2, minor=1, token_bytes=6, name_bytes=5),
                                        tail=text("secret") + text("grün"))
    yield "hello-major-3", frame("HELLO", fields=dict(major=3, minor=0, token_bytes=0, name_bytes=0))
    yield "hello-token-and-name-at-the-bound", frame(
        "HELLO", fields=dict(major=2, minor=0, token_bytes=1024, name_bytes=255), tail=[(b"t" * 1024, "token"), (b"n" * 255, "name")])
    yield "echo-empty", frame("ECHO")
    yield "echo-8-bytes", frame("ECHO", tail=[(bytes(range(8)), "any bytes")])
    yield "echo-id-largest", frame("ECHO", id=2**32 - 1, tail=[(b"x", "any bytes")])
    close = f64(1.5, 2.5, what="close")
    shape = dict(n_bars=2, columns=1, policy=0)
    yield "load-close", frame("LOAD", fields=shape, tail=close)
    yield "load-all-columns-and-policies", frame(
        "LOAD", fields=dict(n_bars=1, columns=63, policy=7), tail=f64(1.5, what="close") + f64(1.4, what="open") +
        f64(1.6, what="high") + f64(1.3, what="low") + f64(100.0, what="volume") + i64(1577836800000000000, what="time"))
    yield "find", frame("FIND", fields=dict(fingerprint=FINGERPRINT, n_bars=2, columns=1, policy=0))
    yield "drop", frame("DROP", fields=dict(handle=SERIES["handle"]))
    yield "sweep-rows", sweep()
    yield "sweep-defaults", sweep(options=0)
    yield "sweep-fee-only", sweep(options=1, exec_values=dict(fee=0.0))
    yield "sweep-all-options", sweep(exec_values=dict(fee=-0.01, entry=1, kernel=4, max_threads=2), columns=255, flags=3)
    yield "sweep-two-windows", sweep(windows=[(0, 10, 20), (10, 20, 30)], n_combos=2)
    yield "sweep-axes", sweep(form=1, n_combos=6, params={"axes": axes}, tail=lists(*axes))
    yield "sweep-axes-empty-lists", sweep(form=1, params={"axes": [[]] * 6}, tail=lists(*[[]] * 6))
    yield "sweep-pairs", sweep(form=2, n_combos=6, params={"pairs": [[list(t) for t in hma], [list(t) for t in hma3]]},
                               tail=lists(hma, hma3))
    yield "sweep-windows-and-pairs", sweep(form=2, windows=[(0, 0, 9)], params={"pairs": [[list(hma[0])], [list(hma3[0])]]},
                                           tail=lists(hma[:1], hma3[:1]))
    yield "sweep-values-are-not-judged", sweep(params={"rows": [[0, -1, 2**31, 2**63 - 1, -2**63, 1]]},
                                               windows=[(9, 5, 1)], exec_values=dict(fee=1e9, max_threads=2**32 - 1))
    yield "trades", sweep("TRADES", columns=0)
    yield "trades-one-window-one-pair", sweep("TRADES", columns=0, form=2, windows=[(0, 5, 9)],
                                              params={"pairs": [[list(hma[0])], [list(hma3[0])]]}, tail=lists(hma[:1], hma3[:1]))
    yield "cancel", frame("CANCEL", fields=dict(request_id=6))
    yield "live-open", frame("LIVE_OPEN", fields=dict(strategy=1, n_combos=2, handle=0, policy=1, exec_bytes=32),
                             tail=exec_block() + i64(*ROW, *ROW), sweep={**EXEC, "windows": [], "rows": [list(ROW)] * 2})
    yield "live-push", frame("LIVE_PUSH", fields=dict(session=3, n_bars=2, columns=1, expected_bars=NONE), tail=close)
    yield "live-push-nothing", frame("LIVE_PUSH", fields=dict(session=3, n_bars=0, columns=1, expected_bars=40))
    yield "live-push-positions-peek-time", frame(
        "LIVE_PUSH", flags=3, fields=dict(session=3, n_bars=1, columns=33, expected_bars=40),
        tail=f64(1.5, what="close") + i64(1577836800000000000, what="time"))
    yield "live-close", frame("LIVE_CLOSE", fields=dict(session=3))
    yield "stats", frame("STATS")
    yield "shm-open", frame("SHM_OPEN", fields=dict(ring_bytes=65536))
    yield "load-fd", frame("LOAD_FD", fields=shape)
    yield "strategies", frame("STRATEGIES")
    yield "snapshot", frame("SNAPSHOT", fields=dict(session=3))
    yield "restore", frame("RESTORE", tail=[(b"\x01\x02\x03", "snapshot")])
    yield "load-begin", frame("LOAD_BEGIN", fields=dict(n_bars=2**40, columns=33, policy=0))
    yield "load-part", frame("LOAD_PART", fields=dict(upload=9, column=32, first_bar=5, n_bars=2), tail=i64(10, 20))
    yield "load-commit", frame("LOAD_COMMIT", fields=dict(upload=9))
    yield "name", frame("NAME", fields=dict(handle=SERIES["handle"]), tail=text("EURUSD"))
    yield "name-255-bytes", frame("NAME", fields=dict(handle=SERIES["handle"]), tail=text("a" * 255))
    yield "open", frame("OPEN", tail=text("E"))
    yield "open-255-bytes", frame("OPEN", tail=text("a" * 255))
    yield "list", frame("LIST")
    yield "hash", frame("HASH", fields=dict(handle=SERIES["handle"]))


STATE = i64(30, 1) + f64(1.25, -0.5) + i64(4)


def replies(spec):
    """name -> valid reply frame."""
    def frame(message, asked=None, **arguments):
        opcode = next(m["opcode"] for m in spec["messages"] if m["name"] == message)
        return Frame(spec, message, direction="reply", asked={"opcode": opcode, **(asked or {})}, **arguments)

    swept = dict(n_combos=2, columns=3, n_windows=0)
    results = f64(-5.5, 1.0, what="pnl") + i64(3, 4, what="trades")
    yield "hello", frame("HELLO", tail=text("0.1.0"), fields=dict(
        major=2, minor=0, features=0, max_body=1 << 30, max_memory=1 << 33, max_combos=1 << 24, threads=2, max_in_flight=64,
        numbers_id="0f0e0d0c0b0a09080706050403020100"))
    yield "echo", frame("ECHO", asked=dict(tail_size=8), tail=[(bytes(range(8)), "the same bytes")])
    yield "load", frame("LOAD", fields=SERIES)
    yield "load-fd", frame("LOAD_FD", fields={**SERIES, "known": 0, "fingerprint": "00" * 16})
    yield "find", frame("FIND", fields=SERIES)
    yield "drop", frame("DROP")
    yield "sweep", frame("SWEEP", asked=swept, tail=results)
    yield "sweep-two-windows", frame("SWEEP", asked={**swept, "n_combos": 1, "n_windows": 2}, tail=results)
    yield "sweep-progress", frame("SWEEP", status="MORE", asked={**swept, "flags": 1}, fields=dict(kind=0, first=1, count=2))
    yield "sweep-block", frame("SWEEP", status="MORE", asked={**swept, "flags": 2, "n_combos": 9},
                               fields=dict(kind=1, first=7, count=2), tail=results)
    yield "sweep-after-blocks", frame("SWEEP", asked={**swept, "flags": 2})
    yield "trades", frame("TRADES", fields=dict(n_trades=1), tail=i64(8, 12, -1) + f64(1.5, 1.25, 16.5))
    yield "trades-none", frame("TRADES", fields=dict(n_trades=0))
    yield "cancel", frame("CANCEL")
    yield "live-open", frame("LIVE_OPEN", asked=dict(n_combos=2), fields=dict(session=3), tail=STATE * 2)
    yield "live-push", frame("LIVE_PUSH", asked=dict(n_bars=1, session_combos=1), tail=STATE)
    yield "live-push-positions", frame(
        "LIVE_PUSH", asked=dict(flags=1, n_bars=3, session_combos=2), tail=STATE * 2 +
        [(bytes([1, 255, 1, 0, 1, 1]), "positions, bars outermost"), (bytes(2), "padding")])
    yield "live-push-nothing-positions", frame("LIVE_PUSH", asked=dict(flags=1, n_bars=0, session_combos=1), tail=STATE)
    yield "live-close", frame("LIVE_CLOSE", asked=dict(session_combos=1), tail=STATE)
    yield "stats", frame("STATS", tail=text("sweepd_up 1\\n"))
    yield "shm-open", frame("SHM_OPEN", fields=dict(ring_bytes=65536))
    yield "strategies", frame("STRATEGIES", tail=text("[]"))
    yield "snapshot", frame("SNAPSHOT", tail=[(b"\x01\x02\x03", "snapshot")])
    yield "restore", frame("RESTORE", fields=dict(session=4), tail=STATE * 3)
    yield "load-begin", frame("LOAD_BEGIN", fields=dict(upload=9))
    yield "load-part", frame("LOAD_PART")
    yield "load-commit", frame("LOAD_COMMIT", fields=SERIES)
    yield "name", frame("NAME")
    yield "open", frame("OPEN", fields=SERIES)
    yield "list", frame("LIST", tail=text("[]"))
    yield "hash", frame("HASH", fields=SERIES)
    none = dict(at=NONE)
    for s in spec["statuses"]:
        if 2 <= s["number"] < 64:
            yield f"error-{s['name'].lower()}", frame("LOAD", status=s["name"], fields=none, tail=text(s["text"]))
    yield "error-limit-numbers", frame("LOAD", status="LIMIT", fields=dict(at=NONE, a=10, b=11), tail=text("11 above 10"))
    yield "error-without-text", frame("SWEEP", status="BAD_PARAM", asked=swept, fields=dict(at=14))
    yield "error-longest-text", frame("SWEEP", status="INTERNAL", asked=swept, fields=none, tail=text("x" * 1024))
    yield "error-status-63-of-a-newer-server", frame("LOAD", status="INTERNAL", fields=none).but(status=63)
    unasked = frame("LOAD", status="BUSY", fields=none, tail=text("too many connections")).but(opcode=0x80, id=0)
    yield "error-about-the-connection", unasked.but(meaning={"asked": None})


# ---- Version 2: the invalid ones ----


def number_of(spec, status):
    return next(s["number"] for s in spec["statuses"] if s["name"] == status)


def every_request_refusals(name, frame):
    """What holds for every message: (case name, frame, status, at)."""
    yield f"{name}-unknown-flag", frame.but(flags=frame.flags | 0x80), "BAD_FRAME", 5
    yield f"{name}-reserved-bytes", frame.but(header_reserved=0x0100), "BAD_FRAME", 6
    yield f"{name}-flag-before-reserved", frame.but(flags=0x40, header_reserved=1), "BAD_FRAME", 5
    if frame.fixed_size() > 0:
        short = frame.but(cut=frame.fixed_size() - 1)
        yield f"{name}-fixed-part-one-byte-short", short, "BAD_FRAME", short.end()
        empty = frame.but(cut=0)
        yield f"{name}-no-payload", empty, "BAD_FRAME", empty.end()
    for kind, field, _ in frame.struct:
        if kind == "z32":
            yield f"{name}-{field}-not-0", frame.but(**{field: 1}), "BAD_FRAME", frame.at(field)


def tail_refusals(name, frame):
    """For messages whose fixed part says how long the tail is."""
    surplus = frame.but(tail=frame.tail + [(b"\0", "surplus")])
    yield f"{name}-one-byte-too-many", surplus, "BAD_FRAME", frame.end()
    if frame.tail_size() > 0:
        short = frame.but(cut=frame.end() - PAYLOAD_AT - 1)
        yield f"{name}-one-byte-short", short, "BAD_FRAME", short.end()
        bare = frame.but(cut=frame.fixed_size())
        yield f"{name}-no-tail", bare, "BAD_FRAME", bare.end()


FREE_TAIL = ("ECHO", "RESTORE", "NAME", "OPEN")


def request_refusals(spec):
    frames = dict(requests(spec))
    first = {}
    for name, frame in frames.items():
        first.setdefault(frame.message["name"], (name, frame))
    for message, (name, frame) in first.items():
        yield from every_request_refusals(name, frame)
        if message not in FREE_TAIL:
            yield from tail_refusals(name, frame)
    for name in ("hello-token-and-name", "load-all-columns-and-policies", "sweep-two-windows", "sweep-axes", "sweep-pairs"):
        yield from tail_refusals(name, frames[name])

    def field(name, field, value, status, label):
        return f"{name}-{label}", frames[name].but(**{field: value}), status, frames[name].at(field)

    for name, frame in (("echo-empty", frames["echo-empty"]),):
        yield "length-0", frame.but(body_len=0), "BAD_FRAME", 0
        yield "length-7", frame.but(body_len=7), "BAD_FRAME", 0
        yield "length-above-max-body", frame.but(body_len=101, max_body=100), "LIMIT", None
        yield "length-largest", frame.but(body_len=2**32 - 1), "LIMIT", None
        for opcode in (0x00, 0x01, 0x0f, 0x28, 0x7f, 0x80, 0x90, 0xff):
            yield f"opcode-{opcode:02x}", frame.but(opcode=opcode), "UNKNOWN", 4
        yield "opcode-before-flags", frame.but(opcode=0x28, flags=0xff, header_reserved=1), "UNKNOWN", 4
    for name in ("load-close", "load-fd", "load-begin", "find"):
        yield field(name, "n_bars", 0, "BAD_PARAM", "n-bars-0")
        yield field(name, "columns", 0x40, "UNKNOWN", "columns-unknown")
        yield field(name, "columns", 0x41, "UNKNOWN", "columns-known-and-unknown")
        yield field(name, "columns", 2, "BAD_PARAM", "columns-without-close")
        yield field(name, "columns", 0, "BAD_PARAM", "columns-none")
        yield field(name, "policy", 8, "UNKNOWN", "policy-unknown")
        frame = frames[name].but(n_bars=0, columns=0, policy=8)
        yield f"{name}-n-bars-before-columns", frame, "BAD_PARAM", frame.at("n_bars")
        frame = frames[name].but(columns=0, policy=8)
        yield f"{name}-columns-before-policy", frame, "BAD_PARAM", frame.at("columns")
    for n_bars, label in ((3, "one-more"), (2**61, "wrap-to-0"), (2**61 + 2, "wrap-to-the-same"), (2**64 - 1, "largest")):
        yield f"load-n-bars-{label}", frames["load-close"].but(n_bars=n_bars), "BAD_FRAME", frames["load-close"].end()
    frame = frames["load-close"]
    yield "load-n-bars-one-less", frame.but(n_bars=1), "BAD_FRAME", frame.end() - 8
    frame = frames["hello"]
    yield "hello-major-1", frame.but(major=1), "UNKNOWN", frame.at("major")
    yield "hello-major-0", frame.but(major=0), "UNKNOWN", frame.at("major")
    yield "hello-token-above-the-bound", frame.but(token_bytes=1025), "BAD_PARAM", frame.at("token_bytes")
    yield "hello-name-above-the-bound", frame.but(name_bytes=256), "BAD_PARAM", frame.at("name_bytes")
    yield "hello-sizes-wrap", frame.but(token_bytes=2**32 - 1, name_bytes=1), "BAD_PARAM", frame.at("token_bytes")
    frame = frames["load-part"]
    yield "load-part-column-unknown", frame.but(column=64), "UNKNOWN", frame.at("column")
    yield "load-part-column-none", frame.but(column=0), "BAD_PARAM", frame.at("column")
    yield "load-part-column-two", frame.but(column=3), "BAD_PARAM", frame.at("column")
    yield "load-part-n-bars-0", frame.but(n_bars=0), "BAD_PARAM", frame.at("n_bars")
    yield "load-part-end-wraps", frame.but(first_bar=2**64 - 2), "BAD_PARAM", frame.at("first_bar")
    yield "load-part-reserved-before-column", frame.but(column=0, reserved=1), "BAD_FRAME", frame.at("reserved")
    yield "load-part-n-bars-wrap", frame.but(n_bars=2**61 + 2), "BAD_FRAME", frame.end()
    yield "live-push-columns-unknown", frames["live-push"].but(columns=65), "UNKNOWN", frames["live-push"].at("columns")
    yield "live-push-columns-none", frames["live-push-nothing"].but(columns=0), "BAD_PARAM", frames["live-push"].at("columns")
    frame = frames["live-push"]
    yield "live-push-n-bars-largest", frame.but(n_bars=2**32 - 1), "BAD_FRAME", frame.end()
    for name in ("name", "open"):
        frame = frames[name]
        at = PAYLOAD_AT + frame.fixed_size()
        yield f"{name}-empty", frame.but(tail=[]), "BAD_PARAM", at
        yield f"{name}-256-bytes", frame.but(tail=text("a" * 256)), "BAD_PARAM", at
    yield from sweep_refusals(frames)


def sweep_refusals(frames):
    rows, axes, pairs, trades = (frames[n] for n in ("sweep-rows", "sweep-axes", "sweep-pairs", "trades"))
    for frame, name in ((rows, "sweep"), (trades, "trades"), (frames["live-open"], "live-open")):
        yield f"{name}-strategy-0", frame.but(strategy=0), "UNKNOWN", frame.at("strategy")
        yield f"{name}-strategy-of-plug-ins", frame.but(strategy=2**31), "UNKNOWN", frame.at("strategy")
        yield f"{name}-n-combos-0", frame.but(n_combos=0), "BAD_PARAM", frame.at("n_combos")
        yield f"{name}-exec-bytes-12", frame.but(exec_bytes=12), "BAD_FRAME", frame.at("exec_bytes")
        yield f"{name}-exec-bytes-40", frame.but(exec_bytes=40), "UNKNOWN", frame.at("exec_bytes")
        yield f"{name}-exec-bytes-largest", frame.but(exec_bytes=2**32 - 8), "UNKNOWN", frame.at("exec_bytes")
        tail = PAYLOAD_AT + frame.fixed_size()
        params = frame.tail[4:]
        for value in (2, 2**32, 2**64 - 1):
            yield f"{name}-entry-{value}", frame.but(tail=exec_block(entry=value) + params), "BAD_PARAM", tail + 8
        for value in (5, 2**32, 2**64 - 1):
            yield f"{name}-kernel-{value}", frame.but(tail=exec_block(kernel=value) + params), "BAD_PARAM", tail + 16
        yield (f"{name}-entry-before-kernel", frame.but(tail=exec_block(entry=2, kernel=5) + params), "BAD_PARAM", tail + 8)
    for frame, name in ((rows, "sweep"), (trades, "trades")):
        yield f"{name}-form-3", frame.but(param_form=3), "UNKNOWN", frame.at("param_form")
        yield f"{name}-n-windows-largest", frame.but(n_windows=2**32 - 1), *(
            ("BAD_PARAM", frame.at("n_windows")) if name == "trades" else ("BAD_FRAME", frame.end()))
    yield "sweep-columns-0", rows.but(columns=0), "BAD_PARAM", rows.at("columns")
    yield "sweep-columns-unknown", rows.but(columns=256), "UNKNOWN", rows.at("columns")
    yield "sweep-columns-bit-63", rows.but(columns=2**63 + 1), "UNKNOWN", rows.at("columns")
    yield "sweep-strategy-before-form", rows.but(strategy=9, param_form=9, n_combos=0), "UNKNOWN", rows.at("strategy")
    for n, label in ((2, "one-more"), (2**64 - 1, "largest"), (2**60 + 1, "wrap-to-the-same")):
        yield f"sweep-n-combos-{label}", rows.but(n_combos=n), "BAD_FRAME", rows.end()
    yield "trades-n-combos-2", trades.but(n_combos=2), "BAD_PARAM", trades.at("n_combos")
    yield "trades-columns-1", trades.but(columns=1), "BAD_PARAM", trades.at("columns")
    yield "trades-n-windows-2", trades.but(n_windows=2), "BAD_PARAM", trades.at("n_windows")
    policy = frames["live-open"]
    yield "live-open-policy-unknown", policy.but(policy=8), "UNKNOWN", policy.at("policy")
    yield "live-open-n-combos-largest", policy.but(n_combos=2**32 - 1), "BAD_FRAME", policy.end()
    for frame, name in ((axes, "sweep-axes"), (pairs, "sweep-pairs")):
        exec_part, params = frame.tail[:4], frame.tail[4:]
        for count in (2**64 - 1, 2**61, 2**60, 2**32):
            broken = frame.but(tail=exec_part + u64(count, what="count") + params[1:])
            yield f"{name}-first-count-{count}", broken, "BAD_FRAME", broken.end()
        counts = 6 if frame is axes else 2
        short = frame.but(tail=exec_block(entry=2) + u64(*[0] * counts, what="count"), cut=frame.fixed_size() + 32 + 8 * counts - 1)
        yield f"{name}-size-before-options", short, "BAD_FRAME", short.end()
        last = frame.but(tail=frame.tail[:-1])
        yield f"{name}-last-value-missing", last, "BAD_FRAME", last.end()
        more = frame.but(tail=frame.tail + u64(1))
        yield f"{name}-one-value-more", more, "BAD_FRAME", frame.end()


def reply_refusals(spec):
    frames = dict(replies(spec))
    for name, frame in frames.items():
        if frame.message["name"] in ("ECHO", "LOAD", "SWEEP", "TRADES", "LIVE_OPEN", "LIVE_PUSH", "LIVE_CLOSE", "DROP", "HASH"):
            if frame.status <= 1:
                yield from tail_refusals(name, frame)
        if frame.fixed_size() > 0 and frame.status <= 2:
            short = frame.but(cut=frame.fixed_size() - 1)
            yield f"{name}-fixed-part-one-byte-short", short, "BAD_FRAME", short.end()
    load, sweep, progress, block = (frames[n] for n in ("load", "sweep", "sweep-progress", "sweep-block"))
    yield "length-7", load.but(body_len=7), "BAD_FRAME", 0
    yield "length-above-max-body", load.but(max_body=71), "LIMIT", None
    yield "opcode-of-a-request", load.but(opcode=0x12), "BAD_FRAME", 4
    yield "opcode-of-another-request", load.but(meaning={"asked": {"opcode": 0x13}}), "BAD_FRAME", 4
    yield "opcode-unknown-but-ok", load.but(opcode=0xff), "BAD_FRAME", 4
    yield "ok-about-the-connection", load.but(opcode=0x80, meaning={"asked": None}), "BAD_FRAME", 4
    yield "status-64", frames["error-internal"].but(status=64), "BAD_FRAME", 5
    yield "status-255", frames["error-internal"].but(status=255), "BAD_FRAME", 5
    yield "more-to-a-request-without", load.but(status=1), "BAD_FRAME", 5
    yield "reserved-bytes", load.but(header_reserved=1), "BAD_FRAME", 6
    yield "session-reserved", frames["live-open"].but(reserved=1), "BAD_FRAME", 16
    yield "progress-not-asked-for", progress.but(meaning={"asked": {**progress.meaning["asked"], "flags": 2}}), "BAD_FRAME", 12
    yield "block-not-asked-for", block.but(meaning={"asked": {**block.meaning["asked"], "flags": 1}}), "BAD_FRAME", 12
    yield "more-kind-2", block.but(kind=2), "BAD_FRAME", 12
    yield "progress-beyond-the-end", progress.but(first=3), "BAD_FRAME", progress.at("count")
    yield "block-beyond-the-end", block.but(first=9), "BAD_FRAME", block.at("first")
    yield "block-end-beyond-the-end", block.but(first=8), "BAD_FRAME", block.at("count")
    yield "block-empty", block.but(count=0), "BAD_FRAME", block.at("count")
    yield "block-count-wraps", block.but(count=2**64 - 1), "BAD_FRAME", block.at("count")
    yield "trades-count-wraps", frames["trades"].but(n_trades=2**60 + 1), "BAD_FRAME", frames["trades"].end()
    asked = {**sweep.meaning["asked"], "n_combos": 2**60}
    yield "sweep-result-beyond-64-bits", sweep.but(meaning={"asked": asked}), "BAD_FRAME", sweep.end()
    text_too_long = frames["error-longest-text"]
    yield ("error-text-above-the-bound", text_too_long.but(tail=text("x" * 1025)), "BAD_FRAME", text_too_long.end())
    restore = frames["restore"]
    for cut in (40 - 1, 120 - 1):
        short = restore.but(cut=8 + cut)
        yield f"restore-{cut}-bytes-of-states", short, "BAD_FRAME", 20 + 39 if cut < 40 else 20 + 80


# ---- Version 1 ----


def v1_pieces(opcode, n_bars, n_combos, close, params, body_len=None):
    pieces = [(bytes([opcode]), f"opcode {opcode}"), (struct.pack("<I", n_bars), f"n_bars {n_bars}"),
              (struct.pack("<I", n_combos), f"n_combos {n_combos}")]
    pieces += f64(*close, what="close") + i64(*params, what="parameter")
    true_len = sum(len(data) for data, _ in pieces)
    body_len = true_len if body_len is None else body_len
    return [(struct.pack("<I", body_len), f"body_len {body_len}")] + pieces


def v1_case(name, pieces, max_body=1 << 30):
    return {"name": f"v1-{name}", "direction": "request", "version": 1, "max_body": max_body, "hex": hex_lines(pieces)}


def v1_valid():
    for name, opcode, n_bars, n_combos in (("sweep", 0, 2, 1), ("echo", 1, 3, 0), ("sweep-no-bars", 0, 0, 2),
                                           ("sweep-no-combos", 0, 1, 0), ("sweep-nothing", 0, 0, 0), ("echo-combos", 1, 1, 1)):
        pieces = v1_pieces(opcode, n_bars, n_combos, [1.5 + i for i in range(n_bars)], ROW * n_combos)
        yield {**v1_case(name, pieces), "fields": {"opcode": opcode, "n_bars": n_bars, "n_combos": n_combos}}


def v1_invalid():
    close, row = [1.5, 2.5], list(ROW)

    def refused(name, pieces, status, at, **limits):
        return {**v1_case(name, pieces, **limits), "status": status, "at": at}

    whole = v1_pieces(0, 2, 1, close, row)
    size = sum(len(data) for data, _ in whole)
    yield refused("length-8", v1_pieces(0, 0, 0, [], [], body_len=8), 2, 0)
    yield refused("length-above-max-body", whole, 6, None, max_body=size - 5)
    yield refused("opcode-2", v1_pieces(2, 2, 1, close, row), 2, 4)
    yield refused("one-bar-more", v1_pieces(0, 3, 1, close, row), 2, size)
    yield refused("one-bar-less", v1_pieces(0, 1, 1, close, row), 2, size - 8)
    yield refused("one-combo-more", v1_pieces(0, 2, 2, close, row), 2, size)
    yield refused("counts-largest", v1_pieces(0, 2**32 - 1, 2**32 - 1, close, row), 2, size)
    yield refused("bars-wrap-in-32-bits", v1_pieces(0, 2**29 + 2, 1, close, row), 2, size)
    yield refused("surplus-byte", [*v1_pieces(0, 2, 1, close, row, body_len=size - 3), (b"\0", "surplus")], 2, size)


# ---- Files ----


def files(spec):
    """file name -> list of cases."""
    out = {"valid/v1.json": list(v1_valid()), "invalid/v1.json": list(v1_invalid())}
    for kind, frames, refusals in (("request", requests, request_refusals), ("reply", replies, reply_refusals)):
        cases = []
        for name, frame in frames(spec):
            case = {**frame.case(f"{kind}-{name}"), "fields": frame.says()}
            if "sweep" in frame.meaning:
                case["sweep"] = frame.meaning["sweep"]
            cases.append(case)
        out[f"valid/{kind}.json"] = cases
        out[f"invalid/{kind}.json"] = [
            {**frame.case(f"{kind}-{name}"), "status": number_of(spec, status), "at": at}
            for name, frame, status, at in refusals(spec)]
    return out


def to_text(cases):
    """One member a line; one piece of hex a line."""
    def member(key, value):
        if key == "hex":
            return '    "hex": [\n' + ",\n".join("      " + json.dumps(line, ensure_ascii=False) for line in value) + "\n    ]"
        return f"    {json.dumps(key)}: {json.dumps(value)}"

    blocks = ["  {\n" + ",\n".join(member(k, v) for k, v in case.items()) + "\n  }" for case in cases]
    return "[\n" + ",\n".join(blocks) + "\n]\n"


def main():
    source, folder, *options = sys.argv[1:]
    with open(source, encoding="utf-8") as f:
        spec = json.load(f)
    stale, seen = [], set()
    for name, cases in files(spec).items():
        assert not seen & {c["name"] + name[:5] for c in cases} and len({c["name"] for c in cases}) == len(cases), name
        path = pathlib.Path(folder) / name
        text_now = to_text(cases)
        if options == ["--check"]:
            stale += [name] if not path.is_file() or path.read_text(encoding="utf-8") != text_now else []
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text_now, encoding="utf-8")
    if stale:
        sys.exit(f"behind {source}: {', '.join(stale)}; run tools/gen_vectors.py {source} {folder}")


if __name__ == "__main__":
    main()
