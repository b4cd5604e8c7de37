# SPDX-License-Identifier: GPL-3.0-or-later
"""A second target: an exact blend, which changes no pose when it is added and leaves nothing behind."""

import bpy
import numpy as np
import pytest
from foot_rigs import plain_leg
from mathutils import Matrix
from rigs import add_armature, every_bit_of_animation, settings_of
from snapshots import data_blocks, differences
from two_target_rigs import (
    EIGHTHS,
    FRAMES,
    REACH,
    add_arm,
    add_empty,
    apart,
    furthest,
    key_blend,
    off_a_constant_turn,
    place_of,
    shown,
)

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.setup.operators import remove_chain
from ik2d_addon.features.two_targets.blend import second_of
from ik2d_addon.features.two_targets.second import add_second_target, notes_of, remove_second_target

TIP, HAND = 1e-6 * REACH, 2e-6


def file_as_it_is(chain):
    """Return all that adding and removing a target may change."""
    armature = chain.id_data
    return {
        "blocks": data_blocks(),
        "animation": {ob.name: every_bit_of_animation(ob) for ob in bpy.data.objects},
        "chain": {name: value for name, value in settings_of(chain).items() if not name.startswith("live_")},
        "names": (chain.target.name, chain.subtarget, chain.owns_target, chain.pole and chain.pole.name),
        "offset": chain.hand_offset[:],
        "pole": chain.pole_angle,
        "parents": {ob.name: (ob.parent and ob.parent.name, len(ob.constraints)) for ob in bpy.data.objects},
        "active": armature.ik2d.active_index,
    }


@pytest.mark.parametrize("size", [1.0, 0.01, 100.0])
def test_the_tip_and_the_hand_follow_the_blend_live_and_baked(size):
    chain, _, _, wheel = add_arm(size)
    second = add_empty("B", (0, 0.1 * size, 0.1 * size), (0.1, -0.4, 1.0), wheel)
    add_second_target(chain, (second, ""))
    key_blend(second_of(chain), {10: 0.0, 25: 1.0})
    chain.live = True
    tips, hands, places, turns = shown(chain, FRAMES)
    assert np.abs(tips - places).max() < TIP * size
    assert off_a_constant_turn(hands, turns) < HAND
    chain.live = False
    assert bake(chain.id_data, None, 1, 40).all_reached
    baked, keyed_hands, places, turns = shown(chain, FRAMES)
    assert np.abs(baked - places).max() < TIP * size and np.abs(baked - tips).max() < TIP * size
    assert off_a_constant_turn(keyed_hands, turns) < HAND and furthest(hands, keyed_hands) < HAND


def test_it_is_a_straight_blend_of_places_and_the_shorter_way_of_rotations():
    chain, first, _, wheel = add_arm()
    second = add_empty("B", (0, 0.1, 0.1), (0.1, -0.4, 1.0), wheel)
    add_second_target(chain, (second, ""))
    key_blend(second_of(chain), {10: 0.0, 25: 1.0})
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        a, b, now = map(place_of, (first, second, chain.target))
        part = second_of(chain).influence
        assert (a.translation.lerp(b.translation, part) - now.translation).length < 1e-7
        assert apart(a.to_quaternion().slerp(b.to_quaternion(), part), now.to_quaternion()) < 2e-6


def of_object(chain):
    return chain.target, ""


def of_bone(chain):
    """Follow a control bone of a rig that is turned."""
    control = add_armature(
        {"root": ((0, 0, 0), (0, 0, 0.2), "", 0), "ctl": ((0.45, -0.2, 1.3), (0.5, -0.1, 1.4), "root", 0.7)},
        "Control",
    )
    control.rotation_euler = (0.1, 0.2, 0.1)
    bone = control.pose.bones["ctl"]
    bone.rotation_mode = 'XYZ'
    for frame, turn in ((1, (0, 0, 0)), (40, (0.5, 0.8, -0.4))):
        bone.rotation_euler = turn
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.update()
    chain.target, chain.subtarget = control, "ctl"
    bpy.context.view_layer.objects.active = chain.id_data


def of_uneven_bone(chain):
    """Follow one of a rig that is scaled unevenly, too."""
    of_bone(chain)
    chain.target.scale = (1.0, 1.1, 0.9)
    bpy.context.view_layer.update()


def of_uneven_parent(chain):
    chain.target.parent.scale = (1, 2, 0.5)
    bpy.context.view_layer.update()


