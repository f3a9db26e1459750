"""sweepd live: states as bars arrive, the journal, and the proofs of verify."""
import json
import os
import signal
import subprocess

import pytest

HEADER = "bar,close,combo,position,entry,pnl,trades,time"


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
        _, close, _, position, entered, pnl, trades, _ = row.split(",")
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


def closes(lines):
    return [line.split(",")[1] for line in lines]


def times(lines):
    return [line.rsplit(",", 1)[1] for line in lines]


def test_columns_are_named_by_a_header_or_a_number(sweepd):
    bars = ["2024-01-01,1.5", "2024-01-02,2.5"]
    named = rows(live(sweepd, lines=["time,close", *bars]))
    assert (closes(named), times(named)) == (["1.5", "2.5"], ["2024-01-01", "2024-01-02"])
    assert rows(live(sweepd, "--close", "2", "--time", "1", lines=bars)) == named
    assert times(rows(live(sweepd, "--close", "2", "--time", "none", lines=bars))) == ["", ""]
    refused = live(sweepd, lines=bars)
    assert refused.returncode == 1 and "standard input:1:" in refused.stderr and "--close N" in refused.stderr


KLINE = "{0},{1},{1},{1},{1},9.0,{2},1.0,5,1.0,1.0,0"


@pytest.mark.parametrize("lines, options, stamps", [
    (["Date;Open;High;Low;Close", "2024-01-31 09:30;1;3;1;2", "2024-01-31 09:31:05;2;3;1;2"], [],
     ["2024-01-31 09:30", "2024-01-31 09:31:05"]),
    (["date,time,close", "2024-01-31,0930,1", "2024-01-31,0931,2"], [], ["2024-01-31 09:30", "2024-01-31 09:31"]),
    (["t,close", "1706693400,1", "1706693460,2"], ["--time", "t"], ["2024-01-31 09:30", "2024-01-31 09:31"]),
    (["20110301 090100;1;2;1;2;7", "20110301 090200;1;2;1;2;7"], [], ["2011-03-01 09:01", "2011-03-01 09:02"]),  # NinjaTrader
    ([KLINE.format(1706693400000, 1, 1706693459999), KLINE.format(1706693460000, 2, 1706693519999)], [],
     ["2024-01-31 09:30", "2024-01-31 09:31"]),  # Binance
    (["Datum;Schluss", "31.01.2024;1,5", "01.02.2024;2,5"],
     ["--close", "Schluss", "--time-format", "dmy", "--decimal", "comma"], ["2024-01-31", "2024-02-01"]),
    (["time,close", "2024-01-31 09:30,1", "2024-01-31 09:31,2"], ["--time-zone", "+02:00"],
     ["2024-01-31 07:30", "2024-01-31 07:31"]),
    (["when,close", "2024-01-31,1", "2024-02-01,2"], [], ["2024-01-31", "2024-02-01"]),  # the only column of dates
    (["1.5", "2.5"], [], ["", ""]),
], ids=["header", "joined", "seconds", "ninjatrader", "binance", "german", "zone", "unnamed", "closes"])
@pytest.mark.parametrize("at_a_time", [1, 7, 1 << 16])
def test_layouts_are_recognised_however_the_bytes_arrive(sweepd, lines, options, stamps, at_a_time):
    """And each row leaves before the next has come."""
    words = [sweepd, "live", "--length", "2", *options]
    data = "".join(line + "\n" for line in lines).encode()
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        out = process.stdout
        assert out.readline().decode().strip() == HEADER
        has_header = len(lines) > len(stamps)
        first = data.index(b"\n") + 1 if not has_header else data.index(b"\n", data.index(b"\n") + 1) + 1
        for i, piece in enumerate((data[:first], data[first:])):
            for at in range(0, len(piece), at_a_time):
                process.stdin.write(piece[at:at + at_a_time])
            assert times([out.readline().decode().rstrip("\n")]) == [stamps[i]]
        process.stdin.close()
        assert process.wait(60) == 0


