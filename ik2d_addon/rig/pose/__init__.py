# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's forward kinematics, and the channels that pose bones."""
