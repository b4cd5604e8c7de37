# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of all actions by the buttons: settings, result by action, keys that are replaced, clearing."""

import json
import re
from types import SimpleNamespace

import bpy
import pytest
from clip_rigs import CLIPS, add_clips, channels_for, everything, misses, part
from rigs import add_chain

from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.all_actions import actions_to_bake, has_baked_actions
from ik2d_addon.features.baking.clips import baked_clips, other_action
from ik2d_addon.features.baking.operators import (
    IK2D_OT_bake,
    frozen_motion_notes,
    has_baked_keys,
    replaced_by_bake,
    unmoved_by_bake,
)
from ik2d_addon.features.baking.panels import bake_labels, clear_labels
from ik2d_addon.features.baking.results import bake_is_stale
from ik2d_addon.rig.animation.versions import assign_action

NAMES = [f"{clip} Rig" for clip in sorted(CLIPS)]


@pytest.fixture
def leg():
    """A leg with three clips, which plays its walk; the buttons bake all actions."""
    armature, target = add_clips()
    bpy.context.view_layer.objects.active = armature
    play(armature, target, "Walk Rig")
    armature.ik2d.actions_to_bake = 'ALL'
    return armature, target


def play(armature, target, name, own=""):
    """Assign the actions of a clip."""
    assign_action(armature.animation_data_create(), bpy.data.actions[own or name], f"OB{armature.name}")
    partner = bpy.data.actions[f"{name} targets"]
    assign_action(target.animation_data_create(), partner, f"OB{target.name}")
    bpy.context.view_layer.update()


def key_by_hand(armature, name, frame=5):
    """Key a rotation of the shin by hand in an action that may not be assigned."""
    path = armature.pose.bones["shin"].path_from_id("rotation_quaternion")
    curve = channels_for(bpy.data.actions[name], armature).fcurves.new(path, index=0)
    curve.keyframe_points.insert(frame, 1.0)


def stale(armature):
    return bake_is_stale(armature, bpy.context.scene)


def test_the_button_bakes_all_actions_on_their_own_frames(leg):
    armature, target = leg
    assert bpy.ops.ik2d.bake() == {'FINISHED'}
    assert armature.ik2d.last_bake.startswith("Baked 38 frames in 3 actions on 1 chain; every target reached")
    assert [(clip.action, clip.is_good) for clip in baked_clips(armature.ik2d)] == [
        (name, True) for name in NAMES
    ]
    assert baked_clips(armature.ik2d)[2].line == "Walk Rig, 16 frames: all on target"
    assert armature.animation_data.action.name == "Walk Rig"
    for clip, (last, *_) in CLIPS.items():
        own = bpy.data.actions[f"{clip} Rig"]
        assert misses(armature, {armature: own, target: bpy.data.actions[f"{own.name} targets"]}, last) < 2e-6


def test_a_custom_range_and_given_frames_cut_those_of_the_actions(leg):
    armature, _ = leg
    settings = armature.ik2d
    settings.use_custom_range, settings.frame_start, settings.frame_end = True, 3, 8
    bpy.ops.ik2d.bake()
    assert settings.last_bake.startswith("Baked 18 frames in 3 actions")
    settings.use_custom_range = False
    bpy.ops.ik2d.bake(frame_start=1, frame_end=9)
    assert settings.last_bake.startswith("Baked 27 frames in 3 actions")


def test_new_actions_are_assigned_if_so_wanted_and_made_once(leg):
    armature, _ = leg
    settings = armature.ik2d
    settings.bake_into, settings.assign_baked = 'NEW', False
    bpy.ops.ik2d.bake()
    assert armature.animation_data.action.name == "Walk Rig"
    bpy.ops.ik2d.bake(assign_baked=True)
    assert armature.animation_data.action.name == "Walk Rig baked"
    bpy.ops.ik2d.bake(actions='ASSIGNED', assign_baked=True)  # of the original, whose copy is assigned
    assert armature.animation_data.action.name == "Walk Rig baked"
    made = [action.name for action in bpy.data.actions if action.name.endswith("baked")]
    assert made == [f"{name} baked" for name in NAMES]


def test_plant_and_other_bakes_go_to_the_assigned_action(leg):
    armature, _ = leg
    armature.ik2d.bake_into = 'NEW'
    bpy.ops.ik2d.bake(actions='ASSIGNED', into='THIS', frame_start=1, frame_end=16)
    assert armature.animation_data.action.name == "Walk Rig"
    assert not [action for action in bpy.data.actions if action.name.endswith("baked")]


