# SPDX-License-Identifier: GPL-3.0-or-later
"""Moving a target: an object or a bone, along with whatever holds it; of a blend the one that acts."""

from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Matrix

from ...core.inputs import Floats
from ...rig.chain.dependencies import acting
from ...rig.pose.target_moves import why_fixed


@dataclass(frozen=True, eq=False)
class TargetMove:
    """A target that is moved, with its place before."""

    holder: bpy.types.Object | bpy.types.PoseBone
    before: tuple[float, ...]  # its location
    start: Floats  # (3,) its place in the world before
    into_location: Floats  # (3, 3) from a move in the world to one of its location

    @classmethod
    def of(cls, target: bpy.types.Object, subtarget: str, start: Floats) -> "TargetMove | None":
        """Return the move of a target that is at `start` (3,) in the world; None if it cannot move.

        Of a blend it is that of the target that acts most, by as much more as it has a share in the blend.
        """
        (target, subtarget), share = acting((target, subtarget))
        if why_fixed(target, subtarget):
            return None
        holder = target.pose.bones[subtarget] if subtarget else target
        to_world = share * (_bone_to_world(target, holder) if subtarget else _object_to_world(target))
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
