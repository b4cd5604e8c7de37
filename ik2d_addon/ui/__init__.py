# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's window shows: properties, operators, panels."""