def test_json_has_the_stamp_or_null(sweepd):
    stamped = live(sweepd, "--format", "json", lines=["time,close", "2024-01-31 09:30:00.25,1.5"])
    assert json.loads(stamped.stdout)["time"] == "2024-01-31 09:30:00.250000000"
    assert json.loads(live(sweepd, "--format", "json", lines=["1.5"]).stdout)["time"] is None


@pytest.mark.parametrize("stamps, line, why", [
    (["2024-01-02", "2024-01-01"], 3, '"2024-01-01" is before "2024-01-02" of line 2'),
    (["2024-01-02", "2024-01-03", "2024-01-02", "2024-01-01"], 4, "is before"),
    (["2024-01-02", "2024-01-02"], 3, '"2024-01-02" repeats "2024-01-02" of line 2'),
    (["2024-01-02", "2024-01-03 09:30"], 3, "the lines above have a date without a time"),
    (["2024-01-02", "yesterday"], 3, 'time "yesterday"'),
    (["03/02/2024"], 2, "03/02/2024"),
    (["03/02/2024", "13/02/2024"], 2, "03/02/2024"),  # what has yet to come decides nothing
])
def test_a_stamp_that_does_not_rise_or_cannot_be_read_ends_it_after_the_rows_before(sweepd, stamps, line, why):
    done = live(sweepd, lines=["time,close", *(f"{stamp},{i + 1}" for i, stamp in enumerate(stamps))])
    assert done.returncode == 1
    assert f"standard input:{line}:" in done.stderr and why in done.stderr, done.stderr
    assert len(done.stdout.splitlines()) == line - 1  # the header stands for the header


def test_a_repeated_stamp_is_passed_over_and_said_so_where_that_is_asked_for(sweepd):
    lines = ["time,close", "2024-01-01,1", "2024-01-02,2", "2024-01-02,7", "2024-01-02,8", "2024-01-03,3"]
    done = live(sweepd, "--duplicates", "first", lines=lines)
    assert closes(rows(done)) == ["1", "2", "3"]
    assert [line for line in done.stderr.splitlines() if "passed over" in line] == [
        f"sweepd: standard input:{line}: its time stamp repeats: passed over" for line in (4, 5)]
    last = live(sweepd, "--duplicates", "last", lines=lines)
    assert last.returncode == 2 and "cannot be replaced" in last.stderr


def test_the_first_stamp_comes_after_the_warm_up(sweepd, tmp_path):
    warm_up = tmp_path / "w.csv"
    warm_up.write_text("time,close\n2024-01-01,1\n2024-01-02,2\n")
    for stamp in "2024-01-02", "2023-12-31":
        done = live(sweepd, "--warm-up", warm_up, lines=["time,close", f"{stamp},3"])
        assert done.returncode == 1 and "standard input:2:" in done.stderr and "the last bar of --warm-up" in done.stderr
    assert times(rows(live(sweepd, "--warm-up", warm_up, lines=["time,close", "2024-01-03,3"]))) == ["2024-01-03"]


def test_it_follows_a_file_that_grows(sweepd, tmp_path):
    path = tmp_path / "bars.csv"
    path.write_text("time,close\n2024-01-01,1\n")
    with subprocess.Popen(["tail", "-f", "-n", "+1", path], stdout=subprocess.PIPE) as tail, \
            subprocess.Popen([sweepd, "live", "--length", "2"], stdin=tail.stdout, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline().strip() == HEADER
            for day in range(1, 6):
                assert process.stdout.readline().endswith(f",2024-01-0{day}\n")
                with open(path, "a") as bars:
                    bars.write(f"2024-01-0{day + 1},{day}\n")
        finally:
            tail.kill()
        process.stdout.read()
        assert process.wait(60) == 0


@pytest.mark.parametrize("bad, why", [("x", "is not a number"), ("-1", "is not above zero"), ("1,2", "2 fields, but the first line has 1"),
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
