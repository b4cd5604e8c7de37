# SPDX-License-Identifier: GPL-3.0-or-later
"""How keys have joints stand: as numbers of turns, beside the frames of a bake, and without the chain."""

import itertools
import math

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from rigs import add_chain, add_leg, add_target, as_baked

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.joints import CLOSE
from ik2d_addon.rig.pose.keyed_pose import (
    channel_turns,
    keyed_pose_now,
    neighbor_poses,
    pose_of_hand_made,
    pose_without_chain,
)

SLOTS = hasattr(bpy.types, "ActionSlot")
X, Y, Z = np.eye(3)
TAU = 2.0 * math.pi
CLOSE_TO = 1e-5  # of 32-bit keys


def leg(mode='XYZ'):
    """Add the leg in a rotation mode; return its chain as it is read."""
    armature = add_leg()
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    return read_chain(armature, add_chain(armature, "shin", add_target({}), plane='X'))


def channels_of(bone, turn, axis):
    """Return the rotation channels that turn a bone by an angle about a local axis."""
    if bone.rotation_mode == 'QUATERNION':
        return np.array((math.cos(turn / 2), *(math.sin(turn / 2) * np.array(axis))))
    if bone.rotation_mode == 'AXIS_ANGLE':
        return np.array((turn, *axis))
    return np.array(Quaternion(Vector(axis), turn).to_euler(bone.rotation_mode))


def path_of(bone):
    names = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
    return names.get(bone.rotation_mode, "rotation_euler")


def key(rig, turns, bones=(0, 1), generated=False):
    """Key {frame: turn} of some of the chain's bones about their axes."""
    for i in bones:
        bone = rig.pose_bones[i]
        for frame, turn in turns.items():
            setattr(bone, path_of(bone), channels_of(bone, turn, rig.joints.axes[i]))
            bone.keyframe_insert(path_of(bone), frame=frame, group=bone.name)
    if generated:
        for curve in existing_fcurves(rig.armature):
            for point in curve.keyframe_points:
                as_baked(point)


def scene():
    return bpy.context.scene


# --- Turns as numbers -----------------------------------------------------------------------------


class Bone:
    """A stand-in that has a rotation mode and nothing else."""

    def __init__(self, mode):
        self.rotation_mode = mode


ANGLES = np.array([0.0, 0.4, -1.3, 3.0, -3.1, 3.3, 7.0, -9.0])


def test_quaternions_and_axes_keep_the_number_of_turns():
    for axis in (X, Z, -X, np.array([0.6, 0.0, 0.8])):
        assert_number_of_turns_kept(axis)


def assert_number_of_turns_kept(axis):
    half = ANGLES / 2
    values = np.column_stack((np.cos(half), np.outer(np.sin(half), axis)))
    found = channel_turns(Bone('QUATERNION'), axis, values)
    assert (found - ANGLES) / (2 * TAU) == pytest.approx(np.round((found - ANGLES) / (2 * TAU)), abs=1e-9)
    assert found[:6] == pytest.approx(ANGLES[:6])
    assert np.abs(found).max() <= TAU
    values = np.column_stack((ANGLES, np.tile(axis, (len(ANGLES), 1))))
    assert channel_turns(Bone('AXIS_ANGLE'), axis, values) == pytest.approx(ANGLES)
    assert channel_turns(Bone('AXIS_ANGLE'), axis, -values) == pytest.approx(ANGLES)
    assert channel_turns(Bone('AXIS_ANGLE'), -axis, values) == pytest.approx(-ANGLES)


def test_an_axis_of_nothing_turns_nothing():
    assert channel_turns(Bone('AXIS_ANGLE'), X, np.array([[0.7, 0, 0, 0]])) == pytest.approx([0.0], abs=1e-12)
    # as Blender takes it: for its Y
    assert channel_turns(Bone('AXIS_ANGLE'), Y, np.array([[0.7, 0, 0, 0]])) == pytest.approx([0.0])


