# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg whose plane goes towards a pole, for what works with poles."""

import bpy
import numpy as np
from rigs import add_armature, add_chain, add_target

FRAMES = range(1, 13)
BONES = ("thigh", "shin")
REACH = 2.02


def leg(mode='QUATERNION', **settings):
    """Add a leg on a body that turns, with a target that goes round it and a pole that goes elsewhere."""
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0.3, -0.5, 1.1), "body", 0.4),
            "shin": ((0.3, -0.5, 1.1), (0.2, 0.3, 0.6), "thigh", -0.2),
        }
    )
    armature.location, armature.rotation_euler = (0.2, 0.1, 0.2), (0.2, 0.1, 0.7)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    for frame, turn in ((1, 0.2), (12, -0.3)):
        body.rotation_euler = turn, 0.0, 2.0 * turn
        body.keyframe_insert("rotation_euler", frame=frame)
    target = add_target({1: (0.9, 0.4, 0.8), 6: (0.6, 0.2, 0.9), 12: (-0.3, 0.6, 1.0)})
    pole = add_target({1: (1.5, -1.5, 1.5), 6: (0.2, -1.8, 1.0), 12: (-1.0, -1.0, 1.5)}, "Pole")
    chain = add_chain(armature, "shin", target, plane='POLE', pole=pole, pole_angle=0.3, **settings)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.context.view_layer.update()
    return armature, chain


def joints(armature):
    """Return where Blender has the joints (frames, 3, 3), in the world."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        ob = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [*(ob.pose.bones[name].head for name in BONES), ob.pose.bones["shin"].tail]
        found.append([tuple(ob.matrix_world @ point) for point in points])
    return np.array(found)
