# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose an action is: by who plays it, by its slots' names, and by its bones."""

import bpy
import pytest
from clip_rigs import action_of, add_clips, channels_for, key_path
from rigs import add_leg

from ik2d_addon.bake import bake, clear
from ik2d_addon.bake.actions.owned import NONE, OWN, SHARED, UNCLEAR, Claims
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import HAS_SLOTS, assign_action


def claim_of(armature, action):
    """Return the claim to the only slot of an action."""
    claims = Claims()
    ((_, slot, _),) = claims.holders(action)
    return claims.claim(armature, action, slot)


def keyed_bone(name, armature):
    """Add an action that moves the body, in a slot that has the name of no object."""
    action = action_of(name)
    ghost = bpy.data.objects.new("ghost", None)
    holder = channels_for(action, ghost)
    path = armature.pose.bones["body"].path_from_id("location")
    holder.fcurves.new(path).keyframe_points.insert(1, 0.0)
    bpy.data.objects.remove(ghost)
    return action


def test_an_action_is_of_the_armature_that_has_its_bones():
    one, other = add_leg("A"), add_leg("B")
    other.data.bones["body"].name = "trunk"
    assert claim_of(one, keyed_bone("Move", one)) == OWN
    assert claim_of(other, bpy.data.actions["Move"]) == NONE


def test_of_two_armatures_alike_the_name_tells():
    one, other = add_leg("A"), add_leg("B")
    named, unnamed = keyed_bone("Move B", one), keyed_bone("Move", one)
    assert claim_of(other, named) == OWN and claim_of(one, named) == NONE
    assert claim_of(one, unnamed) == claim_of(other, unnamed) == UNCLEAR


def test_who_plays_it_comes_first():
    one, other = add_leg("A"), add_leg("B")
    action = keyed_bone("Move B", one)
    slot = action.slots[0].identifier if HAS_SLOTS else ""
    assign_action(one.animation_data_create(), action, slot)
    assert claim_of(one, action) == OWN and claim_of(other, action) == NONE
    assign_action(other.animation_data_create(), action, slot)
    assert claim_of(one, action) == claim_of(other, action) == SHARED


def test_an_action_of_a_target_is_no_armatures():
    armature, target = add_clips("A")
    action = action_of("Anything")
    key_path(action, target, {1: (0, 0, 0), 9: (0, 0, 1)})
    assert claim_of(armature, action) == NONE


def test_copies_and_kept_motion_are_set_aside():
    copy, kept = action_of("Walk baked"), action_of("Walk, before IK 2D")
    copy.ik2d.baked_from, kept["ik2d_kept"] = "Walk", 1
    assert Claims().actions == []


def test_an_action_of_a_material_is_no_objects():
    armature, _ = add_clips("A")
    bpy.data.actions.remove(bpy.data.actions["Walk A targets"])
    material = bpy.data.materials.new("Skin")
    for frame in (1, 9):
        material.keyframe_insert("diffuse_color", frame=frame)
    action = material.animation_data.action
    action.name = "Walk A targets"
    assert (action in Claims().actions) == HAS_SLOTS
    with pytest.raises(IK2DError, match="No action of 'A's foot' is known to go with 'Walk A'"):
        bake(armature, actions=["Walk A", "Run A"])


def test_an_action_with_the_names_of_two_armatures_alike_is_unclear():
    one, other = add_leg("A"), add_leg("B")
    action = keyed_bone("A meets B", one)
    assert claim_of(one, action) == claim_of(other, action) == UNCLEAR
    action.ik2d.count = 1  # as one that was baked
    with pytest.raises(IK2DError, match="'A meets B' may be of 'A' or of another armature"):
        clear(one, actions='ALL')
