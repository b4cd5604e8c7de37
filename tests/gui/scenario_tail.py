# SPDX-License-Identifier: GPL-3.0-or-later
"""A tail of ten bones: selected by a box, or found by Whole Limb, it is one chain, which a drag moves."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import at, ui
from rig_steps import build, click_bone, drag_with_j, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
COUNT, LENGTH = 10, 0.3
NAMES = [f"tail.{i:02d}" for i in range(1, COUNT + 1)]
BONES = {
    "hips": ((-0.5, 0, 1.0), (0, 0, 1.0), ""),
    "leg": ((0, 0, 1.0), (0, 0, 0.0), "hips"),
    **{
        name: ((i * LENGTH, 0, 1.0), ((i + 1) * LENGTH, 0, 1.0), NAMES[i - 1] if i else "hips")
        for i, name in enumerate(NAMES)
    },
}


def joints():
    return [joint.name for joint in rig().ik2d.chains[0].joints]


def test():
    """By a box, undone, and by the button for the whole branch."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(BONES)
    yield from look('NUMPAD_1')
    yield from click_bone("tail.04")
    yield from ui.shot(f"{SHOTS}/tail_1_one_bone.png")
    x, y = at((0.2, 0, 1.3))
    to_x, to_y = at((3.1, 0, 0.7))
    yield from ui.move(x, y)
    yield from ui.key('B')
    yield from ui.drag(x, y, to_x, to_y)
    yield 0.5
    yield from ui.shot(f"{SHOTS}/tail_2_selected.png")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    assert joints() == NAMES, joints()
    assert rig().ik2d.chains[0].target.name == "tail.10 Target"
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not rig().ik2d.chains, "the undo")

    yield from ui.key('A', 'alt')
    yield 0.3
    yield from click_bone("tail.04")
    yield from ui.click_button(area, sidebar, "whole_branch=True")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    assert joints() == NAMES and rig().ik2d.chains[0].live, joints()
    yield from drag_with_j("tail.10", (2.0, 0, 2.0))
    off = (posed("tail.10").tail - rig().ik2d.chains[0].target.matrix_world.translation).length
    assert off < 1e-4, off
    assert all(abs(posed(name).tail.y) < 1e-4 for name in NAMES)
    yield from ui.shot(f"{SHOTS}/tail_3_dragged.png")


ui.run(test)
