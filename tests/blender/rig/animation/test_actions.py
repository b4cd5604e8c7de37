# SPDX-License-Identifier: GPL-3.0-or-later
"""What is made to hold keys: made once, taken away whole, and nothing of anybody else's with it."""

from contextlib import ExitStack

import bpy
import pytest
from rigs import add_leg, contents_of, every_bit_of_animation

from ik2d_addon.rig.animation import actions
from ik2d_addon.rig.animation.actions import (
    KnownChannels,
    action_copied,
    channels,
    fcurve,
    fcurves,
    group_for,
    unless_gone,
)
from ik2d_addon.rig.animation.versions import existing_channels, existing_fcurves

PATH = 'pose.bones["shin"].location'
OTHER = 'pose.bones["thigh"].location'
SLOTS = hasattr(bpy.types, "ActionSlot")
needs_slots = pytest.mark.skipif(not SLOTS, reason="4.4 brought slots")


@pytest.fixture
def undo():
    """A stack to be closed by hand; never by itself."""
    stack = ExitStack()
    yield stack
    stack.pop_all()


def keyed_leg(name="Rig"):
    """Add a leg with a key on its shin."""
    armature = add_leg(name)
    armature.pose.bones["shin"].keyframe_insert("location", frame=3, group="shin")
    return armature


def linked_action(armature, tmp_path):
    """Have an object play a copy of its action that a library owns; return that."""
    action = armature.animation_data.action
    path = str(tmp_path / "actions.blend")
    bpy.data.libraries.write(path, {action})
    with bpy.data.libraries.load(path, link=True) as (there, wanted):
        wanted.actions = there.actions
    animation = armature.animation_data
    animation.action = wanted.actions[0]
    if SLOTS:
        animation.action_slot = wanted.actions[0].slots[0]
    bpy.data.actions.remove(action)
    return wanted.actions[0]


# --- Made -----------------------------------------------------------------------------------------


def test_channels_are_made_once_in_an_action_of_the_objects_name(undo):
    armature = add_leg()
    holder = channels(armature, undo)
    curve = fcurve(holder, PATH, 1, "shin", undo)
    assert armature.animation_data.action.name == "RigAction"
    assert (curve.data_path, curve.array_index, curve.group.name) == (PATH, 1, "shin")
    assert fcurve(channels(armature, undo), PATH, 1, "other", undo) == curve
    assert curve.group.name == "shin"
    assert list(existing_fcurves(armature)) == [curve]
    assert len(bpy.data.actions) == 1
    if SLOTS:
        assert armature.animation_data.action_slot.identifier == "OBRig"
        assert [layer.name for layer in armature.animation_data.action.layers] == ["Layer"]


def test_many_curves_are_made_at_once_share_their_groups_and_go_when_that_is_undone():
    armature = add_leg()
    with ExitStack() as undo:
        holder = channels(armature, undo)
        wanted = [(PATH, 0, "shin"), (PATH, 1, "shin"), (PATH, 0, "shin"), (OTHER, 2, "thigh")]
        first, second, again, other = fcurves(holder, wanted, undo, KnownChannels(holder))
        assert again == first and first.group == second.group
        assert [group.name for group in holder.groups] == ["shin", "thigh"]
        assert [curve.array_index for curve in holder.groups["shin"].channels] == [0, 1]
        assert list(holder.fcurves) == [first, second, other]
        known = KnownChannels(holder)
        assert fcurves(holder, wanted[:2], undo, known) == [first, second] and len(holder.fcurves) == 3
    assert armature.animation_data is None and not len(bpy.data.actions)


def test_curves_of_one_name_share_a_group_of_it(undo):
    holder = channels(add_leg(), undo)
    assert group_for(holder, "shin") is None and group_for(None, "shin") is None
    first, second = (fcurve(holder, PATH, index, "shin", undo) for index in (0, 1))
    assert first.group == second.group == group_for(holder, "shin")
    assert [group.name for group in holder.groups] == ["shin"]


def test_an_action_that_is_assigned_is_kept(undo):
    armature = keyed_leg()
    action = armature.animation_data.action
    before = contents_of(action)
    assert channels(armature, undo) == existing_channels(armature)
    undo.close()
    assert armature.animation_data.action == action and contents_of(action) == before


@needs_slots
def test_channels_are_those_of_the_first_layer_and_strip(undo):
    armature = keyed_leg()
    empty = bpy.data.actions.new("Empty")
    animation = armature.animation_data
    animation.action = empty
    animation.action_slot = empty.slots.new(id_type='OBJECT', name="Rig")
    layer = empty.layers.new("Layer")
    layer.strips.new(type='KEYFRAME')
    assert channels(armature, undo) == existing_channels(armature)
    assert (len(empty.layers), len(layer.strips), len(empty.slots)) == (1, 1, 1)


def test_an_action_of_a_library_is_copied_and_played_again_when_that_is_undone(undo, tmp_path):
    armature = keyed_leg()
    linked = linked_action(armature, tmp_path)
    before = every_bit_of_animation(armature)
    holder = channels(armature, undo)
    own = armature.animation_data.action
    assert own != linked and own.is_editable
    assert holder == existing_channels(armature) and len(holder.fcurves) == 3
    undo.close()
    assert every_bit_of_animation(armature) == before
    assert list(bpy.data.actions) == [linked]


