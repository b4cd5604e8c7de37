# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation channels of a post."""

import numpy as np
import pytest
from mathutils import Quaternion
from post_rigs import robot_arm
from swing_rigs import MODES

from ik2d_addon.rig.animation.bone_channels import matrices
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.posts import about, angles_in, post_channels


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
