#!/usr/bin/env python3
"""Runs the fuzz targets of a build and says what each has done.

usage: run.py BUILD (--seconds N | --runs N) [--only TARGET[,TARGET...]] [--keep]

BUILD was configured with -Dfuzz=true. Each target begins from its seeds (seeds.py) and tests/fuzz/found; with --keep also from
what earlier runs with --keep found to reach new code, in BUILD/fuzz/TARGET. Ends with 1 when a target broke a promise: the
input is in BUILD/fuzz/found.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

import seeds

TIMEOUT_S = 25  # for one input
MEMORY_MIB = 2048
SIZE_MAX = {"server": 8192, "wire": 4096, "csv": 4096, "npy": 4096, "ring": 4096, "snapshot": 4096, "journal": 4096, "http_body": 4096}


def targets(build):
    names = sorted(p.name.removeprefix("fuzz_") for p in (build / "tests/fuzz").glob("fuzz_*") if p.is_file())
    if not names:
        sys.exit(f"{build}: no fuzz targets there: CC=clang meson setup {build} -Dfuzz=true, then ninja fuzz-targets")
    return names


def number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def run(build, target, arguments):
    folder = build / "fuzz"
    begin, corpus, found = folder / "seeds" / target, folder / target, folder / "found"
    shutil.rmtree(begin, ignore_errors=True)
    seeds.write(target, begin, build / "sweepd")
    if not arguments.keep:
        corpus = folder / "passing" / target
        shutil.rmtree(corpus, ignore_errors=True)
    corpus.mkdir(parents=True, exist_ok=True)
    found.mkdir(exist_ok=True)
    limit = f"-max_total_time={arguments.seconds}" if arguments.seconds else f"-runs={arguments.runs}"
    command = [build / "tests/fuzz" / f"fuzz_{target}", limit, f"-max_len={SIZE_MAX[target]}", f"-timeout={TIMEOUT_S}",
               f"-rss_limit_mb={MEMORY_MIB}", "-print_final_stats=1", f"-artifact_prefix={found}/{target}-", corpus, begin]
    if arguments.runs:
        command.insert(1, "-seed=1")
    done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                          env=os.environ | {"UBSAN_OPTIONS": "print_stacktrace=1"}, check=False)
    executions = number(r"stat::number_of_executed_units: (\d+)", done.stderr)
    edges = number(r"cov: (\d+)", done.stderr)
    rate = number(r"stat::average_exec_per_sec:\s+(\d+)", done.stderr)
    print(f"{target:10} {executions:10} executions, {rate:6} a second, {edges:5} edges: "
          f"{'no finding' if done.returncode == 0 else 'A FINDING'}", flush=True)
    if done.returncode != 0:
        print(done.stderr[-6000:])
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, help="for each target")
    parser.add_argument("--runs", type=int, help="of each target, from a fixed seed")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    if (arguments.seconds is None) == (arguments.runs is None):
        parser.error("one of --seconds and --runs")
    build = arguments.build.resolve()
    good = [run(build, target, arguments) for target in arguments.only or targets(build)]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
