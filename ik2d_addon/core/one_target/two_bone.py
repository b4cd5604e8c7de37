# SPDX-License-Identifier: GPL-3.0-or-later
"""The analytic solve of one or two bones for one target, in plain numbers."""

from math import atan2, hypot, remainder

from ..triangle import two_bone_pose
from .bones import TURN, PlainBones


class OneBonePose:
    """The pose of one bone that points at its target."""

    def __init__(self, bones: PlainBones) -> None:
        self.bones = bones

    def turns(self, x: float, y: float, reached: bool) -> list[float]:
        """Return the turns (n,) for a target; where it is in reach, aimed again by their miss."""
        turns = self.ideal_turns(x, y)
        if reached and (x or y):
            return self.bones.aimed(turns, *self.bones.into_reach(x, y), self.ideal_turns)
        return turns

    def ideal_turns(self, x: float, y: float) -> list[float]:
        """Return the turns (n,) for a target by lengths and angles alone."""
        return [remainder(atan2(y, x) - self.bones.unturned[0], TURN) if x or y else 0.0]


class TwoBonePose(OneBonePose):
    """The pose of two bones that bend to one side, that of `solve_two_bone`."""

    def __init__(self, bones: PlainBones, bend: float) -> None:
        """Keep the bones. bend: +1 or -1, the sign of the second angle."""
        super().__init__(bones)
        self.bend = bend

    def ideal_turns(self, x: float, y: float) -> list[float]:
        """Return the turns (n,) for a target by lengths and angles alone."""
        first, second = self.bones.lengths
        own_first, own_second = self.bones.unturned
        distance = hypot(x, y)
        angle1, angle2 = two_bone_pose(first, second, x, y, distance, self.bend)
        if distance == 0.0:  # at the root every direction is as good: keep the last one
            angle1 = own_first
        return [remainder(angle1 - own_first, TURN), remainder(angle2 - own_second, TURN)]
