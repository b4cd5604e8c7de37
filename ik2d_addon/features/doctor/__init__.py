# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of a chain, and buttons that fix them."""
