# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose joints have limits, or whose bones slide: the same sweeps and corrections, kept inside them.

A correction is that of the least turns that leave out the joints which a limit holds back (an active
set), cut short until it gains. Corrections stop where nothing around is nearer to the target, and that
may be nearest only among the poses around it. So where they do not arrive the region is asked, the exact
set of points that the tip reaches: it has a pose for every target in it, and the nearest for every other.
"""

from collections.abc import Generator
from dataclasses import dataclass
from math import ceil, hypot, pi, remainder
from typing import NamedTuple

import numpy as np

from ..inputs import Floats
from ..region import BORDER, Region, as_points, region_steps
from . import sliding
from .correction import Arms, least_turns
from .free import NEAR, SWEEPS
from .moves import least_moves
from .shapes import is_on_a_line, off_the_annulus, off_the_line
from .sliding import arms_of
from .sweep import CcdBones, compared, sweep

# Sweeps that settle a pose where the region is undecided, and the turn (radians) at which it has settled.
SETTLING = 200
SETTLED = 1e-9
# A correction that shortens the error by no more than this part of it has ended in a local minimum.
LEAST_GAIN = 1e-3
# A correction is cut to a third at a time while it does not shorten the error, down to this part.
SHORTEST_PART = 0.05
# How far on the way from the start to the region's pose corrections begin, until they arrive: the less, the
# more the pose stays like the start. The region's own pose, at the end, is there.
PARTS = 0.125, 0.25, 0.5, 0.75


class SolvedTarget(NamedTuple):
    """A pose for one target."""

    angles: list[float]  # and slides, where bones slide
    iterations: int
    is_out: bool  # whether it is proven that no pose reaches the target


@dataclass(frozen=True)
class TriedPose:
    """Angles with their arms and their error to a target."""

    angles: list[float]
    arms: Arms
    error_x: float
    error_y: float
    error: float

    @classmethod
    def of(cls, bones: CcdBones, angles: list[float], x: float, y: float) -> "TriedPose":
        """Return the pose with its arms and its error to a target."""
        arms = arms_of(bones, angles)
        error_x, error_y = x - arms[0][-1], y - arms[1][-1]
        return cls(angles, arms, error_x, error_y, hypot(error_x, error_y))


def limited_steps(
    bones: CcdBones,
    start: list[float],
    x: float,
    y: float,
    bend: float,
    tolerance: float,
    rounds: int,
    *,
    asks_first: bool = False,
) -> Generator[int, None, SolvedTarget]:
    """Return a pose within the limits, and the sweeps and corrections it took (reach is 1).

    start: within the limits. asks_first: whether to begin with the region, which is the shorter way to the
    same pose where the target is out of reach, and the longer one elsewhere. Yields 0 before the region is
    asked, and between its joints where it has to be made.
    """
    if bones.is_sliding:
        nearest = sliding.off_the_annulus(bones, start, x, y, bend)
    else:
        nearest = off_the_annulus(bones.lengths, start, x, y, bend)
    if nearest is not None and cut(bones, nearest) == nearest:
        return SolvedTarget(nearest, 0, True)
    reached = None
    if nearest is None and not asks_first:
        reached, has_arrived = around(bones, start, x, y, bend, tolerance, rounds)
        if has_arrived:
            return reached
        yield 0
    region = yield from region_of(bones)
    if region is not None:
        exact, away = asked(region, np.array([[x, y]]), np.array([start]), tolerance)
        if away[0] > 0.0:
            return SolvedTarget(exact[0].tolist(), 0, True)
    if reached is None:
        reached, has_arrived = around(bones, start, x, y, bend, tolerance, rounds)
        if has_arrived:
            return reached
    if region is None:
        return reached._replace(angles=near_numbers(bones, _settled(bones, reached.angles, x, y), start))
    return blended(bones, start, exact[0].tolist(), x, y, tolerance, rounds, reached.iterations)


def around(
    bones: CcdBones, start: list[float], x: float, y: float, bend: float, tolerance: float, rounds: int
) -> tuple[SolvedTarget, bool]:
    """Return the pose after sweeps and corrections from the start, and whether it has arrived."""
    if bones.is_sliding:
        pose, done = _slid_or_bent(bones, start, x, y, bend, tolerance, rounds)
    else:
        angles = cut(bones, off_the_line(bones, start, x, y, bend))
        pose, done = _approached(bones, angles, x, y, tolerance, rounds)
    return SolvedTarget(near_numbers(bones, pose.angles, start), done, False), pose.error <= tolerance


def region_of(bones: CcdBones) -> Generator[int, None, Region | None]:
    """Return the region of the bones' limits and slides, as region_steps does."""
    n = len(bones.lengths)
    ranges = bones.low[:n], bones.high[:n]
    slides = (bones.low[n:], bones.high[n:]) if bones.is_sliding else (None, None)
    return (yield from region_steps(bones.lengths, *ranges, *slides))


