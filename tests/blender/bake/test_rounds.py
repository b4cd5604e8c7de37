# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains solved in rounds: all frames are counted, and nothing is keyed."""

import bpy
from hanging_chains import add_two

from ik2d_addon.bake import BakeOptions
from ik2d_addon.bake.keys.keying import KeyPlan
from ik2d_addon.bake.request import read_rigs
from ik2d_addon.bake.rounds import solve_frames
from ik2d_addon.rig.animation.versions import existing_fcurves


def test_rounds_are_counted_and_nothing_is_keyed():
    armature = add_two()
    armature = armature[0] if isinstance(armature, tuple) else armature
    rigs, _ = read_rigs(armature, None, [1, 10])
    steps = solve_frames(rigs, bpy.context.scene, KeyPlan.every(range(1, 11)), BakeOptions())
    told = []
    while True:
        try:
            told.append(next(steps))
        except StopIteration as end:
            solved, full_scene, *_ = end.value
            break
    assert [chain.solved.rig.name for chain in solved] == [rig.name for rig in rigs] and not full_scene
    assert told[-1][0] == told[-1][1] and not existing_fcurves(armature)
