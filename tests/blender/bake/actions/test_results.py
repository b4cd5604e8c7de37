# SPDX-License-Identifier: GPL-3.0-or-later
"""The report on several actions, and what is assigned afterwards."""

import json

import bpy
from clip_rigs import CLIPS, add_clips, channels_for
from rigs import contents_of

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.rig.animation.versions import assign_action


def test_the_report_has_a_part_for_each_action():
    armature, _ = add_clips("A")
    report = bake(armature, actions='ALL')
    told = json.loads(json.dumps(report.to_dict()))
    assert [one["action"] for one in told["by_action"]] == [f"{clip} A" for clip in sorted(CLIPS)]
    assert told["summary"] == report.sentence() and "chains" not in told
    frames = sum(last for last, *_ in CLIPS.values())
    start = f"Baked {frames} frames in 3 actions"
    assert report.sentence().startswith(f"{start} on 1 chain; every target reached")
    assert all(report.lines()) and report.lines()[0].startswith(start)
    assert len(report.chains) == 3 and report.by_armature == (report,)
    single = report.by_action[0]
    assert single.by_action == (single,) and "by_action" not in single.to_dict()


def test_misses_name_their_action():
    armature, target = add_clips("A")
    curve = channels_for(bpy.data.actions["Run A targets"], target).fcurves.find("location", index=1)
    curve.keyframe_points[1].co[1] = -9.0
    curve.update()
    report = bake(armature, actions='ALL')
    assert not report.all_reached and "in 'Run A'" in report.sentence()
    assert [one.all_reached for one in report.by_action] == [True, False, True]
    assert all(warning.startswith("'Run A': ") for warning in report.warnings)


def test_of_the_active_action_the_setting_says_which_is_assigned():
    armature, target = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    for ob, action in ((armature, walk), (target, bpy.data.actions["Walk A targets"])):
        assign_action(ob.animation_data_create(), action, f"OB{ob.name}")
    bake(armature, frame_start=1, frame_end=9, options=BakeOptions(into='NEW', assign_baked=False))
    assert armature.animation_data.action == walk
    bake(armature, frame_start=1, frame_end=9, options=BakeOptions(into='NEW'))
    assert armature.animation_data.action.name == "Walk A baked"


def test_a_bake_into_a_new_action_without_one_is_as_any_bake():
    armature, target = add_clips("A")
    assign_action(target.animation_data_create(), bpy.data.actions["Walk A targets"], f"OB{target.name}")
    report = bake(armature, frame_start=1, frame_end=9, options=BakeOptions(into='NEW'))
    assert armature.animation_data.action.name == "AAction" and report.all_reached


def test_an_original_whose_place_its_copy_takes_stays_in_the_file(tmp_path):
    armature, target = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    for ob, action in ((armature, walk), (target, bpy.data.actions["Walk A targets"])):
        assign_action(ob.animation_data_create(), action, f"OB{ob.name}")
    walk.use_fake_user = False  # as of each action that Blender makes for a key
    before = contents_of(walk)["curves"]
    bake(armature, frame_start=1, frame_end=9, options=BakeOptions(into='NEW'))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    assert contents_of(bpy.data.actions["Walk A"])["curves"] == before
