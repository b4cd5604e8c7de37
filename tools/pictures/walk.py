# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: the steps of docs/animators.md, from the add-on's preferences to a baked walk."""

import os
import sys
from math import radians

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import at, call, calm, in_front, look_at, named, picture, scroll, set_open, ui

CYCLE = range(33, 65)
FRAME, LATER = 12, 28
TARGET = "Ankle Target R"


def rig():
    """Return the walker."""
    return named("objects", "Walker")


def overlay():
    """Return what the overlay shows, from the installed add-on's preferences."""
    return bpy.context.preferences.addons["bl_ext.user_default.ik2d"].preferences.overlay


def view():
    """Return what stands for the viewport in a call from here."""
    area, region = ui.region()
    return bpy.context.temp_override(window=ui.window(), area=area, region=region)


def select(*names, bone=""):
    """Select objects, the last of them active; with a bone, go to Pose Mode and make it the only one."""
    if bpy.context.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob.name in names)
    bpy.context.view_layer.objects.active = named("objects", names[-1])
    if not bone:
        return
    bpy.ops.object.mode_set(mode='POSE')
    bpy.ops.pose.select_all(action='DESELECT')
    bones = rig().data.bones
    bones.active = bones[bone]
    (rig().pose.bones[bone] if bpy.app.version >= (5, 0) else bones[bone]).select = True


def added(side):
    """Add a chain of a leg to its target."""
    select(f"Ankle Target {side}", "Walker", bone=f"shin.{side}")
    with view():
        bpy.ops.ik2d.chain_add()
    chain = rig().ik2d.chains[-1]
    chain.name = f"Leg.{side}"
    return chain


def remove_chains():
    """Remove the sample's chains, and reset the pose that they leave."""
    while rig().ik2d.chains:
        bpy.ops.ik2d.chain_remove()
    bpy.ops.object.mode_set(mode='POSE')
    bpy.ops.pose.select_all(action='SELECT')
    with view():
        bpy.ops.pose.transforms_clear()


def preferences():
    """The add-on's own page, in place of the viewport."""
    area, _ = ui.region()
    area.ui_type = 'PREFERENCES'
    bpy.context.preferences.active_section = 'ADDONS'
    bpy.context.window_manager.addon_search = "IK 2D"
    yield 1.0
    region = next(r for r in area.regions if r.type == 'WINDOW')
    others = [r for r in area.regions if r.type in {'UI', 'HEADER'}]
    yield from picture("walk_01_installed", region, *others, rows=260)
    area.ui_type = 'VIEW_3D'
    yield 0.5


def choose_and_add():
    """Open, choose, add."""
    scene = bpy.context.scene
    yield from in_front("IK 2D")
    calm()
    remove_chains()
    look_at(1.65, 1.6, 5.6)
    scene.frame_set(FRAME)
    select("Walker")
    yield from picture("walk_02_opened")
    select(TARGET, "Walker", bone="shin.R")
    yield from picture("walk_03_chosen")
    added("R")
    yield from picture("walk_04_added")


def pose_it(sidebar):
    """Live on a later frame, dragged, drawn, limited."""
    assert rig().ik2d.chains[0].live
    bpy.context.scene.frame_set(LATER)
    yield from picture("walk_05_live")
    bpy.context.scene.frame_set(FRAME)
    shin = rig().pose.bones["shin.R"]
    x, y = at(rig().matrix_world @ shin.tail)
    yield from ui.move(x, y)
    yield from ui.key('J')
    for i in range(1, 9):
        yield from ui.move(x + 10 * i, y + 8 * i)
    yield 0.3
    yield from picture("walk_06_dragged", still=False)
    yield from ui.key('ESC')
    yield 0.3
    overlay().show = True
    yield from picture("walk_07_overlay")
    chain = rig().ik2d.chains[0]
    knee = chain.joints["shin.R"]
    knee.limit_min, knee.limit_max, knee.use_limit = radians(5), radians(150), True
    yield from set_open(sidebar, "IK2D_PT_joints")
    yield from picture("walk_08_limits")
    yield from set_open(sidebar, "IK2D_PT_joints", False)


def bake_it(area, sidebar):
    """The other leg, both baked, and played."""
    overlay().show = False
    added("L")
    for chain in rig().ik2d.chains:
        chain.hand_rotation = 'WORLD'
    yield from set_open(sidebar, "IK2D_PT_foot")
    yield from picture("walk_09_both_legs")
    yield from set_open(sidebar, "IK2D_PT_foot", False)
    bpy.context.scene.frame_set(FRAME)
    yield from call("bake")
    yield from scroll(sidebar)
    yield from picture("walk_10_baked")
    select("Walker")
    region = ui.region()[1]
    area.spaces.active.show_region_ui = area.spaces.active.show_region_hud = False
    area.spaces.active.overlay.show_overlays = False
    for frame in CYCLE:
        bpy.context.scene.frame_set(frame)
        look_at(0.1 + 1.5 / 32 * (frame - 1), 1.45, 5.0)
        yield from picture(f"cycle_{frame:03}", region, still=False)


def test():
    """All of it."""
    yield from preferences()
    yield from choose_and_add()
    area, sidebar = yield from in_front("IK 2D")
    yield from pose_it(sidebar)
    yield from bake_it(area, sidebar)


ui.run(test)
