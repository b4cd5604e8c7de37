# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain whose tip is held: one place after the other, from what was read once."""

import bpy
import numpy as np
import pytest
from rigs import leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.features.drag.bones_without_chain import loose_chain
from ik2d_addon.features.drag.grip import Grip
from ik2d_addon.rig.chain.chain import read_chain


def grip_of(armature):
    """Take hold of the leg's chain."""
    return Grip.of(bpy.context.scene, read_chain(armature, armature.ik2d.chains[0]))


def test_a_solved_chain_is_held_by_its_target_else_by_its_tip():
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0.2, -0.5, 0.7)
    bpy.context.view_layer.update()
    grip = grip_of(armature)
    assert grip.held_point() == pytest.approx((0.2, *grip.tip[1:]), abs=1e-6)
    solve(armature)
    assert grip_of(armature).held_point() == pytest.approx(np.array(target.location), abs=1e-6)


def test_a_place_that_is_only_tried_changes_nothing():
    armature, _ = leg_with_target(solver='CCD')
    grip = grip_of(armature)
    before = grip.standing.turns.copy(), grip.bend
    grip.solved(np.array((0.0, 0.3, 0.6)), -grip.bend, keep=True)
    assert (grip.standing.turns == before[0]).all() and grip.bend == before[1]


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
    assert Grip.of(bpy.context.scene, rig, settled=False).bend == side
