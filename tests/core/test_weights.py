# SPDX-License-Identifier: GPL-3.0-or-later
"""What the joints' weights mean: only how they compare matters, and a joint of weight 0 does not turn."""

import numpy as np
import pytest
from chains import targets_in_annulus

from ik2d_addon.core import (
    Chain,
    Status,
    forward,
    reachable,
    solve_ccd,
    solve_ccd_path,
    solve_even,
    solve_even_path,
    solve_two_bone,
)


@pytest.mark.parametrize("weight", (0.3, 1e-2, 1e-4, 1e-5))
@pytest.mark.parametrize("n", (3, 5, 10))
def test_equal_weights_within_limits_miss_no_target_that_weights_of_one_reach(n, weight):
    limits = [[-1.0, 1.0]] * n
    rng = np.random.default_rng(n)
    targets = forward(Chain(np.ones(n)), rng.uniform(-1.0, 1.0, (200, n)))[:, -1]
    start = np.full(n, 0.1)
    plain = solve_ccd(Chain(np.ones(n), limits), targets, start=start)
    light = solve_ccd(Chain(np.ones(n), limits, [weight] * n), targets, start=start)
    assert plain.reached.all()
    assert light.reached.all()


@pytest.mark.parametrize("limits", (None, [[-1.0, 1.0]] * 6))
def test_equal_weights_are_neutral(limits):
    rng = np.random.default_rng(6)
    targets = forward(Chain(np.ones(6)), rng.uniform(-1.0, 1.0, (40, 6)))[:, -1]
    start = np.full(6, 0.2)
    for solve in (solve_ccd, solve_ccd_path):
        one = solve(Chain(np.ones(6), limits, np.ones(6)), targets, start=start)
        quarter = solve(Chain(np.ones(6), limits, np.full(6, 0.25)), targets, start=start)
        assert (one.angles == quarter.angles).all()


@pytest.mark.slow
def test_joints_left_over_beside_a_heavier_one_that_cannot_turn_are_as_willing_as_ever():
    """The heaviest joint is rigid by its limits, or held at one: the others then count as equal."""
    n, rng = 6, np.random.default_rng(2)
    for fixed in ([0.5, 0.5], [0.499, 0.5]):
        limits = [[-1.0, 1.0]] * n
        limits[2] = fixed
        weights = [1e-5] * n
        weights[2] = 1.0
        chain = Chain(np.ones(n), limits, weights)
        poses = rng.uniform(-1.0, 1.0, (200, n))
        poses[:, 2] = 0.5
        targets = forward(chain, poses)[:, -1]
        assert solve_ccd(chain, targets, start=np.full(n, 0.1)).reached.all()


