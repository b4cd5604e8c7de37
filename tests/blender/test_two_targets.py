# SPDX-License-Identifier: GPL-3.0-or-later
"""Two targets in the interface: buttons, undo, and all that moves or keys a target looks through a blend."""

import bpy
import numpy as np
import pytest
from mathutils import Euler
from rigs import animation_of, every_bit_of_animation, override_from
from two_target_rigs import FRAMES, add_arm, add_empty, furthest, key_blend, place_of, shown

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.bake.motionless import may_move
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.results import bake_is_stale, store_bake
from ik2d_addon.features.drag.drag import Drag, chain_to_hold
from ik2d_addon.features.keying.key_target import key_target
from ik2d_addon.features.match.match import target_to_tip
from ik2d_addon.features.native import make_native
from ik2d_addon.features.overlay.target_path import find_path
from ik2d_addon.features.two_targets.blend import second_of
from ik2d_addon.features.two_targets.operators import chosen_node
from ik2d_addon.features.two_targets.second import add_second_target
from ik2d_addon.features.two_targets.switch import switch_parent
from ik2d_addon.rig.animation.versions import select_bone
from ik2d_addon.ui.context import active_armature, shown_chain


def select(*objects):
    """Select objects alone; the last one is active."""
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob in objects)
    bpy.context.view_layer.objects.active = objects[-1]


def blended(influence=0.0, **settings):
    """Return the arm's chain with a blend of two targets, and both."""
    chain, first, _, wheel = add_arm(**settings)
    second = add_empty("B", (0, 0.1, 0.1), (0.1, -0.4, 1.0), wheel)
    add_second_target(chain, (second, ""))
    second_of(chain).influence = influence
    bpy.context.view_layer.update()
    return chain, first, second


def frames_of(ob, path):
    """Return the frames of the keys on a property."""
    return sorted(
        {int(key[0]) for (name, _), keys in animation_of(ob).items() if name == path for key in keys}
    )


# --- Buttons -----------------------------------------------------------------


def test_the_selected_object_is_the_second_target_else_a_new_one(capfd):
    chain, first, *_ = add_arm()
    other = add_empty("B", (0.3, 0, 1))
    select(other, chain.id_data)
    assert bpy.ops.ik2d.second_target_add() == {'FINISHED'}
    assert second_of(chain).target == other and "can blend to 'B'" in capfd.readouterr().out
    assert bpy.ops.ik2d.second_target_remove() == {'FINISHED'}
    assert chain.target == first and "follows 'A' again" in capfd.readouterr().out
    select(chain.id_data)
    bpy.ops.ik2d.second_target_add()
    assert second_of(chain).target.name == "fore Second Target"
    assert bpy.context.selected_objects == [second_of(chain).target]
    assert chain.target.name == "fore Target Blend"


def test_in_pose_mode_the_selected_bone_is_meant():
    chain, *_ = add_arm()
    armature = chain.id_data
    select(armature)
    bpy.ops.object.mode_set(mode='POSE')
    for bone in armature.pose.bones:
        select_bone(bone, bone.name in ("chest", "fore"))
    armature.data.bones.active = armature.data.bones["fore"]
    assert chosen_node(bpy.context, chain) == (armature, "chest")
    assert bpy.ops.ik2d.switch_parent() == {'FINISHED'}
    space = chain.target.constraints[-1].target
    assert (space.parent, space.parent_bone, space.name) == (armature, "chest", "fore Target in chest")


def test_switch_parent_to_the_selected_one_the_world_and_a_named_one(capfd):
    chain, *_, wheel = add_arm()
    select(wheel, chain.id_data)
    bpy.context.scene.frame_set(20)
    assert bpy.ops.ik2d.switch_parent() == {'FINISHED'}
    assert "From frame 20 on the target of 'fore' goes with 'wheel'" in capfd.readouterr().out
    bpy.context.scene.frame_set(30)
    assert bpy.ops.ik2d.switch_parent(to_world=True) == {'FINISHED'}
    assert "goes with the world" in capfd.readouterr().out
    bpy.context.scene.frame_set(10)
    assert bpy.ops.ik2d.switch_parent(new_parent="hip") == {'FINISHED'}
    assert "From frame 10 to 20" in capfd.readouterr().out
    names = [each.name for each in chain.target.constraints[1:]]
    assert names == ["fore Target in wheel", "fore Target in World", "fore Target in hip"]
    with pytest.raises(RuntimeError, match="no object 'ship'"):
        bpy.ops.ik2d.switch_parent(new_parent="ship")
    select(chain.id_data)
    with pytest.raises(RuntimeError, match="Select the target's new parent too"):
        bpy.ops.ik2d.switch_parent()


def test_a_click_on_any_of_the_targets_shows_the_chain():
    chain, first, second = blended()
    for ob in (first, second, chain.target):
        select(ob)
        assert active_armature(bpy.context) == chain.id_data and shown_chain(bpy.context) == chain


