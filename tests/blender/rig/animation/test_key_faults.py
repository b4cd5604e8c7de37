# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps channels from taking keys."""

import bpy
import numpy as np
import pytest
from keyed_legs import EULER, FRAMES, LOCATION, curve_of, euler_leg, key_euler, location, rotation
from rigs import add_leg

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.bone_channels import BoneRotation
from ik2d_addon.rig.animation.key_faults import check_writable, notes_before
from ik2d_addon.rig.animation.versions import existing_fcurves

# --- What keeps keys from playing -----------------------------------------------------------------


SLOTS = hasattr(bpy.types, "ActionSlot")


def test_a_plain_rig_has_nothing_to_warn_of():
    armature = euler_leg()
    assert check_writable(armature, [rotation()], FRAMES) == []
    key_euler(armature)
    assert check_writable(armature, [rotation()], FRAMES) == []


@pytest.mark.parametrize("what", ["curve", "group"])
def test_locked_channels_are_refused_and_muted_ones_told(what):
    armature = euler_leg()
    key_euler(armature)
    curve = curve_of(armature, 1)
    holder = curve if what == "curve" else curve.group
    holder.mute = True
    silent = f"'Rig': channel {EULER} is muted: its keys do not play; unmute it"
    if what == "group" and SLOTS:
        silent = (
            "'Rig': channel group 'shin' is muted, which Blender applies in NLA strips only: its keys play"
            " until the action becomes one; unmute it"
        )
    elif what == "group":
        silent = "'Rig': channel group 'shin' is muted: its keys do not play; unmute it"
    assert check_writable(armature, [rotation()], FRAMES) == [silent]
    assert check_writable(armature, [rotation("thigh")], FRAMES) == []
    holder.lock = True
    with pytest.raises(IK2DError, match="is locked; unlock it to bake$"):
        check_writable(armature, [rotation()], FRAMES)
    assert check_writable(armature, [rotation("thigh")], FRAMES) == []


def test_an_animated_rotation_mode_is_refused_by_its_bones_name():
    armature = euler_leg()
    armature.pose.bones["shin"].keyframe_insert("rotation_mode", frame=1)
    assert check_writable(armature, [rotation("thigh")], FRAMES) == []
    with pytest.raises(
        IK2DError, match="'Rig': the rotation mode of bone 'shin' is animated; delete its keys"
    ):
        check_writable(armature, [rotation("thigh"), rotation()], FRAMES)


def test_curves_that_hold_samples_are_refused():
    armature = euler_leg()
    key_euler(armature)
    curve_of(armature, 2).convert_to_samples(1, 6)
    with pytest.raises(IK2DError, match="holds samples; turn them into keys to bake"):
        check_writable(armature, [rotation()], FRAMES)


def test_modifiers_are_told_unless_muted():
    armature = euler_leg()
    key_euler(armature)
    modifier = curve_of(armature).modifiers.new('NOISE')
    (warning,) = check_writable(armature, [rotation()], FRAMES)
    assert warning == f"'Rig': channel {EULER} has F-Curve modifiers, which act on top of the keys; mute them"
    modifier.mute = True
    assert check_writable(armature, [rotation()], FRAMES) == []


def test_others_that_play_the_same_action_are_told():
    armature, other = euler_leg(), add_leg("Other")
    other.pose.bones["shin"].rotation_mode = 'XYZ'
    key_euler(armature)
    other.animation_data_create().action = armature.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = armature.animation_data.action_slot
    assert check_writable(armature, [rotation()], FRAMES) == [
        "'Rig': 'Other' plays the same action and gets these keys too; give it a copy"
    ]


def test_drivers_are_told_by_bone_unless_muted():
    armature = euler_leg()
    for name in ("thigh", "shin", "body"):
        armature.pose.bones[name].driver_add("rotation_euler", 0)
    armature.pose.bones["shin"].driver_add("location", 0)
    rotations = [rotation("thigh"), rotation()]
    assert check_writable(armature, rotations, FRAMES) == [
        f"'Rig': bone '{name}' is driven; drivers override keys" for name in ("shin", "thigh")
    ]
    for curve in armature.animation_data.drivers:
        curve.mute = True
    assert check_writable(armature, rotations, FRAMES) == []


@pytest.mark.parametrize("setting, value", [("action_influence", 0.99), ("action_blend_type", 'ADD')])
def test_an_action_that_is_mixed_is_told(setting, value):
    armature = euler_leg()
    setattr(armature.animation_data_create(), setting, value)
    assert check_writable(armature, [rotation()], FRAMES) == [
        "'Rig': its action is mixed with NLA strips; set it to Replace, influence 1"
    ]


