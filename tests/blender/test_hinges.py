# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that locked channels make hinges turn about their own axes; what that costs is told."""

from math import acos, degrees, radians

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from rigs import add_armature, add_chain, add_target, animation_of, but_jumps, evaluated_tip

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.core import IK2DError, Status
from ik2d_addon.rig.chain.chain import read_chain

MODES = ['XYZ', 'ZYX', 'QUATERNION', 'AXIS_ANGLE']
FRAMES = 12


def lock_all_but(bone, axis, mode='XYZ'):
    """Make a bone a hinge about its own X, Y or Z, as rigs do."""
    bone.rotation_mode = mode
    bone.lock_rotation = [letter != axis for letter in 'XYZ']
    bone.lock_rotations_4d = mode == 'QUATERNION'  # as Blender has it; of an axis it would lock the parts


def leg_of_hinges(rolls, mode='XYZ', bend=0.3, hinges=True):
    """Return a leg in the plane x = 0 that bends about its bones' X; each is rolled out of it by an angle."""
    bones, place, parent = {}, Vector((0, 0, 3)), ""
    for i, _roll in enumerate(rolls):
        end = place + Vector((0, bend * (-1) ** (i + 1) / 2, -1))
        bones[f"b{i}"] = (tuple(place), tuple(end), parent, 0.0)
        parent, place = f"b{i}", end
    armature = add_armature(bones)
    bpy.ops.object.mode_set(mode='EDIT')
    for i, roll in enumerate(rolls):
        bone = armature.data.edit_bones[f"b{i}"]
        bone.align_roll(bone.vector.cross((1, 0, 0)))  # X along the world's X
        bone.roll += roll
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in armature.pose.bones:
        if hinges:
            lock_all_but(bone, 'X', mode)
        else:
            bone.rotation_mode = mode
    return armature


def targets_within(armature, tip, reach, seed=1, part=(0.3, 0.9)):
    """Return a target that jumps about in the plane x = 0 within parts of the reach around the first bone."""
    random = np.random.default_rng(seed)
    root = armature.data.bones[0].head_local
    keys = {}
    for frame in range(1, FRAMES + 1):
        radius, angle = reach * random.uniform(*part), random.uniform(0, 2 * np.pi)
        keys[frame] = root + radius * Vector((0, np.cos(angle), np.sin(angle)))
    return add_target(keys)


def baked(armature, tip, count, target, **settings):
    """Bake; return the report and the evaluated distances on all frames."""
    chain = add_chain(armature, tip, target, bone_count=count, **settings)
    report = bake(armature, frame_start=1, frame_end=FRAMES, options=BakeOptions(verify='ALL'))
    measured = []
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        measured.append((evaluated_tip(armature, tip) - target.matrix_world.translation).length)
    return chain, report, np.array(measured)


def own_rotation(bone):
    """Return a bone's own evaluated rotation."""
    evaluated = bone.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[bone.name]
    return evaluated.matrix_basis.to_quaternion()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("roll", [0.0, 0.1, 1.0, 5.0, 10.0])
