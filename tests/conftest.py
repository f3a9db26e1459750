"""What every Python test may ask for: the program, the files of market data, and what runs them."""
import os
import pathlib
import signal

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A shell's background jobs and nohup ignore SIGINT, and what they start inherits that: tests that interrupt would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def sweepd():
    """Path of the program: $SWEEPD, else build/sweepd."""
    path = pathlib.Path(os.environ.get("SWEEPD", ROOT / "build" / "sweepd")).resolve()
    if not path.is_file():
        pytest.fail(f"{path} is not built: run make")
    return str(path)


@pytest.fixture(scope="session")
def sweepd_http(sweepd):
    """Path of the HTTP door, beside the program."""
    path = pathlib.Path(sweepd).with_name("sweepd-http")
    if not path.is_file():
        pytest.skip(f"{path} is not built: libmicrohttpd or jansson is missing, and HTTP is not tested")
    return str(path)


@pytest.fixture(scope="session")
def shared_data():
    """Folder of real market files: $SWEEPD_SHARED_DATA, else ../shared/data. Skips where there is none."""
    path = pathlib.Path(os.environ.get("SWEEPD_SHARED_DATA", ROOT.parent / "shared" / "data")).resolve()
    if not path.is_dir():
        pytest.skip(f"no market files at {path} (SWEEPD_SHARED_DATA names another folder)")
    return path
