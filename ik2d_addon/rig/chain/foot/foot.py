# SPDX-License-Identifier: GPL-3.0-or-later
"""The foot that a chain's settings describe."""

from dataclasses import dataclass
from typing import NamedTuple

import bpy
import numpy as np

from ....core import Plane
from ....core.foot import FootAxes, FootShape
from ....core.inputs import Floats
from ....core.words import refusal
from ...rest import rest_matrix, rest_tail
from ..dependencies import Node

# A foot whose sole is as near to the plane's normal as this sine of its angle to the plane cannot roll in it.
_STEEPEST = np.sin(np.radians(45.0))
# A bone whose head is as far ahead as the ball, but for this part of the sole's length, is a toe.
NEAR_BALL = 0.1
# A sole shorter than this part of the last bone has no direction.
_NO_LENGTH = 1e-3


@dataclass(frozen=True, eq=False)
class Foot(FootAxes):
    """A foot on a chain's tip, in the armature's rest space."""

    ankle: Floats  # (3,)
    ground: bpy.types.Object | None  # which the sole stays above; None: nothing
    values: tuple[float, ...]  # roll, toe, break angle (radians); whether the ground counts

    @property
    def has_surface(self) -> bool:
        """Whether its ground is a surface, rather than the height of an object."""
        return self.ground is not None and self.ground.type == 'MESH'

    def is_toe(self, bone: bpy.types.PoseBone) -> bool:
        """Return whether a bone is a toe, by the place of its head."""
        shape = self.shape
        head = rest_matrix(bone.bone)[:3, 3] - self.ankle
        return bool(head @ self.ahead >= shape.ball[0] - NEAR_BALL * (shape.tip[0] - shape.heel[0]))


class FootValues(NamedTuple):
    """The settings of a foot that are read on each frame."""

    roll: float  # radians, as the next two
    toe: float
    break_angle: float
    use_ground: float  # 1 where the ground lifts it, else 0


FOOT_NAMES = FootValues._fields


def foot_values(settings: bpy.types.PropertyGroup) -> FootValues:
    """Return the values of a foot's settings."""
    return FootValues(settings.roll, settings.toe, settings.break_angle, float(settings.use_ground))


def ground_of(settings: bpy.types.PropertyGroup) -> Node | None:
    """Return the node of the ground under a chain's foot; None where there is none."""
    foot = settings.foot
    return (foot.ground, "") if foot.is_added and foot.ground is not None else None


def read_foot(settings: bpy.types.PropertyGroup, plane: Plane, tip: bpy.types.PoseBone) -> Foot | None:
    """Return the foot of a chain that ends in `tip`; None where it has none.

    Raises IK2DError for a foot that lies across the chain's plane.
    """
    if not settings.foot.is_added:
        return None
    values, name = settings.foot, settings.name
    heel, ball, end = (np.array(point[:], np.float64) for point in (values.heel, values.ball, values.toe_tip))
    if not np.isfinite((heel, ball, end)).all():
        raise refusal(
            "Chain '{name}': the pivots of its foot hold no finite numbers; add the foot again", name=name
        )
    sole = end - heel
    ahead = sole - (sole @ plane.normal) * plane.normal
    size, length = float(np.linalg.norm(ahead)), float(np.linalg.norm(sole))
    if length <= _NO_LENGTH * tip.bone.length:
        raise refusal(
            "Chain '{name}': the sole of its foot has no length; set Heel and Toe Tip apart", name=name
        )
    if size < np.sqrt(1.0 - _STEEPEST**2) * length:
        raise refusal(
            "Chain '{name}': its foot lies across the plane that the chain bends in; set Bends In "
            "to another plane, or remove the foot",
            name=name,
        )
    ahead /= size
    up = np.cross(plane.normal, ahead)
    if up @ heel > 0.0:  # the ankle is above the sole
        up = -up
    places = [(float(point @ ahead), float(point @ up)) for point in (heel, ball, end)]
    ground, ankle = ground_of(settings), rest_tail(tip.bone)
    return Foot(FootShape(*places), ahead, up, ankle, ground[0] if ground else None, foot_values(values))