def test_a_rolled_hinge_turns_about_its_own_axis_and_nothing_else(mode, roll):
    armature = leg_of_hinges([0.0, radians(roll), 0.0], mode)
    armature.pose.bones["b0"].lock_rotation = armature.pose.bones["b2"].lock_rotation = (False,) * 3
    target = targets_within(armature, "b2", 3.0)
    _chain, report, measured = baked(armature, "b2", 3, target)
    chain = report.chains[0]
    assert (chain.status == Status.REACHED).mean() > 0.9
    assert chain.residual[chain.status == Status.REACHED].max() <= 2e-6 * chain.standard.reach
    assert np.abs(measured - np.hypot(chain.residual, chain.off_plane)).max() <= 1e-5 * chain.standard.reach
    turned = 0.0
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        rotation = own_rotation(armature.pose.bones["b1"])
        assert abs(rotation.y) + abs(rotation.z) < 1e-6
        turned = max(turned, rotation.angle)
    assert turned > 0.5
    keyed = {index for path, index in animation_of(armature) if '"b1"' in path}
    # An axis is no axis without all of its parts.
    assert keyed == ({0, 1} if mode == 'QUATERNION' else {0, 1, 2, 3} if mode == 'AXIS_ANGLE' else {0})


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3, 5])
def test_what_slanted_hinges_cost_is_told_as_measured(count):
    """Each frame: in the plane the tip is on its target, and the distance off it is what Blender shows."""
    random = np.random.default_rng(count)
    for seed in range(6):
        armature = leg_of_hinges(np.radians(random.uniform(-14, 14, count)))
        armature.pose.bones["b0"].lock_rotation = (False,) * 3  # else the plane is the hinges' own
        target = targets_within(armature, f"b{count - 1}", count, seed, (0.3, 0.8))
        _chain, report, measured = baked(armature, f"b{count - 1}", count, target)
        chain = report.chains[0]
        told = np.hypot(chain.residual, chain.off_plane)
        assert np.abs(measured - told).max() <= 1e-5 * chain.standard.reach
        assert chain.residual[chain.status == Status.REACHED].max() <= 2e-6 * chain.standard.reach
        assert (chain.status == Status.REACHED).mean() > 0.7
        assert chain.off_plane.max() > 1e-4 * chain.standard.reach
        if chain.off_plane.max() > 0.01 * chain.standard.reach:
            assert [
                w for w in report.warnings if "turn about an axis" in w and "degrees off the plane's" in w
            ]


@pytest.mark.parametrize("mode", MODES)
def test_a_chain_of_hinges_that_agree_turns_in_their_plane(mode):
    """All rolled by the same seven degrees: no plane but theirs is one that they can keep."""
    armature = leg_of_hinges([0.0, 0.0, 0.0], mode)
    turn = Quaternion((0, 0, 1), radians(7))  # the hinges' axis, away from the rest pose's normal
    axis = turn @ Vector((1, 0, 0))
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in armature.data.edit_bones:
        bone.align_roll(axis.cross(bone.vector))
    bpy.ops.object.mode_set(mode='OBJECT')
    target = targets_within(armature, "b2", 3.0)
    chain, report, measured = baked(armature, "b2", 3, target)
    rig = read_chain(armature, chain)
    assert degrees(acos(min(1.0, abs(Vector(rig.plane.normal) @ axis)))) < 1.5
    assert (report.chains[0].status == Status.REACHED).all()
    assert np.abs(measured - report.chains[0].distance).max() <= 1e-5 * report.chains[0].standard.reach


def test_a_straight_chain_takes_the_plane_of_its_hinge():
    armature = leg_of_hinges([0.6, 0.6], bend=0.0)
    armature.pose.bones["b0"].lock_rotation = (False,) * 3
    hinge = armature.data.bones["b1"].matrix_local.col[0].xyz
    root = armature.data.bones["b0"].head_local
    side = hinge.cross((0, 0, -1)).normalized()
    target = add_target({1: root + 1.2 * side - Vector((0, 0, 1)), FRAMES: root - 1.5 * side})
    chain, report, measured = baked(armature, "b1", 2, target)
    assert abs(Vector(read_chain(armature, chain).plane.normal) @ hinge) > 1 - 1e-6
    assert report.all_reached and measured.max() <= 1e-5 * report.chains[0].standard.reach


@pytest.mark.parametrize("bend", [0.3, -0.3])
@pytest.mark.parametrize("flipped", [False, True])
def test_the_rest_poses_own_bend_is_positive_in_the_hinges_plane(bend, flipped):
    armature = leg_of_hinges([radians(180 * flipped)] * 2, bend=bend)
    chain = add_chain(armature, "b1", add_target({1: (0, 0, 1.5)}))
    plane = read_chain(armature, chain).plane
    joints = plane.project([bone.head_local for bone in armature.data.bones] + [Vector((0, 0, 1))])
    first, second = joints[1] - joints[0], joints[2] - joints[1]
    assert first[0] * second[1] - first[1] * second[0] > 0.0


def test_the_plane_of_the_hinges_can_be_chosen_and_is_refused_without_any():
    armature = leg_of_hinges([0.0, radians(10)])
    armature.pose.bones["b0"].lock_rotation = (False,) * 3
    chain = add_chain(armature, "b1", add_target({1: (0, 0, 1.5)}), plane='HINGES')
    hinge = armature.data.bones["b1"].matrix_local.col[0].xyz
    assert abs(Vector(read_chain(armature, chain).plane.normal) @ hinge) > 1 - 1e-9
    armature.pose.bones["b1"].lock_rotation = (False,) * 3
    with pytest.raises(IK2DError, match="no joint .* one axis.*set Bends In to another plane"):
        read_chain(armature, chain)


