# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a chain, root to tip, and where their joints are in rest."""

import bpy
import numpy as np

from ....core.inputs import Floats
from ....core.words import refusal, say
from ...rest import rest_matrices, rest_tail

# A bone whose head is this near to its parent's tail, as a part of its length, goes on from there.
_JOINED = 1e-3


def chain_bones(
    armature: bpy.types.Object, tip: str, bone_count: int, chain_name: str = ""
) -> list[bpy.types.PoseBone]:
    """Return a chain's pose bones, root to tip; `bone_count` 0 goes to the hierarchy's root.

    Raises IK2DError for an unknown tip, for more bones than the tip has above it, and for less than none.
    """
    chain = say("Chain '{chain}'", chain=chain_name) if chain_name else say("The chain")
    if not tip:
        raise refusal("{chain} has no tip bone; set Last Bone to one", chain=chain)
    bone = pose_bones_of(armature).get(tip)
    if bone is None:
        raise refusal(
            "{chain}: armature '{armature}' has no bone '{tip}'; set Last Bone to another one",
            chain=chain,
            armature=armature.name,
            tip=tip,
        )
    bones = [bone, *bone.parent_recursive]
    if bone_count < 0:
        raise refusal(
            "{chain} asks for {bones} bones; set Chain Length to 0 or more", chain=chain, bones=bone_count
        )
    if bone_count > len(bones):
        _refuse_held(chain, bones[-1])
        raise refusal(
            "{chain} asks for {bones} bones, but '{tip}' and those above it are only {count}; "
            "set Chain Length to {count} or less",
            chain=chain,
            bones=bone_count,
            tip=tip,
            count=len(bones),
        )
    return list(reversed(bones[: bone_count or len(bones)]))


def _refuse_held(chain: str, bone: bpy.types.PoseBone) -> None:
    """Raise IK2DError for a bone without a parent that hangs on another one by a constraint."""
    for constraint in bone.constraints:
        if constraint.type not in ('CHILD_OF', 'ARMATURE') or constraint.mute or not constraint.influence:
            continue
        for source in getattr(constraint, "targets", (constraint,)):
            if source.target == bone.id_data and source.subtarget:
                raise refusal(
                    "{chain}: '{bone}' hangs on '{bone_2}' by its constraint '{constraint}', and a chain "
                    "goes along parents alone; make '{bone_2}' its parent and disable the constraint, or "
                    "set Chain Length to fewer",
                    chain=chain,
                    bone=bone.name,
                    bone_2=source.subtarget,
                    constraint=constraint.name,
                )


def pose_bones_of(armature: bpy.types.Object) -> bpy.types.bpy_prop_collection:
    """Return the pose bones of an armature; raise IK2DError for one that has no pose yet."""
    if armature.pose is None:
        raise refusal(
            "Armature '{armature}' is new and has no pose yet; update the view layer first",
            armature=armature.name,
        )
    return armature.pose.bones


def rest_joints(bones: list[bpy.types.PoseBone]) -> Floats:
    """Return the joints of pose bones (n + 1, 3) in rest: each head, then the tip's tail.

    Joint to joint, so that a child off its parent's tail counts where it is. By the rest matrices, as in
    the pose: `head_local` and `tail_local` are up to 1e-5 off these.
    """
    return np.concatenate((rest_matrices(bones)[:, :3, 3], rest_tail(bones[-1].bone)[None]))


def is_joined(bone: bpy.types.Bone) -> bool:
    """Return whether a bone goes on from its parent's tail at rest."""
    if bone.parent is None:
        return False
    gap = (bone.head_local - bone.parent.tail_local).length
    return bool(bone.use_connect or gap <= _JOINED * bone.length)
