#!/usr/bin/env python3
"""Sums JUnit files into one line, `N passed, N failed[, N skipped]`; fails when a test failed or none ran.

usage: sum_tests.py FILE.xml...

A program of C tests that crashes leaves only the tests before it in meson's NAME.junit.xml: NAME.json beside it tells, and that is one
failure more.
"""
import json
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def outcome(case):
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    return "skipped" if case.find("skipped") is not None else "passed"


def crashed(path, suites):
    """C test programs that ended badly without a test that failed."""
    log = pathlib.Path(path.removesuffix(".junit.xml") + ".json")
    if not path.endswith(".junit.xml") or not log.exists():
        return []
    failed = {s.get("name") for s in suites if any(outcome(case) == "failed" for case in s.iter("testcase"))}
    programs = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return [p["name"] for p in programs
            if p["result"] not in ("OK", "SKIP") and not any(name.endswith(p["name"]) for name in failed)]


def main(paths):
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for path in paths:
        try:
            tree = ElementTree.parse(path)
        except (OSError, ElementTree.ParseError) as error:
            print(f"{path}: {error}: counted as one failure")
            counts["failed"] += 1
            continue
        for case in tree.iter("testcase"):
            counts[outcome(case)] += 1
        for name in crashed(path, tree.iter("testsuite")):
            print(f"{name}: ended before its tests did: counted as one failure")
            counts["failed"] += 1
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed{skipped}")
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
