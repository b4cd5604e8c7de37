# SPDX-License-Identifier: GPL-3.0-or-later
"""CCD, one step at a time."""

USES = "drag baking"
