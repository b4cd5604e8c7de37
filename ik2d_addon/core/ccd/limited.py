# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose joints have limits: the same sweeps and corrections, kept inside the limits.

A correction is that of the least turns that leave out the joints which a limit holds back (an active
set), cut short until it gains. Corrections stop where nothing around is nearer to the target. Limits
can hold the tip in a place that is nearest only among the poses around it: so where a start does not
arrive, others follow, random poses within the limits, the same ones on every run.
"""

from collections.abc import Generator
from dataclasses import dataclass
from math import ceil, hypot, isinf, pi, remainder
from random import Random

from .correction import Arms, arms_to_tip, least_turns
from .free import NEAR, SWEEPS, error_of
from .shapes import off_the_annulus, off_the_line
from .sweep import Bones, compared, sweep

# Starts for one target; and how many may end equally near before that counts as the nearest.
STARTS = 60
AGREEING = 8
AGREEMENT = 1e-5
# Sweeps that settle a pose which cannot reach its target in the nearest place, and when it has.
SETTLING = 200
SETTLED = 1e-9
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


def limited_steps(
    bones: Bones, start: list[float], x: float, y: float, bend: float, tolerance: float, rounds: int
) -> Generator[int, None, tuple[list[float], int]]:
    """Return angles within the limits, and the sweeps and corrections they took (reach is 1).

    start: within the limits. Yields 0 between one start and the next, which all together may take long.
    """
    nearest = off_the_annulus(bones.lengths, start, x, y, bend)
    if nearest is not None and cut(bones, nearest) == nearest:
        return nearest, 0
    random = Random(0)
    angles = cut(bones, off_the_line(bones, start, x, y, bend))
    best, total = _approached(bones, angles, x, y, tolerance, rounds)
    agreeing = 1
    for _ in range(STARTS):
        if best.error <= tolerance or agreeing >= AGREEING:
            break
        yield 0
        pose, done = _approached(bones, _random_pose(bones, start, random), x, y, tolerance, rounds)
        total += done
        if abs(pose.error - best.error) <= AGREEMENT:
            agreeing += 1
        elif pose.error < best.error:
            agreeing = 1
        best = min(best, pose, key=lambda pose: pose.error)
    if best.error > tolerance:
        yield 0
    angles = best.angles if best.error <= tolerance else _settled(bones, best.angles, x, y)
    return _near(bones, angles, start), total


def _near(bones: Bones, angles: list[float], start: list[float]) -> list[float]:
    """Return the same rotations, each as the number within its limits that is nearest to the start's."""
    numbers = []
    for angle, begin, low, high in zip(angles, start, bones.low, bones.high, strict=True):
        number = angle
        if abs(angle - begin) > pi:
            number = begin + remainder(angle - begin, 2.0 * pi)
            if number < low:
                number += 2.0 * pi * ceil((low - number) / (2.0 * pi))
            elif number > high:
                number -= 2.0 * pi * ceil((number - high) / (2.0 * pi))
        numbers.append(number if low <= number <= high else angle)
    return numbers


def _random_pose(bones: Bones, start: list[float], random: Random) -> list[float]:
    """Return a pose within the limits; free joints stay within half a turn of the start.

    Its joints lean to one side more or less: evenly random ones would hardly ever curl a long chain.
    """
    pose, lean = [], random.random()
    for angle, low, high in zip(start, bones.low, bones.high, strict=True):
        if isinf(low) or isinf(high):
            low, high = max(low, min(angle, high) - pi), min(high, max(angle, low) + pi)
        part = min(1.0, max(0.0, lean + random.uniform(-0.5, 0.5)))
        pose.append(low + part * (high - low))
    return pose


def _approached(
    bones: Bones, angles: list[float], x: float, y: float, tolerance: float, rounds: int
) -> tuple[Pose, int]:
    """Return the pose that sweeps and corrections lead to from one start, and their number."""
    swept = 0
    if error_of(bones.lengths, angles, x, y) > NEAR:
        for _ in range(SWEEPS):
            angles = sweep(bones, angles, x, y)
        swept = SWEEPS
    pose, done = _corrected_within(bones, angles, x, y, tolerance, rounds)
    return pose, swept + done


def _settled(bones: Bones, angles: list[float], x: float, y: float) -> list[float]:
    """Return the pose in which no joint alone can bring the tip nearer: CCD goes there by itself."""
    for _ in range(SETTLING):
        swept = sweep(bones, angles, x, y)
        largest = max(abs(new - old) for new, old in zip(swept, angles, strict=True))
        angles = swept
        if largest <= SETTLED:
            break
    return angles


def _corrected_within(
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
        weights = compared(weights)  # those that are left may be light ones