@pytest.mark.parametrize("heavy", ("first", "middle", "last"))
@pytest.mark.parametrize("n", (3, 5, 10))
def test_unwilling_joints_turn_where_the_willing_one_alone_misses(n, heavy):
    weights = np.full(n, 1e-4)
    weights[{"first": 0, "middle": n // 2, "last": n - 1}[heavy]] = 1.0
    rng = np.random.default_rng(n)
    chain = Chain(np.ones(n), [[-1.0, 1.0]] * n, weights)
    targets = forward(chain, rng.uniform(-1.0, 1.0, (100, n)))[:, -1]
    assert solve_ccd(chain, targets, start=np.full(n, 0.1)).reached.all()


@pytest.mark.parametrize("rigid", (0, 1))
@pytest.mark.parametrize("limited", (False, True))
def test_two_bones_keep_a_rigid_joint_and_come_as_near_as_the_other_can(rigid, limited):
    rng = np.random.default_rng(rigid)
    limits = [[-2.0, 2.5], [-1.5, 2.0]] if limited else None
    weights = np.ones(2)
    weights[rigid] = 0.0
    chain = Chain([1.0, 0.7], limits, weights)
    targets, starts = targets_in_annulus(rng, chain, 200), rng.uniform(-1.5, 2.0, (200, 2))
    bend = rng.choice([-1, 1], 200)
    solution = solve_two_bone(chain, targets, bend=bend, start=starts)
    assert (solution.angles[:, rigid] == starts[:, rigid]).all()
    low, high = limits[1 - rigid] if limited else (-np.pi, np.pi)
    grid = np.repeat(starts[:, None], 2001, axis=1)
    grid[..., 1 - rigid] = np.linspace(low, high, 2001)
    offset = forward(chain, grid)[..., -1, :] - targets[:, None]
    best = np.hypot(offset[..., 0], offset[..., 1]).min(axis=1)
    assert (solution.residual <= best + 1e-12).all()
    inside = np.abs(np.hypot(*targets.T) - 1.0) < 0.69
    missed = inside & (best > 1e-2)
    assert missed.any()
    assert (solution.status[missed] == Status.LIMITED).all()


def test_two_bones_with_a_rigid_joint_reach_what_it_allows():
    chain = Chain([1.0, 0.7], weights=[1.0, 0.0])
    pose = np.array([0.4, 1.1])
    solution = solve_two_bone(chain, forward(chain, pose)[-1], start=[-2.0, 1.1], bend=-1)
    assert solution.status == Status.REACHED
    assert np.allclose(solution.angles, pose)


@pytest.mark.parametrize("limits", (None, [[-2.0, 2.5], [-1.5, 2.0]]))
@pytest.mark.parametrize("rigid", (0, 1))
def test_a_target_on_the_joint_about_which_two_bones_turn_leaves_them_as_they_are(rigid, limits):
    weights, starts = np.ones(2), np.random.default_rng(7).uniform(-1.5, 2.0, (20, 2))
    weights[rigid] = 0.0
    chain = Chain([1.0, 0.7], limits, weights)
    joints = forward(chain, starts)
    solution = solve_two_bone(chain, joints[:, 1 - rigid], start=starts)
    assert np.allclose(solution.angles, starts, rtol=0.0, atol=1e-15)
    arms = joints[:, 2] - joints[:, 1 - rigid]
    assert np.allclose(solution.residual, np.hypot(*arms.T), rtol=0.0, atol=1e-15)


def test_two_rigid_joints_keep_the_start():
    chain = Chain([1.0, 0.7], weights=[0.0, 0.0])
    solution = solve_two_bone(chain, [[0.5, 0.5], [5.0, 0.0]], start=[0.3, 0.4])
    assert (solution.angles == [0.3, 0.4]).all()
    assert solution.status.tolist() == [Status.LIMITED, Status.TOO_FAR]


@pytest.mark.slow
@pytest.mark.parametrize("limits", (None, [[-2.0, 2.5]] * 4))
@pytest.mark.parametrize("solve", (solve_even, solve_even_path))
def test_a_rigid_first_joint_stays_at_rest_and_what_that_forbids_is_limited(solve, limits):
    rest = [0.4, 0.2, -0.1, 0.3]
    chain = Chain([1.0, 0.8, 0.7, 0.4], limits, [0.0, 1.0, 1.0, 0.5])
    targets = targets_in_annulus(np.random.default_rng(4), chain, 200)
    solution = solve(chain, targets, rest=rest)
    assert (solution.angles[:, 0] == 0.4).all()
    off = reachable(chain, rest).nearest(targets)[1]
    assert np.allclose(solution.residual, off, rtol=0.0, atol=1e-6)
    assert (solution.reached == (off <= 1e-6)).all() and 50 < solution.reached.sum() < 150
    assert set(solution.status[~solution.reached]) == {Status.LIMITED}


@pytest.mark.parametrize("limits", (None, [[-1.5, 1.5], [0.0, 2.0]]))
def test_weights_in_between_do_not_matter_to_two_bones(limits):
    rng = np.random.default_rng(3)
    targets = targets_in_annulus(rng, Chain([1.0, 0.7]), 100)
    one = solve_two_bone(Chain([1.0, 0.7], limits), targets)
    for weights in ([0.5, 0.5], [1.0, 1e-6], [0.2, 0.9]):
        assert (solve_two_bone(Chain([1.0, 0.7], limits, weights), targets).angles == one.angles).all()
