# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend for one target, in plain numbers, free and within limits; the root turns freely."""

from math import atan2, hypot, remainder

from ..ccd.shapes import is_on_a_line, side_of
from ..even.single import FamilyPlace as Place
from ..even.single import SingleFamily
from ..within_limits.sheet import Sheet, rotated
from ..within_limits.springs import SpringPose
from .bones import TURN, PlainBones
from .limited import Found, within_range


class EvenPose:
    """The pose of least bend to one side, that of `solve_even`."""

    def __init__(self, bones: PlainBones, family: SingleFamily) -> None:
        self.bones, self.family, self.size = bones, family, bones.outer
        self.rest = [remainder(angle, TURN) for angle in bones.unturned[1:]]

    def turns(self, x: float, y: float, reached: bool) -> list[float]:
        """Return the turns (n,) for a target.

        The distance decides how the inner joints turn; then the root turns the tip to the target.
        """
        if not reached:
            return self.ideal_turns(x, y)
        bones, family, size = self.bones, self.family, self.size
        x, y = bones.before_root(x, y)
        distance = hypot(x, y)
        place = family.find(distance / size)
        turns = self._inner(place)
        arm_x, arm_y = bones.arm(turns)
        wanted = min(max(distance, family.nearest * size), family.farthest * size)
        off = wanted - hypot(arm_x, arm_y)
        if abs(off) > bones.fine:
            turns = self._inner(family.nudged(place, distance / size, off / size))
            arm_x, arm_y = bones.arm(turns)
        if distance > 0.0:
            turns[0] = remainder(atan2(y, x) - atan2(arm_y, arm_x), TURN)
        return turns

    def ideal_turns(self, x: float, y: float) -> list[float]:
        """Return the turns (n,) for a target in or out of reach, by lengths and angles alone."""
        bones = self.bones
        turns = self._inner(self.family.find(hypot(x, y) / self.size))
        angles = [start + turn for start, turn in zip(bones.unturned, turns, strict=True)]
        tip_x, tip_y = bones.ideal_tip([0.0, *angles[1:]])
        if x or y:
            turns[0] = remainder(atan2(y, x) - atan2(tip_y, tip_x) - bones.unturned[0], TURN)
        return turns

    def _inner(self, place: Place) -> list[float]:
        """Return the turns (n,) of a place in the family, the root's zero."""
        pairs = zip(self.family.pose(place), self.rest, strict=True)
        return [0.0, *(angle - rest for angle, rest in pairs)]


class EvenWithin:
    """The pose of least bend within limits, that of `solve_even`."""

    def __init__(self, free: EvenPose, sheet: Sheet, bend: float) -> None:
        """Keep the pose without limits and the sheet. bend: +1 or -1."""
        self.free, self.bones, self.sheet, self.bend = free, free.bones, sheet, bend
        rest = self.bones.unturned
        rest_side = 0.0 if is_on_a_line(rest) else side_of(rest, 1.0)
        self._asked = -rest_side if bend < 0.0 else 0.0
        self._ranges: list[list[float]] = self.bones.chain.ranges.tolist()

    def found(self, x: float, y: float) -> Found | None:
        """Return the pose for a target; None where another solver has to find the nearest or any."""
        bones = self.bones
        free = [start + turn for start, turn in zip(bones.unturned, self.free.ideal_turns(x, y), strict=True)]
        cut, before = self._cut(free), self._off(free, x, y)
        inside = bones.inner - bones.tolerance <= hypot(x, y) <= bones.outer + bones.tolerance
        if self._off(cut, x, y) <= before + 0.5 * bones.tolerance and not (
            inside and before > bones.tolerance
        ):
            return cut, lambda x, y: (self.found(x, y) or (cut,))[0]
        pose = self.sheet.least(*self._goal(x, y), self.bend, self._asked) if inside else None
        if pose is None:
            return None
        return self._angles(pose), lambda x, y: self._angles(self._near(pose, x, y))

    def _near(self, pose: SpringPose, x: float, y: float) -> SpringPose:
        """Return the pose for a target next to that of another, or the other."""
        settled, done = self.sheet.settled(pose, *self._goal(x, y))
        return settled if done else pose

    def _goal(self, x: float, y: float) -> tuple[float, float]:
        """Return a target as the sheet has it: in reaches, from a root that is at zero at rest."""
        return rotated(x / self.bones.outer, y / self.bones.outer, -self.bones.unturned[0])

    def _angles(self, pose: SpringPose) -> list[float]:
        root, *inner = pose.angles
        return self._cut([root + self.bones.unturned[0], *inner])

    def _cut(self, angles: list[float]) -> list[float]:
        """Return angles (n,) within the limits, by the numbers nearest to rest."""
        rows = zip(angles, self.bones.unturned, self._ranges, strict=True)
        return [within_range(angle, start, *limits) for angle, start, limits in rows]

    def _off(self, angles: list[float], x: float, y: float) -> float:
        tip_x, tip_y = self.bones.ideal_tip(angles)
        return hypot(tip_x - x, tip_y - y)
