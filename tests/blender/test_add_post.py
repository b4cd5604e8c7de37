# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Chain proposes the post that locks show, names it, and leaves limbs without such locks as they were."""

import bpy
import numpy as np
import pytest
from faulty_posts import arm_on_a_plate, hang
from post_rigs import ARM_PATH, FRAMES, robot_arm
from rigs import add_target
from test_add_chain import select, select_bone
from test_bad_posts import worst

from ik2d_addon.bake import bake
from ik2d_addon.chains import add_chain, remove_chain
from ik2d_addon.features.setup import selection
from ik2d_addon.ui import preferences

FIRST, LAST = FRAMES[0], FRAMES[-1]


def bare_arm(make=robot_arm, **settings):
    """Return a robot arm without its chain, and its target."""
    armature, chain = make(**settings)
    target = chain.target
    armature.ik2d.chains.clear()
    return armature, target


def add(armature, *bones, target=None):
    """Select bones, the last one active, and a target, and press Add Chain."""
    if armature.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    others = [target] if target is not None else []
    select(*others, armature, tip=bones[-1])
    for name in bones:
        select_bone(armature, name)
    bpy.ops.ik2d.chain_add()
    return armature.ik2d.chains[-1]


@pytest.mark.parametrize("bones", [("base", "upper", "lower"), ("upper", "lower"), ("lower",)])
def test_a_robot_arm_turns_about_its_base(bones, capfd):
    armature, target = bare_arm()
    select(target, armature, tip=bones[-1])
    for name in bones:
        select_bone(armature, name)
    assert selection.plan_in_words(bpy.context) == "upper, lower to Target, on the post base"
    bpy.ops.ik2d.chain_add()
    (chain,) = armature.ik2d.chains
    assert (chain.tip, chain.bone_count, chain.target) == ("lower", 2, target)
    assert (chain.plane, chain.post, chain.post_axis) == ('POST', "base", 'Y')
    assert "which follows 'Target'; its plane turns about 'base'" in capfd.readouterr().out
    assert bake(armature, None, FIRST, LAST).all_reached and worst(armature, chain) < 2e-6


def test_what_it_adds_is_live_where_it_was_and_goes_with_remove():
    armature, _ = bare_arm()
    before = bases(armature)
    chain = add(armature, "base", "upper", "lower")
    assert chain.plane == 'POST' and chain.live
    assert chain.target.parent is None and not len(chain.target.constraints)
    bpy.context.view_layer.update()
    assert np.abs(bases(armature) - before).max() < 1e-5
    remove_chain(armature)
    bpy.context.view_layer.update()
    assert (bases(armature) == before).all()


def bases(armature):
    return np.array([bone.matrix_basis for bone in armature.pose.bones])


def test_ik_locks_alone_tell_it_and_the_plane_of_a_straight_arm():
    armature, target = bare_arm(locked=False)
    for name, free in (("base", 1), ("upper", 2), ("lower", 2)):
        for axis, letter in enumerate("xyz"):
            setattr(armature.pose.bones[name], f"lock_ik_{letter}", axis != free)
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    bones["upper"].tail, bones["lower"].tail = (1.0, 0, 0.3), (2.0, 0, 0.3)
    for name in ("upper", "lower"):
        bones[name].align_roll((0, 1, 0))
    bpy.ops.object.mode_set(mode='OBJECT')
    chain = add(armature, "upper", "lower", target=target)
    assert (chain.plane, chain.post, chain.post_axis) == ('POST', "base", 'Y')
    assert abs(chain.plane_normal[1]) == pytest.approx(1.0, abs=1e-6)
    assert bake(armature, None, FIRST, LAST).all_reached and worst(armature, chain) < 2e-6


@pytest.mark.parametrize("bones", [("base", "upper", "lower"), ("upper", "lower"), ("lower",)])
def test_without_locks_it_is_as_it_was(bones):
    armature, target = bare_arm(locked=False)
    chain = add(armature, *bones, target=target)
    assert chain.plane in ('AUTO', 'SWING') and not chain.post and chain.bone_count == max(2, len(bones))


def test_a_turntable_alone_is_a_chain_of_itself():
    armature, target = bare_arm()
    chain = add(armature, "base", target=target)
    assert (chain.tip, chain.bone_count) == ("base", 1)
    assert (chain.plane, chain.post, chain.post_axis) == ('POST', "base", 'Y')