# --- Taken away -----------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [False, True])
def test_all_that_was_made_goes_again(undo, data):
    armature = add_leg()
    if data:
        armature.animation_data_create()
    fcurve(channels(armature, undo), PATH, 0, "shin", undo)
    undo.close()
    assert (armature.animation_data is not None) == data
    assert not data or armature.animation_data.action is None
    assert not len(bpy.data.actions)


def test_an_animation_that_somebody_used_meanwhile_stays(undo):
    for kind in ("drivers", "tracks"):
        armature = add_leg(kind)
        with ExitStack() as undo:
            channels(armature, undo)
            if kind == "drivers":
                armature.driver_add("location", 0)
            else:
                armature.animation_data.nla_tracks.new()
        assert armature.animation_data is not None and armature.animation_data.action is None
    assert not len(bpy.data.actions)


def test_an_action_that_somebody_put_curves_into_meanwhile_stays_and_plays(undo):
    armature = add_leg()
    fcurve(channels(armature, undo), PATH, 0, "shin", undo)
    armature.keyframe_insert("location", frame=1)
    undo.close()
    assert {curve.data_path for curve in existing_fcurves(armature)} == {"location"}
    assert armature.animation_data.action.name == "RigAction"


def test_another_action_that_somebody_assigned_meanwhile_stays(undo):
    armature = add_leg()
    channels(armature, undo)
    other = bpy.data.actions.new("Other")
    armature.animation_data.action = other
    undo.close()
    assert armature.animation_data.action == other and list(bpy.data.actions) == [other]


def test_what_was_deleted_meanwhile_is_nobodys_business(undo):
    armature = add_leg()
    fcurve(channels(armature, undo), PATH, 0, "shin", undo)
    bpy.data.actions.remove(armature.animation_data.action)
    bpy.data.objects.remove(armature)
    undo.close()
    assert not len(bpy.data.objects)


def test_no_other_errors_are_swallowed():
    def fail(error):
        raise error

    unless_gone(fail, ReferenceError())
    with pytest.raises(KeyError):
        unless_gone(fail, KeyError())


def test_a_curve_and_its_group_go_and_others_stay(undo):
    armature = keyed_leg()
    holder = existing_channels(armature)
    group = holder.fcurves[0].group.name
    before = every_bit_of_animation(armature)
    fcurve(holder, PATH, 0, group, undo)  # there already
    fcurve(holder, PATH.replace("shin", "thigh"), 2, "thigh", undo)
    fcurve(holder, PATH.replace("location", "scale"), 1, group, undo)
    assert len(holder.fcurves) == 5 and len(holder.groups) == 2
    undo.close()
    assert every_bit_of_animation(armature) == before


def test_a_group_that_somebody_put_a_curve_into_meanwhile_stays(undo):
    armature = keyed_leg()
    holder = existing_channels(armature)
    fcurve(holder, "location", 0, "new", undo)
    holder.fcurves.new("location", index=1).group = holder.groups["new"]
    undo.close()
    assert [curve.array_index for curve in holder.groups["new"].channels] == [1]


@pytest.mark.parametrize("color", ['DEFAULT', 'THEME03', 'CUSTOM'])
def test_groups_that_stood_empty_stand_there_again_as_they_were(undo, color):
    armature = keyed_leg()
    holder = existing_channels(armature)
    for name in ("empty", "last", "void"):
        holder.groups.new(name)
    holder.fcurves.new("scale", index=2).group = holder.groups["last"]
    for name in ("empty", "last"):
        group = holder.groups[name]
        group.lock = group.mute = group.use_pin = group.show_expanded_graph = True
        group.select = group.show_expanded = name == "last"
        group.color_set = color
        if color == 'CUSTOM':
            group.colors.normal, group.colors.active = (0.25, 0.5, 0.75), (0.5, 0.25, 0.0)
            group.colors.select = (0.125, 0.0, 1.0)
    before = every_bit_of_animation(armature)
    fcurve(holder, "location", 0, "empty", undo)
    undo.close()
    assert [group.name for group in holder.groups][1:] == ["empty", "last", "void"]
    assert every_bit_of_animation(armature) == before


@needs_slots
@pytest.mark.parametrize("depth", ["action", "slot", "layer", "strip", "channels"])
def test_an_action_gets_its_layout_back(undo, depth):
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

    before, slot, last = layout(), animation.action_slot, animation.last_slot_identifier
    fcurve(channels(armature, undo), PATH, 0, "shin", undo)
    assert layout() != before
    undo.close()
    assert layout() == before
    assert animation.action == action and animation.action_slot == slot
    assert animation.last_slot_identifier == last


