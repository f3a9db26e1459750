#!/usr/bin/env python3
"""The Python client, measured: `make bench ONLY=python`, or bench/python.py [--rounds N] [--trips N] [--sections echo,sweep,json].

The yardstick of a crossing is a *bare* echo in Python: two processes, a pair of Unix sockets, sendall and recv_into, nothing
else. That of a sweep is the same sweep in C in a process of its own. All contenders stand ready and take turns, round after
round, so that what the machine does meanwhile befalls them alike; a ratio is taken within a round, and what is told is the median
of the rounds (least..most). Before anything is timed, all have given the same bits. Steal is what the machine's host took.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import sweepd
from report import cpu_times, machine_name, median_and_range

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
SMALL, LARGE = 8, 1_200_000
LENGTHS = np.rint(np.linspace(6, 200, 80)).astype(int)
PATIENCE = 30


# ---- contenders ----


def wait_until(condition):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            sys.exit("bench/python.py: a program did not get ready")
        time.sleep(0.01)
    return found


@contextlib.contextmanager
def daemon(folder, name, *options):
    """Its URL and its process."""
    path = os.path.join(folder, name)
    words = [BUILD / "sweepd", "serve", "--listen", f"unix:{path}", "--log-level", "warning", *options]
    with subprocess.Popen(list(map(str, words))) as process:
        try:
            wait_until(lambda: os.path.exists(path))
            yield f"unix:{path}", process.pid
        finally:
            process.terminate()


def pin(process, cpu):
    """All its threads; None: wherever the system puts them."""
    cpus = range(os.cpu_count()) if cpu is None else [cpu]
    for thread in os.listdir(f"/proc/{process}/task"):
        os.sched_setaffinity(int(thread), cpus)


def serve_bare(end):
    """How many bytes and how often, which is not timed; then so many echoes."""
    buffer, head = bytearray(LARGE), bytearray(8)
    while end.recv_into(head) == len(head):
        size, times = np.frombuffer(head, "<u4").tolist()
        view = memoryview(buffer)[:size]
        for _ in range(times):
            got = 0
            while got < size:
                got += end.recv_into(view[got:])
            end.sendall(view)


class Bare:
    def __init__(self):
        self.near, far = socket.socketpair()
        self.process = os.fork()
        if self.process == 0:
            self.near.close()
            with contextlib.suppress(BaseException):
                serve_bare(far)
            os._exit(0)
        far.close()
        self.buffer = bytearray(LARGE)

    def begin(self, size, trips):
        self.near.sendall(np.array([size, trips], "<u4").tobytes())
        self.view = memoryview(self.buffer)[:size]

    def trip(self, data):
        self.near.sendall(data)
        view, got = self.view, self.near.recv_into(self.view)
        while got < len(view):
            got += self.near.recv_into(view[got:])
        return view

    def close(self):
        self.near.close()
        os.waitpid(self.process, 0)


class Ours:
    def __init__(self, url, process, spin_us):
        self.engine, self.process = sweepd.connect(url, spin_us=spin_us), process
        self.trip = self.engine.echo

    def begin(self, size, trips):
        pass

    def close(self):
        self.engine.close()


class Here:
    """The sweep in C, in a process of its own."""

    def __init__(self, folder, close):
        self.results = os.path.join(folder, "results")
        close.tofile(os.path.join(folder, "closes"))
        words = [BUILD / "bench" / "here", os.path.join(folder, "closes"), self.results]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def us(self):
        self.process.stdin.write(b"\n")
        return float(self.process.stdout.readline())

    def found(self):
        self.us()
        return pathlib.Path(self.results).read_bytes()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


# ---- what is timed ----


def us_of(call):
    begun = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - begun) * 1e-3


def trip_us(contender, data, trips, cpus):
    """The median of many."""
    client, server = cpus
    pin(contender.process, server)
    os.sched_setaffinity(0, range(os.cpu_count()) if client is None else [client])
    contender.begin(len(data), trips + 2)
    trip = contender.trip
    if bytes(trip(data)) != data or bytes(trip(data)) != data:  # nothing is cold
        sys.exit("bench/python.py: other bytes came back: nothing is timed")
    us = []
    for _ in range(trips):
        begun = time.perf_counter_ns()
        trip(data)
        us.append(time.perf_counter_ns() - begun)
    os.sched_setaffinity(0, range(os.cpu_count()))
    pin(contender.process, None)
    return statistics.median(us) * 1e-3


def in_turns(calls, rounds):
    """{name: microseconds of each round}; every second round the other way round."""
    figures = {name: [] for name in calls}
    for i in range(rounds):
        for name in list(calls)[:: 1 if i % 2 == 0 else -1]:
            figures[name].append(calls[name]())
    return figures


# ---- what is told ----


def head(*cells):
    print("\n| " + " | ".join(cells) + " |")
    print("|" + "---|" * len(cells))


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def ratio_row(name, over, under, goal, digits=2):
    ratios = [a / b for a, b in zip(over, under, strict=True)]
    met = "" if goal is None else f"at most {goal:.2f}: **{'met' if statistics.median(ratios) <= goal else 'missed'}**"
    row(name, median_and_range(ratios, digits) if len(ratios) > 1 else f"{ratios[0]:.{digits}f}", met)


# ---- sections ----


def echoes(options, folder):
    across, one, free = (0, 1), (0, 0), (None, None)
    with contextlib.ExitStack() as stack:
        spinning = stack.enter_context(daemon(folder, "spinning"))
        quiet = stack.enter_context(daemon(folder, "quiet", "--spin", "0"))
        bare = stack.enter_context(contextlib.closing(Bare()))
        ours = stack.enter_context(contextlib.closing(Ours(*spinning, None)))
        shared = stack.enter_context(contextlib.closing(Ours(spinning[0].replace("unix:", "shm:"), spinning[1], None)))
        ours_quiet = stack.enter_context(contextlib.closing(Ours(*quiet, 0)))
        contenders = {
            "bare, across CPUs": (bare, across), "bare, one CPU": (bare, one),
            "ours, default, where the system puts it": (ours, free), "ours, default, across CPUs": (ours, across),
            "ours, default, `shm:`, across CPUs": (shared, across),
            "ours, without spinning, across CPUs": (ours_quiet, across), "ours, without spinning, one CPU": (ours_quiet, one),
        }
        found = {}
        for size, trips in (SMALL, options.trips), (LARGE, max(5, options.trips // 40)):
            data = os.urandom(size)
            turns = {name: lambda c=c, cpus=cpus: trip_us(c, data, trips, cpus) for name, (c, cpus) in contenders.items()}
            found[size] = in_turns(turns, options.rounds)
    head("echo, microseconds a round trip", "8 bytes", "1.2 MB")
    for name in contenders:
        row(name, median_and_range(found[SMALL][name]), median_and_range(found[LARGE][name], 0))
    head("ratio", "", "goal")
    small, large = found[SMALL], found[LARGE]
    bare_across, bare_one = "bare, across CPUs", "bare, one CPU"
    ratio_row("8 bytes, default / bare, both across CPUs", small["ours, default, across CPUs"], small[bare_across], 0.40)
    ratio_row("8 bytes, default where the system puts it / bare across", small["ours, default, where the system puts it"],
              small[bare_across], 0.40)
    for where, base in ("across CPUs", bare_across), ("one CPU", bare_one):
        ratio_row(f"8 bytes, without spinning / bare, both {where}", small[f"ours, without spinning, {where}"], small[base], 1.25)
    ratio_row("1.2 MB, default / bare, both across CPUs", large["ours, default, across CPUs"], large[bare_across], 1.25)
    for where, base in ("across CPUs", bare_across), ("one CPU", bare_one):
        ratio_row(f"1.2 MB, without spinning / bare, both {where}", large[f"ours, without spinning, {where}"], large[base], 1.25)


def bits_of(result):
    return result.pnl.tobytes() + result.trades.tobytes()


def gate(found, right):
    for name, bits in found.items():
        if bits != right:
            sys.exit(f"bench/python.py: {name} gives other numbers: nothing is timed")


def study_close(bars):
    return 100 * np.exp(np.cumsum(0.0008 * np.random.default_rng(42).standard_normal(bars)))


def sweeps(options, folder):
    close = study_close(options.bars)
    with contextlib.ExitStack() as stack:
        url, _ = stack.enter_context(daemon(folder, "sweeps"))
        there, inproc = stack.enter_context(sweepd.connect(url)), stack.enter_context(sweepd.connect("inproc:"))
        here = stack.enter_context(contextlib.closing(Here(folder, close)))
        series, own = there.load(close), inproc.load(close)
        tiny, own_tiny = there.load(close[:50]), inproc.load(close[:50])
        calls = {
            "preloaded": lambda: there.sweep(series, length=LENGTHS), "in this process": lambda: inproc.sweep(own, length=LENGTHS),
            "closes sent with each call": lambda: there.sweep(close, length=LENGTHS),
        }
        gate({name: bits_of(call()) for name, call in calls.items()}, here.found())
        turns = {name: lambda call=call: us_of(call) for name, call in calls.items()}
        us = in_turns({"C, in its process": here.us, **turns}, options.sweeps)
        small = {"unix:": lambda: us_of(lambda: there.sweep(tiny, length=6)),
                 "inproc:": lambda: us_of(lambda: inproc.sweep(own_tiny, length=6))}
        us_small = in_turns(small, 20 * options.sweeps)
    head(f"80 combos over {options.bars:,} bars, microseconds", "")
    row("C, in its process", median_and_range(us["C, in its process"], 0))
    row("Python, in its process (`inproc:`)", median_and_range(us["in this process"], 0))
    row("Python, `unix:`, the series there already", median_and_range(us["preloaded"], 0))
    row("Python, `unix:`, the closes sent with each call", median_and_range(us["closes sent with each call"], 0))
    for where, values in us_small.items():
        row(f"a sweep of one combo over 50 bars, `{where}`", median_and_range(values, 1))
    head("ratio", "", "goal")
    base = us["C, in its process"]
    ratio_row("Python over `unix:`, preloaded / C in-process, round by round", us["preloaded"], base, 1.03, 3)
    medians = [statistics.median(us["preloaded"])], [statistics.median(base)]
    ratio_row("the same, of the medians", *medians, 1.03, 3)
    ratio_row("the same, of the least", [min(us["preloaded"])], [min(base)], 1.03, 3)
    ratio_row("the closes sent with each call / C in-process", us["closes sent with each call"], base, None, 3)


def frames(options, folder):
    """A pandas Series in, a DataFrame out: what that adds."""
    try:
        import pandas
    except ImportError:
        print("\nskipped: pandas is not installed: Series in, DataFrame out is not measured")
        return
    close = study_close(options.bars)
    as_series = pandas.Series(close, index=pandas.date_range("2020-01-01", periods=options.bars, freq="min"))
    with daemon(folder, "frames") as (url, _), sweepd.connect(url) as there:
        by_frame = lambda: there.sweep(as_series, length=LENGTHS).to_pandas()  # noqa: E731
        by_array = lambda: there.sweep(close, length=LENGTHS)  # noqa: E731
        right = by_array()
        frame = by_frame()
        gate({"pandas": frame["pnl"].to_numpy().tobytes() + frame["trades"].to_numpy().tobytes()}, bits_of(right))
        us = in_turns({
            "in": lambda: us_of(lambda: sweepd._inputs.closes(as_series)), "array": lambda: us_of(lambda: sweepd._inputs.closes(close)),
            "out": lambda: us_of(right.to_pandas), "dict": lambda: us_of(right.to_dict),
            "frame to frame": lambda: us_of(by_frame), "array to Sweep": lambda: us_of(by_array),
        }, options.sweeps)
    head("a pandas Series in, a DataFrame of 80 rows out, microseconds", "")
    row(f"numpy array of {options.bars:,} closes -> what is sent", median_and_range(us["array"], 1))
    row(f"pandas Series of {options.bars:,} closes -> what is sent", median_and_range(us["in"], 1))
    row("Sweep -> dict of columns", median_and_range(us["dict"], 1))
    row("Sweep -> pandas.DataFrame", median_and_range(us["out"], 1))
    added = [a - b for a, b in zip(us["in"], us["array"], strict=True)]
    row("added to a call by both", median_and_range([a + b for a, b in zip(added, us["out"], strict=True)], 0))
    row("the whole call, Series sent, DataFrame made", median_and_range(us["frame to frame"], 0))
    row("the whole call, array sent, Sweep made", median_and_range(us["array to Sweep"], 0))


@contextlib.contextmanager
def http_door(folder, url):
    """A connection to it."""
    log = os.path.join(folder, "http.log")
    with open(log, "wb") as err, subprocess.Popen([BUILD / "sweepd-http", "--engine", url, "--listen", "tcp:localhost:0"],
                                                   stderr=err) as process:
        try:
            port = wait_until(lambda: re.search(r"listening on tcp:127\.0\.0\.1:(\d+)", pathlib.Path(log).read_text()))[1]
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", int(port))) as connection:
                yield connection
        finally:
            process.terminate()


def ask(connection, body):
    connection.request("POST", "/v1/sweep", body, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    answer = json.loads(reply.read())
    if reply.status != 200:
        sys.exit(f"bench/python.py: {answer}")
    return np.array(answer["pnl"]).tobytes() + np.array(answer["trades"]).tobytes()


def json_door(options, folder):
    if not (BUILD / "sweepd-http").exists():
        print("\nskipped: sweepd-http is not built: JSON is not measured")
        return
    close = study_close(options.bars)
    with contextlib.ExitStack() as stack:
        url, _ = stack.enter_context(daemon(folder, "json"))
        there = stack.enter_context(sweepd.connect(url))
        door = stack.enter_context(http_door(folder, url))
        series = there.load(close, name="study")
        body = {"close": close.tolist(), "length": LENGTHS.tolist()}
        text, named = json.dumps(body), json.dumps({"series": "study", "length": LENGTHS.tolist()})
        calls = {
            "JSON": lambda: ask(door, json.dumps({"close": close.tolist(), "length": LENGTHS.tolist()})),
            "JSON, text ready": lambda: ask(door, text), "JSON, the series there already": lambda: ask(door, named),
            "binary": lambda: bits_of(there.sweep(close, length=LENGTHS)),
            "binary, the series there already": lambda: bits_of(there.sweep(series, length=LENGTHS)),
        }
        right = bits_of(sweepd.sweep(close, length=LENGTHS))
        gate({name: call() for name, call in calls.items()}, right)
        calls["writing the text"] = lambda: json.dumps(body)
        calls["writing the bytes"] = close.tobytes
        us = in_turns({name: lambda call=call: us_of(call) for name, call in calls.items()}, max(3, options.sweeps // 4))
    head(f"a whole sweep call, 80 combos over {options.bars:,} closes, milliseconds", "")
    for name in calls:
        row(name, median_and_range([value * 1e-3 for value in us[name]], 2))
    row("size of the request", f"{len(text):,} bytes as JSON, {close.nbytes:,} as numbers")
    head("ratio", "", "")
    ratio_row("JSON / binary, closes sent with each call", us["JSON"], us["binary"], None, 1)
    ratio_row("JSON / binary with the series there already", us["JSON"], us["binary, the series there already"], None, 1)
    ratio_row("JSON by name / binary, the series there already", us["JSON, the series there already"],
              us["binary, the series there already"], None)
    ratio_row("writing the text / writing the bytes", us["writing the text"], us["writing the bytes"], None, 0)


SECTIONS = {"echo": echoes, "sweep": sweeps, "pandas": frames, "json": json_door}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9, help="of echoes")
    parser.add_argument("--trips", type=int, default=1000, help="of a round; of 1.2 MB a fortieth")
    parser.add_argument("--sweeps", type=int, default=60, help="rounds of sweeps")
    parser.add_argument("--bars", type=int, default=150_000, help="of the study's series")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    options = parser.parse_args()
    if os.cpu_count() < 2:
        sys.exit("bench/python.py: needs two CPUs")
    print(f"{machine_name()}; Python {sys.version.split()[0]}, numpy {np.__version__}, sweepd {sweepd.__version__}")
    for section in options.sections.split(","):
        steal, total = cpu_times()
        with tempfile.TemporaryDirectory() as folder:
            SECTIONS[section](options, folder)
        stolen, whole = cpu_times()
        print(f"\nsteal {100 * (stolen - steal) / max(1, whole - total):.2f} %")


if __name__ == "__main__":
    main()
