# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded limbs that are posed as animators pose them, and everything of a scene that Add Chain may change."""

import json
from math import radians
from random import Random

import bpy
import numpy as np
from mathutils import Euler, Matrix, Quaternion, Vector
from rigs import add_armature, disconnect

MODES = ('QUATERNION', 'AXIS_ANGLE', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX')
COUNTS = (2, 2, 2, 2, 3, 5, 1)


def random_unit(rng: Random) -> Vector:
    """Return a direction."""
    return Vector([rng.gauss(0.0, 1.0) for _ in range(3)]).normalized()


def turn_bone(bone: bpy.types.PoseBone, turn: Quaternion, mode: str) -> None:
    """Give a bone a rotation in a rotation mode."""
    bone.rotation_mode = mode
    if mode == 'QUATERNION':
        bone.rotation_quaternion = turn
    elif mode == 'AXIS_ANGLE':
        axis, angle = turn.to_axis_angle()
        bone.rotation_axis_angle = (angle, *axis)
    else:
        bone.rotation_euler = turn.to_euler(mode)


def posed_limb(seed: int) -> tuple[bpy.types.Object, str, int]:
    """Add an armature with a posed limb below a posed body; return it, the limb's last bone and bone count.

    Straight and bent ones, connected or not, in any rotation mode; with locks, scale, keys and a transform of
    the object.
    """
    rng = Random(seed)
    count, straight = rng.choice(COUNTS), rng.random() < 0.3
    size = rng.choice((0.05, 1.0, 1.0, 1.0, 30.0))
    place = Vector([rng.uniform(-1.0, 1.0) for _ in range(3)]) * size
    along, normal = random_unit(rng), random_unit(rng)
    normal = (normal - along * normal.dot(along)).normalized()
    bones = {"body": (place - Vector((0.0, 0.0, size)), place, "", rng.uniform(-3.0, 3.0))}
    head, above = place, "body"
    for number in range(count):
        bend = 0.0 if straight else rng.uniform(0.03, 0.5) * (1 if number % 2 else -1)
        way = Quaternion(normal, bend) @ along
        tail = head + way * size * rng.uniform(0.4, 1.0)
        bones[f"b{number}"] = (head, tail, above, rng.uniform(-3.0, 3.0))
        head, above = tail, f"b{number}"
    armature = add_armature(bones)
    if rng.random() < 0.3:
        disconnect(armature)
    pose = armature.pose.bones
    turn_bone(pose["body"], Quaternion(random_unit(rng), rng.uniform(-1.5, 1.5)), rng.choice(MODES))
    if rng.random() < 0.2:
        pose["body"].scale = [rng.uniform(0.5, 2.0)] * 3
    turn_bone(pose["b0"], Quaternion(random_unit(rng), rng.uniform(-2.5, 2.5)), rng.choice(MODES))
    share, way = rng.uniform(-1.3, 1.3), rng.random()
    for number in range(1, count):
        bone = pose[f"b{number}"]
        rest = bone.bone.matrix_local.to_3x3()
        axis = rest.inverted() @ normal
        angle = share if way < 0.7 else rng.uniform(-1.3, 1.3)
        if way > 0.9:  # twisted as well
            axis = random_unit(rng)
        elif way > 0.6:  # about the bone's own axis, which is nearly that of the bend
            axis = Vector((1.0, 0.0, 0.0)) if abs(axis.x) > abs(axis.z) else Vector((0.0, 0.0, 1.0))
        turn_bone(bone, Quaternion(axis, angle), rng.choice(MODES))
    if rng.random() < 0.15:
        pose["b0"].lock_rotation = [rng.random() < 0.6 for _ in range(3)]
    if count > 1 and rng.random() < 0.15:
        pose["b1"].lock_rotation = [rng.random() < 0.5 for _ in range(3)]
    if rng.random() < 0.15:
        bone = pose[f"b{rng.randrange(count)}"]
        bone.scale = [rng.uniform(0.6, 1.5)] * 3
    if rng.random() < 0.3:
        armature.matrix_world = Matrix.LocRotScale(
            random_unit(rng) * 3.0, Euler([rng.uniform(-3, 3) for _ in range(3)]), [rng.uniform(0.3, 3.0)] * 3
        )
    if rng.random() < 0.3:
        for bone in pose:
            path = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
            bone.keyframe_insert(path.get(bone.rotation_mode, "rotation_euler"), frame=1)
    bpy.context.view_layer.update()
    return armature, f"b{count - 1}", count


def shown(armature: bpy.types.Object) -> dict[str, np.ndarray]:
    """Return the matrix of each bone as Blender evaluates it, in the armature's space."""
    layer = bpy.context.view_layer
    layer.update()
    bones = armature.evaluated_get(layer.depsgraph).pose.bones
    return {bone.name: np.array(bone.matrix, np.float64) for bone in bones}


def furthest(armature: bpy.types.Object, one: dict, other: dict) -> float:
    """Return how far bones are from where they were: parts of the limb's length, or of a rotation matrix."""
    limb = [bone.length for bone in armature.data.bones if bone.name != "body"]
    found = 0.0
    for name in one:
        off = np.abs(one[name] - other[name])
        size = max(1.0, float(np.abs(one[name][:3, :3]).max()))
        found = max(found, float(off[:3, 3].max()) / (sum(limb) * size), float(off[:3, :3].max()) / size)
    return found


def whole_scene(armature: bpy.types.Object) -> str:
    """Return all that Add Chain and Remove Chain may change, exactly."""
    pose = {
        bone.name: [
            bone.rotation_mode,
            *(list(getattr(bone, name)) for name in ("rotation_quaternion", "rotation_euler")),
            *(list(getattr(bone, name)) for name in ("rotation_axis_angle", "location", "scale")),
            [row[:] for row in bone.matrix_basis],
            len(bone.constraints),
        ]
        for bone in armature.pose.bones
    }
    animation = armature.animation_data
    state = [
        pose,
        sorted(ob.name for ob in bpy.data.objects),
        sorted(action.name for action in bpy.data.actions),
        animation and (animation.action and animation.action.name, len(animation.drivers)),
        sorted(ob.name for ob in bpy.context.selected_objects),
        bpy.context.view_layer.objects.active.name,
        armature.mode,
        len(armature.ik2d.chains),
        armature.ik2d.active_index,
        bpy.context.scene.frame_current,
    ]
    return json.dumps(state)


def select_limb(armature: bpy.types.Object, tip: str, count: int, mode: str = 'POSE') -> None:
    """Select a limb's bones, and make the last one active."""
    bpy.ops.object.mode_set(mode='POSE')
    names = {f"b{number}" for number in range(count)}
    for bone in armature.pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone
        owner.select = bone.name in names
    armature.data.bones.active = armature.data.bones[tip]
    bpy.ops.object.mode_set(mode=mode)


def degrees(*angles: float) -> list[float]:
    """Return angles in radians."""
    return [radians(angle) for angle in angles]
