# SPDX-License-Identifier: GPL-3.0-or-later
"""Where joints turn far: distances at which a small move of the target turns the elbow or the root."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .chain import Chain, checked_chain
from .errors import IK2DError
from .inputs import Floats, number
from .roots.falling import falling_roots
from .softness import checked_softness

# Degrees that a joint turns while the target moves by a hundredth of the reach: more is a pop.
POP = 5.0
# A softness below this eases within less than rounding.
LEAST_SOFTNESS = 1e-16
# The error of a tip's distance by rounding, in reaches, to which the end of a band is found.
_ROUNDING = 2.3e-16

Bands: TypeAlias = list[tuple[float, float]]


def pop_bands(chain: Chain, softness: float = 0.0, most: float = POP) -> Bands:
    """Return the bands of target distances (from, to) in which the elbow pops or the chain whirls.

    In them a joint turns by more than `most` degrees while the target moves by 1 % of the reach. Of any
    chain that reaches so near to its root, it is the root while the target goes round it at h: the shape
    of two bones, of Arc and of Even depends on the distance alone, so the root turns by

        1 / h

    radians a reach, as long as its range lets it; by default that is more within 0.115 of the reach. Of
    two rigid bones, it is also the elbow while the target goes towards the root or away from it. With the
    outer reach as 1, the inner reach i, the tip at f, softness s, and the target at h (`core.softness`):

        2 f / sqrt((1 - f^2) (f^2 - i^2)) f'(h)    f'(h) = 1 up to 1 - s, (1 - f) / s beyond

    Distances are in the chain's units, rising, within the annulus. A chain without size, or of one bone,
    has none. CCD along a path (`solve_ccd_path`) keeps its turns small near the root.

    >>> [[round(end, 3) for end in band] for band in pop_bands(Chain([1.0, 1.0]))]
    [[0.0, 0.229], [1.947, 2.0]]
    """
    checked_chain(chain)
    softness, most = float(checked_softness(number(softness, "softness"))), number(most, "most")
    if most <= 0.0:
        raise IK2DError(f"most must be degrees greater than zero, not {most}")
    inner, outer = chain.reach
    if outer <= 0.0 or inner >= outer:
        return []
    bound = math.radians(most) * 100.0
    bands = _elbow_bands(chain, softness, bound) if len(chain) == 2 and not chain.is_sliding else []
    whirls = outer / max(bound, 1.0)
    if whirls <= inner or chain.weights is not None and chain.weights[0] == 0.0:
        return bands
    while bands and bands[0][0] <= whirls:
        whirls = max(whirls, bands.pop(0)[1])
    return [(inner, whirls), *bands]


def _elbow_bands(chain: Chain, softness: float, bound: float) -> Bands:
    """Return the bands in which the elbow of two rigid bones turns by more than `bound` radians a reach.

    Between the tips from which they are found the rate only falls or only rises.
    """
    inner, outer = chain.reach
    softness = 0.0 if softness < LEAST_SOFTNESS else softness
    closed, width = inner / outer, min(softness, 1.0 - inner / outer)
    tips = np.array([closed, min(math.sqrt(closed), 1.0 - width), 1.0 - width, 1.0])
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


def _edges(
    low: Floats, high: Floats, over: NDArray[np.bool_], closed: float, width: float, bound: float
) -> Floats:
    """Return the ends (k,) of bands between low and high. over: (k,) whether the rate at low is over."""
    sides = np.where(over, 1.0, -1.0)

    def excess(rows: NDArray[np.intp], tips: Floats) -> tuple[Floats, Floats]:
        return sides[rows] * (_rates(tips, closed, width) - bound), np.zeros(tips.size)

    edges, _, _ = falling_roots(excess, 0.5 * (low + high), low, high, _ROUNDING)
    return edges


def _targets(tips: Floats, width: float) -> Floats:
    """Return the distances (m,) of the targets for which softness puts the tip at (m,), in reaches."""
    if width <= 0.0:
        return tips
    left = np.maximum((1.0 - tips) / width, np.finfo(np.float64).tiny)
    return np.where(tips > 1.0 - width, 1.0 - width - width * np.log(left), tips)
