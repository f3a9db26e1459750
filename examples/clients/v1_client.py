#!/usr/bin/env python3
"""All of protocol version 1's sweep: python3 v1_client.py SOCKET < closes.txt"""
import socket
import struct
import sys


def sweep(stream, closes, combos):
    """[(pnl, trades)] of each combo (half, full, smooth, third, mid, p). `stream` reads and writes bytes."""
    n, m = len(closes), len(combos)
    body = struct.pack(f"<BII{n}d{6 * m}q", 0, n, m, *closes, *(v for combo in combos for v in combo))
    stream.write(struct.pack("<I", len(body)) + body)
    stream.flush()
    reply = stream.read(*struct.unpack("<I", stream.read(4)))
    return list(zip(struct.unpack_from(f"<{m}d", reply), struct.unpack_from(f"<{m}q", reply, 8 * m)))


if __name__ == "__main__":
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        print(sweep(s.makefile("rwb"), [float(line) for line in sys.stdin], [(3, 6, 2, 1, 2, 3)]))