def test_undo_takes_all_of_a_switch_back_at_once():
    chain, *_, wheel = add_arm()
    select(wheel, chain.id_data)
    bpy.ops.ed.undo_push(message="The arm")
    objects = {ob.name for ob in bpy.data.objects}
    bpy.ops.ik2d.switch_parent('EXEC_DEFAULT', True)
    assert {ob.name for ob in bpy.data.objects} != objects
    bpy.ops.ed.undo()
    assert {ob.name for ob in bpy.data.objects} == objects
    assert bpy.data.objects["Rig"].ik2d.chains[0].target.name == "A"


def test_without_a_target_and_on_drivers_they_say_why_not():
    chain, first, *_ = add_arm()
    chain.hand_rotation, chain.plane = 'NONE', 'AUTO'
    chain.target = None
    assert not bpy.ops.ik2d.second_target_add.poll() and not bpy.ops.ik2d.switch_parent.poll()
    assert not bpy.ops.ik2d.second_target_remove.poll()
    chain.target = first
    make_native(chain.id_data, chain)
    for operator in (bpy.ops.ik2d.second_target_add, bpy.ops.ik2d.switch_parent):
        with pytest.raises(RuntimeError, match="is on drivers"):
            operator()
    with pytest.raises(IK2DError, match="is on drivers"):
        add_second_target(chain)
    assert chain.target == first


def test_a_chain_that_follows_a_blend_can_go_on_drivers():
    chain, *_ = blended(0.5)
    chain.hand_rotation = 'NONE'
    chain.plane = 'AUTO'
    chain.live = True
    tips, *_ = shown(chain, FRAMES)
    chain.live = False
    make_native(chain.id_data, chain)
    assert np.abs(shown(chain, FRAMES)[0] - tips).max() < 1e-5


# --- Linked files ------------------------------------------------------------