def test_one_euler_channel_is_the_number_itself():
    for index, sign, mode in itertools.product(range(3), (1, -1), ('XYZ', 'ZYX', 'YXZ')):
        values = np.zeros((len(ANGLES), 3))
        values[:, index] = ANGLES
        assert channel_turns(Bone(mode), sign * np.eye(3)[index], values) == pytest.approx(sign * ANGLES)


@pytest.mark.parametrize("off, whole", [(0.9 * CLOSE, True), (1.2 * CLOSE, False)])
def test_a_channel_is_that_number_where_the_axis_is_close_to_its_own(off, whole):
    axis = np.array([math.sqrt(1 - off * off), off, 0.0])
    (found,) = channel_turns(Bone('XYZ'), axis, np.array([[7.0, 0.0, 0.0]]))
    assert found == pytest.approx(7.0 - (0 if whole else TAU), abs=0.01)


def test_what_channels_do_about_other_axes_is_left_out():
    for axis in (X, np.array([0.6, 0.8, 0.0]), np.array([0.48, 0.6, 0.64])):
        for turn in (0.5, -2.0):
            about = Quaternion(Vector(axis), turn)
            across = Vector(np.cross(axis, (0.1, 0.7, 0.2))).normalized()
            both = about @ Quaternion(across, 0.3)
            found = channel_turns(Bone('XYZ'), axis, np.array([both.to_euler('XYZ')]))
            assert found == pytest.approx([turn], abs=1e-5)
            assert channel_turns(Bone('QUATERNION'), axis, np.array([both])) == pytest.approx(
                [turn], abs=1e-5
            )


# --- As they stand --------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'ZXY', 'AXIS_ANGLE'])
def test_now_is_what_the_channels_are(mode):
    rig = leg(mode)
    scene().frame_set(7, subframe=0.5)
    for i, bone in enumerate(rig.pose_bones):
        setattr(bone, path_of(bone), channels_of(bone, 0.3 + i, rig.joints.axes[i]))
    found = keyed_pose_now(scene(), rig)
    assert found.frame == 7.5
    assert found.turns == pytest.approx([0.3, 1.3], abs=CLOSE_TO)
    assert list(found.channels) == ["thigh", "shin"]
    for bone in rig.pose_bones:
        assert found.channels[bone.name] == pytest.approx(tuple(getattr(bone, path_of(bone))))


def test_joints_that_are_held_do_not_turn():
    rig = leg()
    rig.pose_bones[0].rotation_euler = rig.pose_bones[1].rotation_euler = (0.5, 0.1, 0.0)
    rig.pose_bones[1].lock_rotation = (True, True, True)
    rig = read_chain(rig.armature, rig.armature.ik2d.chains[0])
    found = keyed_pose_now(scene(), rig)
    assert found.turns[1] == 0.0 and found.turns[0] != 0.0
    assert found.channels["shin"] == pytest.approx((0.5, 0.1, 0.0))


# --- Beside the frames of a bake ------------------------------------------------------------------


def neighbors(rig, first, last):
    (found,) = neighbor_poses(scene(), [rig], first, last)
    return found


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_the_nearest_keys_on_both_sides_are_what_is_joined(mode):
    rig = leg(mode)
    key(rig, {2: 0.1, 8: 0.4, 12: 2.0, 25: 0.7, 33: 1.1})
    found = neighbors(rig, 10, 20)
    assert (found.before.frame, found.after.frame) == (8, 25)
    assert found.before.turns == pytest.approx([0.4, 0.4], abs=CLOSE_TO)
    assert found.after.turns == pytest.approx([0.7, 0.7], abs=CLOSE_TO)
    for i, bone in enumerate(rig.pose_bones):
        expected = channels_of(bone, 0.4, rig.joints.axes[i])
        assert found.before.channels[bone.name] == pytest.approx(expected, abs=CLOSE_TO)


