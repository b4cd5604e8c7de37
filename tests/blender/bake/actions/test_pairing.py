# SPDX-License-Identifier: GPL-3.0-or-later
"""Pairs of actions: by what was given, slots, strips, names, and what is assigned."""

import bpy
import pytest
from clip_rigs import action_of, channels_for, key_path, misses, swing
from rigs import add_chain, add_leg

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import assign_action


@pytest.mark.parametrize("name", ["Walk.target", "Walk_targets", "targets Walk", "Walk Foot", "Foot|Walk"])
def test_names_pair(name):
    armature, target = add_leg(), bpy.data.objects.new("Foot", None)
    bpy.context.scene.collection.objects.link(target)
    add_chain(armature, "shin", target)
    own, other = action_of("Walk"), action_of(name)
    channels_for(own, armature)
    key_path(other, target, swing(0.0, 12, 0.2))
    report = bake(armature, actions=["Walk"])
    assert report.all_reached and len(report.chains[0].frames) == 12
    assert misses(armature, {armature: own, target: other}, 12) < 2e-6


def test_what_is_assigned_goes_together():
    armature, target = add_leg(), bpy.data.objects.new("Foot", None)
    bpy.context.scene.collection.objects.link(target)
    add_chain(armature, "shin", target)
    own, other = action_of("One"), action_of("Two")
    channels_for(own, armature)
    key_path(other, target, swing(0.0, 12, 0.2))
    assign_action(target.animation_data_create(), other, "OBFoot")
    report = bake(armature, actions=["One"])
    assert report.all_reached and len(report.chains[0].frames) == 12


def test_a_name_that_fits_two_targets_is_refused():
    armature, targets = add_leg(), []
    for number, tip in enumerate(("shin", "body")):
        target = bpy.data.objects.new(f"T{number}", None)
        bpy.context.scene.collection.objects.link(target)
        add_chain(armature, tip, target, 2 - number)
        targets.append(target)
    channels_for(action_of("Walk"), armature)
    action, ghost = action_of("Walk targets"), bpy.data.objects.new("ghost", None)
    key_path(action, ghost, swing(0.0, 12, 0.2))
    bpy.data.objects.remove(ghost)
    with pytest.raises(IK2DError, match="'Walk targets' may be of 'T1' and 'T0'"):
        bake(armature, actions=["Walk"])
    armature.ik2d.chains["body"].enabled = False
    assert not bake(armature, actions=["Walk"]).unmoved
