# SPDX-License-Identifier: GPL-3.0-or-later
"""What is no number, in keys or in places: baked over where the bake replaces it, else refused by name."""

import math

import bpy
import numpy as np
import pytest
from rigs import add_leg, add_target, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, playback, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves

NAN = math.nan


def set_keys(owner, frame, value, path="", index=None):
    """Give the keys on a frame a value."""
    found = [
        key
        for curve in existing_fcurves(owner)
        if curve.data_path.endswith(path) and index in (None, curve.array_index)
        for key in curve.keyframe_points
        if key.co[0] == frame
    ]
    assert found
    for key in found:
        key.co[1] = key.handle_left[1] = key.handle_right[1] = value


def refused(armature, words, works=("bake", "solve")):
    """Bake and solve; both must refuse with these words."""
    for name in works:
        with pytest.raises(IK2DError) as caught:
            if name == "solve":
                solve(armature, ["shin"])
            else:
                bake(armature, ["shin"], 1, 20)
        assert str(caught.value) == words


def played(armature, first, last):
    """Return what the curves hold at quarters of the frames (curves, times)."""
    times = np.arange(4 * first, 4 * last + 1) / 4.0
    return np.array([[curve.evaluate(time) for time in times] for curve in existing_fcurves(armature)])


# --- Keys on the baked channels -------------------------------------------------------------------


@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
@pytest.mark.parametrize("value", [NAN, math.inf, -math.inf, 1e30])
@pytest.mark.parametrize("at", [1, 10, 20])
def test_keys_within_the_frames_are_baked_over(at, value, solver):
    """The scene shows the first frame: there the pose is none either."""
    armature, _ = leg_with_target(solver=solver)
    expected = bake(armature, frame_start=1, frame_end=20).chains[0]
    curves = played(armature, 1, 20)
    set_keys(armature, at, value)
    bpy.context.scene.frame_set(at)
    report = bake(armature, frame_start=1, frame_end=20)
    assert report.all_reached and not report.warnings, report.sentence()
    assert np.allclose(report.chains[0].residual, expected.residual, atol=1e-9)
    assert np.allclose(np.abs(played(armature, 1, 20)), np.abs(curves), atol=1e-4)


@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
@pytest.mark.parametrize("value", [NAN, math.inf, 1e30])
@pytest.mark.parametrize("reduce", [0.0, 0.01])
@pytest.mark.parametrize("beside", [9, 21])
def test_keys_beside_the_frames_are_not_joined_and_told(beside, reduce, value, solver):
    armature, _ = leg_with_target(solver=solver)
    bake(armature, frame_start=1, frame_end=40)
    set_keys(armature, beside, value)
    report = bake(armature, frame_start=10, frame_end=20, options=BakeOptions(reduce=reduce))
    assert report.all_reached, report.sentence()
    assert report.warnings == (
        f"Chain 'shin': the keys next to these frames, at frame {beside}, have no finite values and are not"
        " joined; delete them",
    )
    assert np.isfinite(played(armature, 10, 20)).all()


def test_a_pose_that_is_none_is_no_place_to_start_from():
    armature, _ = leg_with_target(solver='CCD')
    armature.pose.bones["shin"].rotation_quaternion = (NAN, 0.0, 0.0, 0.0)
    assert solve(armature).all_reached
    assert all(map(math.isfinite, armature.pose.bones["shin"].rotation_quaternion))


def test_the_scale_of_a_bone_counts_where_its_rotation_is_none():
    armature, _ = leg_with_target()
    armature.pose.bones["shin"].scale = (1.2, 1.2, 1.2)
    reach = bake(armature, frame_start=1, frame_end=3).chains[0].standard.reach
    set_keys(armature, 2, NAN)
    assert abs(bake(armature, frame_start=1, frame_end=3).chains[0].standard.reach - reach) < 1e-6


def test_hand_made_keys_to_blend_with_are_numbers():
    armature, _ = leg_with_target(influence=0.5)
    thigh = armature.pose.bones["thigh"]
    for frame in (1, 5):
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    set_keys(armature, 5, NAN)
    words = (
        "Chain 'shin': its influence blends with keys made by hand, which have no finite values at frame 2;"
        " delete these keys, or set the influence to 1"
    )
    refused(armature, words, ["bake"])


