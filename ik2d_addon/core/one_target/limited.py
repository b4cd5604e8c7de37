# SPDX-License-Identifier: GPL-3.0-or-later
"""The nearest pose of one or two bones within limits, for one target, in plain numbers."""

from collections.abc import Callable, Iterator, Sequence
from math import atan2, ceil, cos, hypot, inf, isfinite, isinf, remainder, sin

from ..triangle import two_bone_pose
from ..two_bone import EQUALLY_NEAR
from .bones import TURN, PlainBones

# The angles (n,) of a pose, and a function that returns those near it for a target next to its own.
Found = tuple[list[float], Callable[[float, float], list[float]]]


class AimWithin:
    """The pose of one bone within its limits that points nearest to a target."""

    def __init__(self, bones: PlainBones) -> None:
        self.bones = bones
        self._ranges: list[list[float]] = bones.chain.ranges.tolist()

    def found(self, x: float, y: float) -> Found:
        """Return the pose for a target, by the numbers nearest to rest."""
        angles = self._nearest(x, y, self.bones.unturned)
        return angles, lambda x, y: self._nearest(x, y, angles)

    def _nearest(self, x: float, y: float, near: Sequence[float]) -> list[float]:
        return [within_range(atan2(y, x) if x or y else near[0], near[0], *self._ranges[0])]


class PairWithin(AimWithin):
    """The pose of two bones within their limits that is nearest to a target, that of `solve_limited_pair`."""

    def __init__(self, bones: PlainBones, bend: float) -> None:
        """Keep the bones. bend: +1 or -1, the sign of the second angle where both sides are as near."""
        super().__init__(bones)
        self.bend = bend
        first, second = (length / bones.outer for length in bones.lengths)
        self._lengths = first, second
        edges1, edges2 = (list(filter(isfinite, limits)) for limits in self._ranges)
        # Where the second joint is at a limit, how far the tip is turned from the first bone; where the first
        # one is, the place of the second.
        edges2.sort(key=lambda edge: -bend * edge)
        self._arms = [(edge, atan2(second * sin(edge), first + second * cos(edge))) for edge in edges2]
        self._elbows = [(edge, first * cos(edge), first * sin(edge)) for edge in edges1]

    def _nearest(self, x: float, y: float, near: Sequence[float]) -> list[float]:
        """Return the candidate nearest to a target, of equally near ones the first."""
        x, y = x / self.bones.outer, y / self.bones.outer
        (first, second), (near1, near2) = self._lengths, near
        (low1, high1), (low2, high2) = self._ranges
        best, least = list(near), inf
        for angle1, angle2 in self._candidates(x, y):
            angle1 = within_range(angle1, near1, low1, high1)
            angle2 = within_range(angle2, near2, low2, high2)
            heading = angle1 + angle2
            off = hypot(
                first * cos(angle1) + second * cos(heading) - x,
                first * sin(angle1) + second * sin(heading) - y,
            )
            if off < least - EQUALLY_NEAR:
                best, least = [angle1, angle2], off
                if off <= EQUALLY_NEAR:  # no other can be nearer
                    break
        return best

    def _candidates(self, x: float, y: float) -> Iterator[tuple[float, float]]:
        """Yield the poses that `solve_limited_pair` tries, in its order; reach is 1."""
        first, second = self._lengths
        distance, direction = hypot(x, y), atan2(y, x)
        yield two_bone_pose(first, second, x, y, distance, self.bend)
        yield two_bone_pose(first, second, x, y, distance, -self.bend)
        for edge, arm in self._arms:
            yield direction - arm, edge
        for edge, elbow_x, elbow_y in self._elbows:
            yield edge, atan2(y - elbow_y, x - elbow_x) - edge


def within_range(angle: float, near: float, low: float, high: float) -> float:
    """Return the same rotation as a number within a range, else the nearer limit: one of `within_limits`."""
    moved = angle = near + remainder(angle - near, TURN)
    if low <= angle <= high:
        return angle
    if angle < low:
        moved += TURN * ceil((low - angle) / TURN)
    elif angle > high:
        moved -= TURN * ceil((angle - high) / TURN)
    if low <= moved <= high:
        return moved
    if isinf(low) or isinf(high):  # rounding alone keeps it out
        return high if isinf(low) else low
    return low if abs(remainder(angle - low, TURN)) <= abs(remainder(angle - high, TURN)) else high
