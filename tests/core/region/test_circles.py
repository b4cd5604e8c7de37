# SPDX-License-Identifier: GPL-3.0-or-later
"""Circles about a joint: where they cross arcs."""

import numpy as np
import pytest

from ik2d_addon.core.region.circles import Circles
from ik2d_addon.core.region.elements import unit


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
    r, place = circles.of_points(np.array([3.0 + 4.0j, -2.0j]))
    assert np.allclose(circles.points(r, place), [3.0 + 4.0j, -2.0j], rtol=0.0, atol=1e-15)
    assert r.tolist() == [5.0, 2.0]
