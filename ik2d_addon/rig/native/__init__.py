# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that Blender's own drivers bring to their targets, in files that need no add-on."""
