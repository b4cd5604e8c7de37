# SPDX-License-Identifier: GPL-3.0-or-later
"""The fewest keys whose curves keep within a bound, and their handles."""

from collections.abc import Generator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...core.inputs import Floats

Rows = NDArray[np.intp]


class Fit(Protocol):
    """A fit of channels by cubics from key to key."""

    times: Floats
    channels: Floats

    def fit(self, first: int, last: int) -> tuple[Floats, float]: ...


def fewest(cubics: Fit, rows: Sequence[int], bound: float) -> Generator[int, None, tuple[Rows, Floats]]:
    """Return the rows to key, of those that may be, and the slopes between: each segment as long as can be.

    A segment between two neighbouring rows stays even if it exceeds the bound.
    """
    chosen: list[int] = [0]
    slopes: list[Floats] = []
    while chosen[-1] < len(rows) - 1:
        at = chosen[-1]
        longest, best = _longest(cubics, rows, at, bound, len(slopes) and at - chosen[-2])
        chosen.append(longest)
        slopes.append(best)
        yield len(cubics.times)
    shape = (len(slopes), 2, cubics.channels.shape[1])
    return np.array(rows)[chosen], np.array(slopes).reshape(shape)


def _longest(cubics: Fit, rows: Sequence[int], at: int, bound: float, guess: int) -> tuple[int, Floats]:
    """Return the furthest of the rows that one segment from rows[at] can end at, and its slopes.

    guess: how long it may be. Doubles the length while the bound holds, then halves the gap.
    """
    good, bad = at + 1, len(rows)
    best, _ = cubics.fit(rows[at], rows[good])
    trial = min(at + max(guess, 2), len(rows) - 1)
    while good < trial < bad:
        slopes, error = cubics.fit(rows[at], rows[trial])
        if error <= bound:
            good, best = trial, slopes
        else:
            bad = trial
        trial = min(at + 2 * (good - at), len(rows) - 1) if bad == len(rows) else (good + bad) // 2
    return good, best


def handles_of(values: Floats, slopes: Floats) -> Floats:
    """Return the values of the handles (2, k, c) of keys (k, c) with slopes (k - 1, 2, c) between."""
    handles = np.stack((values, values))
    handles[1, :-1] += slopes[:, 0] / 3.0
    handles[0, 1:] -= slopes[:, 1] / 3.0
    return handles
