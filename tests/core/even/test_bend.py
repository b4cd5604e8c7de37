# SPDX-License-Identifier: GPL-3.0-or-later
"""The curve of the poses of least bend: each joint bends as it is high over the line from root to tip."""

import numpy as np
import pytest

from ik2d_addon.core.even.bend import Curve


def curve_of(n, seed=0, rest=0.0):
    """Return the curve of a seeded chain whose joints are all bent alike at rest."""
    rng = np.random.default_rng([n, seed])
    lengths = rng.uniform(0.5, 1.5, n)
    return Curve(lengths / lengths.sum(), rng.uniform(0.3, 1.0, n - 1), np.full(n - 1, rest))


def uneven(curve, place):
    """Return how far a place is from bends in proportion to heights (0: not at all, 1: wholly)."""
    _, ys = curve.joints(place.at)
    bends, heights = (place.angles - curve.rest) / curve.weights, ys[1:-1]
    across = bends - heights * (bends @ heights) / (heights @ heights)
    return np.linalg.norm(across) / np.linalg.norm(bends)


@pytest.mark.parametrize("n", [3, 6, 20, 100])
def test_places_that_are_followed_are_of_least_bend(n):
    curve = curve_of(n)
    places = [place for place, _ in zip(curve.follow(curve.stretched(), 8), range(8), strict=True)]
    assert max(uneven(curve, place) for place in places) < 1e-4
    assert all(abs(curve.joints(place.at)[1][-1]) < 1e-6 for place in places)
    distances = [place.distance for place in places]
    assert (np.diff(distances) < 0.0).all() and distances[0] < 1.0


def test_a_chain_of_many_equal_bones_buckles_as_a_rod_does():
    n = 200
    curve = Curve(np.full(n, 1.0 / n), np.ones(n - 1), np.zeros(n - 1))
    start = curve.stretched()
    # Euler's load, of a rod whose stiffness is 1 / n, and his shape: half a wave.
    assert curve.force * np.tan(start.at[-1]) * n == pytest.approx(np.pi**2, rel=1e-3)
    wave = np.sin(np.pi * np.arange(1, n) / n)
    assert np.allclose(start.ahead[:-2] / start.ahead[:-2].max(), wave, atol=1e-3)


@pytest.mark.parametrize("n", [3, 6, 20])
def test_poses_fall_to_that_of_least_bend_and_keep_their_distance(n):
    curve = curve_of(n, rest=0.2 / n)
    place = curve.least(np.full(n - 1, 3.0 / n), 0.7)
    assert place is not None and place.distance == pytest.approx(0.7, abs=1e-12)
    assert uneven(curve, place) < 1e-9
    exact = curve.where(place.at, place.ahead, x=0.6)
    assert exact is not None and exact.distance == pytest.approx(0.6, abs=1e-12)
    assert curve.tip_distance(curve.corrected(exact.angles, 0.62)) == pytest.approx(0.62, abs=1e-6)


def test_the_rest_pose_is_passed_where_no_force_acts():
    curve = curve_of(5, rest=0.4)
    at = np.array([*curve.rest, -curve.tip_direction(curve.rest), 0.0])
    place = curve.place(at, np.array([0.0] * 5 + [1.0]))
    assert place.slope < 0.0 and place.turned().slope > 0.0 and place.turned().inwards().slope < 0.0
    pushed = next(curve.follow(place, 1))
    pulled = next(curve.follow(place.turned(), 1))
    assert pushed.distance < place.distance < pulled.distance
    assert pushed.at[-1] > 0.0 > pulled.at[-1]
