# SPDX-License-Identifier: GPL-3.0-or-later
"""Softness: the tip eases into full reach, so that the joints do not snap straight."""

import numpy as np

from .chain import Chain
from .errors import IK2DError
from .inputs import Floats


def checked_softness(softness: float) -> float:
    """Return softness as a float in 0..1; raise IK2DError where it is not."""
    if not 0.0 <= softness <= 1.0:  # NaN neither
        raise IK2DError(f"softness must lie in 0..1, not {softness}")
    return float(softness)


def softened(chain: Chain, distance: Floats, softness: float) -> Floats:
    """Return how far from the root the tip goes for targets at `distance`.

    With the outer reach as 1, the inner reach i, softness s <= 1 - i, and a target at h:

        f(h) = h                             up to h = 1 - s
        f(h) = 1 - s exp(-(h - 1 + s) / s)   beyond: as steep at first, and 1 only in the infinite

    Without it, the second angle of a two-bone chain turns by 2 h / sqrt((1 - h^2) (h^2 - i^2)) radians
    for each reach that the target moves, which has no bound near h = 1. With it, since f' = (1 - f) / s,
    the rate beyond 1 - s falls as sqrt(1 - f), so for all h >= sqrt(i) it is at most what it is there:

        2 (1 - s) / sqrt(s (2 - s) ((1 - s)^2 - i^2))

    For equal bones 0.02 / sqrt(s (2 - s)) for each 1 % of reach: 3.7 degrees for s = 0.05, 2.6 for 0.1.
    What it costs is h - f(h), at most s / e where the target is in reach.
    """
    inner, outer = chain.reach
    width = min(softness * outer, outer - inner)
    if width <= 0.0:
        return distance
    over = np.maximum(distance - (outer - width), 0.0)
    return np.where(over > 0.0, outer - width * np.exp(-over / width), distance)


def soft_targets(chain: Chain, targets: Floats, softness: float) -> Floats:
    """Return targets (..., 2) moved towards the root to where the tip shall go."""
    distance = np.hypot(targets[..., 0], targets[..., 1])
    part = softened(chain, distance, softness) / np.where(distance > 0.0, distance, 1.0)
    moved: Floats = targets * part[..., np.newaxis]
    return moved
