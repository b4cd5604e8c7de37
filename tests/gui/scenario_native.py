# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain is converted to drivers in the panel Rig, follows its dragged target, and is reverted."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import assert_tip_follows, click_target, evaluated, scroll, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]
FRAMES, SEEN = range(1, 41), 20  # the last: a frame on which the target is in the view


def arm():
    """Return the arm; undo makes another of it."""
    return bpy.data.objects["Arm"]


def constraints():
    """Return how many constraints the arm's bones have."""
    return sum(len(bone.constraints) for bone in arm().pose.bones)


def show(sidebar, picture):
    """Redraw the sidebar and keep a picture of it."""
    sidebar.tag_redraw()
    yield 0.6
    yield from ui.shot(f"{SHOTS}/native_{picture}.png")


def test():
    """As a person would."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    x, y = yield from ui.find_button(area, sidebar, "ik2d.chain_add")
    yield from ui.click(x, y - int(62 * bpy.context.preferences.system.ui_scale))  # the header of Rig
    yield from ui.find_button(area, sidebar, "ik2d.make_native")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm().ik2d.chains) == 1, "the chain")
    objects = len(bpy.data.objects)
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')
    yield from ui.click_button(area, sidebar, "ik2d.make_native")
    yield from ui.wait_until(lambda: constraints() == 2, "the constraints")
    assert_tip_follows(FRAMES)
    bpy.context.scene.frame_set(SEEN)
    yield from show(sidebar, "1_made")

    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: constraints() == 0 and len(bpy.data.objects) == objects, "one undo")
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: constraints() == 2, "the redo")
    assert_tip_follows(FRAMES)

    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: arm().mode == 'OBJECT', "Object Mode")
    bpy.context.scene.frame_set(SEEN)
    yield from click_target()
    before = evaluated(SEEN)[1]
    yield from ui.key('G')
    yield from ui.move(*(part + 40 for part in ui.center(ui.region()[1])))
    yield from show(sidebar, "2_target_dragged")
    shown = arm().evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = shown.matrix_world @ shown.pose.bones["fore"].tail
    assert (tip - before).length > 0.01, "the tip does not follow"
    yield from ui.key('ESC')

    yield from scroll(sidebar, 'WHEELUPMOUSE')
    x, y = yield from ui.find_button(area, sidebar, "].shown_bend")
    yield from ui.move(x, y)
    yield from ui.button('PRESS', 'WHEELDOWNMOUSE', 'ctrl')  # the next choice
    chain = arm().ik2d.chains[0]
    yield from ui.wait_until(lambda: chain.native_stand["bend"] < 0.0, "the other side")
    assert chain.shown_bend == 'NEGATIVE'
    yield from ui.button('PRESS', 'WHEELUPMOUSE', 'ctrl')
    yield from ui.wait_until(lambda: chain.native_stand["bend"] > 0.0, "the side of before")
    yield from ui.click_button(area, sidebar, "].live")  # greyed out, as the drivers follow
    assert not chain.live
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')
    yield from ui.click_button(area, sidebar, "ik2d.remove_native")
    yield from ui.wait_until(lambda: constraints() == 0 and len(bpy.data.objects) == objects, "the removal")
    yield from show(sidebar, "3_removed")


ui.run(test)
