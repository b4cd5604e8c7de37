# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's forward kinematics in numbers, held to the pose that Blender evaluates."""

import math
import random
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from rigs import add_armature, add_chain, add_target, stretching_arm

from ik2d_addon.core import Plane
from ik2d_addon.core.affine import rotations_about
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints
from ik2d_addon.rig.pose.bone_matrices import SCALE_NOISE
from ik2d_addon.rig.pose.kinematics import Link, Linkage, _applied, angles_before, read_linkage
from ik2d_addon.rig.pose.rotations import bone_rotations
from ik2d_addon.rig.scene.sampler import sample_now, sample_steps

SCALE_MODES = ['FULL', 'FIX_SHEAR', 'ALIGNED', 'AVERAGE', 'NONE', 'NONE_LEGACY']
CLOSE = 3e-6  # of some three units' reach: what Blender's 32 bits keep of a place
NAMES = ("a", "b", "c")


def add_arm(seed, gaps=True, above=True):
    """Add an arm of three bones in the plane x = 0, with gaps and rolls by chance, on a bone or on none."""
    chance = random.Random(seed)
    bones, head = {}, Vector((0, 0.5, 0.5))
    if above:
        bones["base"] = ((0, 0, 0), (0, 0.4, 0.6), "", chance.uniform(-3, 3))
    for i, name in enumerate(NAMES):
        tail = head + Vector((0, chance.uniform(0.4, 1.0), chance.uniform(-0.8, 0.8)))
        parent = NAMES[i - 1] if i else ("base" if above else "")
        bones[name] = (tuple(head), tuple(tail), parent, chance.uniform(-3, 3))
        head = tail + Vector((0, chance.uniform(-0.2, 0.2), chance.uniform(-0.2, 0.2))) * gaps
    armature = add_armature(bones)
    add_chain(armature, "c", add_target({}), bone_count=3, plane='X')
    return armature


def read_now(armature):
    """Return the chain, and its linkage as the rig stands."""
    bpy.context.view_layer.update()
    rig = read_chain(armature, armature.ik2d.chains[0])
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    return rig, read_linkage(rig, samples)


def turning(rotations):
    """Return what turns places by rotations, (frames, 3, 3) for each bone."""
    return [partial(_applied, matrices) for matrices in rotations]


def turn(rig, turns):
    """Turn the bones; return where Blender has their heads, and the tip, in rest space (n + 1, 3)."""
    for rotation in bone_rotations(rig, np.atleast_2d(turns)):
        setattr(rig.armature.pose.bones[rotation.bone], rotation.property, rotation.values[0])
    bpy.context.view_layer.update()
    posed = rig.armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return np.array([posed[name].head for name in rig.bones] + [posed[rig.bones[-1]].tail])


def in_rest(places, to_pose):
    """Return places (m, 3) of pose space in rest space."""
    homogeneous = np.column_stack((places, np.ones(len(places))))
    return (homogeneous @ np.linalg.inv(to_pose).T)[:, :3]


def assert_linkage(rig, linkage, turns, joints_too=True):
    """Hold joints, tips and tips in space of turns (n,) to the evaluated pose."""
    places = in_rest(turn(rig, turns), linkage.to_pose[0])
    flat = rig.plane.project(places)
    assert linkage.tips(np.atleast_2d(turns))[0] == pytest.approx(flat[-1], abs=CLOSE)
    if joints_too:
        assert linkage.joints(np.atleast_2d(turns))[0] == pytest.approx(flat, abs=CLOSE)
        rotations = [np.array(bone.matrix_basis.to_quaternion().to_matrix())[None] for bone in rig.pose_bones]
        in_space = linkage.tips_in_space(turning(rotations), 1, slice(None))[0]
        assert in_space == pytest.approx(places[-1], abs=CLOSE)


TURNS = [(0.0, 0.0, 0.0), (0.4, -1.3, 2.0), (-2.5, 0.7, 0.3)]


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("above", [False, True])
def test_joints_and_tips_are_where_blender_has_them(gaps, above):
    for seed in range(4):
        rig, linkage = read_now(add_arm(seed, gaps, above))
        assert linkage.blender_tips is None
        for turns in TURNS:
            assert_linkage(rig, linkage, turns)


