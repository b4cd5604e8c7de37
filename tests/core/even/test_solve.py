# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver Even as callers see it: exact, on the side asked for, the same in any order of targets."""

import numpy as np
import pytest
from chains import LENGTHS, STARTS, random_lengths, random_start, targets_in_annulus

from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_even, solve_two_bone


def rest_of(rng, n, seed):
    """Return a rest pose (n,), or None for a straight one."""
    return [None, random_start(rng, n, STARTS[seed // 5 % 5]), rng.uniform(-0.4, 0.4, n)][seed % 3]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 20, 50, 200])
def test_every_target_in_the_annulus_is_reached_to_1e_9(n):
    for seed in range(30 if n <= 20 else 5):
        rng = np.random.default_rng([n, seed])
        weights = None if seed % 4 else rng.uniform(0.01, 1.0, n)
        chain = Chain(random_lengths(rng, n, LENGTHS[seed % 5]), weights=weights)
        targets, rest = targets_in_annulus(rng, chain, 20), rest_of(rng, n, seed)
        for bend in (1, -1):
            solution = solve_even(chain, targets, bend=bend, rest=rest, tolerance=1e-9 * chain.reach[1])
            assert (solution.status == Status.REACHED).all()
            tips = forward(chain, solution.angles)[:, -1]
            assert np.allclose(np.hypot(*(tips - targets).T), solution.residual, atol=1e-14 * chain.reach[1])


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_an_answer_depends_on_nothing_but_its_target(n):
    for seed in range(12):
        rng = np.random.default_rng([n, seed])
        chain = Chain(random_lengths(rng, n, LENGTHS[seed % 5]))
        targets, rest = targets_in_annulus(rng, chain, 40), rest_of(rng, n, seed)
        order = rng.permutation(40)
        together = solve_even(chain, targets, rest=rest).angles
        assert np.array_equal(solve_even(chain, targets[order], rest=rest).angles, together[order])
        alone = [solve_even(chain, target, rest=rest).angles for target in targets]
        assert np.array_equal(alone, together)


@pytest.mark.parametrize("bend", [1, -1])
def test_two_bones_are_the_analytic_ones(bend):
    rng = np.random.default_rng(2)
    for lengths in ([1.0, 1.0], [1.0, 0.4], [0.3, 1.0]):
        chain = Chain(lengths)
        targets = targets_in_annulus(rng, chain, 100)
        even, exact = solve_even(chain, targets, bend=bend), solve_two_bone(chain, targets, bend=bend)
        assert np.allclose(np.cos(even.angles - exact.angles), 1.0, atol=1e-12)


@pytest.mark.parametrize("options", [{"rest": [0.0]}, {"rest": [[0.0] * 3]}, {"rest": [0.0, np.nan, 0.0]}])
def test_a_rest_that_is_not_one_pose_is_refused(options):
    with pytest.raises(IK2DError, match="rest must"):
        solve_even(Chain([1.0, 1.0, 1.0]), [1.0, 0.0], **options)
