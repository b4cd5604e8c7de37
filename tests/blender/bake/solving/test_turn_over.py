# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain that turns over from one bend to the other: smooth, through the straight pose, and told."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.bake import bake, solve
from ik2d_addon.bake.solving.turn_over import between, going_on_free, root_turns, shares

REACH = 1.91


def flipped(armature, chain, start=10, frames=12, end=40):
    """Key a flip over some frames and bake; return the chain's report."""
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(start)
    assert bpy.ops.ik2d.flip(chain=chain.name, frames=frames) == {'FINISHED'}
    (report,) = bake(armature, frame_start=1, frame_end=end).chains
    return report


def bones_over(armature, names, frames):
    """Return the directions (frames, bones, 3) of bones as Blender plays them."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([(posed[name].tail - posed[name].head).normalized() for name in names])
    return np.array(found)


def off_target(armature, chain, frame):
    """Return how far the tip is off its target on a frame."""
    bpy.context.scene.frame_set(frame)
    return (evaluated_tip(armature, chain.tip) - evaluated_place(chain.target)).length


def many(count, **settings):
    """Return a curled chain of many bones whose target goes along a line, within reach."""
    joints = [(0.02 * i * i / count * 5, 0, 0.2 * i) for i in range(count + 1)]
    bones = {f"b{i}": (joints[i], joints[i + 1], f"b{i - 1}" if i else "", 0.0) for i in range(count)}
    armature = add_armature(bones)
    size = 0.2 * count
    target = add_target({1: (0.4 * size, 0, 0.6 * size), 40: (0.6 * size, 0, 0.3 * size)})
    return armature, add_chain(armature, f"b{count - 1}", target, bone_count=count, **settings)


def test_two_bones_go_to_the_other_side_smoothly_through_the_straight_pose():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    report = flipped(armature, chain)
    thigh, shin = np.moveaxis(bones_over(armature, ("thigh", "shin"), range(1, 41)), 1, 0)
    elbow = np.degrees(np.arctan2(np.cross(thigh, shin)[:, 0], (thigh * shin).sum(axis=1)))
    assert elbow[8] * elbow[30] < 0 and (np.sign(elbow[:9]) == np.sign(elbow[0])).all()
    assert np.abs(elbow).min() < 10.0
    steps = np.abs(np.diff(elbow))
    assert steps.max() < 40.0 and (np.diff(np.sign(elbow)) != 0).sum() == 1
    for frame in (1, 10, 22, 40):
        assert off_target(armature, chain, frame) < 1e-4 * REACH
    (told,) = [warning for warning in report.warnings if "turns over" in warning]
    assert "frame 11 to 21" in told and "cm (frame" in told
    assert report.missed.sum() == report.missed[10:21].sum() > 5
    assert "turning over" in report.sentence()


def test_while_it_turns_the_tip_points_at_its_target_and_the_report_says_how_far_off_it_is():
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    report = flipped(armature, chain)
    hip = np.array(armature.data.bones["thigh"].head_local)
    for frame in range(11, 22):
        off = off_target(armature, chain, frame)
        tip, place = np.array(evaluated_tip(armature, "shin")) - hip, np.array(target.location) - hip
        assert np.linalg.norm(np.cross(tip, place)) < 1e-4 * np.linalg.norm(tip) * np.linalg.norm(place)
        assert off == pytest.approx(report.distance[frame - 1], abs=1e-4 * REACH)


@pytest.mark.parametrize("solver", ['EVEN', 'CCD'])
@pytest.mark.parametrize("count", [3, 8])
def test_chains_of_any_length_turn_over_without_a_jump(solver, count):
    armature, chain = many(count, solver=solver)
    report = flipped(armature, chain, frames=16)
    names = [f"b{i}" for i in range(count)]
    bones = bones_over(armature, names, range(1, 41))
    steps = np.degrees(np.arccos((bones[1:] * bones[:-1]).sum(axis=2).clip(-1, 1)))
    assert steps.max() < 30.0
    curves = report.joints.speed
    assert curves.max() < 60.0
    for frame in (1, 9, 27, 40):
        assert off_target(armature, chain, frame) < 1e-4 * 0.2 * count


def test_limits_hold_while_it_turns():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    for name, low, high in (("thigh", -2.5, 2.5), ("shin", -2.0, 2.2)):
        joint = chain.joints[name]
        joint.use_limit, joint.limit_min, joint.limit_max = True, low, high
    flipped(armature, chain)
    thigh, shin = np.moveaxis(bones_over(armature, ("thigh", "shin"), range(1, 41)), 1, 0)
    elbow = np.arctan2(np.cross(thigh, shin)[:, 0], (thigh * shin).sum(axis=1))
    assert np.ptp(elbow) < 4.2 + 1e-3


def test_nothing_changes_where_nothing_turns_over():
    armature, _ = leg_with_target()
    (report,) = bake(armature, frame_start=1, frame_end=40).chains
    assert not report.missed.any() and not report.circumstances.turning.any()


def test_solve_shows_it_as_the_bake_keys_it():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    flipped(armature, chain)
    frames = (12, 15, 16, 17, 20)
    keyed = bones_over(armature, ("thigh", "shin"), frames)
    for frame, bones in zip(frames, keyed, strict=True):
        bpy.context.scene.frame_set(frame)
        solve(armature)
        posed = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        now = [(posed[name].tail - posed[name].head).normalized() for name in ("thigh", "shin")]
        assert np.abs(np.array(now) - bones).max() < 1e-5


def test_a_live_chain_turns_over_as_solve_shows_it():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    flipped(armature, chain)
    bpy.ops.ik2d.clear_bake()
    for frame in (3, 12, 16, 17, 30):
        chain.live = True
        bpy.context.scene.frame_set(frame)
        live = [np.array(bone.matrix_basis) for bone in armature.pose.bones]
        chain.live = False
        solve(armature)
        solved = [np.array(bone.matrix_basis) for bone in armature.pose.bones]
        assert np.abs(np.array(live) - solved).max() < 1e-6


def test_half_way_there_is_the_straight_joint():
    own, other = np.array([[0.3, 1.2, -0.4]]), np.array([[-0.5, -1.2, 0.4]])
    middle = between(own, other, np.array([0.5]), np.zeros(3, bool))
    assert middle[0] == pytest.approx((-0.1, 0.0, 0.0))
    assert shares(np.array([1.0, -1.0, 0.0, 0.5])) == pytest.approx((0.0, 0.0, 0.5, 0.25))


def test_a_closed_elbow_does_not_turn_over_the_closed_way():
    own, other = np.array([[0.0, 3.0]]), np.array([[0.0, -3.0 + 2.0 * np.pi]])
    assert between(own, other, np.array([0.5]), np.zeros(2, bool))[0, 1] == pytest.approx(0.0)


def test_a_tip_at_the_root_points_nowhere():
    tips, targets = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    assert root_turns(tips, targets, 1.0) == pytest.approx((0.0, np.pi / 2.0))


def test_free_numbers_go_on():
    turns = np.array([[0.0, 0.0], [6.2, 6.2]])
    on = going_on_free(turns, np.array([True, False]))
    assert on[1] == pytest.approx((6.2, 6.2 - 2.0 * np.pi))
