# SPDX-License-Identifier: GPL-3.0-or-later
"""A switch leaves the frames that were not asked for as they are: with automatic handles, in all planes."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain

from ik2d_addon.features.match.match import snap_fk, target_to_tip
from ik2d_addon.rig.animation.bone_channels import rotation_property
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = np.arange(1.0, 40.5, 0.5)
BONES = ("thigh", "shin", "foot")
SWITCH = 24
REACH = 0.9
# Between frames, handles of 32 bits play a curve that far off, in radians and of the reach.
SAME = 2e-5


def switching_leg(
    plane="AUTO", mode='QUATERNION', smoothing='CONT_ACCEL', handle='AUTO_CLAMPED', hand='NONE'
):
    """Add a live leg with sparse keys of its own, which blend, then give way to the chain, and come back."""
    places = [(0, 0, 1.0), (0, -0.08, 0.55), (0, 0.02, 0.1), (0, -0.15, 0.03)]
    parts = {"hip": ((0, 0, 1), (0, 0, 1.3), "", 0.0)}
    for i, name in enumerate(BONES):
        parts[name] = (places[i], places[i + 1], BONES[i - 1] if i else "hip", 0.2 * i)
    armature = add_armature(parts)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 40
    target = bpy.data.objects.new("Target", None)
    scene.collection.objects.link(target)
    for frame in range(1, 41, 4):
        target.location = (0.05 * np.sin(frame), 0.3 * np.sin(0.3 * frame), 0.3 + 0.1 * np.cos(0.5 * frame))
        target.keyframe_insert("location", frame=frame)
    chain = add_chain(armature, "shin", target, bone_count=2, hand_rotation=hand)
    if plane == 'POLE':
        chain.pole = bpy.data.objects.new("Pole", None)
        scene.collection.objects.link(chain.pole)
        chain.pole.location = (0.3, -2.0, 0.6)
    chain.plane = plane
    rng = np.random.default_rng(1)
    for name in BONES:
        bone = armature.pose.bones[name]
        bone.rotation_mode = mode
        prop = rotation_property(mode)
        for frame in (1, 4, 9, 13, 17, 21, 27, 30, 34, 39):
            values = np.array(getattr(bone, prop)) * 0.0
            if mode == 'QUATERNION':
                values[0] = 1.0
            values[-3:] += rng.uniform(-0.3, 0.3, 3)
            setattr(bone, prop, values)
            bone.keyframe_insert(prop, frame=frame)
    # A blend to frame 10, the bones' own motion to 16, the chain to 30, and the bones once more.
    for frame, value, kind in (
        (1, 0.7, 'BEZIER'),
        (10, 0.0, 'CONSTANT'),
        (16, 1.0, 'CONSTANT'),
        (30, 0.0, 'BEZIER'),
    ):
        chain.influence = value
        chain.keyframe_insert("influence", frame=frame)
        curve = next(one for one in existing_fcurves(armature) if one.data_path.endswith("influence"))
        curve.keyframe_points[-1].interpolation = kind
    for curve in existing_fcurves(armature):
        curve.auto_smoothing = smoothing
        if "rotation" in curve.data_path:
            for key in curve.keyframe_points:
                key.handle_left_type = key.handle_right_type = handle
        curve.update()
    chain.live = True
    scene.frame_set(SWITCH)
    return armature, chain


def shown(armature, frames=FRAMES):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame // 1), subframe=float(frame % 1))
        seen = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(seen.pose.bones[name].matrix) for name in BONES])
    return np.array(found)


def apart(before, after, frames):
    rows = np.isin(FRAMES, list(frames))
    return np.abs(before[rows] - after[rows]).max()


PLANES = ('AUTO', 'X', 'SWING', 'POLE', 'ARC')


@pytest.mark.slow
@pytest.mark.parametrize("handle", ['AUTO_CLAMPED', 'AUTO', 'VECTOR', 'ALIGNED', 'FREE'])
@pytest.mark.parametrize("plane", PLANES)
def test_a_switch_to_fk_leaves_all_other_frames_exactly_as_they_are(plane, handle):
    mode = {'AUTO': 'QUATERNION', 'SWING': 'XYZ', 'POLE': 'AXIS_ANGLE'}.get(plane, 'ZYX')
    hand = {'X': 'WORLD', 'POLE': 'WORLD'}.get(plane, 'NONE')
    armature, _ = switching_leg(plane, mode, handle=handle, hand=hand)
    before = shown(armature)
    bpy.context.scene.frame_set(SWITCH)
    snap_fk(armature, switch=True)
    after = shown(armature)
    # Up to the switch, and where the bones' own keys were shown anyway.
    assert apart(before, after, [*FRAMES[FRAMES < SWITCH], SWITCH][: -2 if hand != 'NONE' else None]) < SAME
    assert apart(before, after, [SWITCH]) < SAME
    assert apart(before, after, FRAMES[FRAMES >= 30]) < SAME


@pytest.mark.slow
@pytest.mark.parametrize("smoothing", ['NONE', 'CONT_ACCEL'])
def test_a_switch_to_fk_in_a_blend_keeps_what_is_before_it(smoothing):
    armature, chain = switching_leg(smoothing=smoothing)
    before = shown(armature)
    bpy.context.scene.frame_set(6)
    snap_fk(armature, switch=True)
    after = shown(armature)
    assert apart(before, after, FRAMES[FRAMES <= 5]) < SAME
    assert apart(before, after, FRAMES[FRAMES >= 16]) < SAME
    assert chain.live


@pytest.mark.slow
@pytest.mark.parametrize("hand", ['WORLD', 'TARGET'])
def test_a_switch_to_ik_keeps_what_is_before_it(hand):
    armature, _ = switching_leg(hand=hand)
    before = shown(armature)
    bpy.context.scene.frame_set(13)
    target_to_tip(armature, switch=True)
    after = shown(armature)
    assert apart(before, after, FRAMES[FRAMES <= 9]) < SAME  # the last key of the target before
    assert apart(before, after, (11, 11.5, 12)) < SAME
