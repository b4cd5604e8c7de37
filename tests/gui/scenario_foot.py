# SPDX-License-Identifier: GPL-3.0-or-later
"""A leg gets a foot by its button; Roll is dragged, keyed and typed: the pivot that stands stays."""

import os
import sys
from math import degrees, radians

import bpy
from mathutils import Vector

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import click_sub_panel, ui
from rig_steps import build, click_bone, drag_with_j, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
LEG = {
    "hips": ((0, 0, 1.0), (0, 0, 1.3), ""),
    "thigh": ((0, 0, 1.0), (0.1, 0, 0.55), "hips"),
    "shin": ((0.1, 0, 0.55), (0, 0, 0.12), "thigh"),
    "foot": ((0, 0, 0.12), (0.2, 0, 0.03), "shin"),
    "toes": ((0.2, 0, 0.03), (0.3, 0, 0.02), "foot"),
}
EXACT = 2e-6


def chain():
    """Return the leg's chain; undo makes it anew."""
    return rig().ik2d.chains[0]


def pivot(name, bone):
    """Return where Blender has a pivot that a bone carries."""
    place = rig().data.bones["shin"].tail_local + Vector(getattr(chain().foot, name))
    shown = posed(bone)
    return shown.matrix @ shown.bone.matrix_local.inverted() @ place


def pivots():
    """Return heel, ball and toe tip."""
    return {
        name: pivot(name, bone) for name, bone in (("heel", "foot"), ("ball", "toes"), ("toe_tip", "toes"))
    }


def stays(before, *names):
    """Check that some pivots are where they were."""
    for name, place in pivots().items():
        assert name not in names or (place - before[name]).length < EXACT, (name, place, before[name])


def test():
    """Add a foot, drag Roll, key it, type another roll on another frame and key that."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(LEG)
    yield from look('NUMPAD_1')
    yield from click_bone("shin")
    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    yield from click_sub_panel(area, sidebar, "Foot or Hand", "ik2d.foot_add")
    yield from ui.shot(f"{SHOTS}/foot_1_none.png")
    before = posed("foot").matrix.copy()
    yield from ui.click_button(area, sidebar, "ik2d.foot_add")
    yield from ui.wait_until(lambda: chain().foot.is_added, "the foot")
    yield 0.5
    moved = max((one - other).length for one, other in zip(before.col, posed("foot").matrix.col, strict=True))
    assert chain().live and moved < EXACT, moved
    yield from drag_with_j("shin", (0.08, 0, 0.2))
    yield from ui.find_button(area, sidebar, "].foot.roll")
    yield from ui.shot(f"{SHOTS}/foot_2_added.png")

    # By mouse: to the right, forward over the ball.
    still = pivots()
    x, y = yield from ui.find_button(area, sidebar, "].foot.roll")
    yield from ui.drag(x, y, x + 120, y, steps=12)
    print("dragged to", degrees(chain().foot.roll), flush=True)
    yield from ui.wait_until(lambda: chain().foot.roll > radians(3.0), "the roll by the mouse")
    yield 0.3
    roll = chain().foot.roll

    assert roll < radians(45.0), degrees(roll)
    stays(still, "ball", "toe_tip")
    assert pivots()["heel"].z > still["heel"].z + 0.01
    yield from ui.shot(f"{SHOTS}/foot_3_rolled.png")

    # By keys: I over the field, another frame, a number typed.
    yield from ui.find_button(area, sidebar, "].foot.roll")
    yield from ui.key('I')
    yield 0.3
    bpy.context.scene.frame_set(11)
    yield 0.3
    x, y = yield from ui.find_button(area, sidebar, "].foot.roll")
    yield from ui.move(x, y)
    yield from ui.key('RET')
    yield from ui.key('A', 'ctrl')
    yield from ui.text("-20")
    yield from ui.key('RET')
    yield from ui.wait_until(lambda: abs(chain().foot.roll + radians(20.0)) < 1e-5, "the roll that was typed")
    yield 0.3
    stays(still, "heel")
    yield from ui.find_button(area, sidebar, "].foot.roll")
    yield from ui.key('I')
    yield 0.3
    for frame, wanted in ((1, roll), (11, radians(-20.0))):
        bpy.context.scene.frame_set(frame)
        yield 0.3
        assert abs(chain().foot.roll - wanted) < 1e-5, (frame, chain().foot.roll)
        stays(still, "ball" if wanted > 0.0 else "heel")
    yield from ui.shot(f"{SHOTS}/foot_4_keyed.png")


ui.run(test)
