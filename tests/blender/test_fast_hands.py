# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and feet in a fast walk: as Blender has them between frames, with all keys and with few."""

import math

import bpy
import numpy as np
import pytest
from test_hands import add_walker, apart, at_rest, keys_of, nod, turns_on

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.chains import add_foot

FRAMES = np.arange(1, 37)
QUARTERS = np.arange(1.0, 36.25, 0.25)
MODES = ('QUATERNION', 'XYZ', 'AXIS_ANGLE')


def add_fast_walker(setting: str, mode: str = 'QUATERNION', far: bool = False, height: float = 0.3):
    """Add a leg that takes a step each twelve frames; return it and its target. far: beyond full reach."""
    armature, target, chain = add_walker(hand_rotation=setting)
    for ob in (armature, target):
        ob.animation_data_clear()
    body = armature.pose.bones["body"]
    body.rotation_euler = (0.0, 0.0, 0.0)
    for frame, angle in ((1, -0.1), (7, 0.12), (13, -0.1), (19, 0.12), (25, -0.1), (31, 0.12)):
        body.rotation_euler[0] = angle
        body.keyframe_insert("rotation_euler", frame=frame)
    step = 0.9 if far else 0.5
    ways = ((0, step, height), (0, 0, height), (0, -step, height), (0, 0, height + 0.45))
    for i, frame in enumerate(range(1, 38, 3)):
        target.location = ways[i % 4]
        target.keyframe_insert("location", frame=frame)
    nod(target, {frame: 0.5 * math.sin(frame) for frame in range(1, 38, 6)})
    for bone in ("foot", "toes"):
        armature.pose.bones[bone].rotation_mode = mode
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 36
    scene.frame_set(1)
    return armature, target, chain


def off(times, armature, target, setting: str) -> float:
    """Return the largest angle in degrees that Blender has the foot off its orientation at times."""
    rest = at_rest(armature)
    turned = turns_on(times, target, "") if setting == 'TARGET' else np.eye(3)
    return math.degrees(apart(turns_on(times, armature), turned @ rest))


@pytest.mark.parametrize("far", [False, True], ids=["within reach", "past full reach"])
@pytest.mark.parametrize("setting", ['WORLD', 'TARGET'])
@pytest.mark.parametrize("mode", MODES)
def test_between_frames_it_is_hardly_off(mode, setting, far):
    armature, target, _ = add_fast_walker(setting, mode, far)
    report = bake(armature, options=BakeOptions(verify='ALL')).chains[0]
    assert off(FRAMES, armature, target, setting) < 1e-3
    assert off(FRAMES[:-1] + 0.5, armature, target, setting) < 0.05
    assert report.max_hands_off < 0.05 and report.hands_words() == ""
    if mode != 'AXIS_ANGLE':  # an axis turns about fast near no rotation
        for part in (0.25, 0.75):
            assert off(FRAMES[:-1] + part, armature, target, setting) < 0.25  # 1 to 3 degrees by halves alone


@pytest.mark.slow
@pytest.mark.parametrize("setting", ['WORLD', 'TARGET'])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bound", [0.005, 0.001])
def test_few_keys_move_the_far_end_by_no_more_than_the_bound(mode, setting, bound):
    armature, target, _ = add_fast_walker(setting, mode)
    report = bake(armature, options=BakeOptions(reduce=bound, verify='ALL'))
    bones = armature.data.bones
    far = (bones["toes"].tail_local - bones["foot"].head_local).length
    assert len(keys_of(armature, "foot")) < len(FRAMES)
    assert math.radians(off(QUARTERS, armature, target, setting)) * far < bound
    told, measured = report.chains[0].max_hands_off, off(QUARTERS[::2], armature, target, setting)
    assert told == pytest.approx(measured, abs=1e-3)
    assert measured < 0.06 or f"'foot' up to {told:.2g} degrees off" in report.sentence()
    assert report.to_dict()["chains"][0]["max_hands_off"] == told
    assert not any("plays" in warning for warning in report.warnings)


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_of_a_foot_with_toes_both_share_the_bound(mode):
    armature, target, chain = add_fast_walker('TARGET', mode)
    nod(target, dict.fromkeys(range(1, 38, 6), 0.0))
    add_foot(armature, chain)
    for frame, roll in ((1, -0.4), (7, 0.9), (13, -0.4), (19, 0.9), (25, -0.4), (31, 0.9)):
        chain.foot.roll = roll
        chain.foot.keyframe_insert("roll", frame=frame)
    bake(armature)
    wanted = {bone: turns_on(FRAMES, armature, bone) for bone in ("foot", "toes")}
    bpy.ops.ik2d.clear_bake()
    bound, bones = 0.004, armature.data.bones
    report = bake(armature, options=BakeOptions(reduce=bound, verify='ALL'))
    assert report.chains[0].played.hands.bones == ("foot", "toes")
    lengths = [(bones["toes"].tail_local - bones["foot"].head_local).length, bones["toes"].length]
    foot, toes = (0.5 * bound / length for length in lengths)
    for bone, angle in (("foot", foot), ("toes", foot + toes)):
        found = apart(turns_on(FRAMES, armature, bone), wanted[bone])
        assert 0.1 * angle < found < angle
        assert len(keys_of(armature, bone)) < len(FRAMES)


def test_between_keys_of_a_step_it_is_told_how_far_it_is_off():
    armature, target, _ = add_fast_walker('WORLD')
    report = bake(armature, step=5, options=BakeOptions(verify='ALL'))
    measured = off(FRAMES, armature, target, 'WORLD')
    assert measured > 1.0
    assert report.chains[0].max_hands_off == pytest.approx(measured, abs=1e-3)


def test_an_influence_that_is_switched_off_stays_between_none_and_all():
    armature, target, chain = add_fast_walker('WORLD')
    for frame, influence in ((1, 1.0), (12, 1.0), (13, 0.0)):
        chain.influence = influence
        chain.keyframe_insert("influence", frame=frame)
    bake(armature)
    assert off(FRAMES[:12], armature, target, 'WORLD') < 1e-3
    bpy.context.scene.frame_set(20)
    assert tuple(armature.pose.bones["foot"].rotation_quaternion) == pytest.approx((1.0, 0.0, 0.0, 0.0))
