# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones of an armature as a mechanism: read, its drivers' values, its poses as channels, its openings."""
