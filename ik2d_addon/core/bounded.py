# SPDX-License-Identifier: GPL-3.0-or-later
"""Corrections that keep every angle between a low and a high end.

The least turns that leave out the joints which an end holds back (an active set), each correction cut
short until it gains. They stop where nothing around is nearer to the target.
"""

from dataclasses import dataclass
from math import hypot

from .ccd import Bones
from .correction import Arms, arms_to_tip, least_turns

# A correction that shortens the error by no more than this part of it has ended in a local minimum.
LEAST_GAIN = 1e-3
# A correction is cut to a third at a time while it does not shorten the error, down to this part.
SHORTEST_PART = 0.05


@dataclass(frozen=True)
class Pose:
    """Angles, and what the solver keeps asking of them."""

    angles: list[float]
    arms: Arms
    error_x: float
    error_y: float
    error: float

    @classmethod
    def of(cls, bones: Bones, angles: list[float], x: float, y: float) -> "Pose":
        """Return the pose with its arms and its error to a target."""
        arms = arms_to_tip(bones.lengths, angles)
        error_x, error_y = x - arms[0][-1], y - arms[1][-1]
        return cls(angles, arms, error_x, error_y, hypot(error_x, error_y))


def corrected_within(
    bones: Bones, angles: list[float], x: float, y: float, tolerance: float, rounds: int
) -> tuple[Pose, int]:
    """Correct angles that lie between bones.low and bones.high; return the pose and the corrections."""
    pose = Pose.of(bones, angles, x, y)
    for done in range(rounds):
        if pose.error <= tolerance:
            return pose, done
        better = _corrected(bones, pose, x, y)
        if better.error >= pose.error * (1.0 - LEAST_GAIN):
            return pose, done + 1
        pose = better
    return pose, rounds


def cut(bones: Bones, angles: list[float]) -> list[float]:
    """Return the angles, cut off at the limits."""
    return [
        min(max(angle, low), high) for angle, low, high in zip(angles, bones.low, bones.high, strict=True)
    ]


def _corrected(bones: Bones, pose: Pose, x: float, y: float) -> Pose:
    """Return the pose after the least turns within the limits, or after a part of them that gains more."""
    turns = _turns_within(bones, pose)
    part = 1.0
    while True:
        moved = [angle + part * turn for angle, turn in zip(pose.angles, turns, strict=True)]
        better = Pose.of(bones, cut(bones, moved), x, y)
        if better.error < pose.error or part < SHORTEST_PART:
            return better
        part /= 3.0


def _turns_within(bones: Bones, pose: Pose) -> list[float]:
    """Return the least turns of the joints that no limit holds, found by letting go of those it does."""
    weights = bones.weights[::-1]
    while True:
        turns = least_turns(pose.arms, weights, pose.error_x, pose.error_y)
        held = [
            i
            for i, (turn, angle) in enumerate(zip(turns, pose.angles, strict=True))
            if (turn < 0.0 and angle <= bones.low[i]) or (turn > 0.0 and angle >= bones.high[i])
        ]
        if not held:
            return turns
        for i in held:
            weights[-1 - i] = 0.0
