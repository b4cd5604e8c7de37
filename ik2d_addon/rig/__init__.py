# SPDX-License-Identifier: GPL-3.0-or-later
"""The bridge to Blender: reading and writing, no solving."""
