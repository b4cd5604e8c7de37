# SPDX-License-Identifier: GPL-3.0-or-later
"""A family leads from the stretched pose through rest to the closed one, whatever the rest pose is."""

from typing import NamedTuple

import numpy as np
import pytest
from chains import LENGTHS, STARTS, random_lengths, random_start

from ik2d_addon.core.even.search import family_of
from ik2d_addon.core.inputs import wrapped

KINDS = ("straight", "curved", "S", "wiggle", *STARTS)


class Limb(NamedTuple):
    """A chain of reach 1."""

    lengths: np.ndarray
    weights: np.ndarray
    rest: np.ndarray

    @property
    def inner(self):
        return max(0.0, 2.0 * self.lengths.max() - 1.0)


def chain_of(n, kind, seed, lengths="random"):
    """Return a chain with a rest pose of a kind."""
    rng = np.random.default_rng([n, seed])
    sizes, m = random_lengths(rng, n, lengths), n - 1
    rest = {
        "straight": lambda: np.zeros(m),
        "curved": lambda: np.full(m, rng.uniform(0.2, 3.0) / m),
        "S": lambda: np.where(np.arange(m) < m / 2, 1.6 / m, -1.6 / m),
        "wiggle": lambda: rng.uniform(-0.4, 0.4, m),
    }.get(kind, lambda: random_start(rng, n, kind)[1:])()
    return Limb(sizes / sizes.sum(), np.ones(m), wrapped(rest))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 3, 4, 9, 40])
def test_distances_fall_from_full_reach_to_the_inner_one(n, kind):
    for seed, lengths in enumerate(LENGTHS):
        chain = chain_of(n, kind, seed, lengths)
        if chain.rest.size == 0:
            continue
        for side in (1.0, -1.0):
            family = family_of(*chain, side)
            assert family.span == pytest.approx((chain.inner, 1.0), abs=1e-12)
            assert (np.diff(family.distances) < 0.0).all()


@pytest.mark.parametrize("kind", ["curved", "wiggle", "random"])
def test_the_rest_pose_is_in_the_family(kind):
    for n in (2, 3, 6, 30):
        chain = chain_of(n, kind, 1)
        headings = np.concatenate(([0.0], np.cumsum(chain.rest)))
        distance = np.hypot(chain.lengths @ np.cos(headings), chain.lengths @ np.sin(headings))
        found, _ = family_of(*chain, 1.0).at(np.array([distance]))
        assert np.allclose(found[0], chain.rest, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 4, 5, 12, 30])
def test_poses_change_without_a_jump_also_over_folds(n):
    for kind in KINDS[:4]:
        for side in (1.0, -1.0):
            for seed in range(6):
                chain = chain_of(n, kind, seed)
                if chain.inner > 0.7:
                    continue
                distances = np.linspace(chain.inner + 0.1, 0.95, 2000)
                poses, _ = family_of(*chain, side).at(distances)
                rates = np.abs(np.diff(poses, axis=0)).max(axis=1) / np.diff(distances)
                assert rates.max() < 60.0


def test_a_straight_rest_bends_to_either_side_alike_and_evenly():
    for n in (3, 8):
        chain = Limb(np.full(n, 1.0 / n), np.ones(n - 1), np.zeros(n - 1))
        distances = np.linspace(0.0, 1.0, 50)
        poses, _ = family_of(*chain, 1.0).at(distances)
        other, _ = family_of(*chain, -1.0).at(distances)
        assert np.array_equal(poses, -other)
        assert (poses >= 0.0).all()
        assert np.allclose(poses, poses[:, ::-1], atol=1e-4)  # from the tip it looks as from the root


@pytest.mark.slow
def test_few_families_need_a_way_over_a_fold():
    for kind in ("straight", "curved"):
        for n in (3, 5, 12, 30):
            assert not any(family_of(*chain_of(n, kind, seed), 1.0).bridged for seed in range(10))


@pytest.mark.parametrize("n", [3, 6, 12])
def test_the_other_side_of_a_curved_rest_bends_there_and_less_than_the_mirror_image(n):
    for seed in range(4):
        chain = chain_of(n, "curved", seed)
        distances = np.linspace(chain.inner + 0.02, 0.4 + 0.6 * chain.inner, 20)
        poses, _ = family_of(*chain, -1.0).at(distances)
        mirrored = -family_of(*chain, 1.0).at(distances)[0]
        assert (poses.sum(axis=1) < 0.0).all()
        own, others = ((bent - chain.rest) ** 2 for bent in (poses, mirrored))
        assert (own.sum(axis=1) <= others.sum(axis=1) * 1.001).all()
