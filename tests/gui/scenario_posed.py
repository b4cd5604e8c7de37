# SPDX-License-Identifier: GPL-3.0-or-later
"""An arm is posed; Add Chain leaves it there, its target drags it, Remove Chain and undo give all back."""

import os
import sys

import bpy
from mathutils import Quaternion

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import click_small_button, ui
from rig_steps import build, click_bone, drag_with_j, in_window, look, posed, rig

SHOTS = os.environ["IK2D_SHOTS"]
ARM = {
    "spine": ((0, 0, 0.8), (0, 0, 1.4), ""),
    "upper": ((0.2, 0, 1.4), (0.7, 0.03, 1.4), "spine"),
    "lower": ((0.7, 0.03, 1.4), (1.2, 0, 1.4), "upper"),
    "hand": ((1.2, 0, 1.4), (1.4, 0, 1.4), "lower"),
}
HELD = 1e-5


def shown():
    """Return the matrices of the limb as Blender evaluates it."""
    return {name: posed(name).matrix.copy() for name in ("upper", "lower", "hand")}


def off(before):
    """Return how far the limb is from where it was."""
    now = shown()
    return max(
        (one - other).length
        for name in before
        for one, other in zip(before[name].col, now[name].col, strict=True)
    )


def channels():
    """Return the bones' channels, exactly."""
    return {bone.name: tuple(bone.rotation_quaternion) for bone in rig().pose.bones}


def test():
    """Pose, add, look, drag, undo, remove, undo."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(ARM)
    bones = rig().pose.bones
    bones["upper"].rotation_quaternion = Quaternion((0.75, -0.35, 0.4, 0.3)).normalized()
    bones["lower"].rotation_quaternion = Quaternion((0.85, 0.0, 0.0, -0.5)).normalized()
    in_window(bpy.ops.ed.undo_push, message="The pose")
    yield from look('NUMPAD_1')
    yield from click_bone("lower")
    before, exactly, objects = shown(), channels(), set(bpy.data.objects.keys())
    yield from ui.shot(f"{SHOTS}/posed_1_before.png")

    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the chain")
    yield 0.5
    chain = rig().ik2d.chains[0]
    assert chain.live and chain.plane == 'SWING', (chain.live, chain.plane)
    assert off(before) < HELD, off(before)
    assert chain.live_status.startswith("On its target"), chain.live_status
    yield from ui.shot(f"{SHOTS}/posed_2_added.png")

    # Its target is free, and brings the arm along.
    tip = posed("lower").tail.copy()
    yield from drag_with_j("lower", (tip.x - 0.15, tip.y, tip.z + 0.2))
    assert (posed("lower").tail - rig().ik2d.chains[0].target.matrix_world.translation).length < 1e-4
    assert off(before) > 0.05
    yield from ui.shot(f"{SHOTS}/posed_3_dragged.png")
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: off(before) < HELD, "the undo of the drag")

    # Removed right away, all is as it was; each is one step of undo.
    yield from click_small_button(area, sidebar, "ik2d.chain_remove")
    yield from ui.wait_until(lambda: not rig().ik2d.chains, "the removal")
    yield 0.3
    assert channels() == exactly and set(bpy.data.objects.keys()) == objects
    assert off(before) == 0.0
    yield from ui.shot(f"{SHOTS}/posed_4_removed.png")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: len(rig().ik2d.chains) == 1, "the undo of the removal")
    assert rig().ik2d.chains[0].target is not None and off(before) < HELD
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not rig().ik2d.chains, "the undo of Add Chain")
    assert set(bpy.data.objects.keys()) == objects and off(before) < HELD


if __name__ == "__main__":
    ui.run(test)
