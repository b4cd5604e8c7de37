# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints may do: limits and weights as the solvers get them, and which locks hold a bone."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from rigs import add_leg

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.axes import CLOSE
from ik2d_addon.rig.joints import Joints, is_locked, locked_channels, read_joints

NAN = math.nan
X, Y, Z = np.eye(3)
SLANTED = np.array([0.6, 0.0, 0.8])
EULERS = ['XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX']


def joints(limits=((NAN, NAN), (NAN, NAN)), weights=(1.0, 1.0), fixed=(False, False)):
    return Joints(np.array(limits), np.array(weights), np.array(fixed))


# --- What the solvers get -------------------------------------------------------------------------


def test_joints_that_may_turn_freely_are_plain_and_have_no_limits():
    assert joints().plain
    assert joints().limits_from(np.array([0.3, -0.2])) is None
    assert not joints(limits=((NAN, NAN), (-1.0, 1.0))).plain
    assert not joints(weights=(1.0, 0.5)).plain
    assert not joints(fixed=(False, True)).plain


def test_limits_are_counted_from_the_angles_at_rest():
    found = joints(limits=((NAN, NAN), (-0.5, 0.75))).limits_from(np.array([0.3, -0.2]))
    assert np.isnan(found[0]).all()
    assert found[1] == pytest.approx((-0.7, 0.55))


@pytest.mark.parametrize("held", [{"fixed": (True, False)}, {"weights": (0.0, 1.0)}], ids=str)
def test_a_joint_that_is_held_may_not_leave_its_angle(held):
    found = joints(limits=((-1.0, 1.0), (NAN, NAN)), **held).limits_from(np.array([0.3, -0.2]))
    assert found[0] == pytest.approx((0.3, 0.3))
    assert np.isnan(found[1]).all()


def test_a_joint_of_little_weight_is_not_held():
    assert joints(weights=(0.01, 1.0)).limits_from(np.zeros(2)) is None


# --- Reading --------------------------------------------------------------------------------------


def settings(**entries):
    """Stand in for a chain: its name, and joints by bone."""
    defaults = {"use_limit": False, "limit_min": -0.5, "limit_max": 0.75, "weight": 1.0}
    joints = {name: SimpleNamespace(**{**defaults, **entry}) for name, entry in entries.items()}
    return SimpleNamespace(name="leg", joints=joints)


def test_joints_are_read_by_the_names_of_the_bones():
    bones = [add_leg().pose.bones[name] for name in ("body", "thigh", "shin")]
    found = read_joints(settings(shin={"use_limit": True}, thigh={"weight": 0.25}), bones, [X, X, X])
    assert np.isnan(found.limits[:2]).all()
    assert found.limits[2] == pytest.approx((-0.5, 0.75))
    assert found.weights.tolist() == [1.0, 0.25, 1.0]
    assert found.fixed.tolist() == [False, False, False]


def test_bones_whose_locks_hold_them_are_fixed():
    bones = [add_leg().pose.bones[name] for name in ("thigh", "shin")]
    for bone in bones:
        bone.rotation_mode = 'XYZ'
    bones[1].lock_rotation[0] = True
    assert read_joints(settings(), bones, [X, X]).fixed.tolist() == [False, True]
    assert read_joints(settings(), bones, [X, Z]).fixed.tolist() == [False, False]


def test_a_range_of_one_angle_is_fine_and_one_that_runs_backwards_is_not():
    bones = [add_leg().pose.bones["shin"]]
    backwards = {"use_limit": True, "limit_min": 0.5, "limit_max": 0.4}
    single = {**backwards, "limit_max": 0.5}
    assert read_joints(settings(shin=single), bones, [X]).limits.tolist() == [[0.5, 0.5]]
    with pytest.raises(
        IK2DError, match="Chain 'leg': the limits of bone 'shin' run backwards; set Min below"
    ):
        read_joints(settings(shin=backwards), bones, [X])
    read_joints(settings(shin={**backwards, "use_limit": False}), bones, [X])


# --- Locks ----------------------------------------------------------------------------------------


def bone_in(mode, locks=(), w=None):
    """Return a pose bone in a rotation mode with locked channels; w: the fourth, None for no 4D locks."""
    bone = add_leg().pose.bones["shin"]
    bone.rotation_mode = mode
    for index in locks:
        bone.lock_rotation[index] = True
    bone.lock_rotations_4d, bone.lock_rotation_w = w is not None, bool(w)
    return bone


@pytest.mark.parametrize("mode", ['QUATERNION', 'AXIS_ANGLE'])
@pytest.mark.parametrize("w, first", [(None, False), (False, False), (True, True)])
def test_modes_of_four_channels_have_w_first(mode, w, first):
    assert locked_channels(bone_in(mode, [1], w)) == [first, False, True, False]


