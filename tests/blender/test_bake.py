# SPDX-License-Identifier: GPL-3.0-or-later
"""The bake, judged by the pose that Blender evaluates."""

import bpy
import numpy as np
import pytest
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    animation_of,
    evaluated_tip,
    leg_with_target,
    played_back_errors,
)

from ik2d_addon.bake import bake, solve
from ik2d_addon.core import Status

MODES = ['QUATERNION', 'XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX', 'AXIS_ANGLE']
PLAYED_BACK = 1e-5  # of reach: what Blender's 32-bit floats allow, with room


def assert_plays_back(armature, chain, report, frames):
    reach = report.chains[0].standard.reach
    for frame, error in played_back_errors(armature, chain, frames):
        assert error <= PLAYED_BACK * reach, (frame, error)


@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
@pytest.mark.parametrize("mode", MODES)
def test_tip_follows_the_target_in_every_rotation_mode(mode, solver):
    armature, _ = leg_with_target(solver=solver)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    report = bake(armature, frame_start=1, frame_end=40)
    assert report.all_reached
    assert_plays_back(armature, armature.ik2d.chains[0], report, range(1, 41))
    assert {bone.rotation_mode for bone in armature.pose.bones} == {mode}


def test_the_chain_follows_a_body_that_moves_and_turns():
    armature, _ = leg_with_target()
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    for frame, turn, place in ((1, 0.0, (0, 0, 0)), (40, 0.5, (0.3, 0.1, 0.2))):
        body.rotation_euler, body.location = (turn, 0, 0), place
        body.keyframe_insert("rotation_euler", frame=frame)
        body.keyframe_insert("location", frame=frame)
    report = bake(armature, frame_start=1, frame_end=40)
    assert (report.chains[0].status == Status.REACHED).all()
    assert not report.all_reached and "off the plane" in report.sentence()
    off_plane = report.chains[0].off_plane
    for frame, error in played_back_errors(armature, armature.ik2d.chains[0], range(1, 41)):
        # The plane goes sideways with the body; within it the tip is on the target.
        assert error == pytest.approx(off_plane[frame - 1], abs=PLAYED_BACK * 2)
    assert off_plane.max() > 0.1


def test_the_plane_follows_a_parented_turned_and_scaled_rig():
    armature, target = leg_with_target()
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    armature.parent = target.parent = holder
    for frame, turn in ((1, 0.0), (40, 2.0)):
        holder.rotation_euler, holder.location, holder.scale = (turn, 1.0, -turn), (turn, 5, 0), (3, 3, 3)
        holder.keyframe_insert("rotation_euler", frame=frame)
        holder.keyframe_insert("location", frame=frame)
    report = bake(armature, frame_start=1, frame_end=40)
    assert report.all_reached
    assert report.chains[0].standard.reach == pytest.approx(3 * 1.91, rel=0.01)
    assert_plays_back(armature, armature.ik2d.chains[0], report, range(1, 41, 3))


def test_a_chain_with_gaps_and_rolls_reaches():
    armature = add_armature(
        {
            "a": ((0, 0, 0), (1, 0, 0), "", 0.3),
            "b": ((1.2, 0, 0.3), (2, 0, 0.8), "a", 1.1),
            "c": ((2.4, 0, 0.6), (3, 0, -0.2), "b", -2.0),
        }
    )
    chain = add_chain(armature, "c", add_target({1: (2, 0, 1), 30: (1, 0, -2)}), bone_count=0)
    report = bake(armature, frame_start=1, frame_end=30)
    assert report.all_reached
    assert report.chains[0].solver == 'EVEN'
    assert_plays_back(armature, chain, report, range(1, 31))


def test_a_straight_chain_bends_about_its_first_bones_x_axis():
    armature = add_armature({"a": ((0, 0, 0), (0, 0, 1), "", 0.0), "b": ((0, 0, 1), (0, 0, 2), "a", 0.0)})
    axis = armature.pose.bones["a"].bone.matrix_local.col[0].xyz
    assert abs(axis.x) > 0.99
    chain = add_chain(armature, "b", add_target({1: (0, 0.8, 0.9)}))
    report = bake(armature, frame_start=1, frame_end=1)
    assert_plays_back(armature, chain, report, [1])
    assert report.chains[0].off_plane[0] < 1e-6


@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
def test_bend_chooses_the_side_and_positive_is_the_rest_poses(bend):
    armature, _ = leg_with_target(bend=bend)
    bake(armature, frame_start=1, frame_end=1)
    bpy.context.scene.frame_set(1)
    knee, hip, foot = (evaluated_tip(armature, name) for name in ("thigh", "body", "shin"))
    hip = armature.pose.bones["thigh"].head
    side = (foot - hip).cross(knee - hip).x
    rest_side = (foot - hip).cross(armature.data.bones["thigh"].tail_local - hip).x
    assert (side * rest_side > 0) == (bend == 'POSITIVE')


