# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg whose bones have Euler angles, and keys, strips and locations for it."""

import numpy as np
from rigs import add_leg

from ik2d_addon.rig.animation.bone_channels import BoneChannels, BoneRotation
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = [1.0, 3.0, 6.0]
VALUES = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])
EULER = 'pose.bones["shin"].rotation_euler'


def euler_leg():
    armature = add_leg()
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    return armature


def rotation(bone="shin", values=VALUES, **settings):
    return BoneRotation(bone, "rotation_euler", values, **settings)


def curve_of(armature, index=0, path=EULER):
    return next(c for c in existing_fcurves(armature) if (c.data_path, c.array_index) == (path, index))


def keys_of(armature, index=0):
    return [tuple(key.co) for key in curve_of(armature, index).keyframe_points]


def key_euler(armature, bone="shin", frames=(1, 6)):
    for frame in frames:
        armature.pose.bones[bone].keyframe_insert("rotation_euler", frame=frame, group=bone)


def add_strip(armature):
    """Push the action down into a strip at frame 11, scaled by 2, and tweak it."""
    animation = armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    track = animation.nla_tracks.new()
    strip = track.strips.new("Walk", 11, action)
    if slot is not None:
        strip.action_slot = slot
    strip.scale = 2.0
    track.select = strip.select = True
    animation.nla_tracks.active = track
    animation.use_tweak_mode = True
    return strip


# --- Beside rotations -----------------------------------------------------------------------------

LOCATION = 'pose.bones["shin"].location'


def location(*channels, values=VALUES):
    return BoneChannels("shin", "location", values, channels=channels)
