# SPDX-License-Identifier: GPL-3.0-or-later
"""Actions, slots and channels as every Blender version has them."""

from types import SimpleNamespace

import bpy
import pytest
from keyed_chains import put_into_strip, two_legs
from rigs import add_leg, every_bit_of_animation, is_selected

from ik2d_addon.rig.animation.versions import (
    assign_action,
    channels_at,
    channels_copied,
    curve_at,
    existing_channels,
    existing_fcurves,
    has_curves,
    heeds_muted_groups,
    holders_of,
    is_plain,
    place_of,
    places_played,
    playing_strips,
    plays,
    select_bone,
    sharing_channels,
    strip_channels,
)

PATH = 'pose.bones["shin"].location'
SLOTS = hasattr(bpy.types, "ActionSlot")
needs_slots = pytest.mark.skipif(not SLOTS, reason="4.4 brought slots")


def keyed_leg(name="Rig"):
    """Add a leg with a key on its shin."""
    armature = add_leg(name)
    armature.pose.bones["shin"].keyframe_insert("location", frame=3)
    return armature


def push_down(armature, start=3):
    """Make a strip of an object's action, of its slot; return it."""
    animation = armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Strip", start, action)
    if slot is not None:
        strip.action_slot = slot
    return strip


# --- Channels -------------------------------------------------------------------------------------


def test_an_object_without_animation_has_no_channels():
    armature = add_leg()
    assert existing_channels(armature) is None and list(existing_fcurves(armature)) == []
    armature.animation_data_create()
    assert existing_channels(armature) is None and list(existing_fcurves(armature)) == []
    assert armature.animation_data.action is None


def test_existing_channels_are_those_that_keys_are_in():
    armature = keyed_leg()
    holder = existing_channels(armature)
    assert [curve.array_index for curve in holder.fcurves] == [0, 1, 2]
    assert {curve.data_path for curve in existing_fcurves(armature)} == {PATH}


@needs_slots
def test_an_action_without_a_chosen_slot_a_layer_or_a_strip_has_none():
    armature = keyed_leg()
    animation = armature.animation_data
    animation.action_slot = None
    assert existing_channels(armature) is None
    empty = bpy.data.actions.new("Empty")
    animation.action = empty
    animation.action_slot = empty.slots.new(id_type='OBJECT', name="Rig")
    assert existing_channels(armature) is None
    layer = empty.layers.new("Layer")
    assert existing_channels(armature) is None
    strip = layer.strips.new(type='KEYFRAME')
    assert existing_channels(armature) is None
    bag = strip.channelbag(animation.action_slot, ensure=True)
    assert existing_channels(armature) == bag


def test_channels_are_found_again_by_their_place():
    armature = keyed_leg()
    holder, action = existing_channels(armature), armature.animation_data.action
    place = place_of(holder)
    assert place == (action, armature.animation_data.action_slot.handle if SLOTS else 0)
    assert channels_at(place) == holder
    assert curve_at(place, PATH, 1) == holder.fcurves[1]
    assert curve_at(place, PATH, 3) is None and curve_at(place, "location", 1) is None
    if SLOTS:
        assert channels_at((action, place[1] + 1)) is None
        assert curve_at((action, place[1] + 1), PATH, 1) is None


def test_an_action_has_curves_of_whichever_slot():
    armature = keyed_leg()
    action = armature.animation_data.action
    assert has_curves(action)
    if SLOTS:
        armature.animation_data.action_slot = action.slots.new(id_type='OBJECT', name="Other")
        assert has_curves(action)
        bag = action.layers[0].strips[0].channelbags[0]
    else:
        bag = action
    bag.fcurves.clear()
    assert not has_curves(action)
    assert not has_curves(bpy.data.actions.new("Empty"))


