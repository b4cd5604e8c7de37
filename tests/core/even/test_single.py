# SPDX-License-Identifier: GPL-3.0-or-later
"""One pose of a family in plain numbers is the one that the arrays give."""

import numpy as np
import pytest

from ik2d_addon.core.even.search import family_of
from ik2d_addon.core.even.single import FamilyPlace, SingleFamily


def family(n: int, seed: int):
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.3, 1.0, n)
    rest = np.zeros(n - 1) if seed % 2 else rng.uniform(-0.6, 0.6, n - 1)
    return family_of(lengths / lengths.sum(), rng.uniform(0.2, 1.0, n - 1), rest, 1.0)


@pytest.mark.parametrize("n", [3, 5, 10, 20])
@pytest.mark.parametrize("seed", [0, 1])
def test_single_poses_are_those_of_the_family(n: int, seed: int) -> None:
    whole = family(n, seed)
    single, distances = SingleFamily(whole), np.linspace(*whole.span, 57)
    expected, _ = whole.at(distances)
    for distance, pose in zip(distances.tolist(), expected, strict=True):
        np.testing.assert_allclose(single.pose(single.find(distance)), pose, rtol=0.0, atol=1e-7)


def test_distances_beyond_the_family_get_its_ends() -> None:
    whole = family(6, 0)
    single = SingleFamily(whole)
    for distance in (-1.0, 2.0):
        np.testing.assert_allclose(
            single.pose(single.find(distance)), whole.at(np.array([distance]))[0][0], atol=1e-12
        )


@pytest.mark.parametrize("change", [1e-6, -1e-6, 0.05, -0.05])
def test_a_nudge_finds_the_place_that_is_looked_for(change: float) -> None:
    single = SingleFamily(family(8, 0))
    for distance in (0.3, 0.5, 0.8, 0.999):
        near = single.nudged(single.find(distance), distance, change)
        looked_for = single.pose(single.find(distance + change))
        np.testing.assert_allclose(single.pose(near), looked_for, rtol=0.0, atol=1e-7)


def test_a_nudge_without_a_slope_looks_anew() -> None:
    single = SingleFamily(family(4, 1))
    near = single.nudged(FamilyPlace(0, 0.0, 0.0), 1.0, -0.1)
    np.testing.assert_allclose(single.pose(near), single.pose(single.find(0.9)), atol=1e-12)
