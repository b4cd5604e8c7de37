# SPDX-License-Identifier: GPL-3.0-or-later
"""What joints may do: limits and weights as the solvers get them, and which locks hold a bone."""

import itertools
import math
import random
from dataclasses import replace
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from rigs import add_armature, add_chain, add_leg, add_target

from ik2d_addon.core import IK2DError, Plane
from ik2d_addon.rig.animation.bone_channels import locked_channels
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.joints import (
    ALIGNED,
    CLOSE,
    EXACT,
    HINGE,
    Joints,
    hinge_axis,
    is_held,
    normal_in_bone,
    own_axis,
    read_joints,
    read_limits,
    read_tip_angle,
    turning_axis,
)

NAN = math.nan
X, Y, Z = np.eye(3)
SLANTED = np.array([0.6, 0.0, 0.8])
EULERS = ['XYZ', 'XZY', 'YXZ', 'YZX', 'ZXY', 'ZYX']
MODES = [*EULERS, 'QUATERNION', 'AXIS_ANGLE']


def joints(limits=((NAN, NAN), (NAN, NAN)), weights=(1.0, 1.0), fixed=(False, False)):
    return Joints(np.array(limits), np.array(weights), np.array(fixed), np.array([X, X]), np.zeros(2))


# --- What the solvers get -------------------------------------------------------------------------


def test_joints_that_may_turn_freely_have_no_limits():
    assert joints().limits_from(np.array([0.3, -0.2])) is None


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


def test_joints_that_may_not_turn_freely_are_held():
    assert joints().held.tolist() == [False, False]
    assert joints(weights=(0.01, 0.0)).held.tolist() == [False, True]
    assert joints(fixed=(True, False)).held.tolist() == [True, False]
    assert joints(limits=((NAN, NAN), (-4.0, 4.0))).held.tolist() == [False, True]
    assert joints(limits=((NAN, 1.0), (NAN, NAN))).held.tolist() == [True, False]


def test_joints_are_askew_where_any_is_slanted():
    assert not joints().askew
    assert replace(joints(), slants=np.array([0.0, 1e-4])).askew


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
    found = read_joints(settings(), bones, [X, X])
    assert found.fixed.tolist() == [False, True]
    assert found.axes.tolist() == [[1, 0, 0]] * 2 and not found.askew
    assert read_joints(settings(), bones, [X, Z]).fixed.tolist() == [False, False]


def test_hinges_turn_about_their_own_axis_and_say_how_far_that_is_off():
    bones = [add_leg().pose.bones[name] for name in ("thigh", "shin")]
    bones[1].lock_rotation = (False, True, True)
    slanted = np.array([math.cos(0.2), math.sin(0.2), 0.0])
    found = read_joints(settings(shin={"weight": 0.5, "use_limit": True}), bones, [slanted, slanted])
    assert found.axes == pytest.approx(np.array([slanted, X]))
    assert found.slants == pytest.approx([0.0, 0.2]) and found.slants[0] == 0.0
    again = found.about(bones, [X, -X])
    assert again.axes.tolist() == [[1, 0, 0], [-1, 0, 0]] and again.slants.tolist() == [0.0, 0.0]
    assert again.weights.tolist() == [1.0, 0.5] and again.limits[1].tolist() == [-0.5, 0.75]


@pytest.mark.parametrize("slant, told", [(0.99 * EXACT, 0.0), (1.01 * EXACT, 1.01 * EXACT)])
def test_slants_within_32_bits_are_none(slant, told):
    bones = [add_leg().pose.bones["shin"]]
    bones[0].lock_rotation = (False, True, True)
    normal = np.array([math.cos(slant), math.sin(slant), 0.0])
    assert read_joints(settings(), bones, [normal]).slants == pytest.approx([told], abs=1e-12)


def test_limits_and_weights_can_be_read_alone():
    bones = [add_leg().pose.bones[name] for name in ("thigh", "shin")]
    limits, weights = read_limits(settings(thigh={"use_limit": True, "weight": 0.25}), bones)
    assert limits[0].tolist() == [-0.5, 0.75] and np.isnan(limits[1]).all()
    assert weights.tolist() == [0.25, 1.0]


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


