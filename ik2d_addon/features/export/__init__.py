# SPDX-License-Identifier: GPL-3.0-or-later
"""Export for Engine: all clips of rigs, without controls, by Blender's exporters, and read back."""