@pytest.mark.parametrize(
    "kind, last",
    [
        *((of_object, last) for last in ('FREE', 'TARGET')),
        *((of_bone, last) for last in ('FREE', 'TARGET')),
        *((of_uneven_parent, last) for last in ('FREE', 'TARGET')),
        (of_uneven_bone, 'FREE'),
    ],
)
def test_adding_it_moves_nothing_and_removing_it_leaves_nothing(kind, last):
    chain, *_ = add_arm()
    kind(chain)
    if last == 'TARGET':
        chain.tip_rotation = 'TARGET'
    chain.live = True
    before_tips, before_hands, *_ = shown(chain, FRAMES)
    before = file_as_it_is(chain)
    ob, bone = add_second_target(chain)
    assert chain.target != before["names"][0] and (ob.type, bone) == ('EMPTY', "")
    tips, hands, *_ = shown(chain, FRAMES)
    assert np.abs(tips - before_tips).max() < 1e-6 and furthest(hands, before_hands) < 3e-6
    second_of(chain).influence = 1.0
    bpy.context.scene.frame_set(1)
    remove_second_target(chain)
    assert differences(before, file_as_it_is(chain)) == []
    tips, hands, *_ = shown(chain, FRAMES)
    assert np.abs(tips - before_tips).max() < 1e-6 and furthest(hands, before_hands) < 3e-6


def test_an_angle_that_follows_a_sheared_bone_is_refused_with_nothing_changed():
    chain, *_ = add_arm()
    of_uneven_bone(chain)
    chain.tip_rotation = 'TARGET'
    before = file_as_it_is(chain)
    with pytest.raises(IK2DError, match="scales unevenly"):
        add_second_target(chain)
    assert differences(before, file_as_it_is(chain)) == []


def test_a_second_target_of_the_same_armature_and_its_parents_scaled_unevenly():
    chain, *_ = add_arm()
    armature = chain.id_data
    armature.scale = (1, 1.5, 0.8)
    add_second_target(chain, (armature, "chest"))
    second_of(chain).influence = 0.4
    chain.live = True
    tips, _, places, _ = shown(chain, FRAMES)
    assert np.abs(tips - places).max() < 2e-6


def test_a_new_second_target_is_where_the_first_is_and_turned_alike():
    chain, first, *_ = add_arm()
    bpy.context.scene.frame_set(17)
    ob, _ = add_second_target(chain)
    bpy.context.view_layer.update()
    assert (place_of(ob).translation - place_of(first).translation).length < 1e-6
    assert apart(place_of(ob).to_quaternion(), place_of(first).to_quaternion()) < 1e-6


@pytest.mark.parametrize("last", ['FREE', 'TARGET'])
def test_a_bone_that_is_renamed_meanwhile_is_followed_again(last):
    chain, *_ = add_arm()
    of_bone(chain)
    chain.tip_rotation = last
    add_second_target(chain)
    bpy.data.objects["Control"].data.bones["ctl"].name = "handle"
    bpy.context.view_layer.update()
    remove_second_target(chain)
    assert (chain.target.name, chain.subtarget) == ("Control", "handle")


def test_what_was_set_for_the_hand_meanwhile_is_kept():
    chain, *_ = add_arm()
    of_bone(chain)
    add_second_target(chain)
    chain.hand_offset = np.array(Matrix.Rotation(0.5, 3, 'X')).ravel().tolist()
    chain.live = True
    _, before, *_ = shown(chain, FRAMES)
    remove_second_target(chain)
    _, hands, *_ = shown(chain, FRAMES)
    assert furthest(hands, before) < 3e-6


def test_remove_chain_takes_all_of_it_along_but_not_what_somebody_has_worked_on():
    chain, first, *_ = add_arm()
    chain.owns_target = True
    keys = every_bit_of_animation(first)
    objects = {ob.name for ob in bpy.data.objects}
    add_second_target(chain)
    remove_chain(chain.id_data, chain)
    assert {ob.name for ob in bpy.data.objects} == objects  # the first has keys, so it stays
    assert every_bit_of_animation(first) == keys
    assert not [action for action in bpy.data.actions if not action.users]
    chain, first, *_ = add_arm()
    ob, _ = add_second_target(chain)
    ob.keyframe_insert("location", frame=3)
    name = ob.name
    remove_chain(chain.id_data, chain)
    assert name in bpy.data.objects


def test_a_copy_of_the_armature_keeps_the_blend_that_it_follows():
    chain, first, *_ = add_arm()
    add_second_target(chain)
    copy = chain.id_data.copy()
    bpy.context.scene.collection.objects.link(copy)
    blend = chain.target
    remove_second_target(chain)
    assert chain.target == first and copy.ik2d.chains[0].target == blend
    remove_second_target(copy.ik2d.chains[0])
    assert copy.ik2d.chains[0].target == first
    assert blend not in list(bpy.data.objects)