@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_turntable_that_is_added_alone_has_its_new_target_off_its_axis(turn):
    """On the axis it would have no heading: there the table keeps its pose, and moved it turns."""
    armature, _ = bare_arm()
    base = armature.pose.bones["base"]
    base.rotation_mode = 'XYZ'
    base.rotation_euler.y = turn
    bpy.context.view_layer.update()
    before = np.array(base.matrix)
    chain = add(armature, "base")
    target, axis = chain.target, np.array(armature.matrix_world @ base.matrix)
    off = np.array(target.matrix_world.translation) - axis[:3, 3]
    along = axis[:3, 1] / np.linalg.norm(axis[:3, 1])
    assert np.linalg.norm(off - off @ along * along) > 0.5 * base.length
    assert chain.live and np.abs(np.array(base.matrix) - before).max() < 1e-5
    report = bake(armature, None, FIRST, FIRST)
    assert report.all_reached and not report.warnings
    assert np.abs(np.array(base.matrix) - before).max() < 1e-5


def test_a_turntable_on_a_cart_does_not_take_the_cart():
    armature, target = bare_arm()
    bpy.ops.object.mode_set(mode='EDIT')
    cart = armature.data.edit_bones.new("cart")
    cart.head, cart.tail = (0, 0, -0.5), (0, 0, 0)
    armature.data.edit_bones["base"].parent = cart
    bpy.ops.object.mode_set(mode='OBJECT')
    chain = add(armature, "base", target=target)
    assert (chain.tip, chain.bone_count, chain.post) == ("base", 1, "base")


def test_the_second_arm_on_a_turret_keeps_its_plane_and_is_told_why(capfd):
    armature, target = bare_arm(arm_on_a_plate)
    first = add(armature, "upper", "lower", target=target)
    assert first.post == "base"
    stick = armature.pose.bones["stick"]
    for axis, letter in enumerate("xyz"):
        stick.lock_rotation[axis] = axis != 0
        setattr(stick, f"lock_ik_{letter}", axis != 0)
    other = add_target({1: (0, 1.0, 1.0)}, "Other")
    capfd.readouterr()
    second = add(armature, "stick", target=other)
    assert second.plane != 'POST' and not second.post and second.bone_count == 1
    assert "; its plane stays, since the chain 'lower' turns 'base'" in capfd.readouterr().out


def test_a_target_on_the_turret_leaves_the_plane_as_it_is_and_is_told(capfd):
    armature, target = bare_arm()
    hang(target, armature, "base")
    bpy.context.view_layer.update()
    chain = add(armature, "base", "upper", "lower", target=target)
    assert chain.plane != 'POST' and not chain.post and chain.target == target
    assert "; its plane stays, since 'base' carries the target" in capfd.readouterr().out


def test_a_script_gets_the_same_and_a_longer_chain_keeps_its_post():
    armature, target = bare_arm()
    chain = add_chain(armature, "lower", 3, target)
    assert (chain.plane, chain.post, chain.bone_count) == ('POST', "base", 3)
    assert bake(armature, None, FIRST, LAST).all_reached and worst(armature, chain) < 2e-6
    chain.bone_count = 2
    assert (chain.plane, chain.post) == ('POST', "base")
    chain.post_axis = 'AUTO'  # by hand: other bones change it no more, nor the plane
    chain.bone_count = 1
    assert (chain.plane, chain.post, chain.post_axis) == ('POST', "base", 'AUTO')
    chain.plane = 'AUTO'
    chain.bone_count = 3
    assert chain.plane == 'AUTO'


@pytest.mark.parametrize("shoulder", [0.3, -1.2])
def test_a_posed_arm_keeps_its_pose_also_reaching_back_over_its_post(monkeypatch, shoulder):
    monkeypatch.setattr(preferences, "is_live_at_once", lambda: True)
    armature, _ = bare_arm(path=ARM_PATH)
    for name, axis, angle in (("base", 1, 0.7), ("upper", 2, shoulder), ("lower", 2, -0.4)):
        armature.pose.bones[name].rotation_mode = 'XYZ'
        armature.pose.bones[name].rotation_euler[axis] = angle
    bpy.context.view_layer.update()
    before = np.array(armature.pose.bones["lower"].matrix)
    chain = add(armature, "base", "upper", "lower")
    bpy.context.view_layer.update()
    assert (chain.plane, chain.post_side) == ('POST', 'POSITIVE' if shoulder > 0.0 else 'NEGATIVE')
    assert np.abs(np.array(armature.pose.bones["lower"].matrix) - before).max() < 1e-4
    bpy.ops.object.mode_set(mode='OBJECT')
    bake(armature, None, 1, 2)
    bpy.context.scene.frame_set(2)
    assert np.abs(np.array(armature.pose.bones["lower"].matrix) - before).max() < 1e-4