def test_keys_that_the_bake_replaces_are_none_to_join():
    rig = leg()
    for keys, before, after in (
        ((), None, None),
        ((15,), None, None),
        ((5,), 5, None),
        ((25,), None, 25),
        ((10, 20), None, None),
        ((9.991, 20.009), None, None),
        ((9.989, 20.011), 9.989, 20.011),
        ((3, 9, 21, 30), 9, 21),
    ):
        rig.armature.animation_data_clear()
        key(rig, dict.fromkeys(keys, 0.5))
        found = neighbors(rig, 10, 20)
        for keyed_pose, frame in ((found.before, before), (found.after, after)):
            assert (keyed_pose and keyed_pose.frame) == (frame and pytest.approx(frame))


def test_of_several_curves_the_nearest_key_of_any_counts():
    rig = leg()
    key(rig, {3: 0.1, 30: 0.2}, bones=(0,))
    key(rig, {7: 0.3, 26: 0.4}, bones=(1,))
    found = neighbors(rig, 10, 20)
    assert (found.before.frame, found.after.frame) == (7, 26)
    rig.armature.pose.bones["body"].keyframe_insert("rotation_euler", frame=9)
    rig.armature.pose.bones["thigh"].keyframe_insert("location", frame=9)
    assert neighbors(rig, 10, 20).before.frame == 7


def test_channels_without_keys_stand_as_they_do_now():
    rig = leg()
    key(rig, {7: 0.3}, bones=(1,))
    rig.pose_bones[0].rotation_euler = (0.25, 0.0, 0.0)
    found = neighbors(rig, 10, 20)
    assert found.before.channels["thigh"] == pytest.approx((0.25, 0.0, 0.0))
    assert abs(found.before.turns[0]) == pytest.approx(0.25, abs=0.02)
    assert found.after is None


@pytest.mark.parametrize("what", ["curve", "group"])
def test_keys_that_do_not_play_are_not_joined(what):
    rig = leg()
    key(rig, {7: 0.3})
    for curve in existing_fcurves(rig.armature):
        (curve if what == "curve" else curve.group).mute = True
    plays = what == "group" and SLOTS  # from 4.4 on Blender plays them all the same
    assert (neighbors(rig, 10, 20).before is not None) == plays


def test_keys_are_sought_in_the_time_that_the_scene_is_remapped_to():
    rig = leg()
    key(rig, {4: 0.1, 7: 0.3, 13: 0.5})
    scene().render.frame_map_old, scene().render.frame_map_new = 100, 200
    found = neighbors(rig, 10, 20)  # 5 to 10 of the action
    assert (found.before.frame, found.after.frame) == (8, 26)
    assert found.before.turns[1] == pytest.approx(0.1, abs=CLOSE_TO)


@pytest.mark.parametrize("reverse", [False, True])
def test_in_a_strip_that_is_tweaked_before_and_after_are_the_scenes(reverse):
    rig = leg()
    key(rig, {1: 0.1, 5: 0.3, 9: 0.5})
    animation = rig.armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    track = animation.nla_tracks.new()
    strip = track.strips.new("Strip", 11, action)
    if slot is not None:
        strip.action_slot = slot
    strip.scale, strip.use_reverse = 2.0, reverse
    track.select = strip.select = True
    animation.nla_tracks.active = track
    animation.use_tweak_mode = True
    found = neighbors(rig, 15, 22)  # 3 to 6.5 of the action, or 7 to 3.5
    assert (found.before.frame, found.after.frame) == pytest.approx((11, 27), abs=1e-3)
    turns = found.before.turns[1], found.after.turns[1]
    assert turns == pytest.approx((0.5, 0.1) if reverse else (0.1, 0.5), abs=CLOSE_TO)


def test_each_chain_joins_keys_of_its_own_bones():
    rig = leg()
    other = read_chain(rig.armature, add_chain(rig.armature, "body", add_target({}), bone_count=1))
    key(rig, {7: 0.3}, bones=(1,))
    first, second = neighbor_poses(scene(), [rig, other], 10, 20)
    assert first.before.frame == 7 and second.before is second.after is None


