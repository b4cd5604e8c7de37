# SPDX-License-Identifier: GPL-3.0-or-later
"""New actions: copies that take the place of earlier ones of their own, and go where a bake fails."""

import bpy
import pytest
from clip_rigs import add_clips, channels_for, everything
from rigs import contents_of

from ik2d_addon.bake import BakeOptions, bake, clear
from ik2d_addon.bake.actions.clips import Clip, Play
from ik2d_addon.bake.actions.copies import Copies, is_copy_of, original_of
from ik2d_addon.rig.animation.versions import assign_action


def test_copies_go_where_something_fails():
    armature, _ = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    before = everything()
    clip, copies = Clip("Walk", (Play(armature, walk, "OBA"), Play(armature, None)), (), (1, 9)), Copies()
    with pytest.raises(KeyError), copies.made([clip], 'NEW') as (staged,):
        assert staged.armatures[0].action == copies.of(walk) != walk and staged.armatures[1].action is None
        raise KeyError
    assert everything() == before


def test_a_copy_takes_the_place_of_the_one_before():
    armature, _ = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    clip, names = Clip("Walk", (Play(armature, walk, "OBA"),), (), (1, 9)), []
    for _ in range(3):
        copies = Copies()
        with copies.made([clip], 'NEW'):
            pass
        names.append(copies.of(walk).name)
        assert is_copy_of(copies.of(walk), walk) and copies.of(walk).use_fake_user
    assert names == ["Walk A baked"] * 3 and len(bpy.data.actions) == 7


def test_the_actions_themselves_are_taken_where_no_new_ones_are_asked_for():
    clip = Clip("Walk", (), (), (1, 9))
    with Copies().made([clip], 'THIS') as staged:
        assert staged == [clip]


def test_the_original_of_a_copy_is_found_while_it_is_there():
    armature, _ = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    copies = Copies()
    with copies.made([Clip("Walk", (Play(armature, walk, "OBA"),), (), (1, 9))], 'NEW'):
        pass
    copy = copies.of(walk)
    assert original_of(copy) == original_of(walk) == walk and original_of(None) is None
    walk.name = "Stroll"
    assert original_of(copy) == copy


def baked_into_new(armature, **options):
    """Bake "Walk A" into a new action; return the report."""
    return bake(armature, actions=["Walk A"], options=BakeOptions(into='NEW', **options))


def test_a_copy_that_somebody_edited_stays_and_is_named():
    armature, target = add_clips("A")
    assert not baked_into_new(armature).warnings
    edited = bpy.data.actions["Walk A baked"]
    curve = channels_for(edited, armature).fcurves[0]
    curve.keyframe_points[3].co.y += 0.25
    curve.update()
    before = contents_of(edited)
    for _ in range(2):  # and the new one, which nobody edits, is replaced
        report = baked_into_new(armature)
        assert report.by_action[0].action == "Walk A baked.001"
        assert report.warnings[0].endswith(
            "'Walk A baked' was edited since it was baked, so it stays; the new bake is in 'Walk A baked.001'"
        )
        assert contents_of(edited) == before and edited.name == "Walk A baked" and len(bpy.data.actions) == 8


@pytest.mark.parametrize("edit", ["marker", "modifier", "range", "property", "handle", "mute"])
def test_other_edits_of_a_copy_keep_it_too(edit):
    armature, _ = add_clips("A")
    baked_into_new(armature)
    action = bpy.data.actions["Walk A baked"]
    curve = channels_for(action, armature).fcurves[0]
    if edit == "marker":
        action.pose_markers.new("step").frame = 3
    elif edit == "modifier":
        curve.modifiers.new('NOISE')
    elif edit == "range":
        action.frame_end = 12
    elif edit == "property":
        action["mine"] = 1
    elif edit == "mute":
        curve.mute = True
    else:
        key = curve.keyframe_points[2]
        key.handle_left_type = key.handle_right_type = 'FREE'
        key.handle_left.y += 0.1
    baked_into_new(armature)
    assert {"Walk A baked", "Walk A baked.001"} <= set(bpy.data.actions.keys())


def test_a_copy_that_was_looked_at_saved_or_cleared_is_replaced(tmp_path):
    armature, _ = add_clips("A")
    baked_into_new(armature)
    action = bpy.data.actions["Walk A baked"]
    for curve in channels_for(action, armature).fcurves:
        curve.select = curve.hide = True
        curve.keyframe_points[1].select_control_point = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "saved.blend"))
    armature = bpy.data.objects["A"]
    assert not baked_into_new(armature).warnings
    assert clear(armature, actions=["Walk A baked"]) > 0
    assert not baked_into_new(armature).warnings and len(bpy.data.actions) == 7


