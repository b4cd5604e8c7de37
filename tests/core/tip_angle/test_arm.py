# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains of reach 1 whose rigid joints are ranges of nothing."""

import numpy as np

from ik2d_addon.core import Chain
from ik2d_addon.core.tip_angle.arm import Arm, headings_off


def test_rigid_joint_is_a_range_of_nothing_at_rest() -> None:
    chain = Chain([2.0, 2.0, 4.0], limits=[[-1.0, 1.0]] * 3, weights=[1.0, 0.0, 0.5])
    arm = Arm.of(chain, np.array([0.2, 0.3, 0.4]))
    assert arm.chain.reach[1] == 1.0
    assert arm.chain.ranges.tolist() == [[-1.0, 1.0], [0.3, 0.3], [-1.0, 1.0]]
    assert not arm.root_turns and Arm.of(Chain([1.0, 1.0]), np.zeros(2)).root_turns


def test_own_side_is_that_of_the_joints_before_the_last_bone() -> None:
    chain = Chain(np.ones(4))
    assert Arm.of(chain, np.array([0.0, -0.2, 0.1, 2.0])).own_side == -1.0
    assert Arm.of(chain, np.zeros(4)).own_side == 1.0


def test_bend_leaves_the_root_out_and_counts_by_weight() -> None:
    arm = Arm.of(Chain([1.0, 1.0], weights=[1.0, 0.5]), np.array([0.0, 0.1]))
    assert np.allclose(arm.bend(np.array([[3.0, 0.3]])), 0.04 / 0.5)
    counted = Arm.of(Chain([1.0, 1.0], weights=[1.0, 0.5]), np.array([0.0, 0.1]), root_weight=0.25)
    assert np.allclose(counted.bend(np.array([[3.0, 0.3]])), 9.0 / 0.25 + 0.04 / 0.5)


def test_headings_are_compared_the_shorter_way_round() -> None:
    assert np.allclose(headings_off(np.array([[3.0, 0.1]]), np.array([-3.0])), 2.0 * np.pi - 6.1)
