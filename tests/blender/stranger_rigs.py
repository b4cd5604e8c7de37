# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded rigs with IK as strangers build them: poles that move, turned bones, shared bones, own scales."""

from collections.abc import Sequence
from random import Random

import bpy
import numpy as np
from ik_rigs import add_ik
from mathutils import Euler, Matrix, Vector
from rigs import add_armature

LAST = 9
MODES = ('QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE', 'YZX')


def _vector(random: Random, size: float = 1.0) -> Vector:
    return Vector([random.gauss(0.0, size) for _ in range(3)])


def _direction(random: Random) -> Vector:
    return _vector(random).normalized()


def add_limb_rig(random: Random, count: int, straight: bool = False) -> bpy.types.Object:
    """Add an armature anywhere, of any size, with a torso and bones "b0", "b1" .. in a plane of their own."""
    frame = Matrix.Rotation(random.uniform(0.0, 6.0), 3, _direction(random))
    tail = _vector(random)
    bones = {"torso": (tuple(tail - _vector(random)), tuple(tail), "", random.uniform(-3.0, 3.0))}
    place, parent, heading = tail + _vector(random, 0.2), "torso", random.uniform(-1.0, 1.0)
    for i in range(count):
        if i and not straight:
            heading += random.uniform(0.25, 0.8)
        end = place + frame @ Vector((np.cos(heading), np.sin(heading), 0.0)) * random.uniform(0.6, 1.4)
        bones[f"b{i}"] = (tuple(place), tuple(end), parent, random.uniform(-3.0, 3.0))
        place, parent = end, f"b{i}"
    armature = add_armature(bones)
    size = random.choice((0.1, 1.0, 10.0))
    armature.matrix_world = Matrix.LocRotScale(_vector(random), Euler(_vector(random)), Vector([size] * 3))
    for bone in armature.pose.bones:
        bone.rotation_mode = random.choice(MODES)
    turn_bone(armature.pose.bones["torso"], random, 0.5)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.context.view_layer.update()
    return armature


def turn_bone(bone: bpy.types.PoseBone, random: Random, angle: float) -> None:
    """Turn a bone's own channels by an angle, radians, about any axis, in its own rotation mode."""
    basis = Matrix.Rotation(angle, 4, _direction(random)) @ Matrix.Diagonal((*bone.scale, 1.0))
    bone.matrix_basis = basis


def add_course(
    armature: bpy.types.Object, root: str, bones: Sequence[str], random: Random, name: str, *, far: float
) -> bpy.types.Object:
    """Add an empty that goes part of a circle about a bone's head, `far` parts of some bones' length off."""
    data = armature.data.bones
    reach = sum(data[bone].length for bone in bones)
    held = armature.matrix_world @ armature.pose.bones[data[root].parent.name].matrix
    held = held @ data[root].parent.matrix_local.inverted()
    middle = data[root].head_local
    line = (data[bones[-1]].tail_local - middle).normalized()
    if far > 1.0:  # a pole is aside of the limb
        line = line.orthogonal().normalized()
        line = Matrix.Rotation(random.uniform(0.0, 6.0), 3, data[bones[-1]].tail_local - middle) @ line
    axis, speed = _direction(random), random.uniform(0.05, 0.12)
    empty = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(empty)
    for frame in range(1, LAST + 1):
        place = Matrix.Rotation(speed * frame, 3, axis) @ line * far * reach
        empty.location = held @ (middle + place)
        empty.keyframe_insert("location", frame=frame)
    return empty


def limb_with_pole(
    seed: int, *, count: int = 2, own: float = 0.0, straight: bool = False, scaled: bool = False
) -> bpy.types.Object:
    """Return a rig whose limb has a target and a pole that move; own: radians that its bones are turned."""
    random = Random(seed)
    armature = add_limb_rig(random, count, straight)
    bones = [f"b{i}" for i in range(count)]
    for name in bones:
        if scaled:
            armature.pose.bones[name].scale = [random.uniform(0.7, 1.4)] * 3
        if own:
            turn_bone(armature.pose.bones[name], random, own)
    bpy.context.view_layer.update()
    target = add_course(armature, "b0", bones, random, "Target", far=0.7)
    pole = add_course(armature, "b0", bones, random, "Pole", far=1.6)
    angle = _pole_angle(armature, bones) if straight else random.uniform(-3.0, 3.0)
    add_ik(armature, bones[-1], target, count, pole_target=pole, pole_angle=angle, iterations=500)
    return armature


def _pole_angle(armature: bpy.types.Object, bones: Sequence[str]) -> float:
    """Return the pole angle, radians, at which a limb bends to its pole as its own channels pose it."""
    first = armature.pose.bones[bones[0]]
    line = (armature.pose.bones[bones[-1]].tail - first.head).normalized()
    knee = first.tail - first.head
    knee = first.matrix.to_3x3().inverted() @ (knee - knee.dot(line) * line)
    line = first.matrix.to_3x3().inverted() @ line
    # The side (cos, 0, sin) of the bone that is in one plane with the line and the knee.
    across = line.cross(knee)
    angle = np.arctan2(-across.x, across.z)
    if np.cos(angle) * knee.x + np.sin(angle) * knee.z < 0.0:
        angle -= np.copysign(np.pi, angle)
    return float(angle)


def limb_without_pole(seed: int, count: int = 2) -> bpy.types.Object:
    """Return a rig whose limb has a target that moves."""
    random = Random(seed)
    armature = add_limb_rig(random, count)
    bones = [f"b{i}" for i in range(count)]
    target = add_course(armature, "b0", bones, random, "Target", far=0.7)
    add_ik(armature, bones[-1], target, count, iterations=500)
    return armature


def shared_bones(seed: int) -> bpy.types.Object:
    """Return a rig whose limb of three has a pole, and whose first bone, or two, have IK of their own."""
    random = Random(seed)
    armature = limb_with_pole(seed, count=3)
    count = random.choice((1, 2))
    bones = [f"b{i}" for i in range(count)]
    add_ik(armature, bones[-1], add_course(armature, "b0", bones, random, "Other", far=0.8), count)
    return armature


def copied_torso(seed: int, *, within: bool) -> bpy.types.Object:
    """Return a rig whose torso copies the rotation of a bone that turns.

    within: the limb's own first bone does so, not the torso above it.
    """
    random = Random(seed)
    armature = limb_with_pole(seed)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    guide = armature.data.edit_bones.new("guide")
    guide.head, guide.tail = _vector(random), _vector(random)
    bpy.ops.object.mode_set(mode='OBJECT')
    posed = armature.pose.bones["guide"]
    posed.rotation_mode = 'QUATERNION'
    for frame, angle in ((1, 0.2), (LAST, 0.6)):
        turn_bone(posed, random, angle)
        posed.keyframe_insert("rotation_quaternion", frame=frame)
    copy = armature.pose.bones["b0" if within else "torso"].constraints.new('COPY_ROTATION')
    copy.target, copy.subtarget, copy.influence = armature, "guide", 0.5
    return armature


def played_joints(armature: bpy.types.Object, bones: Sequence[str]) -> np.ndarray:
    """Return the joints (LAST, n + 1, 3) of bones in the world, as Blender evaluates them frame by frame."""
    found = []
    for frame in range(1, LAST + 1):
        bpy.context.scene.frame_set(frame)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places = [shown.pose.bones[name].head for name in bones] + [shown.pose.bones[bones[-1]].tail]
        found.append([tuple(shown.matrix_world @ place) for place in places])
    return np.array(found)