def test_what_cannot_have_one_says_so_and_changes_nothing():
    chain, first, *_ = add_arm()
    blocks = data_blocks()
    for wrong, words in (
        ((chain.id_data, "hand"), "carried by chain"),
        ((chain.id_data, "no"), "no bone 'no'"),
        ((first, ""), "follows 'A' already"),
    ):
        with pytest.raises(IK2DError, match=words):
            add_second_target(chain, wrong)
    on_hand = add_empty("on hand")
    on_hand.parent, on_hand.parent_type, on_hand.parent_bone = chain.id_data, 'BONE', "hand"
    with pytest.raises(IK2DError, match="carried by chain"):
        add_second_target(chain, (on_hand, ""))
    with pytest.raises(IK2DError, match="has no second target"):
        remove_second_target(chain)
    bpy.data.objects.remove(on_hand)
    assert data_blocks() == blocks and chain.target == first
    add_second_target(chain)
    with pytest.raises(IK2DError, match="has a second target"):
        add_second_target(chain)
    remove_second_target(chain)
    chain.target = None
    with pytest.raises(IK2DError, match="no target"):
        add_second_target(chain)


def test_targets_that_a_blend_turns_over_are_told():
    chain, *_ = add_arm()
    ob, _ = add_second_target(chain)
    assert notes_of(chain) == []
    turned = ob.rotation_euler.to_matrix() @ Matrix.Rotation(3.0, 3, 'X')
    ob.rotation_euler = turned.to_euler()
    bpy.context.view_layer.update()
    assert notes_of(chain) == []  # one of them alone acts
    second_of(chain).influence = 0.5
    bpy.context.view_layer.update()
    (told,) = notes_of(chain)
    assert "turned 172 degrees" in told and "turns over" in told


def test_a_driven_blend_is_told():
    chain, *_ = add_arm()
    add_second_target(chain)
    second_of(chain).driver_add("influence")
    assert any("a driver sets Blend" in told for told in notes_of(chain))


def test_a_linked_target_is_blended_and_told(tmp_path):
    chain, *_ = add_arm()
    add_empty("Prop", (0.3, -0.2, 1.2))
    path = str(tmp_path / "prop.blend")
    bpy.data.libraries.write(path, {bpy.data.objects["Prop"]})
    bpy.data.objects.remove(bpy.data.objects["Prop"])
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.objects = ["Prop"]
    (prop,) = wanted.objects
    bpy.context.scene.collection.objects.link(prop)
    add_second_target(chain, (prop, ""))
    second_of(chain).influence = 1.0
    chain.live = True
    tips, _, places, _ = shown(chain, FRAMES)
    assert np.abs(tips - places).max() < TIP
    assert any("'Prop' is linked from another file" in told for told in notes_of(chain))
    remove_second_target(chain)
    assert prop.name == "Prop"


def test_it_is_saved_and_removed_in_another_session(tmp_path):
    chain, *_ = add_arm()
    add_second_target(chain)
    bpy.context.scene.frame_set(9)
    names = [ob.name for ob in bpy.data.objects]
    path = str(tmp_path / "arm.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    chain = bpy.data.objects["Rig"].ik2d.chains[0]
    assert second_of(chain).target.name == "fore Second Target"
    remove_second_target(chain)
    assert chain.target.name == "A"
    assert {"fore Second Target", "fore Target Blend"} <= set(names) - {ob.name for ob in bpy.data.objects}


def test_a_foot_on_the_chain_stays_as_it_is():
    leg = plain_leg()
    armature, chain = leg.armature, leg.chain
    chain.live = True
    bpy.context.view_layer.update()
    before = [bone.matrix.copy() for bone in armature.pose.bones]
    add_second_target(chain)
    bpy.context.view_layer.update()
    after = [bone.matrix for bone in armature.pose.bones]
    assert max(np.abs(np.array(a) - np.array(b)).max() for a, b in zip(before, after, strict=True)) < 2e-6


def test_another_target_by_hand_leaves_the_blend_to_the_next_one():
    chain, first, *_ = add_arm()
    add_second_target(chain)
    chain.target = first
    add_second_target(chain)
    assert len([ob for ob in bpy.data.objects if ob.name.startswith("fore")]) == 2
    remove_second_target(chain)
    assert chain.target == first and not [ob for ob in bpy.data.objects if ob.name.startswith("fore")]


@pytest.mark.parametrize("bones", [1, 3])
def test_chains_of_one_bone_and_of_three(bones):
    chain, *_ = add_arm()
    chain.bone_count = bones
    chain.live = True
    before, *_ = shown(chain, FRAMES)
    add_second_target(chain)
    tips, *_ = shown(chain, FRAMES)
    assert np.abs(tips - before).max() < 1e-6
    second_of(chain).influence = 0.5
    bake(chain.id_data, None, 1, 40)
    remove_second_target(chain)


def test_between_frames_it_moves_as_its_targets_do():
    chain, *_, wheel = add_arm()
    second = add_empty("B", (0, 0.1, 0.1), (0.1, -0.4, 1.0), wheel)
    add_second_target(chain, (second, ""))
    key_blend(second_of(chain), {10: 0.0, 25: 1.0})
    _, _, places, _ = shown(chain, EIGHTHS)
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() < 0.01
