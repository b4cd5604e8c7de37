# SPDX-License-Identifier: GPL-3.0-or-later
"""Hurt the command line in all known ways, and bake random limbs and mechanisms: `make fuzz`.

No file may be hurt, and each report must say what Blender shows.
"""
