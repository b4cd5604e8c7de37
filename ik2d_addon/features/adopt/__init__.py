# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's IK constraints to chains, and back."""
