# SPDX-License-Identifier: GPL-3.0-or-later
"""Locations and scales that slides and stretch have given to bones, and the bones' own."""
