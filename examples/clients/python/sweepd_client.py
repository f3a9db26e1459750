#!/usr/bin/env python3
"""A client of the sweepd engine in Python, over the package `sweepd` (docs/python.md).

    python3 sweepd_client.py URL FILE.f64 LENGTHS [FINGERPRINT]     what it prints: docs/clients.md
"""
import hashlib
import os
import sys

import numpy as np
import sweepd


def find_or_load(engine, close, wanted):
    """The series if the engine holds it still, by the fingerprint that was noted; else it is sent."""
    if wanted is not None:
        try:
            series = engine.find(close)
            if series.fingerprint == wanted:
                return series, "found"
            series.drop()
        except sweepd.NotFound:
            pass
    return engine.load(close), "loaded"


def main(url, file, lengths, fingerprint=None):
    close = np.fromfile(file, "<f8")
    if os.path.getsize(file) % 8:
        sys.exit(f"{file}: not a whole number of doubles")
    lengths = [int(length) for length in lengths.split(",")]
    token = os.environ.get("SWEEPD_TOKEN", "")
    with sweepd.connect(url, timeout=int(os.environ.get("SWEEPD_TIMEOUT_MS", 30000)) / 1000, token=token) as engine:
        series, how = find_or_load(engine, close, fingerprint)
        r = engine.sweep(series, length=lengths, fee=0.09)
        print("sha256", hashlib.sha256(r.pnl.tobytes() + r.trades.tobytes()).hexdigest())
        print("series", series.fingerprint, series.bars, how)
        for length, pnl, trades in list(zip(lengths, r.pnl, r.trades, strict=True))[:3]:
            print(f"{length} {pnl:.2f} {trades}")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:5])
    except sweepd.SweepdError as error:
        at = "" if error.at is None else f" at {error.at}"
        sys.exit(f"{type(error).__name__}{at}: {error}")
