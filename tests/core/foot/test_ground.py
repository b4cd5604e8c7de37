# SPDX-License-Identifier: GPL-3.0-or-later
"""The lift of a sole over a surface is the least that leaves no point of it below."""

import numpy as np
import pytest

from ik2d_addon.core.foot import lifts, section

AHEAD, UP = np.array((1.0, 0.0, 0.0)), np.array((0.0, 0.0, 1.0))
POINT = np.zeros(3)
STEP = [(-1.0, 0.0), (0.5, 0.0), (0.5, 0.2), (2.0, 0.2)]


def surface(profile, width=1.0):
    """Return the triangles (m, 3, 3) of a profile of (x, z) drawn out along Y."""
    found = []
    for (x0, z0), (x1, z1) in zip(profile[:-1], profile[1:], strict=True):
        a, b = (x0, -width, z0), (x0, width, z0)
        c, d = (x1, width, z1), (x1, -width, z1)
        found += [(a, b, c), (a, c, d)]
    return np.array(found, np.float64)


def height(profile, x):
    """Return the greatest height of a profile at x, -inf beside it."""
    found = [-np.inf]
    for (x0, z0), (x1, z1) in zip(profile[:-1], profile[1:], strict=True):
        if x0 <= x <= x1:
            found += [z0, z1] if x0 == x1 else [z0 + (x - x0) / (x1 - x0) * (z1 - z0)]
    return max(found)


def test_a_section_is_the_profile():
    segments = section(surface(STEP), POINT, AHEAD, UP)
    for x in np.linspace(-0.9, 1.9, 57):
        over = [
            y0 + ((x - x0) / (x1 - x0) if x1 > x0 else 1.0) * (y1 - y0)
            for (x0, y0), (x1, y1) in segments
            if x0 <= x <= x1
        ]
        assert max(over) == pytest.approx(height(STEP, x), abs=1e-12)


def test_a_surface_beside_the_foot_does_not_count():
    assert len(section(surface(STEP) + (0.0, 3.0, 0.0), POINT, AHEAD, UP)) == 0
    assert lifts(np.array(((0.0, -1.0), (1.0, -1.0))), np.empty((0, 2, 2))) == 0.0


def test_a_triangle_in_the_plane_counts_with_its_corners():
    triangle = np.array([[(0.0, 0.0, 0.0), (1.0, 0.0, 0.3), (2.0, 0.0, 0.0)]])
    segments = section(triangle, POINT, AHEAD, UP)
    assert segments.tolist() == [[[0.0, 0.0], [2.0, 0.0]]] or np.isfinite(segments).all()


@pytest.mark.slow
def test_lifts_are_the_least_that_clear_random_profiles():
    rng = np.random.default_rng(7)
    for _ in range(200):
        xs = np.sort(rng.uniform(-2.0, 2.0, 8))
        profile = list(zip(xs.tolist(), rng.uniform(-0.5, 0.5, 8).tolist(), strict=True))
        ends = np.sort(rng.uniform(-1.5, 1.5, 3))
        sole = np.column_stack((ends, rng.uniform(-0.5, 0.5, 3)))
        lift = lifts(sole, section(surface(profile), POINT, AHEAD, UP))
        at = np.concatenate((np.linspace(ends[0], ends[-1], 4001), xs, ends))
        at = at[(at >= ends[0]) & (at <= ends[-1])]
        gaps = [height(profile, x) - np.interp(x, ends, sole[:, 1]) for x in at]
        assert lift == pytest.approx(max(0.0, *gaps), abs=1e-9)


def test_a_sole_that_stands_upright_is_lifted_by_its_lower_end():
    sole = np.array(((0.0, 0.5), (0.0, -0.3)))
    assert lifts(sole, section(surface(STEP), POINT, AHEAD, UP)) == pytest.approx(0.3)
