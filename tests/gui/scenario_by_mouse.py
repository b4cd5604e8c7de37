# SPDX-License-Identifier: GPL-3.0-or-later
"""Select, add a chain, bake, undo and redo, all with mouse and keyboard, then look at the evaluated pose."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import assert_tip_follows, keyed_frames, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]


def test():
    """The main job as a person does it."""
    arm = bpy.data.objects["Arm"]
    area, sidebar = yield from ui.sidebar("IK 2D")
    yield from ui.shot(f"{SHOTS}/1_no_armature.png")
    yield from select_target_then_tip()
    yield from ui.shot(f"{SHOTS}/2_no_chain.png")

    yield from ui.click_button(area, sidebar, "ik2d.chain_add")
    yield from ui.wait_until(lambda: len(arm.ik2d.chains) == 1, "the chain")
    chain = arm.ik2d.chains[0]
    found = chain.name, chain.tip, chain.bone_count, chain.target.name, chain.subtarget
    assert found == ("fore", "fore", 2, "Target", ""), found

    assert not keyed_frames()
    yield from ui.click_button(area, sidebar, "ik2d.bake")
    yield from ui.wait_until(lambda: arm.ik2d.last_bake, "the bake", 30)
    keys = keyed_frames()
    assert keys and set(keys.values()) == {40}, keys
    assert {path.split('"')[1] for path, _ in keys} == {"upper", "fore"}, keys
    assert all(".rotation_" in path for path, _ in keys), keys
    short = assert_tip_follows(range(1, 41))
    assert f"{len(short)} " in arm.ik2d.last_bake, (arm.ik2d.last_bake, short)
    bpy.context.scene.frame_set(3)
    yield from ui.move(*ui.center(ui.region()[1]))
    yield from ui.shot(f"{SHOTS}/3_baked.png")

    # One Ctrl-Z takes away all that the bake did, and nothing else; Ctrl-Shift-Z brings it back.
    yield from ui.key('Z', 'ctrl')
    yield from ui.wait_until(lambda: not keyed_frames(), "the undo")
    arm = bpy.data.objects["Arm"]  # undo makes the objects anew
    assert len(arm.ik2d.chains) == 1 and arm.ik2d.last_bake == "", arm.ik2d.last_bake
    yield from ui.key('Z', 'ctrl', 'shift')
    yield from ui.wait_until(lambda: keyed_frames() == keys, "the redo")
    assert_tip_follows(range(1, 41))


ui.run(test)
