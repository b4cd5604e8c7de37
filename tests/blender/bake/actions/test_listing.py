# SPDX-License-Identifier: GPL-3.0-or-later
"""The clips that a bake of all actions takes are listed; faults of some hide none of the others."""

import bpy
from clip_rigs import CLIPS, action_of, add_clips, everything, part
from rigs import add_leg

from ik2d_addon.bake.actions.listing import listed_clips
from ik2d_addon.bake.request import read_rigs
from ik2d_addon.rig.animation.versions import assign_action


def listed(armature, **how):
    rigs, _ = read_rigs(armature, None, [1])
    return listed_clips(bpy.context.scene, armature, rigs, **how)


def test_all_clips_are_listed_with_their_frames_and_partners():
    armature, target = add_clips()
    before = everything()
    found = listed(armature)
    assert everything() == before and found.problems == ()
    assert [clip.name for clip in found.clips] == [f"{clip} Rig" for clip in sorted(CLIPS)]
    for clip in found.clips:
        last, _, cyclic = CLIPS[clip.name.split()[0]]
        assert clip.frames == (1, last) and clip.is_cyclic == cyclic
        assert [(play.owner, play.action.name) for play in clip.others] == [(target, f"{clip.name} targets")]


def test_a_clip_of_default_names_is_called_after_the_targets_action():
    armature, target = add_clips()
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    target.keyframe_insert("location", frame=1)
    target.keyframe_insert("location", frame=9)
    (clip,) = listed(armature).clips
    assert (clip.label, clip.frames) == (target.animation_data.action.name, (1, 9))


def test_given_frames_cut_those_of_the_clips():
    armature, _ = add_clips()
    assert {clip.frames for clip in listed(armature, frames=(3, 8)).clips} == {(3, 8)}


def test_a_clip_without_its_targets_action_is_named_and_the_others_are_listed():
    armature, target = add_clips()
    part("Run Rig", armature)
    # What is assigned now belongs to no other clip.
    assign_action(target.animation_data_create(), bpy.data.actions["Walk Rig targets"], f"OB{target.name}")
    found = listed(armature)
    (problem,) = found.problems
    assert "'Run Rig'" in problem and target.name in problem
    assert [clip.name for clip in found.clips] == ["Idle Rig", "Walk Rig"]


def test_a_clip_outside_the_given_frames_is_named():
    armature, _ = add_clips()
    found = listed(armature, frames=(11, 40))
    assert [clip.name for clip in found.clips] == ["Run Rig", "Walk Rig"]
    assert len(found.problems) == 1 and "Idle Rig" in found.problems[0]


def test_an_armature_without_actions_has_one_problem_and_no_clips():
    armature, _ = add_clips()
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    add_leg("Other")
    action_of("Empty")
    found = listed(armature)
    assert found.clips == () and len(found.problems) == 1
