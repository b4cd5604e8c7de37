# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: the steps of docs/machines.md, from the bones of a leg to a baked walker."""

import os
import sys
from importlib import import_module

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import call, calm, in_front, look_at, named, picture, set_open, ui

OVERLAY = "bl_ext.user_default.ik2d.ik2d_addon.features.overlay.settings"
LEG = " 1 aft"
OF_A_LEG = "upper link", "lower link", "upper", "lower", "outer", "foot"
PARTS = ("crank", *(f"{part}{LEG}" for part in OF_A_LEG))


def rig():
    """Return the walker."""
    return named("objects", "Walker")


def show(names):
    """Show some bones, and the parts that hang on them; of the body only its frame."""
    data = rig().data
    for bone in data.bones:
        hidden = bone.name not in names
        bone.hide = hidden
        if bpy.app.version >= (5, 0):
            rig().pose.bones[bone.name].hide = hidden
    for ob in named("collections", "Shapes").objects:
        ob.hide_set(ob.parent_bone not in names)


def backdrop(seen):
    """Show or hide the sand; the rest of the beach is for a camera."""
    for ob in named("collections", "Shapes").objects:
        if ob.parent is None:
            ob.hide_set(ob.name != "Beach" or not seen)


def select(*names):
    """Select bones, the last of them active."""
    if bpy.context.mode != 'POSE':
        bpy.ops.object.mode_set(mode='POSE')
    bpy.ops.pose.select_all(action='DESELECT')
    data, pose = rig().data.bones, rig().pose.bones
    data.active = data[names[-1]]
    for name in names:
        (pose[name] if bpy.app.version >= (5, 0) else data[name]).select = True


def mechanism():
    """Return the active mechanism."""
    return rig().ik2d.mechanisms[rig().ik2d.active_mechanism]


def bones():
    """One leg's bones, and those that carry it."""
    walker = rig()
    bpy.context.scene.frame_set(1)
    while walker.ik2d.mechanisms:
        bpy.ops.ik2d.mechanism_remove()
    for bone in walker.pose.bones:
        bone.rotation_euler, bone.location = (0, 0, 0), (0, 0, 0)
    walker.animation_data_clear()
    walker.data.display_type = 'STICK'  # in the sample they are wires, which hide no part
    show(("body", *PARTS))
    for ob in named("collections", "Shapes").objects:
        ob.hide_set(True)
    select("body")
    bpy.ops.pose.select_all(action='DESELECT')
    look_at(-0.24, 2.0, 3.3)
    yield from picture("machine_01_bones")
    show(("body", *PARTS))
    for ob in named("collections", "Shapes").objects:
        if ob.parent_bone == "body":
            ob.hide_set(True)
    select(f"foot{LEG}")
    yield from picture("machine_02_parts")


def one_leg():
    """The mechanism of one leg: made, pinned, driven, turned, closed at rest."""
    select(*PARTS[1:], "crank")
    yield from call("mechanism_new")
    yield from picture("machine_03_new")
    select(f"outer{LEG}", f"foot{LEG}")
    yield 0.5
    yield from call("mechanism_pin")
    yield from picture("machine_04_pin")
    select("crank")
    yield from call("mechanism_drive", by='KEYS')
    yield from picture("machine_05_driven")
    mechanism().live = True
    rig().pose.bones["crank"].rotation_euler.x = -0.9
    yield 1.0
    yield from picture("machine_06_live")
    rig().pose.bones["crank"].rotation_euler.x = 0.0
    yield 0.5


def gap():
    """A pin that is a little apart at rest."""
    mechanism().live = False
    for bone in rig().pose.bones:
        bone.rotation_euler = (0, 0, 0)
    bpy.ops.object.mode_set(mode='EDIT')
    rig().data.edit_bones[f"lower link{LEG}"].tail.x += 0.05
    bpy.ops.object.mode_set(mode='POSE')
    select(f"lower link{LEG}")
    look_at(-0.54, 1.5, 1.6)
    yield 1.0
    yield from picture("machine_07_gap")
    yield from call("mechanism_close_rest")


def all_legs(sidebar):
    """All twelve legs and their keys: the sample as it is."""
    backdrop(False)
    bpy.context.scene.frame_set(1)
    select("crank")
    look_at(1.2, 3.45, 6.8)
    yield from set_open(sidebar, "IK2D_PT_mechanism")
    yield from set_open(sidebar, "IK2D_PT_mechanism_joints")  # the sample has it closed
    yield from picture("machine_08_legs")
    backdrop(True)
    bpy.context.scene.frame_set(60)
    select("body", "crank")
    look_at(6.2, 3.45, 6.8)
    yield 1.0
    yield from picture("machine_09_keys")
    yield from baked()


def baked():
    """The walker's bake, and its keys taken away again."""
    yield from call("bake")
    bpy.context.scene.frame_set(100)
    select("crank")
    look_at(9.66, 3.45, 6.8)
    yield 1.0
    yield from picture("machine_10_baked")
    bpy.ops.ik2d.clear_bake()


def test():
    """All of it."""
    _, sidebar = yield from in_front("IK 2D")
    calm()
    import_module(OVERLAY).overlay_settings().show = True
    yield from all_legs(sidebar)
    yield from bones()
    yield from one_leg()
    yield from gap()


ui.run(test)