@needs_slots
def test_a_slot_with_curves_of_somebody_else_stays_with_all_above_it(undo):
    armature = add_leg()
    action = bpy.data.actions.new("Half-made")
    animation = armature.animation_data_create()
    animation.action = action
    channels(armature, undo).fcurves.new("location")
    undo.close()
    assert [slot.identifier for slot in action.slots] == ["OBRig"]
    assert animation.action_slot == action.slots[0]
    assert [curve.data_path for curve in existing_fcurves(armature)] == ["location"]


@needs_slots
def test_a_group_of_somebody_else_keeps_its_channels(undo):
    armature = add_leg()
    action = bpy.data.actions.new("Half-made")
    animation = armature.animation_data_create()
    animation.action = action
    slot = animation.action_slot = action.slots.new(id_type='OBJECT', name="Rig")
    channels(armature, undo).groups.new("theirs")
    undo.close()
    assert [group.name for group in action.layers[0].strips[0].channelbag(slot).groups] == ["theirs"]


@needs_slots
def test_another_slot_that_somebody_chose_meanwhile_stays(undo):
    armature = add_leg()
    action = bpy.data.actions.new("Half-made")
    animation = armature.animation_data_create()
    animation.action = action
    channels(armature, undo)
    other = animation.action_slot = action.slots.new(id_type='OBJECT', name="Other")
    undo.close()
    assert animation.action_slot == other
    assert [slot.identifier for slot in action.slots] == ["OBOther"]


@needs_slots
def test_a_layer_with_a_strip_of_somebody_else_stays(undo):
    armature = add_leg()
    action = bpy.data.actions.new("Half-made")
    animation = armature.animation_data_create()
    animation.action = action
    channels(armature, undo)
    slot = action.slots.new(id_type='OBJECT', name="Other")
    action.layers[0].strips[0].channelbag(slot, ensure=True).fcurves.new("location")
    undo.close()
    assert [slot.identifier for slot in action.slots] == ["OBOther"]
    (bag,) = action.layers[0].strips[0].channelbags
    assert [curve.data_path for curve in bag.fcurves] == ["location"]


# --- For a while ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fails", [False, True])
def test_a_copy_plays_for_a_while_and_leaves_no_trace(fails):
    armature = keyed_leg()
    original, before = armature.animation_data.action, every_bit_of_animation(armature)
    try:
        with action_copied(armature):
            assert armature.animation_data.action != original
            assert {curve.data_path for curve in existing_fcurves(armature)} == {PATH}
            existing_channels(armature).fcurves.clear()
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    assert armature.animation_data.action == original
    assert every_bit_of_animation(armature) == before
    assert list(bpy.data.actions) == [original]


@pytest.mark.parametrize("data", [False, True])
def test_an_object_without_an_action_plays_an_empty_one_for_a_while(data):
    armature = add_leg()
    if data:
        armature.animation_data_create()
    with action_copied(armature):
        assert armature.animation_data.action.name == "ik2d preview"
        armature.keyframe_insert("location", frame=1)
    assert (armature.animation_data is not None) == data
    assert not data or armature.animation_data.action is None
    assert not len(bpy.data.actions)


def test_what_somebody_assigned_meanwhile_stays():
    armature = keyed_leg()
    other = bpy.data.actions.new("Other")
    with action_copied(armature):
        armature.animation_data.action = other
    assert armature.animation_data.action == other
    assert {action.name for action in bpy.data.actions} == {"RigAction", "Other"}


@needs_slots
def test_the_last_slot_is_known_again():
    armature = keyed_leg()
    animation = armature.animation_data
    action = animation.action
    animation.action_slot = action.slots.new(id_type='OBJECT', name="Other")
    animation.action_slot = None
    last = animation.last_slot_identifier
    with action_copied(armature):
        animation.action_slot = animation.action.slots[0]
    assert animation.action_slot is None and animation.last_slot_identifier == last == "OBOther"


def test_settings_of_groups_are_all_that_blender_has():
    group = existing_channels(keyed_leg()).groups[0]
    known = {
        prop.identifier
        for prop in group.bl_rna.properties
        if not prop.is_readonly and prop.identifier != "rna_type"
    }
    assert set(actions._GROUP_SETTINGS) == known


def leg_with_keys():
    armature = add_leg()
    for bone in armature.pose.bones:
        bone.keyframe_insert("location", frame=3, group=bone.name)
        bone.keyframe_insert("rotation_euler", index=1, frame=3, group="others")
    return armature


def test_curves_are_found_as_blender_finds_them():
    holder = existing_channels(leg_with_keys())
    known = KnownChannels(holder)
    places = {(curve.data_path, curve.array_index) for curve in holder.fcurves}
    assert len(places) == len(holder.fcurves) > 8
    for path in {path for path, _ in places} | {"location"}:
        assert known.fcurves.find(path) == holder.fcurves.find(path)
        for index in range(5):
            assert known.fcurves.find(path, index=index) == holder.fcurves.find(path, index=index)


def test_groups_are_found_as_blender_finds_them():
    holder = existing_channels(leg_with_keys())
    known = KnownChannels(holder)
    assert {"others", "shin", "thigh"} <= {group.name for group in holder.groups} == set(known.groups)
    for name in (*known.groups, "none"):
        assert known.groups.get(name) == holder.groups.get(name)
