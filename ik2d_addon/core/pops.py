# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the elbow of two bones pops: distances at which a small move of the target turns it far."""

from typing import TypeAlias

import numpy as np

from .arithmetic import ARRAYS
from .chain import Chain, checked_chain
from .errors import IK2DError
from .inputs import Floats, number
from .softness import checked_softness

# Degrees that the elbow turns while the target moves by a hundredth of the reach: more is a pop.
POP = 5.0
# A softness below this eases within less than rounding.
LEAST_SOFTNESS = 1e-16
# Samples of the rate; closer together near both ends, where it grows.
_PLACES = 257
# Halvings that find the end of a band between two of these.
_HALVINGS = 40

Bands: TypeAlias = list[tuple[float, float]]


def pop_bands(chain: Chain, softness: float = 0.0, most: float = POP) -> Bands:
    """Return the bands of target distances (from, to) in which the elbow of a two-bone chain pops.

    In them it turns by more than `most` degrees while the target moves by 1 % of the reach towards the
    root or away from it. With the outer reach as 1, the inner reach i, the tip at f, softness s, and the
    target at h (`core.softness`):

        2 f / sqrt((1 - f^2) (f^2 - i^2)) f'(h)    f'(h) = 1 up to 1 - s, (1 - f) / s beyond

    radians a reach. Distances are in the chain's units, rising. A chain without size has none.
    Raises IK2DError for a chain of other than two bones.

    >>> [[round(end, 3) for end in band] for band in pop_bands(Chain([1.0, 1.0]))]
    [[1.947, 2.0]]
    """
    checked_chain(chain)
    softness, most = float(checked_softness(number(softness, "softness"))), number(most, "most")
    if most <= 0.0:
        raise IK2DError(f"most must be degrees greater than zero, not {most}")
    if len(chain) != 2:
        raise IK2DError(f"only a chain of two bones has an elbow that pops, not one of {len(chain)}")
    softness = 0.0 if softness < LEAST_SOFTNESS else softness
    inner, outer = chain.reach
    if outer <= 0.0 or inner >= outer:
        return []
    closed, width = inner / outer, min(softness, 1.0 - inner / outer)
    bound = np.radians(most) * 100.0
    tips = closed + (1.0 - closed) * (0.5 - 0.5 * ARRAYS.cos(np.linspace(0.0, np.pi, _PLACES)))
    tips[-1] = 1.0
    over = _rates(tips, closed, width) > bound
    changes = np.flatnonzero(over[1:] != over[:-1])
    edges = _edges(tips[changes], tips[changes + 1], over[changes], closed, width, bound)
    ends = [closed] * bool(over[0]) + edges.tolist() + [1.0] * bool(over[-1])
    distances = outer * _targets(np.array(ends), width)
    return [(float(low), float(high)) for low, high in distances.reshape(-1, 2)]


def _rates(tips: Floats, closed: float, width: float) -> Floats:
    """Return the radians (m,) that the elbow turns for each reach that the target moves, tips at (m,)."""
    folded = closed / tips if closed else np.zeros_like(tips)
    spread = (1.0 - tips * tips) * np.maximum(1.0 - folded * folded, 0.0)
    rates = np.full_like(tips, np.inf)
    np.divide(2.0, np.sqrt(spread), out=rates, where=spread > 0.0)
    if width > 0.0:
        rates[tips >= 1.0] = 0.0
        rates *= np.where(tips > 1.0 - width, (1.0 - tips) / width, 1.0).clip(min=1e-300)
    return rates


def _edges(low: Floats, high: Floats, over: Floats, closed: float, width: float, bound: float) -> Floats:
    """Return the ends (k,) of bands between low and high. over: (k,) whether the rate at low is over."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        same = (_rates(middle, closed, width) > bound) == over
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return low


def _targets(tips: Floats, width: float) -> Floats:
    """Return the distances (m,) of the targets for which softness puts the tip at (m,), in reaches."""
    if width <= 0.0:
        return tips
    left = np.maximum((1.0 - tips) / width, np.finfo(np.float64).tiny)
    return np.where(tips > 1.0 - width, 1.0 - width - width * np.log(left), tips)
