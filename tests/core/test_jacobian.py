# SPDX-License-Identifier: GPL-3.0-or-later
"""The Jacobian against finite differences of the tip, in numbers of 40 digits."""

import mpmath
import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, forward, jacobian

CHAINS = {
    "one bone": Chain([0.7]),
    "arm": Chain([0.8, 0.6, 0.3], limits=np.radians([[-170, 170], [-135, 135], [-100, 100]])),
    "tentacle": Chain(np.linspace(1.0, 0.1, 40)),
    "bone of no length": Chain([1.0, 0.0, 2.0]),
    "telescope": Chain([1.0, 2.0, 0.5], slides=[[0.0, 0.4], [0.0, 0.0], [-0.3, 1.0]]),
}
STEP = mpmath.mpf("1e-12")


def place(chain, angles, slides):
    """Return the tip (2,) and the last bone's direction, from the definition alone."""
    x = y = direction = mpmath.mpf(0)
    for length, angle, slide in zip(chain.lengths, angles, slides, strict=True):
        direction += angle
        x += (mpmath.mpf(length) + slide) * mpmath.cos(direction)
        y += (mpmath.mpf(length) + slide) * mpmath.sin(direction)
    return [x, y, direction]


def differences(chain, angles, slides):
    """Return the central differences (3, n), or (3, 2 n) for a chain that slides."""
    with mpmath.workdps(40):
        values = [mpmath.mpf(value) for value in (*angles, *slides)]
        n, columns = len(chain), []
        for j in range(2 * n if chain.is_sliding else n):
            if j >= n and not chain.slides[j - n].any():
                columns.append([0.0] * 3)
                continue
            ends = []
            for sign in (1, -1):
                moved = [value + sign * STEP * (i == j) for i, value in enumerate(values)]
                ends.append(place(chain, moved[:n], moved[n:]))
            columns.append([float((up - down) / (2 * STEP)) for up, down in zip(*ends, strict=True)])
    return np.array(columns).T


@pytest.mark.parametrize("name", CHAINS)
def test_it_is_the_derivative_of_the_tip(name):
    chain, random = CHAINS[name], np.random.default_rng(7)
    for _ in range(5):
        angles, slides = random.uniform(-3.0, 3.0, len(chain)), random.uniform(-0.3, 0.4, len(chain))
        wanted = differences(chain, angles, slides)
        found = jacobian(chain, angles, slides, orientation=True)
        assert found.shape == wanted.shape
        assert np.abs(found - wanted).max() < 1e-12 * chain.reach[1]
        assert np.array_equal(jacobian(chain, angles, slides), found[:2])


@pytest.mark.parametrize("name", CHAINS)
def test_it_is_the_derivative_of_forward_to_1e_7(name):
    chain, random = CHAINS[name], np.random.default_rng(11)
    n, step = len(chain), 1e-6
    angles = random.uniform(-3.0, 3.0, n)
    ends = [forward(chain, angles + sign * step * np.eye(n))[:, -1] for sign in (1.0, -1.0)]
    slope = (ends[0] - ends[1]).T / (2.0 * step)
    assert np.abs(jacobian(chain, angles)[:, :n] - slope).max() < 1e-7 * chain.reach[1]


def test_many_poses_at_once_are_each_as_alone():
    chain, random = CHAINS["telescope"], np.random.default_rng(3)
    angles, slides = random.uniform(-3.0, 3.0, (4, 1, 3)), random.uniform(-0.3, 0.4, (5, 3))
    found = jacobian(chain, angles, slides, orientation=True)
    assert found.shape == (4, 5, 3, 6)
    for i, j in np.ndindex(4, 5):
        alone = jacobian(chain, angles[i, 0], slides[j], orientation=True)
        assert np.allclose(found[i, j], alone, rtol=0.0, atol=1e-14)


def test_the_row_of_directions_counts_each_angle_and_no_slide():
    found = jacobian(CHAINS["telescope"], [0.1, 0.2, 0.3], orientation=True)
    assert found[2].tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


def test_invalid_input_is_named():
    with pytest.raises(IK2DError, match="angles must hold 3 numbers"):
        jacobian(CHAINS["arm"], [0.0, 0.0])
    with pytest.raises(IK2DError, match="orientation must be a bool"):
        jacobian(CHAINS["arm"], [0.0, 0.0, 0.0], orientation="yes")
    with pytest.raises(IK2DError, match="hand in as many of each"):
        jacobian(CHAINS["telescope"], np.zeros((2, 3)), np.zeros((3, 3)))
