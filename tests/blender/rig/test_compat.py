# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions, slots and channels as every Blender version has them."""

import bpy
import pytest
from rigs import add_leg, contents_of, every_bit_of_animation

from ik2d_addon.rig.compat import (
    action_copied,
    actions_put_back_on_error,
    assign_action,
    channels,
    existing_channels,
    existing_fcurves,
    fcurve,
    sharing_channels,
)

PATH = 'pose.bones["shin"].location'
SLOTS = hasattr(bpy.types, "ActionSlot")
needs_slots = pytest.mark.skipif(not SLOTS, reason="4.4 brought slots")


def keyed_leg(name="Rig"):
    """Add a leg with a key on its shin."""
    armature = add_leg(name)
    armature.pose.bones["shin"].keyframe_insert("location", frame=3)
    return armature


# --- Channels -------------------------------------------------------------------------------------


def test_channels_are_made_once_in_an_action_of_the_objects_name():
    armature = add_leg()
    holder = channels(armature)
    curve = fcurve(holder, PATH, 1, "shin")
    assert armature.animation_data.action.name == "RigAction"
    assert (curve.data_path, curve.array_index, curve.group.name) == (PATH, 1, "shin")
    assert fcurve(channels(armature), PATH, 1, "other") == curve
    assert curve.group.name == "shin"
    assert list(existing_fcurves(armature)) == [curve]
    assert len(bpy.data.actions) == 1


def test_bones_of_one_name_share_a_group_of_it():
    armature = add_leg()
    first, second = (fcurve(channels(armature), PATH, index, "shin") for index in (0, 1))
    assert first.group == second.group
    assert [group.name for group in channels(armature).groups] == ["shin"]


def test_an_action_that_is_assigned_is_kept():
    armature = keyed_leg()
    action = armature.animation_data.action
    before = contents_of(action)
    channels(armature)
    assert armature.animation_data.action == action and contents_of(action) == before


def test_an_object_without_animation_has_no_channels():
    armature = add_leg()
    assert existing_channels(armature) is None and list(existing_fcurves(armature)) == []
    armature.animation_data_create()
    assert existing_channels(armature) is None and list(existing_fcurves(armature)) == []
    assert armature.animation_data.action is None


def test_existing_channels_are_those_that_keys_are_in():
    armature = keyed_leg()
    assert existing_channels(armature) == channels(armature)
    assert {curve.data_path for curve in existing_fcurves(armature)} == {PATH}


@needs_slots
def test_an_action_without_a_chosen_slot_a_layer_or_a_strip_has_none():
    armature = keyed_leg()
    animation = armature.animation_data
    slot = animation.action_slot
    animation.action_slot = None
    assert existing_channels(armature) is None
    empty = bpy.data.actions.new("Empty")
    animation.action = empty
    animation.action_slot = empty.slots.new(id_type='OBJECT', name="Rig")
    assert existing_channels(armature) is None
    layer = empty.layers.new("Layer")
    assert existing_channels(armature) is None
    layer.strips.new(type='KEYFRAME')
    assert existing_channels(armature) is None
    assert channels(armature) == existing_channels(armature)
    assert (len(empty.layers), len(layer.strips), len(empty.slots)) == (1, 1, 1)
    assert slot.identifier == "OBRig"


# --- Sharing --------------------------------------------------------------------------------------


def test_others_that_play_the_same_channels_are_found():
    armature, other, third = keyed_leg(), add_leg("Other"), keyed_leg("Third")
    assert sharing_channels(armature) == []
    animation = other.animation_data_create()
    animation.action = armature.animation_data.action
    if SLOTS:
        animation.action_slot = armature.animation_data.action_slot
    assert sharing_channels(armature) == [other]
    assert sharing_channels(other) == [armature]
    assert sharing_channels(third) == []


@needs_slots
def test_another_slot_of_the_same_action_is_not_shared():
    armature, other = keyed_leg(), add_leg("Other")
    animation = other.animation_data_create()
    animation.action = armature.animation_data.action
    animation.action_slot = animation.action.slots.new(id_type='OBJECT', name="Other")
    assert sharing_channels(armature) == []
    animation.action_slot = armature.animation_data.action_slot = None
    assert sharing_channels(armature) == []


