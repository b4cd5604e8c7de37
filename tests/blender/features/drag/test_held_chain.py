# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain whose tip is held: one place after the other, from what was read once."""

import bpy
import numpy as np
import pytest
from rigs import leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.features.drag.bones_without_chain import loose_chain
from ik2d_addon.features.drag.held_chain import HeldChain
from ik2d_addon.rig.chain.chain import read_chain


def grip_of(armature):
    """Take hold of the leg's chain."""
    return HeldChain.of(bpy.context.scene, read_chain(armature, armature.ik2d.chains[0]))


def test_a_solved_chain_is_held_by_its_target_else_by_its_tip():
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0.2, -0.5, 0.7)
    bpy.context.view_layer.update()
    held_chain = grip_of(armature)
    assert held_chain.held_point() == pytest.approx((0.2, *held_chain.tip[1:]), abs=1e-6)
    solve(armature)
    assert grip_of(armature).held_point() == pytest.approx(np.array(target.location), abs=1e-6)


def test_a_place_that_is_only_tried_changes_nothing():
    armature, _ = leg_with_target(solver='CCD')
    held_chain = grip_of(armature)
    before = held_chain.keyed_pose.turns.copy(), held_chain.bend
    held_chain.solved(np.array((0.0, 0.3, 0.6)), -held_chain.bend, keep=True)
    assert (held_chain.keyed_pose.turns == before[0]).all() and held_chain.bend == before[1]


@pytest.mark.parametrize("turn, side", [(-1.2, -1.0), (1.2, 1.0)])
def test_two_loose_bones_keep_the_side_that_they_are_bent_to(turn, side):
    armature, _ = leg_with_target()
    rig = loose_chain(bpy.context.scene, armature, "shin", 2)
    axis = rig.joints.axes[1]
    bone = armature.pose.bones["shin"]
    bone.rotation_mode = 'AXIS_ANGLE'
    bone.rotation_axis_angle = (turn, *axis)
    bpy.context.view_layer.update()
    rig = loose_chain(bpy.context.scene, armature, "shin", 2)
    assert HeldChain.of(bpy.context.scene, rig, settled=False).bend == side
