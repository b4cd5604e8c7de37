# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties, operators and panels: the interface that Blender's window shows."""
