# SPDX-License-Identifier: GPL-3.0-or-later
"""In the window: the steps of docs/cut-out.md, from the fox's parts to its walk."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from window import call, calm, in_front, look_at, named, picture, scroll, set_open, ui

WAVES, SWITCHES, STEPS, LIFTS = 12, 42, 58, 106  # frames


def rig():
    """Return the fox."""
    return named("objects", "Fox")


def select(*names, bones=()):
    """Select objects, the last of them active; with bones, go to Pose Mode, the last of them active."""
    if bpy.context.mode != 'OBJECT':
        bpy.ops.object.mode_set(mode='OBJECT')
    for ob in bpy.context.view_layer.objects:
        ob.select_set(ob.name in names)
    bpy.context.view_layer.objects.active = named("objects", names[-1])
    if not bones:
        return
    bpy.ops.object.mode_set(mode='POSE')
    bpy.ops.pose.select_all(action='DESELECT')
    data, pose = rig().data.bones, rig().pose.bones
    data.active = data[bones[-1]]
    for bone in bones:
        (pose[bone] if bpy.app.version >= (5, 0) else data[bone]).select = True


def fit(distance=5.1, x=0.42, z=0.95):
    """See the whole fox, or a part of it."""
    look_at(x, z, distance)


def backdrop(seen):
    """Show or hide the hills, whose parts hang on no bone, and the ground's line."""
    for ob in (*named("collections", "Shapes").objects, named("objects", "Ground")):
        if ob.parent is None:
            ob.hide_set(not seen)


def targets(seen):
    """Show or hide the targets."""
    for ob in named("collections", "Targets").objects:
        ob.hide_set(not seen)


def shown_parts():
    """Return the drawings that hang on bones and are seen."""
    return [ob for ob in named("collections", "Shapes").objects if ob.parent is not None]


def part_from_part():
    """Move the parts apart, as a sheet of drawings has them; return the way back."""
    rest = rig().data.bones
    centre = rest["chest"].head_local
    for ob in shown_parts():
        bone = rest.get(ob.parent_bone)
        place = (bone.head_local + bone.tail_local) / 2 if bone else rest["tail.4"].head_local
        away = (place - centre) * 0.62
        if bone and bone.name == "scarf":
            away.x -= 0.12
        ob.delta_location = (away.x, 0.0, away.z)

    def back():
        for ob in shown_parts():
            ob.delta_location = (0.0, 0.0, 0.0)

    return back


def parts_and_bones():
    """The parts, the bones, and a part on its bone."""
    fox = rig()
    for name in [chain.name for chain in fox.ik2d.chains]:
        fox.ik2d.chains[name].live = False
    fox.data.pose_position = 'REST'
    backdrop(False)
    targets(False)
    fox.hide_set(True)
    back = part_from_part()
    fit(2.6, 0.12, 0.8)
    yield from picture("cutout_01_parts")
    back()
    fox.hide_set(False)
    fox.data.display_type = 'STICK'  # in the sample they are wires, which hide no part
    select("Fox", bones=["hips"])
    fit(2.0, 0.17, 0.9)
    yield from picture("cutout_02_bones")
    fox.data.display_type = 'WIRE'
    fox.data.pose_position = 'POSE'


def choose(name, bone):
    """Make a chain the active one, with its last bone."""
    select("Fox", bones=[bone])
    rig().ik2d.active_index = rig().ik2d.chains.find(name)


def arm_by_hand():
    """The arm turned by its bones: the parts come along."""
    backdrop(True)
    targets(True)
    bpy.context.scene.frame_set(SWITCHES + 22)
    fit(3.0, -0.05, 0.95)
    select("Fox", bones=["upper arm.near", "forearm.near"])
    yield from picture("cutout_03_by_hand")


def legs(sidebar):
    """A leg's chain, its foot, and the ground."""
    scene = bpy.context.scene
    for chain in rig().ik2d.chains:
        chain.live = True
    scene.frame_set(STEPS)
    choose("Leg.near", "shin.near")
    fit(3.0, -0.25, 0.95)
    yield from picture("cutout_04_leg")
    yield from set_open(sidebar, "IK2D_PT_foot")
    fit(1.25, -0.42, 0.28)
    yield from picture("cutout_05_foot")
    scene.frame_set(LIFTS)
    choose("Leg.far", "shin.far")
    fit(1.9, 0.75, 0.5)
    yield from picture("cutout_06_stair")


def arm_and_tail(sidebar):
    """The hand that waves, the tail, and the frame where keys take over."""
    scene = bpy.context.scene
    scene.frame_set(WAVES)
    choose("Arm.near", "forearm.near")
    fit(2.2, -0.6, 1.1)
    yield from picture("cutout_07_wave")
    yield from set_open(sidebar, "IK2D_PT_foot", False)
    choose("Tail", "tail.6")
    yield from set_open(sidebar, "IK2D_PT_advanced")
    fit(2.0, -0.85, 0.95)
    yield from picture("cutout_08_tail")
    yield from set_open(sidebar, "IK2D_PT_advanced", False)
    scene.frame_set(SWITCHES)
    choose("Arm.near", "forearm.near")
    fit(2.2, -0.6, 1.0)
    yield from picture("cutout_09_switch")


def baked(sidebar):
    """All of it as keys."""
    rig().ik2d.chains["Arm.near"].enabled = False  # whose own keys a bake would replace
    choose("Leg.near", "shin.near")
    bpy.context.scene.frame_set(100)
    fit(3.4, 0.35, 0.95)
    yield from call("bake")
    yield from scroll(sidebar)
    yield from picture("cutout_10_baked")


def test():
    """All of it."""
    area, sidebar = yield from in_front("IK 2D")
    calm()
    area.spaces.active.shading.light = 'FLAT'
    yield from parts_and_bones()
    yield from arm_by_hand()
    yield from legs(sidebar)
    yield from arm_and_tail(sidebar)
    yield from baked(sidebar)


ui.run(test)
