# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's influence is keyed with I over its field; chains are moved and removed, and no leg moves."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import click_small_button, ui
from rig_steps import build, in_window, look, rig

SHOTS = os.environ["IK2D_SHOTS"]
SIDES = {"L": 0.8, "R": -0.8}
BONES = {"body": ((0, 0, 2.0), (0, 0, 2.6), "")}
for side, x in SIDES.items():
    BONES[f"thigh.{side}"] = ((x, 0, 2.0), (x + 0.2, 0, 1.0), "body")
    BONES[f"shin.{side}"] = ((x + 0.2, 0, 1.0), (x, 0, 0.1), f"thigh.{side}")
REACH = 1.9
FRAMES = (1, 7, 10, 14, 20)


def add_chains():
    """Give each leg a live chain to a target off its foot."""
    for side, x in SIDES.items():
        target = bpy.data.objects.new(f"Target.{side}", None)
        bpy.context.scene.collection.objects.link(target)
        target.location = (x - 0.4, 0, 0.6)
        chain = rig().ik2d.chains.add()
        chain.bone_count, chain.tip, chain.target = 2, f"shin.{side}", target
        chain.name, chain.live = side, True
    rig().ik2d.active_index = 1
    in_window(bpy.ops.ed.undo_push, message="The chains")


def tips():
    """Return the evaluated tips on some frames."""
    found = {}
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        shown = rig().evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.update({(frame, side): shown.pose.bones[f"shin.{side}"].tail.copy() for side in SIDES})
    return found


def assert_tips(before, sides="LR"):
    """No tip of these sides is elsewhere than before."""
    now = tips()
    off = max((now[key] - before[key]).length for key in before if key[1] in sides)
    assert off < 1e-5 * REACH, off


def key_influence(area, sidebar, frame, value):
    """Set the influence on a frame and press I over its field."""
    bpy.context.scene.frame_set(frame)
    rig().ik2d.chains[rig().ik2d.active_index].influence = value
    yield 0.3
    x, y = yield from ui.find_button(area, sidebar, "].influence")
    yield from ui.move(x, y)
    yield from ui.key('I')
    yield 0.5


def names():
    return rig().ik2d.chains.keys()


def test():
    """Key, move up, undo, redo, move by a script, remove."""
    area, sidebar = yield from ui.sidebar("IK 2D")
    build(BONES)
    add_chains()
    yield from look('NUMPAD_1')
    for frame, value in ((1, 0.0), (10, 1.0), (20, 0.25)):
        yield from key_influence(area, sidebar, frame, value)
    before = tips()
    assert (before[1, "R"] - before[10, "R"]).length > 0.1 * REACH, before
    yield from ui.shot(f"{SHOTS}/chain_keys_1_keyed.png")

    yield from click_small_button(area, sidebar, "ik2d.chain_move")
    yield from ui.wait_until(lambda: names() == ["R", "L"], "the move up")
    assert rig().ik2d.active_index == 0
    assert_tips(before)
    yield from ui.shot(f"{SHOTS}/chain_keys_2_moved_up.png")
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: names() == ["L", "R"], "the undo")
    assert_tips(before)
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: names() == ["R", "L"], "the redo")
    assert_tips(before)

    rig().ik2d.chains.move(1, 0)  # as a script does, which tells nobody
    yield 1.0
    assert_tips(before)
    rig().ik2d.active_index = 0
    yield from click_small_button(area, sidebar, "ik2d.chain_remove")
    yield from ui.wait_until(lambda: names() == ["R"], "the removal")
    assert_tips(before, "R")
    yield from ui.shot(f"{SHOTS}/chain_keys_3_removed.png")


ui.run(test)
