"""sweepd sweep --out FILE --resume: what is finished is never lost, and the file is as if nothing had happened."""
import os
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import time

import numpy as np
import pytest

HEAD = 96
# On the slowest kernel for the better part of a minute, if it were left alone; its numbers are the other kernels' numbers.
SLOW = ["--length", "6:120", "--length3", "6:105", "--kernel", "strict"]
COMBOS = 115 * 100


@pytest.fixture(scope="module")
def bars(tmp_path_factory):
    path = tmp_path_factory.mktemp("resume") / "bars.npy"
    np.save(path, 100.0 * np.exp(np.cumsum(0.01 * np.random.default_rng(5).standard_normal(100_000))))
    return path


def command(sweepd, bars, out, *words, grid=SLOW, form="csv", resume=True):
    return [str(word) for word in [sweepd, "sweep", bars, *grid, "--format", form, "--out", out, *["--resume"] * resume, *words]]


def run(*args, **kwargs):
    return subprocess.run(command(*args, **kwargs), capture_output=True, text=True, timeout=300)


def log_of(out):
    return pathlib.Path(f"{out}.resume")


def begin(sweepd, bars, out, *words, records=1, **kwargs):
    """A sweep in a process of its own whose log has `records` records and that has not ended."""
    process = subprocess.Popen(command(sweepd, bars, out, *words, **kwargs), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 240
    while not log_of(out).exists() or len(records_of(log_of(out))) < records:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


def end(process, number):
    process.send_signal(number)
    said = process.communicate(timeout=120)[1]
    return process.returncode, said


def records_of(path):
    """(offset, first, count) of each record that is there in full."""
    data = path.read_bytes()
    at, found = HEAD, []
    while at + 16 <= len(data):
        first, count = struct.unpack_from("<QQ", data, at)
        size = 16 + 64 * count + 8
        if at + size > len(data):
            break
        found.append((at, first, count))
        at += size
    return found


@pytest.fixture(scope="module")
def whole(sweepd, bars, tmp_path_factory):
    """The file of a sweep that nothing happened to, by format; by the fastest kernel."""
    made = {}

    def file_of(form):
        if form not in made:
            path = tmp_path_factory.mktemp("whole") / f"whole.{form}"
            done = run(sweepd, bars, path, grid=SLOW[:-2], form=form, resume=False)
            assert done.returncode == 0, done.stderr
            made[form] = path.read_bytes()
        return made[form]

    return file_of


@pytest.fixture(scope="module")
def broken_off(sweepd, bars, tmp_path_factory):
    """The log of a sweep that was killed, of two records at least, and what it holds."""
    out = tmp_path_factory.mktemp("killed") / "r.csv"
    code, _ = end(begin(sweepd, bars, out, records=2), signal.SIGKILL)
    assert code == -signal.SIGKILL
    assert not out.exists()
    found = records_of(log_of(out))
    assert 0 < sum(count for _, _, count in found) < COMBOS
    return log_of(out)


@pytest.fixture
def again(broken_off, tmp_path):
    """An --out whose log is a copy of the killed sweep's."""
    out = tmp_path / "r.csv"
    shutil.copy(broken_off, log_of(out))
    return out


def finish(sweepd, bars, out, form="csv"):
    """The same sweep by the fastest kernel, which goes on from the log."""
    return run(sweepd, bars, out, grid=SLOW[:-2], form=form)


def test_a_killed_sweep_goes_on_and_gives_the_file_of_one_that_was_not(sweepd, bars, again, whole):
    held = sum(count for _, _, count in records_of(log_of(again)))
    done = finish(sweepd, bars, again)
    assert done.returncode == 0, done.stderr
    assert f"going on from {held} of {COMBOS} combos" in done.stderr
    assert again.read_bytes() == whole("csv")
    assert not log_of(again).exists()


def test_the_format_may_be_another_when_it_goes_on(sweepd, bars, again, whole):
    done = finish(sweepd, bars, again, form="json")
    assert done.returncode == 0, done.stderr
    assert again.read_bytes() == whole("json")


def test_what_the_log_holds_is_taken_and_not_computed_again(sweepd, bars, again, whole):
    """A number changed in the log, with all sums put right, is in the file: only what is missing was computed."""
    xxhash = pytest.importorskip("xxhash")
    data = bytearray(log_of(again).read_bytes())
    sum_before = data[HEAD - 8 : HEAD]
    for number, (at, first, count) in enumerate(records_of(log_of(again))):
        size = 16 + 64 * count
        if number == 0:
            changed = first
            struct.pack_into("<d", data, at + 16, 12345.678)
        sum_before = struct.pack("<Q", xxhash.xxh3_128_intdigest(bytes(sum_before) + data[at : at + size]) & (2**64 - 1))
        data[at + size : at + size + 8] = sum_before
    log_of(again).write_bytes(data)
    done = finish(sweepd, bars, again)
    assert done.returncode == 0, done.stderr
    lines, expected = again.read_text().splitlines(), whole("csv").decode().splitlines()
    different = [i for i, (a, b) in enumerate(zip(lines, expected, strict=True)) if a != b]
    assert different == [1 + changed]
    assert "12345.678" in lines[1 + changed]


def test_a_torn_last_record_is_dropped_and_said(sweepd, bars, again, whole):
    found = records_of(log_of(again))
    at, _, count = found[-1]
    os.truncate(log_of(again), at + 16 + 64 * count)  # its sum is missing
    done = finish(sweepd, bars, again)
    assert done.returncode == 0, done.stderr
    assert f"its last {16 + 64 * count} bytes were not whole and are dropped" in done.stderr
    assert again.read_bytes() == whole("csv")


@pytest.mark.parametrize("where", ["first", "count", "number", "sum"])
def test_a_damaged_record_and_what_follows_are_computed_again(sweepd, bars, again, whole, where):
    data = bytearray(log_of(again).read_bytes())
    at, _, count = records_of(log_of(again))[0]
    data[at + {"first": 0, "count": 14, "number": 16 + 40, "sum": 16 + 64 * count}[where]] ^= 0x40
    log_of(again).write_bytes(data)
    done = finish(sweepd, bars, again)
    assert done.returncode == 0, done.stderr
    assert f"its last {len(data) - HEAD} bytes were not whole and are dropped" in done.stderr
    assert again.read_bytes() == whole("csv")


def test_a_log_cut_within_its_head_is_begun_anew(sweepd, bars, again, whole):
    os.truncate(log_of(again), HEAD - 1)
    done = finish(sweepd, bars, again)
    assert done.returncode == 0, done.stderr
    assert again.read_bytes() == whole("csv")


def test_ctrl_c_keeps_all_that_is_finished_and_says_how_to_go_on(sweepd, bars, tmp_path, whole):
    out = tmp_path / "r.csv"
    out.write_text("what was there before\n")
    code, said = end(begin(sweepd, bars, out), signal.SIGINT)
    assert code == 128 + signal.SIGINT
    held = sum(count for _, _, count in records_of(log_of(out)))
    assert f"{out} is as it was; {log_of(out)} has {held} of {COMBOS} combos, the same command goes on from there" in said
    assert out.read_text() == "what was there before\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.csv", "r.csv.resume"]
    assert finish(sweepd, bars, out).returncode == 0
    assert out.read_bytes() == whole("csv")


