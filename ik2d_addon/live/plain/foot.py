# SPDX-License-Identifier: GPL-3.0-or-later
"""The ankle's goal of a live foot, in plain numbers and Blender's own matrices."""

from collections.abc import Sequence
from typing import NamedTuple

from mathutils import Matrix, Vector

from ...rig.chain.foot.foot import Foot


class FootPose(NamedTuple):
    """The goal of an ankle in the world, and the rotations of foot and toes from rest."""

    goal: Vector
    angles: Sequence[float]  # radians about the foot's axis, of foot and toes
    turns: list[Matrix]  # 3x3, in the armature's pose space


class PlainFoot:
    """A foot on no ground, or on an object's height."""

    def __init__(self, foot: Foot) -> None:
        self.shape = foot.shape
        self.ahead, self.up = Vector(foot.ahead), Vector(foot.up)
        self.axis = Vector(foot.axis)

    def pose(
        self,
        control: Vector,
        turned: Matrix,
        world: Matrix,
        size: float,
        values: Sequence[float],
        ground: float | None,
    ) -> FootPose:
        """Return the pose of a foot: the result of `with_foot` for one frame.

        control: its place in the world. turned: the rotation of the control from rest, in the pose space of
        an armature at `world`. size: of the foot beside its rest pose. values: as `foot_values` has them.
        ground: its height in the world; None: none.
        """
        roll, toe, break_angle, heeds_ground = values
        x, y, *angles = self.shape.rolled_once(roll, toe, break_angle)
        linear = world.to_3x3() @ turned
        ahead, up = size * (linear @ self.ahead), size * (linear @ self.up)
        goal = control + x * ahead + y * up
        if ground is not None and heeds_ground:
            sole = self.shape.sole_once(roll, toe, break_angle)
            lowest = min(ahead.z * along + up.z * over for along, over in sole)
            goal.z += max(0.0, ground - control.z - lowest)
        return FootPose(goal, angles, [turned @ Matrix.Rotation(angle, 3, self.axis) for angle in angles])
