#!/usr/bin/env python3
"""Writes protocol/vectors as a C table, for src/wire/vectors_test.c.

usage: vectors_to_c.py messages.json OUT VECTORS.json...
"""
import json
import pathlib
import struct
import sys

NONE = 2**64 - 1


def bits(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def show(value):
    """One field as the C test prints it: an f64 by its bits, the rest as it stands in the vector."""
    return f"{bits(value):016x}" if isinstance(value, float) else str(value)


def fields_text(case):
    return " ".join(f"{k}={show(v)}" for k, v in case["fields"].items())


def sweep_text(sweep):
    parts = [f"fee={bits(sweep['fee']):016x}"] + [f"{k}={sweep[k]}" for k in ("entry", "kernel", "max_threads")]
    parts.append("windows=" + "".join(f"{w},{b},{e};" for w, b, e in sweep["windows"]))
    for key in ("rows", "axes", "pairs"):
        if key in sweep:
            lists = sweep[key] if key != "pairs" else [[v for triple in side for v in triple] for side in sweep[key]]
            parts.append(f"{key}=" + "".join(",".join(map(str, values)) + ";" for values in lists))
    return " ".join(parts)


def asked_text(asked, structs):
    """A compound literal of the request that a reply belongs to."""
    known = ("opcode", "flags", "tail_size")
    parts = [f".{k} = {v}u" for k, v in asked.items() if k in known]
    rest = [f".{k} = {v}u" for k, v in asked.items() if k not in known + ("session_combos",)]
    if rest:
        parts.append(f".{structs[asked['opcode']]} = {{{', '.join(rest)}}}")
    return "&(const swp__wire_request){" + ", ".join(parts) + "}"


def row(case, structs):
    data = b"".join(bytes.fromhex(line.partition("#")[0]) for line in case["hex"])
    asked = case.get("asked")
    members = {
        "name": json.dumps(case["name"]), "version": case["version"], "is_reply": int(case["direction"] == "reply"),
        "max_body": f"{case['max_body']}u", "size": len(data),
        "bytes": "(const uint8_t[]){" + ",".join(map(str, data)) + "}",
        "asked": asked_text(asked, structs) if asked else "NULL",
        "session_combos": (asked or {}).get("session_combos", 0),
    }
    if "fields" in case:
        members["fields"] = json.dumps(fields_text(case))
        members["sweep"] = json.dumps(sweep_text(case["sweep"])) if "sweep" in case else "NULL"
    else:
        members["status"] = case["status"]
        members["at"] = f"UINT64_C({NONE if case['at'] is None else case['at']})"
    return "{" + ", ".join(f".{k} = {v}" for k, v in members.items()) + "},"


def main():
    source, out, *paths = sys.argv[1:]
    spec = json.loads(pathlib.Path(source).read_text("utf-8"))
    structs = {m["opcode"]: m["request"] for m in spec["messages"]}
    cases = [case for path in paths for case in json.loads(pathlib.Path(path).read_text("utf-8"))]
    pathlib.Path(out).write_text("\n".join(row(case, structs) for case in cases) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
