# SPDX-License-Identifier: GPL-3.0-or-later
"""The ankle's goal is where the control, rolled, holds it; without a roll it is the control's place."""

import bpy
import numpy as np
import pytest
from foot_rigs import plain_leg, random_leg

from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.feet.goals import ground_matrix, size_of, with_foot
from ik2d_addon.rig.scene.sampler import sample_now


def sampled(leg):
    rig = read_chain(leg.armature, leg.chain)
    return rig, sample_now(bpy.context.scene, [rig]).chains[0]


@pytest.mark.parametrize("seed", range(6))
def test_without_roll_the_goal_is_the_control(seed):
    leg = random_leg(seed)
    _, samples = sampled(leg)
    assert samples.targets[0] == pytest.approx(np.array(leg.control.matrix_world.translation), rel=1e-6)
    assert not samples.foot.any() and not samples.lifts.any()


@pytest.mark.parametrize("seed", range(6))
def test_a_roll_moves_the_goal_as_far_as_the_foot_is_large(seed):
    leg = random_leg(seed)
    leg.chain.foot.roll = 0.5
    rig, samples = sampled(leg)
    ankle, foot, _ = rig.foot.shape.rolled_once(0.5, 0.0, rig.foot.values[2])[:2], 0.5, 0.0
    armature = leg.armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    size = size_of(rig, armature.pose.bones) * armature.matrix_world.median_scale
    moved = np.linalg.norm(samples.targets[0] - np.array(leg.control.matrix_world.translation))
    assert moved == pytest.approx(size * np.hypot(*ankle), rel=1e-4)
    assert samples.foot[0, 0] == pytest.approx(foot)


def test_chains_without_a_foot_keep_their_samples():
    leg = plain_leg()
    leg.chain.foot.is_added = False
    rig, samples = sampled(leg)
    assert with_foot(rig, samples, 1.0) is samples
    assert ground_matrix(rig, leg.control.matrix_world, None, 1.0) is None
