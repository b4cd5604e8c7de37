# SPDX-License-Identifier: GPL-3.0-or-later
"""Circles and lines: which of their points lie in the set, found by moving it by many turns or slides."""

from dataclasses import replace

import numpy as np
import pytest
from chains import drained

from ik2d_addon.core.region.elements import TURN
from ik2d_addon.core.region.sets import SlidingSets, set_steps


def sets_of(seed, slides):
    """Return the sets of a chain with ranges of 0.4 to 4 radians, and random points."""
    rng = np.random.default_rng([5, seed])
    n = int(rng.integers(3, 7))
    low, lengths = rng.uniform(-3.0, 2.0, n), rng.uniform(0.3, 1.0, n)
    ranges = (low, low + rng.uniform(0.4, 4.0, n))
    points = rng.uniform(-1.0, 1.0, 60) + 1j * rng.uniform(-1.0, 1.0, 60)
    if not slides:
        return drained(set_steps(lengths / lengths.sum(), *ranges)), points
    most = rng.uniform(0.1, 0.6, n) * (rng.random(n) < np.where(np.arange(n) == 0, 1.0, 0.6))
    scale = (lengths + most).sum()
    return drained(set_steps(lengths / scale, *ranges, np.zeros(n), most / scale)), points[
        np.abs(points) < 1.0
    ]


def after(sets, k):
    """Return the sets of the moves from k on."""
    own = {name: getattr(sets, name)[k:] for name in ("lengths", "low", "high", "free", "elements", "ways")}
    if isinstance(sets, SlidingSets):
        own["slides"] = sets.slides[k:]
    return replace(sets, **own)


def moved_sets():
    """Yield sets and moves of them: turns, turns of sets with segments, and slides."""
    return [(seed, slides, k) for seed in range(8) for slides, k in ((False, 0), (True, 0), (True, 1))]


@pytest.mark.parametrize(("seed", "slides", "k"), moved_sets())
def test_a_point_is_covered_if_some_move_brings_it_into_the_set(seed, slides, k):
    sets, points = sets_of(seed, slides)
    covered = sets.ways[k].cover(points, sets.low[k], sets.high[k])
    away, _, _ = sets.elements[k].nearest(points)
    moves = np.linspace(sets.low[k], sets.high[k], 721)
    seen = np.array([sets.seen(k, points, np.full(len(points), move)) for move in moves])
    found = after(sets, k + 1).contain(seen.ravel()).reshape(seen.shape).any(axis=0)
    clear = away > 0.01  # elsewhere the moves are too few
    assert (covered == found)[clear].all()
    assert clear.sum() > 20


@pytest.mark.parametrize(("seed", "slides", "k"), moved_sets())
def test_stretches_of_ways_are_those_in_the_set(seed, slides, k):
    sets, points = sets_of(seed, slides)
    ways = sets.ways[k]
    r, _ = ways.of_points(points[:12])
    row, start, length = ways.stretches(r)
    places = np.linspace(-0.5 * TURN, 0.5 * TURN, 1441)[:-1]
    on = np.array([ways.points(np.full(len(places), one), places) for one in r])
    inside = after(sets, k + 1).contain((on - sets.lengths[k]).ravel()).reshape(on.shape)
    for i in range(len(r)):
        found = np.zeros(len(places), bool)
        for first, long in zip(start[row == i], length[row == i], strict=True):
            found |= np.remainder(places - first, TURN) <= long
        assert np.mean(found != inside[i]) <= 4.0 / len(places) * max(1, (row == i).sum())


def test_a_set_without_width_has_stretches_without_length():
    """The last bone alone, which slides, is a line as seen from its joint: entered and left at once."""
    sets = drained(
        set_steps(np.array([0.5]), np.array([-1.0]), np.array([1.0]), np.zeros(1), np.array([0.5]))
    )
    row, start, length = sets.ways[0].stretches(np.array([0.4, 0.5, 0.75, 1.0, 1.1]))
    assert row.tolist() == [1, 2, 3]
    assert np.abs(start).max() <= 1e-12 and length.max() <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(("k", "turn"), [(0, 0.0), (1, 0.5 * np.pi)])
def test_rounding_makes_no_line_of_a_set_without_width(k, turn):
    """It is entered and left within rounding of the place 0, in whatever order: by a turn, and by a slide."""
    rng = np.random.default_rng(29)
    lengths, most = np.array([0.3, 0.0, 0.0, 0.2]), np.array([0.2 * k, 0.0, 0.0, 0.4])
    for _ in range(40):
        a, b = rng.uniform(-3.0, 3.0, 2)
        fixed = np.array([turn - a - b, a, b])
        sets = drained(set_steps(lengths, np.append(-1.0, fixed), np.append(1.0, fixed), np.zeros(4), most))
        row, start, length = sets.ways[k].stretches(np.linspace(0.55, 0.59, 7))
        assert row.tolist() == list(range(7))
        assert np.abs(start).max() <= 1e-12 and length.max() <= 1e-12


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
    assert sets.ways[0].cover(points, -0.5, 0.5).tolist() == [False, False, True, True, True, False, False]
    assert sets.contain(points).tolist() == [False, False, True, True, True, False, False]
    row, _, length = sets.ways[0].stretches(np.abs(points))
    assert row.tolist() == [2, 3, 4]
    assert (length == TURN).all()
