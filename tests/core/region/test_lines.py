# SPDX-License-Identifier: GPL-3.0-or-later
"""Where lines along a bone, and circles about a joint, cross arcs and segments."""

import numpy as np
import pytest

from ik2d_addon.core.region.elements import unit
from ik2d_addon.core.region.lines import CirclesAcrossSegments, Lines
from ik2d_addon.core.region.segments import ElementsWithSegments
from ik2d_addon.core.region.slid import Slide, TurnWithSegments


def boundary(normal, start, end, centre=0.3 + 0.2j):
    """Return one segment, and an arc of radius 0.5 about the same centre, without poses."""
    none = np.zeros(2)
    return ElementsWithSegments(
        np.full(2, centre),
        np.array([np.inf, 0.5]),
        np.array([start, normal - 0.6]),
        np.array([end, normal + 0.6]),
        none.astype(int),
        *[none] * 4,
        np.array([normal, 0.0]),
        none,
        none,
    )


def ways_of(move):
    """Return the ways through the set that a move moves, the parts of its elements that they cross."""
    parts, _ = move.split(~move.stays())
    return move.ways(parts, move.stays(), lambda r: np.zeros(r.shape, bool)), parts


@pytest.mark.parametrize("kind", [TurnWithSegments, Slide])
@pytest.mark.parametrize("normal", [0.3, 1.2, 2.5, -0.7, -2.9])
def test_crossings_lie_on_the_elements_and_leave_along_the_normal_or_enter_against_it(kind, normal):
    move = kind(boundary(normal, -0.4, 0.5), 0.0, 0.5)
    ways, parts = ways_of(move)
    assert isinstance(ways, {TurnWithSegments: CirclesAcrossSegments, Slide: Lines}[kind])
    for part in range(len(parts.element)):
        which = np.full(5, parts.element[part])
        normals = parts.start[part] + np.array([0.0, 0.1, 0.5, 0.9, 1.0]) * (parts.end - parts.start)[part]
        points = move.inner.at(which, normals)
        r, place = ways.of_points(points)
        found = ways.points(r, ways.places(r, np.full(5, part)))
        assert np.abs(found - points).max() <= 1e-7  # at an extreme by the root of rounding
        assert np.abs(found - points)[1:4].max() <= 1e-12
        ahead = ways.points(r, place + 1e-6) - points
        outwards = (ahead * move.inner.facing(which, normals).conj()).real
        assert (np.sign(outwards) == ways.leaves[part])[1:4].all()


def test_a_line_through_the_joint_is_met_at_its_own_angle_by_the_smallest_circles():
    segment = boundary(0.5 * np.pi, -1.0, 1.0, 0.0j)  # along x, from 1 to -1
    ways, parts = ways_of(TurnWithSegments(segment, 0.0, 0.5))
    r = np.array([0.0, 1e-14, 1e-9, 0.5, 1.0])
    for part in np.flatnonzero(parts.element == 0):
        at = ways.places(r, np.full(5, part))
        expected = 0.0 if parts.end[part] <= 0.0 else np.pi
        assert np.allclose(unit(at), unit(np.full(5, expected)), rtol=0.0, atol=1e-12)


def test_lines_cross_segments_along_them_nowhere():
    segment = boundary(0.5 * np.pi, -0.4, 0.5)
    move = Slide(segment, 0.0, 0.5)
    assert move.stays().tolist() == [True, False]
    _, parts = ways_of(move)
    assert 0 not in parts.element
