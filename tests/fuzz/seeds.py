"""The inputs that fuzzing begins from, made from protocol/vectors and from what the program itself writes: nothing of them is
kept in the repository but tests/fuzz/found, inputs that once broke a promise."""
import gzip
import json
import pathlib
import struct
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
VECTORS = ROOT / "protocol/vectors"
SIZES = {"u16": 2, "u32": 4, "z32": 4, "u64": 8, "i64": 8, "f64": 8, "b16": 16}
EPOCH = 7  # server_fuzz.c's
SWEEP, TRADES, LOAD = 0x15, 0x16, 0x12
ROWS = struct.pack("<12q", 3, 6, 2, 1, 2, 3, 4, 8, 3, 2, 3, 5)
CLOSES = [100 + (i * 37 % 23) * 0.5 - (i * 11 % 7) for i in range(60)]


def vectors():
    for kind in ("valid", "invalid"):
        for name in ("v1", "request", "reply"):
            for case in json.loads((VECTORS / kind / f"{name}.json").read_text("utf-8")):
                yield case, b"".join(bytes.fromhex(line.partition("#")[0]) for line in case["hex"])


def frame(opcode, payload=b"", flags=0, number=1):
    body = struct.pack("<BBHI", opcode, flags, 0, number) + payload
    return struct.pack("<I", len(body)) + body


class Spec:
    def __init__(self):
        self.messages = json.loads((ROOT / "protocol/messages.json").read_text("utf-8"))
        self.structs = {m["opcode"]: m["request"] for m in self.messages["messages"]}

    def request(self, asked):
        """A request frame with these fields, for a reply to belong to."""
        name = self.structs[asked["opcode"]]
        fixed = b""
        for kind, field, *_ in self.messages["structs"][name] if name else []:
            default = {"n_bars": 1, "columns": 1, "n_combos": 1, "column": 1, "major": 2}.get(field, 0)
            if asked["opcode"] == TRADES and field == "columns":
                default = 0
            value = asked.get(field, default)
            fixed += (int(value).to_bytes(SIZES[kind], "little") if kind != "f64" else struct.pack("<d", value))
        tail = b"\0" * asked.get("tail_size", {LOAD: 8, SWEEP: 48 * min(asked.get("n_combos", 1), 9), TRADES: 48}.get(asked["opcode"], 0))
        if asked["opcode"] == SWEEP:
            tail += b"\0" * 24 * asked.get("n_windows", 0)
        if asked["opcode"] == 0x18:
            tail = b"\0" * 48 * asked.get("n_combos", 1)
        if asked["opcode"] == 0x19:
            tail = b"\0" * 8 * asked.get("n_bars", 1)
        if asked["opcode"] == 0x22:
            tail = b"\0" * 8
        return frame(asked["opcode"], fixed + tail, asked.get("flags", 0))


def wire():
    spec = Spec()
    for case, data in vectors():
        combos = (case.get("asked") or {}).get("session_combos", 0)
        if case["version"] == 1:
            yield bytes([0, 0]) + data
        elif case["direction"] == "request":
            yield bytes([1, 0]) + data
        elif case.get("asked"):
            yield bytes([2, combos]) + spec.request(case["asked"]) + data


def columns(values):
    return struct.pack(f"<{len(values)}d", *values)


def load(values=CLOSES):
    return frame(0x12, struct.pack("<QII", len(values), 1, 0) + columns(values))


