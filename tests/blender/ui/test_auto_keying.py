# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Keying of what was moved by hand."""

import bpy
import pytest
from rigs import add_leg, add_target, animation_of

from ik2d_addon.ui.auto_keying import Moved, auto_key


@pytest.fixture
def tools():
    """The scene's tool settings, with Auto Keying on."""
    tools = bpy.context.scene.tool_settings
    tools.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_auto_keyframe_insert_needed = False
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    return tools


def keyed(ob):
    """Return the channels of an object that have keys."""
    return set(animation_of(ob))


@pytest.mark.slow
def test_nothing_is_keyed_while_it_is_off(tools):
    tools.use_keyframe_insert_auto = False
    target = add_target({})
    assert auto_key(bpy.context, [Moved(target, "location", range(3))]) == 0
    assert not keyed(target)


def test_channels_that_moved_are_keyed_in_blenders_groups(tools):
    target, armature = add_target({}), add_leg()
    bone = armature.pose.bones["shin"]
    done = auto_key(
        bpy.context, [Moved(target, "location", (0, 2)), Moved(bone, "rotation_quaternion", range(4))]
    )
    assert done == 6 and keyed(target) == {("location", 0), ("location", 2)}
    assert keyed(armature) == {('pose.bones["shin"].rotation_quaternion', i) for i in range(4)}


def test_only_available_channels_are_keyed_where_that_is_asked_for(tools):
    bpy.context.preferences.edit.use_keyframe_insert_available = True
    target = add_target({})
    target.keyframe_insert("location", index=1, frame=5)
    assert auto_key(bpy.context, [Moved(target, "location", range(3))]) == 1


def test_replacing_adds_no_keys(tools):
    tools.auto_keying_mode = 'REPLACE_KEYS'
    target = add_target({5: (0, 0, 0)})
    assert auto_key(bpy.context, [Moved(target, "location", range(3))]) == 0
    bpy.context.scene.frame_set(5)
    assert auto_key(bpy.context, [Moved(target, "location", range(3))]) == 3


@pytest.mark.parametrize("name, object_too, bone_too", [("Location", 3, 0), ("Rotation", 0, 4)])
def test_an_active_keying_set_decides(tools, name, object_too, bone_too):
    tools.use_keyframe_insert_keyingset = True
    target, armature = add_target({}), add_leg()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    sets = bpy.context.scene.keying_sets_all
    sets.active = sets[name]
    bone = armature.pose.bones["shin"]
    assert auto_key(bpy.context, [Moved(target, "location", range(3))]) == object_too
    assert auto_key(bpy.context, [Moved(bone, "rotation_quaternion", range(4))]) == bone_too


def test_a_keying_set_of_paths_decides_too(tools):
    tools.use_keyframe_insert_keyingset = True
    target, other = add_target({}), add_target({}, "Other")
    own = bpy.context.scene.keying_sets.new(name="Mine")
    own.paths.add(target, "location")
    bpy.context.scene.keying_sets_all.active = own
    assert auto_key(bpy.context, [Moved(target, "location", range(3))]) == 3
    assert auto_key(bpy.context, [Moved(other, "location", range(3))]) == 0
