# SPDX-License-Identifier: GPL-3.0-or-later
"""The pull of a path: it moves no tip, leaves what is rigid, and goes the short way with the root."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, forward, solve_even
from ik2d_addon.core.ccd.rows import Targets
from ik2d_addon.core.path import posture_of
from ik2d_addon.core.path.posture import MOST, Pull

TIP = np.array([0.55, 0.3])


def pulled(chain, pose, way, gain=10.0, rest=None):
    """Return a pose (n,) drawn to its goal after the target has gone a way to TIP, in reaches."""
    points = np.array([TIP - [way, 0.0], TIP])
    pull = Pull(posture_of(chain, rest, gain), chain, Targets(points, np.array([pose] * 2), np.ones(2)))
    return np.array(pull.drawn(1, list(pose), 1.0))


def bent(chain, turns):
    """Return a pose of least bend from other turns at rest (n,): it has its tip on TIP, and another bend."""
    return solve_even(chain, TIP, rest=turns).angles


def test_it_moves_no_tip_to_the_first_order_and_comes_nearer_to_the_goal():
    chain = Chain(np.ones(5) / 5)
    pose, goal = bent(chain, [0.0, 1.2, -0.8, 0.9, 0.2]), solve_even(chain, TIP).angles
    moved = []
    for way in (1e-3, 1e-4):
        new = pulled(chain, pose, way)
        moved.append(np.hypot(*(forward(chain, new)[-1] - TIP)) / np.abs(new - pose).max())
        assert np.linalg.norm(new - goal) < np.linalg.norm(pose - goal)
    assert moved[1] == pytest.approx(0.1 * moved[0], rel=0.05)
    assert np.array_equal(pulled(chain, pose, 0.0), pose)
    assert np.allclose(pulled(chain, goal, 0.01), goal, rtol=0.0, atol=1e-12)


def test_no_joint_turns_by_more_than_the_way_allows_and_none_beyond_its_limits():
    limits = [[-9.0, 9.0], *[[-1.0, 1.25]] * 4]
    for chain in (Chain(np.ones(5) / 5), Chain(np.ones(5) / 5, limits)):
        pose = np.clip(bent(chain, [0.0, 1.2, -0.8, 0.9, 0.2]), *chain.ranges.T)
        for way in (1e-4, 1e-2, 0.5):
            turns = pulled(chain, pose, way, gain=1e6) - pose
            assert np.abs(turns).max() <= MOST * way * (1.0 + 1e-12)
            assert way > 1e-4 or np.abs(turns).max() == pytest.approx(MOST * way)
            assert (chain.ranges[:, 0] <= pose + turns).all() and (pose + turns <= chain.ranges[:, 1]).all()


def test_unwilling_joints_turn_less_and_rigid_ones_not_at_all():
    pose = bent(Chain(np.ones(6) / 6), [0.0, 1.2, -0.8, 0.9, 0.2, 0.4])
    weights = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 1.0])
    limits = np.tile([-9.0, 9.0], (6, 1))
    limits[2] = pose[2]
    for chain in (Chain(np.ones(6) / 6, weights=weights), Chain(np.ones(6) / 6, limits)):
        turns = pulled(chain, pose, 0.01) - pose
        assert turns[2] == 0.0 and np.abs(np.delete(turns, 2)).min() > 0.0


@pytest.mark.parametrize("limits", (None, [[-18.0, 18.0], *[[-9.0, 9.0]] * 4]))
def test_the_root_goes_the_short_way_and_inner_joints_unwind(limits):
    chain = Chain(np.ones(5) / 5, limits)
    goal = solve_even(chain, TIP).angles
    turned = goal + [4.0 * np.pi, 0.0, 0.0, 0.0, 0.0]
    assert np.allclose(pulled(chain, turned, 0.01), turned, rtol=0.0, atol=1e-9)
    wound = goal + [0.0, 0.0, 2.0 * np.pi, 0.0, 0.0]
    assert pulled(chain, wound, 0.01)[2] < wound[2] - 0.1
    held = Chain(np.ones(5) / 5, [[3.0, 9.0], *[[-9.0, 9.0]] * 4])  # no room for the short way
    far = pulled(held, [8.9, *goal[1:]], 0.01)
    assert 3.0 <= far[0] < 8.9


def test_goals_beyond_reach_are_as_those_near_it_and_weights_count_as_they_compare():
    chain, points = Chain([1.0, 2.0, 1.0]), np.array([[2.0, 1.0], [2e60, 1e60]])
    near, far = posture_of(chain).goals(points, np.ones(2))
    assert np.allclose(near, far, rtol=0.0, atol=1e-12)
    equal = [
        posture_of(Chain([1.0, 2.0, 1.0], [[-1.0, 1.0]] * 3, [w] * 3)).goals(points[:1] / 4.0, np.ones(1))
        for w in (1.0, 0.25)
    ]
    assert np.array_equal(*equal)
