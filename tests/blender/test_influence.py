# SPDX-License-Identifier: GPL-3.0-or-later
"""Softness, bend and influence may be animated; influence blends with what stands without the chain."""

import math

import bpy
import numpy as np
import pytest
from rigs import (
    add_chain,
    add_leg,
    add_target,
    evaluated_place,
    evaluated_tip,
    leg_with_target,
    played_back_errors,
)

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.rig.animation.versions import existing_fcurves

BONES = ("thigh", "shin")
ANIMATED = {"softness", "bend", "turn_over", "influence", "plane_turn"}


def basis_turns(armature, frame: int | None = None) -> np.ndarray:
    """Return by how much (radians) the pose turns each bone about its own axis; the sign is the axis's."""
    if frame is not None:
        bpy.context.scene.frame_set(frame)
    evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    turns = []
    for name in BONES:
        turn = evaluated.pose.bones[name].matrix_basis.to_quaternion()
        along = max(turn[1:], key=abs)
        turns.append(
            math.remainder(2.0 * math.atan2(math.copysign(math.hypot(*turn[1:]), along), turn.w), math.tau)
        )
    return np.array(turns)


def key_ramp(chain, name: str, keys: dict[int, float]) -> None:
    for frame, value in keys.items():
        setattr(chain, name, value)
        chain.keyframe_insert(name, frame=frame)
    for curve in existing_fcurves(chain.id_data):
        for key in curve.keyframe_points if curve.data_path.endswith(name) else ():
            key.interpolation = 'LINEAR'


def key_by_hand(armature, keys: dict[int, tuple[float, float]], mode: str = 'QUATERNION') -> None:
    """Key turns of both bones about the axis that the solver turns them about."""
    from ik2d_addon.rig.animation.bone_channels import posed
    from ik2d_addon.rig.chain.chain import read_chain
    from ik2d_addon.rig.pose.rotations import bone_rotations

    for name in BONES:
        armature.pose.bones[name].rotation_mode = mode
    for frame, turns in keys.items():
        rotations = bone_rotations(read_chain(armature, armature.ik2d.chains[0]), np.array([turns]))
        with posed(armature, rotations):
            for rotation in rotations:
                armature.pose.bones[rotation.bone].keyframe_insert(rotation.property, frame=frame)


# --- Which settings can be animated ------------------------------------------


def test_these_settings_alone_can_be_animated():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    found = {
        name
        for owner in (armature.ik2d, chain, chain.joints[0])
        for name, prop in owner.bl_rna.properties.items()
        if name != "rna_type" and prop.is_animatable
    }
    assert found == ANIMATED
    for owner, name in (
        (armature.ik2d, "reduce_error"),
        (chain, "tolerance"),
        (chain.joints[0], "limit_max"),
    ):
        with pytest.raises(TypeError, match="not animatable"):
            owner.keyframe_insert(name, frame=1)
    for name in ANIMATED:
        assert chain.keyframe_insert(name, frame=1)


# --- Softness and bend -------------------------------------------------------


@pytest.mark.parametrize("current", (1, 40))
@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_keyed_softness_counts_at_each_frame(solver, current):
    armature = add_leg()
    target = add_target({1: (0, 0, 0.12)})  # nearly stretched
    chain = add_chain(armature, "shin", target, solver=solver)
    key_ramp(chain, "softness", {1: 0.0, 40: 0.5})
    bpy.context.scene.frame_set(current)
    report = bake(armature, frame_start=1, frame_end=40)
    residual = report.chains[0].residual
    assert residual[0] <= 1e-5
    assert residual[-1] >= 0.1
    assert (np.diff(residual)[1:] > 0.0).all()
    for frame, error in played_back_errors(armature, chain, range(1, 41)):
        assert error == pytest.approx(
            math.hypot(residual[frame - 1], report.chains[0].off_plane[frame - 1]), abs=2e-5
        )


def test_a_driven_softness_counts_at_each_frame():
    armature = add_leg()
    chain = add_chain(armature, "shin", add_target({1: (0, 0, 0.12)}))
    driver = chain.driver_add("softness").driver
    variable = driver.variables.new()
    variable.name, variable.type = "place", 'TRANSFORMS'
    variable.targets[0].id, variable.targets[0].transform_type = (
        add_target({1: (0, 0, 0), 40: (0.5, 0, 0)}, "D"),
        'LOC_X',
    )
    driver.expression = "place"
    residual = bake(armature, frame_start=1, frame_end=40).chains[0].residual
    assert residual[0] <= 1e-5 and residual[-1] >= 0.1


