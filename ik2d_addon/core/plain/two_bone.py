# SPDX-License-Identifier: GPL-3.0-or-later
"""The analytic solve of two bones for one target, in plain numbers."""

from math import hypot, pi, remainder

from ..triangle import two_bone_pose
from .bones import CORRECTIONS, Bones

TURN = 2.0 * pi


class TwoBonePose:
    """The pose of two bones that bend to one side, that of `solve_two_bone`."""

    def __init__(self, bones: Bones, bend: float) -> None:
        """Keep the bones. bend: +1 or -1, the sign of the second angle."""
        self.bones, self.bend = bones, bend

    def turns(self, x: float, y: float, reached: bool) -> list[float]:
        """Return the turns (2,) for a target; where it is in reach, aimed again by their miss."""
        bones = self.bones
        distance = hypot(x, y)
        turns = self._once(x, y, distance)
        if reached and distance > 0.0:
            wanted_x, wanted_y = bones.into_reach(x, y)
            for _ in range(CORRECTIONS):
                tip_x, tip_y = bones.tip(turns)
                off_x, off_y = wanted_x - tip_x, wanted_y - tip_y
                if abs(off_x) <= bones.fine and abs(off_y) <= bones.fine:
                    break
                x, y = x + off_x, y + off_y
                turns = self._once(x, y, hypot(x, y))
        return turns

    def _once(self, x: float, y: float, distance: float) -> list[float]:
        first, second = self.bones.lengths
        own_first, own_second = self.bones.unturned
        angle1, angle2 = two_bone_pose(first, second, x, y, distance, self.bend)
        if distance == 0.0:  # at the root every direction is as good: keep the last one
            angle1 = own_first
        return [remainder(angle1 - own_first, TURN), remainder(angle2 - own_second, TURN)]
