# SPDX-License-Identifier: GPL-3.0-or-later
"""Limbs with IK and no pole whose first bone is twisted by keys of its own below it, for tests."""

import random
from math import pi, radians

import bpy
import numpy as np
from ik_rigs import add_ik
from mathutils import Euler, Vector
from rigs import add_armature, add_target

FIRST, LAST = 1, 24
MODES = ('QUATERNION', 'XYZ', 'YXZ', 'ZYX', 'AXIS_ANGLE', 'XZY')
HALVES = np.arange(FIRST, LAST + 0.5, 0.5)


def twisted_limb(seed: int, count: int | None = None, degrees: float = 60.0) -> bpy.types.Object:
    """Add a limb of two to four bones in one plane on a body, its first bone keyed to be twisted."""
    rng = random.Random(seed)
    count = count or rng.choice((2, 2, 3, 4))
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    bend, points = rng.choice((-1, 1)) * rng.uniform(0.15, 0.5), [Vector((0.0, 0.0, 2.0))]
    heading = rng.uniform(-0.2, 0.2) + 0.5 * bend
    for i in range(count):
        length = rng.uniform(0.6, 1.2) * 1.6 / count
        points.append(points[-1] + length * Vector((0.0, np.sin(heading), -np.cos(heading))))
        heading -= bend / (1 if i else 0.7) / max(1, count - 1) * 2.0
    about = Euler((rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), rng.uniform(-pi, pi))).to_matrix()
    points = [about @ (point - points[0]) + points[0] for point in points]
    bones = {"body": ((0, 0, 2.0), (0, 0, 2.6), "", rng.uniform(-1, 1))}
    for i in range(count):
        bones[f"b{i}"] = (points[i], points[i + 1], f"b{i - 1}" if i else "body", rng.uniform(-pi, pi))
    armature = add_armature(bones)
    tip, path = points[-1] - points[0], {}
    for frame in (FIRST, 9, 17, LAST):
        aside = Vector([rng.uniform(-0.22, 0.22) for _ in range(3)])
        way = (tip.normalized() + aside).normalized()
        path[frame] = points[0] + min(tip.length, 1.5) * rng.uniform(0.75, 0.95) * way
    target = add_target(path if rng.random() < 0.7 else {FIRST: path[FIRST]})
    add_ik(armature, f"b{count - 1}", target, count, iterations=500)
    first = armature.pose.bones["b0"]
    first.rotation_mode = rng.choice(MODES)
    for frame, part in ((FIRST, rng.choice((0.0, 0.2))), (11, rng.uniform(-1, 1)), (LAST, 1.0)):
        about_others = [rng.uniform(-0.1, 0.1) for _ in range(2)]
        turn = Euler((about_others[0], part * radians(degrees), about_others[1])).to_quaternion()
        key_rotation(first, turn, frame)
    return armature


def key_rotation(bone: bpy.types.PoseBone, turn, frame: int) -> None:
    """Key a bone's rotation, a quaternion, in its own mode."""
    if bone.rotation_mode == 'QUATERNION':
        bone.rotation_quaternion, path = turn, "rotation_quaternion"
    elif bone.rotation_mode == 'AXIS_ANGLE':
        axis, angle = turn.to_axis_angle()
        bone.rotation_axis_angle, path = (angle, *axis), "rotation_axis_angle"
    else:
        bone.rotation_euler, path = turn.to_euler(bone.rotation_mode), "rotation_euler"
    bone.keyframe_insert(path, frame=frame)


def spans_at(armature: bpy.types.Object, times) -> tuple[np.ndarray, np.ndarray]:
    """Return the limb's evaluated lines from root to tip and axes that it bends about, (times, 3) each."""
    lines, spans = [], []
    for time in times:
        bpy.context.scene.frame_set(int(np.floor(time)), subframe=float(time % 1))
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        bones = [bone for bone in evaluated.pose.bones if bone.name.startswith("b") and bone.name != "body"]
        joints = np.array([*(bone.head for bone in bones), bones[-1].tail])
        spokes = joints[1:] - joints[0]
        lines.append(spokes[-1])
        spans.append(np.cross(spokes[:-1], spokes[1:]).sum(axis=0))
    return np.array(lines), np.array(spans)


def plane_angles(before: tuple, after: tuple) -> np.ndarray:
    """Return the angles (times,), radians, between the planes of a limb about the line to its tip."""
    line = before[0] / np.linalg.norm(before[0], axis=1)[:, None]
    one, other = (span - (span * line).sum(axis=1)[:, None] * line for span in (before[1], after[1]))
    return np.abs(np.arctan2((line * np.cross(one, other)).sum(axis=1), (one * other).sum(axis=1)))
