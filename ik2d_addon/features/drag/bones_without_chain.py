# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of bones that no settings describe: a tip, and some of its parents."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import bpy
import numpy as np

from ...core import IK2DError, Plane
from ...core.inputs import Floats
from ...rig.chain.bone_limits import limits_of_bones
from ...rig.chain.chain import Remarks, RigChain, SolverSettings
from ...rig.chain.checks.bones import chain_bones, is_joined, rest_joints
from ...rig.chain.checks.stored_values import refuse_broken_rest
from ...rig.chain.joints import normal_in_bone, read_joints
from ...rig.chain.planes import BEND, FIRST_X, FIRST_Z, choose_plane, line_of
from ...rig.pose.keyed_pose import keyed_pose_now

# The most iterations of CCD: no settings say how many.
ITERATIONS = 60


def usual_count(armature: bpy.types.Object, tip: str) -> int:
    """Return the number of bones that a tip holds: up to where they branch off or do not join end to end."""
    bones = chain_bones(armature, tip, 0)[::-1]
    for count, (bone, parent) in enumerate(pairwise(bones), start=1):
        if [child for child in parent.children if is_joined(child.bone)] != [bone]:
            return count
    return len(bones)


def loose_chain(scene: bpy.types.Scene, armature: bpy.types.Object, tip: str, bone_count: int) -> RigChain:
    """Return the chain of a tip and its parents, within Blender's own limits on these bones.

    Its target is its own tip bone. Limits that the pose breaks already are widened to it: nothing jumps.
    Raises IK2DError as `chain_bones` does, and for bones that have no plane.
    """
    bones = chain_bones(armature, tip, bone_count, tip)
    refuse_broken_rest(tip, bones)
    settings = SimpleNamespace(name=tip, joints={})
    joints = rest_joints(bones)
    plane, taken = _plane(settings, bones, joints)
    rig = RigChain(
        armature=armature,
        name=tip,
        bones=tuple(bone.name for bone in bones),
        plane=plane,
        target=armature,
        subtarget=tip,
        settings=SolverSettings('TWO_BONE' if len(bones) == 2 else 'CCD', iterations=ITERATIONS),
        joints=read_joints(settings, bones, [normal_in_bone(plane, bone) for bone in bones]),
        remarks=Remarks(taken, float(plane.distance(joints).max())),
    )
    limits = _limits(rig, bones, keyed_pose_now(scene, rig).turns)
    return replace(rig, joints=replace(rig.joints, limits=limits))


def _plane(settings: SimpleNamespace, bones: list[bpy.types.PoseBone], joints: Floats) -> tuple[Plane, str]:
    """Return the plane of bones, and its kind; a straight line of bones takes the bones above it too."""
    plane, taken = choose_plane(settings, 'AUTO', bones, joints)
    above = bones[0].parent_recursive if taken in (FIRST_X, FIRST_Z) else []
    for count in range(1, len(above) + 1):
        whole = rest_joints([*reversed(above[:count]), *bones])
        if not Plane.is_straight(whole):
            normal = Plane.fit(whole, straight_normal=plane.normal).normal
            with suppress(IK2DError):  # all lie in one plane, at right angles to these bones
                return Plane.facing(joints, normal, along=line_of(joints)), BEND
            break
    return plane, taken


def _limits(rig: RigChain, bones: Sequence[bpy.types.PoseBone], turns: Floats) -> Floats:
    """Return Blender's limits (n, 2) on the bones, widened to hold the bones' turns (n,); NaN without."""
    ranges, _ = limits_of_bones(bones, rig.plane)
    low, high = np.transpose([ranges.get(bone.name, (np.nan, np.nan)) for bone in bones])
    return np.stack((np.minimum(low, turns), np.maximum(high, turns)), axis=1)
