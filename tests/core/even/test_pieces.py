# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces go through the places they are made of, and lead over to others without a jump."""

import numpy as np
import pytest

from ik2d_addon.core.even.bend import Curve
from ik2d_addon.core.even.family import Family
from ik2d_addon.core.even.pieces import Pieces


def curve_of(n, rest=0.0):
    """Return the curve of a chain of equal bones."""
    return Curve(np.full(n, 1.0 / n), np.ones(n - 1), np.full(n - 1, rest))


def followed(curve, count):
    """Return places from the stretched pose on."""
    start = curve.stretched()
    return [start, *curve.follow(start, count)]


def test_pieces_go_through_their_places_and_stay_of_least_bend_between():
    curve = curve_of(6)
    places = followed(curve, 8)
    pieces = Pieces.through(places, curve)
    assert np.allclose(pieces.knots, [place.angles for place in places])
    middles = pieces.cubics[0] + pieces.cubics[1] / 2 + pieces.cubics[2] / 4 + pieces.cubics[3] / 8
    for middle in middles:
        least = curve.least(middle, curve.tip_distance(middle))
        assert (middle**2).sum() <= (least.angles**2).sum() * 1.0001


def test_a_way_over_leads_from_one_to_the_other():
    curve = curve_of(5)
    far = Pieces.through(followed(curve, 4), curve)
    closed = np.full(4, 2.0 * np.pi / 5)
    near = Pieces.pose(closed, curve.tip_distance(closed))
    way = far.over_to(near, curve)
    family = Family(curve.lengths, way.distances, way.cubics, way.bridged)
    assert family.bridged == 1 and (np.diff(family.distances) < 0.0).all()
    distances = np.linspace(0.0, 1.0, 400)
    poses, _ = family.at(distances)
    assert [curve.tip_distance(pose) for pose in poses] == pytest.approx(distances.tolist(), abs=1e-14)
    middle = (distances > 0.1) & (distances < 0.95)
    assert np.abs(np.diff(poses[middle], axis=0)).max() / distances[1] < 12.0


def test_a_single_pose_is_no_piece():
    pose = Pieces.pose(np.array([0.3, 0.4]), 0.9)
    assert pose.knots.shape == (1, 2) and np.array_equal(pose.end, [0.3, 0.4])
    assert pose.rates(curve_of(3), 0).size == 0