@pytest.mark.parametrize("axis", ['X', 'Y', 'Z'])
def test_the_plane_may_be_an_axis_of_the_armature(axis):
    armature = add_armature({"a": ((0, 0, 0), (1, 1, 1), "", 0.0), "b": ((1, 1, 1), (2, 2.3, 1.8), "a", 0.0)})
    start, end = [0.9, 0.9, 0.9], [1.2, 0.4, 1.1]
    for place in (start, end):
        place['XYZ'.index(axis)] = [2.0, 2.3, 1.8]['XYZ'.index(axis)]
    chain = add_chain(armature, "b", add_target({1: start, 20: end}), plane=axis)
    report = bake(armature, frame_start=1, frame_end=20)
    assert report.all_reached
    assert_plays_back(armature, chain, report, range(1, 21))


def test_a_bone_of_the_same_armature_may_be_the_target():
    armature = add_armature(
        {
            "thigh": ((0, 0, 2), (0, -0.1, 1), "", 0.0),
            "shin": ((0, -0.1, 1), (0, 0, 0.1), "thigh", 0.0),
            "foot_control": ((0, 0.2, 0.4), (0, 0.5, 0.4), "", 0.0),
        }
    )
    control = armature.pose.bones["foot_control"]
    for frame, place in ((1, (0, 0, 0)), (20, (0, 0.3, 0.2))):
        control.location = place
        control.keyframe_insert("location", frame=frame)
    chain = add_chain(armature, "shin", armature, subtarget="foot_control")
    report = bake(armature, frame_start=1, frame_end=20)
    assert report.all_reached
    assert_plays_back(armature, chain, report, range(1, 21))


def test_a_hidden_target_is_followed_too():
    armature, target = leg_with_target()
    target.hide_viewport = True
    report = bake(armature, frame_start=1, frame_end=40)
    target.hide_viewport = False
    assert_plays_back(armature, armature.ik2d.chains[0], report, range(1, 41))


def test_only_the_chains_rotation_channels_are_keyed():
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=40)
    curves = animation_of(armature)
    assert {path for path, _ in curves} == {
        f'pose.bones["{name}"].rotation_quaternion' for name in ("thigh", "shin")
    }
    assert {len(keys) for keys in curves.values()} == {40}
    assert {key[-1] for keys in curves.values() for key in keys} == {'GENERATED'}


def test_keys_are_grouped_by_bone_in_an_action_named_after_the_object():
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=5)
    from ik2d_addon.rig.animation.versions import existing_fcurves

    assert armature.animation_data.action.name == "RigAction"
    assert {curve.group.name for curve in existing_fcurves(armature)} == {"thigh", "shin"}


def test_a_second_bake_replaces_only_the_keys_in_its_range():
    armature, target = leg_with_target()
    bake(armature, frame_start=1, frame_end=40)
    before = animation_of(armature)
    target.animation_data_clear()
    target.location = (0, -0.5, 0.7)
    bake(armature, frame_start=10, frame_end=20)
    after = animation_of(armature)
    for channel, keys in after.items():
        assert [key[0] for key in keys] == list(range(1, 41))
        outside = [key[:2] for key in keys if not 10 <= key[0] <= 20]
        assert outside == [key[:2] for key in before[channel] if not 10 <= key[0] <= 20]
    report_frames = range(10, 21)
    for _, error in played_back_errors(armature, armature.ik2d.chains[0], report_frames):
        assert error < PLAYED_BACK * 2


@pytest.mark.slow
def test_a_second_bake_gives_the_same_keys():
    armature, _ = leg_with_target(solver='CCD')
    bake(armature, frame_start=1, frame_end=40)
    first = animation_of(armature)
    bake(armature, frame_start=1, frame_end=40)
    assert animation_of(armature) == first


def test_keys_of_other_bones_stay_as_they_are():
    armature, _ = leg_with_target()
    body = armature.pose.bones["body"]
    for frame in (3, 17):
        body.keyframe_insert("location", frame=frame)
    before = animation_of(armature)
    bake(armature, frame_start=1, frame_end=20)
    after = animation_of(armature)
    assert {channel: after[channel] for channel in before} == before


def test_step_keys_every_so_many_frames():
    armature, _ = leg_with_target()
    report = bake(armature, frame_start=1, frame_end=40, step=4)
    frames = [*range(1, 41, 4), 40]  # the last frame always, so that the range is closed
    assert report.chains[0].frames.tolist() == list(range(1, 41))
    assert np.flatnonzero(report.chains[0].played.keyed).tolist() == [frame - 1 for frame in frames]
    assert report.chains[0].played.keys == len(frames)
    assert {len(keys) for keys in animation_of(armature).values()} == {len(frames)}
    assert_plays_back(armature, armature.ik2d.chains[0], report, frames)


