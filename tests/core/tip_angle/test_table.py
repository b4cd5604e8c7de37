# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of poses under forces and moments, and poses spread over the ranges."""

import numpy as np
from posed_chains import limited_chain

from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.springs import Goal, HeldSprings, apart
from ik2d_addon.core.tip_angle.table import HeldTable, Spread


def springs_of(n: int, root_weight: float | None = None) -> HeldSprings:
    return HeldSprings.of(Arm.of(limited_chain(np.random.default_rng(n), n), np.zeros(n), root_weight))


def test_starts_are_near_their_goal_likeliest_first_and_of_different_kinds() -> None:
    table = HeldTable(springs_of(5), True)
    goal = Goal(*table.springs.tip([0.4, 0.5, 0.1, 0.2, -0.5]))
    starts = table.near(goal, 6)
    assert len(starts) >= 2 and [start.score for start in starts] == sorted(start.score for start in starts)
    for i, start in enumerate(starts):
        x, y, _ = table.springs.tip(start.pose.angles)
        assert abs(np.hypot(x, y) - np.hypot(goal.x, goal.y)) <= 0.1
        assert abs(np.arctan2(y, x) - np.arctan2(goal.y, goal.x)) <= 1e-9  # turned towards the tip's place
        for other in starts[:i]:
            inner = np.abs(np.subtract(start.pose.angles, other.pose.angles))[1:]
            assert inner.max() > table.apart


def test_root_at_an_end_of_its_range_is_held_there_by_a_moment_of_its_sign() -> None:
    springs = springs_of(5)
    table = HeldTable(springs, False)
    for side in (1.0, -1.0):
        for start in table.near(Goal(0.4, 0.4, 0.6), 6, root=0.3, side=side):
            assert start.pose.angles[0] == 0.3
            x, y, _ = springs.tip(start.pose.angles)
            moment = x * start.pose.force_y - y * start.pose.force_x + start.pose.moment
            assert moment * side >= -1e-9


def test_spread_poses_are_within_the_ranges_and_apart() -> None:
    springs = springs_of(4, 0.5)
    found = Spread(springs).near(Goal(0.3, 0.3, 0.2), 12)
    assert len(found) >= 4
    for i, pose in enumerate(found):
        assert all(
            low - 1e-12 <= angle <= high + 1e-12
            for low, angle, high in zip(springs.low[1:], pose[1:], springs.high[1:], strict=True)
        )
        assert all(apart(pose, other) > 0.01 for other in found[:i])
