# SPDX-License-Identifier: GPL-3.0-or-later
"""Buttons around kept motion: show it, clear snapped keys, turn Live on, restore what one Adopt took."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_leg, add_target, evaluated_tip, every_bit_of_animation

from ik2d_addon.bake import bake, clear
from ik2d_addon.chains import add_chain, adopt, clear_snaps, show_before, snap_fk, target_to_tip
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = range(1, 41)


def hand_keyed_leg():
    """Return a leg with keys made by hand on its bones and on its target, and its chain."""
    armature = add_leg()
    for frame, thigh, shin in ((1, -0.4, 0.6), (12, 0.3, 1.0), (27, -0.1, 0.3), (40, 0.4, 0.8)):
        for name, angle in (("thigh", thigh), ("shin", shin)):
            bone = armature.pose.bones[name]
            bone.rotation_mode = 'XYZ'
            bone.rotation_euler = (angle, 0.1 * angle, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    target = add_target({1: (0, -0.2, 0.4), 18: (0, 0.3, 0.5), 40: (0, 0.2, 0.3)})
    chain = add_chain(armature, "shin", 2, target=target)
    bpy.context.view_layer.objects.active = armature
    return armature, chain


def tips(armature):
    """Return where (frames, 3) Blender has the tip."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(evaluated_tip(armature, "shin"))
    return np.array(found)


def test_the_motion_before_is_shown_by_a_copy_and_the_baked_action_comes_back():
    armature, _ = hand_keyed_leg()
    before = tips(armature)
    bake(armature, frame_start=1, frame_end=40)
    baked, action = tips(armature), armature.animation_data.action
    assert np.abs(baked - before).max() > 0.1
    assert bpy.ops.ik2d.show_before() == {'FINISHED'}
    assert armature.animation_data.action != action and np.abs(tips(armature) - before).max() < 1e-6
    assert bpy.ops.ik2d.show_before() == {'FINISHED'}
    assert armature.animation_data.action == action and np.abs(tips(armature) - baked).max() == 0.0
    clear(armature)
    assert np.abs(tips(armature) - before).max() < 1e-6
    assert {one.name for one in bpy.data.actions} == {action.name, "TargetAction"}


def test_a_shown_copy_that_was_edited_stays_in_the_file():
    armature, _ = hand_keyed_leg()
    bake(armature, frame_start=1, frame_end=40)
    copy = show_before(armature)
    existing_fcurves(armature)[0].keyframe_points.insert(20, 2.0)
    show_before(armature)
    assert copy.name in bpy.data.actions and copy.use_fake_user


def test_without_replaced_keys_there_is_nothing_to_show():
    armature, _ = hand_keyed_leg()
    with pytest.raises(IK2DError, match="No bake has replaced keys in the action of"):
        show_before(armature)
    assert not bpy.ops.ik2d.show_before.poll()


@pytest.mark.parametrize("way", ["target", "bones", "to IK", "to FK"])
def test_snapped_keys_are_cleared_and_those_made_by_hand_come_back(way):
    armature, chain = hand_keyed_leg()
    things = (armature, chain.target)
    before = [every_bit_of_animation(thing) for thing in things]
    with pytest.raises(IK2DError, match="have no keys of a snap or a switch"):
        clear_snaps(armature)
    match, switch = (target_to_tip if way in ("target", "to IK") else snap_fk), way.startswith("to")
    match(armature, None, 8, 30, switch=switch)
    assert [every_bit_of_animation(thing) for thing in things] != before
    given = clear_snaps(armature, chain.name)
    assert given.removed and given.returned and not given.lost
    assert [every_bit_of_animation(thing) for thing in things] == before
    assert not bpy.ops.ik2d.clear_snaps.poll()


def test_live_comes_back_with_clear_bake_and_by_a_button():
    armature, chain = hand_keyed_leg()
    chain.live = True
    bake(armature, frame_start=1, frame_end=40)
    assert not chain.live and chain.was_live
    assert bpy.ops.ik2d.live_again() == {'FINISHED'}
    assert chain.live and not chain.was_live
    bake(armature, frame_start=1, frame_end=40)
    clear(armature, [chain.name], 1, 20)
    assert not chain.live  # some of its baked keys are left
    clear(armature)
    assert chain.live and not chain.was_live
    chain.live = False
    bake(armature, frame_start=1, frame_end=40)
    clear(armature)
    assert not chain.live


def two_legs_with_ik():
    """Return an armature of two legs, each with a target and an IK constraint."""
    bones = {}
    for side, x in (("L", 0.2), ("R", -0.2)):
        bones[f"thigh.{side}"] = ((x, 0, 1.0), (x, -0.1, 0.5), "", 0.0)
        bones[f"shin.{side}"] = ((x, -0.1, 0.5), (x, 0, 0), f"thigh.{side}", 0.0)
    armature = add_armature(bones)
    for side, x in (("L", 0.2), ("R", -0.2)):
        ik = armature.pose.bones[f"shin.{side}"].constraints.new('IK')
        ik.target, ik.chain_count = add_target({1: (x, -0.2, 0.2), 20: (x, 0.2, 0.3)}, f"Target.{side}"), 2
    bpy.context.view_layer.objects.active = armature
    return armature


def muted(armature):
    return [bone.constraints["IK"].mute for bone in armature.pose.bones if "IK" in bone.constraints]


def test_restore_gives_back_what_one_adopt_took():
    armature = two_legs_with_ik()
    adopt(armature)
    assert len(armature.ik2d.chains) == 2 and muted(armature) == [True, True]
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    assert not len(armature.ik2d.chains) and muted(armature) == [False, False]
    adopt(armature)
    assert bpy.ops.ik2d.release(this_only=True) == {'FINISHED'}
    assert len(armature.ik2d.chains) == 1 and sorted(muted(armature)) == [False, True]


def test_drivers_are_made_of_what_one_adopt_took_and_said_to_do_without_the_add_on_only_then(capfd):
    armature = two_legs_with_ik()
    adopt(armature)
    assert bpy.ops.ik2d.make_native(this_only=True) == {'FINISHED'}
    assert "still need IK 2D or a bake" in capfd.readouterr().out
    assert bpy.ops.ik2d.remove_native(this_only=True) == {'FINISHED'}
    assert bpy.ops.ik2d.make_native() == {'FINISHED'}
    assert "2 chains of 'Rig' are on drivers: the file plays without IK 2D" in capfd.readouterr().out
