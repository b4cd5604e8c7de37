# SPDX-License-Identifier: GPL-3.0-or-later
"""A hydraulic ram by mouse: two bones, Add Ram, Bake; then its Length drives the arm instead."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import scroll, take_theme, ui
from machine_steps import CLICKS, bake, open_mechanism, select, turn_and_key
from rig_steps import build, click_bone, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
DIGGER = {
    "base": ((0, 0, 0), (0, 0, 0.5), ""),
    "arm": ((0, 0, 0.5), (1.0, 0, 1.6), "base"),
    "fore": ((1.0, 0, 1.6), (2.0, 0, 1.2), "arm"),
    "cylinder": ((0.55, 0, 0.0), (0.6, 0, 0.4), "base"),
    "rod": ((0.75, 0, 1.05), (0.7, 0, 0.7), "arm"),
}


def off_the_line():
    """Return the sines between each bone of the ram, turned from rest, and the line of their heads."""
    line = (posed("rod").head - posed("cylinder").head).normalized()
    rest = [rig().data.bones[name] for name in ("cylinder", "rod")]
    at_rest = (rest[1].head_local - rest[0].head_local).normalized()
    turned = [posed(bone.name).matrix @ bone.matrix_local.inverted() for bone in rest]
    return [(turn.to_3x3() @ at_rest).cross(line).length for turn in turned]


def assert_closed():
    """Bones of the ram point at each other on every frame, while the arm turns."""
    tails = set()
    for frame in range(1, 26):
        bpy.context.scene.frame_set(frame)
        assert max(off_the_line()) < 1e-5, (frame, off_the_line())
        tails.add(round(posed("arm").tail.z, 4))
    assert len(tails) > 20, tails


def test():
    """Add the ram; key the arm and bake; then have the ram drive, key its length, and bake again."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(DIGGER)
    yield from look('NUMPAD_1')
    yield from open_mechanism(area, sidebar)
    yield from select("rod", "cylinder")
    yield from ui.click_button(area, sidebar, "ik2d.mechanism_ram")
    yield from ui.wait_until(lambda: len(rig().ik2d.mechanisms), "the ram")
    mechanism = rig().ik2d.mechanisms[0]
    assert {bone.name for bone in mechanism.bones} == {"cylinder", "rod", "arm"}
    assert [driver.bone for driver in mechanism.drivers] == ["arm"] and len(bpy.data.objects) == 1
    yield from click_bone("arm")
    yield from turn_and_key(1, 0)
    yield from turn_and_key(25, 20)
    bpy.context.scene.frame_end = 25
    yield from bake(area, sidebar)
    yield from ui.shot(f"{SHOTS}/ram_1_baked.png")
    assert_closed()

    yield from scroll(sidebar, 'WHEELDOWNMOUSE')
    yield from ui.click_button(area, sidebar, "ik2d.clear_bake")
    yield from ui.wait_until(lambda: not rig().ik2d.last_bake, "the cleared bake")
    yield from scroll(sidebar, 'WHEELUPMOUSE')
    yield from click_bone("cylinder")
    yield from ui.click_button(area, sidebar, "mechanism_drive(by='KEYS'")
    yield from ui.wait_until(lambda: rig().ik2d.mechanisms[0].drivers[0].kind == 'RAM', "the length")
    x, y = yield from ui.find_button(area, sidebar, "drivers[0].length")
    for frame, share in ((1, 1.0), (25, 0.8)):
        bpy.context.scene.frame_set(frame)
        rig().ik2d.mechanisms[0].drivers[0].length = share
        yield 0.2
        yield from ui.move(x, y)
        yield from ui.key('I')  # over the slider
        yield 0.3
    yield from bake(area, sidebar)
    assert len(CLICKS) <= 20, len(CLICKS)
    print("clicks:", len(CLICKS), flush=True)
    assert_closed()
    for theme in ("Blender_Light.xml", "Blender_Dark.xml"):
        take_theme(theme)
        yield 0.8
        yield from ui.shot(f"{SHOTS}/ram_{theme[8:-4].lower()}.png")


ui.run(test)
