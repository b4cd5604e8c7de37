# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg drawn straight: click the shin, Add Chain, drag; the knee bends towards the toes and stays."""

import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import ui
from rig_steps import build, click_bone, drag_with_j, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
LEG = {
    "hips": ((0, 0, 2.0), (0, 0, 2.5), ""),
    "thigh.L": ((0.2, 0, 2.0), (0.2, 0, 1.1), "hips"),
    "shin.L": ((0.2, 0, 1.1), (0.2, 0, 0.2), "thigh.L"),
    "foot.L": ((0.2, 0, 0.2), (0.2, -0.3, 0.05), "shin.L"),
    "thigh.R": ((-0.2, 0, 2.0), (-0.2, 0, 1.1), "hips"),
    "shin.R": ((-0.2, 0, 1.1), (-0.2, 0, 0.2), "thigh.R"),
}


def test():
    """Two clicks and a drag."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(LEG)
    yield from look('NUMPAD_1')
    yield from click_bone("shin.L")
    yield from ui.shot(f"{SHOTS}/straight_1_what_will_be_made.png")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    chain = rig().ik2d.chains[0]
    assert chain.live and chain.bone_count == 2
    yield from ui.shot(f"{SHOTS}/straight_2_added.png")

    # Seen from the front, the target goes up alone: the knee comes to the front, and not to a side.
    yield from drag_with_j("shin.L", (0.2, 0, 0.9))
    knee = posed("shin.L").head
    assert knee.y < -0.3 and abs(knee.x - 0.2) < 1e-4, knee
    assert (posed("shin.L").tail - chain.target.matrix_world.translation).length < 1e-4
    yield from look('NUMPAD_3')
    yield from ui.shot(f"{SHOTS}/straight_3_dragged.png")

    # Beside the hip's line: the same knee.
    chain.target.location = (0.2, 0, 0.9)
    yield 0.3
    first = posed("thigh.L").vector.normalized()
    for beside in ((0.001, 0), (-0.001, 0), (0, 0.001), (0, -0.001)):
        chain.target.location = (0.2 + beside[0], beside[1], 0.9)
        yield 0.2
        turn = math.degrees(posed("thigh.L").vector.angle(first, 0.0))
        assert turn < 0.1, (beside, turn)

    # The buttons turn the plane and flip the bend, and one undo takes each back.
    yield from ui.click_button(area, sidebar, "ik2d.turn_plane")
    yield from ui.wait_until(lambda: abs(posed("shin.L").head.x - 0.2) > 0.3, "the turned plane")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: posed("shin.L").head.y < -0.3, "the undo")
    yield from ui.click_button(area, sidebar, "ik2d.flip")
    yield from ui.wait_until(lambda: posed("shin.L").head.y > 0.3, "the flip")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: posed("shin.L").head.y < -0.3, "the undo of the flip")

    # The other leg, without a foot, bends as this one does.
    yield from look('NUMPAD_1')
    yield from click_bone("shin.R")
    yield from ui.shot(f"{SHOTS}/straight_4_the_other_leg.png")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 2, "the other chain")
    yield from drag_with_j("shin.R", (-0.2, 0, 0.9))
    knee = posed("shin.R").head
    assert knee.y < -0.3 and abs(knee.x + 0.2) < 1e-4, knee


if __name__ == "__main__":
    ui.run(test)