def test_a_bone_above_that_is_moved_turned_and_scaled_takes_the_chain_with_it():
    armature = add_arm(5)
    base = armature.pose.bones["base"]
    base.matrix_basis = Matrix.LocRotScale((0.1, 0.2, -0.3), Matrix.Rotation(0.7, 3, (1, 2, 3)), (1.5,) * 3)
    rig, linkage = read_now(armature)
    for turns in TURNS:
        assert_linkage(rig, linkage, turns)


def test_the_object_itself_is_not_part_of_the_linkage():
    armature = add_arm(5)
    _, before = read_now(armature)
    armature.matrix_world = Matrix.LocRotScale((3, 4, 5), Matrix.Rotation(0.7, 3, (1, 2, 3)), (2, 2, 2))
    _, after = read_now(armature)
    turns = np.array([[0.1, 0.2, 0.3]])
    assert after.joints(turns) == pytest.approx(before.joints(turns), abs=1e-9)


@pytest.mark.parametrize("mode", SCALE_MODES)
@pytest.mark.parametrize("bones", [("a",), ("b",), ("b", "c"), NAMES], ids="".join)
def test_every_way_to_inherit(bones, mode):
    for rotation in (True, False):
        for scaled in (False, True):
            assert_inherited(bones, rotation, scaled, mode)


def assert_inherited(bones, rotation, scaled, mode):
    """Hold an arm some of whose bones inherit in a way of their own to the evaluated pose."""
    armature = add_arm(7)
    for name in bones:
        armature.data.bones[name].inherit_scale = mode
        armature.data.bones[name].use_inherit_rotation = rotation
    base = armature.pose.bones["base"]
    base.rotation_mode = 'AXIS_ANGLE'
    normal = base.bone.matrix_local.to_3x3().inverted() @ Vector((1, 0, 0))
    base.rotation_axis_angle = (0.6, *normal)
    if scaled:
        base.scale = (1.3,) * 3
        armature.pose.bones["a"].scale = (0.8,) * 3
    rig, linkage = read_now(armature)
    plain = rotation and mode == 'FULL'
    assert (linkage.blender_tips is None) == (plain or bones == ("a",))
    for turns in TURNS:
        assert_linkage(rig, linkage, turns, joints_too=linkage.blender_tips is None)


def test_links_that_are_only_nearly_exact_stay_within_a_hundred_thousandth():
    armature = add_arm(7)
    for name in ("b", "c"):
        armature.data.bones[name].inherit_scale = 'NONE'
    rig, linkage = read_now(armature)
    for turns in TURNS:
        places = rig.plane.project(in_rest(turn(rig, turns), linkage.to_pose[0]))
        assert linkage.joints(np.atleast_2d(turns))[0] == pytest.approx(places, abs=5e-5)


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("bone", NAMES)
def test_locations_along_the_bones_own_axes_or_not(bone, local):
    armature = add_arm(9)
    armature.data.bones[bone].use_local_location = local
    armature.pose.bones[bone].location = (0.3, -0.2, 0.1)
    armature.pose.bones["base"].rotation_quaternion = (0.9, 0.3, 0.1, -0.2)
    rig, linkage = read_now(armature)
    assert (linkage.blender_tips is None) == (local or bone == "a")
    for turns in TURNS:
        assert_linkage(rig, linkage, turns, joints_too=linkage.blender_tips is None)


@pytest.mark.parametrize("bone, ignored", [("a", False), ("b", True)])
def test_only_connected_bones_with_a_parent_ignore_their_location(bone, ignored):
    armature = add_arm(9, gaps=False, above=False)
    assert armature.data.bones["b"].use_connect
    _, before = read_now(armature)
    armature.pose.bones[bone].location = (0.3, -0.2, 0.1)
    rig, after = read_now(armature)
    for turns in TURNS:
        assert_linkage(rig, after, turns)
    same = np.allclose(before.to_pose, after.to_pose) and np.allclose(
        before.joints(np.zeros((1, 3))), after.joints(np.zeros((1, 3)))
    )
    assert same == ignored


@pytest.mark.parametrize("bone", NAMES)
def test_bones_with_a_scale_of_their_own(bone):
    for scale in ((1.4,) * 3, (0.6,) * 3, (-1.0,) * 3, (-1.3, 1.3, -1.3), (1.3, 1.3, -1.3)):
        armature = add_arm(11)
        armature.pose.bones[bone].scale = scale
        rig, linkage = read_now(armature)
        for turns in TURNS:
            assert_linkage(rig, linkage, turns, joints_too=False)
            places = rig.plane.project(in_rest(turn(rig, turns), linkage.to_pose[0]))
            assert linkage.joints(np.atleast_2d(turns))[0] == pytest.approx(places, abs=1e-5)


