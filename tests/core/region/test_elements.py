# SPDX-License-Identifier: GPL-3.0-or-later
"""Arcs and corners: where they are nearest to a point."""

import numpy as np
import pytest

from ik2d_addon.core.region.elements import TURN, Elements, led_to, near, unit


def elements(centre, radius, start, end):
    """Return elements without poses."""
    none = np.zeros(len(centre))
    return Elements(
        *(np.array(part) for part in (centre, radius, start, end)), none.astype(int), none, none, none, none
    )


def test_rotations_are_numbers_within_half_a_turn_of_the_middle():
    angles = np.linspace(-40.0, 40.0, 801)
    for middle in (-7.0, 0.0, 2.0):
        found = near(angles, np.array([middle]))
        assert np.abs(found - middle).max() <= np.pi + 1e-12
        assert np.allclose(unit(found), unit(angles), rtol=0.0, atol=1e-13)


def test_the_tip_alone_is_a_corner_with_all_normals():
    tip = Elements.tip()
    assert len(tip) == 1
    away, which, normal = tip.nearest(np.array([3.0 + 4.0j, 0.0j, -2.0j]))
    assert away.tolist() == [5.0, 0.0, 2.0]
    assert which.tolist() == [0, 0, 0]
    assert normal[0] == pytest.approx(np.arctan2(4.0, 3.0))
    assert np.allclose(tip.at(which, normal), 0.0, rtol=0.0, atol=0.0)


@pytest.mark.slow
def test_the_nearest_place_is_that_of_many_places():
    """Arcs seen from outside and from inside (negative radii), corners, and arcs of a turn."""
    rng = np.random.default_rng(0)
    m = 12
    centre = rng.uniform(-1.0, 1.0, m) + 1j * rng.uniform(-1.0, 1.0, m)
    radius = np.where(np.arange(m) % 3 == 0, 0.0, rng.uniform(-1.0, 1.0, m))
    start = rng.uniform(-np.pi, np.pi, m)
    end = start + np.where(np.arange(m) % 4 == 0, TURN, rng.uniform(0.0, TURN, m))
    level = elements(centre, radius, start, end)
    points = rng.uniform(-2.0, 2.0, 200) + 1j * rng.uniform(-2.0, 2.0, 200)
    away, which, normal = level.nearest(points)
    v = start[:, np.newaxis] + np.linspace(0.0, 1.0, 1001) * (end - start)[:, np.newaxis]
    places = (centre[:, np.newaxis] + radius[:, np.newaxis] * unit(v)).ravel()
    nearest = np.abs(points[:, np.newaxis] - places).min(axis=1)
    assert np.abs(away - nearest).max() <= 4e-3
    assert (away <= nearest + 1e-12).all()
    assert np.allclose(np.abs(level.at(which, normal) - points), away, rtol=0.0, atol=1e-14)
    assert ((normal >= start[which] - 1e-12) & (normal <= end[which] + 1e-12)).all()
    assert np.abs(level.distances(points, level.normals(points)).min(axis=1) - away).max() == 0.0


def test_the_angle_that_leads_to_a_normal_is_the_nearest_that_leaves_one_of_the_parent():
    least, most, first, last = (np.full(4, value) for value in (-1.0, 1.0, 0.2, 0.6))
    wanted = np.array([0.0, 0.15, 3.0, -3.0])
    angles, left = led_to(np.full(4, 0.7 + 2.0 * TURN), wanted, least, most, first, last)
    assert np.allclose(angles, [0.1, 0.15, 0.5, 0.1], rtol=0.0, atol=1e-12)
    assert np.allclose(left, 0.7 - angles, rtol=0.0, atol=1e-12)
    angles, left = led_to(np.full(4, 1.5), wanted, least, most, first, last)
    assert np.allclose(angles, [0.9, 0.9, 1.0, 0.9], rtol=0.0, atol=1e-12)


def test_elements_are_joined_taken_and_shifted_with_their_poses():
    rng = np.random.default_rng(4)
    one, other = (
        Elements(rng.random(m) + 0j, *rng.random((3, m)), np.arange(m), *rng.random((4, m))) for m in (3, 2)
    )
    both = Elements.joined(one, other).shifted(0.5)
    assert len(both) == 5
    assert np.array_equal(both.centre[3:], other.centre + 0.5)
    taken = both[np.array([4, 0, 0])]
    assert np.array_equal(taken.last, [other.last[1], one.last[0], one.last[0]])
    assert taken.parent.tolist() == [1, 0, 0]
