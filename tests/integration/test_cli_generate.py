"""sweepd generate: files that hold the series and nothing half-written."""
import os
import signal
import subprocess
import time

import numpy as np
import pytest


def generate(sweepd, *words, check=True):
    done = subprocess.run([sweepd, "generate", *map(str, words)], capture_output=True, text=True, timeout=60)
    assert not check or done.returncode == 0, done.stderr
    return done


def test_randwalk_is_numpys_stream(sweepd, tmp_path):
    path = tmp_path / "walk.npy"
    done = generate(sweepd, "--bars", 1000, "--seed", 7, "--sigma", 0.01, "--start", 50, "--out", path)
    assert done.stdout == ""
    assert done.stderr == f"wrote 1000 bars of randwalk, seed 7, to {path}\n"
    close = np.load(path)
    z = np.random.default_rng(7).standard_normal(1000)
    assert close == pytest.approx(50 * np.exp(np.cumsum(0.01 * z)), rel=1e-14)


def test_all_formats_hold_the_same_closes(sweepd, tmp_path):
    closes = []
    for ending in ("npy", "f64", "csv"):
        path = tmp_path / f"walk.{ending}"
        generate(sweepd, "--bars", 500, "--out", path)
        if ending == "npy":
            closes.append(np.load(path))
        elif ending == "f64":
            closes.append(np.fromfile(path, "<f8"))
        else:
            lines = path.read_text().splitlines()
            assert lines[0] == "close"
            closes.append(np.array([float(line) for line in lines[1:]]))
    assert closes[0].tobytes() == closes[1].tobytes() == closes[2].tobytes()


def test_a_name_of_no_format_is_refused(sweepd, tmp_path):
    done = generate(sweepd, "--out", tmp_path / "walk.txt", check=False)
    assert done.returncode == 1
    assert ".npy, .f64, .csv" in done.stderr
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_an_error(sweepd, tmp_path):
    done = generate(sweepd, "--out", tmp_path / "no" / "walk.npy", check=False)
    assert done.returncode == 1
    assert "No such file or directory" in done.stderr


def test_a_full_disk_leaves_the_old_file(sweepd, tmp_path):
    path = tmp_path / "walk.npy"
    path.write_text("old")
    script = 'ulimit -f 8; "$0" generate --bars 100000 --out "$1"'
    done = subprocess.run(["bash", "-c", script, sweepd, path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "cannot be written: File too large" in done.stderr
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["walk.npy"]


def test_interrupted_it_ends_at_once_and_leaves_nothing(sweepd, tmp_path):
    path = tmp_path / "walk.csv"
    begun = subprocess.Popen([sweepd, "generate", "--bars", "30000000", "--out", path], stderr=subprocess.PIPE, text=True)
    while not os.listdir(tmp_path):  # the temporary file is there: it writes, for most of a minute if nobody interrupts
        assert begun.poll() is None
        time.sleep(0.01)
    begun.send_signal(signal.SIGINT)
    _, stderr = begun.communicate(timeout=20)
    assert begun.returncode == 130
    assert stderr == f"sweepd: {path}: interrupted; nothing was written\n"
    assert os.listdir(tmp_path) == []