def test_an_action_is_plain_with_one_layer_at_most_that_has_one_strip():
    assert is_plain(None) and is_plain(bpy.data.actions.new("Empty"))
    assert is_plain(keyed_leg().animation_data.action)
    if SLOTS:  # no Blender so far makes such actions
        strips = [object()]
        for layers, plain in (
            ([SimpleNamespace(strips=strips)], True),
            ([SimpleNamespace(strips=strips, influence=0.5)], False),
            ([SimpleNamespace(strips=2 * strips)], False),
            (2 * [SimpleNamespace(strips=strips)], False),
        ):
            assert is_plain(SimpleNamespace(layers=layers)) == plain


@pytest.mark.parametrize("fails", [False, True])
def test_channels_are_copied_for_a_while(fails):
    armature = keyed_leg()
    if SLOTS:
        armature.animation_data.action.slots.new(id_type='OBJECT', name="Other")
    before = every_bit_of_animation(armature)
    try:
        with channels_copied(armature) as holder:
            assert holder != existing_channels(armature)
            assert [curve.data_path for curve in holder.fcurves] == [PATH] * 3
            holder.fcurves.clear()
            if fails:
                raise RuntimeError
    except RuntimeError:
        assert fails
    assert every_bit_of_animation(armature) == before
    assert list(bpy.data.actions) == [armature.animation_data.action]


def test_of_no_channels_there_is_no_copy():
    armature = add_leg()
    with channels_copied(armature) as holder:
        assert holder is None
    armature.animation_data_create()
    with channels_copied(armature) as holder:
        assert holder is None


# --- Strips ---------------------------------------------------------------------------------------


def test_strips_play_unless_they_or_their_track_are_muted_or_another_plays_solo():
    armature = keyed_leg()
    animation = armature.animation_data
    strip = push_down(armature)
    other = animation.nla_tracks.new().strips.new("Other", 1, strip.action)
    first, second = animation.nla_tracks

    def names():
        return [strip.name for strip in playing_strips(animation)]

    assert names() == ["Strip", "Other"]
    first.mute = True
    assert names() == ["Other"]
    first.mute, other.mute = False, True
    assert names() == ["Strip"]
    other.mute, second.is_solo = False, True
    assert names() == ["Other"]
    second.mute = True  # solo wins
    assert names() == ["Other"]
    animation.use_nla = False
    assert names() == []
    assert [curve.data_path for curve in strip_channels(strip).fcurves] == [PATH] * 3


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


def test_others_that_play_them_in_strips_are_found_too():
    armature, other = keyed_leg(), add_leg("Other")
    animation = other.animation_data_create()
    animation.action = armature.animation_data.action
    if SLOTS:
        animation.action_slot = armature.animation_data.action_slot
    strip = push_down(other)
    assert sharing_channels(armature) == [other]
    strip.mute = True
    assert sharing_channels(armature) == []


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


def test_what_a_library_owns_is_copied_before_it_is_keyed_so_it_is_not_shared(tmp_path):
    armature, other = keyed_leg(), add_leg("Other")
    path = str(tmp_path / "actions.blend")
    bpy.data.libraries.write(path, {armature.animation_data.action})
    with bpy.data.libraries.load(path, link=True) as (there, wanted):
        wanted.actions = there.actions
    for ob in (armature, other):
        animation = ob.animation_data or ob.animation_data_create()
        animation.action = wanted.actions[0]
        if SLOTS:
            animation.action_slot = wanted.actions[0].slots[0]
    assert sharing_channels(armature) == []


def test_muted_groups_are_heeded_where_the_action_is_mixed_and_before_slots_always():
    armature = add_leg()
    assert heeds_muted_groups(armature)
    armature = keyed_leg("Keyed")
    assert heeds_muted_groups(armature) != SLOTS
    animation = armature.animation_data
    action = animation.action
    strip = push_down(armature)
    animation.action = action
    assert heeds_muted_groups(armature)
    strip.mute = True
    assert heeds_muted_groups(armature) != SLOTS
    strip.mute, animation.action = False, None
    animation.nla_tracks[0].select = strip.select = True
    animation.nla_tracks.active = animation.nla_tracks[0]
    animation.use_tweak_mode = True
    assert heeds_muted_groups(armature)


