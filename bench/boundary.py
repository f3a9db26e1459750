#!/usr/bin/env python3
"""What crossing the boundary costs: `make bench ONLY=boundary`, or bench/boundary.py [--sections echoes,...] [--out FOLDER].

bench/boundary.c measures and says against what; here its rows become the tables of docs/performance-boundary.md: least, median and
most of the rounds, and a line for each goal with what came of it. Each section leaves its tables as boundary-SECTION.md and every
sample as boundary-SECTION.json in --out. Steal is what the machine's host took meanwhile.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

import report

ROOT = pathlib.Path(__file__).resolve().parent.parent
TITLES = {"echoes": "Echoes", "spinning": "What spinning costs", "sweeps": "Sweeps", "stdio": "An engine for one call"}


def run(program, section, options):
    """The rows of a section, and the share of CPU time that was stolen meanwhile."""
    words = [program, "--only", section, "--program", options.program, "--rounds", options.rounds, "--trips", options.trips,
             "--pairs", options.pairs, "--seconds", options.seconds, "--shape", options.shape]
    stolen, whole = report.cpu_times()
    done = subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    stolen, whole = (after - before for after, before in zip(report.cpu_times(), (stolen, whole), strict=True))
    return [json.loads(line) for line in done.stdout.splitlines()], stolen / max(1, whole)


def tables_of(rows):
    """One for each table the rows name, in their order; then the goals."""
    names = list(dict.fromkeys(row["table"] for row in rows))
    tables = [report.table([name, "min / median / max", ""],
                           [[row["name"], report.shown(row["values"]), row["unit"]] for row in rows if row["table"] == name])
              for name in names]
    goals = [goal_row(row) for row in rows if row["goal"] is not None]
    return [*tables, report.table(["goal", "median", "at most", ""], goals)] if goals else tables


def goal_row(row):
    median = report.spread(row["values"])["median"]
    size = next((size for size in ("8 bytes", "1.2 MB") if row["table"].startswith(f"Echo of {size}")), None)
    name = f"{size}: {row['name']}" if size else row["name"]
    met = "**met**" if median <= row["goal"] else "**missed**"
    return [name, f"{report.number(median)} {row['unit']}", f"{row['goal']:g} {row['unit']}", met]


def section_of(name, rows, stolen, options):
    sizes = {"echoes": f"{options.rounds} rounds, each the median of {options.trips} round trips (of 1.2 MB: a fortieth).",
             "sweeps": f"{options.pairs} interleaved pairs, of the longer ones fewer; all gave the same bits.",
             "stdio": f"{options.pairs} pairs.", "spinning": f"{options.seconds:g} s each, three times."}
    return {"title": f"Boundary: {TITLES[name]}", "text": f"{sizes[name]} Steal {100 * stolen:.2f} %.", "tables": tables_of(rows),
            "samples": rows}


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sections", type=lambda text: text.split(","), default=list(TITLES), help=f"of {', '.join(TITLES)}")
    parser.add_argument("--rounds", type=int, default=15, help="of echoes")
    parser.add_argument("--trips", type=int, default=2000, help="of a round of echoes")
    parser.add_argument("--pairs", type=int, default=200, help="of sweeps")
    parser.add_argument("--seconds", type=float, default=1, help="of each look at what spinning costs")
    parser.add_argument("--shape", default="randwalk", help="of the series, of `sweepd generate --shape`")
    parser.add_argument("--program", default=os.environ.get("SWEEPD", str(ROOT / "build" / "sweepd")))
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build-bench")
    options = parser.parse_args(arguments)
    unknown = set(options.sections) - set(TITLES)
    if unknown:
        parser.error(f"--sections {','.join(sorted(unknown))}: there are {', '.join(TITLES)}")
    return options


def main(arguments):
    options = parse(arguments)
    options.out.mkdir(exist_ok=True, parents=True)
    bench = pathlib.Path(options.program).resolve().parent / "bench"
    about = report.machine(["gcc"], bench / "clock")
    print(report.machine_line(about))
    for name in options.sections:
        begun = time.monotonic()
        rows, stolen = run(bench / "boundary", name, options)
        print("\n" + report.write(options.out, f"boundary-{name}", section_of(name, rows, stolen, options), about))
        print(f"{time.monotonic() - begun:.0f} s; {options.out / f'boundary-{name}'}.md, .json", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
