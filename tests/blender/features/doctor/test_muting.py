# SPDX-License-Identifier: GPL-3.0-or-later
"""Constraints that are muted on some frames, and the curves that do it."""

import itertools

import bpy
import numpy as np
import pytest
from constrained_legs import FIRST, LAST, SCENE, found, ik, influence_curve, key, leg
from rigs import animation_of

from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.muting import mute_on_frames


def mute(armature, first=FIRST, last=LAST):
    scene = bpy.context.scene
    return mute_on_frames(armature, controls_of(armature), scene, first, last)


def controls_of(armature):
    return found(armature, *SCENE)


@pytest.mark.parametrize("first, last, whole", [(1, 40, True), (0, 41, True), (2, 40, False), (1, 39, False)])
def test_all_frames_of_the_scene_are_muted_and_fewer_are_keyed(first, last, whole):
    armature, _ = leg()
    constraint = ik(armature)
    muted, driven = mute(armature, first, last)
    assert [one.constraint for one in muted] == ["IK"] and driven == []
    assert constraint.mute == whole
    assert bool(animation_of(armature)) != whole


def test_driven_influence_stays_unless_all_frames_are_muted():
    armature, _ = leg()
    constraint, free = ik(armature), ik(armature, "Second")
    constraint.driver_add("influence")
    muted, driven = mute(armature)
    assert [r.constraint for r in muted] == ["Second"] and [r.constraint for r in driven] == ["IK"]
    muted, driven = mute(armature, *SCENE)
    assert {r.constraint for r in muted} == {"IK", "Second"} and driven == []
    assert constraint.mute and free.mute


def test_without_keys_it_is_keyed_as_it_stands_around_the_frames():
    armature, _ = leg()
    constraint = ik(armature)
    constraint.influence = 0.75
    mute(armature)
    curve = influence_curve(armature)
    assert [tuple(key.co) for key in curve.keyframe_points] == [(10, 0.75), (11, 0), (20, 0), (21, 0.75)]
    assert [key.interpolation for key in curve.keyframe_points][:3] == ['CONSTANT'] * 3
    assert curve.group.name == "foot"
    assert constraint.influence == (0.75 if bpy.context.scene.frame_current < FIRST else 0.0)


KINDS = [('CONSTANT',), ('LINEAR',), ('BEZIER',), ('BEZIER', 'LINEAR')]
KEYS = [
    {2: 1.0, 8: 0.25},
    {5: 1.0, 14: 0.5, 30: 0.75},
    {5: 1.0, 30: 0.25},
    {10: 0.5, 21: 1.0},
    {25: 0.25, 33: 0.75},
    {8: 0.2, 10.4: 0.8, 20.5: 0.9, 26: 0.3},
]


@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
def test_before_and_after_it_plays_as_it_did(kinds):
    armature, _ = leg()
    ik(armature)
    outside = [*np.arange(1.0, 10.01, 0.25), *np.arange(21.0, 40.0, 0.25)]
    for keys in KEYS:
        armature.animation_data_clear()
        key(armature.pose.bones["foot"].constraints["IK"], keys)
        curve = influence_curve(armature)
        for point, kind in zip(curve.keyframe_points, itertools.cycle(kinds), strict=False):
            point.interpolation = kind
        before = [curve.evaluate(time) for time in outside]
        mute(armature)
        assert [curve.evaluate(time) for time in outside] == pytest.approx(before, abs=1e-5), keys
        assert not any(curve.evaluate(time) for time in np.arange(11.0, 20.01, 0.25)), keys
        frames = [point.co.x for point in curve.keyframe_points]
        assert [frame for frame in frames if 10 <= frame <= 21] == [10, 11, 20, 21]
        assert frames == sorted(set(frames)) and found(armature) == []


