"""One truth over builds: what any program built from these sources finds on committed inputs that no libm made, as hashes.

tests/golden/parity.json has, case by case, the sha256 of the closes and of the results: the columns of gate.FIELDS as 64-bit
little-endian integers, a combo after the other, as the reference in plain Python gives them.

    parity.py PROGRAM...            checks programs (build/sweepd, another compiler's, another architecture's under qemu by --under)
    parity.py --write               writes the file anew, by the reference in plain Python: minutes
    parity.py --builds FOLDER       builds this tree by each compiler and optimisation there is, and checks each: minutes
"""
import argparse
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS))

from reference import gate, isa  # noqa: E402
from reference.cases import params_of_length  # noqa: E402

PATH = TESTS / "golden" / "parity.json"
KERNELS = ("strict", "strict-checked", "exact", "certified")
LENGTHS = (1, 2, 3, 5, 6, 7, 10, 20, 29, 30, 53, 64, 100, 101, 150, 200, 333)
ODD = ((9, 2, 5, 8, 3, 1), (1, 1, 1, 1, 2, 1), (2, 40, 1, 7, 3, 9), (100, 6, 64, 5, 90, 33))


# ---- inputs: integers, and operations that IEEE 754 rounds in one way only ----

def integers(count, seed, modulus):
    x, found = seed, []
    for _ in range(count):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        found.append((x >> 33) % modulus)
    return found


def steps(count, seed, reach=3):
    price, found = 400 * reach, []
    for step in integers(count, seed, 2 * reach + 1):
        price += step - reach
        found.append(price)
    return found


def walk():
    return [price / 4 for price in steps(1500, 1)]


def cents():
    return [price / 100 for price in steps(1500, 2, 40)]


def flat():
    """Stretches that are flat but for one in 2^45."""
    noise = integers(1500, 4, 3)
    return [100.0 + (bar // 300) + (noise[bar] * 2.0**-38 if bar % 300 > 150 else 0.0) for bar in range(1500)]


def holes():
    return [float("nan") if hole == 0 else price / 4 for price, hole in zip(steps(1500, 5), integers(1500, 6, 150), strict=True)]


def jump():
    return [price / 4 * (1e6 if bar >= 700 else 1.0) for bar, price in enumerate(steps(1500, 7))]


def infinite():
    return [float("inf") if bar == 500 else price / 4 for bar, price in enumerate(steps(1500, 8))]


def tiny():
    """All of it subnormal: zero where subnormals are flushed."""
    return [price * 2.0**-1070 for price in steps(1500, 9)]


def huge():
    return [price * 2.0**1008 for price in steps(1500, 10)]


def coin():
    return [100.0 + 0.5 * side for side in integers(1500, 11, 2)]


SERIES = (walk, cents, flat, holes, jump, infinite, tiny, huge, coin)


def cases():
    params = np.array([params_of_length(length) for length in LENGTHS] + [list(odd) for odd in ODD], np.int64)
    for number, make in enumerate(SERIES):
        fee, entry = ((0.09, "first"), (0.1, "cross"))[number % 2]
        yield gate.Case(make.__name__, np.array(make(), np.float64), params, fee, entry)


# ---- hashes ----

def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def hashes(table_of_case):
    return [{"name": case.name, "closes": sha256(case.close.astype("<f8")), "results": sha256(table_of_case(case).astype("<i8"))}
            for case in cases()]


def golden():
    return json.loads(PATH.read_text(encoding="utf-8"))["cases"]


def write():
    text = {"provenance": "our own reference in plain Python (tests/reference/hma_cross.py, docs/numbers.md line for line), by "
                          "tests/reference/parity.py --write; the closes are made there from integers",
            "cases": hashes(gate.plain_table)}
    PATH.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


# ---- programs ----

def program_table(case, words, kernel, environment):
    """By a program: `words` that run it."""
    with tempfile.TemporaryDirectory() as folder:
        bars, params = pathlib.Path(folder, "bars.npy"), pathlib.Path(folder, "params.npy")
        np.save(bars, case.close.astype("<f8"))
        np.save(params, case.params)
        done = subprocess.run(
            [*words, "sweep", bars, "--params", params, "--fee", repr(case.fee), "--entry", case.entry, "--kernel", kernel,
             "--threads", "2", "--allow", "nan,inf,nonpositive", "--format", "json"],
            env={**os.environ, **environment}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return gate.cli_table(json.loads(done.stdout))


def isas_of(words):
    """Those the program can be told to use here: all of a program of this machine's, the portable one of another's."""
    return isa.of_this_machine() if len(words) == 1 else ["c"]


def check_program(words, environment=None):
    """How often it agreed; raises AssertionError with the first case that does not."""
    wanted, agreed = golden(), 0
    for name in isas_of(words):
        for kernel in KERNELS:
            found = hashes(functools.partial(program_table, words=words, kernel=kernel,
                                             environment={"SWP_ISA": name, **(environment or {})}))
            for got, expected in zip(found, wanted, strict=True):
                assert got == expected, f"{' '.join(words)}, kernel {kernel}, SWP_ISA={name}: {got}, expected {expected}"
                agreed += 1
    return agreed


def builds(folder):
    """Programs of this tree: a compiler and an optimisation each."""
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for level, flags in (("0", ""), ("1", ""), ("2", ""), ("3", ""), ("s", ""), ("3", "-march=native"), ("2", "-flto")):
            build = folder / f"{compiler}-O{level}{flags}"
            command = ["meson", "setup", build, f"-Doptimization={level}", "-Ddebug=false", *([f"-Dc_args={flags}"] if flags else [])]
            if flags == "-flto":
                command[-1:] = ["-Db_lto=true"]
            if not (build / "build.ninja").exists():
                subprocess.run(command, cwd=TESTS.parent, env={**os.environ, "CC": compiler}, stdout=subprocess.DEVNULL, check=True)
            subprocess.run(["ninja", "-C", build, "--quiet", "sweepd"], check=True)
            yield build / "sweepd"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    parser.add_argument("--under", default="", help="words that run them: qemu-aarch64 -L /usr/aarch64-linux-gnu")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--builds", type=pathlib.Path)
    options = parser.parse_args()
    if options.write:
        write()
    for program in (*options.programs, *(builds(options.builds.resolve()) if options.builds else ())):
        words = [*options.under.split(), str(program.resolve())]
        print(f"{program}: {check_program(words)} of {len(golden())} cases x {len(KERNELS)} kernels x "
              f"{len(isas_of(words))} instruction sets agree", flush=True)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as differs:
        sys.exit(f"parity: {differs}")
