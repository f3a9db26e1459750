"""The line that `make test` ends in."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def run(*paths):
    command = [sys.executable, ROOT / "tools" / "sum_tests.py", *paths]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def junit(tmp_path, *cases):
    path = tmp_path / f"{len(cases)}.xml"
    path.write_text("<testsuites><testsuite>" + "".join(f"<testcase>{c}</testcase>" for c in cases) +
                    "</testsuite></testsuites>")
    return path


def test_all_files_are_summed_and_skips_are_named(tmp_path):
    done = run(junit(tmp_path, "", ""), junit(tmp_path, "", "", "<skipped/>"))
    assert (done.stdout, done.returncode) == ("4 passed, 0 failed, 1 skipped\n", 0)


def test_a_failure_or_an_error_fails(tmp_path):
    done = run(junit(tmp_path, "", "<failure/>", "<error/>"))
    assert (done.stdout, done.returncode) == ("1 passed, 2 failed\n", 1)


def test_nothing_run_fails(tmp_path):
    assert run(junit(tmp_path)).returncode == 1
    assert run(junit(tmp_path, "<skipped/>")).returncode == 1


def test_a_missing_report_is_a_failure(tmp_path):
    done = run(junit(tmp_path, ""), tmp_path / "none.xml")
    assert done.stdout.endswith("1 passed, 1 failed\n") and done.returncode == 1


def test_a_c_program_that_crashed_is_a_failure(tmp_path):
    junit = tmp_path / "testlog.junit.xml"
    junit.write_text('<testsuites><testsuite name="sweepd.wire"><testcase/></testsuite></testsuites>')
    for result, line, code in [("ERROR", "1 passed, 1 failed", 1), ("TIMEOUT", "1 passed, 1 failed", 1), ("OK", "1 passed, 0 failed", 0)]:
        (tmp_path / "testlog.json").write_text(f'{{"name": "wire", "result": "{result}"}}\n')
        done = run(junit)
        assert (done.stdout.splitlines()[-1], done.returncode) == (line, code)


def test_a_c_test_that_failed_is_counted_once(tmp_path):
    junit = tmp_path / "testlog.junit.xml"
    junit.write_text('<testsuites><testsuite name="sweepd.wire"><testcase><failure/></testcase></testsuite></testsuites>')
    (tmp_path / "testlog.json").write_text('{"name": "wire", "result": "ERROR"}\n')
    assert run(junit).stdout == "0 passed, 1 failed\n"
