# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns in the plane -> rotation channels, held to what Blender makes of these."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from rigs import add_armature, add_chain, add_leg, add_target

from ik2d_addon.rig.animation.bone_channels import (
    set_mode,
)
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.joints import normal_in_bone
from ik2d_addon.rig.pose.rotations import bone_rotations, single_axis_notes

EULERS = ['XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX']
MODES = [*EULERS, 'QUATERNION', 'AXIS_ANGLE']
ROUNDED = 1e-6  # 32-bit rotations
# The axes that a bone may turn about: its letter, its channel, and to which side.
AXES = [('X', 0, 1), ('X', 0, -1), ('Z', 2, 1), ('Z', 2, -1)]
TURNS = np.array([(0.0, 0.5), (1.2, -0.4), (2.9, -2.0), (4.0, 3.0), (7.0, 9.5), (-1.0, 0.2)])


def leg_chain(mode='QUATERNION', **settings):
    """Read the chain of the leg, whose bones are rolled and turn about slanted axes."""
    armature = add_leg()
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    return read_chain(armature, add_chain(armature, "shin", add_target({}), **settings))


def straight_chain(mode='XYZ', letter='X', sign=1):
    """Read a chain of two bones that turn about their own X or Z, to either side."""
    middle = Vector((0, 1, 0))
    end = middle + Matrix.Rotation(0.3 * sign, 3, letter) @ Vector((0, 1, 0))
    armature = add_armature({"a": ((0, 0, 0), middle, "", 0.0), "b": (middle, end, "a", 0.0)})
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    return read_chain(armature, add_chain(armature, "b", add_target({})))


def assert_turned(rig, rotations, turns):
    """Hold Blender's matrix of each bone's channels to the turn about its axis."""
    for i, (bone, rotation) in enumerate(zip(rig.pose_bones, rotations, strict=True)):
        assert rotation.bone == bone.name
        set_mode(rig.armature, rotation)
        axis = Vector(normal_in_bone(rig.plane, bone))
        for values, turn in zip(rotation.values, turns[:, i], strict=True):
            setattr(bone, rotation.property, values)
            bpy.context.view_layer.update()
            found = np.array(bone.matrix_basis.to_3x3())
            assert found == pytest.approx(np.array(Matrix.Rotation(turn, 3, axis)), abs=ROUNDED)


# --- Channels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_channels_turn_each_bone_about_its_axis(mode):
    rig = leg_chain(mode)
    rotations = bone_rotations(rig, TURNS)
    assert all(rotation.mode == "" and rotation.turning is None for rotation in rotations)
    assert all(rotation.frames is None and rotation.handles is None for rotation in rotations)
    assert_turned(rig, rotations, TURNS)


@pytest.mark.parametrize(
    "mode, name, width",
    [('QUATERNION', "rotation_quaternion", 4), ('AXIS_ANGLE', "rotation_axis_angle", 4)]
    + [(mode, "rotation_euler", 3) for mode in EULERS],
)
def test_the_property_is_the_modes(mode, name, width):
    for rotation in bone_rotations(leg_chain(mode), TURNS):
        assert rotation.property == name and rotation.values.shape == (len(TURNS), width)


@pytest.mark.parametrize("mode", [*EULERS, 'QUATERNION'])
@pytest.mark.parametrize("make", [leg_chain, straight_chain])
def test_channels_go_on_where_turns_go_on(mode, make):
    turns = np.column_stack((np.linspace(0.0, 20.0, 401), np.linspace(1.0, -12.0, 401)))
    for rotation in bone_rotations(make(mode), turns):
        jumps = np.abs(np.diff(rotation.values, axis=0)).max()
        # A slanted axis moves an Euler channel faster where it nears the lock.
        assert jumps < (1.0 if mode in EULERS and make is leg_chain else 0.06)


def test_an_axis_angle_keeps_its_axis_and_turns_on():
    turns = np.column_stack((np.linspace(0.0, 20.0, 9),) * 2)
    for rotation in bone_rotations(leg_chain('AXIS_ANGLE'), turns):
        assert rotation.values[:, 0] == pytest.approx(turns[:, 0])
        assert np.ptp(rotation.values[:, 1:], axis=0).max() == 0.0


@pytest.mark.parametrize("mode", EULERS)
def test_an_euler_bone_about_its_own_axis_turns_one_channel_alone(mode):
    for letter, own, sign in AXES:
        rig = straight_chain(mode, letter, sign)
        for i, rotation in enumerate(bone_rotations(rig, TURNS)):
            others = np.delete(rotation.values, own, axis=1)
            assert rotation.values[:, own] == pytest.approx(sign * TURNS[:, i])
            assert (others == 0.0).all()


def test_a_bone_that_locks_hold_is_left_out():
    armature = add_leg()
    armature.pose.bones["shin"].rotation_mode = 'XYZ'
    armature.pose.bones["shin"].lock_rotation[0] = True
    rig = read_chain(armature, add_chain(armature, "shin", add_target({})))
    assert [rotation.bone for rotation in bone_rotations(rig, TURNS)] == ["thigh"]


# --- Single Axis ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mode, new", [('QUATERNION', 'XYZ'), ('AXIS_ANGLE', 'XYZ'), ('YZX', ""), ('XYZ', "")]
)
def test_single_axis_turns_one_euler_channel(mode, new):
    for letter, own, sign in AXES:
        rig = straight_chain(mode, letter, sign)
        rotations = bone_rotations(rig, TURNS, single_axis=True)
        for i, rotation in enumerate(rotations):
            assert (rotation.property, rotation.mode, rotation.turning) == ("rotation_euler", new, own)
            assert rotation.values[:, own] == pytest.approx(sign * TURNS[:, i])
            assert (np.delete(rotation.values, own, axis=1) == 0.0).all()
        assert_turned(rig, rotations, TURNS)
        assert {bone.rotation_mode for bone in rig.pose_bones} == {new or mode}


def test_single_axis_leaves_slanted_bones_as_they_are():
    rig = leg_chain()
    plain = bone_rotations(rig, TURNS)
    for one, other in zip(plain, bone_rotations(rig, TURNS, single_axis=True), strict=True):
        assert (one.property, one.mode, one.turning) == (other.property, other.mode, other.turning)
        assert (one.values == other.values).all()


def test_single_axis_notes_name_the_bones_it_changes_and_those_it_cannot():
    changed, slanted, unchanged = straight_chain('QUATERNION'), leg_chain(), straight_chain('ZYX')
    assert list(single_axis_notes(unchanged)) == []
    assert list(single_axis_notes(changed)) == [
        "Chain 'b': Single Axis set the rotation mode of 'a', 'b' to XYZ Euler"
    ]
    notes = list(single_axis_notes(slanted))
    assert [note.split(" as it is")[0] for note in notes] == [
        "Chain 'shin': Single Axis left 'thigh'",
        "Chain 'shin': Single Axis left 'shin'",
    ]
    x, y, z = normal_in_bone(slanted.plane, slanted.pose_bones[0])
    assert f"({x:.3g}, {y:.3g}, {z:.3g}), neither its X nor its Z; change its roll" in notes[0]


def test_single_axis_notes_leave_out_bones_that_locks_hold():
    rig = straight_chain('QUATERNION')
    rig.pose_bones[0].lock_rotation[0] = True
    rig = read_chain(rig.armature, rig.armature.ik2d.chains[0])
    assert list(single_axis_notes(rig)) == [
        "Chain 'b': Single Axis set the rotation mode of 'b' to XYZ Euler"
    ]
