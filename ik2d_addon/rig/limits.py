# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own limits on bones, IK limits and Limit Rotation constraints, as limits of a planar chain."""

from collections.abc import Sequence
from math import atan2, pi

import bpy

from ..core import Plane
from .axes import ALIGNED, normal_in_bone, own_axis
from .joints import turning_axis

Range = tuple[float, float]  # radians about the plane's normal, relative to rest


def limits_of_bones(bones: Sequence[bpy.types.PoseBone], plane: Plane) -> tuple[dict[str, Range], list[str]]:
    """Return the ranges {bone: (min, max)} that Blender's own limits leave to bones in the chain's plane.

    Bones without a limit about the plane's normal are not in it. Also returns the names of the bones
    that have limits, but turn about none of their own axes: no range of theirs can be told.
    """
    ranges, slanted = {}, []
    for bone in bones:
        normal = normal_in_bone(plane, bone)
        turning = turning_axis(bone, normal)  # of a hinge askew it is one of its own
        axis = own_axis(normal if turning is None else turning, ALIGNED)
        if axis is None:
            if any(_about(bone, letter) for letter in "xyz"):
                slanted.append(bone.name)
            continue
        found = _about(bone, "xyz"[axis])
        if found:
            lowest, highest = max(low for low, _ in found), min(high for _, high in found)
            # Ranges that exclude each other: of Blender's, the one that acts last.
            lowest, highest = (lowest, highest) if lowest <= highest else found[-1]
            ranges[bone.name] = (lowest, highest) if normal[axis] > 0.0 else (-highest, -lowest)
    return ranges, slanted


def limits_elsewhere(bones: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Return the bones with a Limit Rotation that is not about their own axes: no range of a joint."""
    return [
        bone.name
        for bone in bones
        if any(
            constraint.type == 'LIMIT_ROTATION'
            and not constraint.mute
            and constraint.influence > 0.0
            and constraint.owner_space != 'LOCAL'
            for constraint in bone.constraints
        )
    ]


def _about(bone: bpy.types.PoseBone, axis: str) -> list[Range]:
    """Return every range that Blender limits a bone to about one of its own axes."""
    found = []
    if getattr(bone, f"use_ik_limit_{axis}"):
        found.append((getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")))
    if getattr(bone, f"lock_ik_{axis}"):
        found.append((_turn(bone, axis),) * 2)
    for constraint in bone.constraints:
        if (
            constraint.type == 'LIMIT_ROTATION'
            and not constraint.mute
            and constraint.influence > 0.0
            and constraint.owner_space == 'LOCAL'
            and getattr(constraint, f"use_limit_{axis}")
        ):
            ends = getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")
            found.append((min(ends), max(ends)))
    return found


def _turn(bone: bpy.types.PoseBone, axis: str) -> float:
    """Return how far a bone is turned about one of its own axes now, where Blender's IK lock holds it."""
    rotation = bone.matrix_basis.to_quaternion()
    turn = 2.0 * atan2(getattr(rotation, axis), rotation.w)
    return (turn + pi) % (2.0 * pi) - pi
