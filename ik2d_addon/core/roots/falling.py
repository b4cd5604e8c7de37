# SPDX-License-Identifier: GPL-3.0-or-later
"""Roots of falling functions, of one and of many at once: Newton's method, kept within a bracket."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats

# Rounds for one root: a few are usual, and 80 halvings leave nothing to halve.
ROUNDS = 80

# functions(rows, u): of some functions, by their rows (k,), the values at u (k,) and the slopes there (k,).
Functions: TypeAlias = Callable[[NDArray[np.intp], Floats], tuple[Floats, Floats]]


def falling_root(
    function: Callable[[float], tuple[float, float]],
    start: float,
    low: float,
    high: float,
    rounding: float,
    close: float,
) -> tuple[float, float]:
    """Return the root u at which a function falls through zero between low and high, and the last slope.

    As `falling_roots`; but after a value of at most `close` the step is the last. function: u to the value
    and the slope there.
    """
    u, slope = start, -1.0
    for _ in range(ROUNDS):
        value, slope = function(u)
        if value > 0.0:
            low = u
        else:
            high = u
        if abs(value) <= rounding or high - low <= rounding * high:
            break
        newton = u - value / slope if slope < 0.0 else low
        inside = low < newton < high
        u = newton if inside else 0.5 * (low + high)
        if inside and abs(value) <= close:
            break
    return u, slope


def falling_roots(
    functions: Functions, start: Floats, low: Floats, high: Floats, rounding: float, short: float = 0.0
) -> tuple[Floats, Floats, NDArray[np.int32]]:
    """Return the last places u (m,) on the way to roots, the last steps from there (m,), and the rounds (m,).

    The functions fall through zero between low and high (m,), at u + step. Newton's method from `start`
    (m,); a step that would leave the bracket, or a slope that does not fall, halves the bracket instead. So
    functions without slopes, with zeros in their place, are halved alone. A root is found, and the step 0,
    where the value is at most `rounding` or the bracket no longer than that part of its upper end; or by a
    step of at most `short`.
    """
    places, steps, rounds = start.copy(), np.zeros(start.size), np.zeros(start.size, np.int32)
    rows, u = np.arange(start.size), start
    for done in range(ROUNDS):
        if rows.size == 0:
            break
        value, slope = functions(rows, u)
        low, high = np.where(value > 0.0, u, low), np.where(value > 0.0, high, u)
        there = (np.abs(value) <= rounding) | (high - low <= rounding * high)
        step = np.where(there, 0.0, -value / np.where(slope < 0.0, slope, -1.0))
        newton = u + step
        inside = (slope < 0.0) & (newton > low) & (newton < high)
        places[rows], steps[rows], rounds[rows] = u, step, done + 1
        going = ~(there | inside & (np.abs(step) <= short))
        u = np.where(inside, newton, 0.5 * (low + high))[going]
        rows, low, high = rows[going], low[going], high[going]
    return places, steps, rounds
