# SPDX-License-Identifier: GPL-3.0-or-later
"""Softness eases the tip into full reach, and says what it costs."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, Status, forward, solve_ccd, solve_two_bone


def elbow_rates(lengths, softness):
    """Return distances and how fast angle2 turns there, in radians for each reach the target moves."""
    chain = Chain(lengths)
    inner, outer = chain.reach
    h = np.linspace(np.sqrt(inner * outer) + 1e-3, 1.5 * outer, 200_001)
    angle = solve_two_bone(chain, np.stack([h, np.zeros_like(h)], axis=-1), softness=softness).angles[:, 1]
    return h, np.abs(np.diff(angle) / np.diff(h / outer))


@pytest.mark.parametrize("lengths", ([0.5, 0.5], [0.7, 0.3], [3.0, 4.0]))
@pytest.mark.parametrize("s", (0.01, 0.05, 0.1, 0.3))
def test_the_elbow_turns_no_faster_than_the_bound(lengths, s):
    i = Chain(lengths).reach[0] / Chain(lengths).reach[1]
    bound = 2.0 * (1.0 - s) / np.sqrt(s * (2.0 - s) * ((1.0 - s) ** 2 - i * i))
    _, rates = elbow_rates(lengths, s)
    assert 0.99 * bound <= rates.max() <= 1.001 * bound


def test_without_softness_the_elbow_snaps():
    h, rates = elbow_rates([0.5, 0.5], 0.0)
    degrees = np.degrees(0.01 * rates)
    assert np.isclose(degrees[np.searchsorted(h, 0.99)], 8.1, atol=0.1)
    assert np.isclose(degrees[np.searchsorted(h, 0.999)], 25.6, atol=0.5)


@pytest.mark.parametrize("n", (2, 5))
def test_status_is_that_of_the_exact_solve_and_residual_the_true_distance(n):
    chain, s = Chain(np.ones(n) / n), 0.1
    h = np.array([0.5, 0.89, 0.95, 1.0, 1.2])
    targets = np.stack([h, np.zeros(5)], axis=-1)
    solution = solve_ccd(chain, targets, start=np.zeros(n), softness=s)
    tip = forward(chain, solution.angles)[:, -1]
    assert solution.status.tolist() == [Status.REACHED] * 4 + [Status.TOO_FAR]
    assert np.allclose(solution.residual, np.hypot(*(tip - targets).T), atol=1e-15)
    expected = np.where(h > 1.0 - s, 1.0 - s * np.exp(-(h - 1.0 + s) / s), h)
    assert np.allclose(np.hypot(*tip.T), expected, atol=1e-6)
