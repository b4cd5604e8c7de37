# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg whose bones have constraints, with keys for these."""

import bpy
from rigs import add_armature, add_chain, add_target

from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.bone_constraints import other_controls

FIRST, LAST = 11, 20
SCENE = (1, 40)


def leg(turned=0.0):
    """Add a leg of thigh and shin in the plane x = 0, with a foot below; return it and its chain."""
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", turned),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", turned),
            "foot": ((0, 0, 0.1), (0, -0.3, 0.0), "shin", 0.0),
        }
    )
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = SCENE
    return armature, add_chain(armature, "shin", add_target({}), plane='X')


def give(armature, kind, bone="shin", **settings):
    """Give a bone a constraint."""
    constraint = armature.pose.bones[bone].constraints.new(kind)
    for key, value in settings.items():
        setattr(constraint, key, value)
    return constraint


def found(armature, first=FIRST, last=LAST):
    return other_controls(read_chain(armature, armature.ik2d.chains[0]), first, last)


def ik(armature, name="IK"):
    return give(armature, 'IK', "foot", target=add_target({}, f"{name} target"), name=name)


def key(constraint, values, path="influence"):
    for frame, value in values.items():
        setattr(constraint, path, value)
        constraint.keyframe_insert(path, frame=frame, group="foot")


def influence_curve(armature, name="IK"):
    path = f'pose.bones["foot"].constraints["{name}"].influence'
    return next(curve for curve in existing_fcurves(armature) if curve.data_path == path)
