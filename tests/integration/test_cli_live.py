"""sweepd live: states as bars arrive, the journal, and the proofs of verify."""
import os
import signal
import subprocess

import pytest

HEADER = "bar,close,combo,position,entry,pnl,trades"


@pytest.fixture(scope="module")
def walk(sweepd, tmp_path_factory):
    path = tmp_path_factory.mktemp("live") / "walk.csv"
    subprocess.run([sweepd, "generate", "--bars", "600", "--out", path], check=True, capture_output=True)
    return path.read_text().splitlines()[1:]


def live(sweepd, *options, lines=(), **more):
    text = "".join(line + "\n" for line in lines)
    return subprocess.run([sweepd, "live", *map(str, options)], input=text, capture_output=True, text=True, **more)


def rows(done):
    assert done.returncode == 0, done.stderr
    header, *rest = done.stdout.splitlines()
    assert header == HEADER
    return rest


def swept(sweepd, path, lines, *options):
    path.write_text("close\n" + "\n".join(lines) + "\n")
    done = subprocess.run([sweepd, "sweep", path, "--format", "csv", *options], capture_output=True, text=True, check=True)
    names, *data = [line.split(",") for line in done.stdout.splitlines()]
    return [dict(zip(names, row)) for row in data]


@pytest.mark.parametrize("entry", ["first", "cross"])
@pytest.mark.parametrize("engine", [None, "spawn:"])
def test_the_last_row_is_the_sweep(sweepd, tmp_path, walk, entry, engine):
    where = ["--engine", engine] if engine else []
    last = rows(live(sweepd, "--length", "6,20", "--entry", entry, *where, lines=walk))[-2:]
    for row, expected in zip(last, swept(sweepd, tmp_path / "a.csv", walk, "--length", "6,20", "--entry", entry)):
        _, close, _, position, entered, pnl, trades = row.split(",")
        assert (close, position, entered, pnl, trades) == (
            walk[-1], expected["open_side"], expected["open_entry"], expected["pnl"], expected["trades"])


