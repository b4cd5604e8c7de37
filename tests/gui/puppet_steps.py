# SPDX-License-Identifier: GPL-3.0-or-later
"""A puppet of flat parts, and what is done to it: presses are counted as they are sent."""

import os
import sys

import bpy
from mathutils import Matrix

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, look_from_the_front, ui

# A leg and an arm, each with what hangs on its tip; bent a little, as a person draws them.
JOINTS = {
    "body": ((0, 0, 1.0), (0, 0, 1.7), ""),
    "thigh": ((0, 0, 1.0), (0.08, 0, 0.55), "body"),
    "shin": ((0.08, 0, 0.55), (0, 0, 0.1), "thigh"),
    "foot": ((0, 0, 0.1), (0.2, 0, 0.02), "shin"),
    "upper arm": ((0, 0, 1.6), (0.3, 0, 1.35), "body"),
    "forearm": ((0.3, 0, 1.35), (0.65, 0, 1.45), "upper arm"),
    "hand": ((0.65, 0, 1.45), (0.8, 0, 1.5), "forearm"),
}
REACH = 0.92
LAST = 41
presses = []


def build():
    """Make the puppet in an empty scene, as it is after its bones were drawn, and select it."""
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    puppet = bpy.data.objects.new("Puppet", bpy.data.armatures.new("Puppet"))
    bpy.context.collection.objects.link(puppet)
    puppet.show_in_front = True
    bpy.context.view_layer.objects.active = puppet
    bpy.ops.object.mode_set(mode='EDIT')
    for name, (head, tail, parent) in JOINTS.items():
        bone = puppet.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = puppet.data.edit_bones.get(parent)
        bone.use_connect = bone.parent is not None and bone.parent.tail == bone.head
    bpy.ops.object.mode_set(mode='OBJECT')
    for name, (head, tail, _) in JOINTS.items():
        part(puppet, name, head, tail)
    puppet.select_set(True)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, LAST
    bpy.context.scene.frame_set(1)
    bpy.ops.ed.undo_push(message="The puppet")


def part(puppet, name, head, tail):
    """Hang a flat part on a bone."""
    across = 0.07 * (tail[2] - head[2]), 0.07 * (head[0] - tail[0])
    corners = [
        (end[0] + side * across[0] * 2, 0.02, end[2] + side * across[1] * 2)
        for end, side in ((head, 1), (tail, 1), (tail, -1), (head, -1))
    ]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.collection.objects.link(ob)
    ob.parent, ob.parent_type, ob.parent_bone = puppet, 'BONE', name
    bpy.context.view_layer.update()
    posed = puppet.pose.bones[name]
    end = puppet.matrix_world @ posed.matrix @ Matrix.Translation((0, posed.length, 0))
    ob.matrix_parent_inverse = end.inverted()


def puppet():
    """Return the puppet; undo makes it anew."""
    return bpy.data.objects["Puppet"]


def tip(bone):
    """Return where Blender has a bone's tail."""
    posed = puppet().evaluated_get(bpy.context.evaluated_depsgraph_get())
    return posed.matrix_world @ posed.pose.bones[bone].tail


def key(name, *held):
    """Press a key, and count it with those that are held."""
    presses.append("+".join((*held, name)))
    yield from ui.key(name, *held)


def click(x, y):
    """Click, and count it."""
    presses.append("click")
    yield from ui.click(x, y)


def click_bone(name):
    """Click the middle of a bone."""
    head, tail = (getattr(puppet().pose.bones[name], end) for end in ("head", "tail"))
    yield from click(*at(puppet().matrix_world @ (head * 0.6 + tail * 0.4)))
    yield from ui.wait_until(lambda: bpy.context.active_pose_bone.name == name, f"the click on {name}")
    yield 0.3


def press(wanted):
    """Click a button of the sidebar."""
    area, sidebar = ui.region(region_type='UI')
    place = yield from ui.find_button(area, sidebar, wanted)
    yield from click(*place)
    yield 0.5


def go_to(frame):
    """Click a frame in the timeline."""
    area, view = ui.region('DOPESHEET_EDITOR')
    x = view.x + view.view2d.view_to_region(frame, 0, clip=False)[0]
    yield from click(x, view.y + view.height - 8)
    yield from ui.wait_until(lambda: bpy.context.scene.frame_current == frame, f"frame {frame}")
    yield 0.3


def dragging():
    """Whether a drag runs in the window."""
    return any(operator.bl_idname == "IK2D_OT_drag" for operator in ui.window().modal_operators)


def pose(bone, dx, dz, end='I'):
    """Press J over a tip, move it, and press the key that ends it; return where the tip is then."""
    start = tip(bone)
    yield from ui.move(*at(start))
    yield from key('J')
    yield from ui.wait_until(dragging, "the drag")
    for step in range(1, 6):
        yield from ui.move(*at((start.x + dx * step / 5, 0, start.z + dz * step / 5)))
    yield 0.3
    yield from key(end)
    yield from ui.wait_until(lambda: not dragging(), "the end of the drag")
    yield 0.3
    return tip(bone).copy()


def frames_of(target):
    """Return the frames on which a target has keys."""
    action = target.animation_data.action if target.animation_data else None
    if action is None:
        return []
    curves = (
        action.layers[0].strips[0].channelbag(target.animation_data.action_slot).fcurves
        if hasattr(action, "layers")
        else action.fcurves
    )
    return sorted({int(point.co[0]) for curve in curves for point in curve.keyframe_points})


def begin():
    """Build it, and look at it from the front."""
    build()
    yield 0.5
    yield from look_from_the_front()
