# SPDX-License-Identifier: GPL-3.0-or-later
"""Posts above native chains: Blender's drivers turn them to where a bake would."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Quaternion
from native_rigs import contents
from post_rigs import FRAMES, robot_arm, turret
from rigs import errors_on
from snapshots import differences, everything
from swing_rigs import MODES

from ik2d_addon.features.native import is_native, make_native, remove_native
from ik2d_addon.rig.animation.bone_channels import ROTATIONS
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.native_state import constraints_of
from ik2d_addon.rig.pose.posts import chain_of_post, post_space, solved_post
from ik2d_addon.rig.pose.target_plane import sampled_path

# Of the reach; drivers have 32 bits.
EXACT = 2e-5


@pytest.fixture(autouse=True)
def frames():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]


def solved(made, chain, frames=FRAMES):
    """Return a post's angles as a bake solves them, and its axes (frames, 3, 3) turned by them."""
    scene, rig = bpy.context.scene, read_chain(made.armature, chain)
    samples, times = sampled_path(scene, rig, frames[0], frames[-1])
    own, _ = sampled_path(scene, chain_of_post(rig), frames[0], frames[-1])
    angles = solved_post(rig, samples, post_space(scene, rig, own, times)).angles
    return angles, turned_to(made, angles, frames)


def turned_to(made, angles, frames=FRAMES):
    """Return the axes (frames, 3, 3) of a post that Blender shows at angles of its channels."""
    kept = [list(getattr(made.post, name)) for name in ROTATIONS]
    found = []
    for frame, angle in zip(frames, angles, strict=True):
        made.turn_post(float(angle))
        found.append(shown(made.armature, "post", [frame])[0])
    for name, values in zip(ROTATIONS, kept, strict=True):
        setattr(made.post, name, values)
    return np.array(found)


