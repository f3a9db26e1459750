#!/usr/bin/env python3
"""What shared memory costs: `make bench ONLY=shm`, or bench/shm.py [--sections echoes,onecore,python,live,load] [--out FOLDER].

bench/shm.c and bench/live.c measure; here their rows become the tables of docs/performance-shm.md: least, median and most of the
rounds, and a line for each goal with what came of it. Steal is what the machine's host took meanwhile.
"""
import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import report
from boundary import tables_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build" / "bench"
BARS = 150_000
PYTHON_ECHO = """
import json, sys, time, sweepd
with sweepd.connect(sys.argv[1]) as engine:
    clock, echo, found = time.perf_counter_ns, engine.echo, []
    for _ in range(int(sys.argv[2])):
        begun = clock(); echo(b"8 bytes!"); found.append(clock() - begun)
print(sorted(found[1000:])[(len(found) - 1000) // 2] / 1000)
"""
PYTHON_PUSHES = """
import json, sys, time, numpy as np, sweepd
close = (100 + np.cumsum(np.sin(np.arange(float(sys.argv[3]))))).tolist()
with sweepd.connect(sys.argv[1]) as engine, engine.live(length=int(sys.argv[2])) as live:
    push, begun = live.push, time.perf_counter()
    for c in close:
        push(c)
    print((time.perf_counter() - begun) * 1e6 / len(close))
"""


