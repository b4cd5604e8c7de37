# SPDX-License-Identifier: GPL-3.0-or-later
"""A hydraulic ram: cylinder and rod get a chain each by clicks, aim at one another, and follow the arm."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, shift_click, take_theme, ui
from rig_steps import build, click_bone, drag_with_j, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
DIGGER = {
    "base": ((0, 0, 0), (0, 0, 0.5), ""),
    "arm": ((0, 0, 0.5), (1.0, 0, 1.6), "base"),
    "fore": ((1.0, 0, 1.6), (2.0, 0, 1.2), "arm"),
    "cylinder": ((0.55, 0, 0.0), (0.6, 0, 0.4), "base"),
    "rod": ((0.75, 0, 1.05), (0.7, 0, 0.7), "arm"),
}


def off_the_line():
    """Return the sines between each bone of the ram, as Blender evaluates it, and the line of their heads."""
    one, other = posed("cylinder"), posed("rod")
    line = (other.head - one.head).normalized()
    return [(bone.tail - bone.head).normalized().cross(line).length for bone in (one, other)]


def add_aim(area, sidebar, name, target):
    """Select a bone and, last, the one that is to aim at it; Add Chain."""
    count = len(rig().ik2d.chains)
    yield from click_bone(target)
    bone = rig().pose.bones[name]
    yield from shift_click(*at((bone.head + bone.tail) / 2))
    yield from ui.wait_until(lambda: rig().data.bones.active.name == name, name)
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) > count, "the chain")
    chain = rig().ik2d.chains[-1]
    assert (chain.tip, chain.bone_count, chain.subtarget) == (name, 1, target), (chain.tip, chain.bone_count)


def test():
    """Make the arm's chain, then the ram; drag the arm."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(DIGGER)
    yield from look('NUMPAD_1')
    yield from click_bone("fore")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the arm's chain")
    assert rig().ik2d.chains[0].bone_count == 2
    yield from add_aim(area, sidebar, "cylinder", "rod")
    yield from add_aim(area, sidebar, "rod", "cylinder")
    yield 0.5
    assert max(off_the_line()) < 1e-4, off_the_line()
    assert not any("circle" in chain.live_status for chain in rig().ik2d.chains)
    yield from click_bone("fore")
    for to in ((1.6, 0, 2.0), (1.9, 0, 0.8)):
        rig().ik2d.active_index = 0
        yield from drag_with_j("fore", to)
        assert max(off_the_line()) < 1e-4, off_the_line()
        assert (posed("fore").tail - rig().ik2d.chains[0].target.matrix_world.translation).length < 1e-3
    for theme in ("Blender_Light.xml", "Blender_Dark.xml"):
        take_theme(theme)
        yield 0.8
        yield from ui.shot(f"{SHOTS}/ram_{theme[8:-4].lower()}.png")
    bpy.context.scene.frame_end = 5
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: rig().ik2d.last_bake, "the bake", 30)
    assert "circle" not in rig().ik2d.last_bake and max(off_the_line()) < 1e-4


ui.run(test)
