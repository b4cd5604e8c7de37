# SPDX-License-Identifier: GPL-3.0-or-later
"""Two chains of one armature, one of which hangs on the other."""

import bpy
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip


def add_two(order=("lower", "upper")):
    """Add an arm on a crane, two chains one of which hangs on the other, in the order given."""
    armature = add_armature(
        {
            "boom": ((0, 0, 0), (0, 1, 1), "", 0.4),
            "upper": ((0, 1, 1), (0, 2.2, 0.8), "boom", 0.0),
            "fore": ((0, 2.2, 0.8), (0, 2.4, 0.2), "upper", 0.2),
            "lower": ((0, 2.4, 0.2), (0, 2.2, -0.4), "fore", -0.3),
        }
    )
    targets = {
        "upper": add_target({1: (0, 2.0, 0.8), 12: (0, 1.2, 1.8)}, "Upper's"),
        "lower": add_target({1: (0, 2.2, -0.2), 12: (0, 1.4, 0.9)}, "Lower's"),
    }
    for name in order:
        add_chain(armature, name, targets[name])
    return armature


def worst(armature, frame=None):
    """Return how far the furthest evaluated tip is from its target."""
    if frame is not None:
        bpy.context.scene.frame_set(frame)
    return max(
        (evaluated_tip(armature, chain.tip) - evaluated_place(chain.target, chain.subtarget)).length
        for chain in armature.ik2d.chains
    )


def poses(armature):
    """Return the quaternions of all bones."""
    return [tuple(bone.rotation_quaternion) for bone in armature.pose.bones]
