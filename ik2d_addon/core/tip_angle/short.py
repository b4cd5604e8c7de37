# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bones, or two and a hand, whose tip has an angle: the best of a short list of poses.

With the hand's heading the wrist is known, and the two bones before it make a triangle, on two sides. Where
limits allow neither, or the wrist is out of reach, the best pose has some joint at a limit, or straight or
folded: the rest is a triangle again. So the best pose of the list, each put within the limits, is the best
of all.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

from ..arithmetic import ARRAYS
from ..inputs import Floats
from ..triangle import two_bone_pose
from ..two_bone import ZERO_LENGTH
from .arm import Arm, direction, unit

SIDES = (1.0, -1.0)


def poses_of(arm: Arm, points: Floats, wanted: Floats, angle_first: bool) -> Iterator[Floats]:
    """Yield poses (m, n) of an arm of two or three bones among which is the best, limits not yet applied.

    points: (m, 2); wanted: (m,) headings. angle_first: with that heading, else with the tip on its point.
    """
    if len(arm) == 2:
        yield from (_aims_of_two if angle_first else _triangles_of_two)(arm, points, wanted)
        return
    first, second, hand = arm.chain.lengths.tolist()
    wrists = points - hand * unit(wanted)
    for side in SIDES:
        angle1, angle2 = _triangle(first, second, wrists, side)
        yield _stacked(angle1, angle2, wanted - angle1 - angle2)
    yield from (_aims if angle_first else _triangles)(arm, points, wanted, wrists)


def _triangles_of_two(arm: Arm, points: Floats, wanted: Floats) -> Iterator[Floats]:
    first, second = arm.chain.lengths.tolist()
    if second <= ZERO_LENGTH:  # a wrist: its heading moves no tip
        yield _stacked(direction(points), wanted - direction(points))
    for side in SIDES:
        yield _stacked(*_triangle(first, second, points, side))


def _aims_of_two(arm: Arm, points: Floats, wanted: Floats) -> Iterator[Floats]:
    """Yield the poses of two bones, the second with its heading, whose first aims, or is at a limit."""
    second = float(arm.chain.lengths[1])
    firsts = [direction(points - second * unit(wanted))]
    firsts += [np.full_like(wanted, limit) for limit in _limits(arm, 0)]
    firsts += [wanted - limit for limit in _limits(arm, 1)]
    for angle in firsts:
        yield _stacked(angle, wanted - angle)


def _triangles(arm: Arm, points: Floats, _wanted: Floats, _wrists: Floats) -> Iterator[Floats]:
    """Yield poses of three bones with the tip on its point and one joint at a limit, or straight."""
    first, second, hand = arm.chain.lengths.tolist()
    for side in SIDES:
        for limit in _limits(arm, 0):
            heading, turn = _triangle(second, hand, points - first * unit(np.array(limit)), side)
            yield _stacked(np.full_like(heading, limit), heading - limit, turn)
        for limit in (0.0, np.pi, *_limits(arm, 1)):
            length, ahead = _rigid(first, second, limit)
            heading, turn = _triangle(length, hand, points, side)
            yield _stacked(heading - ahead, np.full_like(heading, limit), turn + ahead - limit)
        for limit in _limits(arm, 2):
            length, ahead = _rigid(second, hand, limit)
            heading, turn = _triangle(first, length, points, side)
            yield _stacked(heading, turn - ahead, np.full_like(heading, limit))


def _aims(arm: Arm, _points: Floats, wanted: Floats, wrists: Floats) -> Iterator[Floats]:
    """Yield poses of three bones, the hand with its heading, one or two joints at a limit, or straight."""
    first, second, _ = arm.chain.lengths.tolist()
    headings = []
    for limit in _limits(arm, 0):
        headings_at = np.full_like(wanted, limit)
        headings.append((headings_at, direction(wrists - first * unit(headings_at))))
        headings += [(headings_at, headings_at + other) for other in _limits(arm, 1)]
    for limit in (0.0, np.pi, *_limits(arm, 1)):
        _, ahead = _rigid(first, second, limit)
        headings_at = direction(wrists) - ahead
        headings.append((headings_at, headings_at + limit))
    for limit in _limits(arm, 2):
        second_heading = wanted - limit
        headings.append((direction(wrists - second * unit(second_heading)), second_heading))
        headings += [(second_heading - other, second_heading) for other in _limits(arm, 1)]
    for limit, last in product(_limits(arm, 0), _limits(arm, 2)):
        headings.append((np.full_like(wanted, limit), wanted - last))
    for one, other in headings:
        yield _stacked(one, other - one, wanted - other)


def _limits(arm: Arm, joint: int) -> list[float]:
    ends = set(arm.chain.ranges[joint].tolist())
    return sorted(limit for limit in ends if np.isfinite(limit))


def _stacked(*angles: Floats) -> Floats:
    return np.stack(angles, axis=-1)


def _rigid(first: float, second: float, turn: float) -> tuple[float, float]:
    """Return the length of two bones with an angle between, and its direction from the first one."""
    x, y = first + second * np.cos(turn), second * np.sin(turn)
    return float(np.hypot(x, y)), float(np.arctan2(y, x))


def _triangle(first: float, second: float, points: Floats, side: float) -> tuple[Floats, Floats]:
    """Return the two angles (m,) that bring the end of two lengths to points (m, 2), or nearest to them."""
    x, y = points.T
    if min(first, second) <= ZERO_LENGTH:
        heading = direction(points)
        return heading, np.zeros_like(heading)
    return two_bone_pose(first, second, x, y, np.hypot(x, y), np.full_like(x, side), ARRAYS)