def test_curves_play_unless_they_or_a_group_that_is_heeded_are_muted():
    armature = add_leg()
    armature.pose.bones["shin"].keyframe_insert("location", index=0, frame=3, group="shin")
    (curve,) = existing_fcurves(armature)
    assert plays(armature, curve)
    curve.group.mute = True
    assert plays(armature, curve) == SLOTS
    armature.animation_data.nla_tracks.new().strips.new("Strip", 1, armature.animation_data.action)
    assert not plays(armature, curve)
    curve.group.mute = False
    assert plays(armature, curve)
    curve.mute = True
    assert not plays(armature, curve)
    alone = existing_channels(armature).fcurves.new("scale")
    assert alone.group is None and plays(armature, alone)


# --- Assigning, selecting -------------------------------------------------------------------------


@needs_slots
def test_assigning_chooses_the_slot_of_that_identifier():
    armature = keyed_leg()
    animation = armature.animation_data
    identifier, copy = animation.action_slot.identifier, animation.action.copy()
    other = copy.slots.new(id_type='OBJECT', name="Other")
    assign_action(animation, copy, other.identifier)
    assert (animation.action, animation.action_slot) == (copy, other)
    assign_action(animation, copy, identifier)
    assert animation.action_slot.identifier == identifier
    assign_action(animation, copy, "")
    assert animation.action_slot is None
    assign_action(animation, copy, "OBNone")
    assert animation.action_slot is None


def test_no_action_can_be_assigned():
    armature = keyed_leg()
    action = armature.animation_data.action
    assign_action(armature.animation_data, None, "OBRig")
    assert armature.animation_data.action is None
    assign_action(armature.animation_data, action, "OBRig")
    assert len(existing_fcurves(armature)) == 3


@pytest.mark.parametrize("select", [True, False])
def test_bones_are_selected_and_taken_out_of_the_selection(select):
    bone = add_leg().pose.bones["shin"]
    select_bone(bone, not select)
    select_bone(bone, select)
    assert is_selected(bone) == select


def test_an_object_plays_its_action_its_strips_and_what_waits_in_tweak_mode():
    armature = two_legs()
    walk = armature.animation_data.action
    run, jump = walk.copy(), walk.copy()
    put_into_strip(armature, run).mute = True
    assign_action(armature.animation_data, jump, jump.slots[0].identifier if SLOTS else "")
    assert {action for action, _ in places_played(armature)} == {run, jump}
    track = armature.animation_data.nla_tracks[0]
    track.strips[0].mute, track.strips[0].select, track.select = False, True, True
    armature.animation_data.nla_tracks.active = track
    armature.animation_data.use_tweak_mode = True
    assert armature.animation_data.action == run
    assert {action for action, _ in places_played(armature)} == {run, jump}
    for place in places_played(armature):
        assert channels_at(place) is not None
    armature.animation_data_clear()
    assert list(places_played(armature)) == []


def test_an_action_has_channels_for_each_slot():
    armature = two_legs()
    action = armature.animation_data.action
    slots = ["OBRig"] if SLOTS else [""]
    assert [slot for _, slot in holders_of(action)] == slots
    if SLOTS:
        action.layers[0].strips[0].channelbag(action.slots.new(id_type='OBJECT', name="Cube"), ensure=True)
        assert [slot for _, slot in holders_of(action)] == ["OBRig", "OBCube"]
    for holder, _ in holders_of(action):
        assert place_of(holder)[0] == action


@needs_slots
def test_a_slot_without_a_type_is_assigned_again():
    """As of a file of 4.3, which no script can make: since it was assigned its identifier is another one."""
    animation = SimpleNamespace(action=None, action_slot=None, id_data=SimpleNamespace(id_type='OBJECT'))
    action = SimpleNamespace(slots={"OBLegacy Slot": "the slot"})
    assign_action(animation, action, "XXLegacy Slot")
    assert animation.action is action and animation.action_slot == "the slot"
    action.slots["XXLegacy Slot"] = "still without"
    assign_action(animation, action, "XXLegacy Slot")
    assert animation.action_slot == "still without"
