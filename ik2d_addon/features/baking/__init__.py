# SPDX-License-Identifier: GPL-3.0-or-later
"""Solve, Bake, Clear Bake and Live, and their results."""

USES = "native"
