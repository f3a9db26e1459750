"""The gate can fail: it does on each of these copies of the strict kernel with one mistake built in, the ones ports are known for.

A copy of the sources is built once, then again for every mistake, and swept by the machinery that passes the unmutated copy.
"""
import os
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT
from reference import cases, elsewhere, gate, isa

MESON = [sys.executable, "-m", "mesonbuild.mesonmain"]
NOT_SOURCES = shutil.ignore_patterns("build*", ".*", "__pycache__", "dist", "demo")

RULE = "src/kernel/hma_cross.h"
STRICT = "src/kernel/hma_cross_strict.inc"

FUSES = "'-mfma', " if os.uname().machine == "x86_64" else ""

# what is wrong: file, then text to replace by text, each there exactly once
MUTANTS = {
    "fee_before_the_conversion_to_percent": (RULE, {
        "(close - state->entry) / state->entry * 100.0 - exec->fee;":
            "((close - state->entry) / state->entry - exec->fee) * 100.0;",
    }),
    "nan_takes_the_other_branch": (STRICT, {
        "if (isnan(hma) || isnan(hma3)) {": "if (false) {",
        "} else if (hma3 < hma) {": "} else if (!(hma3 >= hma)) {",
    }),
    "window_valid_one_bar_late": (STRICT, {"return bar < m - 1 ?": "return bar < m ?"}),
    "window_one_bar_short": (STRICT, {"for (int64_t k = 0; k < m; k++) {": "for (int64_t k = 1; k < m; k++) {"}),
    "weight_off_by_one": (STRICT, {"(double)(k + 1)": "(double)k"}),
    "tie_flips": (STRICT, {"} else if (hma3 < hma) {": "} else if (hma3 <= hma) {"}),
    "sum_from_the_newest": (STRICT, {
        "for (int64_t k = 0; k < m; k++) {": "for (int64_t k = m - 1; k >= 0; k--) {",
    }),
    "nan_disarms": (STRICT, {
        "if (isnan(hma) || isnan(hma3)) {\n": "if (isnan(hma) || isnan(hma3)) {\n            state->armed = 0;\n",
    }),
    "products_fused_with_sums": ("meson.build", {
        "'-ffp-contract=off', '-fno-fast-math',": f"'-ffp-contract=fast', {FUSES}'-O2',",
    }),
    "sums_reordered": ("meson.build", {
        "'-ffp-contract=off', '-fno-fast-math',": "'-ffp-contract=off', '-fassociative-math', '-fno-signed-zeros', '-fno-trapping-math', '-O3',",
    }),
}


class Copy:
    """A built copy of the sources."""

    def __init__(self, folder):
        self.source, self.build, self.package = folder / "source", folder / "build", folder / "package"
        shutil.copytree(ROOT, self.source, ignore=NOT_SOURCES)
        self.expected = [(case, gate.reference_table(case)) for case in cases.by_rule(bars=300, long=False)]
        self.meson("setup", self.build, self.source, "-Dpython=enabled", "-Dpython.platlibdir=/", "-Doptimization=1")

    def meson(self, *arguments):
        done = subprocess.run([*MESON, *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    def write(self, file, changes):
        text = (ROOT / file).read_text(encoding="utf-8")
        for old, new in changes.items():
            assert text.count(old) == 1, f"{file} has {text.count(old)} times: {old}"
            text = text.replace(old, new)
        (self.source / file).write_text(text, encoding="utf-8")

    def differences(self):
        """What the gate says of the copy's strict kernel."""
        self.meson("compile", "-C", self.build, "python-package")
        self.meson("install", "-C", self.build, "--no-rebuild", "--tags", "python-runtime", "--destdir", self.package)
        environment = {**os.environ, "PYTHONPATH": str(self.package)}
        return elsewhere.differences(self.expected, ["strict"], environment)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    copy = Copy(tmp_path_factory.mktemp("mutants"))
    assert copy.differences() == [], "the unmutated copy must pass"
    return copy


def test_the_unmutated_copy_passes(copy):
    assert (copy.package / "sweepd").is_dir()


@pytest.mark.parametrize("name", MUTANTS)
def test_the_gate_fails_on(name, copy):
    file, changes = MUTANTS[name]
    if name == "products_fused_with_sums" and FUSES and "fma" not in isa.cpu_flags():
        pytest.skip("this CPU cannot fuse")
    copy.write(file, changes)
    try:
        found = copy.differences()
    finally:
        copy.write(file, {})
    assert found, f"the gate passes a kernel with this mistake: {name}"
