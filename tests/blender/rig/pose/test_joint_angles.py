# SPDX-License-Identifier: GPL-3.0-or-later
"""The angles of joints from pose matrices: their sign, their zero, and what does not change them."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import add_chain, add_leg, add_target

from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.joint_angles import angles_from_rest, rest_directions


def leg():
    """Return the leg's armature and its chain as it is read."""
    armature = add_leg()
    return armature, read_chain(armature, add_chain(armature, "shin", add_target({1: (0, -0.5, 0.5)})))


def angles_now(armature, rig):
    """Return the angles (n,) in the current pose."""
    bpy.context.view_layer.update()
    poses = [np.array([bone.matrix], np.float32) for bone in rig.pose_bones]
    bases = np.array([[bone.matrix_basis for bone in rig.pose_bones]], np.float64)
    parent = np.array([rig.pose_bones[0].parent.matrix], np.float64)
    samples = SimpleNamespace(parent=parent, bases=bases, carried=None, targets=np.zeros((1, 3)), swings=None)
    return angles_from_rest(rig, samples, poses)[0]


def turn(rig, i, angle):
    """Turn a bone about the plane's normal."""
    rig.pose_bones[i].rotation_quaternion = Matrix.Rotation(
        angle, 3, rig.joints.axes[i].tolist()
    ).to_quaternion()


def test_the_first_bone_lies_along_x_in_rest_and_the_bend_of_rest_is_positive():
    armature, rig = leg()
    first, second = rest_directions(rig)
    assert first == pytest.approx(0.0, abs=1e-6)
    assert second == pytest.approx(np.arctan2(0.1, 1.0) + np.arctan2(0.1, 0.9), abs=1e-6)
    assert angles_now(armature, rig) == pytest.approx([0.0, 0.0], abs=1e-6)


def test_a_turn_about_the_normal_is_positive_and_relative_to_the_bone_before():
    armature, rig = leg()
    turn(rig, 0, 0.5)
    assert angles_now(armature, rig) == pytest.approx([0.5, 0.0], abs=1e-6)
    turn(rig, 1, -2.0)
    assert angles_now(armature, rig) == pytest.approx([0.5, -2.0], abs=1e-6)
    armature.data.bones["shin"].use_inherit_rotation = False
    assert angles_now(armature, rig) == pytest.approx([0.5, -2.5], abs=1e-6)


def test_what_holds_the_chain_and_the_length_of_bones_change_no_angle():
    armature, rig = leg()
    turn(rig, 0, 0.5)
    body = armature.pose.bones["body"]
    body.location, body.scale = (1.0, 2.0, 3.0), (2.0, 2.0, 2.0)
    body.rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    armature.data.bones["shin"].inherit_scale = 'NONE'
    rig.pose_bones[0].scale = (1.0, 1.7, 1.0)
    assert angles_now(armature, rig) == pytest.approx([0.5, 0.0], abs=2e-5)
