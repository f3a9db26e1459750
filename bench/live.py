"""Live sessions, measured: `make bench ONLY=live`, or bench/live.py [--rounds N] [--seconds S] [--url URL].

Every table is made in one run, its rows in turn, medians (and least..most) over the rounds. Steal is what the machine's host
took from it meanwhile.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from report import cpu_times, machine_name, median_and_range

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM, BENCH = os.path.join(ROOT, "build/sweepd"), os.path.join(ROOT, "build/bench/live")
BARS = 150_000
PYTHON_LOOP = """
import json, sys, time, numpy as np, sweepd
close = (100 + np.cumsum(np.sin(np.arange(float(sys.argv[3]))))).tolist()
with sweepd.connect(sys.argv[1]) as engine, engine.live(length=int(sys.argv[2])) as live:
    push, begun = live.push, time.perf_counter()
    for c in close:
        push(c)
    print(json.dumps({"us": (time.perf_counter() - begun) * 1e6 / len(close)}))
"""


def run(*words):
    return json.loads(subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout)


def python():
    for program in (os.path.join(ROOT, ".venv/bin/python"), sys.executable):
        if os.path.exists(program) and subprocess.run([program, "-c", "import sweepd"], capture_output=True).returncode == 0:
            return program
    return None


def pushes(url, rounds, count):
    rows = [("C, in-process", "-", False), ("C, inproc:", "inproc:", False), ("C", url, False)]
    if python():
        rows += [("Python, inproc:", "inproc:", True), ("Python", url, True)]
    print(f"\n{count:,} pushes of one bar, one combo: microseconds a push, and the loop in seconds")
    for length in (20, 200):
        figures = {name: [] for name, _, _ in rows}
        for _ in range(rounds):
            for name, where, is_python in rows:
                words = [python(), "-c", PYTHON_LOOP, where, length, count] if is_python else [BENCH, "push", where, length, count]
                figures[name].append(run(*words)["us"])
        for name, where, _ in rows:
            label = name if where in ("-", "inproc:") else f"{name}, {url.split(':')[0]}:"
            print(f"  L={length:<4} {label:18} {median_and_range(figures[name]):24} {statistics.median(figures[name]) * count * 1e-6:8.3f} s")


def pace(url, rounds, seconds):
    for hz, title in ((1000, "at 1 kHz"), (0, "closed loop, as fast as they are answered")):
        idle, loaded = [], []
        steal, total = cpu_times()
        for _ in range(rounds):
            idle.append(run(BENCH, "pace", url, hz, seconds, 0))
            loaded.append(run(BENCH, "pace", url, hz, seconds, 1))
        steal, total = cpu_times()[0] - steal, cpu_times()[1] - total
        print(f"\npushes {title}, {rounds} rounds of {seconds:g} s; microseconds; steal {100 * steal / total:.2f} %")
        for name, figures in (("idle", idle), ("10,000-combo sweep", loaded)):
            print(f"  {name:20}", *(f"{q} {median_and_range([f[q] for f in figures], 1):28}" for q in ("p50", "p99", "p99.9", "max")))
        ratio = statistics.median(f["p99.9"] for f in loaded) / statistics.median(f["p99.9"] for f in idle)
        print(f"  p99.9 with the sweep over idle: {ratio:.2f}")


def restores(url, rounds):
    print("\nrestoring a session of 200 combos (lengths 6..205): microseconds")
    for where in ("inproc:", url):
        figures = [run(BENCH, "restore", where, 200, 200) for _ in range(rounds)]
        print(f"  {where.split(':')[0] + ':':8} {median_and_range([f['p50'] for f in figures], 1)}, {figures[0]['bytes']:,} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of each paced run")
    parser.add_argument("--count", type=int, default=BARS, help="pushes of a loop")
    parser.add_argument("--url", help="of a daemon that runs; without it one is started on a Unix socket")
    parser.add_argument("--sections", default="push,pace,restore")
    options = parser.parse_args()
    print(machine_name())
    with tempfile.TemporaryDirectory() as folder:
        url = options.url or f"unix:{folder}/s"
        daemon = None if options.url else subprocess.Popen([PROGRAM, "serve", "--listen", url], stderr=subprocess.DEVNULL)
        try:
            while daemon and not os.path.exists(folder + "/s"):
                time.sleep(0.01)
            sections = options.sections.split(",")
            if "push" in sections:
                pushes(url, options.rounds, options.count)
            if "pace" in sections:
                pace(url, options.rounds, options.seconds)
            if "restore" in sections:
                restores(url, options.rounds)
        finally:
            if daemon:
                daemon.terminate()
                daemon.wait()


if __name__ == "__main__":
    main()