def test_linked_rigs_are_refused_and_overrides_switch(tmp_path):
    chain, *_ = add_arm()
    path = str(tmp_path / "arm.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    override = override_from(path, "Rig", "A", "hip")
    linked = override.override_library.reference
    with pytest.raises(IK2DError, match="is linked from another file"):
        switch_parent(bpy.context.scene, linked.ik2d.chains[0], None)
    with pytest.raises(IK2DError, match="is linked from another file"):
        add_second_target(linked.ik2d.chains[0])
    own = override.ik2d.chains[0]
    bpy.context.scene.frame_set(10)
    bpy.context.view_layer.update()
    before = place_of(own.target)
    switch_parent(bpy.context.scene, own, None)
    assert (place_of(own.target).translation - before.translation).length < 1e-6


# --- What looks through a blend ----------------------------------------------


@pytest.mark.parametrize("influence", [0.0, 0.3, 0.7, 1.0])
def test_drag_moves_the_one_that_acts_and_the_tip_comes_along(influence):
    chain, first, second = blended(influence)
    armature = chain.id_data
    chain.live = True
    select(armature)
    bpy.ops.object.mode_set(mode='POSE')
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.update()
    moves, stays = (second, first) if influence > 0.5 else (first, second)
    before = place_of(chain.target).translation
    held, still = moves.location.copy(), stays.location.copy()
    drag = Drag(bpy.context.scene, armature, chain)
    assert not drag.why_fixed
    drag.to((0.03, 0.02))
    bpy.context.view_layer.update()
    went = place_of(chain.target).translation - before
    assert went.length == pytest.approx(np.hypot(0.03, 0.02), abs=1e-5)
    assert moves.location != held and stays.location == still
    drag.key(bpy.context, in_any_case=True)
    assert frames_of(moves, "location") == [1] and frames_of(chain.target, "location") == []
    drag.put_back()
    assert moves.location == held


def test_a_bone_that_is_blended_is_held_by_its_chain():
    chain, *_ = add_arm()
    armature = chain.id_data
    add_second_target(chain, (armature, "chest"))
    select(armature)
    bpy.ops.object.mode_set(mode='POSE')
    armature.data.bones.active = armature.data.bones["chest"]
    assert chain_to_hold(armature) == chain


@pytest.mark.parametrize("influence, name", [(0.2, "A"), (0.9, "B")])
def test_key_target_keys_the_one_that_acts(influence, name):
    chain, first, second = blended(influence)
    bpy.context.scene.frame_set(7)
    assert key_target(bpy.context.scene, chain) == [name]
    acting, other = (first, second) if name == "A" else (second, first)
    assert 7 in frames_of(acting, "location") and 7 in frames_of(acting, "rotation_euler")
    assert 7 not in frames_of(other, "location") and not frames_of(chain.target, "location")


@pytest.mark.parametrize("influence", [0.0, 1.0])
def test_snap_target_to_bones_moves_the_one_that_acts(influence):
    chain, first, second = blended(influence)
    armature = chain.id_data
    armature.pose.bones["fore"].rotation_quaternion = (1, 0.1, 0.1, 0)
    bpy.context.view_layer.update()
    stays = (second, first)[int(influence)].location.copy()
    target_to_tip(armature)
    bpy.context.view_layer.update()
    tip = armature.matrix_world @ armature.pose.bones["fore"].tail
    assert (place_of(chain.target).translation - tip).length < 1e-5
    assert (second, first)[int(influence)].location == stays


def test_only_on_target_keys_takes_the_keys_of_both_and_of_the_blend():
    chain, first, second = blended()
    first.keyframe_insert("location", frame=6)
    second.keyframe_insert("location", frame=17)
    second.parent.keyframe_insert("location", frame=31)  # which carries it
    key_blend(second_of(chain), {10: 0.0, 25: 1.0})
    bake(chain.id_data, None, 1, 40, options=BakeOptions(on_target_keys=True))
    keyed = frames_of(chain.id_data, chain.id_data.pose.bones["fore"].path_from_id("rotation_quaternion"))
    assert keyed == [1, 6, 10, 17, 25, 31, 40]


def test_a_blend_of_targets_that_stay_does_not_move_until_it_is_keyed():
    chain, first, second = blended()
    for ob in (first.parent, second.parent, first):
        ob.animation_data_clear()
    assert not may_move(chain)
    key_blend(second_of(chain), {1: 0.0, 9: 1.0})
    assert may_move(chain)
    second_of(chain).id_data.animation_data_clear()
    first.keyframe_insert("location", frame=1)
    assert may_move(chain)


def test_the_path_of_the_target_is_that_of_the_blend():
    chain, *_ = blended()
    key_blend(second_of(chain), {10: 0.0, 25: 1.0})
    path = find_path(chain.id_data, chain, bpy.context.scene)
    assert np.abs(path.places - shown(chain, FRAMES)[2]).max() < 1e-6


@pytest.mark.parametrize(
    "change",
    [
        lambda chain, first, second: setattr(second_of(chain), "influence", 0.5),
        lambda chain, first, second: first.keyframe_insert("location", frame=9),
        lambda chain, first, second: setattr(second, "location", (1, 1, 1)),
    ],
)
def test_a_bake_is_out_of_date_when_a_target_or_the_blend_changes(change):
    chain, first, second = blended()
    armature = chain.id_data
    store_bake(armature, bake(armature, None, 1, 40))
    assert bake_is_stale(armature, bpy.context.scene) == ""
    change(chain, first, second)
    assert bake_is_stale(armature, bpy.context.scene) == "the target"


def test_a_bake_tells_where_the_blend_turns_over():
    chain, first, *_ = add_arm()
    turning = add_empty("B", keys={1: ((0.4, -0.3, 1.3), (0, 0, 2.6)), 40: ((0.4, -0.3, 1.3), (0, 0, 4.6))})
    add_second_target(chain, (turning, ""))
    assert not [told for told in bake(chain.id_data, None, 1, 40).warnings if "turns over" in told]
    second_of(chain).influence = 0.5
    (told,) = [told for told in bake(chain.id_data, None, 1, 40).warnings if "turns over" in told]
    assert "'hand' turns by 1" in told


# --- Hands, whatever target is set -------------------------------------------


@pytest.mark.parametrize("live", [True, False])
def test_the_hand_stays_where_another_target_is_set(live):
    chain, first, *_ = add_arm()
    other = add_empty("Other", (0.3, -0.2, 1.2), (1.0, -0.7, 0.4))
    chain.live = live
    if not live:
        bake(chain.id_data, None, 1, 40)
    (_, before, _, turns) = shown(chain, [20])
    held = turns[0].inverted() @ before[0]
    other.location = place_of(first).translation
    chain.target = other
    if not live:
        bake(chain.id_data, None, 1, 40)
    (_, after, _, _) = shown(chain, [20])
    assert furthest(before, after) < 3e-6
    keys = every_bit_of_animation(first)
    chain.target = None
    chain.target = first
    bpy.context.scene.frame_set(20)
    (_, again, _, turns) = shown(chain, [20])
    assert keys == every_bit_of_animation(first)
    if live:
        assert furthest([turns[0].inverted() @ again[0]], [held]) < 5e-6


def test_the_hand_stays_where_a_bone_becomes_the_target():
    chain, *_ = add_arm()
    armature = chain.id_data
    chest = armature.pose.bones["chest"]
    chest.rotation_mode, chest.rotation_euler = 'XYZ', Euler((0.2, 0.4, 0.1))
    chain.live = True
    (_, before, _, _) = shown(chain, [20])
    chain.target, chain.subtarget = armature, "chest"
    (_, after, _, _) = shown(chain, [20])
    assert furthest(before, after) < 3e-6
    armature.data.bones["chest"].name = "trunk"
    bpy.context.view_layer.update()
    (_, renamed, _, _) = shown(chain, [20])
    assert chain.subtarget == "trunk" and furthest(before, renamed) < 3e-6
