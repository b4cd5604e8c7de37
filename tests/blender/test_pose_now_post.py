# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose This Frame of chains on posts: the post is posed first, then the chain on it."""

import bpy
import numpy as np
import pytest
from post_rigs import robot_arm, turret
from rigs import add_chain, add_target, evaluated_place, evaluated_tip, every_bit_of_animation

from ik2d_addon.bake import bake, solve

SEEDS = [0, 1, 2, 4, 8, 10, 16, 34]


def matrices(armature, names):
    """Return the pose matrices of bones as evaluated now."""
    bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return np.array([bones[name].matrix for name in names])


@pytest.mark.parametrize("seed", SEEDS)
def test_it_is_the_pose_that_a_bake_keys_there(seed):
    made = turret(seed)
    made.add_chain()
    names, found = ("post", *made.bones), {}
    before = every_bit_of_animation(made.armature)
    for frame in (7, 1, 20):
        bpy.context.scene.frame_set(frame)
        report = solve(made.armature)
        (chain,) = report.chains
        tip, place = evaluated_tip(made.armature, made.bones[-1]), evaluated_place(made.target)
        assert (tip - place).length <= 2e-5 * made.reach and report.all_reached
        assert np.cos(chain.post_angle[0] - made.turns[frame - 1]) >= 1.0 - 1e-9
        found[frame] = matrices(made.armature, names)
    assert every_bit_of_animation(made.armature) == before
    bake(made.armature, None, 1, 24)
    for frame, pose in found.items():
        bpy.context.scene.frame_set(frame)
        assert np.abs(matrices(made.armature, names) - pose).max() <= 5e-5


def test_a_target_that_is_moved_by_hand_counts_where_it_is():
    armature, chain = robot_arm()
    bpy.context.scene.frame_set(3)
    for place in ((-0.4, -0.7, 0.9), (0.5, -0.8, 1.2)):
        chain.target.location = place
        assert solve(armature).all_reached
        assert (evaluated_tip(armature, "lower") - evaluated_place(chain.target)).length <= 4e-6


def test_a_post_that_is_turned_by_hand_goes_on_from_there_as_does_what_else_turns_it():
    made = turret(2, mode='XYZ')
    made.add_chain()
    for index, angle in enumerate((0.2, -0.1, 0.3)):
        made.post.rotation_euler[index] = angle
    made.post.rotation_euler[made.axis] += 4.0 * np.pi
    made.post.keyframe_insert("rotation_euler", frame=1)
    other = (made.axis + 1) % 3
    made.post.rotation_euler[other] = 0.6  # not keyed there
    assert solve(made.armature).all_reached
    assert made.post.rotation_euler[other] == pytest.approx(0.6)
    assert abs(made.post.rotation_euler[made.axis] - 4.0 * np.pi) <= np.pi + 0.5


def test_half_the_influence_turns_it_half_the_way_and_fully_all_of_it():
    armature, chain = robot_arm()
    bpy.context.scene.frame_set(12)
    whole = solve(armature).chains[0].post_angle[0]
    chain.influence = 0.5
    assert solve(armature).chains[0].post_angle[0] == pytest.approx(0.5 * whole, abs=1e-6)
    assert solve(armature, fully=True).chains[0].post_angle[0] == pytest.approx(whole, abs=1e-6)


def test_a_limit_is_told():
    armature, chain = robot_arm()
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, -0.5, 0.5
    bpy.context.scene.frame_set(24)
    (report,) = solve(armature).chains
    assert abs(report.post_angle[0]) == pytest.approx(0.5) and report.missed.all()
    assert any("a limit stops its post 'base'" in warning for warning in report.warnings)


def test_a_chain_on_the_post_is_posed_after_it():
    armature, chain = robot_arm()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name, head, tail, parent in (
        ("side0", (0.2, 0, 0.3), (0.4, 0, 0.9), "base"),
        ("side1", (0.4, 0, 0.9), (0.9, 0, 1.1), "side0"),
    ):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, armature.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode='OBJECT')
    second = add_chain(armature, "side1", add_target({}, "Second"), 2)
    bpy.context.scene.frame_set(12)
    chain = armature.ik2d.chains[0]
    solve(armature, [chain.name])
    bone = armature.pose.bones["side0"]
    second.target.location = bone.head + 0.8 * bone.matrix.to_3x3().col[1]  # in the plane as it is turned
    armature.pose.bones["base"].rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    report = solve(armature)
    assert report.all_reached, [one.missed for one in report.chains]
