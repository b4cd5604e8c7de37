# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulas that place bodies: their margins, and the pose of least gap where they do not close."""

import numpy as np
import pytest

from ik2d_addon.core.mechanism.steps import Poses, dyad, pin_and_own_line, pin_and_ram, pin_on_line, two_pins


def poses_with(turn, shift=0j):
    """Return poses of the ground and of body 1, which turns about the origin and is shifted."""
    poses = Poses([], [])
    poses.put(1, np.atleast_1d(np.asarray(turn, float)), 0j, np.full(np.size(turn), complex(shift)))
    return poses


def test_a_dyad_closes_where_its_margin_allows_and_keeps_its_side():
    step = dyad((2, 3), (0j, 1.0 + 1.0j, 1.0 + 1.0j, 2.5 + 0j), ((1, 0j), (0, 2.5 + 0j)))
    poses = poses_with(np.zeros(5))
    poses.t[1] = np.array([0.0, -0.3, 0.5j, 0.2, -2.0])
    margin = step.place(poses, step.side)
    gap = np.abs(poses.at((2, 1.0 + 1.0j)) - poses.at((3, 1.0 + 1.0j)))
    assert (margin > 0.0).tolist() == [True, True, True, True, False]
    assert gap[:4].max() < 1e-15
    # Stretched, both point along the line of the pins: the gap is the least.
    assert gap[4] == pytest.approx(4.5 - np.sqrt(2.0) - np.hypot(1.5, 1.0)) and gap[4] == pytest.approx(
        -margin[4]
    )
    way = (poses.at((2, 1.0 + 1.0j)) - poses.t[1]) / (2.5 - poses.t[1])
    assert (way.imag[:4] > 0.0).all() and abs(way.imag[4]) < 1e-15


def test_a_ram_is_as_long_as_it_is_given():
    step = pin_and_ram(1, (1j, 1.0 + 1.0j), ((0, 1j), (0, 1.5 + 0j)), 0)
    poses = Poses([np.array([0.9, 1.0, 1.3])], [0.0])
    assert (step.place(poses, step.side) > 0.0).all()
    assert np.abs(np.abs(poses.at((1, 1.0 + 1.0j)) - 1.5) - poses.values[0]).max() < 1e-15


def test_a_place_stays_on_a_line_and_where_the_line_is_too_far_points_at_it():
    along = np.exp(0.3j)
    step = pin_on_line(2, (0j, 2.0 + 0.5j), (0, 0j), (1, 2.0 + 0.5j), along, None)
    poses = poses_with([0.0, 0.1, -0.2, 0.0], 0j)
    poses.t[1] = np.array([0.0, 0.1j, -0.2, 30j * along])
    margin = step.place(poses, step.side)
    unit = poses.c[1] * along
    off = ((poses.at((2, 2.0 + 0.5j)) - poses.at((1, 2.0 + 0.5j))) * unit.conj()).imag
    assert (margin[:3] > 0.0).all() and np.abs(off[:3]).max() < 1e-15
    assert margin[3] < 0.0 and abs(off[3]) == pytest.approx(-margin[3])


def test_an_own_line_goes_through_a_place():
    step = pin_and_own_line(2, (0j, 0.3j), np.exp(0.2j), (0, 0j), (1, 2.0 + 0.7j))
    poses = poses_with([0.0, 0.4, -2.0])
    assert (step.place(poses, step.side) > 0.0).all()
    way = poses.at((1, 2.0 + 0.7j)) - poses.at((2, 0.3j))
    assert (
        np.abs((way * (poses.c[2] * np.exp(0.2j)).conj()).imag).max() < 0.7
    )  # at rest it is off by its place
    rest = ((2.0 + 0.7j - 0.3j) * np.exp(-0.2j)).imag
    free = pin_and_own_line(2, (0j, 2.0 + 0.7j), np.exp(0.2j), (0, 0j), (1, 2.0 + 0.7j))
    free.place(poses, free.side)
    way = poses.at((1, 2.0 + 0.7j)) - poses.at((2, 2.0 + 0.7j))
    assert rest != 0.0 and np.abs((way * (poses.c[2] * np.exp(0.2j)).conj()).imag).max() < 1e-15


def test_a_body_of_two_pins_heads_from_one_to_the_other():
    step = two_pins(2, (0j, 1.0 + 0j), ((0, 0j), (1, 1.0 + 0j)))
    poses = poses_with([0.0, 0.5, 3.0])
    assert step.place(poses, step.side) is None
    assert np.abs(poses.c[2] - poses.c[1]).max() < 1e-15


def test_a_flat_triangle_has_no_knee():
    assert dyad((2, 3), (0j, 1.0 + 0j, 1.0 + 0j, 3.0 + 0j), ((0, 0j), (0, 3.0 + 0j))).knee == 0.0
