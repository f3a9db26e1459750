"""The service manager's units, and that the document has every limit with its default."""
import re
import shutil
import subprocess

import pytest

from conftest import ROOT

needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


@pytest.fixture
def units(sweepd, tmp_path):
    """Both units as installed, with the program where it is."""
    service = (ROOT / "packaging/systemd/sweepd.service.in").read_text()
    program = tmp_path / "bin"
    program.mkdir()
    (program / "sweepd").symlink_to(sweepd)
    (tmp_path / "sweepd.service").write_text(service.replace("@bindir@", str(program)))
    shutil.copy(ROOT / "packaging/systemd/sweepd.socket", tmp_path)
    return tmp_path / "sweepd.service", tmp_path / "sweepd.socket"


@needs_systemd
def test_units_are_what_systemd_reads(units):
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "sweepd" in line]
    assert done.returncode == 0 and not ours, done.stderr


@needs_systemd
def test_the_service_is_hardened(units):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", units[0]],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-300:]


def test_the_service_starts_the_program_with_options_it_has(sweepd, units):
    command = re.search(r"^ExecStart=(.+)$", units[0].read_text(), re.M)[1].split()
    shown = subprocess.run([sweepd, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    assert command[1] == "serve"
    for word in command[2:]:
        if word.startswith("--"):
            assert f"  {word} " in shown


def help_limits(sweepd):
    """{name: default} of the limits in the help."""
    text = subprocess.run([sweepd, "serve", "--help"], capture_output=True, text=True, check=True).stdout
    text = text[text.index("\nlimits"):text.index("\nexamples")]
    entries = re.split(r"\n  --", text)[1:]
    return {e.split()[0]: m[1] for e in entries if (m := re.search(r"\[([^]]+)\]", e))}


def test_the_document_has_every_limit_with_its_default(sweepd):
    text = (ROOT / "docs/service.md").read_text()
    rows = re.findall(r"^\| `--([a-z-]+)` \| ([^|]+) \|", text[text.index("## Limits"):], re.M)
    limits = help_limits(sweepd)
    assert len(limits) >= 20
    assert {name: default.strip() for name, default in rows} == limits
