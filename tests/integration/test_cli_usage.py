"""What the program says about itself, and how it refuses."""
import os
import re
import subprocess

import pytest

COMMANDS = ["sweep", "verify", "bench sweep", "generate"]


def run(sweepd, *words, **kwargs):
    return subprocess.run([sweepd, *words], capture_output=True, text=True, timeout=60, **kwargs)


def test_version_names_version_compiler_kernels_and_instruction_set(sweepd):
    done = run(sweepd, "--version")
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert re.fullmatch(r"sweepd \d+\.\d+\.\d+", lines[0])
    assert re.fullmatch(r"compiler: (gcc|clang) .+", lines[1])
    assert {"auto", "strict", "strict-checked"} <= set(lines[2].removeprefix("kernels: ").split())
    assert re.match(r"instruction set: (c|avx2|avx512)", lines[3])


def test_help_lists_every_command(sweepd):
    done = run(sweepd, "--help")
    assert done.returncode == 0
    for command in COMMANDS:
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_of_a_command_has_options_and_examples(sweepd, command, flag):
    done = run(sweepd, *command.split(), flag)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"usage: sweepd {command}")
    assert "\n  --" in done.stdout
    examples = done.stdout.split("examples:\n")[1]
    assert f"sweepd {command} " in examples
    assert all(len(line) <= 120 for line in done.stdout.splitlines())


def test_examples_of_the_help_have_options_that_exist(sweepd):
    for command in COMMANDS:
        text = run(sweepd, *command.split(), "--help").stdout
        options, examples = text.split("examples:\n")
        for option in re.findall(r"--[a-z0-9-]+", examples):
            assert f"\n  {option} " in options, (command, option)


@pytest.mark.parametrize(
    "words, says",
    [
        ([], "usage: sweepd COMMAND"),
        (["swep"], 'no command "swep"; did you mean "sweep"?'),
        (["bench"], 'no command "bench"; did you mean "bench sweep"?'),
        (["--fee"], 'no command "--fee"'),
        (["generate", "--out", "a.npy", "--sed", "1"], "unknown option --sed; did you mean --seed?"),
        (["generate"], "--out FILE is missing"),
        (["generate", "--out"], "--out needs a value"),
        (["generate", "x", "--out", "a.npy"], '"x" is one word too many'),
        (["generate", "--out", "a.npy", "--bars", "0"], '--bars is "0", expected a whole number, 1..'),
        (["generate", "--out", "a.npy", "--sigma", "nan"], '--sigma is "nan", expected a number, 0..1'),
        (["generate", "--out", "a.npy", "--shape", "walk"], '--shape is "walk", expected randwalk|constant|'),
        (["bench", "sweep", "--kernel", "fast"], '--kernel is "fast", expected auto|strict|strict-checked'),
        (["bench", "sweep", "--format", "csv"], '--format is "csv", expected table|json'),
    ],
)
def test_wrong_usage_is_told_on_standard_error_and_exits_with_2(sweepd, words, says):
    done = run(sweepd, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr


def test_a_full_disk_is_an_error(sweepd):
    with open("/dev/full", "w") as full:
        done = subprocess.run([sweepd, "--help"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert "No space left on device" in done.stderr


def test_a_closed_standard_output_is_an_error_and_no_file_is_taken_for_it(sweepd):
    done = subprocess.run(["sh", "-c", '"$0" --help >&-', sweepd], stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert "standard output cannot be written" in done.stderr


def test_a_reader_that_went_away_ends_it_quietly(sweepd):
    for restore in (True, False):  # False: the parent ignores SIGPIPE, and the child inherits that
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sweepd, "--help"], stdout=writing, stderr=subprocess.PIPE, restore_signals=restore, timeout=60
        )
        os.close(writing)
        assert done.stderr == b""
        assert done.returncode == -13