@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_a_keyed_bend_changes_the_side_at_its_frame(solver):
    armature, _ = leg_with_target(solver=solver)
    chain = armature.ik2d.chains[0]
    free = bake(armature, frame_start=1, frame_end=40)
    positive = [basis_turns(armature, frame) for frame in range(1, 41)]
    armature.animation_data_clear()
    chain.bend = 'POSITIVE'
    chain.keyframe_insert("bend", frame=1)
    chain.bend = 'NEGATIVE'
    chain.keyframe_insert("bend", frame=20)
    report = bake(armature, frame_start=1, frame_end=40)
    assert free.all_reached and not report.chains[0].missed.any()
    off = report.chains[0].played.between > 1e-3  # while the joints turn over, within a frame
    assert off.any() and set(np.floor(report.chains[0].played.between_times[off])) == {19.0}
    found = [basis_turns(armature, frame) for frame in range(1, 41)]
    assert np.abs(np.array(found) - positive)[:19].max() <= 1e-4
    assert np.abs(np.array(found) - positive)[19:].max(axis=1).min() >= 0.2
    for _, error in played_back_errors(armature, chain, range(1, 41)):
        assert error <= 2e-5


# --- Influence ---------------------------------------------------------------


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_influence_blends_from_rest_to_the_solved_pose(solver, mode):
    armature, _ = leg_with_target(solver=solver)
    chain = armature.ik2d.chains[0]
    for name in BONES:
        armature.pose.bones[name].rotation_mode = mode
    bake(armature, frame_start=1, frame_end=40)
    full = np.array([basis_turns(armature, frame) for frame in range(1, 41)])
    armature.animation_data_clear()
    key_ramp(chain, "influence", {1: 0.0, 40: 1.0})
    bake(armature, frame_start=1, frame_end=40)
    found = np.array([basis_turns(armature, frame) for frame in range(1, 41)])
    assert np.abs(found - full * (np.arange(40) / 39.0)[:, None]).max() <= 1e-4
    again = bake(armature, frame_start=1, frame_end=40)
    assert np.abs(found - [basis_turns(armature, frame) for frame in range(1, 41)]).max() <= 1e-6
    assert np.abs(again.chains[0].residual[0]) > 0.1


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_influence_blends_from_the_keys_made_by_hand(mode):
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    bake(armature, frame_start=10, frame_end=30)
    full = np.array([basis_turns(armature, frame) for frame in range(10, 31)])
    armature.animation_data_clear()
    key_by_hand(armature, {1: (0.2, -0.1), 40: (0.2, -0.1)}, mode)
    by_hand = basis_turns(armature, 20)
    chain.influence = 0.25
    for _ in range(2):  # keys of the first bake do not count in the second one
        bake(armature, frame_start=10, frame_end=30)
        found = np.array([basis_turns(armature, frame) for frame in range(10, 31)])
        assert np.abs(found - (0.75 * by_hand + 0.25 * full)).max() <= 1e-4


def test_no_influence_leaves_the_keys_made_by_hand_as_they_play():
    armature, _ = leg_with_target()
    key_by_hand(armature, {1: (0.2, -0.1), 20: (-0.4, 0.5), 40: (0.3, 0.1)}, 'AXIS_ANGLE')
    armature.ik2d.chains[0].influence = 0.0
    before = np.array([basis_turns(armature, frame) for frame in range(1, 41)])
    bake(armature, frame_start=1, frame_end=40)
    assert np.abs(before - [basis_turns(armature, frame) for frame in range(1, 41)]).max() <= 1e-5


def test_a_second_bake_blends_with_the_keys_made_by_hand_that_the_first_replaced():
    armature, _ = leg_with_target()
    key_by_hand(armature, {1: (0.2, -0.1), 20: (-0.4, 0.5), 40: (0.3, 0.1)})
    armature.ik2d.chains[0].influence = 0.5
    report = bake(armature, frame_start=1, frame_end=40)
    assert "replaced 24 keys made by hand on 2 bones, which Clear Bake gives back" in report.sentence()
    assert not report.warnings
    once = np.array([basis_turns(armature, frame) for frame in range(1, 41)])
    again = bake(armature, frame_start=1, frame_end=40)
    assert "made by hand" not in again.sentence()
    assert np.abs(once - [basis_turns(armature, frame) for frame in range(1, 41)]).max() <= 1e-6


def test_the_shorter_way_round_is_taken():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    bake(armature, frame_start=1, frame_end=40)
    full = basis_turns(armature, 10)
    armature.animation_data_clear()
    key_by_hand(armature, {1: (6.2, -6.3)}, 'AXIS_ANGLE')
    chain.influence = 0.5
    bake(armature, frame_start=10, frame_end=12)
    by_hand = np.array([math.remainder(x, math.tau) for x in (6.2, -6.3)])
    sign = np.sign(basis_turns(armature, 1) * by_hand)
    assert np.abs(basis_turns(armature, 10) - (full + sign * by_hand) / 2.0).max() <= 1e-4


def test_the_residual_is_the_true_distance_with_influence():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.influence = 0.5
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(verify='NONE'))
    for frame in (1, 20, 40):
        bpy.context.scene.frame_set(frame)
        distance = (evaluated_tip(armature, "shin") - evaluated_place(target)).length
        assert report.chains[0].residual[frame - 1] == pytest.approx(distance, abs=2e-5)
        assert distance > 0.05


