"""Live sessions against the specification in plain Python and against the sweep, on series nobody chose.

And the comparison can fail: copies of the session's step with one mistake each are caught.
"""
import pathlib
import shutil
import struct
import subprocess

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

from .hma_cross import hma_cross

package = pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANY = ("nan", "inf", "nonpositive")
EXAMPLES = 150

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
closes = st.one_of(
    st.lists(st.sampled_from([99.0, 100.0, 100.25, 101.0]), min_size=1, max_size=60),
    st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=1, max_size=60),
    st.lists(st.one_of(finite, st.sampled_from([float("nan"), float("inf"), float("-inf"), 0.0, 5e-324])), min_size=1,
             max_size=60),
)
combos = st.lists(st.tuples(*[st.integers(1, 9)] * 6), min_size=1, max_size=4)
steps = st.sampled_from([1, 2, 3, 5, 7, 13, 100])


def bits(value):
    value = float(value)
    return b"nan" if value != value else struct.pack("<d", value)


def of_reference(close, combo, fee, cross):
    with np.errstate(all="ignore"):
        pnl, trades, _, side, _, entry, _, _ = hma_cross(np.array(close), *combo, fee, cross)
    return side, bits(entry), bits(pnl), trades


def of_live(states, i):
    return int(states.position[i]), bits(states.entry[i]), bits(states.pnl[i]), int(states.trades[i])


@pytest.fixture(scope="module")
def engine():
    with package.connect("inproc:", threads=1) as engine:
        yield engine


@hypothesis.settings(max_examples=EXAMPLES)
@hypothesis.given(close=closes, rows=combos, cut=st.floats(0, 1), step=steps, cross=st.booleans(),
                  fee=st.sampled_from([0.0, 0.09, -1.5]), stop=st.floats(0, 1))
def test_live_is_the_reference_after_every_push(engine, close, rows, cut, step, cross, fee, stop):
    close = np.array(close)
    split = int(cut * len(close))
    rest = len(close) - split
    stop_at = split + int(stop * rest)  # where the session is snapshotted and restored
    live = engine.live(params=np.array(rows), fee=fee, entry="cross" if cross else "first", allow=ANY,
                       warmup=close[:split] if split else None)
    restored = False
    for at in range(split, len(close), step):
        if not restored and at >= stop_at:
            snapshot = live.snapshot()
            live.close()
            live, restored = engine.restore(snapshot), True
            live._is_one = False
        states = live.push(close[at : at + step])
        for i, combo in enumerate(rows):
            assert of_live(states, i) == of_reference(close[: at + step], combo, fee, cross)
    live.close()


MISTAKES = {
    "a history one bar short": ("history->length - (m - 1);", "history->length - (m - 2);"),
    "the second history one bar short": ("oldest_of(&c->hma3_input, c->params.p), c->params.p)",
                                         "oldest_of(&c->hma3_input, c->params.p) + 1, c->params.p)"),
    "newest first": ("sum += x[k] * (double)(k + 1);", "sum += x[m - 1 - k] * (double)(m - k);"),
    "weights from 0": ("sum += x[k] * (double)(k + 1);", "sum += x[k] * (double)k;"),
    "ties turn short": ("} else if (hma3 < hma) {", "} else {"),
    "histories of zeros": ("history->values[i] = NAN;", "history->values[i] = 0.0;"),
    "warm-up trades twice": ("    put_bar(bars, close);\n    keep_bar(bars);",
                             "    put_bar(bars, close);\n    trade_bar(bars, close);\n    keep_bar(bars);"),
}


@pytest.fixture(scope="module")
def copy_of_sources(tmp_path_factory):
    root = tmp_path_factory.mktemp("mutants")
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    for name in filter(None, tracked):
        if not name.startswith(("docs/", "tests/golden")) or name.startswith("docs/numbers"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
    (root / "tests/golden").mkdir(parents=True, exist_ok=True)
    for golden in (ROOT / "tests/golden").iterdir():
        shutil.copy(golden, root / "tests/golden" / golden.name)
    subprocess.run(["meson", "setup", "build", "-Doptimization=1"], cwd=root, check=True, capture_output=True)
    return root


def proves(root):
    """`sweepd verify --live`, with a warm-up too: what a user has to prove a build with."""
    subprocess.run(["ninja", "-C", "build", "sweepd"], cwd=root, check=True, capture_output=True)
    program, path = root / "build/sweepd", root / "bars.csv"
    # Ties in prices that are no binary fractions: a sum in another order has another sign.
    walk = np.round(100 + np.cumsum(np.random.default_rng(1).choice([-0.1, 0.0, 0.0, 0.0, 0.1], 600)), 1)
    path.write_text("close\n" + "\n".join(map(repr, walk.tolist())) + "\n")
    verified = subprocess.run([program, "verify", path, "--live", "--length", "2:12"], capture_output=True)
    warm, journal = root / "warm.csv", root / "journal"
    journal.unlink(missing_ok=True)
    warm.write_text("close\n" + "\n".join(map(repr, walk[:200].tolist())) + "\n")
    subprocess.run([program, "live", "--length", "2:12", "--warm-up", warm, "--journal", journal], capture_output=True,
                   input="\n".join(map(repr, walk[200:].tolist())).encode() + b"\n", check=True)
    replayed = subprocess.run([program, "verify", "--journal", journal], capture_output=True)
    for done in verified, replayed:
        assert (done.returncode == 0) == (b"DIFFERENT: combo " not in done.stdout), done.stdout  # it names what differs
    return verified.returncode == 0 and replayed.returncode == 0


def test_a_live_session_with_one_mistake_is_caught(copy_of_sources):
    source = copy_of_sources / "src/kernel/hma_cross_live.c"
    right = source.read_text()
    assert proves(copy_of_sources)
    for name, (was, becomes) in MISTAKES.items():
        assert was in right, name
        source.write_text(right.replace(was, becomes))
        assert not proves(copy_of_sources), name
    source.write_text(right)
