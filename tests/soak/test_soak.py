"""The soak test itself, for a few seconds: it runs, kills, compares and looks. `make nightly` runs it for 20 minutes."""
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip("sweepd", reason="the Python package is not in this environment: run make python")

SOAK = pathlib.Path(__file__).with_name("soak.py")


def test_a_short_soak_is_flat_and_right(sweepd):
    done = subprocess.run([sys.executable, SOAK, "--minutes", "0.1", "--program", sweepd], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"[1-9]\d* clients, \d+ killed, \d+ stopped for a second; [1-9][\d,]* calls, every sweep right", done.stdout)
