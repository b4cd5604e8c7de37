# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses for points of the set: they reach, stay within the limits, and near the pose asked for."""

import numpy as np
import pytest
from chains import awkward_chain, awkward_sliding_chain, drained, poses_within, slides_within

from ik2d_addon.core.region import poses
from ik2d_addon.core.region.elements import near
from ik2d_addon.core.region.sets import set_steps


def made(rng, sizes=(1, 2, 3, 4, 6, 10, 25)):
    chain = awkward_chain(rng, int(rng.choice(sizes)))
    low, high = chain.ranges.T
    return chain, drained(set_steps(chain.lengths / chain.lengths.sum(), low, high))


def within(sets, angles):
    return bool(((angles >= sets.low) & (angles <= sets.high))[:, ~sets.free].all())


@pytest.mark.parametrize("seed", range(40))
def test_tips_of_random_poses_are_reached(seed):
    rng = np.random.default_rng([8, seed])
    chain, sets = made(rng)
    tips = sets.tips(poses_within(rng, chain, 60))
    for like in (np.zeros((60, len(chain))), poses_within(rng, chain, 60)):
        found = poses.reaching(sets, tips, like)
        assert np.abs(sets.tips(found) - tips).max() <= 1e-9
        assert within(sets, found)


@pytest.mark.parametrize("seed", range(40))
def test_where_rounding_spoils_the_way_joint_by_joint_a_boundary_leads_there(seed):
    rng = np.random.default_rng([9, seed])
    chain, sets = made(rng)
    tips = sets.tips(poses_within(rng, chain, 8))
    for tip in tips:
        found = poses._by_a_boundary(sets, np.array([tip]), np.zeros((1, len(chain))))
        assert np.abs(sets.tips(found) - tip) <= 1e-9
        assert within(sets, found[np.newaxis])


def test_a_pose_stays_near_the_one_asked_for():
    """Nearer than the one near zero, where there is a choice; exactly there, with room, for the root."""
    rng = np.random.default_rng(10)
    n = 6
    sets = drained(set_steps(np.ones(n) / n, np.full(n, -1.2), np.full(n, 1.2)))
    there = rng.uniform(-0.8, 0.8, (200, n))
    tips = sets.tips(there)
    by_there = np.linalg.norm(poses.reaching(sets, tips, there) - there, axis=1)
    by_zero = np.linalg.norm(poses.reaching(sets, tips, np.zeros((200, n))) - there, axis=1)
    assert np.median(by_there) <= 0.6 * np.median(by_zero)
    root = poses.reaching(sets, tips, there)[:, 0]
    assert np.mean(root == there[:, 0]) >= 0.5


def test_free_joints_are_near_the_number_asked_for_as_rotations():
    inf = np.inf
    sets = drained(set_steps(np.full(3, 1 / 3), np.array([-inf, -1.0, -inf]), np.array([inf, 1.0, inf])))
    tips = sets.tips(np.array([[0.4, 0.5, 0.6]]))
    near_by = poses.reaching(sets, tips, np.array([[0.4, 0.5, 0.6]]))
    many_turns_on = poses.reaching(sets, tips, np.array([[0.4 + 8.0 * np.pi, 0.5, 0.6 - 4.0 * np.pi]]))
    assert np.abs(near(many_turns_on - near_by, np.zeros(3))).max() <= 1e-9


def test_poses_of_an_element_take_the_angles_asked_for_where_they_have_a_choice():
    """The outer arc of a straight chain is swept by the root, which may stand anywhere in its range."""
    sets = drained(set_steps(np.full(2, 0.5), np.array([-1.0, -0.5]), np.array([1.0, 0.5])))
    level = sets.elements[0]
    outer = int(np.flatnonzero(np.abs(level.radius - 1.0) <= 1e-12)[0])
    for turn in (-0.9, 0.0, 0.7):
        found = poses.of_elements(sets, 0, np.array([outer]), np.array([turn]), np.zeros((1, 2)))
        assert np.allclose(found, [[turn, 0.0]], rtol=0.0, atol=1e-12)


def made_to_slide(rng, count):
    """Return the sets of a chain that slides, and moves (count, m) within their ranges."""
    chain = awkward_sliding_chain(rng, int(rng.choice((1, 2, 3, 4, 6, 10, 25))))
    sets = drained(set_steps(chain.lengths, *chain.ranges.T, *chain.slide_ranges.T))
    return sets, sets.moves(poses_within(rng, chain, count), slides_within(rng, chain, count))


@pytest.mark.parametrize("seed", range(40))
def test_tips_of_random_poses_with_slides_are_reached(seed):
    rng = np.random.default_rng([19, seed])
    sets, moves = made_to_slide(rng, 60)
    tips = sets.tips(moves)
    for like in (np.zeros(moves.shape), moves[::-1]):
        found = poses.reaching(sets, tips, like)
        assert np.abs(sets.tips(found) - tips).max() <= 1e-9
        assert within(sets, found)


@pytest.mark.parametrize("seed", range(40))
def test_where_rounding_spoils_the_way_move_by_move_a_boundary_leads_there(seed):
    rng = np.random.default_rng([20, seed])
    sets, moves = made_to_slide(rng, 8)
    for tip in sets.tips(moves):
        found = poses._by_a_boundary(sets, np.array([tip]), np.zeros((1, len(sets))))
        assert np.abs(sets.tips(found) - tip) <= 1e-9
        assert within(sets, found[np.newaxis])


def test_a_pose_stays_near_the_slides_asked_for():
    rng = np.random.default_rng(21)
    n, edge = 4, np.full(4, 1.2)
    sets = drained(set_steps(np.full(n, 0.15), -edge, edge, np.zeros(n), np.full(n, 0.1)))
    there = sets.moves(rng.uniform(-0.8, 0.8, (200, n)), rng.uniform(0.0, 0.1, (200, n)))
    tips = sets.tips(there)
    off = poses.reaching(sets, tips, there) - there
    assert np.mean(off[:, 0] == 0.0) >= 0.5
    assert np.mean(off[:, 1] == 0.0) >= 0.5  # the first bone's slide
    far = poses.reaching(sets, tips, np.zeros(there.shape)) - there
    assert np.median(np.abs(off[:, sets.slides])) <= 0.6 * np.median(np.abs(far[:, sets.slides]))
