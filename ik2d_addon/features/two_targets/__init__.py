# SPDX-License-Identifier: GPL-3.0-or-later
"""A second target that a chain's target blends to, and targets that change their parent."""

USES = "posed"
