# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet in the scene: the ankle's goal and the foot's angles at each frame."""
