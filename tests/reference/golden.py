"""tests/golden/hma_cross.txt: a small series that no libm made and what the reference gives on it, for a clone that has nothing
else to compare with.

Run as a program it writes the file anew: .venv/bin/python tests/reference/golden.py
"""
import pathlib
import sys

import numpy as np

TESTS = pathlib.Path(__file__).resolve().parent.parent
PATH = TESTS / "golden" / "hma_cross.txt"

PROVENANCE = (
    "# Our own output: the reference in plain Python (tests/reference/hma_cross.py, docs/numbers.md line for line) on a walk of"
    " quarter ticks from a congruential generator. Guards change; the truth is the reference, and the study's published fingerprint"
    " in tests/reference/test_gate.py."
)
LAYOUT = (
    "# bars N, a close a line; combos N, a line each: entry fee half full smooth third mid p"
    " = pnl trades first_bar side entry_bar entry last open_pnl"
)


def walk(bars):
    """Quarter ticks, with flat stretches and a hole."""
    x, price, close = 1, 400, []
    for i in range(bars):
        x = (x * 6364136223846793005 + 1442695040888963407) % 2**64
        if i % 100 >= 12:
            price += (x >> 33) % 7 - 3
        close.append(price / 4)
    close[bars // 2] = float("nan")
    return np.array(close)


def made_cases():
    from reference.cases import params_of_length
    from reference.gate import Case

    close = walk(1200)
    params = [params_of_length(n) for n in (1, 2, 3, 6, 7, 10, 30, 101, 200, 590, 600, 1199, 1300)]
    params += [[9, 2, 5, 8, 3, 1], [1, 1, 1, 1, 2, 1], [2, 40, 1, 7, 3, 9]]
    for entry, fee in ("first", 0.09), ("cross", 0.09), ("first", 0.0), ("cross", -1.5):
        yield Case("golden", close, np.array(params, np.int64), fee, entry)


def write():
    from reference.gate import FIELDS, FLOATS, plain_table

    cases = list(made_cases())
    close = cases[0].close
    lines = [PROVENANCE, LAYOUT, f"bars {len(close)}", *(repr(float(value)) for value in close)]
    lines.append(f"combos {sum(len(case.params) for case in cases)}")
    for case in cases:
        for combo, row in zip(case.params, plain_table(case), strict=True):
            numbers = [
                float(bits.view(np.float64)).hex() if field in FLOATS else str(bits)
                for field, bits in zip(FIELDS, row, strict=True)
            ]
            lines.append(" ".join([case.entry, float(case.fee).hex(), *map(str, combo), "=", *numbers]))
    PATH.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read():
    """Pairs of a case with one combo, and its table."""
    from reference.gate import FIELDS, FLOATS, Case, table_of

    lines = PATH.read_text(encoding="utf-8").splitlines()
    bars = int(lines[2].split()[1])
    close = np.array([float(line) for line in lines[3:3 + bars]])
    for line in lines[4 + bars:]:
        sweep, _, numbers = line.partition(" = ")
        entry, fee, *params = sweep.split()
        columns = [
            [float.fromhex(text) if field in FLOATS else int(text)] for field, text in zip(FIELDS, numbers.split(), strict=True)
        ]
        case = Case(f"golden, {sweep}", close, np.array([params], np.int64), float.fromhex(fee), entry)
        yield case, table_of(columns)


if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))
    write()
