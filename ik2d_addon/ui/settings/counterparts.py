# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones and targets on the other side of a rig, by Blender's names for sides (.L, .R)."""

import bpy
from bpy.types import Object
from bpy.utils import flip_name
from mathutils import Matrix

from ...core.words import refusal
from .chain_list import add_target


def bone_on_other_side(armature: Object, bone: str) -> str:
    """Return the name of a bone's counterpart; raise IK2DError if it has none."""
    other = flip_name(bone)
    if other == bone:
        raise refusal("Bone '{bone}' names no side; a name with .L or .R has a counterpart", bone=bone)
    if other not in armature.data.bones:
        raise refusal("Bone '{bone}' has no counterpart; there is no bone '{other}'", bone=bone, other=other)
    return other


def target_on_other_side(
    armature: Object, target: Object | None, subtarget: str, tip: str, role: str = "Target"
) -> tuple[Object | None, str]:
    """Return the counterpart of a target or pole, with its bone; tip and role: as in `add_target`."""
    if target is None:
        return None, ""
    if subtarget and target.type == 'ARMATURE':
        other = flip_name(subtarget)
        return target, other if other in target.data.bones else subtarget
    name = flip_name(target.name)
    if name != target.name and name in bpy.data.objects:
        return bpy.data.objects[name], subtarget
    made = add_target(armature, tip, role)
    if name != target.name:
        made.name = name
    world, flip = armature.matrix_world, Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
    made.location = world @ flip @ world.inverted_safe() @ target.matrix_world.translation
    return made, ""
