# SPDX-License-Identifier: GPL-3.0-or-later
"""Softness: the tip eases into full reach, so that the joints do not snap straight."""

import numpy as np
from numpy.typing import ArrayLike

from .arithmetic import ARRAYS, Arithmetic, Number
from .chain import Chain
from .errors import IK2DError
from .inputs import Floats, floats

# exp(-x) of so much or more is zero.
_NOTHING_LEFT = 800.0


def checked_softness(softness: ArrayLike) -> Floats:
    """Return softness (...) as floats in 0..1; raise IK2DError where one is not."""
    checked = floats(softness, "softness")
    outside = ~((checked >= 0.0) & (checked <= 1.0))  # NaN neither
    if outside.any():
        raise IK2DError(f"softness must lie in 0..1, not {checked[outside].flat[0]}")
    return checked


def softened_within(
    inner: Number, outer: Number, distance: Number, softness: Number, lib: Arithmetic
) -> Number:
    """Return the tip's distance from the root for targets at a distance: numbers, or (...).

    With the outer reach as 1, the inner reach i, softness s <= 1 - i, and a target at h:

        f(h) = h                             up to h = 1 - s
        f(h) = 1 - s exp(-(h - 1 + s) / s)   beyond: as steep at first, and 1 only in the infinite

    Without it, the second angle of a two-bone chain turns by 2 h / sqrt((1 - h^2) (h^2 - i^2)) radians
    for each reach that the target moves, which has no bound near h = 1. With it, since f' = (1 - f) / s,
    the rate beyond 1 - s falls as sqrt(1 - f), so for all h >= sqrt(i) it is at most what it is there:

        2 (1 - s) / sqrt(s (2 - s) ((1 - s)^2 - i^2))

    For equal bones 0.02 / sqrt(s (2 - s)) for each 1 % of reach: 3.7 degrees for s = 0.05, 2.6 for 0.1.
    The tip then misses the target by h - f(h), at most s / e where the target is in reach.
    """
    width = lib.minimum(softness * outer, outer - inner)
    over = lib.maximum(distance - (outer - width), 0.0)
    over_in_widths = lib.minimum(over, _NOTHING_LEFT * width) / lib.where(width > 0.0, width, 1.0)
    eased = outer - width * lib.exp(-over_in_widths)
    return lib.where((width > 0.0) & (over > 0.0), eased, distance)


def soft_targets(chain: Chain, targets: Floats, softness: Floats) -> Floats:
    """Return targets (..., 2) moved to where softness puts the tip; softness (...) or one."""
    return soft_targets_within(*chain.reach, targets, softness)


def soft_targets_within(inner: Number, outer: Number, targets: Floats, softness: Floats) -> Floats:
    """Return the targets of `soft_targets` for annuli of reach, one or one for each target."""
    distance = np.hypot(targets[..., 0], targets[..., 1])
    eased = softened_within(inner, outer, distance, softness, ARRAYS)
    share = eased / np.where(distance > 0.0, distance, 1.0)
    is_soft = np.greater(softness, 0.0)[..., np.newaxis]
    return np.where(is_soft, targets * share[..., np.newaxis], targets)
