# SPDX-License-Identifier: GPL-3.0-or-later
"""The stage: objects play a clip, and then exactly what they did before."""

import bpy
from clip_rigs import add_clips, everything
from rigs import evaluated_place

from ik2d_addon.bake.actions.clips import Clip, Play
from ik2d_addon.bake.actions.stage import Stage
from ik2d_addon.rig.animation.versions import HAS_SLOTS, assign_action


def clip_named(name, armature, target):
    """Return a clip of a leg and its target."""
    slots = (f"OB{armature.name}", f"OB{target.name}") if HAS_SLOTS else ("", "")
    own, other = bpy.data.actions[f"{name} A"], bpy.data.actions[f"{name} A targets"]
    return Clip(name, (Play(armature, own, slots[0]),), (Play(target, other, slots[1]),), (1, 10))


def test_objects_play_a_clip_and_then_what_they_did_before():
    armature, target = add_clips("A")
    clips = [clip_named(name, armature, target) for name in ("Walk", "Run")]
    assign_action(armature.animation_data_create(), bpy.data.actions["Idle A"], "OBA")
    target.location = (0.0, 0.1, 0.7)
    bpy.context.scene.frame_set(6)
    before = everything()
    with Stage(clips) as stage:
        places = []
        for clip in clips:
            stage.show(clip)
            assert target.animation_data.action == clip.others[0].action and not target.animation_data.use_nla
            places.append(evaluated_place(target).copy())
        assert places[0] != places[1]
    assert everything() == before and target.animation_data is None


def test_unkeyed_poses_do_not_go_from_clip_to_clip():
    armature, target = add_clips("A")
    clips = [clip_named(name, armature, target) for name in ("Walk", "Run")]
    with Stage(clips) as stage:
        stage.show(clips[0])
        armature.pose.bones["body"].location.x = 2.0
        stage.show(clips[1])
        assert armature.pose.bones["body"].location.x == 0.0
    assert armature.pose.bones["body"].location.x == 0.0


def test_an_error_shows_the_clip_before_again():
    armature, target = add_clips("A")
    walk, run = (clip_named(name, armature, target) for name in ("Walk", "Run"))
    with Stage([walk, run]) as stage:
        stage.show(walk)
        try:
            with stage.showing(run):
                assert armature.animation_data.action.name == "Run A"
                raise KeyError
        except KeyError:
            assert armature.animation_data.action.name == "Walk A"