def shown(armature, bone, frames=FRAMES):
    """Return the axes (frames, 3, 3) that Blender shows of a bone, in pose space, without its scale."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        pose = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose
        found.append(np.array(pose.bones[bone].matrix.to_3x3().normalized()))
    return np.array(found)


@pytest.mark.parametrize("seed", range(30))
def test_turrets_are_on_their_targets(seed):
    made = turret(seed, still=True)
    native = make_native(made.armature, made.add_chain())
    assert made.miss(*FRAMES) < EXACT
    assert native.warnings == () and native.constraints[0][0] == "post"
    curves = [*made.armature.animation_data.drivers, *native.controls.animation_data.drivers]
    assert all(curve.driver.is_simple_expression and curve.driver.is_valid for curve in curves)


@pytest.mark.parametrize("mode", MODES)
def test_each_rotation_mode_turns_the_post_alike_and_keeps_its_channels(mode):
    made = turret(33, mode=mode, still=True)
    made.turn_post(0.4)
    chain, post = made.add_chain(), made.post
    before = [tuple(getattr(post, name)) for name in ("rotation_quaternion", "rotation_euler", "location")]
    _, wanted = solved(made, chain)
    make_native(made.armature, chain)
    assert made.miss(*FRAMES) < EXACT
    assert np.abs(shown(made.armature, "post") - wanted).max() < 2e-5
    after = [tuple(getattr(post, name)) for name in ("rotation_quaternion", "rotation_euler", "location")]
    assert after == before and not made.armature.animation_data.drivers.find(
        post.path_from_id("rotation_euler")
    )


def test_a_robot_arm_reaches_all_round_its_table():
    armature, chain = robot_arm()
    make_native(armature, chain)
    assert errors_on(FRAMES, armature, chain).max() < 2.1 * 4e-6


def test_a_first_bone_that_only_turns_is_the_post():
    armature, chain = robot_arm()
    chain.bone_count = 3
    native = make_native(armature, chain)
    assert [bone for bone, _ in native.constraints] == ["base", "upper", "lower"]
    assert errors_on(FRAMES, armature, chain).max() < 2.1 * 4e-6


@pytest.mark.parametrize("seed", [1, 6, 14])
def test_the_other_side_turns_the_post_half_round(seed):
    made = turret(seed, still=True)
    chain = made.add_chain()
    chain.post_side = 'NEGATIVE'
    _, wanted = solved(made, chain)
    make_native(made.armature, chain)
    assert np.abs(shown(made.armature, "post") - wanted).max() < 2e-5


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("limits", [(-0.5, 1.0), (1.5, 4.5), (-9.0, -7.0), (-4.0, 4.0)])
@pytest.mark.parametrize("seed", [0, 4, 16, 22])
def test_limits_stop_the_post_as_in_a_bake(seed, limits, over):
    made = turret(seed, rate=0.6, still=True)
    chain = made.add_chain()
    chain.use_post_limit, chain.post_reach_over = True, over
    chain.post_limit_min, chain.post_limit_max = limits
    angles, wanted = solved(made, chain)
    make_native(made.armature, chain)
    off = np.abs(shown(made.armature, "post") - wanted).max(axis=(1, 2))
    at_ends = np.abs(np.abs(angles - np.mean(limits)) - np.pi) < 1e-4  # half round either way
    assert off[~at_ends].max() < 2e-5
    assert made.post.constraints[0].type == 'LIMIT_ROTATION'


def test_a_post_at_a_limit_is_told_and_the_tip_follows_within_the_plane():
    armature, chain = robot_arm()
    chain.use_post_limit, chain.post_limit_max = True, radians(20.0)
    (warning,) = make_native(armature, chain).warnings
    assert warning.startswith("Chain 'arm': its target is up to") and "off the chain's plane" in warning


def test_a_target_on_the_axis_leaves_the_post_as_at_rest():
    armature, chain = robot_arm({1: (0.0, 0.0, 1.6)})
    make_native(armature, chain)
    rest = np.array(armature.data.bones["base"].matrix_local.to_3x3())
    assert np.abs(shown(armature, "base", [1])[0] - rest).max() < 0.01
    assert errors_on([1], armature, chain).max() < 1e-5


@pytest.mark.parametrize("mode", ['XYZ', 'ZYX', 'QUATERNION'])
def test_influence_blends_the_post_the_shorter_way_and_solves_in_the_full_plane(mode):
    made = turret(33, mode=mode, still=True)
    chain, post = made.add_chain(), made.post
    made.turn_post(0.3)
    angles, _ = solved(made, chain)
    native = make_native(made.armature, chain)
    full = [shown(made.armature, name) for name in made.bones]
    native.controls["influence"] = 0.5
    native.controls.update_tag()
    bpy.context.view_layer.update()
    half = shown(made.armature, "post")
    way = (angles - 0.3 + np.pi) % (2.0 * np.pi) - np.pi
    native.controls["influence"] = 0.0
    native.controls.update_tag()
    assert np.abs(turned_to(made, 0.3 + 0.5 * way) - half).max() < 2e-5
    native.controls["influence"] = 1.0
    native.controls.update_tag()
    bpy.context.view_layer.update()
    again = [shown(made.armature, name) for name in made.bones]
    assert np.array_equal(again, full) and post.rotation_mode == mode


def test_influence_blends_the_joints_as_they_are_in_the_full_plane():
    made = turret(33, still=True)
    chain = made.add_chain()
    native = make_native(made.armature, chain)
    names = [made.armature.pose.bones[made.bones[0]].parent.name, *made.bones]
    joints = []
    for value in (0.0, 0.5, 1.0):
        native.controls["influence"] = value
        native.controls.update_tag()
        axes = [shown(made.armature, name) for name in names]
        pairs = zip(axes, axes[1:], strict=False)
        joints.append([above.swapaxes(1, 2) @ bone for above, bone in pairs])
    for own, half, full in zip(*joints, strict=True):
        for at in range(len(FRAMES)):
            ends = (Matrix(axes.tolist()).to_quaternion() for axes in (own[at], full[at]))
            middle = np.array(next(ends).slerp(next(ends), 0.5).to_matrix())
            assert np.abs(middle - half[at]).max() < 2e-4


def test_an_unevenly_scaled_or_mirrored_armature_is_right_too():
    armature, chain = robot_arm()
    for scale in ((1.0, 1.6, 0.7), (-1.0, 1.0, 1.0)):
        armature.scale = scale
        bpy.context.view_layer.update()
        make_native(armature, chain)
        assert errors_on(FRAMES, armature, chain).max() < 2e-5
        remove_native(armature, chain)


def test_a_hand_is_turned_as_its_target():
    armature, chain = robot_arm()
    bpy.ops.object.mode_set(mode='EDIT')
    hand = armature.data.edit_bones.new("hand")
    hand.head, hand.tail, hand.parent = (0.9, 0, 1.0), (1.1, 0, 1.0), armature.data.edit_bones["lower"]
    bpy.ops.object.mode_set(mode='OBJECT')
    armature.pose.bones["base"].scale = (1.5, 1.5, 1.5)
    chain.hand_rotation, chain.target.rotation_euler = 'TARGET', (0.3, 0.7, -0.2)
    bpy.context.view_layer.update()
    rig = read_chain(armature, chain)
    make_native(armature, chain)
    turned = np.array(Euler((0.3, 0.7, -0.2)).to_matrix()) @ np.array(rig.hands.offset)
    rest = np.array(armature.data.bones["hand"].matrix_local.to_3x3())
    assert np.abs(shown(armature, "hand") - turned @ rest).max() < 1e-5
    bpy.context.scene.frame_set(1)
    graph = bpy.context.evaluated_depsgraph_get()
    size = armature.evaluated_get(graph).pose.bones["hand"].matrix.to_scale()
    assert np.allclose(size, 1.5, atol=1e-5)


@pytest.mark.parametrize("seed", [0, 5, 16])
def test_removing_leaves_nothing(seed):
    made = turret(seed, still=True)
    chain = made.add_chain()
    made.turn_post(0.7)
    made.post.keyframe_insert("scale", frame=3)
    bpy.context.scene.frame_set(1)
    contents(made.armature)
    before = everything(), contents(made.armature)
    make_native(made.armature, chain)
    made.miss(1, 12)
    remove_native(made.armature, chain)
    bpy.context.scene.frame_set(1)
    assert differences(before, (everything(), contents(made.armature))) == [] and not is_native(chain)


def test_removing_after_its_controls_were_deleted_leaves_the_post_without_a_constraint():
    armature, chain = robot_arm()
    make_native(armature, chain)
    bpy.data.objects.remove(chain.native_stand)
    remove_native(armature, chain)
    assert not any(len(bone.constraints) for bone in armature.pose.bones)


def test_a_chain_that_names_the_same_controls_leaves_the_post_to_its_own():
    armature, chain = robot_arm()
    make_native(armature, chain)
    other = armature.ik2d.chains.add()
    other.name, other.native_stand, other.native_constraint = "other", chain.native_stand, "IK 2D arm"
    assert [bone.name for bone, _ in constraints_of(chain)] == ["base", "upper", "lower"]
    remove_native(armature, chain)
    assert not any(len(bone.constraints) for bone in armature.pose.bones)


def test_the_file_has_nothing_of_python():
    armature, chain = robot_arm()
    chain.use_post_limit, chain.post_reach_over = True, True
    chain.post_limit_min, chain.post_limit_max = -1.0, 1.0
    native = make_native(armature, chain)
    for owner in (armature, native.controls, *native.controls.children_recursive):
        for curve in owner.animation_data.drivers if owner.animation_data else ():
            driver = curve.driver
            assert driver.is_simple_expression and len(driver.expression) <= 255


def test_a_quaternion_that_also_tilts_the_post_keeps_its_tilt():
    armature, chain = robot_arm(locked=False)
    chain.post_axis = 'Y'
    base = armature.pose.bones["base"]
    base.rotation_mode = 'QUATERNION'
    base.rotation_quaternion = Quaternion((0, 0, 1), 0.2) @ Quaternion((0, 1, 0), 1.0)
    bpy.context.view_layer.update()
    make_native(armature, chain)
    up = np.array(armature.data.bones["base"].matrix_local.to_3x3() @ Matrix.Rotation(0.2, 3, 'Z'))[:, 1]
    assert np.abs(shown(armature, "base")[:, :, 1] - up).max() < 1e-5
    assert errors_on(FRAMES, armature, chain).max() < 2e-5