@pytest.mark.parametrize("w, first", [(None, False), (False, False), (True, True)])
def test_modes_of_four_channels_have_w_first(w, first):
    assert locked_channels(bone_in('QUATERNION', [1], w)) == [first, False, True, False]
    if w is not None:
        assert locked_channels(bone_in('AXIS_ANGLE', [1], w)) == [first, False, True, False]


def test_an_axis_and_an_angle_without_locks_of_their_own_are_locked_together():
    """The locks are about the axes that the bone may turn about: an axis needs all of its parts."""
    assert locked_channels(bone_in('AXIS_ANGLE', [0, 2])) == [False] * 4
    assert locked_channels(bone_in('AXIS_ANGLE', [0, 1, 2])) == [True] * 4


def test_w_counts_only_where_all_four_are_locked_apart():
    bone = bone_in('QUATERNION')
    bone.lock_rotation_w = True
    assert locked_channels(bone) == [False] * 4


def test_euler_modes_have_three_channels():
    bone = bone_in('XYZ', [2], True)
    for bone.rotation_mode in EULERS:
        assert locked_channels(bone) == [False, False, True]


def test_a_bone_without_locks_turns_about_the_normal():
    bone = bone_in('XYZ')
    bone.rotation_euler = bone.rotation_quaternion[1:] = (0.3, 0.2, 0.1)
    for bone.rotation_mode in MODES:
        assert not is_held(bone) and hinge_axis(bone) is None
        for axis in (X, Y, Z, -X, SLANTED):
            assert turning_axis(bone, axis) is axis


def test_a_bone_whose_locks_leave_no_axis_is_held():
    bone = bone_in('XYZ', [0, 1, 2])
    for bone.rotation_mode in MODES:
        assert is_held(bone) and hinge_axis(bone) is None
        assert turning_axis(bone, X) is None