@contextlib.contextmanager
def daemon(*options, cpus=None):
    """The path of its socket."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/s"
        words = [ROOT / "build/sweepd", "serve", "--listen", f"unix:{path}", "--log-level", "warning", *options]
        wanted = cpus if cpus is not None else os.sched_getaffinity(0)
        with subprocess.Popen(list(map(str, words)), preexec_fn=lambda: os.sched_setaffinity(0, wanted)) as process:
            try:
                while not os.path.exists(path):
                    time.sleep(0.01)
                yield path
            finally:
                process.terminate()


def lines(*words, cpus=None):
    wanted = cpus if cpus is not None else os.sched_getaffinity(0)
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, text=True, check=True,
                          preexec_fn=lambda: os.sched_setaffinity(0, wanted))
    return [json.loads(line) for line in done.stdout.splitlines()]


def row(table, name, values, unit="us", goal=None):
    return {"table": table, "name": name, "unit": unit, "goal": goal, "values": values}


def echoes(options):
    with daemon() as path, daemon("--spin", 0) as sleeping:
        return lines(BENCH / "shm", f"shm:{path}", options.rounds, options.trips, f"shm:{sleeping}")


def onecore(options):
    """Both on one CPU, and told so."""
    cpus = {min(os.sched_getaffinity(0))}
    with daemon(cpus=cpus) as path:
        found = lines(BENCH / "live", "push", f"shm:{path}", 20, 2000, cpus=cpus)
        rows = [row("One core for both", "a live push, L = 20", [line["us"] for line in found])]
        trips = [float(subprocess.run([sys.executable, "-c", PYTHON_ECHO, f"shm:{path}", "3000"], stdout=subprocess.PIPE, text=True,
                                      check=True, preexec_fn=lambda: os.sched_setaffinity(0, cpus)).stdout)
                 for _ in range(options.rounds)]
    return [*rows, row("One core for both", "Python, echo of 8 bytes, p50", trips)]


def floor_of(path, options):
    rows = lines(BENCH / "shm", f"shm:{path}", 1, options.trips)
    return next(r["values"][0] for r in rows if r["name"].startswith("floor") and r["name"].endswith("p50"))


def python(options):
    floors, trips = [], []
    with daemon() as path:
        for _ in range(options.rounds):
            floors.append(floor_of(path, options))
            done = subprocess.run([sys.executable, "-c", PYTHON_ECHO, f"shm:{path}", str(options.trips)], stdout=subprocess.PIPE,
                                  text=True, check=True)
            trips.append(float(done.stdout))
    more = [trip - floor for trip, floor in zip(trips, floors, strict=True)]
    return [row("Python, echo of 8 bytes", "the floor, p50", floors), row("Python, echo of 8 bytes", "through a daemon, p50", trips),
            row("Python, echo of 8 bytes", "over the floor, p50", more, goal=1.3)]


def live(options):
    rows = []
    with daemon() as path:
        for length in (20, 200):
            table = f"{BARS:,} live pushes, one combo, L = {length}: microseconds a push"
            contenders = {"C, in this process": ("C", "-"), "C, shm:": ("C", f"shm:{path}"), "C, unix:": ("C", f"unix:{path}"),
                          "Python, inproc:": ("Python", "inproc:"), "Python, shm:": ("Python", f"shm:{path}"),
                          "Python, unix:": ("Python", f"unix:{path}")}
            found = {name: [] for name in contenders}
            ratios = []
            for _ in range(options.live_rounds):
                floor = floor_of(path, options)
                for name, (language, url) in contenders.items():
                    if language == "C":
                        found[name].append(lines(BENCH / "live", "push", url, length, BARS)[0]["us"])
                    else:
                        done = subprocess.run([sys.executable, "-c", PYTHON_PUSHES, url, str(length), str(BARS)],
                                              stdout=subprocess.PIPE, text=True, check=True)
                        found[name].append(float(done.stdout))
                ratios.append(found["C, shm:"][-1] / (1.3 * floor + found["C, in this process"][-1]))
            rows += [row(table, name, values) for name, values in found.items()]
            rows.append(row(table, f"L = {length}: C, shm: / (1.3 floors + C, in this process)", ratios, "x", 1.0))
    return rows


ORDINARY = """
import sys, time, numpy as np, sweepd
with sweepd.connect(sys.argv[1], timeout=600) as engine:
    close = np.full(int(sys.argv[2]) // 8, 100.0)
    close[0] = time.time() % 1000
    engine.load(close[:10])  # what is done once in a process
    begun = time.perf_counter_ns(); engine.load(close); print((time.perf_counter_ns() - begun) / 1000)
"""
STEPS = {"load": "LOAD_FD, there and back", "seal": "before that, sealing", "make": "before that, the system's pages", "fill": "filling them"}


def load(options):
    rows = []
    with daemon("--max-memory", "4GiB") as path:
        for size, name in (1 << 20, "1 MB"), (16 << 20, "16 MB"), (100 << 20, "100 MB"), (1 << 30, "1 GB"):
            found, ordinary = [], []
            for _ in range(options.live_rounds):
                found += lines(BENCH / "shm", "load", f"unix:{path}", size)
                done = subprocess.run([sys.executable, "-c", ORDINARY, f"unix:{path}", str(size)], stdout=subprocess.PIPE, text=True,
                                      check=True)
                ordinary.append(float(done.stdout))
            rows += [row(f"Loading {name}", text, [steps[step] for steps in found]) for step, text in STEPS.items()]
            rows.append(row(f"Loading {name}", "an ordinary array, from Python", ordinary))
    return rows


SECTIONS = {"echoes": (echoes, "Echoes"), "onecore": (onecore, "One core"), "python": (python, "Python"), "live": (live, "Live pushes"),
            "load": (load, "Loading")}


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", type=lambda text: text.split(","), default=list(SECTIONS), help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--trips", type=int, default=20000, help="of a round of echoes")
    parser.add_argument("--live-rounds", type=int, default=3, help="of live pushes and of loading")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build-bench")
    options = parser.parse_args(arguments)
    options.out.mkdir(exist_ok=True, parents=True)
    about = report.machine(["gcc"], BENCH / "clock")
    print(report.machine_line(about))
    for name in options.sections:
        run, title = SECTIONS[name]
        stolen, whole = report.cpu_times()
        rows = run(options)
        stolen, whole = (after - before for after, before in zip(report.cpu_times(), (stolen, whole), strict=True))
        rounds = options.live_rounds if name in ("live", "load") else options.rounds
        section = {"title": f"Shared memory: {title}", "text": f"{rounds} rounds. Steal {100 * stolen / max(1, whole):.2f} %.",
                   "tables": tables_of(rows), "samples": rows}
        print("\n" + report.write(options.out, f"shm-{name}", section, about), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