def test_a_copy_that_is_played_is_baked_again_without_a_copy_of_it():
    armature, target = add_clips("A")
    assign_action(armature.animation_data_create(), bpy.data.actions["Walk A"], "OBA")
    assign_action(target.animation_data_create(), bpy.data.actions["Walk A targets"], f"OB{target.name}")
    before = contents_of(bpy.data.actions["Walk A"])
    for _ in range(3):
        report = bake(armature, frame_start=1, frame_end=16, options=BakeOptions(into='NEW'))
        assert report.action == "Walk A baked" == armature.animation_data.action.name
        assert contents_of(bpy.data.actions["Walk A"]) == before
        assert not [name for name in bpy.data.actions.keys() if "baked baked" in name or "baked.0" in name]
    assert not baked_into_new(armature).warnings and "Walk A baked.001" not in bpy.data.actions
    assert armature.animation_data.action == bpy.data.actions["Walk A baked"]


def test_an_edited_copy_that_is_played_gets_the_new_keys_and_keeps_its_other_ones():
    armature, target = add_clips("A")
    assign_action(armature.animation_data_create(), bpy.data.actions["Walk A"], "OBA")
    assign_action(target.animation_data_create(), bpy.data.actions["Walk A targets"], f"OB{target.name}")
    bake(armature, frame_start=1, frame_end=16, options=BakeOptions(into='NEW'))
    armature.pose.bones["body"].location.z = 0.1
    armature.pose.bones["body"].keyframe_insert("location", frame=1)
    report = bake(armature, frame_start=1, frame_end=16, options=BakeOptions(into='NEW'))
    played = armature.animation_data.action
    assert report.action == played.name == "Walk A baked" and report.all_reached
    assert any("body" in curve.data_path for curve in channels_for(played, armature).fcurves)
    assert "Walk A baked.001" not in bpy.data.actions


def test_an_edited_copy_that_is_baked_again_keeps_its_edits_and_stays():
    armature, target = add_clips("A")
    baked_into_new(armature)
    action = bpy.data.actions["Walk A baked"]
    curve = channels_for(action, armature).fcurves[0]
    curve.keyframe_points[3].co.y += 0.25
    edited = curve.keyframe_points[3].co.y
    bake(
        armature,
        actions=["Walk A baked"],
        pairs={"Walk A baked": "Walk A targets"},
        options=BakeOptions(into='NEW'),
    )
    assert curve.keyframe_points[3].co.y != edited
    assert len(baked_into_new(armature).warnings) == 1
    clear(armature, actions=["Walk A baked"])
    assert [key.co.y for key in curve.keyframe_points] == [edited]


def test_long_names_have_one_copy_too():
    armature, target = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    walk.name = "W" * 300
    longest = walk.name
    for _ in range(2):
        report = bake(
            armature, actions=[longest], pairs={longest: "Walk A targets"}, options=BakeOptions(into='NEW')
        )
        assert report.by_action[0].action.endswith("W baked") and len(bpy.data.actions) == 7


@pytest.mark.parametrize("keyed", [True, False])
def test_a_copy_that_is_cleared_whole_gives_its_place_back_to_its_original(keyed):
    """Also where that has no keys of its own, so that the copy would be left empty."""
    armature, target = add_clips("A")
    walk, bone = bpy.data.actions["Walk A"], armature.pose.bones[0]
    assign_action(armature.animation_data_create(), walk, "OBA")
    assign_action(target.animation_data_create(), bpy.data.actions["Walk A targets"], f"OB{target.name}")
    if not keyed:
        channels_for(walk, armature).fcurves.clear()
    before, actions = contents_of(walk), len(bpy.data.actions)
    bake(armature, frame_start=1, frame_end=16, options=BakeOptions(into='NEW'))
    copy = armature.animation_data.action
    assert copy != walk
    clear(armature, frame_end=4)
    assert armature.animation_data.action == copy  # which still has keys of the bake
    clear(armature)
    assert armature.animation_data.action == walk and contents_of(walk) == before
    assert len(bpy.data.actions) == actions and "Walk A baked" not in bpy.data.actions
    bake(armature, frame_start=1, frame_end=16, options=BakeOptions(into='NEW'))
    bone.keyframe_insert("location", frame=2)  # an edit
    clear(armature)
    assert armature.animation_data.action.name == "Walk A baked"
