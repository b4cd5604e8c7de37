# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of the sidebar in two themes, at two scales and 200 pixels wide."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import (
    SUB_PANELS,
    click_sub_panel,
    scroll,
    select_target_then_tip,
    take_theme,
    ui,
    zoom_to_width,
)

SHOTS = os.environ["IK2D_SHOTS"]
NARROW = 200  # pixels


def show(sidebar, picture):
    """Keep a picture of the sidebar's top and one of the rest, with the mouse outside it."""
    yield from ui.move(*ui.center(ui.region()[1]))
    sidebar.tag_redraw()
    yield 0.8  # panels slide to their places
    yield from ui.shot(f"{SHOTS}/pictures_{picture}.png")
    yield from scroll(sidebar, 'WHEELDOWNMOUSE')
    yield from ui.shot(f"{SHOTS}/pictures_{picture}_below.png")
    yield from scroll(sidebar, 'WHEELUPMOUSE')


def click_below(area, sidebar, button, below, wanted):
    """Click so far below a button, in pixels at scale 1, where the header of a closed panel is."""
    x, y = yield from ui.find_button(area, sidebar, button)
    yield from ui.click(x, y - int(below * bpy.context.preferences.system.ui_scale))
    yield 0.8
    yield from ui.find_button(area, sidebar, wanted)


def test():
    """Open everything, then go through themes, scales and widths."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    arm = bpy.data.objects["Arm"]
    yield from select_target_then_tip()
    yield from click_below(area, sidebar, "ik2d.chain_add", 62, "ik2d.make_native")  # the header of Rig
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 1, "the chain")
    arm.ik2d.chains[0].live = True
    yield from show(sidebar, "1_live")
    arm.ik2d.chains[0].live = False

    chain = arm.ik2d.chains[0]
    bpy.ops.ik2d.bake('EXEC_DEFAULT')
    for name in reversed(SUB_PANELS):
        yield from click_sub_panel(area, sidebar, name)
    chain.joints[1].limit_min, chain.joints[1].limit_max, chain.joints[1].use_limit = -0.5, 2.0, True
    chain.solver, chain.stretch, chain.stretch_bones, chain.tip_rotation = 'EVEN', 1.2, 'LAST', 'TARGET'
    for theme in ("dark", "light"):
        if theme == "light":
            take_theme("Blender_Light.xml")
        for scale in (1.0, 1.5):
            bpy.context.preferences.view.ui_scale = scale
            yield 0.5
            yield from show(sidebar, f"3_{theme}_{scale}")
    bpy.context.preferences.view.ui_scale = 1.0
    bpy.ops.preferences.reset_default_theme()
    yield 0.5
    yield from zoom_to_width(sidebar, NARROW)
    yield from show(sidebar, "4_narrow")


ui.run(test)