def test_an_error_is_told_and_nothing_has_changed(leg):
    part("Run Rig", leg[0])
    before = everything()
    with pytest.raises(RuntimeError, match="'Run Rig'"):
        bpy.ops.ik2d.bake()
    assert everything() == before


def test_what_would_be_baked_and_replaced_is_told_before(leg):
    armature, _ = leg
    scene, settings = bpy.context.scene, armature.ik2d
    key_by_hand(armature, "Run Rig")
    key_by_hand(armature, "Idle Rig", frame=40)  # after its end
    asked = actions_to_bake(armature, scene)
    assert asked.names == tuple(NAMES) and not asked.problems
    assert asked.sentence() == "3 actions: 'Idle Rig', 'Run Rig' and 'Walk Rig'"
    words = "Bake replaces 1 key made by hand on 1 bone; Clear Bake gives them back"
    assert replaced_by_bake(armature, scene) == words
    settings.bake_into = 'NEW'
    assert replaced_by_bake(armature, scene) == ""
    settings.bake_into, settings.actions_to_bake = 'THIS', 'ASSIGNED'
    assert replaced_by_bake(armature, scene) == "" and actions_to_bake(armature, scene).sentence() == ""
    settings.actions_to_bake = 'ALL'
    part("Run Rig", armature)
    asked = actions_to_bake(armature, scene)
    assert asked.names == ("Idle Rig", "Walk Rig") and "'Run Rig'" in asked.problems[0]


def test_labels_say_that_all_actions_are_meant(leg):
    armature, _ = leg
    scene = bpy.context.scene
    assert bake_labels(armature, scene, False)[0] == "Bake All Actions"
    assert bake_labels(armature, scene, True)[0] == "Bake All Again"
    assert clear_labels(armature.ik2d)[0] == "Clear Bake in All Actions"
    armature.ik2d.actions_to_bake = 'ASSIGNED'
    assert bake_labels(armature, scene, False) == ["Bake 1 to 250"]
    assert clear_labels(armature.ik2d) == ["Clear Bake"]


def test_clear_bake_clears_one_action_or_all(leg):
    armature, target = leg
    key_by_hand(armature, "Run Rig")
    before = everything()["actions"]
    bpy.ops.ik2d.bake()
    assert has_baked_actions(armature)
    bpy.ops.ik2d.clear_bake(actions='ASSIGNED')
    assert has_baked_actions(armature) and has_baked_keys(armature)
    play(armature, target, "Walk Rig")
    bpy.ops.ik2d.clear_bake()
    after = everything()["actions"]
    for name in NAMES:
        assert after[name][0] == before[name][0]
    assert not has_baked_actions(armature) and not has_baked_keys(armature)
    assert not bpy.ops.ik2d.clear_bake.poll()


def test_results_hold_for_each_baked_action_and_no_other(leg):
    armature, target = leg
    bpy.ops.ik2d.bake()
    assert stale(armature) == ""
    play(armature, target, "Run Rig")
    assert stale(armature) == "" and other_action(armature)
    bpy.data.actions.new("Jump")
    armature.animation_data.action = bpy.data.actions["Jump"]
    bpy.context.view_layer.update()
    assert stale(armature) == "the action"
    play(armature, target, "Walk Rig")
    assert stale(armature) == "" and not other_action(armature)
    holder = channels_for(bpy.data.actions["Walk Rig targets"], target)
    holder.fcurves[2].keyframe_points[1].co.y += 0.1
    target.update_tag()
    bpy.context.view_layer.update()
    assert stale(armature) == "the target"
    armature.ik2d.frame_end, armature.ik2d.use_custom_range = 8, True
    play(armature, target, "Run Rig")
    assert stale(armature) == "the frame range or the options"


def test_a_bake_of_one_action_is_out_of_date_in_another_one(leg):
    armature, target = leg
    armature.ik2d.actions_to_bake = 'ASSIGNED'
    bpy.ops.ik2d.bake(frame_start=1, frame_end=16)
    assert stale(armature) == "" and baked_clips(armature.ik2d) == []
    bpy.data.actions["Walk Rig"].name = "Stroll"
    bpy.context.view_layer.update()
    assert stale(armature) == ""
    play(armature, target, "Run Rig")
    assert stale(armature) == "the action"


