# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg that moves with all it hangs on, and the sampling of it step by step."""

import bpy
from rigs import add_chain, add_leg, add_target

from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.sampler import sample_steps

TIMES = [1.0, 2.5, 7.0, -3.25]


def moving_leg():
    """Add a leg whose body and object move and turn, with a target that moves; return its chain."""
    armature = add_leg()
    body, shin = armature.pose.bones["body"], armature.pose.bones["shin"]
    target = add_target({-5: (0, 0.2, 0.3), 10: (0, -0.9, 0.8)})
    for frame in (-5, 10):
        armature.location = (0.1 * frame, 0.3, 0.0)
        armature.keyframe_insert("location", frame=frame)
        body.rotation_quaternion = (1.0, 0.05 * frame, 0.1, 0.0)
        body.keyframe_insert("rotation_quaternion", frame=frame)
        shin.scale = (1.0 + 0.02 * frame,) * 3
        shin.keyframe_insert("scale", frame=frame)
    add_chain(armature, "shin", target)
    return read_chain(armature, armature.ik2d.chains[0])


def worked_off(steps):
    """Work a generator off; return what it yielded and its result."""
    yielded = []
    while True:
        try:
            yielded.append(next(steps))
        except StopIteration as stop:
            return yielded, stop.value


def steps(rigs, times=TIMES, **settings):
    return worked_off(sample_steps(bpy.context.scene, rigs, times, **settings))