def test_a_bone_that_is_held_keeps_its_own_rotation():
    armature = add_arm(13)
    held = armature.pose.bones["b"]
    held.lock_rotations_4d = held.lock_rotation_w = True
    held.lock_rotation = (True, True, True)
    axis = held.bone.matrix_local.to_3x3().inverted() @ Vector((1, 0, 0))
    held.rotation_mode = 'AXIS_ANGLE'
    held.rotation_axis_angle = (0.9, *axis)
    rig, linkage = read_now(armature)
    assert rig.joints.fixed.tolist() == [False, True, False]
    for first, _, last in TURNS:
        places = in_rest(turn(rig, (first, 0.0, last)), linkage.to_pose[0])
        found = linkage.joints(np.array([[first, 0.0, last]]))[0]
        assert found == pytest.approx(rig.plane.project(places), abs=CLOSE)


# --- Over frames ----------------------------------------------------------------------------------


def finished(steps):
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            return stop.value


@pytest.mark.parametrize("mode", ['FULL', 'ALIGNED'])
def test_each_frame_is_held_as_it_is_then(mode):
    armature = add_arm(15)
    armature.data.bones["b"].inherit_scale = mode
    base, middle = armature.pose.bones["base"], armature.pose.bones["b"]
    frames = [1, 3, 5]
    for frame in frames:
        base.rotation_quaternion = (1.0, 0.2 * frame, 0.1, 0.0)
        base.location.x = 0.1 * frame
        middle.location.y = 0.05 * frame
        middle.scale = (1.0 + 0.1 * frame,) * 3
        for bone, names in ((base, ("rotation_quaternion", "location")), (middle, ("location", "scale"))):
            for name in names:
                bone.keyframe_insert(name, frame=frame)
    rig = read_chain(armature, armature.ik2d.chains[0])
    (samples,) = finished(sample_steps(bpy.context.scene, [rig], frames)).chains
    linkage = read_linkage(rig, samples)
    turns = np.array(TURNS)
    tips, joints = linkage.tips(turns), linkage.joints(turns)
    lengths, headings = linkage.unturned()
    assert lengths.shape == headings.shape == (3, 3)
    assert np.ptp(lengths[:, 1]) > 0.05
    for i, frame in enumerate(frames):
        bpy.context.scene.frame_set(frame)
        places = in_rest(turn(rig, turns[i]), linkage.to_pose[i])
        flat = rig.plane.project(places)
        assert tips[i] == pytest.approx(flat[-1], abs=CLOSE)
        assert joints[i] == pytest.approx(flat, abs=5e-5)
        rotations = [np.array(bone.matrix_basis.to_quaternion().to_matrix())[None] for bone in rig.pose_bones]
        in_space = linkage.tips_in_space(turning(rotations), 1, slice(i, i + 1))[0]
        assert in_space == pytest.approx(places[-1], abs=5e-5)


@pytest.mark.parametrize("above", [True, False])
@pytest.mark.parametrize("inherit", ('FULL', 'NONE'))
@pytest.mark.parametrize("local", [True, False])
def test_what_holds_a_root_that_keeps_still_is_told_of_all_frames(local, inherit, above):
    armature = add_arm(8, above=above)
    armature.data.bones["a"].use_local_location = local
    armature.data.bones["a"].inherit_scale = inherit
    armature.pose.bones["a"].location = (0.1, 0.2, 0.3)
    rig = read_chain(armature, armature.ik2d.chains[0])
    (samples,) = finished(sample_steps(bpy.context.scene, [rig], [1, 2, 3])).chains
    linkage = read_linkage(rig, samples)
    assert linkage.to_pose.shape == (3, 4, 4)
    lengths, headings = linkage.unturned()
    assert lengths.shape == headings.shape == (3, 3)
    (alone,) = finished(sample_steps(bpy.context.scene, [rig], [1])).chains
    assert np.abs(linkage.to_pose - read_linkage(rig, alone).to_pose).max() < 1e-12


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("inherit", ('FULL', 'NONE'))
def test_a_linkage_that_is_known_is_that_of_other_frames_as_well(inherit, scaled):
    """What holds the chain may move; where bones change their size or follow in no simple way it is not."""
    armature = add_arm(6)
    armature.data.bones["b"].inherit_scale = inherit
    base, middle = armature.pose.bones["base"], armature.pose.bones["b"]
    for frame in (1, 5):
        base.location.x = 0.1 * frame
        base.keyframe_insert("location", frame=frame)
        middle.scale = (1.0 + 0.1 * frame * scaled,) * 3
        middle.keyframe_insert("scale", frame=frame)
    rig = read_chain(armature, armature.ik2d.chains[0])
    (samples,) = finished(sample_steps(bpy.context.scene, [rig], range(1, 6))).chains
    known = read_linkage(rig, samples.at(slice(0, 3))).lasting
    assert (known is None) == (scaled or inherit == 'NONE')
    there, anew = (read_linkage(rig, samples.at(slice(3, 5)), each) for each in (known, None))
    assert (there.to_pose == anew.to_pose).all() and np.ptp(there.to_pose, axis=0).any()
    turns = np.array(TURNS[:2])
    assert (there.tips_turned(turns) == anew.tips_turned(turns)).all()
    longer = samples.bases.copy()
    longer[:, 1, :3, :3] *= 1.5
    other = read_linkage(rig, replace(samples, bases=longer), known)
    assert np.abs(other.tips_turned(np.zeros((5, 3))) - anew.tips_turned(np.zeros((2, 3)))[0]).max() > 0.1


