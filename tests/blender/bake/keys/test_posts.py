# SPDX-License-Identifier: GPL-3.0-or-later
"""Posts in a bake: keyed before their chains, so that Blender's own tips are on their targets."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from post_rigs import ARM_PATH, FRAMES, add_post_chain, robot_arm, turret
from rigs import add_armature, add_target, animation_of, errors_on, every_bit_of_animation
from swing_rigs import MODES

from ik2d_addon.bake import BakeOptions, bake, clear
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves

HALF_WAY = tuple(frame + 0.5 for frame in FRAMES[:-1])


def curve_of(armature, path: str, index: int):
    """Return one F-Curve."""
    return next(
        curve
        for curve in existing_fcurves(armature)
        if curve.data_path == path and curve.array_index == index
    )


@pytest.mark.parametrize("seed", range(40))
def test_tips_are_on_targets_all_round_a_post(seed):
    made = turret(seed)
    made.add_chain()
    report = bake(made.armature, None, 1, 24)
    assert made.miss(*FRAMES) <= 2e-5
    (chain,) = report.chains
    assert chain.distance.max() <= 2e-5 * chain.standard.reach and not chain.missed.any()
    off = chain.post_angle - np.array(made.turns)
    assert np.abs(np.angle(np.exp(1j * off))).max() < 2e-5
    assert np.abs(np.diff(chain.post_angle)).max() < 1.0  # without jumps


@pytest.mark.parametrize("mode", MODES)
def test_all_rotation_modes_key_their_own_channels(mode):
    made = turret(3, np.radians(20), mode)
    made.add_chain()
    bake(made.armature, None, 1, 24)
    keyed = {(c.data_path, c.array_index) for c in existing_fcurves(made.armature) if "post" in c.data_path}
    if mode in ('QUATERNION', 'AXIS_ANGLE'):
        assert len(keyed) == 4
    else:
        assert keyed == {('pose.bones["post"].rotation_euler', made.axis)}
    assert made.miss(*FRAMES) <= 2e-5


@pytest.mark.parametrize("seed", range(8))
def test_between_frames_the_tip_stays_near_at_ten_degrees_a_frame(seed):
    made = turret(seed, np.radians(10))
    made.add_chain()
    assert bake(made.armature, None, 1, 24).all_reached
    assert made.miss(*HALF_WAY[1:-1]) <= 3e-4
    assert made.miss(HALF_WAY[0], HALF_WAY[-1]) <= 1e-3


def test_the_robot_arm_reaches_all_round():
    armature, chain = robot_arm()
    report = bake(armature, None, 1, 24)
    assert report.all_reached and not report.warnings
    assert errors_on(range(1, 25), armature, chain).max() <= 2e-6 * 2.1
    assert report.chains[0].joints.post.bone == "base"


def test_the_first_bone_that_only_yaws_is_the_post_of_the_others():
    armature, chain = robot_arm()
    chain.bone_count = 3
    report = bake(armature, None, 1, 24)
    assert report.chains[0].bones == ("upper", "lower")
    assert errors_on(range(1, 25), armature, chain).max() <= 2e-6 * 2.1


def test_keys_go_on_over_three_rounds():
    circle = {f: (0.9 * np.cos(0.3 * f), 0.9 * np.sin(0.3 * f), 0.9) for f in range(1, 73)}
    armature, _ = robot_arm(circle)
    armature.pose.bones["base"].rotation_mode = 'XYZ'
    angles = bake(armature, None, 1, 72).chains[0].post_angle
    assert np.ptp(angles) == pytest.approx(71 * 0.3, abs=1e-3)  # 3.4 rounds
    keys = curve_of(armature, 'pose.bones["base"].rotation_euler', 1).keyframe_points
    assert np.allclose([key.co[1] for key in keys], angles, atol=1e-5)
    again = bake(armature, None, 36, 72)  # goes on from the keys before
    assert np.allclose(again.chains[0].post_angle, angles[35:], atol=1e-5)


def test_what_was_keyed_by_hand_comes_back():
    made = turret(16, np.radians(8), 'XYZ')
    for frame, angle in ((3, 0.4), (9, -0.7), (20, 0.1)):
        made.turn_post(angle)
        made.post.keyframe_insert("rotation_euler", frame=frame)
    made.add_chain()
    before = every_bit_of_animation(made.armature)
    report = bake(made.armature, None, 1, 24)
    assert made.miss(*FRAMES) <= 2e-5 and report.replaced.keys == 3
    clear(made.armature)
    assert every_bit_of_animation(made.armature) == before


@pytest.mark.parametrize("seed", (0, 4, 16, 34))
def test_clear_leaves_nothing(seed):
    made = turret(seed, np.radians(8))
    made.add_chain()
    before = every_bit_of_animation(made.armature)
    bake(made.armature, None, 1, 12)
    bake(made.armature, None, 13, 24)
    clear(made.armature)
    assert every_bit_of_animation(made.armature) == before


@pytest.mark.parametrize("seed", (0, 2, 4, 16))
def test_a_second_bake_keys_the_same_bits_whatever_turned_the_post_before(seed):
    made = turret(seed, np.radians(8))
    made.add_chain()
    bake(made.armature, None, 1, 24)
    first = every_bit_of_animation(made.armature)
    keyed = animation_of(made.armature)
    bake(made.armature, None, 1, 24)
    assert every_bit_of_animation(made.armature) == first
    clear(made.armature)
    made.turn_post(0.7)  # without keys
    bake(made.armature, None, 1, 24)
    assert animation_of(made.armature) == keyed


def test_a_limit_rotation_on_the_post_spoils_no_second_bake():
    armature, chain = robot_arm()
    limit = armature.pose.bones["base"].constraints.new('LIMIT_ROTATION')
    limit.owner_space, limit.use_limit_y, limit.min_y, limit.max_y = 'LOCAL', True, -0.9, 0.9
    first, second = (bake(armature, None, 1, 24).chains[0] for _ in range(2))
    assert 0 < first.missed.sum() < 24 and (second.missed == first.missed).all()
    assert np.abs(second.post_angle - first.post_angle).max() == 0.0


def keyed_in_a_strip(made, other: int) -> None:
    for frame, angle in ((1, -0.2), (24, 0.2)):
        made.post.rotation_euler[other] = angle
        made.post.keyframe_insert("rotation_euler", index=other, frame=frame)
    animation = made.armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Tilt", 1, action)
    if slot is not None:
        strip.action_slot = slot


def driven(made, other: int) -> None:
    made.post.driver_add("rotation_euler", other).driver.expression = "0.2 * sin(frame / 8)"


@pytest.mark.parametrize("animate", (keyed_in_a_strip, driven))
@pytest.mark.parametrize("mode", ("XYZ", "YZX", "ZXY"))
def test_other_channels_of_the_post_count_as_strips_and_drivers_turn_them(mode, animate):
    made = turret(16, np.radians(8), mode)
    made.post.rotation_euler = (0, 0, 0)
    animate(made, (made.axis + 1) % 3)
    made.add_chain()
    bake(made.armature, None, 1, 24)
    assert made.miss(*FRAMES) <= 2e-5


@pytest.mark.parametrize("mode", ("QUATERNION", "AXIS_ANGLE"))
def test_a_tilt_without_keys_outlasts_a_second_bake(mode):
    made = turret(16, np.radians(10), mode)
    tilt = Quaternion((1.0, 0.2, 0.1, 0.15)).normalized()
    if mode == 'QUATERNION':
        made.post.rotation_quaternion = tilt
    else:
        axis, angle = tilt.to_axis_angle()
        made.post.rotation_axis_angle = angle, *axis
    made.add_chain()
    poses = []
    for _ in range(2):
        bake(made.armature, None, 1, 24)
        poses.append(made.matrices())
    assert np.abs(poses[1] - poses[0]).max() <= 5e-5


@pytest.mark.parametrize("seed", (0, 16))
def test_a_part_of_the_frames_is_baked_by_itself(seed):
    made = turret(seed, np.radians(8))
    made.add_chain()
    report = bake(made.armature, None, 5, 12)
    assert made.miss(*range(5, 13)) <= 2e-5 and report.all_reached


@pytest.mark.parametrize("seed", (0, 4, 16, 34))
def test_reduced_keys_keep_the_bound(seed):
    made = turret(seed, np.radians(5))
    made.add_chain()
    bound = 0.002 * made.reach
    report = bake(made.armature, None, 1, 24, options=BakeOptions(reduce=bound))
    assert made.miss(*FRAMES, *HALF_WAY) <= 0.002
    assert report.chains[0].keys < 16
    of_post = f"{made.post.path_from_id()}.rotation"
    its = [curve for curve in existing_fcurves(made.armature) if curve.data_path.startswith(of_post)]
    assert its and max(len(curve.keyframe_points) for curve in its) < 16
    curves = existing_fcurves(made.armature)
    assert report.chains[0].keys == max(
        len(curve.keyframe_points)
        for curve in curves
        if any(f'"{bone}"].rotation' in curve.data_path for bone in (made.post.name, *made.bones))
    )


def test_steps_and_target_keys_key_the_post_on_the_same_frames():
    for options in ({"step": 4}, {"options": BakeOptions(on_target_keys=True)}):
        bpy.ops.wm.read_homefile(use_empty=True)
        armature, chain = robot_arm({1: ARM_PATH[1], 12: ARM_PATH[12], 24: ARM_PATH[24]})
        armature.pose.bones["base"].rotation_mode = 'XYZ'
        report = bake(armature, None, 1, 24, **options)
        frames = [1, 5, 9, 13, 17, 21, 24] if "step" in options else [1, 12, 24]
        keys = curve_of(armature, 'pose.bones["base"].rotation_euler', 1).keyframe_points
        assert [key.co[0] for key in keys] == frames
        assert errors_on(frames, armature, chain).max() < 1e-5
        if report.chains[0].missed.any():
            assert "off between keys" in report.sentence() and "plane" not in report.sentence()


def test_single_axis_keys_one_angle_of_the_post():
    armature, chain = robot_arm()
    report = bake(armature, None, 1, 24, options=BakeOptions(single_axis=True))
    assert any("mode of 'base', 'upper', 'lower'" in words for words in report.warnings)
    assert armature.pose.bones["base"].rotation_mode == 'XYZ'
    assert {c.array_index for c in existing_fcurves(armature) if "base" in c.data_path} == {1}
    assert errors_on(range(1, 25), armature, chain).max() <= 5e-6


@pytest.mark.parametrize("seed", (2, 4, 16))
def test_influence_takes_the_post_the_shorter_way(seed):
    made = turret(seed, np.radians(6))
    chain = made.add_chain()
    chain.influence = 0.0
    bpy.context.scene.frame_set(1)
    bake(made.armature, None, 1, 24)
    own = bake(made.armature, None, 1, 24).chains[0].post_angle
    assert np.abs(own).max() < 1e-6  # no keys by hand: at rest
    chain.influence = 1.0
    full = bake(made.armature, None, 1, 24).chains[0].post_angle
    chain.influence = 0.25
    part = bake(made.armature, None, 1, 24).chains[0].post_angle
    near = np.angle(np.exp(1j * full))
    assert np.abs(np.angle(np.exp(1j * (part - 0.25 * near)))).max() < 1e-5


def test_a_tip_that_influence_holds_back_is_not_told_as_moved_by_something_else():
    armature, chain = robot_arm()
    for frame, value in ((1, 1.0), (8, 1.0), (16, 0.5)):
        chain.influence = value
        chain.keyframe_insert("influence", frame=frame)
    report = bake(armature, None, 1, 24)
    (result,) = report.chains
    assert result.missed.sum() == 16 and not result.missed[:8].any()
    assert "16 of 24 frames held back by IK Blend, worst by" in result.sentence()
    assert result.plays_back_worse_by < 1e-5 and not report.warnings


def test_limits_stop_the_post_and_are_told():
    armature, chain = robot_arm()
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, -1.0, 1.0
    report = bake(armature, None, 1, 24)
    (result,) = report.chains
    assert result.post_angle.max() <= 1.0 + 1e-6 and result.missed.sum() == 14
    assert "stopped by the post's limits" in result.sentence()
    assert any("a limit stops its post 'base' on 14 frames" in words for words in report.warnings)
    chain.post_reach_over = True
    again = bake(armature, None, 1, 24)
    errors = errors_on(range(1, 25), armature, chain)
    over = again.chains[0].post_angle < 0.0  # half round
    assert not any("turn on Reach Over" in words for words in again.warnings)  # it is on
    assert over.sum() == 6 and errors[over].max() <= 5e-6 and np.abs(again.chains[0].post_angle).max() <= 1.0
    assert any("turns by" in words for words in again.warnings)


def test_a_target_that_passes_the_axis_is_told():
    armature, _ = robot_arm({1: (0.9, 0.02, 1.0), 24: (-0.9, 0.02, 1.0)})
    report = bake(armature, None, 1, 24)
    (result,) = report.chains
    assert result.joints.post.near_axis.any()
    assert any("turns by" in words and "near the axis" in words for words in report.warnings)
    assert result.to_dict()["post"] == "base"
    assert len(result.to_dict()["post_angle"]) == 24
    assert "post_degrees" in next(result.rows())


def test_two_arms_on_one_turret_and_one_has_the_post():
    armature = add_armature(
        {
            "table": ((0, 0, 0), (0, 0, 0.3), "", 0.0),
            "a0": ((0, 0, 0.3), (0.4, 0, 0.9), "table", 0.0),
            "a1": ((0.4, 0, 0.9), (1.0, 0, 0.6), "a0", 0.0),
            "b0": ((0, 0.3, 0.3), (0.2, 0.3, 0.8), "table", 0.0),
            "b1": ((0.2, 0.3, 0.8), (0.5, 0.3, 0.5), "b0", 0.0),
        }
    )
    target = add_target({1: (0.9, 0.0, 0.7), 24: (0.2, 0.8, 0.7)}, "A")
    first = add_post_chain(armature, "a1", 2, target, "table", 'Y')
    second = armature.ik2d.chains.add()
    second.name, second.tip, second.bone_count = "other", "b1", 2
    second.target = held = add_target({1: (0.45, 0.3, 0.6)}, "B")
    held.parent, held.parent_type, held.parent_bone = armature, 'BONE', "table"
    held.location = (0.45, 0.0, -0.3)
    held.animation_data_clear()
    report = bake(armature, None, 1, 24)
    assert errors_on(range(1, 25), armature, first).max() <= 5e-6
    assert errors_on(range(1, 25), armature, second).max() <= 5e-6 and len(report.chains) == 2
    second.plane, second.post, second.post_axis = 'POST', "table", 'Y'
    second.target = target
    with pytest.raises(IK2DError, match="both turn 'table', which is a post"):
        bake(armature, ["arm", "other"], 1, 24)


def test_constraints_that_carry_the_post_are_followed():
    made = turret(2, np.radians(8))
    holder = add_target({1: (0, 0, 0), 24: (0.5, 0.2, 0.3)}, "holder")
    holder.rotation_euler = (0, 0, 0)
    holder.keyframe_insert("rotation_euler", frame=1)
    holder.rotation_euler = (0.3, 0.2, 0.5)
    holder.keyframe_insert("rotation_euler", frame=24)
    child_of = made.post.constraints.new('CHILD_OF')
    child_of.target = holder
    made.add_chain()
    bake(made.armature, None, 1, 24)
    # The target was placed without the constraint: what the plane can hold, it holds.
    for frame in (1, 12, 24):
        bpy.context.scene.frame_set(frame)
        shown = made.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        root = shown.pose.bones["post"].matrix
        assert all(np.isfinite(row).all() for row in root)
    reach = max(made.miss(frame) for frame in FRAMES)
    assert reach < 1.0


def test_a_quaternion_post_keeps_its_tilt():
    made = turret(16, np.radians(10), 'QUATERNION')
    made.post.rotation_quaternion = Quaternion((1.0, 0.2, 0.1, 0.15)).normalized()
    made.turn_post(0.0)
    tilt = made.swing_of_post()
    made.add_chain()
    bake(made.armature, None, 1, 24)
    bpy.context.scene.frame_set(12)
    off = made.swing_of_post().rotation_difference(tilt).angle
    assert off < 1e-5
