# SPDX-License-Identifier: GPL-3.0-or-later
"""Segments among arcs and corners: where they are nearest to a point, and which way they face."""

import numpy as np

from ik2d_addon.core.region.elements import Elements, unit
from ik2d_addon.core.region.segments import ElementsWithSegments


def mixed(rng, m):
    """Return arcs, corners and segments without poses, four of each of three."""
    none, kind = np.zeros(m), np.arange(m) % 3
    centre = rng.uniform(-1.0, 1.0, m) + 1j * rng.uniform(-1.0, 1.0, m)
    radius = np.choose(kind, [rng.uniform(-1.0, 1.0, m), none, np.full(m, np.inf)])
    start = rng.uniform(-1.0, 1.0, m)
    end = start + rng.uniform(0.0, 1.0, m)
    normal = np.where(kind == 2, rng.uniform(-np.pi, np.pi, m), 0.0)
    indices = none.astype(int)
    return ElementsWithSegments(
        centre, radius, start, end, indices, none, none, none, none, normal, none, none
    )


def test_the_nearest_place_is_that_of_many_places():
    rng = np.random.default_rng(1)
    level = mixed(rng, 12)
    points = rng.uniform(-2.0, 2.0, 200) + 1j * rng.uniform(-2.0, 2.0, 200)
    away, which, normal = level.nearest(points)
    parts = np.tile(np.linspace(0.0, 1.0, 1001), 12)
    every = np.repeat(np.arange(12), 1001)
    places = level.at(every, level.start[every] + parts * (level.end - level.start)[every])
    nearest = np.abs(points[:, np.newaxis] - places).min(axis=1)
    assert np.abs(away - nearest).max() <= 2e-3
    assert (away <= nearest + 1e-12).all()
    assert np.allclose(np.abs(level.at(which, normal) - points), away, rtol=0.0, atol=1e-14)


def test_a_segment_runs_to_the_left_of_its_normal_and_is_left_along_it():
    rng = np.random.default_rng(2)
    level = mixed(rng, 12)
    straight = np.flatnonzero(level.is_straight)
    assert straight.tolist() == [2, 5, 8, 11]
    run = level.at(straight, level.end[straight]) - level.at(straight, level.start[straight])
    assert np.allclose(
        run, 1j * unit(level.normal[straight]) * (level.end - level.start)[straight], rtol=0.0, atol=1e-15
    )
    off = level.outside(straight, level.start[straight], 0.1) - level.at(straight, level.start[straight])
    assert np.allclose(off, 0.1 * unit(level.normal[straight]), rtol=0.0, atol=1e-15)
    every = np.arange(12)
    offset = level.at(every, level.start) - level.centre
    curved = np.flatnonzero(level.radius != 0.0)
    back = level.towards(every, offset)[curved] - level.start[curved]
    assert np.allclose(back, 0.0, rtol=0.0, atol=1e-14)


def test_pieces_of_segments_keep_their_lengths_and_those_of_arcs_their_rotations():
    level = mixed(np.random.default_rng(3), 3)
    which = np.array([0, 2])
    pieces = level.pieces(which, np.array([7.0, 4.0]), np.array([7.5, 4.5]))
    assert np.allclose(pieces.start, [7.0 - 2.0 * np.pi, 4.0], rtol=0.0, atol=1e-15)
    assert np.allclose(pieces.end - pieces.start, 0.5, rtol=0.0, atol=1e-15)


def test_elements_without_segments_are_what_they_were():
    tip = ElementsWithSegments.of(Elements.tip())
    points = np.array([3.0 + 4.0j, 0.0j])
    assert tip.nearest(points)[0].tolist() == [5.0, 0.0]
    assert not tip.is_straight.any()
    assert tip.gain.tolist() == [1.0] and tip.shift.tolist() == [0.0]
