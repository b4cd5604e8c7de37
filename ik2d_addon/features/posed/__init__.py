# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain on a posed limb: it keeps the pose, and Remove Chain gives it back."""

USES = "match"