def other_closes(bars, tmp_path):
    close = np.load(bars)
    close[-1] *= 1.5
    np.save(tmp_path / "other.npy", close)
    return tmp_path / "other.npy"


def fewer_bars(bars, tmp_path):
    np.save(tmp_path / "fewer.npy", np.load(bars)[:-1])
    return tmp_path / "fewer.npy"


@pytest.mark.parametrize(("make", "words", "what"), [
    (other_closes, [], "as many bars, but other closes"),
    (fewer_bars, [], "100000 bars, here 99999"),
    (None, ["--length3", "6:104"], f"{COMBOS} combos, here {115 * 99}"),
    (None, ["--length3", "7:106"], "as many combos, but others"),
    (None, ["--entry", "cross"], "--entry first, here cross"),
    (None, ["--fee", "0.1"], "--fee 0.09, here 0.1"),
])
def test_a_log_of_another_sweep_is_refused_and_left_alone(sweepd, bars, again, tmp_path, make, words, what):
    before = log_of(again).read_bytes()
    done = run(sweepd, make(bars, tmp_path) if make else bars, again, *words)
    assert done.returncode == 1
    assert f"{log_of(again)} holds a part of another sweep: {what}; remove it" in done.stderr
    assert log_of(again).read_bytes() == before
    assert not again.exists()