def test_without_an_action_nothing_is_shared():
    armature, other = add_leg(), add_leg("Other")
    assert sharing_channels(armature) == []
    armature.animation_data_create()
    other.animation_data_create()
    assert sharing_channels(armature) == []


# --- For a while ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", [False, True])
def test_a_copy_plays_for_a_while_and_leaves_no_trace(fails):
    armature = keyed_leg()
    original, before = armature.animation_data.action, every_bit_of_animation(armature)
    try:
        with action_copied(armature):
            assert armature.animation_data.action != original
            assert {curve.data_path for curve in existing_fcurves(armature)} == {PATH}
            channels(armature).fcurves.clear()
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    assert armature.animation_data.action == original
    assert every_bit_of_animation(armature) == before
    assert list(bpy.data.actions) == [original]


def test_an_object_without_animation_has_none_again():
    armature = add_leg()
    with action_copied(armature):
        fcurve(channels(armature), PATH, 0, "shin")
        assert len(existing_fcurves(armature)) == 1
    assert armature.animation_data is None and not len(bpy.data.actions)


def test_animation_data_without_an_action_stays_so():
    armature = add_leg()
    armature.animation_data_create()
    with action_copied(armature):
        assert armature.animation_data.action
    assert armature.animation_data is not None and armature.animation_data.action is None


def fail(armature, **made):
    """Make channels, and fail."""
    with pytest.raises(KeyboardInterrupt), actions_put_back_on_error(armature):
        for maker in made.values():
            maker(armature)
        raise KeyboardInterrupt


def test_what_was_made_for_channels_goes_when_that_fails():
    armature = add_leg()
    fail(armature, make=channels)
    assert armature.animation_data is None and not len(bpy.data.actions)
    armature.animation_data_create()
    fail(armature, make=channels)
    assert armature.animation_data.action is None and not len(bpy.data.actions)


def test_actions_of_others_and_the_assigned_one_stay():
    armature, other = keyed_leg(), keyed_leg("Other")
    before = every_bit_of_animation(armature)

    def another(armature):
        armature.animation_data.action = bpy.data.actions.new("New")
        channels(armature)

    fail(armature, make=another)
    assert every_bit_of_animation(armature) == before
    assert set(bpy.data.actions) == {armature.animation_data.action, other.animation_data.action}


def test_what_was_made_stays_when_nothing_fails():
    armature = add_leg()
    with actions_put_back_on_error(armature):
        fcurve(channels(armature), PATH, 0, "shin")
    assert len(existing_fcurves(armature)) == 1


@needs_slots
@pytest.mark.parametrize("depth", ["action", "slot", "layer", "strip", "channels"])
def test_an_action_gets_its_layout_back(depth):
    armature = add_leg()
    action = bpy.data.actions.new("Half-made")
    animation = armature.animation_data_create()
    animation.action = action
    if depth != "action":
        animation.action_slot = action.slots.new(id_type='OBJECT', name="Rig")
    if depth in ("layer", "strip", "channels"):
        layer = action.layers.new("Layer")
    if depth in ("strip", "channels"):
        strip = layer.strips.new(type='KEYFRAME')
    if depth == "channels":
        other = action.slots.new(id_type='OBJECT', name="Other")
        strip.channelbag(other, ensure=True).fcurves.new(PATH)

    def layout():
        strips = [strip for layer in action.layers for strip in layer.strips]
        bags = [bag.slot.identifier for strip in strips for bag in strip.channelbags]
        return [slot.identifier for slot in action.slots], len(action.layers), len(strips), bags

    before, slot = layout(), animation.action_slot
    fail(armature, make=channels)
    assert layout() == before
    assert animation.action == action and animation.action_slot == slot


@needs_slots
def test_assigning_chooses_the_slot_of_the_same_identifier():
    armature = keyed_leg()
    animation = armature.animation_data
    slot, copy = animation.action_slot, animation.action.copy()
    other = copy.slots.new(id_type='OBJECT', name="Other")
    assign_action(animation, copy, other)
    assert (animation.action, animation.action_slot) == (copy, other)
    assign_action(animation, copy, slot)
    assert animation.action_slot.identifier == slot.identifier
    assign_action(animation, copy, None)
    assert animation.action_slot is None
    assign_action(animation, None, slot)
    assert animation.action is None
