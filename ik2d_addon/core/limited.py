# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose joints have limits: the same sweeps and corrections, kept inside the limits.

Limits can hold the tip in a place that is nearest only among the poses around it. So where a start
does not arrive, others follow: random poses within the limits, the same ones on every run.
"""

from math import isinf, pi
from random import Random

from .bounded import Pose, corrected_within, cut
from .ccd import Bones, sweep
from .free import NEAR, SWEEPS, error_of
from .shapes import off_the_line

# Starts for one target; and how many may end equally near before that counts as the nearest.
STARTS = 60
AGREEING = 8
AGREEMENT = 1e-5
# Sweeps that settle a pose which cannot reach its target in the nearest place, and when it has.
SETTLING = 200
SETTLED = 1e-9


def solve_limited(
    bones: Bones, start: list[float], x: float, y: float, bend: float, tolerance: float, rounds: int
) -> tuple[list[float], int]:
    """Return angles within the limits, and the sweeps and corrections they took (reach is 1).

    start: within the limits.
    """
    random = Random(0)
    angles = cut(bones, off_the_line(bones.lengths, bones.weights, start, x, y, bend))
    best, total = _approached(bones, angles, x, y, tolerance, rounds)
    agreeing = 1
    for _ in range(STARTS):
        if best.error <= tolerance or agreeing >= AGREEING:
            break
        pose, done = _approached(bones, _random_pose(bones, start, random), x, y, tolerance, rounds)
        total += done
        if abs(pose.error - best.error) <= AGREEMENT:
            agreeing += 1
        elif pose.error < best.error:
            agreeing = 1
        best = min(best, pose, key=lambda pose: pose.error)
    return best.angles if best.error <= tolerance else _settled(bones, best.angles, x, y), total


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
    pose, done = corrected_within(bones, angles, x, y, tolerance, rounds)
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