def test_chains_show_the_frames_that_the_assigned_action_misses(leg):
    armature, target = leg
    channels_for(bpy.data.actions["Walk Rig targets"], target).fcurves[2].keyframe_points[1].co.y = -9.0
    bpy.ops.ik2d.bake()
    (chain,) = armature.ik2d.chains
    assert chain.missed_frames and armature.ik2d.last_bake_alert
    assert [clip.action for clip in baked_clips(armature.ik2d) if not clip.is_good] == ["Walk Rig"]
    play(armature, target, "Run Rig")
    bpy.ops.ik2d.bake(actions='ALL')
    assert chain.missed_frames == ""


@pytest.mark.parametrize("text", ["", "{", "[]", '["a"]', '[1, [{"action": 1}]]', "[null, null]", "7"])
def test_damaged_results_are_none(leg, text):
    armature, _ = leg
    bpy.ops.ik2d.bake()
    armature.ik2d.last_bake_clips = text
    assert baked_clips(armature.ik2d) == [] and other_action(armature) == ""
    assert json.dumps(stale(armature)) == '""'


def test_all_selected_armatures_are_baked_in_all_actions(leg):
    armature, _ = leg
    other, _ = add_clips("B", 3.0)
    for ob in (armature, other):
        ob.select_set(True)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.bake(all_selected=True)
    for ob in (armature, other):
        assert [clip.action for clip in baked_clips(ob.ik2d)] == [f"{c} {ob.name}" for c in sorted(CLIPS)]


def test_one_chain_alone_is_baked_in_all_actions(leg):
    armature, target = leg
    add_chain(armature, "thigh", target, name="Knee", bone_count=1, enabled=False)
    assert bpy.ops.ik2d.bake(chain="shin") == {'FINISHED'}
    assert armature.ik2d.last_bake.startswith("Baked 38 frames in 3 actions on 1 chain")
    with pytest.raises((RuntimeError, IK2DError)):
        bpy.ops.ik2d.bake(chain="None")


def test_missed_frames_are_counted_in_each_action(leg):
    armature, target = leg
    for name in ("Walk Rig targets", "Run Rig targets"):
        channels_for(bpy.data.actions[name], target).fcurves[2].keyframe_points[1].co.y = -9.0
    bpy.ops.ik2d.bake()
    off = re.compile(r"off target on (\d+) frames")
    each = [int(found[1]) for clip in baked_clips(armature.ik2d) if (found := off.search(clip.line))]
    assert len(each) == 2
    assert int(off.search(armature.ik2d.last_bake_lines)[1]) == sum(each)


def test_an_armature_that_plays_nothing_gets_the_action_of_what_its_targets_play():
    armature, target = add_clips()
    bpy.context.view_layer.objects.active = armature
    partner = bpy.data.actions["Run Rig targets"]
    assign_action(target.animation_data_create(), partner, f"OB{target.name}")
    armature.ik2d.actions_to_bake = 'ALL'
    bpy.ops.ik2d.bake(assign_baked=False)
    assert armature.animation_data is None
    bpy.ops.ik2d.bake()
    assert armature.animation_data.action.name == "Run Rig"


def test_notes_on_what_is_assigned_are_left_out_where_all_actions_are_baked(leg):
    armature, target = leg
    target.animation_data_clear()
    track = armature.animation_data.nla_tracks.new()
    track.strips.new("run", 30, bpy.data.actions["Run Rig"])
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    assert not unmoved_by_bake(armature) and not frozen_motion_notes(armature, scene)
    armature.ik2d.actions_to_bake = 'ASSIGNED'
    assert "does not move" in unmoved_by_bake(armature)


@pytest.mark.parametrize(
    ("actions", "own", "into", "hidden"),
    [
        ('ASSIGNED', True, 'THIS', {"assign_baked"}),
        ('ALL', True, 'NEW', {"frame_start", "frame_end"}),
        ('ALL', False, 'NEW', set()),
    ],
)
def test_the_redo_panel_leaves_out_what_does_not_count(actions, own, into, hidden):
    drawn = []
    layout = SimpleNamespace(prop=lambda _, name: drawn.append(name))
    rna = bpy.ops.ik2d.bake.get_rna_type()
    bake = SimpleNamespace(
        layout=layout, actions=actions, own_frames=own, into=into, properties=SimpleNamespace(bl_rna=rna)
    )
    IK2D_OT_bake.draw(bake, bpy.context)
    every = {"chain", "frame_start", "frame_end", "step", "all_selected", "actions", "into", "assign_baked"}
    assert set(drawn) == every - hidden
