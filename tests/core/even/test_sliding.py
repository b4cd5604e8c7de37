# SPDX-License-Identifier: GPL-3.0-or-later
"""The curve of chains that slide: every slide gives way to the force, and every joint bends under it."""

import numpy as np
import pytest

from ik2d_addon.core.even.sliding import SlidingCurve, sliding


def curve_of(n, seed=0, rest=0.2, slides=(-0.3, 0.5), pinned=()):
    """Return the curve of a seeded chain of reach 1, slides being parts of its bones' lengths."""
    rng = np.random.default_rng([n, seed])
    lengths = rng.uniform(0.5, 1.5, n)
    ranges = np.outer(lengths, slides)
    outer = (lengths + ranges[:, 1]).sum()
    weights = rng.uniform(0.3, 1.0, n - 1)
    weights[list(pinned)] = 0.0
    return SlidingCurve(sliding(lengths / outer, ranges / outer, weights, np.full(n - 1, rest), 0.7))


def rest_place(curve):
    """Return the curve's place at rest."""
    at = np.concatenate((curve.rest, [-curve.tip_direction(curve.rest), 0.0]))
    return curve.place(at, np.append(np.zeros(at.size - 1), 1.0)).inwards()


@pytest.mark.parametrize(("n", "pinned"), [(1, ()), (3, ()), (6, (1, 2)), (4, (0, 1, 2))])
def test_slopes_are_those_of_the_equations(n, pinned):
    curve = curve_of(n, pinned=pinned)
    rng = np.random.default_rng(n)
    at = np.append(rng.uniform(-0.7, 0.7, curve.size + 1), 0.1)
    row = rng.normal(size=at.size)
    step, ahead = curve.system(at).solved(row, 0.3)
    assert row @ step == pytest.approx(0.3) and row @ ahead == pytest.approx(1.0)
    small = 1e-6
    for change, kept in ((step, 0.0), (ahead, 1.0)):
        before, after = curve.system(at - small * change), curve.system(at + small * change)
        here = curve.system(at)
        for name in ("values", "y"):
            rise = (getattr(after, name) - getattr(before, name)) / (2.0 * small)
            assert np.allclose(rise, (kept - 1.0) * np.asarray(getattr(here, name)), atol=1e-7)
        assert (after.x - before.x) / (2.0 * small) == pytest.approx(here.x_slopes @ change, abs=1e-7)


@pytest.mark.parametrize("n", [3, 6, 20])
def test_places_that_are_followed_are_of_least_bend(n):
    curve = curve_of(n)
    own = curve.sliding
    for place in curve.follow(rest_place(curve), 12):
        headings = np.cumsum(np.append(place.at[-2], place.angles))
        force = curve.pushed(place.at[-1])
        _, slides = curve.bones(place.at)
        assert np.allclose(slides, np.clip(-own.weight * force * np.cos(headings), own.least, own.most))
        heights = curve.joints(place.at)[1][1:-1]
        assert np.allclose((place.angles - curve.rest) / curve.weights, -force * heights, atol=1e-4)


def test_pinned_joints_make_telescopes():
    own = sliding(
        np.full(4, 0.2),
        np.tile([0.0, 0.05], (4, 1)),
        np.array([0.0, 1.0, 0.0]),
        np.array([0.0, 0.4, np.pi / 2.0]),
        1.0,
    )
    assert own.group.tolist() == [0, 0, 1, 1] and own.bone.tolist() == [0, 1, 2, 3]
    assert np.allclose(own.offset, [0.0, 0.0, -np.pi / 4.0, np.pi / 4.0])
    reach = 0.5 + 0.25 * np.sqrt(2.0)
    assert own.joined.reach == pytest.approx(reach)
    assert np.allclose(own.lengths, 0.2 / reach) and own.weight == pytest.approx(1.0 / reach**2)


def test_a_straight_chain_buckles_under_the_least_force_that_bends_it():
    lengths, ranges = np.full(2, 0.5), np.tile([-0.15, 0.0], (2, 1))
    curve = SlidingCurve(sliding(lengths, ranges, np.ones(1), np.zeros(1), 1.0))
    place = curve.buckling()
    assert place.distance == pytest.approx(0.7)
    assert curve.pushed(place.at[-1]) == pytest.approx(2.0 / 0.35)
    to_the_root = SlidingCurve(sliding(lengths, np.tile([-0.5, 0.0], (2, 1)), np.ones(1), np.zeros(1), 1e3))
    assert to_the_root.buckling() is None


@pytest.mark.parametrize("n", [3, 8])
def test_any_pose_falls_to_one_of_least_bend_at_a_distance(n):
    curve = curve_of(n)
    start = np.append(np.full(curve.size, 1.0 / n), np.full(n, 0.01))
    place = curve.least(start, 0.5)
    assert place.distance == pytest.approx(0.5)
    _, slides = curve.bones(place.at)
    own = ((place.angles - curve.rest) ** 2 / curve.weights).sum() + (slides**2).sum() / curve.sliding.weight
    begin = curve.corrected(start, 0.5)
    turned = ((begin[: curve.size] - curve.rest) ** 2 / curve.weights).sum()
    assert own < turned + (begin[curve.size :] ** 2).sum() / curve.sliding.weight


def test_a_correction_turns_joints_alone():
    curve = curve_of(5)
    start = np.append(np.full(4, 0.3), np.full(5, 0.02))
    pose = curve.corrected(start, 0.6)
    assert curve.tip_distance(pose) == pytest.approx(0.6, abs=1e-6)
    assert np.array_equal(pose[4:], start[4:])
