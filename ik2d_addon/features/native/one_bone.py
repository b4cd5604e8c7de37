# SPDX-License-Identifier: GPL-3.0-or-later
"""One bone in simple expressions: it points at its target, within limits or as far as it stretches."""

from dataclasses import replace

import numpy as np

from .expressions import num
from .limited import clamped
from .plan import Plan, Shape
from .two_bone import evenly_stretched, softened


def plan(shape: Shape) -> Plan:
    """Return the plan for a single bone; of a target out of its limits it takes the nearer end."""
    aim, limits = f"atan2(y,x)-{num(shape.headings[0])}", shape.limits[0]
    turn = aim if np.isnan(limits).any() else clamped(aim, (limits[0], limits[1]))
    if shape.stretch is None:
        return Plan((), (turn,))
    even = replace(shape, stretch=replace(shape.stretch, last_only=False))
    return Plan((*softened(even), *evenly_stretched(even)), (turn,), ("k",))
