# SPDX-License-Identifier: GPL-3.0-or-later
"""The space that a post turns in, and the channels that turn it."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from post_rigs import FRAMES, robot_arm, turret
from swing_rigs import MODES

from ik2d_addon.core.solution import drained
from ik2d_addon.rig.animation.bone_channels import matrices
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.posts import about, angles_in, chain_of_post, post_channels, post_space, solved_post
from ik2d_addon.rig.scene.sampler import sample_steps

TIMES = [float(frame) for frame in FRAMES]


def sampled(made):
    """Return a turret's chain, its samples, and the space of its post."""
    rig = read_chain(made.armature, made.add_chain())
    scene = bpy.context.scene
    own, post = drained(sample_steps(scene, [rig, chain_of_post(rig)], TIMES)).chains
    return rig, own, post_space(scene, rig, post, TIMES)


@pytest.mark.parametrize("seed", range(12))
def test_the_space_and_the_turn_make_the_evaluated_pose(seed):
    made = turret(seed)
    made.turn_post(0.7)
    rig, _, space = sampled(made)
    assert np.allclose(space.angles, 0.7, atol=2e-6)
    for frame in (1, 12, 24):
        bpy.context.scene.frame_set(frame)
        shown = made.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["post"]
        there = np.array(shown.matrix)[:3, rig.post.rule.axis] / made.post.scale[0]
        turned = space.to_pose[frame - 1][:3, :3] @ about(rig.post.rule.axis, space.angles[frame - 1 :])[0]
        # Axes that turn before the post's own tilt what is seen of it.
        if made.post.rotation_mode in ('QUATERNION', 'AXIS_ANGLE') or not any(
            made.post.rotation_euler[i] for i in range(3) if i != rig.post.rule.axis
        ):
            assert np.allclose(there, turned[:, rig.post.rule.axis], atol=1e-5)


@pytest.mark.parametrize("seed", range(12))
def test_the_angle_is_the_one_that_made_the_target(seed):
    made = turret(seed)
    rig, own, space = sampled(made)
    off = solved_post(rig, own, space).angles - np.array(made.turns)
    assert np.abs(np.angle(np.exp(1j * off))).max() < 1e-5


@pytest.mark.parametrize("mode", MODES)
def test_channels_and_angles_are_inverse(mode):
    armature, chain = robot_arm()
    armature.pose.bones["base"].rotation_mode = mode
    rig = read_chain(armature, chain)
    angles = np.linspace(-6.0, 6.0, 25)
    channels = post_channels(rig, angles, np.zeros((25, 3, 3)) + np.eye(3))
    assert np.allclose(angles_in(rig, channels.values), angles)
    assert np.allclose(matrices(mode, channels.values), about(1, angles))


@pytest.mark.parametrize("mode", ('QUATERNION', 'AXIS_ANGLE'))
def test_tilted_posts_keep_their_tilt(mode):
    armature, chain = robot_arm()
    armature.pose.bones["base"].rotation_mode = mode
    rig = read_chain(armature, chain)
    tilt = np.array(Quaternion((1.0, 0.2, 0.0, -0.3)).normalized().to_matrix())
    angles = np.linspace(-4.0, 4.0, 41)
    channels = post_channels(rig, angles, np.broadcast_to(tilt, (41, 3, 3)))
    assert np.allclose(matrices(mode, channels.values), tilt @ about(1, angles))
    assert np.abs(np.diff(channels.values[:, 0])).max() < 0.5  # without jumps


def test_single_axis_keys_one_euler_angle():
    armature, chain = robot_arm()
    rig = read_chain(armature, chain)
    channels = post_channels(rig, np.array([0.3, 8.0]), np.zeros((2, 3, 3)) + np.eye(3), single_axis=True)
    assert (channels.property, channels.mode, channels.turning) == ("rotation_euler", 'XYZ', 1)
    assert channels.values[:, 1].tolist() == [0.3, 8.0]
