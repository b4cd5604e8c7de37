# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples of a chain at each frame of the scene, and other controls of its bones."""
