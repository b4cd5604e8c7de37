# SPDX-License-Identifier: GPL-3.0-or-later
"""The root's turn counts like the others': poses settle where no turn that keeps the tip bends less."""

import numpy as np
import pytest
from chains import annulus, bend_of

from ik2d_addon.core import Chain, forward, solve_even
from ik2d_addon.core.even import rooted
from ik2d_addon.core.even.rooted import settled


@pytest.mark.parametrize("n", [3, 5, 12, 30])
def test_no_turn_that_keeps_the_tip_bends_less(n):
    rng = np.random.default_rng(n)
    chain, rest = Chain(rng.uniform(0.5, 1.5, n)), np.append(0.0, np.full(n - 1, min(0.2, 2.0 / n)))
    targets = annulus(rng, chain, 60)
    free = solve_even(chain, targets, rest=rest)
    poses, _, done = settled(
        chain.lengths / chain.reach[1], np.ones(n), rest, free.angles, targets / chain.reach[1]
    )
    assert done.mean() > 0.9
    assert (bend_of(poses, rest) <= bend_of(free.angles, rest) + 1e-12).all()
    assert np.abs(forward(chain, poses)[:, -1] - targets).max() < 1e-12 * chain.reach[1]
    for pose in poses[done][:20]:
        joints = forward(chain, pose)
        arms = joints[-1] - joints[:-1]
        ways = np.stack((-arms[:, 1], arms[:, 0]))  # of the tip, with each joint
        force, *_ = np.linalg.lstsq(ways.T, pose - rest, rcond=None)
        assert np.abs(ways.T @ force - (pose - rest)).max() < 1e-5


def unsettled(monkeypatch, rounds, n=5):
    """Return a chain's arrays, poses off the least bend, and their points, for so few steps as `rounds`."""
    monkeypatch.setattr(rooted, "ROUNDS", rounds)
    rng = np.random.default_rng(n)
    lengths, rest = rng.uniform(0.5, 1.5, n), np.append(0.0, np.full(n - 1, 0.2))
    lengths /= lengths.sum()
    starts = rest + rng.normal(0.0, 0.5, (20, n))
    return lengths, np.ones(n), rest, starts, forward(Chain(lengths), starts)[:, -1]


@pytest.mark.parametrize("rounds", [2, 3, 5])
def test_a_pose_that_has_not_settled_is_on_its_target_and_bends_less_than_its_start(monkeypatch, rounds):
    lengths, weights, rest, starts, points = unsettled(monkeypatch, rounds)
    poses, _, done = settled(lengths, weights, rest, starts, points)
    assert not done.any()
    assert np.abs(forward(Chain(lengths), poses)[:, -1] - points).max() < 1e-12
    assert (bend_of(poses, rest) < 0.99 * bend_of(starts, rest)).all()


def test_of_two_poses_on_the_target_the_better_of_both_stays(monkeypatch):
    lengths, weights, rest, starts, points = unsettled(monkeypatch, rooted.ROUNDS)
    least, _, _ = settled(lengths, weights, rest, starts, points)
    one = rooted._mended(lengths, weights, rest, least, starts, points)
    other = rooted._mended(lengths, weights, rest, starts, least, points)
    assert np.allclose(one, least, rtol=0.0, atol=1e-12) and np.array_equal(other, least)


def test_a_pose_that_bends_less_but_misses_is_no_better_than_its_start(monkeypatch):
    lengths, weights, rest, starts, _ = unsettled(monkeypatch, rooted.ROUNDS)
    beyond = np.tile([1.5, 0.0], (len(starts), 1))
    poses = rooted._mended(lengths, weights, rest, np.tile(rest, (len(starts), 1)), starts, beyond)
    assert np.array_equal(poses, starts)


def test_the_weight_of_the_root_is_relative_to_the_others():
    chain = Chain([1.0, 0.8, 0.7])
    half = Chain(chain.lengths, weights=[1.0, 0.5, 0.5])
    one = solve_even(chain, [-1.2, 1.1], root_weight=1.0).angles
    assert np.allclose(solve_even(half, [-1.2, 1.1], root_weight=0.5).angles, one, atol=1e-5)
    assert not np.allclose(solve_even(chain, [-1.2, 1.1], root_weight=0.1).angles, one, atol=0.05)


def test_a_root_that_does_not_turn_leaves_the_others_to_reach():
    chain, rest = Chain([1.0, 1.0, 1.0, 1.0]), [0.3, 0.1, 0.1, 0.1]
    solution = solve_even(chain, [[1.5, 2.0], [-2.5, -2.5]], rest=rest, root_weight=0.0)
    assert solution.reached.tolist() == [True, False] and (solution.angles[:, 0] == 0.3).all()
    assert solution.residual[1] > 0.5


@pytest.mark.parametrize("heading", [0.7, -2.0, 3.0, 8.0])
@pytest.mark.parametrize(("pinned", "root_weight"), [(0, 0.5), (1, 0.0), (2, 0.0)])
def test_where_the_root_points_at_rest_turns_the_pose_and_nothing_inside_it(pinned, root_weight, heading):
    weights = [float(joint >= pinned) for joint in range(5)]
    chain, rest = Chain([1.0, 0.8, 0.7, 0.6, 0.5], weights=weights), np.array([0.0, 0.2, 0.3, -0.1, 0.2])
    targets = forward(chain, rest + np.random.default_rng(5).normal(0.0, 0.4, (6, 5)) * weights)[:, -1]
    targets[0] = forward(chain, rest)[-1]
    c, s, turn = np.cos(heading), np.sin(heading), np.array([heading, 0.0, 0.0, 0.0, 0.0])
    level = solve_even(chain, targets, rest=rest, root_weight=root_weight)
    turned = solve_even(chain, targets @ [[c, s], [-s, c]], rest=rest + turn, root_weight=root_weight)
    assert level.reached.all() and turned.reached.all()
    assert np.allclose(turned.angles, level.angles + turn, rtol=0.0, atol=1e-5)
    assert np.allclose(turned.angles[0], rest + turn, rtol=0.0, atol=1e-6)
    assert pinned == 0 or (turned.angles[:, 0] == heading).all()
