# SPDX-License-Identifier: GPL-3.0-or-later
"""All limbs of a rig that Rigify made are adopted in one dialog; one is restored alone, then the others."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import take_theme, ui
from rig_steps import in_window
from scenario_rigify import generate, rig

SHOTS = os.environ["IK2D_SHOTS"]


def shot(picture):
    """Keep a picture after a redraw."""
    for area in ui.window().screen.areas:
        area.tag_redraw()
    yield 0.8
    yield from ui.shot(f"{SHOTS}/{picture}.png")


def dialog(theme):
    """Open the dialog in a theme, for all limbs, with the mouse in the middle of the view."""
    take_theme(theme)
    yield from ui.move(*ui.center(ui.region()[1]))
    yield 0.5
    in_window(bpy.ops.ik2d.adopt, 'INVOKE_DEFAULT', all=True)
    yield 2.0
    yield from shot(f"limbs_1_dialog_{theme[8:-4].lower()}")


def test():
    """As a person would, but for the search that opens the dialog."""
    generate()
    yield 1.0
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from dialog("Blender_Light.xml")
    yield from ui.key('ESC')
    yield 0.5
    assert not rig().ik2d.chains
    yield from dialog("Blender_Dark.xml")
    yield from ui.key('RET')
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) >= 4, "the chains", 60)
    count = len(rig().ik2d.chains)
    first = rig().ik2d.chains[rig().ik2d.active_index].name
    in_window(bpy.ops.ik2d.release, 'INVOKE_DEFAULT', this_only=True)
    yield 0.5
    assert len(rig().ik2d.chains) == count - 1 and first not in rig().ik2d.chains
    yield from shot("limbs_2_one_restored")
    in_window(bpy.ops.ik2d.release, 'INVOKE_DEFAULT')
    yield from ui.wait_until(lambda: not rig().ik2d.chains, "the others")
    yield from shot("limbs_3_all_restored")


ui.run(test)
