# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's foot: its bones, its pivots, and the ground under it."""
