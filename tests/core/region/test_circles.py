# SPDX-License-Identifier: GPL-3.0-or-later
"""Circles about a joint: which of their points lie in the set, found by turning it by many angles."""

import numpy as np
import pytest
from chains import drained

from ik2d_addon.core.region.circles import Circles
from ik2d_addon.core.region.elements import TURN, unit
from ik2d_addon.core.region.sets import set_steps


def sets_of(seed):
    """Return the sets of a chain with ranges of 0.4 to 4 radians, and random points."""
    rng = np.random.default_rng([5, seed])
    n = int(rng.integers(3, 7))
    low, lengths = rng.uniform(-3.0, 2.0, n), rng.uniform(0.3, 1.0, n)
    sets = drained(set_steps(lengths / lengths.sum(), low, low + rng.uniform(0.4, 4.0, n)))
    points = rng.uniform(-1.0, 1.0, 60) + 1j * rng.uniform(-1.0, 1.0, 60)
    return sets, points


def inner_contain(sets, points):
    """Return which points lie in H of joint 0: the set of all other bones, shifted by the first."""
    others = drained(set_steps(sets.lengths[1:], sets.low[1:], sets.high[1:]))
    return others.contain(points - sets.lengths[0])


@pytest.mark.parametrize("seed", range(12))
def test_a_point_is_covered_if_some_turn_brings_it_into_the_set(seed):
    sets, points = sets_of(seed)
    covered = sets.circles[0].cover(points, sets.low[0], sets.high[0])
    away, _, _ = sets.elements[0].nearest(points)
    turns = np.linspace(sets.low[0], sets.high[0], 721)
    seen = points[:, np.newaxis] * unit(-turns)
    found = inner_contain(sets, seen.ravel()).reshape(seen.shape).any(axis=1)
    clear = away > 0.01  # elsewhere the angles are too few
    assert (covered == found)[clear].all()
    assert clear.sum() > 20


@pytest.mark.parametrize("seed", range(12))
def test_stretches_of_circles_are_those_in_the_set(seed):
    sets, points = sets_of(seed)
    r = np.abs(points[:12])
    row, start, length = sets.circles[0].stretches(r)
    angles = np.linspace(0.0, TURN, 1441)[:-1]
    inside = inner_contain(sets, (r[:, np.newaxis] * unit(angles)).ravel()).reshape(len(r), -1)
    for i in range(len(r)):
        found = np.zeros(len(angles), bool)
        for first, long in zip(start[row == i], length[row == i], strict=True):
            found |= np.remainder(angles - first, TURN) <= long
        assert np.mean(found != inside[i]) <= 4.0 / len(angles) * max(1, (row == i).sum())


def test_angles_are_those_of_the_triangle_and_exact_where_a_circle_touches():
    centre, radius = np.array([0.8 + 0.0j]), np.array([0.3])
    ends = np.array([0.5]), np.array([1.1])
    circles = Circles.of(
        centre, radius, np.ones(1), ends, np.zeros(0), np.zeros(0), lambda r: np.zeros(r.shape, bool)
    )
    r = np.array([0.5, 0.5 + 1e-14, 0.7, 1.1])
    row, arc, polar = circles.crossings(r)
    assert row.tolist() == [0, 1, 2, 3] and not arc.any()
    assert polar[0] == 0.0 and polar[3] == 0.0
    assert np.allclose(np.abs(r * unit(polar) - 0.8), 0.3, rtol=0.0, atol=1e-14)
    assert polar[1] == pytest.approx(np.sqrt(1e-14 * 2 * 0.3 / (0.5 * 0.8)), rel=0.05)
    assert circles.crossings(np.array([0.4, 1.2]))[0].size == 0
    assert circles.farthest == 1.1


def test_circles_that_cross_nothing_are_told_apart_by_the_arcs_about_the_joint():
    """The last two bones turn in an annulus about the root: only circles between its radii are covered."""
    sets = drained(
        set_steps(
            np.array([1.0, 1.0, 0.5, 0.3]),
            np.array([-0.5, np.pi, -np.inf, -np.inf]),
            np.array([0.5, np.pi, np.inf, np.inf]),
        )
    )
    points = np.array([0.1, 0.19, 0.21, 0.5j, -0.79, 0.81, 1.5]) + 0j
    assert sets.circles[0].cover(points, -0.5, 0.5).tolist() == [False, False, True, True, True, False, False]
    assert sets.contain(points).tolist() == [False, False, True, True, True, False, False]
    row, _, length = sets.circles[0].stretches(np.abs(points))
    assert row.tolist() == [2, 3, 4]
    assert (length == TURN).all()
