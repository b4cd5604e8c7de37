# SPDX-License-Identifier: GPL-3.0-or-later
"""Add, order, flip, copy, mirror and limit chains; the panels of a chain."""

USES = "native foot doctor pole baking adopt plant posed keying overlay post tip_angle two_targets"
