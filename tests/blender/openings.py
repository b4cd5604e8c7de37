# SPDX-License-Identifier: GPL-3.0-or-later
"""How far joints of mechanisms are open in Blender's evaluated pose, by the mechanisms' settings alone."""

from collections.abc import Sequence

import bpy
import numpy as np
from mathutils import Matrix, Vector


def normal_of(armature):
    """Return the normal about which a machine's turns count: from x to y of the machines."""
    return Vector(armature.get("normal", (0.0, -1.0, 0.0)))


def evaluated_openings(mechanism, times: Sequence[float]) -> np.ndarray:
    """Return the largest opening of a joint in the evaluated pose at times, as a part of the pins' extent.

    By Blender's own matrices in the world, from the mechanism's settings alone.
    """
    armature, scene = mechanism.id_data, bpy.context.scene
    rest = {bone.name: armature.data.bones[bone.name] for bone in armature.data.bones}
    ends = [place for bone in mechanism.bones for place in (rest[bone.name].head_local,)]
    size = max((a - b).length for a in ends for b in ends)
    found = []
    for time in times:
        scene.frame_set(int(time // 1), subframe=float(time % 1))
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        move = {name: bones[name].matrix @ rest[name].matrix_local.inverted() for name in rest}
        frame = rest[mechanism.bones[0].name]
        while frame is not None and frame.name in mechanism.bones:
            frame = frame.parent
        move[""] = move[frame.name] if frame else Matrix.Identity(4)
        worst = 0.0
        for joint in mechanism.joints:
            if joint.kind == 'GEAR':
                continue
            bone, other = joint.bone, joint.other
            if joint.kind == 'RAM':
                normal = (move[""].to_3x3() @ normal_of(armature)).normalized()
                way = bones[other].head - bones[bone].head
                way = (way - way.dot(normal) * normal).normalized()
                worst = max(
                    worst,
                    (bones[bone].y_axis - way).length * size,
                    (bones[other].y_axis + way).length * size,
                )
                continue
            at = rest[bone].head_local if joint.end == 'HEAD' else rest[bone].tail_local
            if other and other not in mechanism.bones:
                along, other = move[""].to_3x3() @ rest[other].matrix_local.to_3x3().col[1], ""
            elif joint.kind != 'PIN':
                along = bones[other].y_axis if other else rest[bone].matrix_local.to_3x3().col[1]
            apart = move[bone] @ at - move[other] @ at
            if joint.kind != 'PIN':
                apart -= apart.dot(along.normalized()) * along.normalized()
            worst = max(worst, apart.length)
        found.append(worst / size)
    return np.array(found)
