#!/usr/bin/env python3
"""Kernels against numba, one thread each, in one run.

Every contender is a process of its own that holds the series: the numba reference, and a kernel of one build of the library. First
the gate: each sweeps once, and whoever differs from the reference in any bit ends the run. Then rounds, in which all take one turn
after the other, so that what the machine does meanwhile befalls them alike. Ratios are taken within a round.

usage: .venv/bin/python bench/kernels.py [--bars 150000] [--rounds 5] [--shapes randwalk,tick-grid] [--kernels NAME,...]
           [--builds gcc-O3,clang-O3-native,...] [--out FILE.json]

A kernel joins by its name in sweepd.kernels(). The strict ones run in every build; the others in the first, once for each
instruction set this machine has (SWP_ISA). Build "installed" is the package in the environment as it is.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

import numba  # noqa: E402
import numpy as np  # noqa: E402

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


def compiler_version(name):
    return subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


# ---- contenders ----

class Contender:
    """A process that sweeps when told."""

    def __init__(self, name, kernel, package=None, isa_name=None):
        self.name = name
        environment = dict(os.environ)
        if package is not None:
            environment["PYTHONPATH"] = str(package)
        if isa_name is not None:
            environment["SWP_ISA"] = isa_name
        command = [sys.executable, ROOT / "bench" / "contender.py", kernel]
        self.process = subprocess.Popen(
            list(map(str, command)), env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
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
    """numba first, then every kernel of every build as the text above says."""
    found = [Contender("numba", "numba")]
    for build in builds:
        package = package_of(build)
        for kernel in kernels_of(package):
            if wanted and kernel not in wanted:
                continue
            if kernel in STRICT:
                found.append(Contender(f"{kernel}, {build}", kernel, package))
            elif build == builds[0]:
                found += [Contender(f"{kernel} {name}, {build}", kernel, package, name) for name in isa.of_this_machine()]
    return found


# ---- a run ----

def prove(contenders, close_path):
    """The gate. Returns the hash that every timed sweep must have."""
    tables = {c.name: np.load(c.ask(close=close_path, table=True)["table"]) for c in contenders}
    case = gate.Case("gate", np.load(close_path), STUDY_PARAMS)
    for name, table in tables.items():
        texts = gate.differences(case, table, tables["numba"])
        if texts:
            sys.exit(f"{name} is not identical to the reference: {texts[0]}")
    return contenders[0].ask(close=close_path)["hash"]


def rounds_of(contenders, close_path, rounds, expected):
    """Seconds by contender, one a round. Each round begins with another contender."""
    seconds = {c.name: [] for c in contenders}
    for turn in range(rounds):
        first = turn % len(contenders)
        for contender in contenders[first:] + contenders[:first]:
            answer = contender.ask(close=close_path)
            if answer["hash"] != expected:
                sys.exit(f"{contender.name}: round {turn} gave other numbers")
            seconds[contender.name].append(answer["seconds"])
    return seconds


def spread(values):
    return {"min": min(values), "median": statistics.median(values), "max": max(values)}


def run_shape(contenders, shape, options):
    close_path = str(FOLDER / f"{shape}.npy")
    program = os.environ.get("SWEEPD", str(ROOT / "build" / "sweepd"))
    quietly([program, "generate", "--shape", shape, "--bars", options.bars, "--out", close_path])
    expected = prove(contenders, close_path)
    seconds = rounds_of(contenders, close_path, options.rounds, expected)
    rows = []
    for name, values in seconds.items():
        ratios = [base / own for base, own in zip(seconds["numba"], values, strict=True)]
        rows.append({"contender": name, "seconds": spread(values), "times_numba": spread(ratios)})
    return {"shape": shape, "hash": expected, "rows": rows}


def print_shape(result, options):
    print(f"\n{result['shape']}, {options.bars:,} bars x {len(STUDY_PARAMS)} combos, one thread, {options.rounds} rounds, "
          f"all identical to the numba reference, hash {result['hash']}")
    print(f"{'':36}{'milliseconds':^30}  {'times as fast as numba':^27}")
    print(f"{'':36}{'min':>10}{'median':>10}{'max':>10}  {'min':>9}{'median':>9}{'max':>9}")
    for row in result["rows"]:
        times = "".join(f"{row['seconds'][key] * 1e3:10.2f}" for key in ("min", "median", "max"))
        ratios = "".join(f"{row['times_numba'][key]:9.2f}" for key in ("min", "median", "max"))
        print(f"{row['contender']:36}{times}  {ratios}")


def machine(builds):
    model = "unknown CPU"
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
    compilers = sorted({BUILDS[build][0] for build in builds if build in BUILDS})
    return {
        "cpu": model, "cpus": os.cpu_count(), "python": platform.python_version(), "numba": numba.__version__,
        "compilers": [compiler_version(name) for name in compilers],
    }


def words_of(text):
    return text.split(",")


def parse(arguments):
    there = [build for build, (compiler, _) in BUILDS.items() if shutil.which(compiler)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bars", type=int, default=150_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shapes", type=words_of, default=["randwalk", "tick-grid"])
    parser.add_argument("--kernels", type=words_of, default=[], help="only these (all)")
    parser.add_argument("--builds", type=words_of, default=there, help=f"of {', '.join(BUILDS)}, installed")
    parser.add_argument("--out", default=str(FOLDER / "kernels.json"))
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    FOLDER.mkdir(exist_ok=True)
    about = machine(options.builds)
    print(", ".join([about["cpu"], f"{about['cpus']} CPUs", f"numba {about['numba']}", *about["compilers"]]))
    contenders = contenders_of(options.builds, options.kernels)
    results = []
    for shape in options.shapes:
        results.append(run_shape(contenders, shape, options))
        print_shape(results[-1], options)
    for contender in contenders:
        contender.end()
    report = {"machine": about, "bars": options.bars, "combos": len(STUDY_PARAMS), "rounds": options.rounds, "shapes": results}
    pathlib.Path(options.out).write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"\nwritten to {options.out}")


if __name__ == "__main__":
    main(sys.argv[1:])
