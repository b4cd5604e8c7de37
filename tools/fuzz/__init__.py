# SPDX-License-Identifier: GPL-3.0-or-later
"""Hurt the command line in every way that is known, and see that no file is hurt: `make fuzz`."""
