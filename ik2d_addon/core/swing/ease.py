# SPDX-License-Identifier: GPL-3.0-or-later
"""Spins over the frames of a take, made smooth where the pole says little about them."""

from collections.abc import Sequence

import numpy as np

from ..inputs import Floats

# How much the changes of speed count beside the difference from the pole's own spin.
SMOOTHNESS = 0.1


def eased(spins: Floats, sines: Floats, times: Sequence[float]) -> Floats:
    """Return spins (m,), radians, that change evenly where a rule leaves them nearly open.

    sines: (m,) of the angle to the direction that leaves them open. times: (m,) ascending frames. It is the
    least sum of  w^4 (spin - own)^2 + SMOOTHNESS (change of speed)^2  for the sines w.
    """
    spin, steps = np.unwrap(spins), np.diff(np.asarray(times, np.float64))
    count = len(spin)
    if count < 3:
        return spin
    # Second differences, a row (before, here, after) for each time but the ends.
    before, after = 1.0 / steps[:-1], 1.0 / steps[1:]
    rows = np.stack((before, -before - after, after), axis=1)
    weights = np.maximum(sines, 1e-6) ** 4
    bands = np.zeros((3, count))  # of the symmetric normal matrix: its diagonal, and two beside it
    bands[0] = weights
    for i in range(3):
        for j in range(i + 1):
            bands[i - j, j : count - 2 + j] += SMOOTHNESS * rows[:, i] * rows[:, j]
    return np.array(_solved(bands.tolist(), (weights * spin).tolist()))


def _solved(bands: list[list[float]], right: list[float]) -> list[float]:
    """Return the solution of symmetric equations with two bands beside the diagonal, by elimination."""
    main, near, two = bands
    count = len(main)
    for i in range(count):
        for band, k in ((near, 1), (two, 2)):
            if i + k < count:
                factor = band[i] / main[i]
                main[i + k] -= factor * band[i]
                right[i + k] -= factor * right[i]
                if k == 1 and i + 2 < count:
                    near[i + 1] -= factor * two[i]
    for i in range(count - 1, -1, -1):
        for band, k in ((near, 1), (two, 2)):
            if i + k < count:
                right[i] -= band[i] * right[i + k]
        right[i] /= main[i]
    return right
