# SPDX-License-Identifier: GPL-3.0-or-later
"""The root of one function, in plain numbers and without its slope."""

from collections.abc import Callable

# Steps of the search for one root. Ten are usual; this is what the worst case needs.
CHORDS = 200


def crossing(function: Callable[[float], float], tolerance: float, chords: int = CHORDS) -> float:
    """Return the zero in 0..1 of a continuous function that changes its sign there, to a tolerance.

    By the Illinois method: the next place is where the chord crosses zero, and the value at an end that is
    kept twice counts half.
    """
    low, high, at_low, at_high = 0.0, 1.0, function(0.0), function(1.0)
    kept = 0  # -1: the last step kept the high end; +1: the low one
    for _ in range(chords):
        middle = low + (high - low) * at_low / (1.0 if at_low == at_high else at_low - at_high)
        value = function(middle)
        if abs(value) <= tolerance:
            break
        if (value < 0.0) == (at_low < 0.0):  # the zero lies beyond the middle
            low, at_low, at_high, kept = middle, value, at_high / 2.0 if kept == -1 else at_high, -1
        else:
            high, at_high, at_low, kept = middle, value, at_low / 2.0 if kept == 1 else at_low, 1
    return middle
