# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixed plane of a chain that is straight at rest: from the bones around it, else from a view."""

import re
from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import bpy
import numpy as np
from bpy.utils import flip_name

from ...core.inputs import Floats
from ..chain.checks.bones import is_joined, rest_joints
from ..chain.planes import FIRST_X, FIRST_Z, bend_of, choose_plane, line_of, reach_of, side_at_rest

# The front view of the armature: its right, its up and the way to the viewer, as columns.
FRONT = np.array(((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)))
# Sines of angles: a direction below the first is along the line, one above the second is a foot's.
_ASIDE, _FOOT = 0.05, 0.5
# Bones lie in one plane if they spread across it by less than this part of what they do along.
_FLAT = 0.05
_LEG_NAMES = re.compile(r"foot|toe|ankle|leg|shin|calf|knee|thigh|paw|hoof", re.IGNORECASE)
_ARM_NAMES = re.compile(r"hand|palm|wrist|finger|thumb|arm|elbow", re.IGNORECASE)


def is_straight(settings: bpy.types.PropertyGroup, bones: Sequence[bpy.types.PoseBone]) -> bool:
    """Return whether bones are straight at rest, and no hinges give them a plane.

    Raises IK2DError for bones without a size.
    """
    return choose_plane(settings, 'AUTO', [*bones], rest_joints([*bones]))[1] in (FIRST_X, FIRST_Z)


def straight_normal(
    armature: bpy.types.Object,
    bones: Sequence[bpy.types.PoseBone],
    view: Floats | None = None,
    planned: Sequence[Any] = (),
) -> Floats:
    """Return the normal (3,) of a straight chain's plane, in rest space; POSITIVE is the side to bend to.

    view: (3, 3) the right, the up and the way to the viewer in the world, as columns; the armature's front
    without one. planned: settings of chains that are yet to be made. The plane is that of the other side's
    limb, else of the foot or hand, of the bone that the chain goes on from, of the armature's other bones if
    these are flat, else it faces the view. Knees bend towards the toes, elbows away from the hand's front,
    else to the view's right.
    """
    line, seen = line_from_root(bones), FRONT
    if view is not None:
        into = np.array(armature.matrix_world.to_3x3().inverted_safe(), np.float64)
        seen = into @ view
        seen = seen / np.maximum(np.linalg.norm(seen, axis=0), np.finfo(np.float64).tiny)
    told = _other_side(bones, line, [*armature.ik2d.chains, *planned])
    if told is None:
        told = _hanging_side(bones, line)
    if told is None:
        told = _towards_view(_axis(armature, bones, line, seen), line, seen)
    normal: Floats = np.cross(told, line)
    return normal


def line_from_root(bones: Sequence[bpy.types.PoseBone]) -> Floats:
    """Return the direction (3,) of a straight chain, away from its root."""
    joints = rest_joints([*bones])
    line = line_of(joints)
    return line if line @ (joints[-1] - joints[0]) >= 0.0 else -line


def _across(vectors: Floats, line: Floats) -> Floats:
    """Return vectors (..., 3) without their part along a line."""
    across: Floats = vectors - np.multiply.outer(vectors @ line, line)
    return across


def _unit(vector: Floats) -> Floats:
    sized: Floats = vector / np.linalg.norm(vector)
    return sized


# --- Planes with a side ------------------------------------------------------


def _other_side(
    bones: Sequence[bpy.types.PoseBone], line: Floats, settings_of_all: Sequence[Any]
) -> Floats | None:
    """Return the side that the mirrored limb bends to, mirrored; None where it has none."""
    names = [flip_name(bone.name) for bone in bones]
    pose = bones[0].id_data.pose.bones
    if any(name == bone.name or name not in pose for name, bone in zip(names, bones, strict=True)):
        return None
    others, sign = [pose[name] for name in names], 1.0
    joints = rest_joints(others)
    chains = (chain for chain in settings_of_all if chain.tip == names[-1])
    chain = next((chain for chain in chains if chain.bone_count == len(names)), None)
    settings = SimpleNamespace(name=names[-1]) if chain is None else chain
    plane, taken = choose_plane(settings, 'AUTO' if chain is None else chain.plane, others, joints)
    if taken in (FIRST_X, FIRST_Z):
        return None
    if chain is not None:
        sign = (-1.0 if bend_of(chain) < 0.0 else 1.0) * side_at_rest(plane, joints)
    aside = sign * np.cross(line_from_root(others), plane.normal) * (-1.0, 1.0, 1.0)
    across = _across(aside, line)
    return _unit(across) if np.linalg.norm(across) > _ASIDE else None


def _hanging_side(bones: Sequence[bpy.types.PoseBone], line: Floats) -> Floats | None:
    """Return the side that a foot points to, or that a hand turns its back to; None without either."""
    hanging = bones[-1].children_recursive
    if not hanging:
        return None
    tails = _points(hanging)[1::2] - rest_joints([*bones])[-1]
    mean = tails.mean(axis=0)
    across = _across(mean, line)
    size, length = float(np.linalg.norm(across)), float(np.linalg.norm(mean))
    if not size > _ASIDE * length:  # bones without a place are not finite
        return None
    names = " ".join(bone.name for bone in (*bones, *hanging))
    is_leg = bool(_LEG_NAMES.search(names))
    is_arm = not is_leg and bool(_ARM_NAMES.search(names))
    if not is_leg and not is_arm:
        is_leg = size > _FOOT * length
    return across / size if is_leg else -across / size


def _points(bones: Iterable[bpy.types.PoseBone]) -> Floats:
    """Return the heads and tails of bones (2 n, 3) at rest, each head before its tail."""
    return np.array([end for bone in bones for end in (bone.bone.head_local, bone.bone.tail_local)])


# --- Planes without a side ---------------------------------------------------


def _axis(
    armature: bpy.types.Object, bones: Sequence[bpy.types.PoseBone], line: Floats, seen: Floats
) -> Floats:
    """Return a direction (3,) of the plane, across the line: of other bones, else of the view."""
    joints = rest_joints([*bones])
    reach = reach_of(joints)
    parent = bones[0].parent
    if parent is not None:
        head, _ = _points([parent])
        across = _across(head - joints[0], line)
        if is_joined(bones[0].bone) and np.linalg.norm(across) > _ASIDE * parent.length:
            return _unit(across)
    names = {bone.name for bone in bones}
    others = [bone for bone in armature.pose.bones if bone.name not in names]
    offsets = _across(_points(others).reshape(-1, 3) - joints[0], line)
    offsets = offsets[np.isfinite(offsets).all(axis=1)]
    if len(offsets):
        _, extents, axes = np.linalg.svd(offsets, full_matrices=False)
        if extents[0] > _ASIDE * reach and extents[1] <= _FLAT * extents[0]:
            return _unit(axes[0])
    facing = _across(seen[:, 2], line)
    return _unit(np.cross(facing, line) if np.linalg.norm(facing) > _ASIDE else _across(seen[:, 0], line))


def _towards_view(axis: Floats, line: Floats, seen: Floats) -> Floats:
    """Return an axis (3,) to the view's right; to its lower end, or to the viewer, where it has no right."""
    for side in _sides(seen):
        along = float(axis @ side)
        if abs(along) > _ASIDE:
            return _unit(_across(axis * np.sign(along), line))
    return axis


def _sides(seen: Floats) -> Iterator[Floats]:
    yield seen[:, 0]
    yield -seen[:, 1]
    yield seen[:, 2]
