# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's own limits on bones, IK limits and Limit constraints, as limits of a planar chain."""

from collections.abc import Sequence
from math import atan2, inf, pi

import bpy

from ...core import Plane
from ...core.inputs import Floats
from .dependencies import acts_now
from .joints import ALIGNED, normal_in_bone, own_axis, turning_axis

Range = tuple[float, float]  # radians about the plane's normal, relative to rest; of slides a length
# A direction that has less than this along an axis is not limited along it.
_ACROSS = 1e-3


def limits_of_bones(bones: Sequence[bpy.types.PoseBone], plane: Plane) -> tuple[dict[str, Range], list[str]]:
    """Return the ranges {bone: (min, max)} of Blender's own limits in the chain's plane.

    Without bones that have no limit about the plane's normal. Also returns the names of bones that have
    limits, but turn about none of their own axes: their range is unknown.
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
        found = range_about(bone, axis)
        if found is not None:
            ranges[bone.name] = found if normal[axis] > 0.0 else (-found[1], -found[0])
    return ranges, slanted


def range_about(bone: bpy.types.PoseBone, axis: int, with_locks: bool = True) -> Range | None:
    """Return the range that Blender's own limits leave a bone about its own axis 0..2; None for any.

    with_locks: IK locks are limits too.
    """
    found = _about(bone, "xyz"[axis], with_locks)
    if not found:
        return None
    lowest, highest = max(low for low, _ in found), min(high for _, high in found)
    # Ranges that exclude each other: of Blender's, the one that acts last.
    return (lowest, highest) if lowest <= highest else found[-1]


def slides_of_bones(
    bones: Sequence[bpy.types.PoseBone], directions: Floats, bases: Floats, own: bool
) -> tuple[dict[str, Range], list[str]]:
    """Return the ranges {bone: (min, max)} of slides by Limit Location constraints.

    The constraints are on the bone that carries the slide: the next one, or the last bone itself.
    directions: (n, 3) of the slides in the locations that carry them. bases: (n, 3) these locations
    without slides. own: whether the last bone's constraint limits its own slide, not that of the one
    before. Without connected and unlimited bones. Also returns those limited on one side only.
    """
    ranges, open_ended, last = {}, [], len(bones) - 1
    for i, bone in enumerate(bones):
        carrier = min(i + 1, last)
        if carrier == last and (i == last) != own and last > 0:
            continue
        held = bones[carrier]
        if held.bone.use_connect and held.parent:
            continue
        low, high = _along(held, directions[i], bases[carrier])
        if low > -inf and high < inf and low <= high:
            ranges[bone.name] = low, high
        elif low > -inf or high < inf:
            open_ended.append(bone.name)
    return ranges, open_ended


def _along(bone: bpy.types.PoseBone, direction: Floats, base: Floats) -> Range:
    """Return the range of a bone along a direction of its location by Limit Location constraints."""
    low, high = -inf, inf
    for constraint in _active(bone, 'LIMIT_LOCATION'):
        for axis, letter in enumerate("xyz"):
            share = float(direction[axis])
            if abs(share) <= _ACROSS:
                continue
            for end in ("min", "max"):
                if not getattr(constraint, f"use_{end}_{letter}"):
                    continue
                slide = (getattr(constraint, f"{end}_{letter}") - float(base[axis])) / share
                if (end == "min") == (share > 0.0):
                    low = max(low, slide)
                else:
                    high = min(high, slide)
    return low, high


def _active(bone: bpy.types.PoseBone, kind: str, local: bool = True) -> list[bpy.types.Constraint]:
    """Return a bone's acting constraints of one kind, on its own channels (local) or in another space."""
    acting = (
        constraint for constraint in bone.constraints if constraint.type == kind and acts_now(constraint)
    )
    return [constraint for constraint in acting if (constraint.owner_space == 'LOCAL') == local]


def limits_elsewhere(bones: Sequence[bpy.types.PoseBone]) -> list[str]:
    """Return the bones with a Limit Rotation that is not about their own axes: no range of a joint."""
    return [bone.name for bone in bones if _active(bone, 'LIMIT_ROTATION', local=False)]


def _about(bone: bpy.types.PoseBone, axis: str, with_locks: bool = True) -> list[Range]:
    """Return every range that Blender limits a bone to about one of its own axes."""
    ranges = _ik_ranges(bone, axis, with_locks)
    for constraint in _active(bone, 'LIMIT_ROTATION'):
        if getattr(constraint, f"use_limit_{axis}"):
            ends = getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")
            ranges.append((min(ends), max(ends)))
    return ranges


def has_limits(bone: bpy.types.PoseBone) -> bool:
    """Return whether a bone has IK limits, or a Limit Rotation about its own axes: not locks alone."""
    has_ik_limits = any(getattr(bone, f"use_ik_limit_{axis}") for axis in "xyz")
    return has_ik_limits or bool(_active(bone, 'LIMIT_ROTATION'))


def ik_ranges(bone: bpy.types.PoseBone) -> list[tuple[int, Range]]:
    """Return (axis, range) of each IK limit and IK lock of a bone, about its own axes 0..2."""
    return [(axis, limits) for axis in range(3) for limits in _ik_ranges(bone, "xyz"[axis])]


def _ik_ranges(bone: bpy.types.PoseBone, axis: str, with_locks: bool = True) -> list[Range]:
    ranges = []
    if getattr(bone, f"use_ik_limit_{axis}"):
        ranges.append((getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")))
    if with_locks and getattr(bone, f"lock_ik_{axis}"):
        ranges.append((_turn(bone, axis),) * 2)
    return ranges


def _turn(bone: bpy.types.PoseBone, axis: str) -> float:
    """Return the angle of a bone about one of its own axes now, where Blender's IK lock holds it."""
    rotation = bone.matrix_basis.to_quaternion()
    turn = 2.0 * atan2(getattr(rotation, axis), rotation.w)
    return (turn + pi) % (2.0 * pi) - pi