def test_keys_in_a_mode_that_is_left_are_told():
    armature = add_leg()
    armature.pose.bones["shin"].keyframe_insert("rotation_quaternion", frame=1)
    armature.pose.bones["thigh"].keyframe_insert("location", frame=1)
    rotations = [rotation("thigh", mode='XYZ'), rotation(mode='XYZ')]
    (warning,) = check_writable(armature, rotations, FRAMES)
    assert warning.startswith("'Rig': bone 'shin' has keys in another rotation mode; they stay, but")
    assert warning.endswith("no longer play in XYZ Euler, also outside the baked frames")
    assert check_writable(armature, [rotation()], FRAMES) == []  # a mode that stays leaves nothing behind
    armature.pose.bones["thigh"].keyframe_insert("rotation_euler", frame=1)
    assert len(check_writable(armature, rotations, FRAMES)) == 1  # these go on playing


def test_groups_that_new_keys_would_go_into_count_too():
    armature = euler_leg()
    armature.pose.bones["shin"].keyframe_insert("location", frame=1, group="shin")
    (group,) = {curve.group for curve in existing_fcurves(armature)}
    group.lock = True
    assert check_writable(armature, [rotation("thigh")], FRAMES) == []
    with pytest.raises(IK2DError, match="^'Rig': channel group 'shin' is locked; unlock it to bake$"):
        check_writable(armature, [rotation()], FRAMES)
    armature.pose.bones["shin"].lock_rotation = (True, True, True)
    assert check_writable(armature, [rotation()], FRAMES) == []  # gets none


def test_a_group_is_none_of_a_channel_that_rests_without_a_curve():
    armature = euler_leg()
    armature.pose.bones["shin"].keyframe_insert("rotation_euler", index=1, frame=1, group="apart")
    armature.pose.bones["shin"].keyframe_insert("location", frame=1, group="shin")
    groups = {curve.group.name: curve.group for curve in existing_fcurves(armature)}
    groups["shin"].lock = True
    assert check_writable(armature, [rotation(turning=1)], FRAMES) == []
    with pytest.raises(IK2DError, match="group 'shin' is locked"):
        check_writable(armature, [rotation(turning=0)], FRAMES)
    groups["shin"].lock, groups["apart"].lock = False, True
    with pytest.raises(IK2DError, match="is locked"):
        check_writable(armature, [rotation(turning=0)], FRAMES)


def test_a_muted_group_keeps_keys_from_playing_where_the_action_is_mixed():
    armature = euler_leg()
    key_euler(armature)
    curve_of(armature).group.mute = True
    animation = armature.animation_data
    other = bpy.data.actions.new("Other")
    animation.nla_tracks.new().strips.new("Strip", 1, other)
    assert "'Rig': channel group 'shin' is muted: its keys do not play; unmute it" in check_writable(
        armature, [rotation()], FRAMES
    )


def test_others_that_have_no_such_bone_or_turn_it_otherwise_are_not_told():
    armature, other = euler_leg(), add_leg("Other")  # in quaternions: these keys do nothing to it
    key_euler(armature)
    other.animation_data_create().action = armature.animation_data.action
    if SLOTS:
        other.animation_data.action_slot = armature.animation_data.action_slot
    assert check_writable(armature, [rotation()], FRAMES) == []
    other.pose.bones["shin"].rotation_mode = 'ZYX'
    assert len(check_writable(armature, [rotation()], FRAMES)) == 1
    other.data.bones["shin"].name = "calf"
    assert check_writable(armature, [rotation()], FRAMES) == []


def strip_of_shin(armature, first=1, last=40):
    """Push keys of the shin down into a strip that plays from one frame to another."""
    key_euler(armature, frames=(first, last))
    animation = armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Strip", first, action)
    if slot is not None:
        strip.action_slot = slot
    return strip


def test_what_strips_move_and_new_keys_hold_still_is_told_before_and_when_writing():
    armature = euler_leg()
    strip_of_shin(armature)
    (told,) = check_writable(armature, [rotation()], FRAMES)
    assert "NLA strips move 'shin' from frame 1 to 40; after frame 6 the new keys hold the pose" in told
    assert notes_before(armature, ["shin", "no such bone"], FRAMES) == [told]
    assert notes_before(armature, ["thigh"], FRAMES) == []


def test_a_track_that_plays_solo_is_told():
    armature = euler_leg()
    strip_of_shin(armature)
    armature.animation_data.nla_tracks[0].is_solo = True
    (told,) = check_writable(armature, [rotation()], FRAMES)
    assert "plays solo, so that new keys do not play" in told


def test_keys_of_strips_in_a_mode_that_is_left_are_told():
    armature = euler_leg()
    strip_of_shin(armature)
    rotations = [BoneRotation("shin", "rotation_quaternion", np.zeros((3, 4)), mode='QUATERNION')]
    (told,) = check_writable(armature, rotations, FRAMES)
    assert "bone 'shin' has keys in another rotation mode" in told


def test_locked_channels_of_a_location_that_are_left_alone_do_not_matter():
    armature = euler_leg()
    for index in (0, 1):
        armature.pose.bones["shin"].keyframe_insert("location", index=index, frame=1)
    curve_of(armature, 0, LOCATION).lock = True
    assert check_writable(armature, [location(1)], FRAMES) == []
    with pytest.raises(IK2DError, match="location is locked"):
        check_writable(armature, [location(0)], FRAMES)
