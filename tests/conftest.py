# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that all tests share."""

from importlib.util import find_spec

if find_spec("hypothesis"):  # not in a real Blender, where the tests that need it are not run
    import hypothesis

    # The same examples in every run, and no time limit for one of them: a failure is never a matter of luck.
    hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
    hypothesis.settings.load_profile("repeatable")
