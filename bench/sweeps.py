"""The sections of kernels.py that ask `sweepd bench sweep`, which proves before it times: how cost grows, threads, one combo, and how
long the program takes to be there."""
import json
import os
import subprocess
import time

import numpy as np

import report
from reference import isa

STUDY = "6:200/80"
LENGTHS = "6:200"


class Sweeps:
    """Runs of `sweepd bench sweep`, each kept with its samples."""

    def __init__(self, program, folder, rounds, ghz):
        self.program, self.folder, self.rounds, self.ghz = program, folder, rounds, ghz
        self.isas = isa.of_this_machine()
        self.cpus = sorted(os.sched_getaffinity(0))
        self.samples = []

    def start(self, *words, isa_name=None, cpus=None):
        """Pinned to `cpus`; without them to the last there is."""
        pinned = cpus or self.cpus[-1:]
        environment = {**os.environ, "SWP_ISA": isa_name or self.isas[-1]}
        command = list(map(str, [self.program, "bench", "sweep", "--format", "json", *words]))
        return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE,
                                preexec_fn=lambda: os.sched_setaffinity(0, pinned))

    def end(self, process):
        text, _ = process.communicate()
        if process.returncode != 0:
            raise SystemExit(f"{' '.join(process.args)}: ended with {process.returncode}")
        told = json.loads(text)
        self.samples.append({"command": " ".join(process.args[1:]), **told})
        return told

    def run(self, *words, isa_name=None, cpus=None):
        return self.end(self.start(*words, isa_name=isa_name, cpus=cpus))

    def random_params(self, name, low, high, count):
        """Combos whose six parameters are near those of two lengths, and which share few averages."""
        rng = np.random.default_rng(7)
        hma, hma3 = rng.integers(low, high + 1, (2, count))
        rows = [hma / 2, hma, np.sqrt(hma), hma3 / 6, hma3 / 4, hma3 / 2]
        rows = np.rint(rows).astype(np.int64) + rng.integers(-1, 2, (6, count))
        path = self.folder / f"{name}.npy"
        np.save(path, np.maximum(1, rows).T)
        return path


def section(title, text, tables, samples):
    return {"title": title, "text": text, "tables": tables, "samples": samples}


# ---- one axis at a time ----

def axis(sweeps, title, name, points, text):
    """points: (shown, words of the command). Nanoseconds a bar and combo, an instruction set a column."""
    medians, rows = {name: [] for name in sweeps.isas}, []
    for label, words in points:
        row = [label]
        for isa_name in sweeps.isas:
            told = sweeps.run("--threads", 1, *words, isa_name=isa_name)["ns_per_bar_and_combo"]
            medians[isa_name].append(told["median"])
            row.append(report.shown(told))
        rows.append(row)
    rows.append(["most / least of the medians", *(f"{max(m) / min(m):.2f}" for m in medians.values())])
    columns = [name, *(f"certified {isa_name}, ns min / median / max" for isa_name in sweeps.isas)]
    return section(title, text, [report.table(columns, rows)], sweeps.samples)


def bars(sweeps):
    points = [(f"{n:,}", ["--bars", n, "--runs", runs, "--against", "strict" if n <= 150_000 else "exact"])
              for n, runs in [(1_500, 300), (15_000, 100), (150_000, 30), (1_500_000, 10), (15_000_000, 10)]]
    return axis(sweeps, "Bars", "bars", points, "80 combos, lengths 6 to 200; ns a bar and combo. Goal: within 2.5 of the best.")


def combos(sweeps):
    points = [(f"{n:,}", ["--params", sweeps.random_params(f"combos-{n}", 6, 200, n), "--runs", runs, "--against", "exact"])
              for n, runs in [(8, 100), (80, 30), (800, 10), (8_000, 10)]]
    return axis(sweeps, "Combos", "combos", points,
                "150,000 bars, combos at random that share few averages; ns a bar and combo. Goal: within 2.5 of the best.")


def windows(sweeps):
    points = [(f"{low}..{high}", ["--params", sweeps.random_params(f"windows-{high}", low, high, 80), "--runs", 30, "--against", "exact"])
              for low, high in [(6, 20), (6, 200), (200, 2000)]]
    return axis(sweeps, "Windows", "lengths", points,
                "150,000 bars, 80 combos at random; ns a bar and combo. Goal: within 2.5 of the best.")


# ---- products ----

def product(sweeps):
    rows = []
    for label, lengths in [("90 x 90: 6:200/90 both", "6:200/90"), ("90 x 90: 6:184:2 both, no average twice", "6:184:2"),
                           ("9 x 9: 6:200/9 both", "6:200/9")]:
        for isa_name in sweeps.isas:
            told = sweeps.run("--threads", 1, "--length", lengths, "--length3", lengths, "--against", "exact", "--runs", 10,
                              isa_name=isa_name)
            ns = told["ns_per_bar_and_combo"]
            rows.append([label, isa_name, report.shown(told["seconds"], 1e3), report.shown(ns),
                         report.shown(ns, sweeps.ghz) if sweeps.ghz else "-"])
    columns = ["HMA x HMA3, lengths", "certified", "ms min / median / max", "ns a bar and combo", "cycles a bar and combo"]
    return section("Products", "150,000 bars, one thread. Goal: at most 1 cycle a bar and combo for 90 x 90.", [report.table(columns, rows)],
                   sweeps.samples)


