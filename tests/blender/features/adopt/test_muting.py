# SPDX-License-Identifier: GPL-3.0-or-later
"""Muting a constraint for good, whatever animates that, and back."""

import bpy
import pytest
from ik_rigs import driven_mute, from_the_tip, keyed_mute
from rigs import evaluated_tip
from snapshots import differences
from whole_rig import whole_rig

from ik2d_addon.core import IK2DError
from ik2d_addon.features.adopt.muting import Unrestored, silence, unsilence
from ik2d_addon.rig.animation.versions import existing_fcurves


@pytest.mark.parametrize("make", [from_the_tip, driven_mute, keyed_mute])
def test_it_acts_on_no_frame_and_comes_back_to_the_bit(make):
    armature = make()
    constraint = armature.pose.bones["shin"].constraints[0]
    bpy.context.scene.frame_set(1)
    before, rest = whole_rig(armature), armature.data.bones["shin"].tail_local
    note = silence(armature, constraint)
    for frame in (1, 10):
        bpy.context.scene.frame_set(frame)
        assert (evaluated_tip(armature, "shin") - rest).length < 1e-6
    bpy.context.scene.frame_set(1)
    assert unsilence(armature, constraint, *note) == Unrestored()
    bpy.context.view_layer.update()
    assert not differences(before, whole_rig(armature))


def test_in_strips_of_the_nla_it_is_silent_too():
    armature = keyed_mute()
    constraint = armature.pose.bones["shin"].constraints[0]
    animation = armature.animation_data
    animation.nla_tracks.new().strips.new("all", 1, animation.action)
    animation.action = None
    note = silence(armature, constraint)
    bpy.context.scene.frame_set(10)
    assert constraint.mute
    assert unsilence(armature, constraint, *note) == Unrestored()
    bpy.context.scene.frame_set(11)
    assert not constraint.mute


def test_a_driver_that_is_gone_is_said():
    armature = driven_mute()
    constraint = armature.pose.bones["shin"].constraints[0]
    note = silence(armature, constraint)
    constraint.driver_remove("mute")
    (line,) = unsilence(armature, constraint, *note).gone
    assert "driver" in line and "gone" in line and not constraint.mute


def test_a_linked_action_is_refused_with_nothing_changed(tmp_path):
    armature = keyed_mute()
    constraint = armature.pose.bones["shin"].constraints[0]
    path = str(tmp_path / "lib.blend")
    bpy.data.libraries.write(path, {armature.animation_data.action})
    with bpy.data.libraries.load(path, link=True) as (source, into):
        into.actions = source.actions
    slot = getattr(armature.animation_data, "action_slot", None)
    name = slot.identifier if slot else ""
    armature.animation_data.action = into.actions[0]
    if slot:
        armature.animation_data.action_slot = into.actions[0].slots[name]
    with pytest.raises(IK2DError, match="linked from another file"):
        silence(armature, constraint)
    assert not constraint.mute and not any(curve.mute for curve in existing_fcurves(armature))
