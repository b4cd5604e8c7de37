# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose for a distance: exactly there, the same whichever others are asked for."""

import numpy as np
import pytest

from ik2d_addon.core.even.family import Family
from ik2d_addon.core.even.search import family_of


def elbow(turn=np.pi):
    """Return the family of two equal bones, in two straight pieces."""
    knots = np.array([[0.0], [1.0], [turn]])
    none = np.zeros((2, 1))
    cubics = np.array([knots[:-1], np.diff(knots, axis=0), none, none])
    return Family(np.array([0.5, 0.5]), np.abs(np.cos(knots[:, 0] / 2.0)), cubics, 0)


def test_the_pose_for_a_distance_is_exact():
    distances = np.concatenate((np.linspace(0.0, 1.0, 500), 1.0 - 10.0 ** -np.arange(1.0, 17.0)))
    poses, steps = elbow().at(distances)
    assert np.abs(np.cos(poses[:, 0] / 2.0) - distances).max() < 1e-15
    assert steps.max() < 20


@pytest.mark.parametrize("rest", [0.1, 0.7])
def test_most_poses_are_found_by_two_looks_at_their_tips(rest):
    family = family_of(np.full(10, 0.1), np.ones(9), np.full(9, rest), 1.0)
    low, high = family.span
    distances = np.linspace(low, high, 1000)
    poses, steps = family.at(distances)
    assert np.median(steps) == 2 and steps.mean() < 2.3
    assert np.abs(family.distance(poses, poses)[0] - distances).max() < 2e-15


def test_distances_beyond_the_ends_get_the_ends():
    poses, _ = elbow().at(np.array([-1.0, 0.0, 1.0, 7.0]))
    assert poses[:, 0] == pytest.approx([np.pi, np.pi, 0.0, 0.0])


@pytest.mark.slow
def test_each_distance_is_answered_alone():
    distances = np.random.default_rng(0).random(300)
    together, _ = elbow().at(distances)
    assert np.array_equal([elbow().at(distances[i : i + 1])[0][0] for i in range(300)], together)


def test_a_mirrored_family_bends_to_the_other_side():
    family = elbow()
    poses, mirrored = (one.at(np.array([0.3, 0.8]))[0] for one in (family, family.mirrored()))
    assert np.array_equal(poses, -mirrored) and family.mirrored().span == family.span