def test_solve_shows_the_blend_too():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    key_ramp(chain, "influence", {1: 0.0, 40: 1.0})
    solved = []
    for frame in (5, 30):
        bpy.context.scene.frame_set(frame)
        solve(armature)
        solved.append(basis_turns(armature))
    bake(armature, frame_start=1, frame_end=40)
    for frame, turns in zip((5, 30), solved, strict=True):
        assert np.abs(turns - basis_turns(armature, frame)).max() <= 1e-5


def test_limits_hold_in_a_blend_of_two_poses_within_them():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    joint = chain.joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -3.0, 3.0
    chain.influence = 0.5
    report = bake(armature, frame_start=1, frame_end=40)
    assert np.abs([basis_turns(armature, frame)[1] for frame in range(1, 41)]).max() <= 1.6
    assert len(report.chains[0].frames) == 40


# --- FK on purpose -----------------------------------------------------------


def drive_influence(chain) -> None:
    """Have an object's place set IK Blend: 0 up to frame 20, 1 from frame 21 on."""
    driver = chain.driver_add("influence").driver
    variable = driver.variables.new()
    variable.name, variable.type = "place", 'TRANSFORMS'
    switch = add_target({1: (0, 0, 0), 20: (0, 0, 0), 21: (1, 0, 0), 40: (1, 0, 0)}, "Switch")
    variable.targets[0].id, variable.targets[0].transform_type = switch, 'LOC_X'
    driver.expression = "place"


@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("options", [{}, {"verify": 'ALL'}, {"reduce": 1e-3}])
def test_frames_without_influence_are_fk_and_miss_nothing(options, driven):
    armature, target = leg_with_target()
    key_by_hand(armature, {1: (0.2, -0.1), 10: (-0.4, 0.5), 20: (0.3, 0.1)})
    chain = armature.ik2d.chains[0]
    if driven:
        drive_influence(chain)
    else:
        key_ramp(chain, "influence", {1: 0.0, 20: 0.0, 21: 1.0})
    by_hand = [basis_turns(armature, frame) for frame in range(1, 21)]
    report = bake(armature, frame_start=1, frame_end=40, options=BakeOptions(**options))
    told = report.chains[0]
    assert told.fk.tolist() == [frame <= 20 for frame in range(1, 41)] and told.fk_frames == 20
    assert report.all_reached and not told.missed.any()
    assert "20 of 40 frames are FK" in told.sentence() and "20 of 40 frames are FK" in report.sentence()
    off = dict(played_back_errors(armature, chain, range(1, 41)))
    reach, bound = told.standard.reach, options.get("reduce", 0.0)
    assert max(off[frame] for frame in range(21, 41)) <= 2e-5 + bound
    assert max(off[frame] for frame in range(1, 21)) > 0.1 * reach  # where the bones' own keys have it
    assert told.max_error <= 1e-3 * reach + bound and told.worst_frame > 20
    found = [basis_turns(armature, frame) for frame in range(1, 21)]
    assert np.abs(np.array(found) - by_hand).max() <= (5e-3 if bound else 1e-5)


@pytest.mark.parametrize(
    "influence, said", [(0.5, "40 of 40 frames held back by IK Blend"), (0.0, "40 frames FK")]
)
def test_a_chain_that_never_acts_fully_has_not_reached_its_target(influence, said):
    armature, _ = leg_with_target()
    armature.ik2d.chains[0].influence = influence
    report = bake(armature, frame_start=1, frame_end=40)
    assert not report.all_reached and said in report.sentence()
    assert (report.max_error > 0.05) == (influence > 0.0)


def test_between_ik_frames_the_tip_is_on_its_way_though_others_are_fk():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    for frame, place in (
        (21, (0, -0.6, 0.3)),
        (24, (0, 0.6, 0.7)),
        (27, (0, -0.6, 0.9)),
        (30, (0, 0.5, 0.2)),
    ):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    key_ramp(chain, "influence", {1: 0.0, 20: 0.0, 21: 1.0})
    told = bake(armature, frame_start=1, frame_end=40).chains[0]
    scene, worst = bpy.context.scene, 0.0
    for time in np.arange(21.0, 40.0, 0.25):
        scene.frame_set(int(time), subframe=time % 1.0)
        worst = max(worst, (evaluated_tip(armature, "shin") - evaluated_place(target)).length)
    assert worst <= 1e-3 * told.standard.reach and told.reached, worst / told.standard.reach


def test_warnings_leave_fk_frames_out():
    armature, target = leg_with_target()
    key_by_hand(armature, {1: (0.2, -0.1), 2: (-1.4, 1.5), 3: (0.2, -0.1), 20: (0.3, 0.1)})
    target.location = (0.5, 0, 0.4)  # off the chain's plane
    target.keyframe_insert("location", frame=1)
    target.keyframe_insert("location", frame=20)
    target.location = (0, -0.3, 0.6)
    target.keyframe_insert("location", frame=21)
    target.keyframe_insert("location", frame=40)
    key_ramp(armature.ik2d.chains[0], "influence", {1: 0.0, 20: 0.0, 21: 1.0})
    report = bake(armature, frame_start=1, frame_end=40)
    assert report.all_reached
    assert [warning for warning in report.warnings if "from frame 20 to 21; IK Blend" not in warning] == []
