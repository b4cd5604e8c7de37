# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's rest pose laid into its plane: the moves of its bones, and a copy of the armature with these."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ...core.inputs import Floats
from ...core.words import refusal
from ...rig.chain.chain import RigChain
from ...rig.chain.checks.bones import rest_joints

# A bone at right angles to the plane, to within this cosine, cannot be laid into it.
_ACROSS = 0.99


def flat_moves(rig: RigChain, joints: Floats) -> list[Matrix]:
    """Return matrices in rest space that lay a chain's joints (n + 1, 3) in its plane, one for each bone.

    Raises IK2DError for a bone across the plane.
    """
    normal = Vector(rig.plane.normal)
    moves, place = [], Vector(joints[0])
    for i, bone in enumerate(rig.bones):
        old = Vector(joints[i + 1] - joints[i])
        flat = old - old.dot(normal) * normal
        if flat.length < np.sqrt(1.0 - _ACROSS**2) * old.length or not flat.length:
            raise refusal(
                "Chain '{chain}': bone '{bone}' points across the plane and cannot be laid into it; "
                "set Bends In to another plane",
                chain=rig.name,
                bone=bone,
            )
        turn = old.rotation_difference(flat).to_matrix().to_4x4()
        moves.append(Matrix.Translation(place) @ turn @ Matrix.Translation(-Vector(joints[i])))
        place = place + flat.normalized() * old.length
    return moves


class Instead:
    """A copy of something of Blender's to read: some attributes have other values, the rest are its own."""

    def __init__(self, real: Any, **values: Any) -> None:
        """Take the values in place of the thing's own."""
        self.__dict__.update(values, _real=real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """The class of the thing that it is read for."""
        return self._real.__class__


class _Bones(dict[str, Any]):
    """Pose bones by name, some of them copies, read as Blender's own collection."""

    def __getitem__(self, key: str | int) -> Any:
        return super().__getitem__(key) if isinstance(key, str) else list(self.values())[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values())


def laid_flat(rig: RigChain) -> Any:
    """Return a copy of a chain's armature whose rest pose has the chain in its plane.

    As *Flatten Rest Pose* leaves it: what hangs on a bone moves with it. Raises IK2DError as `flat_moves`.
    """
    first = rig.pose_bones[0]
    moves = dict(zip(rig.bones, flat_moves(rig, rest_joints(rig.pose_bones)), strict=True))
    copies: dict[str, Any] = {}
    waiting: list[tuple[bpy.types.PoseBone, Matrix]] = [(first, moves[first.name])]
    while waiting:
        bone, above = waiting.pop()
        move, data = moves.get(bone.name, above), bone.bone
        parent = copies.get(bone.parent.name, bone.parent) if bone.parent is not None else None
        rest = Instead(
            data,
            matrix_local=move @ data.matrix_local,
            head_local=move @ data.head_local,
            tail_local=move @ data.tail_local,
            parent=None if parent is None else parent.bone,
        )
        above_it = [] if parent is None else [parent, *parent.parent_recursive]
        copies[bone.name] = Instead(bone, bone=rest, parent=parent, parent_recursive=above_it)
        waiting += [(child, move) for child in bone.children]
    for copy in copies.values():
        copy.__dict__["children"] = [copies[child.name] for child in copy._real.children]
    bones = _Bones({name: copies.get(name, bone) for name, bone in rig.armature.pose.bones.items()})
    pose = Instead(rig.armature.pose, bones=bones)
    return Instead(rig.armature, pose=pose)
