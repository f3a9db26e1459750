#!/usr/bin/env python3
"""What the kernels take: all the tables of docs/performance.md, each a section that can be run alone.

Against others (headline, shapes): every contender is a process of its own, on one thread pinned to one CPU, that holds the series: the
numba reference, and a kernel of one build of the library. First the gate: each sweeps once, and whoever differs from the reference in
any bit ends the run. Then rounds, in which all take one turn after the other, so that what the machine does meanwhile befalls them
alike. Ratios are taken within a round. By itself (bench/sweeps.py): `sweepd bench sweep`, which proves before it times.

usage: .venv/bin/python bench/kernels.py [--only SECTION,...] [--bars 150000] [--rounds 10] [--shapes randwalk,tick-grid]
           [--kernels NAME,...] [--builds gcc-O3,clang-O3-native,...] [--build] [--out FOLDER]

A kernel joins by its name in sweepd.kernels(). The strict ones run in every build; the others in the first, once for each
instruction set this machine has (SWP_ISA). Build "installed" is the package in the environment as it is. Each section leaves its tables
as SECTION.md and every sample as SECTION.json in --out.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

import numpy as np  # noqa: E402

import report  # noqa: E402
import sweeps  # noqa: E402
from reference import gate, isa  # noqa: E402
from reference.cases import STUDY_PARAMS  # noqa: E402

FOLDER = ROOT / "build-bench"
MESON = [sys.executable, "-m", "mesonbuild.mesonmain"]
STRICT = ("strict", "strict-checked")
BUILDS = {  # name: compiler, flags beside -O3
    "gcc-O3": ("gcc", ()),
    "gcc-O3-native": ("gcc", ("-march=native",)),
    "clang-O3": ("clang", ()),
    "clang-O3-native": ("clang", ("-march=native",)),
}


# ---- builds ----

def package_of(build):
    """The folder to import sweepd from; None: where it is installed. Built as far as it is out of date."""
    if build == "installed":
        return None
    compiler, flags = BUILDS[build]
    folder = FOLDER / build
    if not (folder / "build.ninja").exists():
        options = ["-Dpython=enabled", "-Dpython.platlibdir=/", "-Dbuildtype=release", f"-Dc_args={' '.join(flags)}"]
        quietly([*MESON, "setup", folder, ROOT, *options], {**os.environ, "CC": compiler})
    quietly([*MESON, "compile", "-C", folder, "python-package"])
    quietly([*MESON, "install", "-C", folder, "--no-rebuild", "--tags", "python-runtime", "--destdir", folder / "package"])
    return folder / "package"


def quietly(command, environment=None):
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)


# ---- contenders ----

class Contender:
    """A process that sweeps when told, on the last CPU there is."""

    def __init__(self, name, kernel, package=None, isa_name=None):
        self.name = name
        environment = dict(os.environ)
        if package is not None:
            environment["PYTHONPATH"] = str(package)
        if isa_name is not None:
            environment["SWP_ISA"] = isa_name
        command = [sys.executable, ROOT / "bench" / "contender.py", kernel]
        self.process = subprocess.Popen(
            list(map(str, command)), env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            preexec_fn=lambda: os.sched_setaffinity(0, [max(os.sched_getaffinity(0))]),
        )

    def ask(self, **request):
        """One sweep over request["close"], a .npy file: its seconds and the hash of its numbers."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.name}: ended with {self.process.wait()}")
        return json.loads(answer)

    def end(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def kernels_of(package):
    environment = dict(os.environ) if package is None else {**os.environ, "PYTHONPATH": str(package)}
    command = [sys.executable, "-c", "import sweepd; print(*sweepd.kernels())"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()


def contenders_of(builds, wanted):
    """numba first, then the kernels that are wanted of every build as the text above says."""
    found = [Contender("numba", "numba")]
    for build in builds:
        package = package_of(build)
        for kernel in kernels_of(package):
            if kernel not in wanted:
                continue
            if kernel in STRICT:
                found.append(Contender(f"{kernel}, {build}", kernel, package))
            elif build == builds[0]:
                found += [Contender(f"{kernel} {name}, {build}", kernel, package, name) for name in isa.of_this_machine()]
    return found


# ---- a run ----

def prove(contenders, close_path):
    """The gate. Returns the hash that every timed sweep must have."""
    answers = {c.name: c.ask(close=close_path, table=True) for c in contenders}
    tables = {name: np.load(answer["table"]) for name, answer in answers.items()}
    case = gate.Case("gate", np.load(close_path), STUDY_PARAMS)
    for name, table in tables.items():
        texts = gate.differences(case, table, tables["numba"])
        if texts:
            sys.exit(f"{name} is not identical to the reference: {texts[0]}")
    return answers["numba"]["hash"]


def rounds_of(contenders, close_path, rounds, expected, numba_every=1):
    """Seconds by contender, one a round; numba's, which is slow, only every so many. Each round begins with another contender."""
    seconds = {c.name: [] for c in contenders}
    for turn in range(rounds):
        first = turn % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            if contender.name == "numba" and turn % numba_every != 0:
                continue
            answer = contender.ask(close=close_path)
            if answer["hash"] != expected:
                sys.exit(f"{contender.name}: round {turn} gave other numbers")
            seconds[contender.name].append(answer["seconds"])
    return seconds


def run_shape(contenders, shape, options, numba_every=1):
    close_path = str(options.out / f"{shape}.npy")
    quietly([program(), "generate", "--shape", shape, "--bars", options.bars, "--out", close_path])
    expected = prove(contenders, close_path)
    return {"shape": shape, "hash": expected, "seconds": rounds_of(contenders, close_path, options.rounds, expected, numba_every)}


def program():
    return os.environ.get("SWEEPD", str(ROOT / "build" / "sweepd"))


def ratios_to(base, own):
    """How many times as fast, round by round; a base that ran less often stands for the rounds after it."""
    every = -(-len(own) // len(base))
    return [base[i // every] / value for i, value in enumerate(own)]


def fastest_strict(seconds):
    """Of each round; None without strict contenders."""
    of_strict = [values for name, values in seconds.items() if name.split(",")[0] in STRICT]
    return [min(values) for values in zip(*of_strict, strict=True)] if of_strict else None


# ---- sections ----

def headline(options):
    contenders = contenders_of(options.builds, options.kernels)
    result = run_shape(contenders, "randwalk", options)
    end_all(contenders)
    strict = fastest_strict(result["seconds"])
    rows = []
    for name, values in result["seconds"].items():
        rows.append([name, report.shown(values, 1e3), report.shown(ratios_to(result["seconds"]["numba"], values)),
                     report.shown(ratios_to(strict, values)) if strict else "-"])
    columns = ["", "ms min / median / max", "times as fast as numba", "as the fastest strict loop of the round"]
    return sweeps.section(
        "Headline", f"Random walk, {options.bars:,} bars x {len(STUDY_PARAMS)} combos, one pinned thread, {options.rounds} rounds, all identical "
        f"to the numba reference, hash {result['hash']}.", [report.table(columns, rows)], result)


def shapes(options):
    """numba and the kernels that are not strict, of the first build."""
    contenders = contenders_of(options.builds[:1], [name for name in options.kernels if name == "certified"] or options.kernels)
    others = [c for c in contenders if c.name.split(",")[0] not in STRICT]
    numba_every = max(1, options.rounds // 2)
    results = [run_shape(others, shape, options, numba_every) for shape in options.shapes]
    end_all(contenders)
    names = [c.name for c in others if c.name != "numba"]
    rows, worst = [], {name: [] for name in names}
    for result in results:
        seconds = result["seconds"]
        row = [result["shape"], report.shown(seconds["numba"], 1e3)]
        for name in names:
            ratios = ratios_to(seconds["numba"], seconds[name])
            worst[name].append((report.spread(ratios)["median"], result["shape"]))
            row += [report.shown(seconds[name], 1e3), report.shown(ratios)]
        rows.append(row)
    rows.append(["worst of the medians", "", *(cell for name in names for cell in (min(worst[name])[1], f"{min(worst[name])[0]:.1f}"))])
    columns = ["shape", "numba, ms", *(cell for name in names for cell in (f"{name.split(',')[0]}, ms", "times as fast"))]
    return sweeps.section(
        "Hard shapes", f"{options.bars:,} bars x {len(STUDY_PARAMS)} combos, one pinned thread, {options.rounds} rounds (numba: every "
        f"{numba_every}), min / median / max, all identical to the numba reference.", [report.table(columns, rows)], results)


def end_all(contenders):
    for contender in contenders:
        contender.end()


AGAINST_OTHERS = {"headline": headline, "shapes": shapes}
SECTIONS = ["headline", "threads", "shapes", "bars", "combos", "windows", "product", "one-combo", "cold-start"]
HARD_SHAPES = ["constant", "flat-noise", "tick-half", "tick-five", "steps", "nan-holes", "inf-holes", "huge", "tiny", "subnormal", "jump-up",
               "alternating", "coin-flips"]


def run_section(name, options, about):
    if name in AGAINST_OTHERS:
        return AGAINST_OTHERS[name](options)
    return sweeps.SECTIONS[name](sweeps.Sweeps(program(), options.out, options.rounds, about["ghz"]))


def words_of(text):
    return text.split(",")


def parse(arguments):
    there = [build for build, (compiler, _) in BUILDS.items() if shutil.which(compiler)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", type=words_of, default=SECTIONS, help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--bars", type=int, default=150_000, help="of headline and shapes")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--shapes", type=words_of, default=HARD_SHAPES)
    parser.add_argument("--kernels", type=words_of, default=["strict", "exact", "certified"], help="of sweepd.kernels()")
    parser.add_argument("--builds", type=words_of, default=there, help=f"of {', '.join(BUILDS)}, installed")
    parser.add_argument("--build", action="store_true", help="only build what would be timed")
    parser.add_argument("--out", type=pathlib.Path, default=FOLDER)
    options = parser.parse_args(arguments)
    unknown = set(options.only) - set(SECTIONS)
    if unknown:
        parser.error(f"--only {','.join(sorted(unknown))}: there are {', '.join(SECTIONS)}")
    return options


def main(arguments):
    options = parse(arguments)
    options.out.mkdir(exist_ok=True, parents=True)
    if options.build:
        for build in options.builds:
            package_of(build)
        return
    compilers = sorted({BUILDS[build][0] for build in options.builds if build in BUILDS})
    about = report.machine(compilers, ROOT / "build" / "bench" / "clock")
    print(report.machine_line(about))
    for name in options.only:
        begun = time.monotonic()
        section = run_section(name, options, about)
        print("\n" + report.write(options.out, name, section, about))
        print(f"{time.monotonic() - begun:.0f} s; {options.out / name}.md, .json", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
