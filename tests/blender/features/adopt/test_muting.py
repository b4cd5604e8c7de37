# SPDX-License-Identifier: GPL-3.0-or-later
"""Muting a constraint for good, whatever animates that, and back."""

import bpy
import pytest
from ik_rigs import driven_mute, from_the_tip, keyed_mute
from rigs import evaluated_tip
from snapshots import differences
from whole_rig import whole_rig

from ik2d_addon.features.adopt.muting import silence, unsilence, unsilence_as_noted
from ik2d_addon.rig.animation import versions
from ik2d_addon.rig.animation.versions import existing_fcurves


def acts(armature, frame):
    """Return whether the IK moves the evaluated tip on a frame."""
    bpy.context.scene.frame_set(frame)
    return (evaluated_tip(armature, "shin") - armature.data.bones["shin"].tail_local).length > 1e-6


def is_silenced_and_comes_back(armature):
    """Return whether a leg's IK acts on no frame once it is silenced, and comes back exactly."""
    constraint = armature.pose.bones["shin"].constraints[0]
    assert acts(armature, 10) and acts(armature, 1)
    before = whole_rig(armature)
    was_muted, target = silence(armature, constraint)
    is_silent = not (acts(armature, 1) or acts(armature, 10))
    bpy.context.scene.frame_set(1)
    unsilence(constraint, was_muted, target, "")
    bpy.context.view_layer.update()
    return is_silent and not differences(before, whole_rig(armature))


def in_strips():
    """Add a leg whose IK's mute is keyed in an NLA strip."""
    armature = keyed_mute()
    animation = armature.animation_data
    animation.nla_tracks.new().strips.new("all", 1, animation.action)
    animation.action = None
    return armature


def keyed_in_a_linked_action(tmp_path):
    """Add a leg whose IK's mute is keyed in an action of another file."""
    armature = keyed_mute()
    path = str(tmp_path / "lib.blend")
    bpy.data.libraries.write(path, {armature.animation_data.action})
    with bpy.data.libraries.load(path, link=True) as (source, into):
        into.actions = source.actions
    slot = getattr(armature.animation_data, "action_slot", None)
    name = slot.identifier if slot else ""
    armature.animation_data.action = into.actions[0]
    if slot:
        armature.animation_data.action_slot = into.actions[0].slots[name]
    return armature


@pytest.mark.parametrize("make", [from_the_tip, driven_mute, keyed_mute, in_strips])
def test_it_acts_on_no_frame_and_comes_back_exactly(make):
    assert is_silenced_and_comes_back(make())


def test_keyed_in_a_linked_action_too(tmp_path):
    assert is_silenced_and_comes_back(keyed_in_a_linked_action(tmp_path))


def test_only_where_its_mute_is_animated_it_loses_its_target():
    for make, loses in ((from_the_tip, False), (driven_mute, True), (keyed_mute, True), (in_strips, True)):
        armature = make()
        constraint = armature.pose.bones["shin"].constraints[0]
        target = constraint.target
        assert silence(armature, constraint) == (False, target if loses else None)
        assert constraint.mute and (constraint.target is None) == loses


# --- Notes of 1.0.0 -----------------------------------------------------------------------------------


def muted_by_1_0(armature):
    """Mute a leg's IK with its driver and F-Curves as 1.0.0 did; return its note and their actions."""
    constraint, lines, actions = armature.pose.bones["shin"].constraints[0], ["mute\t0"], []
    animation = armature.animation_data
    for driver in animation.drivers:
        lines.append(f"driver\t{driver.data_path}")
        driver.mute = True
    for curve in existing_fcurves(armature):
        lines.append(f"curve\t{curve.data_path}\t{versions.slot_handle(animation)}")
        actions.append(animation.action)
        curve.mute = True
    constraint.mute = True
    return "\n".join(lines), actions


@pytest.mark.parametrize("make", [from_the_tip, driven_mute, keyed_mute])
def test_what_1_0_has_muted_comes_back_exactly(make):
    armature = make()
    armature.animation_data_create()
    constraint = armature.pose.bones["shin"].constraints[0]
    bpy.context.scene.frame_set(1)
    before = whole_rig(armature)
    note, actions = muted_by_1_0(armature)
    assert not acts(armature, 1)
    assert unsilence_as_noted(armature, constraint, "it", note, actions) == ""
    bpy.context.view_layer.update()
    assert acts(armature, 1) and not differences(before, whole_rig(armature))


def test_a_driver_of_a_note_that_is_gone_is_said():
    armature = driven_mute()
    constraint = armature.pose.bones["shin"].constraints[0]
    note, actions = muted_by_1_0(armature)
    constraint.driver_remove("mute")
    said = unsilence_as_noted(armature, constraint, "'IK' of bone 'shin'", note, actions)
    assert said == "Animation of the mute of 'IK' of bone 'shin' is gone" and not constraint.mute


def test_a_curve_that_its_owner_had_muted_stays_so():
    armature = keyed_mute()
    (curve,) = existing_fcurves(armature)
    curve.mute = True
    assert unsilence_as_noted(armature, armature.pose.bones["shin"].constraints[0], "it", "mute\t0", []) == ""
    assert curve.mute
