# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that all tests share."""

import hypothesis

# The same examples in every run, and no time limit for one of them: a failure is never a matter of luck.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")
