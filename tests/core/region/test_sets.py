# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a point lies in the set of tips, against many poses from inside."""

import numpy as np
import pytest
from chains import awkward_chain, awkward_sliding_chain, drained, poses_within, slides_within

from ik2d_addon.core.region.elements import Elements
from ik2d_addon.core.region.sets import MOST_A_MOVE, MOST_MORE, Sets, set_steps


def made(chain) -> Sets:
    return drained(set_steps(chain.lengths / chain.lengths.sum(), *chain.ranges.T))


@pytest.mark.parametrize("seed", range(60))
def test_the_tip_of_no_pose_is_called_out(seed):
    rng = np.random.default_rng([7, seed])
    n = int(rng.choice([1, 2, 3, 4, 6, 10, 25]))
    chain = awkward_chain(rng, n)
    sets = made(chain)
    tips = sets.tips(poses_within(rng, chain, 600))
    away, _, _ = sets.elements[0].nearest(tips)
    assert (sets.contain(tips) | (away <= 1e-9)).all()


@pytest.mark.parametrize("n", (2, 3, 4))
def test_what_is_called_in_or_out_is_so_by_a_grid_of_poses(n):
    """Every point in the set has a pose of the grid nearby, and no point out of it has."""
    rng = np.random.default_rng(n)
    for limit in (0.4, 1.2, 2.6):
        sets = drained(set_steps(np.ones(n) / n, np.full(n, -limit), np.full(n, 0.7 * limit)))
        grid = np.meshgrid(*[np.linspace(-limit, 0.7 * limit, {2: 200, 3: 40, 4: 16}[n])] * n)
        tips = sets.tips(np.stack([axis.ravel() for axis in grid], axis=-1))
        points = rng.uniform(-1.0, 1.0, 80) + 1j * rng.uniform(-1.0, 1.0, 80)
        nearest = np.array([np.abs(tips - point).min() for point in points])
        away, _, _ = sets.elements[0].nearest(points)
        inside = sets.contain(points)
        assert (nearest[inside] <= 0.12 * limit).all()
        assert (nearest[~inside] >= away[~inside] - 1e-12).all()
        assert (nearest[~inside] <= away[~inside] + 0.12 * limit).all()


def made_to_slide(chain):
    return drained(set_steps(chain.lengths, *chain.ranges.T, *chain.slide_ranges.T))


@pytest.mark.parametrize("seed", range(60))
def test_the_tip_of_no_pose_with_slides_is_called_out(seed):
    rng = np.random.default_rng([17, seed])
    chain = awkward_sliding_chain(rng, int(rng.choice([1, 2, 3, 4, 6, 10, 25])))
    sets = made_to_slide(chain)
    moves = sets.moves(poses_within(rng, chain, 600), slides_within(rng, chain, 600))
    tips = sets.tips(moves)
    away, _, _ = sets.elements[0].nearest(tips)
    assert (sets.contain(tips) | (away <= 1e-9)).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_what_is_called_in_or_out_with_slides_is_so_by_a_grid_of_poses(seed):
    rng = np.random.default_rng([18, seed])
    limit, n = (0.4, 1.2, 2.6)[seed % 3], 2
    lengths, added = rng.uniform(0.0, 1.0, n), rng.uniform(0.1, 1.0, n)
    scale, limits = (lengths + added).sum(), np.full(n, limit)
    sets = drained(set_steps(lengths / scale, -limits, 0.7 * limits, np.zeros(n), added / scale))
    grid = np.meshgrid(*[np.linspace(*ends, 25) for ends in zip(sets.low, sets.high, strict=True)])
    tips = sets.tips(np.stack([axis.ravel() for axis in grid], axis=-1))
    points = rng.uniform(-1.0, 1.0, 80) + 1j * rng.uniform(-1.0, 1.0, 80)
    nearest = np.array([np.abs(tips - point).min() for point in points])
    away, _, _ = sets.elements[0].nearest(points)
    inside = sets.contain(points)
    coarse = 0.02 + 0.05 * limit
    assert (nearest[inside] <= coarse).all()
    assert (nearest[~inside] >= away[~inside] - 1e-12).all()
    assert (nearest[~inside] <= away[~inside] + coarse).all()


def test_moves_are_poses():
    """Where a bone slides its joint's turn is followed by its own move, the length that it is."""
    none = np.zeros(3)
    sets = drained(
        set_steps(
            np.full(3, 0.2), none - 1.0, none + 1.0, np.array([-0.1, 0.0, 0.0]), np.array([0.2, 0.0, 0.2])
        )
    )
    assert sets.slides.tolist() == [False, True, False, False, True]
    assert np.allclose(sets.low, [-1.0, 0.1, -1.0, -1.0, 0.2], rtol=0.0, atol=1e-15)
    assert np.allclose(sets.high, [1.0, 0.4, 1.0, 1.0, 0.4], rtol=0.0, atol=1e-15)
    angles, slides = np.array([[0.1, 0.2, 0.3]]), np.array([[0.05, 0.0, 0.15]])
    moves = sets.moves(angles, slides)
    assert np.allclose(moves, [[0.1, 0.25, 0.2, 0.3, 0.35]], rtol=0.0, atol=1e-15)
    back = sets.pose(moves)
    assert np.allclose(back[0], angles, rtol=0.0, atol=1e-15)
    assert np.allclose(back[1], slides, rtol=0.0, atol=1e-15)
    headings = np.cumsum(angles[0])
    assert np.allclose(sets.tips(moves), (np.array([0.25, 0.2, 0.35]) * np.exp(1j * headings)).sum())


def test_no_points_are_no_question():
    sets = drained(set_steps(np.ones(3) / 3.0, np.full(3, -1.0), np.full(3, 1.0)))
    assert sets.contain(np.zeros(0, complex)).shape == (0,)
    assert len(sets) == 3


def test_each_joint_is_a_step_of_its_own():
    steps = set_steps(np.ones(5) / 5.0, np.full(5, -1.0), np.full(5, 1.0))
    assert list(steps) == [0] * 5


def test_ranges_of_a_turn_or_more_are_free():
    low, high = np.array([-np.pi, 2.0, -np.inf]), np.array([np.pi, 9.0, np.inf])
    sets = drained(set_steps(np.ones(3) / 3.0, low, high))
    assert sets.free.all()
    assert (sets.low == -np.pi).all() and (sets.high == np.pi).all()
    nearly = drained(set_steps(np.ones(3) / 3.0, low + 0.01, high))
    assert nearly.free.tolist() == [False, True, True]


def test_ranges_too_narrow_to_tell_two_sides_apart_are_undecided():
    edge = np.full(20, 1e-8)
    assert drained(set_steps(np.ones(20) / 20.0, -edge, edge)) is None
    assert MOST_A_MOVE * 20 + MOST_MORE == 300
    edge = np.full(20, 1e-3)
    assert drained(set_steps(np.ones(20) / 20.0, -edge, edge)) is not None


def test_a_chain_of_no_length_reaches_its_root():
    sets = drained(set_steps(np.zeros(2), np.full(2, -1.0), np.full(2, 1.0)))
    assert sets.contain(np.array([0.0j, 1e-3 + 0.0j])).tolist() == [True, False]
    assert isinstance(sets.elements[0], Elements)