def sweep(handle, results=3, flags=0, opcode=SWEEP, rows=ROWS):
    return frame(opcode, struct.pack("<QIIQQII", handle, 1, 0, len(rows) // 48, results, 0, 8) + struct.pack("<d", 0.09) + rows,
                 flags)


def live_open(handle=0):
    return frame(0x18, struct.pack("<IIQII", 1, 2, handle, 0, 8) + struct.pack("<d", 0.09) + ROWS)


def live_push(session, values, flags=0):
    return frame(0x19, struct.pack("<IIIIQ", session, len(values), 1, 0, 2**64 - 1) + columns(values), flags)


def session_call(opcode, session=1):
    return frame(opcode, struct.pack("<II", session, 0))


def scenarios(snapshot):
    handle = EPOCH << 32 | 1
    one = struct.pack("<Q", handle)
    yield [load(), sweep(handle), sweep(handle, 255, 1), sweep(handle, 3, 2), sweep(handle, 0, 0, TRADES, ROWS[:48])]
    yield [load(), sweep(handle), frame(0x17, struct.pack("<II", 1, 0)), frame(0x14, one), sweep(handle)]
    yield [live_open(), live_push(1, CLOSES), live_push(1, CLOSES[:1], 1), live_push(1, CLOSES[:3], 2), session_call(0x1f), session_call(0x1a)]
    yield [load(), live_open(handle), live_push(1, CLOSES[:2]), session_call(0x1f)]
    yield [frame(0x20, snapshot), live_push(1, CLOSES[:2]), session_call(0x1f), session_call(0x1a)]
    upload = [frame(0x21, struct.pack("<QII", 60, 1, 0))]
    for number in range(1, 4):
        upload.append(frame(0x22, struct.pack("<QIIQQ", number, 1, 0, 0, 60) + columns(CLOSES)))
        upload.append(frame(0x22, struct.pack("<QIIQQ", handle + number - 1, 1, 0, 0, 60) + columns(CLOSES)))
        upload.append(frame(0x23, struct.pack("<Q", number)))
        upload.append(frame(0x23, struct.pack("<Q", handle + number - 1)))
    yield upload
    yield [load(), frame(0x24, one + b"name"), frame(0x25, b"name"), frame(0x26), frame(0x27, one), frame(0x1b), frame(0x1e)]
    yield [frame(0x10, struct.pack("<HHII", 2, 0, 0, 4) + b"fuzz"), frame(0x11, b"echo"), load(), load(CLOSES[:5])]


def step(what, data=b"", peer=0, go_on=True):
    return bytes([what | peer << 3 | (0x20 if go_on else 0)]) + data


def server_input(frames, peer=0, go_on=True):
    """As server_fuzz.c reads it; the length of a frame is written there."""
    return b"".join(step(0, struct.pack("<H", len(f) - 4) + f[4:], peer, go_on) for f in frames)


def server(snapshot):
    all_frames = list(scenarios(snapshot))
    for i, frames in enumerate(all_frames):
        yield struct.pack("<H", i) + server_input(frames)
        yield struct.pack("<H", i + 1) + server_input(frames, 1, False) + step(6, b"", 1)
    yield struct.pack("<H", 9) + b"".join(server_input(frames, i % 4) for i, frames in enumerate(all_frames[:4]))
    yield struct.pack("<H", 10) + step(7, b"\x05") + server_input(all_frames[0])
    for case, data in vectors():
        if case["direction"] == "request" and len(data) < 4000:
            yield struct.pack("<H", 0) + step(2, struct.pack("<H", len(data)) + data)


def csv():
    rows = [f"{c}" for c in CLOSES[:12]]
    stamps = [f"2020-01-{d:02d} 00:00" for d in range(1, 13)]
    texts = [
        "close\n" + "\n".join(rows) + "\n",
        "time,close\n" + "\n".join(f"{s},{c}" for s, c in zip(stamps, rows)),
        "date;time;open;high;low;close\r\n" + "\r\n".join(f"{d:02d}.01.2020;10:00;1;2;0,5;1,{d}" for d in range(13, 28)),
        "\ufeffwhen\tlast\tVolume\n" + "\n".join(f"{1577836800 + 60 * i}\t{c}\t1e3" for i, c in enumerate(rows)),
        "\n".join(f"20200101 1000{i:02d};1.1;1.2;1.0;{c};0" for i, c in enumerate(rows)),
        "\n".join(f"{1577836800000 + 60000 * i},1,2,0.5,{c},10,1577836859999,1,1,1,1,0" for i, c in enumerate(rows)),
        'time,"close"\n2020-01-01T00:00:00+02:00,"1"\n2020-01-01T00:00:01.5Z,nan\n2020-01-02T00:00:00Z,-inf\n',
        "close\n1\n\n,\n-0\n1e999\n0x1p3\n",
        "a,b\n1,2\n3\n",
    ]
    for i, text in enumerate(texts):
        data = text.encode("utf-8")
        for options in (b"\0\0\0\0", bytes([7, 0, 0, 0]), bytes([15 + 16 * (i % 3), (i % 5) | 8, i % 8, i % 64])):
            yield options + data
        yield b"\0\0\0\0" + gzip.compress(data, mtime=0)


def npy_file(descr, data, shape, version=1, order=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    head_size = 10 if version == 1 else 12
    header += b" " * (-(len(header) + head_size + 1) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data


def npy():
    f8 = columns(CLOSES)
    yield b"\0" + npy_file("<f8", f8, (60,))
    yield b"\0" + npy_file("<f8", f8, (60,), 2, True)
    yield b"\0" + npy_file(">f4", struct.pack(">4f", 1, 2, 3, 4), (4,), 3)
    yield b"\0" + npy_file("<f2", struct.pack("<4e", 1, 2, 3, 4), (4,))
    for kind in ("|i1", "|u1", "<i2", ">u2", "<i4", "<u8"):
        yield b"\0" + npy_file(kind, bytes([1] * 8), (8 // int(kind[2]),))
    yield b"\0" + npy_file("<f8", f8, (2, 30))
    yield b"\1" + f8
    yield bytes([1 + 28]) + columns([float("nan"), -1, float("inf"), 0])
    yield b"\2" + gzip.compress(npy_file("<f8", f8, (60,)), mtime=0)
    try:
        yield b"\3" + subprocess.run(["zstd", "-c"], input=f8, capture_output=True, check=True).stdout
    except OSError:
        yield b"\3" + bytes.fromhex("28b52ffd2040020200a0000000000000f03f0100") + f8[:8]


def ring():
    recv, put = struct.pack("<BH", 0, 5000), struct.pack("<BH", 2, 700)
    yield b"\0" + (put + recv) * 60 + struct.pack("<BH", 1, 60000) * 3
    yield b"\0" + struct.pack("<BH", 2, 16376) * 4 + recv * 20
    yield b"\0" + put + b"\3" + struct.pack("<HB", 40, 7) + struct.pack("<Q", 64) + struct.pack("<BH", 1, 9000) + recv
    yield b"\0" + put + b"\5" + struct.pack("<IB", 2**31, 0) + recv
    yield b"\0\5" + struct.pack("<IBI", 100, 1, 3) + recv + b"\x07\x04\0\0\0\0" + bytes([6, 14, 22, 30, 38])
    yield b"\1" + b"swp-ring" + struct.pack("<IIQ", 1, 4096, 1 << 16) + put + recv
    yield b"\1" + b"swp-ring" + struct.pack("<IIQ", 2, 4096, 1 << 16)


def ask_stdio(program, frames):
    """The replies of a server that is spawned for them."""
    done = subprocess.run([program, "serve", "--listen", "stdio:"], input=b"".join(frames), capture_output=True, check=True)
    data, replies = done.stdout, []
    while data:
        size = struct.unpack_from("<I", data)[0]
        replies.append(data[4 : 4 + size])
        data = data[4 + size :]
    return replies


def snapshots(program):
    for values in (CLOSES, CLOSES[:1], []):
        frames = [live_open()] + ([live_push(1, values)] if values else []) + [session_call(0x1f)]
        yield next(r[8:] for r in ask_stdio(program, frames) if r[0] == 0x9f and r[1] == 0)


def snapshot(program):
    for data in snapshots(program):
        yield b"\0" + data
        yield b"\x07" + data


def journal(program, folder):
    for i, options in enumerate((["--length", "6"], ["--length", "3:4", "--entry", "cross", "--fee", "0"])):
        path = folder / f"journal-{i}"
        path.unlink(missing_ok=True)
        text = "".join(f"{c}\n" for c in CLOSES[:15])
        subprocess.run([program, "live", *options, "--journal", path], input=text.encode(), capture_output=True, check=True)
        data = path.read_bytes()
        yield b"\0" + data
        yield b"\1" + data
        yield b"\0" + data[:-30]
        yield b"\0" + data + bytes(64)


def http_body():
    for case in json.loads((VECTORS / "calls.json").read_text("utf-8")):
        yield b"\0" + json.dumps(case["call"]).encode()
    body = {"series": "name", "length": [6, 7], "allow": ["nan", "inf", "nonpositive"], "fee": 0.1, "entry": "cross",
            "windows": [[0, 1, 2]], "results": ["pnl", "first_bar"], "kernel": "strict", "threads": 1}
    for how in (0, 1):
        yield bytes([how]) + json.dumps(body).encode()
        yield bytes([how]) + json.dumps({"close": [1, 2.5, "NaN", "-Infinity"], "params": [[3, 6, 2, 1, 2, 3]] * 20}).encode()


def write(target, folder, program):
    """Writes the target's seeds into `folder`, with what was found of it before."""
    folder.mkdir(parents=True, exist_ok=True)
    made = {
        "wire": wire, "csv": csv, "npy": npy, "ring": ring, "http_body": http_body,
        "server": lambda: server(next(snapshots(program))),
        "snapshot": lambda: snapshot(program),
        "journal": lambda: journal(program, folder.parent),
    }[target]()
    for i, data in enumerate(made):
        (folder / f"seed-{i:03d}").write_bytes(data)
    for path in (ROOT / "tests/fuzz/found" / target).glob("*"):
        (folder / path.name).write_bytes(path.read_bytes())
