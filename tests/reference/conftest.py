"""Reproducible unless told: HYPOTHESIS_PROFILE=search looks for new examples, more of them."""
import os

import hypothesis

hypothesis.settings.register_profile("repeat", derandomize=True, deadline=None, max_examples=1000, database=None)
hypothesis.settings.register_profile("search", deadline=None, max_examples=5000, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))
