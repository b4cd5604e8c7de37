# SPDX-License-Identifier: GPL-3.0-or-later
"""One arithmetic for single numbers and for arrays, so that each algorithm is written once.

Along a path each frame waits for the one before it: plain floats are the fastest there, because a
numpy call on ten numbers costs as much as ten floats. Independent targets go the other way round:
each number becomes an array over the targets. Code that takes an `Arithmetic` runs on either.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# For fewer columns numpy's own sums, one column after the other, are faster; they round alike.
FEW = 48

# A float, or an array with one float for each target.
Number = Any


@dataclass(frozen=True)
class Arithmetic:
    """Functions for floats or for arrays, where these share no operator."""

    cos_and_sin_of: Callable[[list[Number]], tuple[list[Number], list[Number]]]  # of several angles
    atan2: Callable[..., Number]
    sqrt: Callable[..., Number]
    exp: Callable[..., Number]
    minimum: Callable[..., Number]
    maximum: Callable[..., Number]
    where: Callable[[Number, Number, Number], Number]


def cos_and_sin(angles: Number) -> tuple[Number, Number]:
    """Return the cosines and sines of an array of angles, off by no more than some units of 1e-16."""
    cosines, sines = np.empty_like(angles), np.empty_like(angles)
    put_cos_and_sin(angles.copy(), cosines, sines)
    return cosines, sines


def put_cos_and_sin(angles: Number, cosines: Number, sines: Number) -> None:
    """Put the cosines and sines of an array of angles, which is overwritten, into two others.

        sin a = 2 t / (1 + t^2),   cos a = 1 - t sin a,   t = tan(a / 2)

    numpy has a fast tangent, but takes sines and cosines one by one. On processors with that tangent this
    takes a fifth of their time, and two thirds on others.
    """
    angles *= 0.5
    tangents = np.tan(angles, out=angles)
    np.multiply(tangents, tangents, out=cosines)
    cosines += 1.0
    np.divide(tangents, cosines, out=sines)
    sines *= 2.0
    tangents *= sines
    np.subtract(1.0, tangents, out=cosines)


def remainders(numbers: Number, period: float) -> Number:
    """Return the remainders of numbers by the nearest multiples of a period: -period / 2..period / 2."""
    return numbers - period * np.rint(numbers / period)


def summed_up(rows: Number) -> Number:
    """Add to each row of an array (n, m), or of some (k, n, m), all those before, in place, and return it."""
    if rows.shape[-1] < FEW:
        return np.cumsum(rows, axis=-2, out=rows)
    each = list(rows if rows.ndim == 2 else rows.swapaxes(0, -2))
    for before, row in zip(each, each[1:], strict=False):
        row += before
    return rows


def summed(rows: Number) -> Number:
    """Return the sums (m,) of an array's rows (n, m), one row after the other whatever m is."""
    return np.cumsum(rows, axis=0)[-1] if rows.shape[1] < FEW else np.add.reduce(rows, axis=0)


def _arrays_cos_and_sin(angles: list[Number]) -> tuple[list[Number], list[Number]]:
    cosines, sines = cos_and_sin(np.array(angles))
    return list(cosines), list(sines)


FLOATS = Arithmetic(
    lambda angles: (list(map(math.cos, angles)), list(map(math.sin, angles))),
    math.atan2,
    math.sqrt,
    math.exp,
    min,
    max,
    lambda condition, if_true, if_false: if_true if condition else if_false,
)
ARRAYS = Arithmetic(
    _arrays_cos_and_sin,
    np.arctan2,
    np.sqrt,
    np.exp,
    np.minimum,
    np.maximum,
    np.where,
)
