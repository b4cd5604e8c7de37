# SPDX-License-Identifier: GPL-3.0-or-later
"""Families of chains that slide: exact at every distance, slides within their ranges, without a jump."""

import numpy as np
import pytest

from ik2d_addon.core.even.slid_family import SlidSearch, slid_family_of
from ik2d_addon.core.even.sliding import sliding


def problem(n, slides, rest):
    """Return the arrays of a chain of equal bones of reach 1, slides being parts of a bone's length."""
    lengths, ranges = np.ones(n), np.tile(slides, (n, 1))
    outer = (lengths + ranges[:, 1]).sum()
    return lengths / outer, ranges / outer, np.ones(n - 1), np.broadcast_to(rest, n - 1).astype(float)


def bend_of(family, poses, rest):
    """Return the sums (k,) of squares that are to be the least, of chains without pinned joints."""
    angles, slides = family.bones(poses)
    return ((angles - rest) ** 2).sum(axis=1) + (slides**2).sum(axis=1)


@pytest.mark.slow
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("slides", [(0.0, 0.5), (-0.3, 0.0), (-0.3, 0.5)])
@pytest.mark.parametrize(("n", "rest"), [(2, 0.0), (3, 0.4), (5, 0.0), (5, 0.3), (12, 0.1)])
def test_every_distance_is_exact_and_no_slide_leaves_its_range(n, rest, slides, side):
    family = slid_family_of(*problem(n, slides, rest), 1.0, side)
    own = family.sliding
    distances = np.linspace(own.inner, 1.0, 400)
    poses, _ = family.at(distances)
    found, _ = family.distance(poses, poses)
    assert np.abs(found - distances).max() < 1e-14
    _, bones = family.bones(poses)
    assert (bones >= own.least).all() and (bones <= own.most).all()
    middle = (distances > 0.15) & (distances < 0.95)
    assert np.abs(np.diff(poses[middle], axis=0)).max() < 0.25


def test_a_boom_extends_its_bones_alike_until_they_are_at_their_ends():
    lengths = np.array([0.4, 0.3, 0.3]) / 1.6
    ranges = np.array([[0.0, 0.0], [0.0, 0.4], [0.0, 0.2]]) / 1.6
    family = slid_family_of(lengths, ranges, np.zeros(2), np.zeros(2), 1.0, 1.0)
    _, slides = family.bones(family.at(np.array([1.0, 1.2, 1.4, 1.5, 1.6]) / 1.6)[0])
    assert np.allclose(slides * 1.6, [[0, 0, 0], [0, 0.1, 0.1], [0, 0.2, 0.2], [0, 0.3, 0.2], [0, 0.4, 0.2]])


@pytest.mark.slow
def test_a_straight_chain_stays_straight_while_slides_lead_on():
    family = slid_family_of(*problem(4, (-0.3, 0.5), 0.0), 1.0, 1.0)
    shortest = 0.7 / 1.5
    angles, slides = family.bones(family.at(np.array([1.0, 0.8, shortest + 1e-6, shortest - 0.05]))[0])
    assert (angles[:3] == 0.0).all() and (angles[3] > 0.05).all()
    assert np.allclose(slides[1], 0.2 - 1.0 / 6.0) and np.allclose(slides[3], -0.3 / 6.0)
    other, _ = family.mirrored().bones(family.mirrored().at(np.array([0.4]))[0])
    assert np.array_equal(other, -family.bones(family.at(np.array([0.4]))[0])[0])


def test_a_pose_at_rest_is_of_no_bend():
    family = slid_family_of(*problem(5, (0.0, 0.5), 0.3), 1.0, 1.0)
    curve = SlidSearch(sliding(*problem(5, (0.0, 0.5), 0.3), 1.0)).curve
    poses, _ = family.at(np.array([curve.tip_distance(np.full(4, 0.3))]))
    assert bend_of(family, poses, 0.3) < 1e-12


def test_poses_are_those_that_the_steps_settle_in():
    search = SlidSearch(sliding(*problem(6, (-0.3, 0.5), 0.2), 1.0))
    family = search.family()
    for distance in (0.3, 0.5, 0.7, 0.9):
        poses, _ = family.at(np.array([distance]))
        place = search.curve.least(poses[0], distance)
        least = search.curve.poses(place.at[np.newaxis], place.ahead[np.newaxis])[0]
        assert bend_of(family, poses, 0.2) <= bend_of(family, least, 0.2) * 1.01


def test_bent_telescopes_without_a_joint_between_slide_as_the_force_says():
    lengths, ranges = np.full(2, 0.25), np.tile([0.0, 0.25], (2, 1))
    family = slid_family_of(lengths, ranges, np.zeros(1), np.array([1.2]), 1.0, -1.0)
    reach = np.cos(0.6)
    distances = np.linspace(family.sliding.inner, 1.0, 50)
    poses, _ = family.at(distances)
    assert np.abs(family.distance(poses, poses)[0] - distances).max() < 1e-14
    assert np.allclose(family.bones(poses)[1] * reach, 0.5 * (distances * reach / np.cos(0.6) - 0.5)[:, None])


def test_a_closed_pose_has_its_tip_on_the_root_or_as_near_as_slides_allow():
    search = SlidSearch(
        sliding(
            *problem(3, (0.0, 0.0), 0.1)[:1],
            np.array([[-0.2, 0.0], [0.0, 0.4], [0.0, 0.0]]),
            np.ones(2),
            np.zeros(2),
            1.0,
        )
    )
    assert search.curve.tip_distance(search.closed_pose()) == pytest.approx(search.curve.inner, abs=1e-12)
    long = sliding(
        np.array([0.6, 0.1, 0.1]),
        np.array([[-0.2, 0.0], [0.0, 0.1], [0.0, 0.1]]),
        np.ones(2),
        np.zeros(2),
        1.0,
    )
    search = SlidSearch(long)
    assert search.curve.tip_distance(search.closed_pose()) == pytest.approx(long.inner, abs=1e-12)


@pytest.mark.slow
def test_pieces_are_smoothed_until_the_distance_falls_along_all():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rest = rng.uniform(-0.4, 0.4, 5)
        family = slid_family_of(*problem(6, (-0.3, 0.5), rest), 1.0, 1.0)
        distances = np.linspace(0.1, 0.95, 3000)
        poses, _ = family.at(distances)
        assert np.abs(np.diff(poses, axis=0)).max() < 0.06
