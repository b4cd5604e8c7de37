# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the code in one small place at a time, and see whether a test notices: `make mutants`."""
