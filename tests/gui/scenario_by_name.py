# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the operators by their names through F3, in Pose Mode and in Object Mode."""

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from arm_steps import assert_tip_follows, evaluated, keyed_frames, search, select_target_then_tip, ui

SHOTS = os.environ["IK2D_SHOTS"]


def test():
    """Add and solve in Pose Mode, bake and remove in Object Mode."""
    yield from select_target_then_tip()
    arm = bpy.data.objects["Arm"]
    yield from search("IK 2D Add Chain", f"{SHOTS}/4_search.png")
    yield from ui.wait_until(lambda: [chain.tip for chain in arm.ik2d.chains] == ["fore"], "the chain")

    bpy.context.scene.frame_set(3)
    yield from search("IK 2D Pose This Frame")
    yield from ui.wait_until(lambda: arm.ik2d.chains[0].last_solve, "the solve")
    _root, tip, target = evaluated(3)
    assert (tip - target).length < 3e-5 and not keyed_frames(), (tip, target, keyed_frames())

    yield from ui.key('TAB', 'ctrl')
    yield from ui.wait_until(lambda: arm.mode == 'OBJECT', "Object Mode")
    yield from search("IK 2D Bake")
    yield from ui.wait_until(lambda: set(keyed_frames().values()) == {40}, "the bake", 30)
    assert_tip_follows(range(1, 41))

    yield from search("IK 2D Remove Chain")
    yield from ui.wait_until(lambda: not arm.ik2d.chains, "the removal")
    assert set(keyed_frames().values()) == {40}, keyed_frames()  # the keys stay


ui.run(test)
