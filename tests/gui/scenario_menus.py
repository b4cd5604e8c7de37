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


def test():
    """As a person would."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from select_target_then_tip()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(chains()) == 1, "the chain")

    # The presets: in the header of Chain, left of Help, above Live, its status and Key Target.
    row = int(20 * bpy.context.preferences.system.ui_scale)
    _, y = yield from ui.find_button(area, sidebar, "ik2d.key_target")
    x, y = sidebar.x + sidebar.width - int(4.9 * row), y + int(4.15 * row)
    yield from ui.click(x, y)
    yield 0.5
    yield from ui.shot(f"{SHOTS}/menus_1_presets.png")
    yield from ui.click(x - row, y + 8 * row)  # Limb, Soft; the menu opens upwards
    yield from ui.wait_until(lambda: chains()[0].softness > 0.05, "the preset")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('ESC')
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: chains()[0].softness == 0.0, "the undo of the preset")

    # A bone's right-click menu.
    yield from ui.click(*at((0.05, 0, 2.0)), 'RIGHTMOUSE')
    yield 0.5
    yield from ui.key('UP_ARROW')  # from the top to the last entry
    yield from ui.key('RIGHT_ARROW')
    yield 0.5
    yield from ui.shot(f"{SHOTS}/menus_2_bone.png")
    yield from ui.key('ESC')
    yield from ui.key('ESC')

    # The menu under Pose.
    view, region = ui.region()
    with bpy.context.temp_override(window=ui.window(), area=view, region=region):
        bpy.ops.wm.call_menu(name="IK2D_MT_menu")
    yield 0.5
    yield from ui.shot(f"{SHOTS}/menus_3_pose.png")
    yield from ui.key('ESC')

    # The menu beside the list, which is there with two chains.
    second = chains().add()
    second.tip, second.bone_count, second.target = "upper", 1, bpy.data.objects["Target"]
    chains()[0].softness = 0.2
    bpy.ops.ed.undo_push(message="Two chains")
    sidebar.tag_redraw()
    yield 0.5
    with bpy.context.temp_override(window=ui.window(), area=area, region=sidebar):
        bpy.ops.wm.call_menu(name="IK2D_MT_chain")
    yield 0.5
    yield from ui.shot(f"{SHOTS}/menus_4_list.png")
    yield from ui.key('DOWN_ARROW')  # from Mirror Chain
    yield from ui.key('RET')  # Copy Settings to Enabled
    yield from ui.wait_until(lambda: abs(chains()[1].softness - 0.2) < 1e-6, "the copy")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: chains()[1].softness == 0.0, "the undo")


ui.run(test)