@pytest.mark.parametrize("inherit", ('NONE', 'ALIGNED'))
def test_bones_that_stretch_turn_as_blender_turns_them(inherit):
    armature, chain = stretching_arm(inherit, (0.8, 0.5, 0.7))
    rig = read_chain(armature, chain)
    samples = finished(sample_steps(bpy.context.scene, [rig], [1, 2, 3])).chains[0]
    factors = np.array([[1.0], [1.4], [0.6]]) * np.ones(3)
    bases = rig.stretching.scaled_bases(samples.bases, factors)
    linkage = read_linkage(rig, replace(samples, bases=bases))
    turns = np.random.default_rng(5).uniform(-1.0, 1.0, (3, 3))
    rotations = [rotations_about(axis, turns[:, i]) for i, axis in enumerate(rig.joints.axes)]
    tips = linkage.tips_in_space(turning(rotations), 3, slice(None))
    assert tips == pytest.approx(linkage.tips_turned(turns), abs=2e-6)
    lengths, _ = linkage.unturned()
    assert lengths == pytest.approx(factors * (0.8, 0.5, 0.7), abs=1e-5)


def test_scales_that_differ_by_the_noise_of_32_bits_are_one():
    rig, _ = read_now(add_arm(17))
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    noisy = np.repeat(samples.bases, 4, axis=0)
    noisy[:, :, :3, :3] *= 1.0 + 0.4 * SCALE_NOISE * np.array([1, -1, 0.5, 0])[:, None, None, None]
    parent = np.repeat(samples.parent, 4, axis=0)
    held = SimpleNamespace(parent=parent, bases=noisy, targets=np.zeros((4, 3)), carried=None, swings=None)
    assert all((link.own == np.eye(4)).all() for link in read_linkage(rig, held).links)
    noisy[:, :, :3, :3] *= 1.25
    lengths, _ = read_linkage(rig, held).unturned()
    assert np.ptp(lengths, axis=0).max() == 0.0
    noisy[2, 1, :3, :3] *= 1.0 + 3 * SCALE_NOISE
    lengths, _ = read_linkage(rig, held).unturned()
    assert np.ptp(lengths, axis=0).max() > 0.0


# --- Numbers alone --------------------------------------------------------------------------------


def links(lengths, holds=None, inherits=None):
    """Return a linkage of plain bones along x, each held by an angle to the one before."""
    count = len(lengths)
    holds, inherits = holds or [0.0] * count, inherits or [True] * count
    made = []
    for length, hold, inherit in zip(lengths, holds, inherits, strict=True):
        c, s = math.cos(hold), math.sin(hold)
        made.append(Link(inherit, np.array([[c, -s], [s, c]]), np.array([length, 0.0]), *[np.eye(4)] * 3))
    plane = Plane.facing([(0, 0, 0), (1, 0, 0)], (0, 0, 1))
    axes = np.tile((0.0, 0.0, 1.0), (count, 1))
    return Linkage(tuple(made), np.eye(4)[None], np.zeros(3), plane, axes, True, np.zeros(()))


def held(*which):
    """Return which joints have limits."""
    return np.array(which, np.bool_)


