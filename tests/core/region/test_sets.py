# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a point lies in the set of tips, against many poses from inside."""

import numpy as np
import pytest
from chains import awkward_chain, drained, poses_within

from ik2d_addon.core.region.elements import Elements
from ik2d_addon.core.region.sets import MOST_A_BONE, MOST_MORE, Sets, set_steps


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
    assert MOST_A_BONE * 20 + MOST_MORE == 300
    edge = np.full(20, 1e-3)
    assert drained(set_steps(np.ones(20) / 20.0, -edge, edge)) is not None


def test_a_chain_of_no_length_reaches_its_root():
    sets = drained(set_steps(np.zeros(2), np.full(2, -1.0), np.full(2, 1.0)))
    assert sets.contain(np.array([0.0j, 1e-3 + 0.0j])).tolist() == [True, False]
    assert isinstance(sets.elements[0], Elements)
