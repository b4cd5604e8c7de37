# SPDX-License-Identifier: GPL-3.0-or-later
"""The channels that turn a bone, against Blender's own."""

import math
import random

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion, Vector
from rigs import add_chain, add_leg, add_target

from ik2d_addon.rig.animation.bone_channels import (
    BoneRotation,
    channels_kept,
    matrices,
    posed,
    set_mode,
    turning,
)
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.rotations import bone_rotations

EULERS = ['XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX']
MODES = [*EULERS, 'QUATERNION', 'AXIS_ANGLE']
ROUNDED = 1e-6  # 32-bit rotations
TURNS = np.array([(0.0, 0.5), (1.2, -0.4), (2.9, -2.0), (4.0, 3.0), (7.0, 9.5), (-1.0, 0.2)])


def leg_chain(mode='QUATERNION', **settings):
    """Read the chain of the leg, whose bones are rolled and turn about slanted axes."""
    armature = add_leg()
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    return read_chain(armature, add_chain(armature, "shin", add_target({}), **settings))


def test_channels_that_are_locked_are_not_ours_to_write():
    armature = add_leg()
    bone = armature.pose.bones["shin"]
    rotation = BoneRotation("shin", "rotation_quaternion", np.zeros((1, 4)))
    assert rotation.unlocked(armature) == [0, 1, 2, 3]
    bone.lock_rotation[1] = True
    assert rotation.unlocked(armature) == [0, 1, 3]
    bone.rotation_mode = 'XYZ'
    assert BoneRotation("shin", "rotation_euler", np.zeros((1, 3))).unlocked(armature) == [0, 2]


# --- Showing and putting back ---------------------------------------------------------------------


def state(armature):
    names = ("rotation_mode", "rotation_quaternion", "rotation_euler", "rotation_axis_angle")
    return [
        tuple(
            value if isinstance(value, str) else tuple(value) for value in (getattr(bone, n) for n in names)
        )
        for bone in armature.pose.bones
    ]


def test_posed_shows_the_first_frame_and_keeps_it():
    rig = leg_chain()
    rotations = bone_rotations(rig, TURNS + 0.3)
    with posed(rig.armature, rotations):
        shin = rig.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones["shin"]
        assert tuple(shin.rotation_quaternion) == pytest.approx(rotations[1].values[0], abs=ROUNDED)
    for bone, rotation in zip(rig.pose_bones, rotations, strict=True):
        assert tuple(bone.rotation_quaternion) == pytest.approx(rotation.values[0], abs=ROUNDED)


def test_posed_leaves_locked_channels_alone():
    armature = add_leg()
    bone = armature.pose.bones["shin"]
    bone.rotation_mode, bone.lock_rotation[1] = 'XYZ', True
    with posed(armature, [BoneRotation("shin", "rotation_euler", np.array([[0.1, 0.2, 0.3]]))]):
        pass
    assert tuple(bone.rotation_euler) == pytest.approx((0.1, 0.0, 0.3))


def test_posed_puts_the_old_pose_back_if_what_follows_fails():
    rig = leg_chain()
    before = state(rig.armature)
    with pytest.raises(KeyboardInterrupt), posed(rig.armature, bone_rotations(rig, TURNS + 0.3)):
        assert state(rig.armature) != before
        raise KeyboardInterrupt
    assert state(rig.armature) == before


@pytest.mark.parametrize("only_on_error", [False, True])
@pytest.mark.parametrize("fails", [False, True])
def test_channels_are_kept_with_their_modes(only_on_error, fails):
    rig = leg_chain()
    rotations = bone_rotations(rig, TURNS)
    rig.pose_bones[0].rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    rig.pose_bones[0].rotation_euler = (0.1, 0.2, 0.3)
    before = state(rig.armature)
    try:
        with channels_kept(rig.armature, rotations, only_on_error=only_on_error):
            for bone in rig.pose_bones:
                bone.rotation_mode = 'ZYX'
                bone.rotation_euler = (1, 1, 1)
            changed = state(rig.armature)
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    kept = fails or not only_on_error
    assert state(rig.armature) == (before if kept else changed)


def test_the_mode_is_set_where_a_rotation_asks_for_one():
    armature = add_leg()
    set_mode(armature, BoneRotation("shin", "rotation_euler", np.zeros((1, 3)), mode='ZXY'))
    set_mode(armature, BoneRotation("thigh", "rotation_euler", np.zeros((1, 3))))
    assert [bone.rotation_mode for bone in armature.pose.bones] == ['QUATERNION', 'QUATERNION', 'ZXY']


# --- Matrices -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_matrices_of_channels_are_blenders(mode):
    chance, width = random.Random(3), 3 if mode in EULERS else 4
    for only in (None, 0, 1, 2):
        values = np.array([[chance.uniform(-3, 3) for _ in range(width)] for _ in range(20)])
        if only is not None:  # the others stand at rest
            values[:, [i for i in range(-3, 0) if i != only - 3]] = 0.0
        for channels, found in zip(values, matrices(mode, values), strict=True):
            if mode == 'QUATERNION':
                expected = Quaternion(channels).normalized().to_matrix()
            elif mode == 'AXIS_ANGLE':
                expected = Matrix.Rotation(channels[0], 3, Vector(channels[1:]))
            else:
                expected = Euler(channels, mode).to_matrix()
            assert found == pytest.approx(np.array(expected), abs=ROUNDED)


@pytest.mark.parametrize("mode", EULERS)
def test_channels_at_rest_turn_nothing(mode):
    assert (matrices(mode, np.zeros((4, 3))) == np.eye(3)).all()
    assert matrices(mode, np.zeros((4, 3))).shape == (4, 3, 3)


def test_lengths_of_quaternions_and_axes_do_not_matter():
    values = np.array([[0.3, 0.2, -0.5, 0.7]])
    assert matrices('QUATERNION', 3.0 * values) == pytest.approx(matrices('QUATERNION', values), abs=1e-15)
    longer = values * (1.0, 4.0, 4.0, 4.0)
    assert matrices('AXIS_ANGLE', longer) == pytest.approx(matrices('AXIS_ANGLE', values), abs=1e-15)
    assert np.linalg.det(matrices('QUATERNION', values)) == pytest.approx(1.0)
    assert math.isclose(np.trace(matrices('AXIS_ANGLE', values)[0]), 1.0 + 2.0 * math.cos(0.3), abs_tol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_places_are_turned_as_by_the_matrices(mode):
    chance = np.random.default_rng(4)
    values, places = chance.uniform(-3, 3, (20, 3 if mode in EULERS else 4)), chance.normal(size=(3, 20))
    expected = (matrices(mode, values) @ places.T[..., None])[..., 0].T
    assert turning(mode, values)(places) == pytest.approx(expected, abs=1e-14)
    one = turning(mode, values)(places[:, :1])
    assert one == pytest.approx((matrices(mode, values) @ places[:, 0]).T, abs=1e-14)
