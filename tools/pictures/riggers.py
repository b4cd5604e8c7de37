# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: the pictures of docs/riggers.md: a leg that Rigify made is adopted, baked, driven."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import call, calm, in_front, named, picture, scroll, set_open, ui

STEP = ((1, (0.0, 0.0, 0.0)), (13, (0.0, -0.28, 0.26)), (25, (0.0, -0.5, 0.0)))
MIDDLE = 10  # the frame that is shown
HIDDEN = ("Face", "Fingers", "Arm", "Torso (Tweak)", "Leg.R", "Leg.L (FK)", "Leg.L (Tweak)")


def generate():
    """Have Rigify make its human, with the left foot making a step; return the rig, in Pose Mode."""
    import addon_utils

    bpy.data.batch_remove(bpy.data.objects)
    addon_utils.enable("rigify", default_set=True)
    bpy.ops.object.armature_human_metarig_add()
    metarig = bpy.context.object
    bpy.ops.object.mode_set(mode='POSE')
    bpy.ops.pose.rigify_generate()
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.data.objects.remove(metarig)
    bpy.context.view_layer.objects.active = rig
    for collection in rig.data.collections_all:
        if collection.name.startswith(HIDDEN):
            collection.is_visible = False
    rig.data.collections_all["DEF"].is_visible = True
    foot = rig.pose.bones["foot_ik.L"]
    for frame, place in STEP:
        foot.location = place
        foot.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = STEP[0][0], STEP[-1][0]
    bpy.context.scene.frame_set(MIDDLE)
    bpy.ops.object.mode_set(mode='POSE')
    bpy.ops.pose.select_all(action='DESELECT')
    rig.data.bones.active = rig.data.bones["foot_ik.L"]
    foot.select = True
    return rig


def look_from_the_left():
    """See the left leg from its side."""
    area, _ = ui.region()
    space = area.spaces.active
    space.overlay.show_text, space.shading.background_type = True, 'THEME'  # its text is white
    view = space.region_3d
    view.view_perspective = 'ORTHO'
    view.view_rotation = (0.5, 0.5, 0.5, 0.5)
    view.view_location, view.view_distance = (0.1, -0.42, 0.62), 2.6


def test():
    """Adopt, bake, native."""
    generate()
    _, sidebar = yield from in_front("IK 2D")
    calm()
    look_from_the_left()
    yield from call("adopt", 'INVOKE_DEFAULT')
    yield from picture("riggers_1_adopting", still=False)
    yield from ui.key('RET')
    yield from ui.wait_until(lambda: len(named("objects", "rig").ik2d.chains) == 1, "the chain")
    yield from set_open(sidebar, "IK2D_PT_rig")
    named("objects", "rig").ik2d.chains[0].adopted.show_notes = True
    yield from scroll(sidebar)
    yield from picture("riggers_2_adopted")
    yield from call("bake")
    yield from scroll(sidebar, -1)
    yield from set_open(sidebar, "ik2d_last_bake")
    yield from picture("riggers_3_baked")
    yield from call("clear_bake")
    yield from call("make_native")
    yield from scroll(sidebar, -1)
    yield from set_open(sidebar, "IK2D_PT_advanced")
    yield from set_open(sidebar, "IK2D_PT_reach")
    yield from picture("riggers_4_native")


ui.run(test)