def test_a_bake_in_steps_leaves_no_old_keys_in_its_range():
    armature, target = leg_with_target()
    bake(armature, frame_start=1, frame_end=40)
    target.animation_data_clear()
    target.location = (0, -0.5, 0.7)
    bake(armature, frame_start=1, frame_end=40, step=4)
    assert {tuple(key[0] for key in keys) for keys in animation_of(armature).values()} == {
        (*range(1, 41, 4), 40)
    }
    assert_plays_back(armature, armature.ik2d.chains[0], bake(armature, frame_start=40, frame_end=40), [40])


def test_the_scenes_range_is_the_default():
    armature, _ = leg_with_target()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 5, 15
    assert bake(armature).chains[0].frames.tolist() == list(range(5, 16))


def test_the_current_frame_is_restored():
    armature, _ = leg_with_target()
    scene = bpy.context.scene
    scene.frame_set(7, subframe=0.25)
    bake(armature, frame_start=1, frame_end=40)
    assert (scene.frame_current, scene.frame_subframe) == (7, 0.25)
    assert not [o for o in bpy.data.objects if o.name.startswith("ik2d")]


def test_only_named_chains_are_baked_and_disabled_ones_are_left_out():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    second = add_chain(armature, "body", target, bone_count=1, name="body")
    second.enabled = False
    assert [c.name for c in bake(armature, frame_start=1, frame_end=2).chains] == ["shin"]
    chain.enabled, second.enabled = False, True
    assert [c.name for c in bake(armature, frame_start=1, frame_end=2).chains] == ["body"]
    assert [c.name for c in bake(armature, ["shin"], 1, 2).chains] == ["shin"]


def test_out_of_reach_frames_are_reported_by_frame():
    armature = add_leg()
    add_chain(armature, "shin", add_target({1: (0, 0, 0.5), 11: (0, 0, -1.5)}))
    report = bake(armature, frame_start=1, frame_end=11)
    chain = report.chains[0]
    bad = chain.frames[chain.missed].tolist()
    assert bad == list(range(bad[0], 12))
    assert set(chain.status[chain.missed].tolist()) == {Status.TOO_FAR}
    assert f"{len(bad)} of 11 frames out of reach" in report.sentence()
    assert "at frame 11" in report.sentence()
    for frame, error in played_back_errors(armature, armature.ik2d.chains[0], bad):
        assert error == pytest.approx(chain.residual[frame - 1], abs=1e-5)


def test_joint_angles_do_not_jump_over_full_turns():
    armature = add_armature({"a": ((0, 0, 0), (1, 0, 0), "", 0.0), "b": ((1, 0, 0), (2, 0, 0.3), "a", 0.0)})
    for bone in armature.pose.bones:
        bone.rotation_mode = 'AXIS_ANGLE'
    target = add_target({})
    for index, expression in ((0, "1.5*cos(frame/10)"), (2, "1.5*sin(frame/10)")):
        target.driver_add("location", index).driver.expression = expression
    add_chain(armature, "b", target)
    report = bake(armature, frame_start=1, frame_end=200)  # more than three times round
    assert report.all_reached
    turns = [key[1] for key in animation_of(armature)['pose.bones["a"].rotation_axis_angle', 0]]
    assert max(abs(b - a) for a, b in zip(turns, turns[1:], strict=False)) < 0.11
    assert abs(turns[-1] - turns[0]) > 19


def test_solve_poses_the_current_frame_and_keys_nothing():
    armature, target = leg_with_target()
    bpy.context.scene.frame_set(12)
    report = solve(armature)
    assert report.all_reached
    assert report.chains[0].frames.tolist() == [12]
    assert armature.animation_data is None
    error = (evaluated_tip(armature, "shin") - target.matrix_world.translation).length
    assert error <= PLAYED_BACK * 2


def test_solve_sees_a_target_moved_by_hand():
    armature, target = leg_with_target()
    target.location = (0, 0.3, 0.9)  # not keyed: the next change of the frame would undo it
    solve(armature)
    assert (evaluated_tip(armature, "shin") - target.location).length <= PLAYED_BACK * 2


def test_progress_is_called_on_long_bakes():
    armature, _ = leg_with_target()
    calls = []
    bake(armature, frame_start=1, frame_end=100, progress=lambda done, total: calls.append((done, total)))
    assert calls
    assert all(total == 100 and 0 < done <= 100 for done, total in calls)
