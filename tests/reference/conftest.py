"""Reproducible unless told: HYPOTHESIS_PROFILE=search looks for new examples, more of them."""
import os
import subprocess

import hypothesis
import pytest

hypothesis.settings.register_profile("repeat", derandomize=True, deadline=None, max_examples=1000, database=None)
hypothesis.settings.register_profile("search", deadline=None, max_examples=5000, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))


@pytest.fixture
def sweep_file(sweepd):
    """Runs `sweepd sweep FILE OPTION...`: what it printed and how it ended."""

    def run(path, *options):
        command = [sweepd, "sweep", str(path), *map(str, options)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run