@pytest.mark.parametrize("mode", ['QUATERNION', 'ZYX', 'AXIS_ANGLE'])
@pytest.mark.parametrize("plane", ['SWING', 'POLE', 'ARC'])
def test_where_the_plane_swings_the_first_turn_is_the_one_in_it(plane, mode):
    """As the bake solved it, and not what the plane's own turn adds."""
    armature = add_leg()
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    target = add_target({1: (0.5, -0.4, 0.7), 9: (-0.6, 0.3, 0.6)})
    pole = add_target({1: (2.0, -1.0, 1.0)}, "Pole")
    add_chain(armature, "shin", target, plane=plane, pole=pole)
    solved = bake(armature, frame_start=1, frame_end=5).chains[0].joints.angles.from_rest
    rig = read_chain(armature, armature.ik2d.chains[0])
    (found,) = neighbor_poses(scene(), [rig], 6, 9)
    assert found.before.frame == 5.0
    assert found.before.turns == pytest.approx(solved[-1], abs=1e-4)
    scene().frame_set(3)
    assert keyed_pose_now(scene(), rig).turns == pytest.approx(solved[2], abs=1e-4)


# --- Without the chain ----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_without_keys_it_is_the_rest_pose_however_the_bones_stand(mode):
    rig = leg(mode)
    for i, bone in enumerate(rig.pose_bones):
        setattr(bone, path_of(bone), channels_of(bone, 0.5, rig.joints.axes[i]))
    assert (pose_without_chain(scene(), rig, [1.0, 2.0, 5.0]).turns == np.zeros((3, 2))).all()


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_keys_made_by_hand_are_what_it_is_and_those_of_a_bake_are_not(mode):
    rig = leg(mode)
    key(rig, {1: 0.25, 9: 0.75})
    for curve in existing_fcurves(rig.armature):
        point = curve.keyframe_points.insert(5, 9.0)
        as_baked(point)
        curve.update()
    found = pose_without_chain(scene(), rig, [1.0, 5.0, 9.0]).turns
    assert found[[0, 2]] == pytest.approx(np.array([[0.25] * 2, [0.75] * 2]), abs=CLOSE_TO)
    assert found[1] == pytest.approx([0.5, 0.5], abs=1e-2)
    curve = existing_fcurves(rig.armature)[0]
    assert [point.co.x for point in curve.keyframe_points] == [1, 5, 9]  # a copy was looked at
    assert len(bpy.data.actions) == 1


def test_a_bone_whose_keys_are_all_of_a_bake_is_at_rest():
    rig = leg()
    key(rig, {1: 0.25, 9: 0.75}, generated=True)
    assert not pose_without_chain(scene(), rig, [1.0, 9.0]).turns.any()
    rig = leg()
    key(rig, {1: 0.25}, bones=(1,))
    rig.pose_bones[0].rotation_euler = (0.5, 0, 0)
    assert pose_without_chain(scene(), rig, [4.0]).turns[0] == pytest.approx([0.0, 0.25], abs=CLOSE_TO)


def test_an_angle_without_keys_is_at_rest_and_its_axis_where_it_stands():
    rig = leg('AXIS_ANGLE')
    for i, bone in enumerate(rig.pose_bones):
        bone.rotation_axis_angle = (0.5, *rig.joints.axes[i])
        bone.keyframe_insert("rotation_axis_angle", index=0, frame=3)
    assert pose_without_chain(scene(), rig, [3.0]).turns[0] == pytest.approx([0.5, 0.5], abs=CLOSE_TO)
    rig = leg('QUATERNION')
    rig.pose_bones[1].rotation_quaternion = channels_of(rig.pose_bones[1], 0.5, rig.joints.axes[1])
    rig.pose_bones[1].keyframe_insert("rotation_quaternion", index=1, frame=3)
    found = pose_without_chain(scene(), rig, [3.0]).turns[0, 1]  # with w at 1, as at rest
    part = math.sin(0.25) * rig.joints.axes[1][0] ** 2
    assert found == pytest.approx(2 * math.atan(part), abs=CLOSE_TO)


