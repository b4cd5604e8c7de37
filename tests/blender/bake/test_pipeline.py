# SPDX-License-Identifier: GPL-3.0-or-later
"""The pipeline: bake and solve from their arguments to the keys and the report."""

import bpy
import numpy as np
import pytest
from hanging_chains import add_two, poses, worst
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    animation_of,
    every_bit_of_animation,
    leg_with_target,
)

from ik2d_addon.bake import BakeOptions, bake, bake_steps, pipeline, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.scene import sampler

PLAYED_BACK = 1e-5  # of two units' reach


# --- Arguments ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_options_reach_the_bake():
    armature, _ = leg_with_target()
    told = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(reduce=0.01, verify='NONE'))
    assert told.chains[0].played.keys < 20 and np.isnan(told.chains[0].played.on_frames).all()
    single = bake(armature, frame_start=1, frame_end=3, options=BakeOptions(single_axis=True))
    assert len([warning for warning in single.rig_warnings if "Single Axis" in warning]) == 2
    own = bake(armature, frame_start=1, frame_end=30, options=BakeOptions(on_target_keys=True))
    assert own.chains[0].played.keys == 3
    plain = bake(armature, frame_start=1, frame_end=3)
    assert plain.chains[0].played.keys == 3 and not plain.rig_warnings


def test_warnings_of_channels_are_the_rigs():
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=3)
    for curve in pipeline.keys.versions.existing_fcurves(armature):
        curve.mute = True
    assert len(bake(armature, frame_start=1, frame_end=3).rig_warnings) == 8


def test_keys_made_by_hand_that_it_replaces_are_told():
    armature, _ = leg_with_target()
    for influence in (1.0, 0.9):
        armature.pose.bones["shin"].keyframe_insert("rotation_quaternion", frame=2)
        armature.ik2d.chains[0].influence = influence
        report = bake(armature, frame_start=1, frame_end=3)
        assert report.replaced.keys == 4 and report.replaced.bones == ("shin",)
        assert "replaced 4 keys made by hand on 1 bone, which Clear Bake gives back" in report.sentence()
        armature.animation_data_clear()


def test_chains_that_are_named_alone_are_baked_and_reported_in_that_order():
    armature = add_two()
    report = bake(armature, ["upper"], 1, 12)
    assert [chain.name for chain in report.chains] == ["upper"]
    assert {path for path, _ in animation_of(armature)} == {
        f'pose.bones["{name}"].rotation_quaternion' for name in ("boom", "upper")
    }


def test_why_the_full_scene_was_needed_is_told(monkeypatch):
    armature, _ = leg_with_target()
    assert bake(armature, frame_start=1, frame_end=2).full_scene == ""
    from ik2d_addon.rig.scene import own_scene

    monkeypatch.setattr(own_scene, "doubt", lambda *_: "a test wants it")
    assert bake(armature, frame_start=1, frame_end=2).full_scene == "a test wants it"


def test_why_all_frames_were_stepped_through_is_told(monkeypatch):
    armature, _ = leg_with_target()
    monkeypatch.setattr(sampler, "WAY", sampler.CURVES)
    assert bake(armature, frame_start=1, frame_end=9).stepped == ""
    monkeypatch.setattr(sampler, "difference_of", lambda *_: "'Target'")
    assert bake(armature, frame_start=1, frame_end=9).stepped == "'Target'"


# --- Progress -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [1, 2])
def test_progress_goes_up_to_the_end_of_the_solving_then_through_the_playback(rounds):
    armature = add_two() if rounds == 2 else leg_with_target()[0]
    calls = []
    bake(armature, frame_start=1, frame_end=12, progress=lambda done, total: calls.append((done, total)))
    totals = [total for _, total in calls]
    solving = totals.count(12 * rounds) if rounds == 2 else None
    assert set(totals) == {12 * rounds, 12}
    assert all(0 < done <= total for done, total in calls)
    if rounds == 2:
        first = [done for done, _ in calls[:solving]]
        assert first == sorted(first) and first[-1] == 24 and {12, 13} <= set(first)
    assert calls[-1] == (12, 12)


def test_steps_are_those_that_a_bake_reports(monkeypatch):
    monkeypatch.setattr(sampler, "WAY", sampler.STEP)  # else the keys of the first bake count in the second
    armature, _ = leg_with_target()
    calls = []
    bake(armature, frame_start=1, frame_end=9, progress=lambda *call: calls.append(call))
    assert list(bake_steps(armature, frame_start=1, frame_end=9)) == calls


# --- Chains on chains -----------------------------------------------------------------------------


@pytest.mark.parametrize("order", [("lower", "upper"), ("upper", "lower")], ids=str)
def test_chains_are_reported_as_given_and_solved_as_they_hang(order):
    armature = add_two(order)
    report = bake(armature, frame_start=1, frame_end=12)
    assert [chain.name for chain in report.chains] == list(order)
    assert report.all_reached
    for frame in (1, 5, 12):
        assert worst(armature, frame) < PLAYED_BACK * 3
    assert {len(keys) for keys in animation_of(armature).values()} == {12}
    assert len(bpy.data.actions) == 3  # the rig's and the targets'


# --- All or nothing -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_bake_that_is_closed_at_any_step_has_changed_nothing():
    armature = add_two()
    bake(armature, frame_start=1, frame_end=6)
    before, pose = every_bit_of_animation(armature), poses(armature)
    armature.ik2d.chains[0].bend = 'NEGATIVE'  # what is baked now would be seen
    for steps_done in range(1, 31, 5):  # of some 36, the last of them while it is played back
        steps = bake_steps(armature, frame_start=1, frame_end=6)
        for _ in range(steps_done):
            next(steps)
        steps.close()
        assert every_bit_of_animation(armature) == before and poses(armature) == pose, steps_done


def test_bad_input_is_told_before_anything_is_done():
    armature = add_leg()
    with pytest.raises(IK2DError, match="has no enabled chain"):
        bake(armature)
    with pytest.raises(IK2DError, match="has no enabled chain"):
        solve(armature)
    add_chain(armature, "shin", add_target({}))
    with pytest.raises(IK2DError, match="is reversed"):
        next(bake_steps(armature, frame_start=3, frame_end=1))
    with pytest.raises(IK2DError, match="has no keys"):
        bake(armature, options=BakeOptions(on_target_keys=True))
    assert armature.animation_data is None


def test_a_chain_that_needs_no_handles_is_baked_beside_one_that_does():
    armature = add_armature(
        {
            name: ((x, y, z), (x, y2, z2), parent, 0.0)
            for x in (0.0, 1.0)
            for name, (y, z), (y2, z2), parent in (
                (f"a{x:g}", (0.0, 2.0), (-0.1, 1.0), ""),
                (f"b{x:g}", (-0.1, 1.0), (0.0, 0.1), f"a{x:g}"),
            )
        }
    )
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    still = add_target({1: (0.0, 0.1, 0.4)}, "Still")
    lively = add_target({f: (1.0, (-1) ** f * 0.4, 0.3 + 0.02 * f) for f in range(1, 21)}, "Lively")
    add_chain(armature, "b0", still, bone_count=2)
    add_chain(armature, "b1", lively, bone_count=2)
    report = bake(armature)
    assert all(chain.reached for chain in report.chains)
