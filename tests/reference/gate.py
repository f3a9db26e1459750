"""The comparison every number passes through: one sweep by an implementation, the same by the reference, bit by bit.

A *case* is a series with parameter sets, fee and entry rule. A *table* is what a sweep over it gave: one row a combo, the columns
of FIELDS as 64-bit integers (the bits of a float). NaN equals NaN, and must be the one NaN the kernel may give.
"""
import dataclasses

import numpy as np

from reference import hma_cross as plain

FIELDS = ("pnl", "trades", "first_bar", "side", "entry_bar", "entry", "last", "open_pnl")
FLOATS = ("pnl", "entry", "last", "open_pnl")
NAN_BITS = 0x7FF8000000000000


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    close: np.ndarray  # float64[bars]
    params: np.ndarray  # int64[n, 6]
    fee: float = 0.09
    entry: str = "first"


def _bits(values, field):
    if field not in FLOATS:
        return np.asarray(values, np.int64)
    floats = np.asarray(values, np.float64)
    return floats.view(np.int64)


def table_of(columns):
    return np.stack([_bits(values, field) for field, values in zip(FIELDS, columns, strict=True)], axis=1)


def reference_rows(case, function=None):
    """By the reference, a tuple of FIELDS a combo: `function` is the one to use, the numba build unless told."""
    if function is None:
        from reference import compiled

        function = compiled.hma_cross
    with np.errstate(all="ignore"):
        return [function(case.close, *map(int, combo), case.fee, case.entry == "cross") for combo in case.params]


def table_of_rows(rows):
    table = table_of(zip(*rows, strict=True))
    for field in FLOATS:  # any NaN stands for the one
        column = FIELDS.index(field)
        table[np.isnan(table[:, column].view(np.float64)), column] = NAN_BITS
    return table


def reference_table(case):
    return table_of_rows(reference_rows(case))


def plain_table(case):
    """By the reference in plain Python: slow, and in need of nothing but numpy."""
    return table_of_rows(reference_rows(case, plain.hma_cross))


def package_sweep(case, kernel="auto", threads=None):
    """By the Python package, in this process."""
    import sweepd

    return sweepd.sweep(
        case.close, params=case.params, fee=case.fee, entry=case.entry, kernel=kernel, threads=threads,
        allow=("nan", "inf", "nonpositive"),
    )


def table_of_sweep(r):
    o = r.open
    return table_of((r.pnl, r.trades, r.first_bar, o.side, o.entry_bar, o.entry, o.last, o.pnl))


def package_table(case, kernel="auto", threads=None):
    return table_of_sweep(package_sweep(case, kernel, threads))


def cli_table(report):
    """From what `sweepd sweep --format json` printed, parsed."""
    none = {"side": 0, "entry_bar": -1, "entry": 0.0, "last": 0.0, "pnl": 0.0}
    rows = []
    for combo in report["combos"]:
        o = combo["open"] or none
        first_bar = -1 if combo["first_bar"] is None else combo["first_bar"]
        rows.append((float(combo["pnl"]), combo["trades"], first_bar, o["side"], o["entry_bar"], float(o["entry"]),
                     float(o["last"]), float(o["pnl"])))
    return table_of(zip(*rows, strict=True))


def _show(bits, field):
    if field not in FLOATS:
        return str(bits)
    value = np.int64(bits).view(np.float64)
    return f"{value!r} ({np.uint64(np.int64(bits).view(np.uint64)):#018x})"


def differences(case, found, expected):
    """A text for each combo whose numbers differ, naming the first field; none when the tables are identical."""
    assert found.shape == expected.shape == (len(case.params), len(FIELDS)), (found.shape, expected.shape)
    texts = []
    for row in np.flatnonzero((found != expected).any(axis=1)):
        column = int((found[row] != expected[row]).argmax())
        field = FIELDS[column]
        texts.append(
            f"{case.name}: combo {row} {case.params[row].tolist()}: {field} is {_show(found[row, column], field)}, "
            f"the reference has {_show(expected[row, column], field)}"
        )
    return texts


def check(case, found, expected):
    """The gate: raises AssertionError naming the first difference."""
    texts = differences(case, found, expected)
    assert not texts, f"{len(texts)} of {len(case.params)} combos differ; {texts[0]}"