# ---- one combo ----

def one_combo(sweeps):
    alone, batched = [], []
    for length in (6, 20, 100, 200):
        for threads, cpus in [(1, None), (2, sweeps.cpus[-2:])]:
            told = sweeps.run("--length", length, "--threads", threads, "--runs", 300, cpus=cpus)
            alone.append([length, threads, report.shown(told["seconds"], 1e6), told["first_seconds"] * 1e6])
    for threads, cpus in [(1, None), (2, sweeps.cpus[-2:])]:
        batch, calls = (sweeps.run("--length", STUDY, "--threads", threads, "--runs", 30, "--against", "exact", *more, cpus=cpus)
                        for more in ([], ["--one-by-one"]))
        batched += [[what, threads, report.shown(told["seconds"], 1e3)]
                    for what, told in [("one batch of 80", batch), ("80 calls of one", calls)]]
    tables = [report.table(["length", "threads", "us min / median / max", "us of the first call"],
                           [[*row[:3], report.number(row[3])] for row in alone]),
              report.table(["combos", "threads", "ms min / median / max"], batched)]
    return section("One combo", f"150,000 bars through the engine, certified {sweeps.isas[-1]}. Goal: at most 150 us for one combo alone.",
                   tables, sweeps.samples)


# ---- threads ----

def threads(sweeps):
    """Both CPUs at work, in both ways; which comes first alternates."""
    if len(sweeps.cpus) < 2:
        return section("Two threads", "skipped: one CPU", [], [])
    cpus, rows, samples = sweeps.cpus[-2:], [], []
    words = ["--against", "exact", "--runs", 40]
    for isa_name in sweeps.isas:
        together, apart = [], []
        for turn in range(sweeps.rounds):
            for way in (0, 1) if turn % 2 == 0 else (1, 0):
                if way == 0:
                    told = sweeps.run("--threads", 2, *words, isa_name=isa_name, cpus=cpus)
                    together.append(1 / told["seconds"]["median"])
                else:
                    pair = [sweeps.start("--threads", 1, *words, isa_name=isa_name, cpus=[cpu]) for cpu in cpus]
                    apart.append(sum(1 / sweeps.end(process)["seconds"]["median"] for process in pair))
        ratios = [a / b for a, b in zip(together, apart, strict=True)]
        samples.append({"isa": isa_name, "together": together, "apart": apart})
        rows.append([f"certified {isa_name}", report.shown(together), report.shown(apart), report.shown(ratios)])
    columns = ["", "two threads, sweeps/s min / median / max", "two pinned single threads at once", "ratio"]
    return section("Two threads", "80 combos x 150,000 bars. Goal: 0.93 of two pinned single-thread sweeps run at once, of the same round.",
                   [report.table(columns, rows)], samples)


# ---- cold start ----

def cold_start(sweeps):
    series = sweeps.folder / "cold-start.npy"
    subprocess.run([sweeps.program, "generate", "--out", series], check=True, stderr=subprocess.DEVNULL)
    rows, samples = [], []
    for count, cpus in [(1, sweeps.cpus[-1:]), (2, sweeps.cpus[-2:])]:
        command = [sweeps.program, "sweep", series, "--threads", str(count), "--format", "json"]
        walls, nothing = [], []
        warm = sweeps.run("--threads", count, "--length", STUDY, "--against", "exact", "--runs", 20, cpus=cpus)["seconds"]["median"]
        for _ in range(sweeps.rounds):
            nothing.append(wall_of(["/bin/true"], cpus))
            walls.append(wall_of(command, cpus))
        beyond = [wall - warm for wall in walls]
        samples.append({"threads": count, "warm": warm, "walls": walls, "nothing": nothing})
        rows.append([count, report.number(warm * 1e3), report.shown(walls, 1e3), report.shown(beyond, 1e3), report.shown(nothing, 1e3)])
    columns = ["threads", "the sweep, warm: ms median", "`sweepd sweep`: ms min / median / max", "beyond the sweep", "of that, `/bin/true`"]
    return section("Cold start", "From before the program is started until it has ended: 80 combos over a .npy of 150,000 bars. Goal: at most 12 ms "
                   "beyond the sweep.", [report.table(columns, rows)], samples)


def wall_of(command, cpus):
    def pin():
        os.sched_setaffinity(0, cpus)

    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, preexec_fn=pin)
    return time.perf_counter() - begun


SECTIONS = {"threads": threads, "bars": bars, "combos": combos, "windows": windows, "product": product, "one-combo": one_combo,
            "cold-start": cold_start}
