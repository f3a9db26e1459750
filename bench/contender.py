"""One contender of kernels.py: sweeps the study's 80 combos with one kernel on one thread each time a line asks it to.

usage: contender.py KERNEL     "numba" is the reference

Reads requests, a JSON object a line: {"close": FILE.npy, "table": true for the numbers}. Answers each with {"seconds", "hash"}, and
with {"table": FILE.npy} where that was asked for. Series are kept; compiling and loading are not in the seconds.
"""
import functools
import hashlib
import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

import numpy as np  # noqa: E402

from reference import gate  # noqa: E402
from reference.cases import STUDY_PARAMS  # noqa: E402


@functools.cache
def case_of(path):
    return gate.Case(path, np.load(path), STUDY_PARAMS)


def sweep_of(kernel):
    """What is timed, and what makes the gate's table of it."""
    if kernel == "numba":
        return gate.reference_rows, gate.table_of_rows
    return lambda case: gate.package_sweep(case, kernel, threads=1), gate.table_of_sweep


def answer(sweep, table_of, request, folder):
    case = case_of(request["close"])
    start = time.perf_counter()
    result = sweep(case)
    seconds = time.perf_counter() - start
    table = table_of(result)
    told = {"seconds": seconds, "hash": hashlib.sha256(table.tobytes()).hexdigest()[:16]}
    if request.get("table"):
        told["table"] = str(pathlib.Path(folder, "table.npy"))
        np.save(told["table"], table)
    return told


def main(kernel):
    sweep, table_of = sweep_of(kernel)
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            print(json.dumps(answer(sweep, table_of, json.loads(line), folder)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