def test_segments_that_are_eased_keep_their_kind_where_they_are_not_cut():
    armature, _ = leg()
    key(ik(armature), {2: 1.0, 8: 0.25, 24: 0.75, 30: 0.5})
    curve = influence_curve(armature)
    for point in curve.keyframe_points:
        point.interpolation = 'SINE'
    outside = [*np.arange(1.0, 8.01, 0.25), *np.arange(24.0, 40.0, 0.25)]
    before = [curve.evaluate(time) for time in outside]
    mute(armature)
    assert [curve.evaluate(time) for time in outside] == pytest.approx(before, abs=1e-6)
    kinds = {point.co.x: point.interpolation for point in curve.keyframe_points}
    assert kinds[21] == 'SINE' and kinds[10] == kinds[11] == kinds[20] == 'CONSTANT'


@pytest.mark.parametrize("kind", ['AUTO', 'AUTO_CLAMPED', 'VECTOR', 'ALIGNED', 'FREE'])
def test_a_segment_that_is_cut_keeps_its_shape_whatever_its_handles(kind):
    armature, _ = leg()
    key(ik(armature), {1: 0.1, 7: 0.9, 25: 0.3, 38: 0.8})
    curve = influence_curve(armature)
    for point in curve.keyframe_points:
        point.handle_left_type = point.handle_right_type = kind
        if kind in ('ALIGNED', 'FREE'):
            point.handle_left = (point.co.x - 9, point.co.y - 0.05)
            point.handle_right = (point.co.x + 11, point.co.y + 0.04)  # past one another
    curve.update()
    outside = [*np.arange(1.0, 10.01, 0.25), *np.arange(21.0, 40.0, 0.25)]
    before = [curve.evaluate(time) for time in outside]
    mute(armature)
    curve.update()
    assert [curve.evaluate(time) for time in outside] == pytest.approx(before, abs=2e-5)


def test_keys_are_put_where_the_scene_is_remapped_to():
    armature, _ = leg()
    ik(armature)
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 200
    mute(armature)
    assert [key.co.x for key in influence_curve(armature).keyframe_points] == [5, 5.5, 10, 10.5]


@pytest.mark.parametrize("what", ["curve", "group"])
def test_locked_influence_is_refused(what):
    armature, _ = leg()
    key(ik(armature), {1: 1.0})
    curve = influence_curve(armature)
    (curve if what == "curve" else curve.group).lock = True
    before = animation_of(armature)
    with pytest.raises(IK2DError) as caught:
        mute(armature)
    assert str(caught.value) == f"'Rig': channel {curve.data_path} is locked; unlock it to mute it"
    assert animation_of(armature) == before


def test_samples_are_refused():
    armature, _ = leg()
    key(ik(armature), {1: 1.0, 30: 1.0})
    curve = influence_curve(armature)
    controls = controls_of(armature)
    curve.convert_to_samples(1, 30)
    with pytest.raises(IK2DError) as caught:
        mute_on_frames(armature, controls, bpy.context.scene, FIRST, LAST)
    assert str(caught.value) == f"'Rig': channel {curve.data_path} holds samples; turn them into keys"


def test_tweaked_strips_are_refused_unless_all_frames_are_muted():
    armature, _ = leg()
    constraint = ik(armature)
    animation = armature.animation_data_create()
    track = animation.nla_tracks.new()
    strip = track.strips.new("Strip", 1, bpy.data.actions.new("Other"))
    track.select = strip.select = True
    animation.nla_tracks.active = track
    animation.use_tweak_mode = True
    controls = controls_of(armature)
    scene = bpy.context.scene
    with pytest.raises(IK2DError) as caught:
        mute_on_frames(armature, controls, scene, FIRST, LAST)
    assert str(caught.value) == "'Rig' is in the NLA's tweak mode; leave it first (Tab in the NLA editor)"
    assert mute_on_frames(armature, [], scene, FIRST, LAST) == ([], [])
    mute_on_frames(armature, controls, scene, *SCENE)
    assert constraint.mute