# --- Places and settings --------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["location", "rotation_euler", "scale"])
def test_an_armature_that_is_nowhere_is_named(path):
    armature, _ = leg_with_target()
    setattr(armature, path, (NAN, NAN, NAN))
    words = "armature 'Rig', or a bone above the chain, has no finite place at frame 1"
    refused(armature, f"Chain 'shin': {words}; mend its animation there")


@pytest.mark.parametrize("path", ["location", "scale"])
@pytest.mark.parametrize("value", [math.inf, 3e38, 1e-38])
def test_an_armature_of_an_extreme_place_or_size_is_refused_or_answered(value, path):
    armature, _ = leg_with_target()
    setattr(armature, path, (value, value, value))
    try:
        report = bake(armature, frame_start=1, frame_end=3)
    except IK2DError as error:
        assert str(error).startswith("Chain 'shin'")
    else:
        assert math.isfinite(report.max_error) and np.isfinite(played(armature, 1, 3)).all()


@pytest.mark.parametrize("path", ["location", "scale"])
def test_a_bone_that_is_nowhere_is_named(path):
    armature, _ = leg_with_target()
    setattr(armature.pose.bones["thigh"], path, (NAN, 1.0, 1.0))
    if path == "location":
        armature.data.bones["thigh"].use_relative_parent = False
        bpy.context.view_layer.objects.active = armature
        bpy.ops.object.mode_set(mode='EDIT')
        armature.data.edit_bones["thigh"].use_connect = False
        bpy.ops.object.mode_set(mode='OBJECT')
    words = "bone 'thigh' has no finite location or scale at frame 1; mend its animation there"
    refused(armature, f"Chain 'shin': {words}")


@pytest.mark.parametrize("name, value", [("softness", NAN), ("influence", NAN), ("bend", NAN), ("bend", 7.0)])
def test_an_animated_setting_that_is_none_is_named_with_its_frame(name, value):
    armature, _ = leg_with_target(softness=0.1, influence=0.9)
    for frame in (1, 3):
        armature.keyframe_insert(f"ik2d.chains[0].{name}", frame=frame)
    for curve in existing_fcurves(armature):
        for key in curve.keyframe_points:
            key.interpolation = 'CONSTANT'
    set_keys(armature, 3, value)
    label = armature.ik2d.chains[0].bl_rna.properties[name].name
    words = f"its setting {label} has no value that it may have at frame 3; mend its animation there"
    refused(armature, f"Chain 'shin': {words}", ["bake"])


def test_a_target_that_is_too_far_for_arithmetic_is_answered():
    armature, target = add_leg(), add_target({})
    target.location = (0.0, 1e38, 0.0)
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count, chain.target = "shin", "shin", 2, target
    report = bake(armature, frame_start=1, frame_end=3)
    assert not report.all_reached and math.isfinite(report.max_error)


def test_a_tip_that_something_else_sends_nowhere_is_an_error_and_changes_nothing():
    armature, _ = leg_with_target()
    constraint = armature.pose.bones["shin"].constraints.new('COPY_LOCATION')
    constraint.target = add_target({}, "Lost")
    constraint.target.location = (NAN, 0.0, 0.0)
    with pytest.raises(IK2DError, match="Chain 'shin': played back, its tip has no finite place at frame 1;"):
        bake(armature, frame_start=1, frame_end=5)
    assert not existing_fcurves(armature)


def test_a_target_that_is_nowhere_only_when_played_back_is_an_error_and_changes_nothing(monkeypatch):
    armature, _ = leg_with_target()
    sampled = playback.sample_steps

    def lost(*arguments, checked=True, **options):
        sampling = yield from sampled(*arguments, checked=checked, **options)
        if not checked:
            sampling.chains[0].targets[0] = NAN
        return sampling

    monkeypatch.setattr(playback, "sample_steps", lost)
    with pytest.raises(IK2DError, match="played back, its target or its armature has no finite place"):
        bake(armature, frame_start=1, frame_end=5)
    assert not existing_fcurves(armature)
