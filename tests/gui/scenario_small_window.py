# SPDX-License-Identifier: GPL-3.0-or-later
"""In a window of 1280 by 800 the result of a bake is in sight, below its button, without scrolling."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import open_result, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]


def test():
    """Add a chain, bake, and click the button in the result."""
    assert ui.window().width <= 1280 and ui.window().height <= 800, (ui.window().width, ui.window().height)
    area, sidebar = yield from ui.sidebar("IK 2D")
    arm = bpy.data.objects["Arm"]
    yield from select_target_then_tip()
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 1, "the chain")
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: arm.ik2d.last_bake, "the bake", 30)
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.shot(f"{SHOTS}/small_window.png")
    bpy.context.scene.frame_set(1)
    yield from open_result(area, sidebar, "wm.context_set_int")
    yield from ui.click_button(area, sidebar, "wm.context_set_int")
    worst = arm.ik2d.chains[0].worst_frame
    yield from ui.wait_until(lambda: bpy.context.scene.frame_current == worst, "the worst frame")


ui.run(test)
