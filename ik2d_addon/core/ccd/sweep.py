# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent: one joint after the other turns the tip towards the target.

After Ryan Juckett, "Cyclic Coordinate Descent in 2D" (2009).
"""

from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate
from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from ..arithmetic import FLOATS, Arithmetic, Number
from ..chain import Chain, checked_angles, checked_targets, in_reaches, joints_at
from ..errors import IK2DError
from ..inputs import Floats, wrapped

# A joint whose distances to tip and target multiply to less than this, in squares of the reach,
# stays as it is: there the angle between the two is undefined.
UNDEFINED_ANGLE = 1e-12
# The tip counts as unmoved when each joint moves it by less than this part of the tolerance.
# With the tolerance itself, CCD would give up just before it arrives.
NO_MOTION = 0.01


@dataclass(frozen=True)
class Bones:
    """A chain as the solvers take it: plain numbers, its reach 1, so that no answer depends on its size."""

    lengths: list[float]
    weights: list[float]  # the greatest is 1: only how they compare means anything
    low: list[float]
    high: list[float]

    @classmethod
    def of(cls, chain: Chain) -> "Bones":
        """Return the bones of a chain, its lengths as fractions of its reach, its weights of the greatest."""
        weights = np.ones(len(chain)) if chain.weights is None else chain.weights
        outer = chain.reach[1] or 1.0
        ranges = chain.ranges.T.tolist()
        return cls((chain.lengths / outer).tolist(), compared(weights.tolist()), *ranges)

    @property
    def sharing(self) -> "Bones":
        """The bones as they share the turns of a sweep: the root turns as CCD has it, each other by a part.

        Else the joints next to the tip, which come first, wind up before the others turn.
        """
        n = len(self.lengths)
        return replace(self, weights=[self.weights[0], *(weight / n for weight in self.weights[1:])])


def compared(weights: list[float]) -> list[float]:
    """Return weights as fractions of the greatest; all zero, as they are."""
    greatest = max(weights, default=0.0)
    return weights if greatest in (0.0, 1.0) else [weight / greatest for weight in weights]


class CCDResult(Enum):
    """What one iteration of CCD came to."""

    SUCCESS = "SUCCESS"
    """The tip is within the tolerance of the target."""
    PROCESSING = "PROCESSING"
    """The tip moved, but is not there yet."""
    FAILURE = "FAILURE"
    """No joint can bring the tip any nearer."""


def ccd_step(
    chain: Chain, angles: ArrayLike, target: ArrayLike, *, tolerance: float
) -> tuple[Floats, CCDResult]:
    """Turn each joint once, tip to root, so that the tip comes as near the target as it can.

    For joint j, tip e and target t the turn is the signed angle from e - j to t - j,

        tan(turn) = (e - j) x (t - j) / ((e - j) . (t - j))

    times the joint's weight, as a part of the greatest, and stops at the joint's limits.
    angles: (n,); target: (2,) relative to the root; tolerance: a length. Returns the new angles
    (n,), those that turned wrapped to [-pi, pi] where they are free, and a CCDResult. It stops at
    the joint that brings the tip within the tolerance. Raises IK2DError for other shapes and numbers.
    """
    start, point = checked_angles(chain, angles), checked_targets(target)
    if start.ndim != 1 or point.ndim != 1:
        raise IK2DError("ccd_step takes the angles of one chain and one target")
    limit, outer = chain.tolerance_or_default(tolerance), chain.reach[1] or 1.0
    x, y = in_reaches(chain, point).tolist()
    new = np.array(sweep(Bones.of(chain), start.tolist(), x, y, stop=limit / outer))
    joints = joints_at(chain, new)
    if np.hypot(*(joints[-1] - point)) <= limit:
        result = CCDResult.SUCCESS
    else:
        # A joint's distance to the tip is the same before its turn and after the whole sweep.
        moved = np.abs(new - start) * np.hypot(*(joints[-1] - joints[:-1]).T)
        result = CCDResult.PROCESSING if (moved > NO_MOTION * limit).any() else CCDResult.FAILURE
    return _wrapped_where_free(chain, new, start), result


def _wrapped_where_free(chain: Chain, new: Floats, start: Floats) -> Floats:
    free = np.isinf(chain.ranges).all(axis=1)
    return np.where(free & (new != start), wrapped(new), new)


def sweep(
    bones: Bones,
    angles: list[Number],
    x: Number,
    y: Number,
    lib: Arithmetic = FLOATS,
    stop: float | None = None,
) -> list[Number]:
    """Return the angles after one sweep of CCD, tip to root (reach is 1).

    stop: the distance to the target at which to leave the other joints as they are (floats only).
    """
    angles = list(angles)
    headings = list(accumulate(angles))
    cos, sin, atan2 = lib.cos, lib.sin, lib.atan2
    steps_x = [length * cos(a) for length, a in zip(bones.lengths, headings, strict=True)]
    steps_y = [length * sin(a) for length, a in zip(bones.lengths, headings, strict=True)]
    joints_x, joints_y = list(accumulate(steps_x)), list(accumulate(steps_y))
    tip_x, tip_y = joints_x[-1], joints_y[-1]
    for i in range(len(angles) - 1, -1, -1):
        joint_x, joint_y = joints_x[i] - steps_x[i], joints_y[i] - steps_y[i]
        arm_x, arm_y = tip_x - joint_x, tip_y - joint_y
        aim_x, aim_y = x - joint_x, y - joint_y
        # Adding zero makes -0.0 positive: half a turn is +pi, whichever way the cross product rounds.
        across, along = arm_x * aim_y - arm_y * aim_x + 0.0, arm_x * aim_x + arm_y * aim_y + 0.0
        defined = across * across + along * along > UNDEFINED_ANGLE * UNDEFINED_ANGLE
        wanted = angles[i] + defined * bones.weights[i] * atan2(across, along)
        angle = lib.minimum(lib.maximum(wanted, bones.low[i]), bones.high[i])
        turn = angle - angles[i]
        cosine, sine = cos(turn), sin(turn)
        tip_x = joint_x + cosine * arm_x - sine * arm_y
        tip_y = joint_y + sine * arm_x + cosine * arm_y
        angles[i] = angle
        if stop is not None and hypot(x - tip_x, y - tip_y) <= stop:
            break
    return angles
