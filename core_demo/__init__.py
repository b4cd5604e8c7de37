# SPDX-License-Identifier: GPL-3.0-or-later
"""A window to try the solvers in, without Blender: python -m ik2d_core.demo."""
