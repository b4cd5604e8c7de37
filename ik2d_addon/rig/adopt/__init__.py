# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's IK constraints, read as what a chain would be made of them. Nothing here makes one."""
