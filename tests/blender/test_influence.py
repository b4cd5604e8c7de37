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
ANIMATED = {"softness", "bend", "turn_over", "influence"}


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


def test_only_softness_bend_turning_over_and_influence_can_be_animated():
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


@pytest.mark.slow
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
    assert free.all_reached and report.all_reached
    found = [basis_turns(armature, frame) for frame in range(1, 41)]
    assert np.abs(np.array(found) - positive)[:19].max() <= 1e-4
    assert np.abs(np.array(found) - positive)[19:].max(axis=1).min() >= 0.2
    for _, error in played_back_errors(armature, chain, range(1, 41)):
        assert error <= 2e-5


# --- Influence ---------------------------------------------------------------


@pytest.mark.slow
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


def test_keys_made_by_hand_that_a_blend_replaces_are_told():
    armature, _ = leg_with_target()
    key_by_hand(armature, {1: (0.2, -0.1), 20: (-0.4, 0.5), 40: (0.3, 0.1)})
    armature.ik2d.chains[0].influence = 0.5
    (warning,) = bake(armature, frame_start=1, frame_end=40).warnings
    assert "made by hand" in warning
    armature.ik2d.chains[0].influence = 1.0
    assert not bake(armature, frame_start=1, frame_end=40).warnings


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
