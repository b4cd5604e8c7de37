# SPDX-License-Identifier: GPL-3.0-or-later
"""An IK constraint is adopted from the panel Rig, by its dialog, baked, undone, and released again."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import scroll, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]


def show(sidebar, picture):
    """Redraw the sidebar and keep a picture of it."""
    sidebar.tag_redraw()
    yield 0.6
    yield from ui.shot(f"{SHOTS}/adopt_{picture}.png")


def test():
    """Adopt, look, and release."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    arm, target = bpy.data.objects["Arm"], bpy.data.objects["Target"]
    constraint = arm.pose.bones["fore"].constraints.new('IK')
    constraint.target, constraint.chain_count, constraint.use_rotation = target, 2, True
    bpy.ops.ed.undo_push(message="IK")
    x, y = yield from ui.find_button(area, sidebar, "ik2d.adopt")  # the main button, not Add Chain
    yield from ui.click(x, y - int(62 * bpy.context.preferences.system.ui_scale))  # the header of Rig
    yield from ui.find_button(area, sidebar, "ik2d.release")
    yield from show(sidebar, "1_panel")

    yield from ui.click_button(area, sidebar, "ik2d.adopt")
    yield 1.0
    yield from ui.shot(f"{SHOTS}/adopt_2_dialog.png")
    assert not arm.ik2d.chains  # not before it is agreed to
    yield from ui.key('ESC')
    yield 0.5
    assert not arm.ik2d.chains and not constraint.mute
    yield from ui.click_button(area, sidebar, "ik2d.adopt")
    yield 1.0
    yield from ui.key('RET')
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 1, "the chain")
    assert arm.pose.bones["fore"].constraints[0].mute
    yield from show(sidebar, "3_adopted")

    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not bpy.data.objects["Arm"].ik2d.chains, "one undo")
    assert not bpy.data.objects["Arm"].pose.bones["fore"].constraints[0].mute
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: bpy.data.objects["Arm"].ik2d.chains, "the redo")
    area, sidebar = yield from ui.sidebar("IK 2D")
    assert bpy.data.objects["Arm"].ik2d.chains[0].live
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')
    yield from ui.click_button(area, sidebar, "ik2d.release")
    yield from ui.wait_until(lambda: not bpy.data.objects["Arm"].ik2d.chains, "the release")
    assert not bpy.data.objects["Arm"].pose.bones["fore"].constraints[0].mute
    yield from show(sidebar, "4_released")


ui.run(test)
