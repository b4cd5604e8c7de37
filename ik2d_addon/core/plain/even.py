# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend for one target, in plain numbers, of a chain whose root turns freely."""

from math import atan2, hypot, remainder

from ..even.joined import Joined
from ..even.single import Found, SingleFamily
from .bones import TURN, Bones


class EvenPose:
    """The pose of least bend to one side, that of `solve_even`."""

    def __init__(self, bones: Bones, part: Joined, family: SingleFamily) -> None:
        self.bones, self.family = bones, family
        self.size = part.reach * bones.outer
        # Of the family's angles a: turn = share (a[k] - rest[k]) of each inner joint of the chain.
        rest = part.rest.tolist()
        self.shares = [
            (k, share, rest[k]) for k, share in zip(part.joint.tolist(), part.part.tolist(), strict=True)
        ]
        # The family has no pose nearer or farther where joints of no weight prevent it.
        self.nearest = family.nearest * self.size - bones.tolerance
        self.farthest = family.farthest * self.size + bones.tolerance

    def turns(self, x: float, y: float, reached: bool) -> list[float] | None:
        """Return the turns (n,) for a target, None where the family has no pose at its distance.

        The distance decides how the inner joints turn; then the root turns the tip to the target.
        """
        if not reached:
            return self._missing(x, y)
        bones, family, size = self.bones, self.family, self.size
        x, y = bones.before_root(x, y)
        distance = hypot(x, y)
        if not self.nearest <= distance <= self.farthest:
            return None
        found = family.find(distance / size)
        turns = self._inner(found)
        arm_x, arm_y = bones.arm(turns)
        wanted = min(max(distance, family.nearest * size), family.farthest * size)
        off = wanted - hypot(arm_x, arm_y)
        if abs(off) > bones.fine:
            turns = self._inner(family.nudged(found, distance / size, off / size))
            arm_x, arm_y = bones.arm(turns)
        if distance > 0.0:
            turns[0] = remainder(atan2(y, x) - atan2(arm_y, arm_x), TURN)
        return turns

    def _missing(self, x: float, y: float) -> list[float]:
        """Return the turns (n,) for a target out of reach, by lengths and angles alone."""
        bones = self.bones
        turns = self._inner(self.family.find(hypot(x, y) / self.size))
        angles = [own + turn for own, turn in zip(bones.unturned, turns, strict=True)]
        tip_x, tip_y = bones.ideal_tip([0.0, *angles[1:]])
        if x or y:
            turns[0] = remainder(atan2(y, x) - atan2(tip_y, tip_x) - bones.unturned[0], TURN)
        return turns

    def _inner(self, found: Found) -> list[float]:
        """Return the turns (n,) of a place in the family, the root's zero."""
        pose = self.family.pose(found)
        return [0.0, *(share * (pose[k] - rest) for k, share, rest in self.shares)]
