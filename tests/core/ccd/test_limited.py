# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for chains whose joints have limits."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, Status, forward, solve_ccd, solve_ccd_path, solve_two_bone

SIXTY = np.radians(60.0)


@pytest.mark.parametrize("n", (2, 3, 4, 5, 7, 10, 20, 50))
def test_targets_that_the_limits_allow_are_reached(n):
    rng = np.random.default_rng(n)
    count = {20: 300, 50: 300}.get(n, 1500)  # 9,600 problems in all
    for lengths in (np.ones(n), rng.uniform(0.3, 1.0, n)):
        chain = Chain(lengths, limits=[[-SIXTY, SIXTY]] * n)
        targets = forward(chain, rng.uniform(-SIXTY, SIXTY, (count // 2, n)))[:, -1]
        solution = solve_ccd(chain, targets, start=np.full(n, 0.1))
        reached = np.hypot(*(forward(chain, solution.angles)[:, -1] - targets).T) <= 1e-6 * chain.reach[1]
        assert reached.mean() >= 0.999
        assert ((solution.status == Status.REACHED) == reached).all()
        assert np.abs(solution.angles).max() <= SIXTY + 1e-9


@pytest.mark.parametrize("n", (2, 3, 10))
def test_ranges_that_exclude_the_rest_pose_hold(n):
    rng = np.random.default_rng(n)
    low, high = np.radians(10.0), np.radians(150.0)
    chain = Chain(np.ones(n), limits=[[np.nan, np.nan]] + [[low, high]] * (n - 1))
    targets = forward(chain, rng.uniform(low, high, (200, n)))[:, -1]
    solution = solve_ccd(chain, targets, start=np.zeros(n))
    assert (solution.status == Status.REACHED).all()
    assert solution.angles[:, 1:].min() >= low - 1e-9
    assert solution.angles[:, 1:].max() <= high + 1e-9


def test_limits_are_numbers_and_not_modulo_a_turn():
    chain = Chain([1.0, 1.0], limits=[[6.0, 8.0], [-2.0 * np.pi, -3.5]])
    pose = [7.0, -5.0]
    target = forward(chain, pose)[-1]
    for solution in (solve_two_bone(chain, target), solve_ccd(chain, target, start=[0.0, 0.0])):
        assert np.allclose(solution.angles, pose)


@pytest.mark.parametrize("n", (3, 6))
def test_an_n_bone_chain_that_is_blocked_comes_as_near_as_a_search_does(n):
    rng = np.random.default_rng(n)
    chain = Chain(np.ones(n), limits=[[-0.4, 0.4]] * n)
    targets = np.stack([rng.uniform(-0.8, 0.2, 8) * n, rng.uniform(-0.5, 0.5, 8) * n], axis=-1)
    solution = solve_ccd(chain, targets, start=np.zeros(n))
    tips = forward(chain, rng.uniform(-0.4, 0.4, (200_000, n)))[:, -1]
    inside = np.hypot(*targets.T) <= n
    for target, residual, status in zip(
        targets[inside], solution.residual[inside], solution.status[inside], strict=True
    ):
        assert residual <= np.hypot(*(tips - target).T).min()
        assert status == Status.LIMITED


def test_a_path_within_limits_stays_within_them():
    chain = Chain(np.ones(5), limits=[[-1.0, 1.0]] * 5)
    u = np.linspace(0.0, 2.0 * np.pi, 200)
    path = np.stack([4.0 + 0.5 * np.cos(u), 1.5 * np.sin(u)], axis=-1)
    solution = solve_ccd_path(chain, path, start=np.zeros(5))
    assert (solution.status == Status.REACHED).all()
    assert np.abs(solution.angles).max() <= 1.0 + 1e-9
