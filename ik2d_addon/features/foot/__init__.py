# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet: add one to a leg's chain, and take it away."""