@pytest.mark.slow
@pytest.mark.parametrize("roll", [20.0, 45.0, 90.0])
def test_a_joint_that_locks_hold_is_named(roll):
    armature = leg_of_hinges([0.0, radians(roll), 0.0, 0.0])
    for bone in armature.pose.bones:
        bone.lock_rotation = {"b1": (False, True, True), "b3": (True,) * 3}.get(bone.name, (False,) * 3)
    target = targets_within(armature, "b3", 3.0, part=(0.6, 0.8))
    _chain, report, measured = baked(armature, "b3", 4, target)
    assert [w for w in report.warnings if "locks hold 'b3', so it does not turn" in w]
    told = (
        f"locks leave 'b1' only 'X', {roll:.0f} degrees off the normal of the chain's plane, so it does not"
    )
    assert [w for w in report.warnings if told in w]
    assert np.abs(measured - report.chains[0].distance).max() <= 1e-5 * report.chains[0].standard.reach
    assert not [path for path, _ in animation_of(armature) if '"b1"' in path or '"b3"' in path]


def test_a_joint_that_locks_leave_only_its_own_twist_is_told_apart():
    armature = leg_of_hinges([0.0, 0.0, 0.0])
    for bone in armature.pose.bones:
        bone.lock_rotation = {"b0": (True, False, True)}.get(bone.name, (False,) * 3)
    target = targets_within(armature, "b2", 3.0, part=(0.6, 0.8))
    _chain, report, measured = baked(armature, "b2", 3, target)
    assert [
        w for w in report.warnings if "locks leave 'b0' only the Y axis along it, about which it twi" in w
    ]
    assert not [w for w in report.warnings if "locks hold" in w]
    assert np.abs(measured - report.chains[0].distance).max() <= 1e-5 * report.chains[0].standard.reach


def test_locks_that_leave_what_is_needed_are_not_mentioned():
    armature = leg_of_hinges([0.0, 0.0])
    _chain, report, _ = baked(armature, "b1", 2, targets_within(armature, "b1", 2.0))
    assert report.all_reached and not but_jumps(report.warnings)


def test_a_hinge_whose_locked_channel_is_posed_is_held():
    armature = leg_of_hinges([0.0, 0.0, 0.0])
    armature.pose.bones["b1"].rotation_euler.z = 0.4
    target = targets_within(armature, "b2", 3.0, part=(0.7, 0.8))
    _chain, report, measured = baked(armature, "b2", 3, target)
    assert [w for w in report.warnings if "locks hold 'b1', so it does not turn" in w]
    assert np.abs(measured - report.chains[0].distance).max() <= 1e-5 * report.chains[0].standard.reach


def test_an_axis_that_is_locked_as_a_channel_stays_where_it_stands():
    """With four locks the axis' own parts are locked: (0, 1, 0), Blender's default, is no X."""
    armature = leg_of_hinges([0.0, 0.0], 'AXIS_ANGLE')
    for bone in armature.pose.bones:
        bone.lock_rotations_4d = bone.name == "b1"
    _chain, report, measured = baked(armature, "b1", 2, targets_within(armature, "b1", 2.0))
    assert [w for w in report.warnings if "locks hold 'b1'" in w]
    assert np.abs(measured - report.chains[0].distance).max() <= 1e-5 * report.chains[0].standard.reach


def test_hinges_hold_when_keys_are_reduced():
    armature = leg_of_hinges([0.0, radians(8), radians(-5)])
    armature.pose.bones["b0"].lock_rotation = (False,) * 3
    target = targets_within(armature, "b2", 3.0, part=(0.5, 0.8))
    add_chain(armature, "b2", target, bone_count=3)
    options = BakeOptions(verify='ALL', reduce=0.01)
    report = bake(armature, frame_start=1, frame_end=FRAMES, options=options).chains[0]
    assert report.played.worse_by <= 1e-5 * report.standard.reach
    assert {index for path, index in animation_of(armature) if '"b1"' in path} == {0}
