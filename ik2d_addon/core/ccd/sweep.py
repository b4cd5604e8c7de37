# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent: one joint after the other turns, or slides, the tip towards the target.

After Ryan Juckett, "Cyclic Coordinate Descent in 2D" (2009).
"""

from dataclasses import dataclass, replace
from itertools import accumulate
from math import atan2, cos, hypot, sin
from operator import mul

import numpy as np

from ..chain import Chain

# A joint whose distances to tip and target multiply to less than this, in squares of the reach,
# stays as it is: there the angle between the two is undefined.
UNDEFINED_ANGLE = 1e-12


@dataclass(frozen=True)
class CcdBones:
    """The bones of a chain in plain numbers, the reach as 1, so that no answer depends on its size.

    A pose of it is one list: the angles of all joints and, where bones slide, behind them the slides of all
    bones in reaches. Weights and ranges follow the same order.
    """

    lengths: list[float]  # (n,)
    weights: list[float]  # (n,) or (2 n,); the greatest of a joint is 1: only how they compare means anything
    low: list[float]  # (n,) or (2 n,)
    high: list[float]  # (n,) or (2 n,)

    @classmethod
    def of(cls, chain: Chain) -> "CcdBones":
        """Return the bones of a chain, its lengths as fractions of its reach, its weights of the greatest."""
        weights = np.ones(len(chain)) if chain.weights is None else chain.weights
        outer = chain.reach[1] or 1.0
        low, high = chain.ranges.T.tolist()
        compared_weights = compared(weights.tolist())
        if chain.is_sliding:
            least, most = (chain.slide_ranges.T / outer).tolist()
            slides = [float(a < b) for a, b in zip(least, most, strict=True)]
            compared_weights, low, high = compared_weights + slides, low + least, high + most
        return cls((chain.lengths / outer).tolist(), compared_weights, low, high)

    @property
    def is_sliding(self) -> bool:
        """Whether any bone may slide."""
        return len(self.low) > len(self.lengths)

    @property
    def inner(self) -> float:
        """The inner reach, as in Chain.reach, but below zero where it is no bound."""
        if not self.is_sliding:
            return 2.0 * max(self.lengths) - 1.0
        n = len(self.lengths)
        ends = zip(self.lengths, self.low[n:], self.high[n:], strict=True)
        return max(2.0 * length + least + most for length, least, most in ends) - 1.0

    @property
    def sharing(self) -> "CcdBones":
        """The bones with weights for a shared sweep: the root turns fully, all others by a part.

        Otherwise the joints next to the tip, which come first, wind up before the others turn.
        """
        n = len(self.lengths)
        return replace(self, weights=[self.weights[0], *(weight / n for weight in self.weights[1:])])


def compared(weights: list[float]) -> list[float]:
    """Return weights as fractions of the greatest; all zero, as they are."""
    greatest = max(weights, default=0.0)
    return weights if greatest in (0.0, 1.0) else [weight / greatest for weight in weights]


def sweep(bones: CcdBones, pose: list[float], x: float, y: float, stop: float | None = None) -> list[float]:
    """Return the pose after one sweep of CCD, tip to root (reach is 1).

    Where bones slide each does so before its joint turns. stop: the distance to the target at which to leave
    the others as they are.
    """
    pose, n, is_sliding = list(pose), len(bones.lengths), bones.is_sliding
    lengths = present_lengths(bones, pose) if is_sliding else bones.lengths
    headings = list(accumulate(pose[:n]))
    cosines, sines = list(map(cos, headings)), list(map(sin, headings))
    steps_x, steps_y = list(map(mul, lengths, cosines)), list(map(mul, lengths, sines))
    joints_x, joints_y = list(accumulate(steps_x)), list(accumulate(steps_y))
    tip_x, tip_y = joints_x[-1], joints_y[-1]
    for i in range(n - 1, -1, -1):
        if is_sliding:
            axis_x, axis_y = cosines[i], sines[i]
            added = _slid(bones, pose, i, (x - tip_x) * axis_x + (y - tip_y) * axis_y)
            tip_x, tip_y = tip_x + added * axis_x, tip_y + added * axis_y
            if stop is not None and hypot(x - tip_x, y - tip_y) <= stop:
                break
        joint_x, joint_y = joints_x[i] - steps_x[i], joints_y[i] - steps_y[i]
        arm_x, arm_y = tip_x - joint_x, tip_y - joint_y
        aim_x, aim_y = x - joint_x, y - joint_y
        # Adding zero makes -0.0 positive: half a turn is +pi, whichever way the cross product rounds.
        across, along = arm_x * aim_y - arm_y * aim_x + 0.0, arm_x * aim_x + arm_y * aim_y + 0.0
        defined = across * across + along * along > UNDEFINED_ANGLE * UNDEFINED_ANGLE
        wanted = pose[i] + defined * bones.weights[i] * atan2(across, along)
        angle = min(max(wanted, bones.low[i]), bones.high[i])
        turn = angle - pose[i]
        cosine, sine = cos(turn), sin(turn)
        tip_x = joint_x + cosine * arm_x - sine * arm_y
        tip_y = joint_y + sine * arm_x + cosine * arm_y
        pose[i] = angle
        if stop is not None and hypot(x - tip_x, y - tip_y) <= stop:
            break
    return pose


def present_lengths(bones: CcdBones, pose: list[float]) -> list[float]:
    """Return the lengths of bones that slide, with what they add in a pose."""
    return [length + slide for length, slide in zip(bones.lengths, pose[len(bones.lengths) :], strict=True)]


def _slid(bones: CcdBones, pose: list[float], bone: int, wanted: float) -> float:
    """Slide a bone by as much of a length as its weight and range allow; return the slide added."""
    i = len(bones.lengths) + bone
    slide = min(max(pose[i] + bones.weights[i] * wanted, bones.low[i]), bones.high[i])
    added, pose[i] = slide - pose[i], slide
    return added
