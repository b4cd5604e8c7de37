# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving a target by hand: an object or a bone, along with whatever holds it."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...core.inputs import Floats
from ...core.words import say
from ..animation.value_keys import acting_driver


def why_fixed(target: bpy.types.Object, subtarget: str, constrained: bool = False) -> str:
    """Say why a target cannot be moved by its location; "" where it can.

    constrained: whether it may have constraints, which may let it.
    """
    holder = target.pose.bones[subtarget] if subtarget else target
    name = f"'{holder.name}'"
    if not target.is_editable:
        return say("{name} is linked from another file", name=name)
    if any(holder.lock_location):
        return say("the location of {name} is locked", name=name)
    if acting_constraints(holder) and not constrained:
        return say("{name} has constraints", name=name)
    if subtarget and holder.parent is not None and holder.bone.use_connect:
        return say("bone {name} is connected to its parent", name=name)
    path = holder.path_from_id("location")
    if any(acting_driver(target, path, channel) for channel in range(3)):
        return say("the location of {name} has a driver", name=name)
    return ""


def acting_constraints(holder: bpy.types.Object | bpy.types.PoseBone) -> list[bpy.types.Constraint]:
    """Return the constraints of an object or a bone that are not muted and have influence now."""
    return [one for one in holder.constraints if not one.mute and one.influence > 0.0]


@dataclass(frozen=True, eq=False)
class TargetMove:
    """A target that is moved, with its place before."""

    holder: bpy.types.Object | bpy.types.PoseBone
    before: tuple[float, ...]  # its location
    start: Floats  # (3,) its place in the world before
    into_location: Floats  # (3, 3) from a move in the world to one of its location

    @classmethod
    def of(cls, target: bpy.types.Object, subtarget: str, start: Floats) -> "TargetMove | None":
        """Return the move of a target that is at `start` (3,) in the world; None if it cannot move."""
        if why_fixed(target, subtarget):
            return None
        holder = target.pose.bones[subtarget] if subtarget else target
        to_world = _bone_to_world(target, holder) if subtarget else _object_to_world(target)
        if abs(np.linalg.det(to_world)) == 0.0 or not np.isfinite(to_world).all():
            return None
        return cls(holder, tuple(holder.location), start, np.linalg.inv(to_world))

    def to(self, point: Floats) -> None:
        """Move the target to a point (3,) of the world."""
        self.holder.location = np.array(self.before) + self.into_location @ (point - self.start)

    def put_back(self) -> None:
        """Move it back exactly to where it was."""
        self.holder.location = self.before


def _object_to_world(ob: bpy.types.Object) -> Floats:
    """Return the matrix (3, 3) from an object's location to the world."""
    if ob.parent is None:
        return np.eye(3)
    return np.array(ob.matrix_world @ ob.matrix_basis.inverted_safe(), np.float64)[:3, :3]


def _bone_to_world(ob: bpy.types.Object, bone: bpy.types.PoseBone) -> Floats:
    """Return the matrix (3, 3) from a pose bone's location to the world."""
    origin, *ends = (_posed(bone, along) for along in ((0.0, 0.0, 0.0), *np.eye(3)))
    columns = np.column_stack([end - origin for end in ends])
    world: Floats = np.array(ob.matrix_world, np.float64)[:3, :3] @ columns
    return world


def _posed(bone: bpy.types.PoseBone, location: Sequence[float]) -> Floats:
    """Return the head (3,) in pose space of a bone with a location, by Blender."""
    above = {}
    if bone.parent is not None:
        above = {"parent_matrix": bone.parent.matrix, "parent_matrix_local": bone.parent.bone.matrix_local}
    matrix = bone.bone.convert_local_to_pose(Matrix.Translation(location), bone.bone.matrix_local, **above)
    return np.array(matrix.translation, np.float64)
