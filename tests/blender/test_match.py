# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators between the bones' own keys and a chain: their frames and chains, and what is keyed."""

import bpy
import pytest
from rigs import (
    add_armature,
    add_chain,
    add_target,
    evaluated_place,
    evaluated_tip,
    every_bit_of_animation,
)

from ik2d_addon.rig.animation.versions import existing_fcurves


@pytest.fixture
def leg():
    """A leg whose knee is turned by keys of its own, with a target elsewhere."""
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.0),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", 0.0),
        }
    )
    target = add_target({})
    add_chain(armature, "shin", target, name="leg")
    shin = armature.pose.bones["shin"]
    shin.rotation_mode = 'XYZ'
    for frame, angle in ((1, 0.2), (40, 1.2)):
        shin.rotation_euler.x = angle
        shin.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 3, 8
    bpy.context.scene.frame_set(5)
    bpy.context.view_layer.objects.active = armature
    return armature, armature.ik2d.chains[0], target


def frames_of(ob, path):
    return sorted(
        {
            point.co[0]
            for curve in existing_fcurves(ob)
            if path in curve.data_path
            for point in curve.keyframe_points
        }
    )


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_the_current_frame_alone_is_set_and_not_keyed(leg, mode):
    armature, _, target = leg
    bpy.ops.object.mode_set(mode=mode)
    place = evaluated_tip(armature, "shin")
    assert bpy.ops.ik2d.target_to_tip() == {'FINISHED'}
    bpy.context.view_layer.update()
    assert (evaluated_place(target) - place).length < 1e-5 and target.animation_data is None
    before = every_bit_of_animation(armature)
    target.location.y -= 0.3
    assert bpy.ops.ik2d.snap_fk() == {'FINISHED'}
    bpy.context.view_layer.update()
    assert (evaluated_place(target) - evaluated_tip(armature, "shin")).length < 1e-5
    assert every_bit_of_animation(armature) == before


def test_auto_keying_keys_the_current_frame(leg):
    armature, chain, target = leg
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_keyframe_insert_available = False  # Blender 5.2 keys what has keys
    chain.softness = 0.1
    chain.keyframe_insert("softness", frame=1)
    bpy.ops.ik2d.target_to_tip()
    assert frames_of(target, "location") == [5] and frames_of(armature, "softness") == [1, 5]
    target.location.y -= 0.3
    bpy.ops.ik2d.snap_fk()
    assert frames_of(armature, '"thigh"') == [5] and frames_of(armature, '"shin"') == [1, 5, 40]
    kinds = {
        point.type
        for curve in existing_fcurves(armature)
        if "rotation" in curve.data_path
        for point in curve.keyframe_points
    }
    assert kinds == {'KEYFRAME'}
    bpy.context.preferences.edit.use_auto_keyframe_insert_needed = False
    bpy.context.scene.frame_set(7)
    bpy.ops.ik2d.snap_fk(frame_start=10, frame_end=11)
    assert frames_of(armature, '"thigh"') == [5, 10, 11]


@pytest.mark.slow
def test_frames_that_are_given_are_keyed_and_others_come_from_the_range(leg):
    armature, _, target = leg
    bpy.ops.ik2d.target_to_tip(frame_start=10, frame_end=12)
    assert frames_of(target, "location") == [10, 11, 12]
    bpy.ops.ik2d.target_to_tip(over_range=True)
    assert frames_of(target, "location") == [3, 4, 5, 6, 7, 8, 10, 11, 12]
    bpy.ops.ik2d.snap_fk(frame_start=10, frame_end=12)
    assert frames_of(armature, '"thigh"') == [10, 11, 12]
    armature.ik2d.use_custom_range = True
    armature.ik2d.frame_start, armature.ik2d.frame_end = 20, 21
    bpy.ops.ik2d.snap_fk(over_range=True)
    assert frames_of(armature, '"thigh"') == [10, 11, 12, 20, 21]
    bpy.ops.ik2d.target_to_tip(frame_start=30, frame_end=31, over_range=False)
    assert 30 not in frames_of(target, "location")


def test_switches_key_the_frame_before_and_the_influence(leg):
    armature, _, target = leg
    bpy.ops.ik2d.target_to_tip(switch=True)
    assert frames_of(target, "location") == frames_of(armature, "influence") == [4, 5]
    bpy.context.scene.frame_set(20)
    bpy.ops.ik2d.snap_fk(switch=True)
    assert frames_of(armature, '"thigh"') == [19, 20]
    assert frames_of(armature, "influence") == [4, 5, 19, 20]


@pytest.mark.slow
def test_all_takes_every_enabled_chain_and_a_name_that_chain(leg):
    armature, chain, target = leg
    bpy.ops.object.mode_set(mode='EDIT')
    for name, above in (("arm", "body"), ("hand", "arm")):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = ((0, 0, 2.6), (0, 1, 2.6)) if name == "arm" else ((0, 1, 2.6), (0, 1.8, 2.2))
        bone.parent = armature.data.edit_bones[above]
    bpy.ops.object.mode_set(mode='OBJECT')
    second = add_target({}, "Second")
    add_chain(armature, "hand", second)
    bpy.ops.ik2d.target_to_tip(frame_start=5, frame_end=6)
    assert second.animation_data is None
    bpy.ops.ik2d.target_to_tip(frame_start=7, frame_end=8, all=True)
    assert frames_of(target, "location") == [5, 6, 7, 8] and frames_of(second, "location") == [7, 8]
    bpy.ops.ik2d.target_to_tip(frame_start=9, frame_end=9, chain="hand")
    assert frames_of(second, "location") == [7, 8, 9] and frames_of(target, "location") == [5, 6, 7, 8]


def test_what_is_refused_is_said_and_nothing_changes(leg):
    armature, chain, target = leg
    target.lock_location[0] = True
    with pytest.raises(RuntimeError, match="the location of 'Target' is locked"):
        bpy.ops.ik2d.target_to_tip(frame_start=1, frame_end=3)
    assert target.animation_data is None
    armature.ik2d.chains.remove(0)
    with pytest.raises(RuntimeError, match="Add a chain first"):
        bpy.ops.ik2d.snap_fk()
    add_armature({"bone": ((0, 0, 0), (0, 0, 1), "", 0)}, "Bare")
