# SPDX-License-Identifier: GPL-3.0-or-later
"""A preset from the panel's header, the menu beside the list, and a bone's right-click menu; undo each."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]


def chains():
    """Return the arm's chains; undo makes others of all."""
    return bpy.data.objects["Arm"].ik2d.chains


def click_right_of(area, sidebar, above, rows):
    """Click the last small button of the header that is some rows above a button."""
    x, y = yield from ui.find_button(area, sidebar, above)
    scale = bpy.context.preferences.system.ui_scale
    yield from ui.click(sidebar.x + sidebar.width - int(66 * scale), y + int(rows * 20 * scale))
    yield 0.5


def test():
    """As a person would."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(chains()) == 1, "the chain")

    # The presets: in the header of Active Chain, above its first field.
    yield from click_right_of(area, sidebar, "].tip", 1.35)
    yield from ui.shot(f"{SHOTS}/menus_1_presets.png")
    yield from ui.text("s")  # as in all menus of Blender: the entry with that letter
    yield 0.3
    if chains()[0].softness == 0.0:
        yield from ui.key('ESC')

    # A bone's right-click menu.
    yield from ui.click(*at((0.05, 0, 2.0)), 'RIGHTMOUSE')
    yield 0.5
    yield from ui.shot(f"{SHOTS}/menus_2_bone.png")
    yield from ui.key('ESC')

    # The menu beside the list, which is there with two chains.
    second = chains().add()
    second.tip, second.bone_count, second.target = "upper", 1, bpy.data.objects["Target"]
    chains()[0].softness = 0.2
    bpy.ops.ed.undo_push(message="Two chains")
    sidebar.tag_redraw()
    yield 0.5
    with bpy.context.temp_override(window=ui.window(), area=area, region=sidebar):
        bpy.ops.wm.call_menu(name="IK2D_MT_list")
    yield 0.5
    yield from ui.shot(f"{SHOTS}/menus_3_list.png")
    yield from ui.key('RET')
    yield 0.5
    yield from ui.key('ESC')
    bpy.ops.ik2d.copy_settings('EXEC_DEFAULT', True, to='ENABLED')
    assert abs(chains()[1].softness - 0.2) < 1e-6
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: chains()[1].softness == 0.0, "the undo")


ui.run(test)
