#!/usr/bin/env python3
"""What reading people's files takes: `make bench ONLY=files`, or bench/files.py [--rows N] [--rounds N] [--out FOLDER].

A CSV of six columns (time, open, high, low, close, volume) is made once; each reader reads it in a process of its own on one
pinned CPU, in turns, and must have given the same closes bit for bit before anything counts. Beside ours pandas.read_csv, by its C engine and by pyarrow's, and polars.read_csv, where they are
installed, each told to read the time and the close alone and to keep every bit of a float. Memory is the most that was resident, less
what the process had before it read.
"""
import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOAL_MB_S = 100


def ours(path):
    import sweepd

    return sweepd.read_csv(path).close


def pandas_c(path):
    import pandas

    frame = pandas.read_csv(path, usecols=["time", "close"], parse_dates=["time"], engine="c", float_precision="round_trip")
    return frame["close"].to_numpy()


def pandas_pyarrow(path):
    import pandas

    return pandas.read_csv(path, usecols=["time", "close"], parse_dates=["time"], engine="pyarrow")["close"].to_numpy()


def polars(path):
    import polars as pl

    return pl.read_csv(path, columns=["time", "close"], try_parse_dates=True)["close"].to_numpy()


READERS = {"sweepd.read_csv": (ours, "sweepd"), "pandas, C engine": (pandas_c, "pandas"),
           "pandas, pyarrow engine": (pandas_pyarrow, "pyarrow"), "polars": (polars, "polars")}


def write(path, rows):
    """A walk in hundredths, a bar a second."""
    rng = np.random.default_rng(5)
    stamps = np.datetime64("2020-01-01T00:00:00") + np.arange(rows).astype("timedelta64[s]")
    with open(path, "w", encoding="ascii") as file:
        file.write("time,open,high,low,close,volume\n")
        price = 100_000
        for first in range(0, rows, 100_000):
            count = min(100_000, rows - first)
            close = np.maximum(price + np.cumsum(rng.integers(-30, 31, count)), 100)
            opened = np.concatenate([[price], close[:-1]])
            high, low = np.maximum(opened, close) + rng.integers(0, 20, count), np.minimum(opened, close) - rng.integers(0, 20, count)
            volume = rng.integers(1, 100_000, count)
            price = int(close[-1])
            text = np.datetime_as_string(stamps[first:first + count])
            for t, o, h, l, c, v in zip(text, opened / 100, high / 100, low / 100, close / 100, volume, strict=True):
                file.write(f"{t},{o:.2f},{h:.2f},{l:.2f},{c:.2f},{v}\n")


def read_once(name, path):
    """In a child: seconds, sha256 of the closes, bytes of memory."""
    read, module = READERS[name]
    __import__(module)
    read_small(read)
    before = memory("VmRSS")
    begun = time.perf_counter()
    close = read(path)
    seconds = time.perf_counter() - begun
    more = memory("VmHWM") - before
    digest = hashlib.sha256(np.ascontiguousarray(close, "<f8").tobytes()).hexdigest()
    print(json.dumps({"seconds": seconds, "sha256": digest, "bytes": more}))


def memory(field):
    """Bytes, of this program alone: getrusage begins with what started it."""
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{field}:"))


def read_small(read):
    """What a library does the first time only."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("time,open,high,low,close,volume\n2020-01-01T00:00:00,1.5,2.5,1.0,2.0,3\n2020-01-01T00:00:01,1.5,2.5,1.0,2.0,3\n")
        file.flush()
        read(file.name)


def run(name, path):
    words = ["taskset", "-c", str(min(os.sched_getaffinity(0))), sys.executable, __file__, "--read", name, "--path", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        return None, done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"ended with {done.returncode}"
    return json.loads(done.stdout), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build-bench")
    parser.add_argument("--read", help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        read_once(options.read, options.path)
        return
    options.out.mkdir(exist_ok=True, parents=True)
    about = report.machine(["gcc"], ROOT / "build" / "bench" / "clock")
    print(report.machine_line(about))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "bars.csv"
        write(path, options.rows)
        size = path.stat().st_size
        found, missing = {name: [] for name in READERS}, {}
        for _ in range(options.rounds):
            for name in READERS:
                if name not in missing:
                    once, why = run(name, path)
                    if once is None:
                        missing[name] = why
                    else:
                        found[name].append(once)
    found = {name: runs for name, runs in found.items() if runs}
    digests = {run["sha256"] for runs in found.values() for run in runs}
    if len(digests) != 1:
        sys.exit("files: the readers do not agree: " + str({name: runs[0]["sha256"][:12] for name, runs in found.items()}))
    rows = []
    for name, runs in found.items():
        speeds = [size / 1e6 / run["seconds"] for run in runs]
        ratios = [run["seconds"] / ours["seconds"] for run, ours in zip(runs, found["sweepd.read_csv"], strict=True)]
        rows.append([name, report.shown(speeds), report.shown(ratios), f"{max(run['bytes'] for run in runs) / options.rows:.1f}"])
    ours_median = report.spread([size / 1e6 / run["seconds"] for run in found["sweepd.read_csv"]])["median"]
    met = "**met**" if ours_median >= GOAL_MB_S else "**missed**"
    tables = [report.table(["reader", "MB/s min / median / max", "times as long as ours", "bytes a row"], rows),
              report.table(["goal", "median", "at least", ""], [["sweepd.read_csv", f"{ours_median:.0f} MB/s", f"{GOAL_MB_S} MB/s", met]])]
    text = f"{options.rows:,} rows of six columns, {size / 1e6:.0f} MB, one CPU; {options.rounds} rounds, the same closes bit for bit."
    text += "".join(f" {name} is missing: {why}." for name, why in missing.items())
    print("\n" + report.write(options.out, "files", {"title": "Files", "text": text, "tables": tables, "samples": found}, about))


if __name__ == "__main__":
    main()
