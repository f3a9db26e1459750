"""Compressed files and standard input: the same bars as the plain file, or refused; memory does not follow what a file claims."""
import gzip
import io
import shutil
import subprocess

import numpy as np
import pytest

from support.bars_file import Refused, read

ROWS = "time,close\n" + "".join(f"{1600000000 + 60 * i},{100 + i % 977 / 8}\n" for i in range(30_000))


def packed(kind, data):
    if kind == "gz":
        return gzip.compress(data)
    if shutil.which("zstd") is None:
        pytest.skip("no program zstd (Debian: apt-get install zstd)")
    return subprocess.run(["zstd", "-qc"], input=data, stdout=subprocess.PIPE, check=True).stdout


def write(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", ["gz", "zst"])
@pytest.mark.parametrize("name", ["f.csv", "f.csv.{}", "anything"])
def test_text_is_told_by_its_first_bytes(sweepd, tmp_path, kind, name):
    plain = read(sweepd, write(tmp_path / "plain.csv", ROWS.encode()))
    bars = read(sweepd, write(tmp_path / name.format(kind), packed(kind, ROWS.encode())))
    assert bars.summary == plain.summary
    assert np.array_equal(bars.close, plain.close) and np.array_equal(bars.time_ns, plain.time_ns)


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_members_one_after_another_are_one_file(sweepd, tmp_path, kind):
    half = len(ROWS) // 2
    data = packed(kind, ROWS[:half].encode()) + packed(kind, ROWS[half:].encode())
    assert read(sweepd, write(tmp_path / "f.csv", data)).summary.startswith("read 30000 bars")


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_npy_and_raw_numbers_by_the_name(sweepd, tmp_path, kind):
    closes = np.linspace(1, 2, 20_000)
    out = io.BytesIO()
    np.save(out, closes)
    assert np.array_equal(read(sweepd, write(tmp_path / f"f.npy.{kind}", packed(kind, out.getvalue()))).close, closes)
    assert np.array_equal(read(sweepd, write(tmp_path / f"f.f64.{kind}", packed(kind, closes.tobytes()))).close, closes)


@pytest.mark.parametrize("kind, name", [("gz", "gzip"), ("zst", "zstd")])
def test_cut_or_damaged_is_refused(sweepd, tmp_path, kind, name):
    whole = packed(kind, ROWS.encode())
    for size in [5, 20, len(whole) // 2, len(whole) - 9, len(whole) - 1]:
        with pytest.raises(Refused, match=f"f.csv: the {name} data is cut short"):
            read(sweepd, write(tmp_path / "f.csv", whole[:size]))
    for at in range(12, len(whole), len(whole) // 7):
        data = bytearray(whole)
        data[at] ^= 0x5A
        try:
            bars = read(sweepd, write(tmp_path / "f.csv", bytes(data)))
        except Refused as refused:
            assert refused.status == 4
        else:  # a bit that means nothing
            assert len(bars.close) == 30_000


def test_a_bomb_is_refused(sweepd, tmp_path):
    data = gzip.compress(b"close\n" + b"100\n" * 20_000_000, 9)
    with pytest.raises(Refused, match="the gzip data unpacks to more than 200 times its size"):
        read(sweepd, write(tmp_path / "f.csv", data))


@pytest.mark.parametrize("kind", ["plain", "gz"])
def test_standard_input_is_read_as_a_file_is(sweepd, kind):
    data = ROWS.encode() if kind == "plain" else gzip.compress(ROWS.encode())
    run = subprocess.run([sweepd, "sweep", "-", "--length", "6"], input=data, stdout=subprocess.PIPE, check=True)
    assert run.stdout.startswith(b"read 30000 bars, 2020-09-13 12:26:40 .. ")
