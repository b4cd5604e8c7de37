# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains: what they accept, how far they reach, where their joints are."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, forward


def test_forward_adds_up_relative_angles():
    joints = forward(Chain([2.0, 1.0, 1.0]), [np.pi / 2, -np.pi / 2, np.pi / 2])
    assert np.allclose(joints, [[0, 0], [0, 2], [1, 2], [1, 3]], atol=1e-15)


def test_forward_broadcasts_over_leading_dimensions():
    chain = Chain([1.0, 2.0])
    angles = np.random.default_rng(1).uniform(-3, 3, (4, 5, 2))
    joints = forward(chain, angles)
    assert joints.shape == (4, 5, 3, 2)
    assert np.array_equal(joints[2, 3], forward(chain, angles[2, 3]))


@pytest.mark.parametrize(
    ("lengths", "reach"),
    [
        ([1, 2], (1, 3)),
        ([2, 1], (1, 3)),
        ([1, 1, 1], (0, 3)),
        ([5, 1, 1], (3, 7)),
        ([0, 2], (2, 2)),
        ([3], (3, 3)),
    ],
)
def test_reach_is_the_annulus_of_the_tip(lengths, reach):
    assert Chain(lengths).reach == reach


def test_random_tips_never_leave_the_annulus():
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 10):
        chain = Chain(rng.uniform(0.1, 3.0, n))
        inner, outer = chain.reach
        tips = np.linalg.norm(forward(chain, rng.uniform(-np.pi, np.pi, (1000, n)))[:, -1], axis=-1)
        assert tips.min() >= inner - 1e-12 * outer
        assert tips.max() <= outer * (1 + 1e-12)


@pytest.mark.parametrize("lengths", [[], [[1.0]], 1.0, [-1.0], [np.nan], [np.inf], ["long"]])
def test_lengths_that_make_no_chain_are_refused(lengths):
    with pytest.raises(IK2DError):
        Chain(lengths)


def test_a_chain_cannot_be_changed_and_does_not_follow_its_input():
    lengths = np.array([1.0, 2.0])
    chain = Chain(lengths)
    lengths[0] = 9.0
    assert chain.reach == (1.0, 3.0)
    with pytest.raises(ValueError, match="read-only"):
        chain.lengths[0] = 5.0
    with pytest.raises(AttributeError):
        chain.lengths = lengths


@pytest.mark.parametrize("angles", [[0.0], [0.0, 0.0, 0.0], 0.0, [0.0, np.nan]])
def test_angles_that_do_not_fit_are_refused(angles):
    with pytest.raises(IK2DError):
        forward(Chain([1.0, 1.0]), angles)