def swinging_leg(mode):
    """Add the leg in a rotation mode, its plane swinging with the target; return its chain as it is read."""
    rig = leg(mode)
    rig.armature.ik2d.chains[0].plane = 'SWING'
    return read_chain(rig.armature, rig.armature.ik2d.chains[0])


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE'])
def test_where_the_plane_swings_the_first_bones_whole_rotation_is_its_own(mode):
    rig = swinging_leg(mode)
    bone, wanted = rig.pose_bones[0], Quaternion((0.8, 0.3, -0.4, 0.2)).normalized()
    (rest,) = pose_without_chain(scene(), rig, [3.0]).rotations[:, 0]
    assert rest == pytest.approx(np.eye(3), abs=1e-9)
    bone.matrix_basis = wanted.to_matrix().to_4x4()
    bone.keyframe_insert(path_of(bone), frame=3)
    for found in (pose_without_chain(scene(), rig, [3.0]), pose_of_hand_made(scene(), rig, [3.0])):
        assert found.rotations[0, 0] == pytest.approx(np.array(wanted.to_matrix()), abs=CLOSE_TO)
        assert found.turns.shape == (1, 2)
    for curve in existing_fcurves(rig.armature):
        for point in curve.keyframe_points:
            as_baked(point)
    assert pose_without_chain(scene(), rig, [3.0]).rotations[0, 0] == pytest.approx(np.eye(3), abs=1e-9)


def test_in_a_fixed_plane_too_all_of_the_bones_rotations_are_their_own():
    rig = leg('QUATERNION')
    wanted = Quaternion((0.8, 0.3, -0.4, 0.2)).normalized()
    for bone in rig.pose_bones:
        bone.matrix_basis = wanted.to_matrix().to_4x4()
        bone.keyframe_insert(path_of(bone), frame=3)
    found = pose_without_chain(scene(), rig, [3.0]).rotations
    assert found[0] == pytest.approx(np.array([wanted.to_matrix()] * 2), abs=CLOSE_TO)


def test_without_the_chain_too_joints_that_are_held_do_not_turn():
    rig = leg()
    rig.armature.pose.bones["shin"].lock_rotation = (True, True, True)
    rig = read_chain(rig.armature, rig.armature.ik2d.chains[0])
    key(rig, {1: 0.25})
    found = pose_without_chain(scene(), rig, [1.0]).turns[0]
    assert found == pytest.approx([0.25, 0.0], abs=CLOSE_TO)


def test_turns_are_read_in_the_time_that_the_scene_is_remapped_to():
    rig = leg()
    key(rig, {1: 0.0, 11: 1.0})
    for curve in existing_fcurves(rig.armature):
        for point in curve.keyframe_points:
            point.interpolation = 'LINEAR'
    scene().render.frame_map_old, scene().render.frame_map_new = 100, 200
    assert pose_without_chain(scene(), rig, [12.0]).turns[0] == pytest.approx([0.5, 0.5], abs=1e-2)


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_without_a_copy_keys_made_by_hand_give_the_same_turns(mode):
    rig = leg(mode)
    assert not pose_of_hand_made(scene(), rig, [3.0]).turns.any()
    key(rig, {1: 0.25, 9: 0.75})
    times = [1.0, 4.0, 9.0]
    assert (
        pose_of_hand_made(scene(), rig, times).turns == pose_without_chain(scene(), rig, times).turns
    ).all()
    rig = leg(mode)
    key(rig, {1: 0.25, 9: 0.75}, generated=True)
    assert not pose_of_hand_made(scene(), rig, times).turns.any()


def test_without_a_copy_keys_of_a_bake_among_those_made_by_hand_are_refused():
    rig = leg()
    key(rig, {1: 0.25, 9: 0.75})
    as_baked(existing_fcurves(rig.armature)[0].keyframe_points[1])
    with pytest.raises(IK2DError, match="clear the bake, or set the influence to 1"):
        pose_of_hand_made(scene(), rig, [1.0])
