# SPDX-License-Identifier: GPL-3.0-or-later
"""The actions that were asked for, by name or all; and those to clear."""

import bpy
import pytest
from clip_rigs import CLIPS, action_of, add_clips, channels_for, everything, misses
from rigs import add_chain, add_leg

from ik2d_addon.bake import BakeOptions, bake, clear
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import HAS_SLOTS, has_curves


def test_a_linked_action_goes_into_a_new_one(tmp_path):
    armature, _ = add_clips("A")
    path = str(tmp_path / "clips.blend")
    bpy.data.libraries.write(path, {bpy.data.actions["Walk A"]})
    bpy.data.actions.remove(bpy.data.actions["Walk A"])
    with bpy.data.libraries.load(path, link=True) as (_, wanted):
        wanted.actions = ["Walk A"]
    with pytest.raises(IK2DError, match="linked from another file.*bake into new actions"):
        bake(armature, actions=["Walk A"])
    report = bake(armature, actions=["Walk A"], options=BakeOptions(into='NEW'))
    copy = bpy.data.actions[report.by_action[0].action]
    assert report.all_reached and copy.library is None and len(channels_for(copy, armature).fcurves) == 8


def test_bakes_are_cleared_in_one_action_or_in_all():
    armature, _ = add_clips("A")
    bake(armature, actions='ALL')
    holders = {clip: channels_for(bpy.data.actions[f"{clip} A"], armature) for clip in CLIPS}
    assert clear(armature, actions=["Walk A"]) == 8 * CLIPS["Walk"][0]
    assert [len(holders[clip].fcurves) for clip in CLIPS] == [8, 0, 8]
    assert clear(armature, actions='ALL') == 8 * (CLIPS["Idle"][0] + CLIPS["Run"][0])
    assert [len(holder.fcurves) for holder in holders.values()] == [0, 0, 0]
    assert clear(armature, actions='ALL') == 0


def test_a_clear_gives_back_the_pose_without_keys():
    armature, target = add_clips("A")
    bone = armature.pose.bones["thigh"]
    bone.rotation_quaternion = (0.8, 0.6, 0.0, 0.0)
    pose = tuple(bone.rotation_quaternion)
    bake(armature, actions='ALL')
    assert tuple(bone.rotation_quaternion) == pose
    plays = {armature: bpy.data.actions["Walk A"], target: bpy.data.actions["Walk A targets"]}
    assert misses(armature, plays, 16) < 1e-5 and tuple(bone.rotation_quaternion) != pose
    clear(armature, actions='ALL')
    assert tuple(bone.rotation_quaternion) == pose


def test_new_actions_are_cleared_too():
    armature, _ = add_clips("A")
    bake(armature, actions=["Walk A"], options=BakeOptions(into='NEW'))
    copy = bpy.data.actions["Walk A baked"]
    assert clear(armature, actions='ALL') == 8 * CLIPS["Walk"][0]
    assert len(channels_for(copy, armature).fcurves) == 0


def test_what_cannot_be_cleared_is_refused():
    armature, target = add_clips("A")
    bake(armature, actions='ALL')
    with pytest.raises(IK2DError, match="no action 'Jump'"):
        clear(armature, actions=["Walk A", "Jump"])
    with pytest.raises(IK2DError, match="'Walk A targets'"):
        clear(armature, actions=["Walk A", "Walk A targets"])
    assert len(channels_for(bpy.data.actions["Walk A"], armature).fcurves) == 8


@pytest.mark.skipif(not HAS_SLOTS, reason="Before 4.4 actions have no slots")
def test_an_empty_action_with_the_slot_of_another_rig_is_not_this_ones():
    """Although its name is that of the rig "A", and of a clip "b Bob" then."""
    legs = [add_clips("A"), add_clips("Bob", 3.0)]
    for armature, _ in legs:
        bpy.data.actions[f"Walk {armature.name}"].name = f"a|b {armature.name}"
        bpy.data.actions[f"Walk {armature.name} targets"].name = f"a|b {armature.name} targets"
    followed = add_leg("Horse")  # whose chain follows the rig A, so that actions of A are targets' too
    add_chain(followed, "shin", legs[0][0], subtarget="body")
    for clip in ("a|b", "Run", "Idle"):
        channels_for(action_of(f"{clip} Horse"), followed)
    report = bake([*(armature for armature, _ in legs), followed], actions='ALL')
    assert {one.action for one in report.by_action} == {
        f"{clip} A, {clip} Bob, {clip} Horse" for clip in ("a|b", "Run", "Idle")
    }


def test_actions_that_a_bake_has_made_go_when_they_are_cleared():
    armature, target = add_clips("A")
    for clip in CLIPS:
        bpy.data.actions.remove(bpy.data.actions[f"{clip} A"])
        action = bpy.data.actions[f"{clip} A targets"]
        action.name = f"{clip} {target.name}"
        strip = (target.animation_data or target.animation_data_create()).nla_tracks.new()
        strip.strips.new(clip, 1, action)
    before = everything()
    bake(armature, actions='ALL')
    walk = bpy.data.actions["Walk"]
    channels_for(walk, armature).fcurves.new('["mine"]').keyframe_points.insert(1, 2.0)
    clear(armature, actions='ALL')
    assert walk.use_fake_user and len(bpy.data.actions) == 4  # not one that holds something else
    bpy.data.actions.remove(walk)
    assert everything() == before


def test_a_copy_is_cleared_with_the_armature_that_plays_its_original():
    legs = [add_clips("A"), add_clips("B", 3.0)]
    for number, (armature, _) in enumerate(legs):  # names that do not tell
        action = bpy.data.actions[f"Walk {armature.name}"]
        bpy.data.actions[f"{action.name} targets"].name = f"Take {number} targets"
        action.name = f"Take {number}"
        track = armature.animation_data_create().nla_tracks.new()
        track.mute, strip = True, track.strips.new("take", 1, action)
        if HAS_SLOTS:
            strip.action_slot = action.slots[0]
            action.slots[0].name_display = "Legs"
    for number, (armature, _) in enumerate(legs):
        bake(armature, actions=[f"Take {number}"], options=BakeOptions(into='NEW'))
    assert clear(legs[1][0], actions='ALL') == 8 * 16
    copies = [bpy.data.actions[f"Take {number} baked"] for number in range(2)]
    assert [has_curves(copy) for copy in copies] == [True, False]