def test_a_file_that_is_no_log_is_refused_and_left_alone(sweepd, bars, tmp_path):
    out = tmp_path / "r.csv"
    log_of(out).write_text("my notes\n")
    done = run(sweepd, bars, out)
    assert done.returncode == 1
    assert f"{log_of(out)} is not what a sweep leaves there" in done.stderr
    assert log_of(out).read_text() == "my notes\n"


def test_two_sweeps_never_write_one_log(sweepd, bars, tmp_path):
    out = tmp_path / "r.csv"
    first = begin(sweepd, bars, out)
    second = run(sweepd, bars, out)
    code, _ = end(first, signal.SIGTERM)
    assert second.returncode == 1
    assert f"{log_of(out)}: another sweep is writing it" in second.stderr
    assert code == 128 + signal.SIGTERM


@pytest.mark.parametrize(("words", "what"), [
    (["--format", "csv", "--resume"], "--resume keeps what is finished beside --out FILE, which is missing"),
    (["--out", "x.txt", "--resume"], "--resume is for --format csv or json"),
])
def test_resume_where_it_cannot_be_is_a_usage_error(sweepd, bars, words, what):
    done = subprocess.run([sweepd, "sweep", bars, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert what in done.stderr


def test_a_sweep_that_finishes_leaves_no_log(sweepd, bars, tmp_path):
    done = run(sweepd, bars, tmp_path / "r.csv", grid=["--length", "6,7"])
    assert done.returncode == 0, done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["r.csv"]


def test_a_sweep_goes_on_when_its_log_cannot_be_written(sweepd, bars, tmp_path, whole):
    """A limit on the size of files, below the log's: the sweep itself is not lost for it, and says what it could not do."""
    out = tmp_path / "r.csv"
    words = command(sweepd, bars, out, grid=SLOW[:-2])
    limit = 400_000  # the log comes to 740,000 bytes; so the result does not fit either, and that is an error

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    done = subprocess.run(words, capture_output=True, text=True, timeout=300, preexec_fn=limited)
    assert done.returncode == 1
    assert f"{log_of(out)}: cannot be written: File too large; the sweep goes on" in done.stderr
    assert f"{out}: cannot be written: File too large" in done.stderr
    assert not out.exists()
    assert finish(sweepd, bars, out).returncode == 0
    assert out.read_bytes() == whole("csv")


def test_a_resumed_sweep_on_an_engine_elsewhere_gives_the_same_file(sweepd, bars, again, whole):
    done = run(sweepd, bars, again, "--engine", f"spawn:{sweepd}", grid=SLOW[:-2])
    assert done.returncode == 0, done.stderr
    assert again.read_bytes() == whole("csv")


def most_resident(pid):
    """Bytes, of the program that it runs; 0 when it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def test_a_million_combos_need_little_beyond_their_results(sweepd, tmp_path):
    """1,000 x 1,000: parameters are 48 KB, results 65 bytes a combo; all the rest, the log too, is within 64 MiB."""
    if b"__asan_init" in pathlib.Path(sweepd).read_bytes():
        pytest.skip("a sanitizer's memory says nothing of the program's")
    np.save(tmp_path / "bars.npy", 100.0 + np.arange(1500) % 7)
    words = command(sweepd, tmp_path / "bars.npy", tmp_path / "r.csv", "--threads", 2,
                    grid=["--length", "6:1005", "--length3", "6:1005"])
    process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    most = 0
    while process.poll() is None:  # not wait4's figure, which begins with that of the process that started it
        most = max(most, most_resident(process.pid))
        time.sleep(0.01)
    assert process.returncode == 0
    assert most > 1_000_000 * 65
    assert most <= 1_000_000 * 65 + (64 << 20)
    with open(tmp_path / "r.csv", "rb") as file:
        assert sum(1 for _ in file) == 1 + 1_000_000