def test_an_euler_bone_needs_the_channel_of_the_axis_nearest_to_the_normal():
    for locked in range(3):
        bone = bone_in('XYZ', [locked])
        for bone.rotation_mode in EULERS:
            found = [turning_axis(bone, axis) for axis in (X, Y, Z)]
            assert [axis is None for axis in found] == [locked == own for own in range(3)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("off, leaves", [(0.99 * HINGE, True), (1.01 * HINGE, False)])
def test_a_hinge_turns_about_its_one_axis_within_fifteen_degrees_of_the_normal(mode, off, leaves):
    bone = bone_in(mode, [1, 2])
    assert not is_held(bone) and hinge_axis(bone) == 0
    for side in (1, -1):
        normal = side * np.array([math.cos(off), 0.6 * math.sin(off), 0.8 * math.sin(off)])
        found = turning_axis(bone, normal)
        if leaves:
            assert found == pytest.approx(side * X)
        else:
            assert found is None


@pytest.mark.parametrize("off, leaves", [(0.99 * HINGE, True), (1.01 * HINGE, False)])
def test_with_one_lock_euler_bones_turn_about_one_axis_and_others_about_any_across_the_lock(off, leaves):
    normal = np.array([math.cos(off) * 0.8, math.sin(off), math.cos(off) * 0.6])
    for mode in ('QUATERNION', 'AXIS_ANGLE'):
        found = turning_axis(bone_in(mode, [1]), normal)
        if leaves:
            assert found == pytest.approx(np.array([0.8, 0.0, 0.6]))
        else:
            assert found is None
    assert turning_axis(bone_in('XYZ', [1]), normal) is None  # 37 degrees from X
    near = np.array([math.cos(off), 0.0, math.sin(off)])
    found = turning_axis(bone_in('XYZ', [1]), near)
    if leaves:
        assert found == pytest.approx(X)
    else:
        assert found is None


def test_a_hinge_has_one_free_axis():
    for free in range(3):
        assert hinge_axis(bone_in('XYZ', {0, 1, 2} - {free})) == free
        assert hinge_axis(bone_in('XYZ', [free])) is None


@pytest.mark.parametrize("mode", ['QUATERNION', 'AXIS_ANGLE'])
def test_a_locked_angle_holds_the_bone(mode):
    assert is_held(bone_in(mode, [], True))
    assert turning_axis(bone_in(mode, [1, 2], True), X) is None
    assert not is_held(bone_in(mode, [], False))
    bone = bone_in('XYZ', [], True)
    assert not is_held(bone)


@pytest.mark.parametrize("mode, channel", [('XYZ', 1), ('QUATERNION', 2)])
@pytest.mark.parametrize("value, expected", [(0.0, False), (0.9e-4, False), (1.1e-4, True), (-0.5, True)])
def test_a_locked_channel_off_its_rest_holds_the_bone(mode, channel, value, expected):
    bone = bone_in(mode, [1])
    values = bone.rotation_euler if mode == 'XYZ' else bone.rotation_quaternion
    values[channel] = value
    assert is_held(bone) == expected
    assert (turning_axis(bone, X) is None) == expected


def test_an_unlocked_channel_may_stand_anywhere():
    bone = bone_in('XYZ', [1])
    bone.rotation_euler = (1.0, 0.0, 1.0)
    assert not is_held(bone)
    bone = bone_in('QUATERNION', [1, 2], False)
    bone.rotation_quaternion = (0.9, 0.3, 0.0, 0.0)
    assert not is_held(bone) and hinge_axis(bone) == 0
    bone.rotation_quaternion = (0.9, 0.3, 0.2, 0.0)
    assert is_held(bone) and hinge_axis(bone) is None


def test_an_axis_may_be_any_unless_its_parts_have_locks_of_their_own():
    bone = bone_in('AXIS_ANGLE', [1])
    bone.rotation_axis_angle = (0.4, 0.3, 0.9, 0.1)
    assert not is_held(bone)  # all four are ours to write
    bone.lock_rotations_4d = True
    assert is_held(bone)
    bone = bone_in('AXIS_ANGLE', [1, 2], False)
    bone.rotation_axis_angle = (0.4, 1.0, 0.0, 0.0)
    assert not is_held(bone)


@pytest.mark.parametrize(
    "mode, path, width",
    [('QUATERNION', "rotation_quaternion", 4), ('XYZ', "rotation_euler", 3), ('AXIS_ANGLE', None, 4)],
)
@pytest.mark.parametrize("swing, expected", [(0.0, False), (0.5e-4, False), (2e-4, True)])
def test_a_locked_channel_whose_keys_differ_holds_the_bone(mode, path, width, swing, expected):
    bone = bone_in(mode, [2], False if path is None else None)
    path = path or "rotation_axis_angle"
    values = getattr(bone, path)
    for frame, part in ((1, 0.0), (10, 1.0)):
        values[width - 1] = part * swing
        bone.keyframe_insert(path, frame=frame)
    values[width - 1] = 0.0
    assert is_held(bone) == expected


def test_keys_of_other_channels_and_of_other_bones_do_not_hold_a_bone():
    bone = bone_in('XYZ', [2])
    for frame, turn in ((1, 0.0), (10, 1.0)):
        bone.rotation_euler = (turn, turn, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
        other = bone.parent
        other.rotation_mode = 'XYZ'
        other.rotation_euler = (0.0, 0.0, turn)
        other.keyframe_insert("rotation_euler", frame=frame)
    assert not is_held(bone)


def test_a_locked_channel_whose_curve_has_no_keys_does_not_hold_the_bone():
    bone = bone_in('XYZ', [2])
    bone.keyframe_insert("rotation_euler", frame=1)
    (curve,) = [curve for curve in existing_fcurves(bone.id_data) if curve.array_index == 2]
    curve.keyframe_points.clear()
    assert not is_held(bone)


NOISE = 5e-5  # 32-bit rest matrices are up to 2.4e-5 off orthonormal, each end of a comparison


@pytest.mark.parametrize("seed", range(6))
def test_turning_about_the_axis_keeps_the_bone_in_the_plane(seed):
    chance = random.Random(seed)
    plane = Plane.facing([(0, 0, 0), (0, 1, 1)], (1, 0, 0))
    tail = (0.0, chance.uniform(-2, 2), chance.uniform(-2, 2))
    armature = add_armature({"a": ((0, 0, 0), tail, "", chance.uniform(-3, 3))})
    bone = armature.pose.bones["a"]
    axis = normal_in_bone(plane, bone)
    assert np.linalg.norm(axis) == pytest.approx(1.0, abs=1e-12)
    assert np.array(bone.bone.matrix_local.to_3x3()) @ axis == pytest.approx(plane.normal, abs=NOISE)
    turn = chance.uniform(-2, 2)
    bone.matrix_basis = Matrix.Rotation(turn, 4, Vector(axis))
    bpy.context.view_layer.update()
    # Seen along +X a positive turn goes from +Y to +Z.
    before, after = math.atan2(tail[2], tail[1]), math.atan2(bone.tail.z, bone.tail.y)
    assert bone.tail.x == pytest.approx(0.0, abs=NOISE)
    assert math.remainder(after - before - turn, 2 * math.pi) == pytest.approx(0.0, abs=NOISE)


@pytest.mark.parametrize("sine", [EXACT, CLOSE, ALIGNED])
def test_an_axis_is_the_bones_own_to_within_the_sine(sine):
    for own, other, sign in itertools.product(range(3), range(3), (1.0, -1.0)):
        if own == other:
            continue
        for part, expected in ((0.0, own), (0.99, own), (1.01, None)):
            axis = np.zeros(3)
            axis[other] = part * sine
            axis[own] = sign * math.sqrt(1.0 - axis[other] ** 2)
            assert own_axis(axis, sine) == expected
            axis[other] *= -1.0
            assert own_axis(axis, sine) == expected


def test_what_an_axis_has_of_both_others_counts_together():
    part = 0.8 * CLOSE
    assert own_axis(np.array([1.0, part, 0.0]), CLOSE) == 0
    assert own_axis(np.array([1.0, part, part]), CLOSE) is None


@pytest.mark.parametrize(
    "sine, within, beyond",
    [
        (EXACT, 1e-6, 2e-6),  # the noise of 32-bit rest matrices is no more
        (CLOSE, math.sin(math.radians(0.05)), math.sin(math.radians(0.06))),  # rolls of generated rigs
        (ALIGNED, math.sin(math.radians(2.8)), math.sin(math.radians(2.9))),
    ],
)
def test_how_near_is_near(sine, within, beyond):
    for part, expected in ((within, 2), (beyond, None)):
        assert own_axis(np.array([part, 0.0, math.sqrt(1.0 - part * part)]), sine) == expected


def chain_with_angle(**settings):
    armature = add_leg()
    return armature, add_chain(armature, "shin", add_target({1: (0, 0.2, 0.4)}), **settings)


def test_last_bone_that_is_free_has_none():
    _armature, chain = chain_with_angle(tip_angle_offset=0.3)
    assert read_tip_angle(chain, 2, slides=False) is None


def test_object_counts_from_the_armatures_axes_and_a_bone_from_its_rest_pose():
    armature, chain = chain_with_angle(tip_rotation='TARGET', tip_angle_offset=0.3)
    found = read_tip_angle(chain, 2, slides=False)
    assert found.follow and not found.first and found.offset == pytest.approx(0.3)
    assert (found.rest == np.eye(3)).all()
    chain.target, chain.subtarget = armature, "body"
    rest = np.array(armature.data.bones["body"].matrix_local)[:3, :3]
    assert np.allclose(read_tip_angle(chain, 2, slides=False).rest, rest, atol=1e-4)


def test_own_tip_keeps_the_angle_that_it_has():
    armature, chain = chain_with_angle(tip_rotation='TARGET', tip_angle_offset=0.3)
    found = read_tip_angle(chain, 2, slides=False, own_tip=True)
    rest = np.array(armature.data.bones["shin"].matrix_local)[:3, :3]
    assert found.offset == 0.0 and np.allclose(found.rest, rest, atol=1e-4)
    chain.tip_rotation = 'WORLD'
    assert read_tip_angle(chain, 2, slides=False, own_tip=True).offset == pytest.approx(0.3)


def test_bones_that_slide_have_no_angle():
    _armature, chain = chain_with_angle(tip_rotation='WORLD')
    with pytest.raises(
        IK2DError, match="takes bones that do not slide; turn Slide off, or set Last Bone's Angle to Free"
    ):
        read_tip_angle(chain, 2, slides=True)