def test_unturned_gives_lengths_and_headings():
    lengths, headings = links([2.0, 1.0, 0.5], [0.3, -0.5, 1.0]).unturned()
    assert lengths == pytest.approx(np.array([[2.0, 1.0, 0.5]]))
    assert headings == pytest.approx(np.array([[0.3, -0.2, 0.8]]))


@pytest.mark.parametrize("length, expected", [(0.0, 0.3), (1e-10, 0.3), (1e-8, 0.8)])
def test_a_bone_without_length_goes_on_in_its_parents_direction(length, expected):
    _, headings = links([2.0, length, 1.0], [0.3, 0.5, 0.0]).unturned()
    assert headings[0] == pytest.approx((0.3, expected, 0.8))


def test_a_first_bone_without_length_heads_along_x():
    _, headings = links([0.0, 1.0], [0.3, 0.2]).unturned()
    assert headings[0] == pytest.approx((0.0, 0.5))


def test_local_turns_are_relative_to_the_parent_where_rotation_is_inherited():
    linkage = links([1.0] * 3, inherits=[True, True, False])
    headings = np.array([[0.1, 0.2, 0.4]])
    angles = np.array([[0.6, 0.5, -0.3]])  # headings of 0.6, 1.1 and 0.8
    assert linkage.local_turns(angles, headings, held(False, False, False)) == pytest.approx(
        np.array([[0.5, 0.4, 0.4]])
    )


def test_local_turns_put_the_bones_at_the_angles():
    linkage = links([1.0, 0.7, 0.5], [0.3, -0.4, 0.2], [True, False, True])
    _, headings = linkage.unturned()
    angles = np.array([[0.5, -1.2, 0.9]])
    joints = linkage.joints(linkage.local_turns(angles, headings, held(False, False, False)))[0]
    bones = np.diff(joints, axis=0)
    assert np.arctan2(bones[:, 1], bones[:, 0]) == pytest.approx(np.cumsum(angles[0]))


def test_local_turns_go_on_without_jumps_and_begin_within_half_a_turn():
    angles = np.column_stack((np.linspace(7.0, 27.0, 101), np.zeros(101)))
    wrapped = (angles + math.pi) % (2 * math.pi) - math.pi
    turns = links([1.0, 1.0]).local_turns(wrapped, np.zeros((101, 2)), held(False, False))
    assert np.diff(turns[:, 0]) == pytest.approx(0.2)
    assert turns[0, 0] == pytest.approx(7.0 - 2 * math.pi)
    turns = links([1.0, 1.0]).local_turns(angles + 5.0, np.zeros((101, 2)), held(False, False))
    assert turns[0, 0] == pytest.approx(12.0 - 4 * math.pi)
    assert np.abs(turns[0]).max() <= math.pi


def test_local_turns_begin_as_near_as_whole_turns_allow_to_what_they_join():
    angles = np.column_stack((np.linspace(0.5, 1.5, 11), np.full(11, 0.2)))
    linkage = links([1.0, 1.0])
    for near, begins in (((0.0, 0.0), (0.5, 0.2)), ((6.0, -7.0), (0.5 + 2 * math.pi, 0.2 - 2 * math.pi))):
        turns = linkage.local_turns(angles, np.zeros((11, 2)), held(False, False), np.array(near))
        assert turns[0] == pytest.approx(begins)
        assert np.diff(turns, axis=0) == pytest.approx(np.diff(angles, axis=0))
    for off, whole in ((math.pi - 0.01, 0.0), (math.pi + 0.01, 2 * math.pi)):
        turns = linkage.local_turns(angles, np.zeros((11, 2)), held(False, False), angles[0] + off)
        assert turns[0] == pytest.approx(angles[0] + whole)


def test_turns_of_joints_with_limits_are_the_solvers_own_numbers():
    """Not wound by whole turns, whatever they join; but those of bones that inherit no rotation go on."""
    angles = np.array([[4.0, -4.0], [4.5, -4.5]])
    headings = np.array([[0.5, 0.25], [0.5, 0.25]])
    own = angles - angles_before(headings)
    near = np.array([20.0, 20.0])
    found = links([1.0, 1.0]).local_turns(angles, headings, held(True, True), near)
    assert found == pytest.approx(own)
    found = links([1.0, 1.0]).local_turns(angles, headings, held(False, True), near)
    assert found[:, 1] == pytest.approx(own[:, 1])
    assert found[:, 0] == pytest.approx(own[:, 0] + 2 * math.pi * round((20.0 - own[0, 0]) / (2 * math.pi)))
    alone = links([1.0, 1.0], inherits=[True, False])
    found = alone.local_turns(angles, headings, held(True, True), near)
    assert found[:, 0] == pytest.approx(own[:, 0])
    turned = angles.sum(axis=1) - headings[:, 1]
    assert found[:, 1] == pytest.approx(turned + 2 * math.pi * round((20.0 - turned[0]) / (2 * math.pi)))


