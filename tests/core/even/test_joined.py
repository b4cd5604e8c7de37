# SPDX-License-Identifier: GPL-3.0-or-later
"""Pinned joints and bones of no length are joined away, and come back at rest or with their part."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, forward
from ik2d_addon.core.even.joined import joined


def tip_distance(lengths, inner):
    """Return how far the tip of inner angles is from the root."""
    return np.hypot(*forward(Chain(lengths), [0.0, *inner])[-1])


def test_a_chain_with_neither_stays_as_it_is():
    part = joined(np.array([0.5, 0.3, 0.2]), np.array([0.5, 0.25]), np.array([0.1, -0.2]))
    assert np.allclose(part.lengths, [0.5, 0.3, 0.2]) and np.allclose(part.weights, [1.0, 0.5])
    assert np.allclose(part.rest, [0.1, -0.2]) and part.reach == 1.0
    assert np.allclose(part.whole_angles(np.array([0.7, 0.9])), [0.7, 0.9])


@pytest.mark.parametrize("seed", range(20))
def test_the_whole_chains_tip_is_as_far_as_the_joined_ones(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    lengths = np.where(rng.random(n) < 0.3, 0.0, rng.random(n))
    lengths[rng.integers(n)] = 1.0
    lengths /= lengths.sum()
    weights = np.where(rng.random(n - 1) < 0.3, 0.0, rng.uniform(0.1, 1.0, n - 1))
    rest = rng.uniform(-2.0, 2.0, n - 1)
    part = joined(lengths, weights, rest)
    turned = part.rest + rng.uniform(-1.0, 1.0, part.rest.size)
    whole = part.whole_angles(turned)
    own = tip_distance(part.lengths, turned) * part.reach
    assert tip_distance(lengths, whole) == pytest.approx(own, abs=1e-14)
    assert np.allclose(np.array(whole)[weights == 0.0], rest[weights == 0.0])
    assert np.allclose(part.whole_angles(part.rest), rest)


def test_joints_in_one_place_share_a_turn_by_their_weights():
    part = joined(np.array([0.5, 0.0, 0.5]), np.array([1.0, 0.5]), np.array([0.1, 0.2]))
    assert part.rest == pytest.approx([0.3]) and part.weights == pytest.approx([1.0])
    assert np.allclose(part.whole_angles(np.array([0.3 + 0.9])), [0.1 + 0.6, 0.2 + 0.3])


def test_nothing_that_turns_leaves_one_bone():
    part = joined(np.array([0.5, 0.5]), np.zeros(1), np.array([1.2]))
    assert part.rest.size == 0 and part.reach == pytest.approx(np.cos(0.6))
    assert np.allclose(part.whole_angles(np.empty((4, 0))), 1.2)
    assert joined(np.zeros(3), np.ones(2), np.zeros(2)).reach == 0.0
