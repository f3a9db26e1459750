"""The gate's word on a report of `sweepd sweep`: is it what the reference gives on the same closes?

usage: verdict.py CLOSE.npy REPORT.json

Exits 1 when a combo differs in any bit of any number.
"""
import json
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from reference import gate  # noqa: E402


def main(close_path, report_path):
    with open(report_path, encoding="utf-8") as f:
        report = json.load(f)
    combos = report["combos"]
    case = gate.Case(
        report_path, np.load(close_path), np.array([combo["params"] for combo in combos], np.int64), report["fee"]
    )
    differences = gate.differences(case, gate.cli_table(report), gate.reference_table(case))
    for text in differences[:3]:
        print(text)
    first = combos[0]
    print(f"combo 0, length {first['length']}: PnL {first['pnl']:.2f}, {first['trades']:,} trades")
    print(f"all {len(combos)}: {sum(combo['trades'] for combo in combos):,} trades")
    word = "NOT identical" if differences else "identical"
    print(f"{word} to the numba reference on {len(combos) - len(differences)} of {len(combos)} combos")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
