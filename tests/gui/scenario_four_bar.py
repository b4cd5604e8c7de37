# SPDX-License-Identifier: GPL-3.0-or-later
"""A four-bar made by mouse: New Mechanism, the crank drives by its keys, Bake; the loop is closed."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import take_theme, ui
from machine_steps import CLICKS, apart, bake, new_mechanism, select, turn_and_key
from rig_steps import build, click_bone, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
FOUR_BAR = {
    "crank": ((0, 0, 0), (0, 0, 1.0), ""),
    "coupler": ((0, 0, 1.0), (3.0, 0, 2.0), "crank"),
    "rocker": ((3.5, 0, 0), (3.0, 0, 2.0), ""),
}
# Of the distance of the pivots, which are the outermost joints but for one.
CLOSED = 2e-6 * 3.5


def test():
    """Make it, key the crank, bake; count the clicks."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(FOUR_BAR)
    yield from look('NUMPAD_1')
    yield from ui.shot(f"{SHOTS}/four_bar_1_bones.png")
    yield from select("crank", "coupler", "rocker")
    yield from new_mechanism(area, sidebar)
    mechanism = rig().ik2d.mechanisms[0]
    (joint,) = mechanism.joints
    assert joint.kind == 'PIN' and {joint.bone, joint.other} == {"coupler", "rocker"}
    yield from ui.shot(f"{SHOTS}/four_bar_2_made.png")
    yield from click_bone("crank")
    yield from ui.click_button(area, sidebar, "mechanism_drive(by='KEYS'")
    yield from ui.wait_until(lambda: len(rig().ik2d.mechanisms[0].drivers), "the driver")
    yield from turn_and_key(1, 0)
    yield from turn_and_key(25, 90)
    bpy.context.scene.frame_end = 25
    yield from bake(area, sidebar)
    yield from ui.shot(f"{SHOTS}/four_bar_3_baked.png")
    assert len(CLICKS) <= 20, len(CLICKS)
    print("clicks:", len(CLICKS), flush=True)
    turned = set()
    for frame in range(1, 26):
        bpy.context.scene.frame_set(frame)
        gap = apart(("coupler", "tail"), ("rocker", "tail"))
        assert gap < CLOSED, (frame, gap)
        turned.add(round(posed("rocker").tail.x, 4))
    assert len(turned) > 20, turned
    yield from ui.click_button(area, sidebar, "ik2d.clear_bake")
    yield from ui.wait_until(lambda: not rig().ik2d.last_bake, "the cleared bake")
    for theme in ("Blender_Light.xml", "Blender_Dark.xml"):
        take_theme(theme)
        yield 0.8
        yield from ui.shot(f"{SHOTS}/four_bar_{theme[8:-4].lower()}.png")


ui.run(test)
