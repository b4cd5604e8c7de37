# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm with a pole is adopted by the dialog, beside a limb left unticked; hand and pole are dragged."""

import os
import sys
from math import atan2, degrees

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, click_target, select_target_then_tip, ui
from mathutils import Vector

SHOTS = os.environ["IK2D_SHOTS"]
REACH = 3.0


def add_empty(name, path):
    """Add an empty that is at the given places at the given frames."""
    empty = bpy.data.objects.new(name, None)
    bpy.context.collection.objects.link(empty)
    empty.empty_display_type, empty.empty_display_size = 'SPHERE', 0.15
    for frame, place in path.items():
        empty.location = place
        if len(path) > 1:
            empty.keyframe_insert("location", frame=frame)
    return empty


def rig():
    """Give the arm an IK with a pole, and a second limb, whose target swings far off its plane, without."""
    arm = bpy.data.objects["Arm"]
    bpy.ops.object.mode_set(mode='EDIT')
    bones = arm.data.edit_bones
    first, second = bones.new("antenna"), bones.new("feeler")
    first.head, first.tail, second.tail = (1.5, 0, 0), (1.7, 0, 0.6), (1.5, 0, 1.2)
    second.head, second.parent = first.tail, first
    bpy.ops.object.mode_set(mode='POSE')
    target, pole = bpy.data.objects["Target"], add_empty("Pole", {1: (-0.8, 0.0, 1.0)})
    target.animation_data_clear()
    target.location = (0.8, 0.0, 1.9)
    feeler = add_empty("Feeler", {1: (1.6, 0.2, 0.9), 40: (2.0, 0.3, -0.4)})
    for bone, towards in (("fore", target), ("feeler", feeler)):
        constraint = arm.pose.bones[bone].constraints.new('IK')
        constraint.target, constraint.chain_count = towards, 2
        if bone == "fore":
            constraint.pole_target, constraint.pole_angle = pole, 0.4
    arm.pose.bones["upper"].rotation_quaternion = (0.97, 0.1, 0.2, 0.1)  # a turn of its own
    bpy.context.view_layer.update()


def shown():
    """Return where Blender has root, elbow, tip, target and pole; nothing is evaluated for it."""
    graph = bpy.context.view_layer.depsgraph
    arm = bpy.data.objects["Arm"].evaluated_get(graph)
    bones = arm.pose.bones
    joints = bones["upper"].head, bones["fore"].head, bones["fore"].tail
    places = [
        bpy.data.objects[name].evaluated_get(graph).matrix_world.translation for name in ("Target", "Pole")
    ]
    return *(arm.matrix_world @ joint for joint in joints), *(place.copy() for place in places)


def spin():
    """Return the angle, in degrees, from the pole to the elbow about the line from shoulder to hand."""
    root, elbow, tip, _, pole = shown()
    line = (tip - root).normalized()
    sides = [place - root - (place - root).dot(line) * line for place in (pole, elbow)]
    return degrees(atan2(line.dot(sides[0].cross(sides[1])), sides[0].dot(sides[1])))


def is_on_target():
    """Return whether the tip is on its target."""
    _, _, tip, target, _ = shown()
    return (tip - target).length < 1e-5 * REACH


def drag(name, by):
    """Move an object with G."""
    before = bpy.data.objects[name].location.copy()
    view = ui.region()[1]
    x, y = ui.center(view)
    yield from ui.move(x, y)
    yield from ui.key('G')
    yield 0.3
    yield from ui.move(x + by[0], y + by[1])
    yield 0.3
    yield from ui.click(x + by[0], y + by[1])
    moved = lambda: (bpy.data.objects[name].location - before).length > 0.1  # noqa: E731
    yield from ui.wait_until(moved, f"the drag of {name}")
    yield 0.5


def test():
    """Adopt, and drag."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    rig()
    bpy.ops.ed.undo_push(message="rig")
    yield 0.5
    before, elbow = spin(), shown()[1]
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('A')
    yield 0.3
    yield from ui.click_button(area, sidebar, "ik2d.adopt")
    yield 1.5
    yield from ui.shot(f"{SHOTS}/adopt_pole_1_dialog.png")
    yield from ui.key('RET')
    arm = bpy.data.objects["Arm"]
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 1, "the arm's chain alone")
    assert (arm.ik2d.chains[0].plane, arm.ik2d.chains[0].live) == ('POLE', True)
    assert not arm.pose.bones["feeler"].constraints[0].mute
    yield from ui.wait_until(is_on_target, "the tip on its target")
    assert (shown()[1] - elbow).length < 1e-3 * REACH and abs(spin() - before) < 0.1
    yield from ui.shot(f"{SHOTS}/adopt_pole_2_adopted.png")

    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: bpy.context.mode == 'OBJECT', "Object Mode")
    yield from click_target()
    yield from drag("Target", (60, 50))
    assert is_on_target() and abs(spin() - before) < 0.1, (spin(), before)
    pole = bpy.data.objects["Pole"]
    yield from ui.click(*at(pole.location - Vector((0, 0, 0.15))))
    yield from ui.wait_until(lambda: bpy.context.object == pole, "the pole's selection")
    elbow = shown()[1]
    yield from drag("Pole", (40, -150))
    assert is_on_target() and abs(spin() - before) < 0.1, (spin(), before)
    pole.location.y = -2.0
    yield 0.5
    assert is_on_target() and abs(spin() - before) < 0.1, (spin(), before)
    assert (shown()[1] - elbow).length > 0.05 * REACH
    yield from ui.shot(f"{SHOTS}/adopt_pole_3_dragged.png")


ui.run(test)
