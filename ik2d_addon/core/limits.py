# SPDX-License-Identifier: GPL-3.0-or-later
"""Ranges of joint angles: bringing angles inside, and telling which stand at an end."""

import numpy as np
from numpy.typing import NDArray

from .arithmetic import ARRAYS
from .chain import Chain
from .inputs import Floats

# An angle stands at its limit when it is no farther from it than rounding (radians).
AT_LIMIT = 1e-9


def within_limits(chain: Chain, angles: Floats, near: Floats) -> Floats:
    """Return the same rotations (..., n) as numbers within the limits, or the limit that is nearer.

    Of several such numbers the one nearest to `near`.
    """
    angles = near + ARRAYS.remainder(angles - near, 2.0 * np.pi)
    if chain.limits is None:
        return angles
    low, high = chain.limits.T
    turns_up = np.where(angles < low, np.ceil((low - angles) / (2.0 * np.pi)), 0.0)
    turns_down = np.where(angles > high, np.ceil((angles - high) / (2.0 * np.pi)), 0.0)
    moved = angles + 2.0 * np.pi * (turns_up - turns_down)
    blocked = (moved < low) | (moved > high)
    return np.where(blocked, np.where(_apart(angles, low) <= _apart(angles, high), low, high), moved)


def _apart(angles: Floats, limit: Floats) -> Floats:
    """Return how far angles are from a limit, the shorter way round; infinitely from none."""
    finite = np.where(np.isfinite(limit), limit, 0.0)
    return np.where(np.isfinite(limit), np.abs(ARRAYS.remainder(angles - finite, 2.0 * np.pi)), np.inf)


def at_limits(chain: Chain, angles: Floats) -> NDArray[np.bool_]:
    """Return which joints (..., n) stand at a limit."""
    if chain.limits is None:
        return np.zeros(angles.shape, np.bool_)
    at_an_end: NDArray[np.bool_] = (np.abs(angles[..., np.newaxis] - chain.limits) <= AT_LIMIT).any(axis=-1)
    return at_an_end
