# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's actions, F-Curves and keys; knows nothing of chains."""