@pytest.mark.parametrize("inherits", [(True, True, True), (True, False, True), (False, True, False)])
def test_angles_of_turns_are_those_that_local_turns_came_from(inherits):
    linkage = links([1.0, 0.7, 0.5], [0.3, -0.4, 0.2], list(inherits))
    _, headings = linkage.unturned()
    turns = np.array([[0.5, -1.2, 0.9]])
    angles = linkage.angles_of(turns, headings)
    assert linkage.local_turns(angles, headings, held(False, False, False)) == pytest.approx(turns)
    bones = np.diff(linkage.joints(turns)[0], axis=0)
    turned = np.exp(1j * np.cumsum(angles[0]))
    assert (bones @ (1, 1j)) / np.linalg.norm(bones, axis=1) == pytest.approx(turned)


def test_angles_before_any_turn_are_the_smallest_and_go_on_from_frame_to_frame():
    headings = np.array([[0.3, 3.0, -3.0, -3.0]])
    assert angles_before(headings) == pytest.approx(np.array([[0.3, 2.7, 2 * math.pi - 6.0, 0.0]]))
    swing = np.array([[0.0, 3.0], [0.0, 3.3 - 2 * math.pi], [0.0, 3.6 - 2 * math.pi]])
    assert angles_before(swing) == pytest.approx(np.array([[0.0, 3.0], [0.0, 3.3], [0.0, 3.6]]))


# --- Off the plane --------------------------------------------------------------------------------


def rest_tip(rig):
    return np.array(rest_joints(rig.pose_bones)[-1])


def test_heights_are_the_tips_over_the_plane_and_no_turn_changes_them():
    armature = add_armature(
        {"a": ((1, 0, 0), (1.5, 1, 0), "", 0.0), "b": ((1.5, 1, 0), (0.75, 2, 0), "a", 0.0)}
    )
    add_chain(armature, "b", add_target({}), plane='X')
    rig, linkage = read_now(armature)
    assert linkage.planar
    assert linkage.heights == pytest.approx(-0.25, abs=1e-6)
    assert linkage.tips_turned(np.zeros((1, 2)))[0] == pytest.approx(rest_tip(rig), abs=CLOSE)
    for turns in ((0.4, -1.3), (2.0, 0.7)):
        places = in_rest(turn(rig, turns), linkage.to_pose[0])
        assert linkage.tips_turned(np.array([turns]))[0] == pytest.approx(places[-1], abs=CLOSE)


def test_a_hinge_askew_takes_the_tip_off_the_plane_and_it_is_seen_along_the_normal():
    armature = add_armature(
        {"a": ((0, 0, 0), (0, 1, 0), "", 0.0), "b": ((0, 1, 0), (0, 2, 0.4), "a", math.radians(8))}
    )
    bone = armature.pose.bones["b"]
    bone.rotation_mode = 'XYZ'
    bone.lock_rotation = (False, True, True)
    add_chain(armature, "b", add_target({}), plane='X')
    rig, linkage = read_now(armature)
    assert not linkage.planar and rig.joints.askew
    for turns in ((0.0, 0.0), (0.4, -1.3), (2.0, 0.7)):
        places = in_rest(turn(rig, turns), linkage.to_pose[0])
        assert linkage.tips_turned(np.array([turns]))[0] == pytest.approx(places[-1], abs=CLOSE)
        assert linkage.tips(np.array([turns]))[0] == pytest.approx(rig.plane.project(places[-1]), abs=CLOSE)
    assert abs(places[-1] @ rig.plane.normal) > 1e-3


def test_blenders_own_word_is_taken_where_links_are_not_exact():
    armature = add_arm(7)
    armature.data.bones["b"].inherit_scale = 'AVERAGE'
    rig, linkage = read_now(armature)
    places = in_rest(turn(rig, TURNS[1]), linkage.to_pose[0])
    assert linkage.tips_turned(np.array([TURNS[1]]))[0] == pytest.approx(places[-1], abs=CLOSE)
