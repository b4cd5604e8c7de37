# SPDX-License-Identifier: GPL-3.0-or-later
"""Drag a tip: flipped, typed, snapped, keyed, by the tool, and without a chain."""

import os
import sys

import bpy
from mathutils import Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import keyed_frames
from drag_steps import CLOSE, arm, confirmed, dragging, follow, places, seen, take_hold, ui, with_chain

SHOTS = os.environ["IK2D_SHOTS"]


def flipped():
    """F moves the elbow to the other side; the tip stays."""
    x, y = yield from take_hold()
    yield from follow(x, y, -30, -20)
    tip, elbow, _ = places()
    yield from ui.key('F')
    yield 0.3
    assert (places()[0] - tip).length < CLOSE and (places()[1] - elbow).length > 0.3
    yield from ui.shot(f"{SHOTS}/drag_4_flipped.png")
    yield from confirmed()
    assert arm().ik2d.chains[0].bend == 'NEGATIVE'
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: arm().ik2d.chains[0].bend == 'POSITIVE', "the undo of the flip")


def typed():
    """Numbers: along an axis, and both with Tab; Ctrl snaps."""
    tip = places()[0]
    yield from take_hold()
    for key in ('X', 'MINUS', 'PERIOD', 'FIVE'):
        yield from ui.key(key)
    yield 0.2
    yield from ui.shot(f"{SHOTS}/drag_5_typed.png")
    yield from confirmed()
    assert (places()[0] - tip - Vector((-0.5, 0, 0))).length < CLOSE, (places()[0], tip)
    yield from take_hold()
    for key in ('PERIOD', 'THREE', 'TAB', 'PERIOD', 'TWO'):
        yield from ui.key(key)
    yield from confirmed()
    assert (places()[0] - tip - Vector((-0.2, 0, 0.2))).length < CLOSE, (places()[0], tip)
    yield from ui.key('Z', 'ctrl')
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: (places()[0] - tip).length < CLOSE, "both undone")
    x, y = yield from take_hold()
    yield from ui.move(x - 60, y - 35, 'ctrl')
    yield 0.2
    steps = (places()[0] - tip) * 10.0
    assert max(abs(part - round(part)) for part in steps) < 1e-2 and steps.length > 0.5, steps
    yield from confirmed('ESC')


def keyed():
    """With Auto Keying the target gets a key, and the bones too; undo takes both."""
    scene = bpy.context.scene
    scene.tool_settings.use_keyframe_insert_auto = True
    bpy.context.preferences.edit.use_keyframe_insert_available = False
    x, y = yield from take_hold()
    yield from follow(x, y, -40, -70)
    yield from confirmed()
    tip = places()[0]
    frame = scene.frame_current
    scene.frame_set(frame + 5)
    scene.frame_set(frame)
    assert (places()[0] - tip).length < CLOSE and (places()[2] - tip).length < CLOSE, (places(), tip)
    bones = [path for path, _ in keyed_frames() if ".rotation_quaternion" in path]
    assert len(bones) == 8, bones
    scene.tool_settings.use_keyframe_insert_auto = False
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not keyed_frames(), "the undo of the keys")


def with_the_tool():
    """The tool in the toolbar: press on the tip, drag, release."""
    area, view = ui.region()
    with bpy.context.temp_override(window=ui.window(), area=area, region=view):
        bpy.ops.wm.tool_set_by_id(name="ik2d.drag_tool")
    area.spaces.active.show_region_toolbar = True
    yield 0.5
    before = places()[0]
    x, y = map(int, seen(before))
    yield from ui.move(x, y)
    yield 0.2
    yield from ui.button('PRESS')
    for step in range(1, 11):
        yield from ui.move(x - 6 * step, y - 4 * step)
        yield 0.1
    yield from ui.wait_until(dragging, "the tool's drag")
    yield from ui.button('RELEASE')
    yield from ui.wait_until(lambda: not dragging(), "the release")
    yield 0.3
    tip, _, target = places()
    assert (seen(tip) - Vector((x - 60, y - 40))).length < 4.0, (seen(tip), x, y)
    assert (tip - target).length < CLOSE, (tip, before, target)
    yield from ui.shot(f"{SHOTS}/drag_6_tool.png")
    x, y = map(int, seen((-0.25, 0, 0.75)))
    with bpy.context.temp_override(window=ui.window(), area=area, region=view):
        bpy.ops.wm.tool_set_by_id(name="builtin.select_box")


def without_a_chain():
    """Bones alone: J drags them, the wheel changes how many."""
    arm().ik2d.chains.clear()
    before = places()[0]
    x, y = yield from take_hold()
    yield from ui.move(x - 20, y - 30)
    yield 0.3
    root = arm().pose.bones["upper"].rotation_quaternion.copy()
    assert (places()[0] - before).length > 0.1
    yield from ui.click(x - 20, y - 30, 'WHEELDOWNMOUSE')
    yield 0.2
    assert arm().pose.bones["upper"].rotation_quaternion != root
    assert abs(places()[0].y) < CLOSE
    yield from ui.shot(f"{SHOTS}/drag_7_bones.png")
    yield from confirmed('ESC')
    assert (places()[0] - before).length < 1e-6


def test():
    """All of it."""
    yield from with_chain()
    yield from with_the_tool()
    yield from flipped()
    yield from typed()
    yield from keyed()
    yield from without_a_chain()


ui.run(test)
