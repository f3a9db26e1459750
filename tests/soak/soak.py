#!/usr/bin/env python3
"""A daemon under mixed load for as long as it is told, with clients that are killed and stopped: soak.py [--minutes 20].

Eight processes load, sweep, echo, push bars and hang up, over every door; each result is compared with this process's own. Every
few seconds one is killed (SIGKILL) or stopped for a while (SIGSTOP), and another takes its place. Descriptors, threads and resident
memory are looked at whenever all is quiet: between the first quiet moment and the last they must be flat. Prints a line for each
quiet moment and p50, p99, p99.9 of every kind of call; ends with 1 and what is wrong otherwise.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from support.served import Served, study_close  # noqa: E402

CLIENTS = 8
QUIET_S = 30  # between two quiet moments
FLAT_BYTES = 16 << 20  # resident memory may differ by so much between the first quiet moment and the last


# ---- a client: runs until it is told to stop, or is killed ----

def client(urls, seed, out):
    """Calls of every kind, in an order of its own; appends the microseconds of each to `out`, a JSON line a batch."""
    import sweepd

    rng, stop = random.Random(seed), []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    close = study_close(20_000)
    lengths = range(6, 60)
    expected = sweepd.sweep(close, length=lengths)
    with open(out, "a", encoding="ascii") as file:
        while not stop:
            with sweepd.connect(rng.choice(urls), timeout=60) as engine:
                done = {"load": [], "sweep": [], "echo": [], "push": []}

                def timed(kind, call, *args, **kwargs):
                    begun = time.perf_counter_ns()
                    result = call(*args, **kwargs)
                    done[kind].append((time.perf_counter_ns() - begun) / 1000)
                    return result

                series = timed("load", engine.load, close)
                for _ in range(rng.randrange(1, 30)):
                    got = timed("sweep", engine.sweep, series, length=lengths, kernel=rng.choice(["auto", "exact"]))
                    assert got.pnl.tobytes() == expected.pnl.tobytes() and got.trades.tobytes() == expected.trades.tobytes()
                    bytes_ = rng.randbytes(rng.choice([1, 100, 100_000]))
                    assert timed("echo", engine.echo, bytes_) == bytes_
                if rng.random() < 0.5:
                    with engine.live(length=20, fee=0.09, warmup=series) as live:
                        for price in rng.choices([99.0, 100.0, 101.5], k=200):
                            timed("push", live.push, price)
                file.write(json.dumps(done) + "\n")
                file.flush()


# ---- the one that starts, kills and looks ----

class Crowd:
    def __init__(self, urls, folder):
        self.urls, self.folder, self.count, self.processes = urls, folder, 0, []

    def start(self):
        self.count += 1
        words = [sys.executable, __file__, "--client", ",".join(self.urls), "--seed", str(self.count), "--out",
                 str(self.folder / f"{self.count}.jsonl")]
        self.processes.append(subprocess.Popen(words))

    def fill(self):
        while len(self.processes) < CLIENTS:
            self.start()

    def check(self):
        for process in self.processes:
            assert process.poll() is None, f"a client ended with {process.returncode}"

    def kill_one(self):
        process = self.processes.pop(random.randrange(len(self.processes)))
        process.kill()
        process.wait()

    def stop_one_for_a_while(self):
        process = random.choice(self.processes)
        process.send_signal(signal.SIGSTOP)
        time.sleep(1)
        process.send_signal(signal.SIGCONT)

    def end(self):
        for process in self.processes:
            process.terminate()
        codes = [process.wait(120) for process in self.processes]
        self.processes = []
        assert not any(codes), f"clients ended with {codes}"


def percentiles(folder):
    found = {}
    for path in folder.glob("*.jsonl"):
        for line in path.read_text(encoding="ascii").splitlines():
            with contextlib.suppress(json.JSONDecodeError):  # the last line of a client that was killed
                for kind, values in json.loads(line).items():
                    found.setdefault(kind, []).extend(values)
    for kind, values in sorted(found.items()):
        p50, p99, p999 = np.percentile(values, [50, 99, 99.9])
        print(f"{kind:6} {len(values):9,} calls; microseconds p50 {p50:,.1f}, p99 {p99:,.1f}, p99.9 {p999:,.1f}")
    return sum(map(len, found.values()))


def quiet_moment(served, begun):
    time.sleep(2)
    seen = {"descriptors": served.descriptors(), "threads": served.threads(), "resident": 1024 * served.status("VmRSS")}
    print(f"{time.monotonic() - begun:6.0f} s: {seen['descriptors']} descriptors, {seen['threads']} threads, "
          f"{seen['resident'] / 1e6:.1f} MB resident", flush=True)
    return seen


def soak(program, minutes, folder):
    random.seed(1)
    begun = time.monotonic()
    end = begun + 60 * minutes
    moments, killed, stopped = [], 0, 0
    with Served(program, folder, "--max-memory", "64MiB", listen=("unix", "tcp")) as served:
        crowd = Crowd([served.url("unix"), served.url("tcp"), f"shm:{served.path}"], folder)
        while time.monotonic() < end:
            crowd.fill()
            until = min(end, time.monotonic() + QUIET_S)
            while time.monotonic() < until:
                time.sleep(2)
                crowd.check()
                if random.random() < 0.5:
                    crowd.kill_one()
                    killed += 1
                else:
                    crowd.stop_one_for_a_while()
                    stopped += 1
                crowd.fill()
            crowd.end()
            moments.append(quiet_moment(served, begun))
    first, last = moments[0], moments[-1]
    calls = percentiles(folder)
    print(f"{minutes:g} minutes, {crowd.count} clients, {killed} killed, {stopped} stopped for a second; {calls:,} calls, every sweep right")
    assert last["descriptors"] <= first["descriptors"] and last["threads"] <= first["threads"], (first, last)
    assert last["resident"] <= first["resident"] + FLAT_BYTES, (first, last)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--program", default=os.environ.get("SWEEPD", str(ROOT / "build" / "sweepd")))
    parser.add_argument("--client", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.client:
        client(options.client.split(","), options.seed, options.out)
        return
    with tempfile.TemporaryDirectory() as folder:
        soak(options.program, options.minutes, pathlib.Path(folder))


if __name__ == "__main__":
    try:
        main()
    except AssertionError as wrong:
        sys.exit(f"soak: {wrong}")
