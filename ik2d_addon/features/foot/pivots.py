# SPDX-License-Identifier: GPL-3.0-or-later
"""The pivots of a foot, measured on its bones and on what is bound to them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from bpy.types import Object, PoseBone, PropertyGroup
from mathutils import Matrix, Vector

from ...core.inputs import Floats
from ...core.words import refusal
from ...rig.chain.checks.bones import chain_bones, rest_joints
from ...rig.chain.foot.bones import children_of
from ...rig.chain.hands import hanging_bones
from ...rig.chain.planes import bend_plane

# A direction nearer to the plane's normal than this cosine of its angle to the plane is not up in it.
_CLEARLY_UP = 0.5
# What is less than this part of the ankle's height over the sole is at the ground. A toe's joint is below the
# second part of it, and ahead of the ankle by more than the third part of the foot's length.
_AT_GROUND, _TOE_HEIGHT, _TOE_AHEAD = 0.1, 0.6, 0.3
# Without anything that shows it, a heel is behind the ankle by this part of the way from ankle to ball.
_HEEL = 0.3
# Vertices belong to a bone that has at least this weight on them.
_WEIGHT = 0.5


@dataclass(frozen=True, eq=False)
class Pivots:
    """The pivots of a foot, (3,) each, from the ankle, in the armature's rest space."""

    heel: Floats
    ball: Floats
    tip: Floats


def measured_pivots(armature: Object, chain: PropertyGroup) -> Pivots:
    """Return the pivots of the foot on a chain's tip.

    By the lowest points of what is bound to its bones, else by the bones. Raises IK2DError where nothing
    hangs on the tip that could be a foot, and for a foot that points out of the chain's plane.
    """
    bones = chain_bones(armature, chain.tip, chain.bone_count, chain.name)
    hanging = hanging_bones(bones[-1])
    if not hanging:
        raise refusal(
            "Chain '{chain}': no bone hangs on the end of '{bone}' that could be a foot; end the "
            "chain at the ankle, or add a bone there",
            chain=chain.name,
            bone=bones[-1].name,
        )
    joints = rest_joints(bones)
    plane, ankle = bend_plane(chain, bones, joints), joints[-1]
    below = [*hanging, *(below_it for bone in hanging for below_it in bone.children_recursive)]
    ends = np.array([end for bone in below for end in _ends(bone)], np.float64) - ankle
    up = _up(armature, plane.normal, joints)
    ahead = np.cross(up, plane.normal)
    farthest = ends[np.argmax(np.linalg.norm(ends, axis=1))]
    side = float(farthest @ ahead)
    if abs(side) < abs(farthest @ plane.normal):
        raise refusal(
            "Chain '{chain}': '{bone}' points out of the plane that the chain bends in, so it "
            "cannot roll there; set Bends In to another plane",
            chain=chain.name,
            bone=hanging[0].name,
        )
    ahead = ahead if side > 0.0 else -ahead
    skin = _bound_points(armature, {bone.name for bone in below}) - ankle
    points = skin if len(skin) else ends
    sole = float((points @ up).min())
    heights = points @ up - sole
    low = (points @ ahead)[heights <= _AT_GROUND * max(-sole, float(heights.max()) * _AT_GROUND)]
    far = float(low.max()) if len(skin) else float((ends @ ahead).max())
    toe = _first_toe(hanging, ankle, ahead, up, sole, far)
    tip = far * ahead + sole * up
    ball = tip if toe is None else _flat(np.array(toe.bone.head_local) - ankle, ahead, up)
    back = float(low.min()) if len(skin) else min(float((ends @ ahead).min()), -_HEEL * float(ball @ ahead))
    if far - back <= 0.0:
        raise refusal(
            "Chain '{chain}': '{bone}' has no length along the ground",
            chain=chain.name,
            bone=hanging[0].name,
        )
    return Pivots(back * ahead + sole * up, ball, tip)


def _flat(point: Floats, ahead: Floats, up: Floats) -> Floats:
    """Return a point (3,) in the plane of two axes."""
    flat: Floats = (point @ ahead) * ahead + (point @ up) * up
    return flat


def _ends(bone: PoseBone) -> tuple[Vector, Vector]:
    return bone.bone.head_local, bone.bone.tail_local


def _up(armature: Object, normal: Floats, joints: Floats) -> Floats:
    """Return the direction up (3,) in a chain's plane, in rest: the world's, else from tip to root."""
    world = np.array(_shown(armature).matrix_world, np.float64)[2, :3]
    for wanted in (world, joints[0] - joints[-1], joints[0] - joints[1]):
        up = wanted - (wanted @ normal) * normal
        size = float(np.linalg.norm(up))
        if size > _CLEARLY_UP * float(np.linalg.norm(wanted)):
            break
    unit: Floats = up / size
    return unit


def _first_toe(
    hanging: Sequence[PoseBone], ankle: Floats, ahead: Floats, up: Floats, sole: float, far: float
) -> PoseBone | None:
    """Return the first bone below the foot whose joint is at the ground; None for a foot without toes."""
    waiting = [child for bone in hanging for child in children_of(bone)]
    while waiting:
        place = np.array(waiting[0].bone.head_local, np.float64) - ankle
        height = float(place @ up) - sole
        if height <= _TOE_HEIGHT * -sole and float(place @ ahead) >= _TOE_AHEAD * far:
            return waiting[0]
        waiting = [*waiting[1:], *children_of(waiting[0])]
    return None


# --- What is bound to the bones ----------------------------------------------


def _bound_points(armature: Object, bones: set[str]) -> Floats:
    """Return the points (m, 3) in rest space of what is bound to some bones of an armature."""
    points = [point for ob in bpy.data.objects for point in _points_on(ob, armature, bones)]
    return np.array(points, np.float64).reshape(-1, 3)


def _points_on(ob: Object, armature: Object, bones: set[str]) -> Iterator[Vector]:
    """Yield the points of an object that bones of an armature move, in rest space."""
    if ob.parent == armature and ob.parent_type == 'BONE':
        if ob.parent_bone in bones and ob.type != 'EMPTY':
            shown, rest = _shown(armature), armature.data.bones[ob.parent_bone].matrix_local
            posed = shown.matrix_world @ shown.pose.bones[ob.parent_bone].matrix
            yield from _points_of(ob, rest @ posed.inverted_safe())
        return
    modifiers = (item for item in ob.modifiers if item.type == 'ARMATURE' and item.object == armature)
    if ob.type == 'MESH' and next(modifiers, None) is not None:
        groups = {group.index for group in ob.vertex_groups if group.name in bones}
        into = _shown(armature).matrix_world.inverted_safe() @ _shown(ob).matrix_world
        for vertex in ob.data.vertices if groups else ():
            if sum(item.weight for item in vertex.groups if item.group in groups) >= _WEIGHT:
                yield into @ vertex.co


def _points_of(ob: Object, into: Matrix) -> Iterator[Vector]:
    """Yield the points of an object: a mesh's vertices, else the corners of its box. into: from the world."""
    points = [vertex.co for vertex in ob.data.vertices] if ob.type == 'MESH' else map(Vector, ob.bound_box)
    into = into @ _shown(ob).matrix_world
    for point in points:
        yield into @ point


def _shown(ob: Object) -> Object:
    """Return an object as it is evaluated: itself may have no place yet after its file was opened."""
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