def test_w_counts_only_where_all_four_are_locked_apart():
    bone = bone_in('QUATERNION')
    bone.lock_rotation_w = True
    assert locked_channels(bone) == [False] * 4


@pytest.mark.parametrize("mode", EULERS)
def test_euler_modes_have_three_channels(mode):
    assert locked_channels(bone_in(mode, [2], True)) == [False, False, True]


@pytest.mark.parametrize("mode", [*EULERS, 'QUATERNION', 'AXIS_ANGLE'])
def test_a_bone_without_locks_is_free(mode):
    bone = bone_in(mode)
    bone.rotation_euler = bone.rotation_quaternion[1:] = (0.3, 0.2, 0.1)
    for axis in (X, Y, Z, -X, SLANTED):
        assert not is_locked(bone, axis)


@pytest.mark.parametrize("mode", EULERS)
def test_an_euler_bone_that_turns_about_its_own_axis_needs_that_channel(mode):
    for locked in range(3):
        bone = bone_in(mode, [locked])
        assert [is_locked(bone, axis) for axis in (X, Y, Z)] == [locked == own for own in range(3)]


@pytest.mark.parametrize("locked", [0, 1, 2])
def test_an_euler_bone_that_turns_about_a_slanted_axis_needs_all_three(locked):
    assert is_locked(bone_in('XYZ', [locked]), SLANTED)
    little = 0.9 * CLOSE
    nearly = np.array([math.sqrt(1 - 2 * little**2), little, little])
    assert is_locked(bone_in('XYZ', [locked]), nearly) == (locked == 0)


@pytest.mark.parametrize("mode", ['QUATERNION', 'AXIS_ANGLE'])
def test_four_channels_need_the_first_and_those_that_the_axis_has(mode):
    for locked, w, expected in (
        ([], True, True),
        ([0], False, True),
        ([2], False, True),
        ([1], False, False),
    ):
        assert is_locked(bone_in(mode, locked, w), SLANTED) == expected
    for locked, expected in (([0], True), ([1, 2], False)):
        assert is_locked(bone_in(mode, locked), X) == expected


@pytest.mark.parametrize("mode, channel", [('XYZ', 1), ('QUATERNION', 2)])
@pytest.mark.parametrize("value, expected", [(0.0, False), (0.9e-4, False), (1.1e-4, True), (-0.5, True)])
def test_a_locked_channel_off_its_rest_holds_the_bone(mode, channel, value, expected):
    bone = bone_in(mode, [1])
    values = bone.rotation_euler if mode == 'XYZ' else bone.rotation_quaternion
    values[channel] = value
    assert is_locked(bone, X) == expected


def test_an_unlocked_channel_may_stand_anywhere():
    bone = bone_in('XYZ', [1])
    bone.rotation_euler = (1.0, 0.0, 1.0)
    assert not is_locked(bone, X)


def test_a_quaternions_first_channel_is_needed_by_every_turn():
    bone = bone_in('QUATERNION', [1, 2], False)
    bone.rotation_quaternion = (0.9, 0.0, 0.0, 0.0)
    assert not is_locked(bone, X)
    bone.lock_rotation_w = True
    assert is_locked(bone, X) and is_locked(bone, Y)


def test_an_angle_off_rest_holds_but_the_axis_of_a_rest_angle_may_be_any():
    bone = bone_in('AXIS_ANGLE', [1])
    bone.rotation_axis_angle = (0.0, 0.3, 0.9, 0.1)
    assert not is_locked(bone, X)
    bone = bone_in('AXIS_ANGLE', [1, 2], False)
    bone.rotation_axis_angle = (0.4, 1.0, 0.0, 0.0)  # unlocked: ours to write
    assert not is_locked(bone, X)


@pytest.mark.parametrize(
    "mode, path, width", [('QUATERNION', "rotation_quaternion", 4), ('XYZ', "rotation_euler", 3)]
)
@pytest.mark.parametrize("swing, expected", [(0.0, False), (0.5e-4, False), (2e-4, True)])
def test_a_locked_channel_whose_keys_differ_holds_the_bone(mode, path, width, swing, expected):
    bone = bone_in(mode, [2])
    values = getattr(bone, path)
    for frame, part in ((1, 0.0), (10, 1.0)):
        values[width - 1] = part * swing
        bone.keyframe_insert(path, frame=frame)
    values[width - 1] = 0.0
    assert is_locked(bone, X) == expected


def test_keys_of_other_channels_and_of_other_bones_do_not_hold_a_bone():
    bone = bone_in('XYZ', [2])
    for frame, turn in ((1, 0.0), (10, 1.0)):
        bone.rotation_euler = (turn, turn, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
        other = bone.parent
        other.rotation_mode = 'XYZ'
        other.rotation_euler = (0.0, 0.0, turn)
        other.keyframe_insert("rotation_euler", frame=frame)
    assert not is_locked(bone, X)
