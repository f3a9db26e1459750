"""The random stream in C is NumPy's own, to the last bit, the tail's logarithms included."""
import pathlib
import subprocess

import numpy as np
import pytest


@pytest.mark.parametrize("seed, count", [
    (42, 10_000_000), (0, 1_000_000), (1, 1_000_000), (2**32 - 1, 1_000_000), (2**32, 1_000_000), (2**63, 1_000_000),
    (2**64 - 1, 1_000_000), (0x0123456789ABCDEF, 1_000_000),
])
def test_normal_stream_is_numpys_bit_for_bit(sweepd, seed, count):
    program = pathlib.Path(sweepd).parent / "tests" / "normal_stream"
    out = subprocess.run([program, str(seed), str(count)], stdout=subprocess.PIPE, check=True).stdout
    got = np.frombuffer(out, "<u8")
    expected = np.random.default_rng(seed).standard_normal(count).view("u8")
    assert len(got) == count
    different = np.flatnonzero(got != expected)
    assert different.size == 0, f"first different draw: {different[0]}"
