# SPDX-License-Identifier: GPL-3.0-or-later
"""A biped drawn straight: one leg by a click and Add Chain, the other one by Mirror Chain."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import search, ui
from rig_steps import build, click_bone, drag_with_j, look, posed, rig
from scenario_straight import LEG

SHOTS = os.environ["IK2D_SHOTS"]
BIPED = LEG | {"foot.R": ((-0.2, 0, 0.2), (-0.2, -0.3, 0.05), "shin.R")}


def test():
    """Both knees bend to the front, each towards its own target."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(BIPED)
    yield from look('NUMPAD_1')
    yield from click_bone("shin.L")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    yield from search("Mirror Chain")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 2, "the mirrored chain")
    left, right = rig().ik2d.chains
    assert (right.tip, right.bone_count) == ("shin.R", 2) and right.target != left.target
    if not right.live:
        right.live = True
    yield from drag_with_j("shin.L", (0.2, 0, 0.9))
    yield from click_bone("shin.R")
    yield from drag_with_j("shin.R", (-0.2, 0, 1.1))
    yield from look('NUMPAD_3')
    yield from ui.shot(f"{SHOTS}/biped_dragged.png")
    for tip, chain, side in (("shin.L", left, 0.2), ("shin.R", right, -0.2)):
        knee = posed(tip).head
        assert knee.y < -0.3 and abs(knee.x - side) < 1e-3, (tip, knee)
        assert (posed(tip).tail - chain.target.matrix_world.translation).length < 1e-4, tip


if __name__ == "__main__":
    ui.run(test)
