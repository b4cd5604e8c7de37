# SPDX-License-Identifier: GPL-3.0-or-later
"""The least turns and slides within their ranges."""

from itertools import product

import numpy as np
import pytest
from chains import SLIDING, pose_within, sliding_chain

from ik2d_addon.core import Chain
from ik2d_addon.core.ccd.correction import LONGEST_STEP, least_turns
from ik2d_addon.core.ccd.moves import least_moves
from ik2d_addon.core.ccd.sliding import arms_of, coordinates, pinned
from ik2d_addon.core.ccd.sweep import CcdBones


def problem(chain, angles, slides):
    """Return the bones, the pose, its arms, and what each move does to the tip (2, 2 n)."""
    pose = coordinates(chain, angles, slides).tolist()
    bones = pinned(CcdBones.of(chain), pose)
    arms = arms_of(bones, pose)
    return bones, pose, arms, np.stack((-np.array(arms[1])[::-1], np.array(arms[0])[::-1]))


def least_by_trial(jacobian, weights, room, error):
    """The least sum of q^2 / w, of all ways to let moves stand at one end, at the other, or at none."""
    best = np.inf, None
    for ends in product((None, 0, 1), repeat=len(weights)):
        free = np.array([end is None and weight > 0.0 for end, weight in zip(ends, weights, strict=True)])
        moves = np.array([0.0 if end is None else room[i][end] for i, end in enumerate(ends)])
        if not np.isfinite(moves).all():
            continue
        root = np.sqrt(weights * free)
        moves = moves + root * (np.linalg.pinv(jacobian * root) @ (error - jacobian @ moves))
        within = (moves >= room[:, 0] - 1e-15).all() and (moves <= room[:, 1] + 1e-15).all()
        if within and np.abs(jacobian @ moves - error).max() <= 1e-12:
            turned = weights > 0.0
            best = min(best, (np.sum(moves[turned] ** 2 / weights[turned]), moves.tolist()))
    return best[1]


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 3))
def test_moves_are_the_least_within_their_ranges(n):
    rng, held = np.random.default_rng(n), 0
    for _ in range(40 if n == 2 else 20):
        least, most = -rng.choice([0.0, 3e-4, 0.3], n), rng.choice([0.0, 3e-4, 0.3], n)
        low, high = -rng.choice([0.0, 1e-4, 1.0], n), rng.choice([0.0, 1e-4, 1.0], n)
        lengths, angles = rng.uniform(0.4, 1.0, n), rng.uniform(-2.0, 2.0, n)
        limits = np.stack((angles + low, angles + high), axis=1)
        chain = Chain(lengths, limits, rng.uniform(0.3, 1.0, n), np.stack((least, most), axis=1))
        if not chain.is_sliding:
            continue
        bones, pose, arms, jacobian = problem(chain, angles, np.zeros(n))
        error = rng.normal(0.0, 1e-4, 2)
        room = np.stack((np.array(bones.low) - pose, np.array(bones.high) - pose), axis=1)
        expected = least_by_trial(jacobian, np.array(bones.weights), room, error)
        if expected is None:
            continue
        moves = least_moves(bones, pose, arms, tuple(error.tolist()))
        assert np.allclose(moves, expected, rtol=0.0, atol=1e-10)
        held += 0 < np.isclose(np.array(moves)[:, np.newaxis], room, rtol=0.0, atol=1e-12).any(axis=1).sum()
    assert held >= 8


def test_where_no_end_is_near_the_moves_are_those_of_the_correction():
    rng = np.random.default_rng(2)
    for weight in (1.0, 0.4):
        chain = Chain(np.ones(4), weights=[1.0, weight, 1.0, 0.0], slides=np.tile([-0.5, 0.5], (4, 1)))
        bones, pose, arms, _ = problem(chain, rng.uniform(-1.0, 1.0, 4), np.zeros(4))
        for error in ((1e-3, -2e-3), (-0.02, 0.01)):
            moves = least_moves(bones, pose, arms, error)
            assert np.allclose(moves, least_turns(arms, bones.weights[::-1], *error), rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("kind", SLIDING)
def test_no_step_leaves_the_ranges_or_is_longer_than_the_error_asks_for(kind):
    rng = np.random.default_rng(5)
    for n in (1, 2, 5, 20):
        chain = sliding_chain(rng, n, kind)
        for _ in range(20):
            angles, slides = pose_within(rng, chain)
            ends = chain.slide_ranges[np.arange(n), rng.integers(0, 2, n)]
            slides = np.where(rng.random(n) < 0.5, ends, slides)
            error = tuple(rng.normal(0.0, 10.0 ** rng.uniform(-9.0, 0.0), 2).tolist())
            if rng.random() < 0.3:
                angles[1:] = 0.0  # on a line, where the matrix may be singular
            bones, pose, arms, _ = problem(chain, np.clip(angles, *chain.ranges.T), slides)
            moves = np.array(least_moves(bones, pose, arms, error))
            assert (pose + moves >= np.array(bones.low) - 1e-15).all()
            assert (pose + moves <= np.array(bones.high) + 1e-15).all()
            assert np.linalg.norm(moves) <= 1.0001 * LONGEST_STEP * np.sqrt(np.hypot(*error))


def test_sections_of_a_telescope_share_what_is_left_when_one_is_at_its_end():
    chain = Chain(np.ones(4), weights=[1.0, 0.0, 0.0, 0.0], slides=[(0, 0), (0, 1), (0, 1), (0, 1)])
    bones, pose, arms, _ = problem(chain, np.zeros(4), np.array([0.0, 0.2, 0.999, 1.0]))
    moves = np.array(least_moves(bones, pose, arms, (0.1, 0.0))) * 7.0
    assert np.allclose(moves, [0, 0, 0, 0, 0, 0.699, 0.001, 0.0], rtol=0.0, atol=1e-7)
    assert np.allclose(np.array(least_moves(bones, pose, arms, (-0.03, 0.0))) * 7.0, [0] * 5 + [-0.07] * 3)
