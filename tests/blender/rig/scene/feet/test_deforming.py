# SPDX-License-Identifier: GPL-3.0-or-later
"""Which grounds may have another shape on another frame."""

import bpy
import pytest
from rigs import add_leg

from ik2d_addon.rig.scene.feet.deforming import may_deform


def plane():
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    return bpy.context.object


def key_shape(ground):
    ground.shape_key_add(name="Basis")
    key = ground.shape_key_add(name="Up")
    key.keyframe_insert("value", frame=1)


def drive_shape(ground):
    ground.shape_key_add(name="Basis")
    ground.shape_key_add(name="Up").driver_add("value").driver.expression = "1.0"


def key_vertex(ground):
    ground.data.vertices[0].keyframe_insert("co", frame=1)


def key_modifier(ground):
    ground.modifiers.new("Bend", 'SIMPLE_DEFORM').keyframe_insert("angle", frame=1)


def drive_modifier(ground):
    ground.modifiers.new("Bend", 'SIMPLE_DEFORM').driver_add("angle").driver.expression = "1.0"


def key_hidden_modifier(ground):
    modifier = ground.modifiers.new("Bend", 'SIMPLE_DEFORM')
    modifier.show_viewport = False
    modifier.keyframe_insert("show_viewport", frame=1)


def follow_object(ground):
    ground.modifiers.new("Hook", 'HOOK').object = add_leg()


def array_by_object(ground):
    array = ground.modifiers.new("Array", 'ARRAY')
    array.use_object_offset, array.offset_object = True, add_leg()


def wave(ground):
    ground.modifiers.new("Wave", 'WAVE')


def displace(ground):
    ground.modifiers.new("Displace", 'DISPLACE').space = 'GLOBAL'


def nodes(ground):
    ground.modifiers.new("Nodes", 'NODES')


def strips(ground):
    key_shape(ground)
    animation = ground.data.shape_keys.animation_data
    animation.nla_tracks.new().strips.new("Up", 1, animation.action)
    animation.action = None


def skinned_by_parent(ground):
    ground.parent, ground.parent_type = add_leg(), 'ARMATURE'


DEFORMING = [
    *(key_shape, drive_shape, key_vertex, key_modifier, drive_modifier, key_hidden_modifier, follow_object),
    *(array_by_object, wave, displace, nodes, strips, skinned_by_parent),
]


@pytest.mark.parametrize("deform", DEFORMING)
def test_what_may_change_a_mesh_is_found(deform):
    ground = plane()
    assert not may_deform(ground)
    deform(ground)
    bpy.context.view_layer.update()
    assert may_deform(ground)


def test_code_on_frame_changes_may_deform_any_mesh():
    def follow(scene, depsgraph):
        pass

    ground = plane()
    bpy.app.handlers.frame_change_post.append(follow)
    try:
        assert may_deform(ground)
    finally:
        bpy.app.handlers.frame_change_post.remove(follow)


def test_a_ground_that_moves_in_one_piece_does_not_deform():
    ground, parent = plane(), add_leg()
    ground.keyframe_insert("location", frame=1)
    ground.driver_add("scale", 0).driver.expression = "2.0"
    ground.parent, ground.parent_type, ground.parent_bone = parent, 'BONE', parent.data.bones[0].name
    ground.modifiers.new("Subsurf", 'SUBSURF')
    ground.modifiers.new("Array", 'ARRAY').count = 3
    ground.modifiers.new("Hidden", 'WAVE').show_viewport = False
    ground.shape_key_add(name="Basis")
    ground.shape_key_add(name="Up").value = 0.5
    assert not may_deform(ground)