def test_each_row_leaves_as_its_bar_arrives(sweepd):
    with subprocess.Popen([sweepd, "live", "--length", "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          bufsize=1) as process:
        for i in range(20):
            process.stdin.write(f"{100 + i % 3}\n")
            if i == 0:
                assert process.stdout.readline().strip() == HEADER
            assert process.stdout.readline().startswith(f"{i},{100 + i % 3},0,")
        process.stdin.close()
        assert process.wait(60) == 0


def test_columns_are_named_by_a_header_or_a_number(sweepd):
    bars = ["2024-01-01,1.5", "2024-01-02,2.5"]
    named = rows(live(sweepd, lines=["time,close", *bars]))
    assert rows(live(sweepd, "--close", "2", lines=bars)) == named
    refused = live(sweepd, lines=bars)
    assert refused.returncode == 1 and "standard input:1:" in refused.stderr and "--close N" in refused.stderr


@pytest.mark.parametrize("bad, why", [("x", "is not a number"), ("-1", "is not above zero"), ("1,2", "2 fields, expected 1"),
                                      ("nan", "is not a number"), ("1e999", "beyond what a double holds")])
def test_a_bad_row_ends_it_with_its_line_after_the_rows_before_it(sweepd, bad, why):
    done = live(sweepd, lines=["1.5", "2.5", bad, "3.5"])
    assert done.returncode == 1
    assert "standard input:3:" in done.stderr and why in done.stderr
    assert len(done.stdout.splitlines()) == 3


def test_what_is_allowed_counts_as_a_bar(sweepd):
    assert len(rows(live(sweepd, "--allow", "nan,nonpositive", lines=["1.5", "", "nan", "-1", "2"]))) == 4  # no blank line


def test_a_journal_goes_on_where_it_stopped(sweepd, tmp_path, walk):
    journal, warm_up = tmp_path / "j", tmp_path / "w.csv"
    warm_up.write_text("close\n" + "\n".join(walk[:100]) + "\n")
    options = ["--length", "6,20", "--warm-up", warm_up, "--journal", journal]
    first = rows(live(sweepd, *options, lines=walk[100:300]))
    again = live(sweepd, *options, "--fsync", lines=walk[300:])  # the same command
    assert "goes on behind bar 299" in again.stderr
    assert first + rows(again) == rows(live(sweepd, "--length", "6,20", lines=walk))[200:]
    done = subprocess.run([sweepd, "verify", "--journal", journal], capture_output=True, text=True)
    assert done.returncode == 0 and "identical: 500 recorded bars" in done.stdout


def test_sigkill_loses_no_row_that_was_printed(sweepd, tmp_path, walk):
    journal = tmp_path / "j"
    whole = rows(live(sweepd, lines=walk))
    done = 0
    for kill_at in (1, 57, 300):
        with subprocess.Popen([sweepd, "live", "--journal", journal], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True, bufsize=1) as process:
            process.stdin.write("".join(line + "\n" for line in walk[done:]))
            assert process.stdout.readline().strip() == HEADER
            for i in range(done, kill_at):
                assert process.stdout.readline().strip() == whole[i]
            process.send_signal(signal.SIGKILL)
            process.wait(60)
        size = os.path.getsize(journal)
        head, record = 64 + 48 + 8, 16 + 40 + 8
        done = (size - head) // record
        assert done >= kill_at
    assert rows(live(sweepd, "--journal", journal, lines=walk[done:])) == whole[done:]


def test_a_journal_without_a_bar_keeps_its_options(sweepd, tmp_path, walk):
    journal = tmp_path / "j"
    assert rows(live(sweepd, "--length", "6,20,30", "--entry", "cross", "--journal", journal)) == []
    again = rows(live(sweepd, "--journal", journal, lines=walk))
    assert again == rows(live(sweepd, "--length", "6,20,30", "--entry", "cross", lines=walk))
    done = subprocess.run([sweepd, "verify", "--journal", journal], capture_output=True, text=True)
    assert done.returncode == 0 and "identical: 600 recorded bars behind 0 of warm-up, 3 combos" in done.stdout


@pytest.mark.parametrize("cut", [1, 13, 63])
def test_a_torn_last_record_is_dropped_and_said_so(sweepd, tmp_path, walk, cut):
    journal = tmp_path / "j"
    whole = rows(live(sweepd, "--journal", journal, lines=walk[:50]))
    os.truncate(journal, os.path.getsize(journal) - cut)
    again = live(sweepd, "--journal", journal, lines=walk[49:50])
    assert "torn" in again.stderr
    assert rows(again) == whole[49:]


HEAD, RECORD = 64 + 48, 16 + 40 + 8  # of one combo, without the head's checksum of 8


@pytest.mark.parametrize("at, said", [
    (0, "byte 0: this is no journal"), (8, "version 0"), (12, "strategy 0"), (16, "another kernel id"),
    (32, "byte 32: counts that do not fit"), (46, "byte 32: counts that do not fit"), (70, f"byte {HEAD}: the checksum of the head"),
    (HEAD + 3, f"byte {HEAD}: the checksum of the head"), (HEAD + 8, f"byte {HEAD + 8}: a damaged record, and more behind it"),
    (1000, f"byte {HEAD + 8 + (1000 - HEAD - 8) // RECORD * RECORD}: a damaged record"),
])
def test_damage_is_refused_at_its_byte_and_nothing_is_touched(sweepd, tmp_path, walk, at, said):
    journal = tmp_path / "j"
    rows(live(sweepd, "--journal", journal, lines=walk[:50]))
    data = bytearray(journal.read_bytes())
    data[at] ^= 1
    journal.write_bytes(data)
    for done in (live(sweepd, "--journal", journal),
                 subprocess.run([sweepd, "verify", "--journal", journal], capture_output=True, text=True)):
        assert done.returncode == 1 and f"{journal}: " in done.stderr and said in done.stderr
    assert journal.read_bytes() == data


def test_options_other_than_the_journals_are_refused(sweepd, tmp_path, walk):
    journal = tmp_path / "j"
    rows(live(sweepd, "--journal", journal, lines=walk[:5]))
    for options in (["--length", "21"], ["--fee", "0.1"], ["--entry", "cross"], ["--allow", "nan"]):
        done = live(sweepd, "--journal", journal, *options)
        assert done.returncode == 1 and "was begun with another" in done.stderr


def test_one_journal_has_one_writer(sweepd, tmp_path):
    journal = tmp_path / "j"
    with subprocess.Popen([sweepd, "live", "--journal", journal], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          bufsize=1) as process:
        process.stdin.write("1.5\n")
        assert process.stdout.readline().strip() == HEADER
        assert "another session" in live(sweepd, "--journal", journal).stderr
        process.stdin.close()


def test_verify_live_proves_a_file(sweepd, tmp_path, walk):
    path = tmp_path / "a.csv"
    path.write_text("close\n" + "\n".join(walk) + "\n")
    done = subprocess.run([sweepd, "verify", path, "--live", "--length", "6,20"], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stdout.count("identical, 2 combos, after each of 600 bars") == 2
