"""A file of bars as the library reads it: tests/support/read_bars.c, a call a file."""
import dataclasses
import pathlib
import subprocess

import numpy as np

NAN, INF, NONPOSITIVE, ALL = 1, 2, 4, 7


class Refused(Exception):
    def __init__(self, status, at, message):
        super().__init__(message)
        self.status, self.at, self.message = status, at, message


@dataclasses.dataclass
class Bars:
    summary: str
    close: np.ndarray
    time_ns: np.ndarray | None


def read(sweepd, path, **options):
    """`sweepd` is the program's path; read_bars is built beside it. `options` are called as those of swp/bars.h."""
    program = pathlib.Path(sweepd).parent / "tests" / "read_bars"
    words = [f"{name}={value}" for name, value in options.items()]
    run = subprocess.run([program, path, *words], stdout=subprocess.PIPE, check=False)
    first, _, rest = run.stdout.partition(b"\n")
    if run.returncode != 0:
        raise Refused(run.returncode, int(first), rest.decode().rstrip("\n"))
    count = int(first.split()[1])
    numbers = np.frombuffer(rest, "<u8")
    assert len(numbers) in (count, 2 * count)
    time_ns = numbers[count:].view("<i8") if len(numbers) > count else None
    return Bars(first.decode(), numbers[:count].view("<f8"), time_ns)
