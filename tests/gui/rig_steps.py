# SPDX-License-Identifier: GPL-3.0-or-later
"""What the scenarios share that need another rig than the arm."""

import bpy
from arm_steps import at, ui


def rig():
    """Return the armature; undo makes it anew."""
    return bpy.data.objects["Rig"]


def build(bones):
    """Put an armature "Rig" of {name: (head, tail, parent)} in the arm's place, in Pose Mode."""
    for thing in list(bpy.data.objects):
        bpy.data.objects.remove(thing)
    made = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.collection.objects.link(made)
    bpy.context.view_layer.objects.active = made
    made.select_set(True)
    in_window(bpy.ops.object.mode_set, mode='EDIT')
    for name, (head, tail, parent) in bones.items():
        bone = made.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = made.data.edit_bones[parent] if parent else None
    in_window(bpy.ops.object.mode_set, mode='POSE')
    in_window(bpy.ops.pose.select_all, action='DESELECT')
    in_window(bpy.ops.ed.undo_push, message="The rig")


def in_window(operator, *way, **arguments):
    """Call an operator as if the mouse was over the 3D View."""
    area, view = ui.region()
    with bpy.context.temp_override(window=ui.window(), area=area, region=view):
        operator(*way, **arguments)


def look(key):
    """Press a key of the number pad for a view, then Home."""
    area, view = ui.region()
    yield from ui.move(*ui.center(view))
    yield from ui.key(key)
    view_3d = area.spaces.active.region_3d
    yield from ui.wait_until(lambda: view_3d.view_perspective == 'ORTHO', "the view")
    yield 1.5  # the view turns smoothly
    yield from ui.key('HOME')
    yield 1.5


def click_bone(name):
    """Click the middle of a bone."""
    bone = rig().pose.bones[name]
    yield from ui.click(*at((bone.head + bone.tail) / 2))
    yield from ui.wait_until(lambda: rig().data.bones.active.name == name, f"the bone {name}")


def posed(name):
    """Return a bone as Blender evaluates it; the armature is not moved."""
    return rig().evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[name]


def drag_with_j(name, to, steps=8):
    """Hold a bone's tail by J, and drag it to a point; yields at each step."""
    x, y = at(posed(name).tail)
    to_x, to_y = at(to)
    yield from ui.move(x, y)
    yield from ui.key('J')
    yield from ui.wait_until(
        lambda: any(one.bl_idname == "IK2D_OT_drag" for one in ui.window().modal_operators), "the drag"
    )
    for step in range(1, steps + 1):
        yield from ui.move(x + (to_x - x) * step / steps, y + (to_y - y) * step / steps)
    yield 0.3
    yield from ui.click(to_x, to_y)
    yield from ui.wait_until(lambda: not ui.window().modal_operators, "the end of the drag")
    yield 0.3