def asked(region: Region, points: Floats, starts: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Return the region's poses (b, n) for points (b, 2), near the starts, and their misses (b,).

    Where bones slide starts and poses are (b, 2 n).
    """
    n = len(region.low)
    slides = starts[:, n:] if starts.shape[1] > n else None
    posed = region.posed(as_points(points), starts[:, :n], min(BORDER, 0.5 * tolerance), slides)
    moves = posed.angles if slides is None else np.concatenate((posed.angles, posed.slides), axis=1)
    return moves, posed.away


def blended(
    bones: CcdBones,
    start: list[float],
    exact: list[float],
    x: float,
    y: float,
    tolerance: float,
    rounds: int,
    total: int,
) -> SolvedTarget:
    """Return a pose that reaches a target, between the start and `exact`. total: the iterations before."""
    for share in PARTS:
        between = [a + share * (b - a) for a, b in zip(start, exact, strict=True)]
        begin = TriedPose.of(bones, cut(bones, between), x, y)
        pose, done = _corrected_within(bones, begin, x, y, tolerance, rounds)
        total += done
        if pose.error <= tolerance:
            return SolvedTarget(near_numbers(bones, pose.angles, start), total, False)
    return SolvedTarget(exact, total, False)


def near_numbers(bones: CcdBones, angles: list[float], start: list[float]) -> list[float]:
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


def _slid_or_bent(
    bones: CcdBones, start: list[float], x: float, y: float, bend: float, tolerance: float, rounds: int
) -> tuple[TriedPose, int]:
    """Return the pose approached from the start, and again bent where slides alone do not arrive."""
    if not is_on_a_line(start[: len(bones.lengths)]):
        pose, done = _approached(bones, start, x, y, tolerance, rounds)
    else:  # from which sweeps turn to any side
        pose = TriedPose.of(bones, start, x, y)
        if pose.error > NEAR:
            pose = TriedPose.of(bones, cut(bones, sliding.pointed(bones, start, x, y)), x, y)
        pose, done = _corrected_within(bones, pose, x, y, tolerance, rounds)
    if pose.error <= tolerance:
        return pose, done
    bent = cut(bones, sliding.bent(bones, pose.angles, x, y, bend))
    pose, more = _approached(bones, bent, x, y, tolerance, rounds)
    return pose, done + more


def _approached(
    bones: CcdBones, angles: list[float], x: float, y: float, tolerance: float, rounds: int
) -> tuple[TriedPose, int]:
    """Return the pose after sweeps and corrections from one start, and their number."""
    pose, swept = TriedPose.of(bones, angles, x, y), 0
    if pose.error > NEAR:
        sharing = bones.sharing
        for _ in range(SWEEPS):
            angles = sweep(sharing, angles, x, y)
        pose, swept = TriedPose.of(bones, angles, x, y), SWEEPS
    pose, done = _corrected_within(bones, pose, x, y, tolerance, rounds)
    return pose, swept + done


def _settled(bones: CcdBones, angles: list[float], x: float, y: float) -> list[float]:
    """Return the pose that CCD ends in, where no joint alone can bring the tip nearer."""
    for _ in range(SETTLING):
        swept = sweep(bones, angles, x, y)
        largest = max(abs(new - old) for new, old in zip(swept, angles, strict=True))
        angles = swept
        if largest <= SETTLED:
            break
    return angles


def _corrected_within(
    bones: CcdBones, pose: TriedPose, x: float, y: float, tolerance: float, rounds: int
) -> tuple[TriedPose, int]:
    """Correct a pose within the limits; return the pose and the corrections."""
    for done in range(rounds):
        if pose.error <= tolerance:
            return pose, done
        better = _corrected(bones, pose, x, y)
        if better.error >= pose.error * (1.0 - LEAST_GAIN):
            return pose, done + 1
        pose = better
    return pose, rounds


def cut(bones: CcdBones, angles: list[float]) -> list[float]:
    """Return the angles, clamped to the limits."""
    return [
        angle if low <= angle <= high else low if angle < low else high
        for angle, low, high in zip(angles, bones.low, bones.high, strict=True)
    ]


def _corrected(bones: CcdBones, pose: TriedPose, x: float, y: float) -> TriedPose:
    """Return the pose after the least turns within the limits, or after a part of them that helps more."""
    turns = _turns_within(bones, pose)
    share = 1.0
    while True:
        moved = [angle + share * turn for angle, turn in zip(pose.angles, turns, strict=True)]
        better = TriedPose.of(bones, cut(bones, moved), x, y)
        if better.error < pose.error or share < SHORTEST_PART:
            return better
        share /= 3.0


def _turns_within(bones: CcdBones, pose: TriedPose) -> list[float]:
    """Return the least turns of the joints that no limit holds; where bones slide, turns and slides."""
    if bones.is_sliding:
        return least_moves(bones, pose.angles, pose.arms, (pose.error_x, pose.error_y))
    weights, low, high = bones.weights[::-1], bones.low, bones.high
    while True:
        turns = least_turns(pose.arms, weights, pose.error_x, pose.error_y)
        held = [
            i
            for i, (turn, angle) in enumerate(zip(turns, pose.angles, strict=True))
            if (angle <= low[i] and turn < 0.0) or (angle >= high[i] and turn > 0.0)
        ]
        if not held:
            return turns
        for i in held:
            weights[-1 - i] = 0.0
        weights = compared(weights)  # those that are left may be light ones
