# SPDX-License-Identifier: GPL-3.0-or-later
"""The angle of a post in simple expressions: that of core/post/angle.py."""

from math import hypot, pi

import numpy as np

from ....core.inputs import Floats
from ....core.post import PostRule
from ..expressions import num
from ..limited import clamped

# The step that has the angle.
TURN = "post_turn"
# The target's place in the post's own space before its turn.
PLACES = ("px", "py", "pz")
# A target that is nearer the axis than this part of the size of all has no heading.
_ON_AXIS = 1e-6
# Angles beyond a limit by no more, in radians, are at it: 32 bits hold no less.
_ROUNDING = 1e-6


def steps(rule: PostRule, normal: Floats, distance: float, reach: float) -> list[tuple[str, str]]:
    """Return the steps to a post's angle.

    normal (3,) and distance: of the plane in the post's own space, unturned. reach: of the chain there.
    """
    k = rule.axis
    u, v = (k + 1) % 3, (k + 2) % 3
    x, y, along = PLACES[u], PLACES[v], PLACES[k]
    psi = float(np.arctan2(normal[v], normal[u]))
    size = max(
        hypot(normal[u], normal[v]), _ON_AXIS * float(np.abs(normal).max())
    )  # of a plane across it none
    open_ = num(rule.side * pi / 2.0)
    off = f"{num(distance / size)}-{num(normal[k] / size)}*{along}"
    found = [
        ("post_far", f"sqrt({x}*{x}+{y}*{y})"),
        ("post_least", f"{num(_ON_AXIS)}*(abs({along})+{num(reach)})"),
        ("post_heading", f"atan2({y},{x})-{num(psi)} if post_far>post_least else {open_}"),
        ("post_aside", f"acos(clamp(({off})/max(post_far,post_least),-1,1))"),
    ]
    signs = "-+" if rule.side > 0.0 else "+-"
    here, over = (f"post_heading{sign}post_aside" for sign in signs)
    if rule.limits is None:
        return [*found, (TURN, here)]
    if not rule.reaches_over:
        return [*found, (TURN, clamped(here, rule.limits))]
    low, high = num(rule.limits[0] - _ROUNDING), num(rule.limits[1] + _ROUNDING)
    # As near the middle of the limits as whole turns bring it.
    round_ = sum(rule.limits) / 2.0 - pi, sum(rule.limits) / 2.0 + pi
    return [
        *found,
        ("post_here", clamped(here, round_)),
        ("post_over", clamped(over, round_)),
        (
            TURN,
            f"clamp(post_over if (post_here<{low} or post_here>{high}) and post_over>={low} and "
            f"post_over<={high} else post_here,{num(rule.limits[0])},{num(rule.limits[1])})",
        ),
    ]
