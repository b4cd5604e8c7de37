# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulas of `correction` for many poses at once, on whole arrays that are written in place.

The bones' headings stand one by one, (n, m) for n bones and m poses, the root's first, and arms (2, n, m),
all x before all y: what is done to one number after the other is then one call, and what is summed from
joint to joint is a call a joint.
"""

import numpy as np

from ..arithmetic import carved, put_cos_and_sin, summed_up
from ..inputs import Floats
from .correction import DAMPING, NO_STEP


def arms_of(lengths: Floats, headings: Floats, room: Floats) -> Floats:
    """Return the arms (2, n, m) from the joints of bones with headings (n, m) to their tips.

    The root's, arms[:, 0], is the tip. lengths: (n,). room: at least 3 n m floats; the arms are its first.
    """
    n, m = headings.shape
    arms: Floats
    arms, angles = carved(room, (2, n, m), (n, m))
    np.copyto(angles, headings)
    put_cos_and_sin(angles, arms[0], arms[1])
    arms *= lengths[:, np.newaxis]
    summed_up(arms[:, ::-1])
    return arms


def least_turns_of(
    arms: Floats, weights: Floats | None, errors: Floats, distances: Floats, longest: Floats, room: Floats
) -> Floats:
    """Return the least turns (n, m) that move the tips by the errors (2, m), as `least_turns`.

    arms: (2, n, m), which are overwritten. weights: (n,), the greatest 1; None: all are. distances: (m,), how
    long the errors are. longest: (m,). room: at least 2 n m floats that are not the arms'; the turns are its
    first.
    """
    _, n, m = arms.shape
    weighted = arms if weights is None else weights[:, np.newaxis] * arms
    turns: Floats
    (products,), (turns,) = carved(room, (2, n, m)), carved(room, (n, m))
    squares = np.add.reduce(np.multiply(weighted, arms, out=products), axis=1)  # (2, m), of x and of y
    squares += DAMPING
    mixed = np.add.reduce(np.multiply(weighted[0], arms[1], out=turns), axis=0)
    u = squares * errors
    u += mixed * errors[::-1]
    u /= squares[0] * squares[1] - mixed * mixed
    most = longest * np.sqrt(distances)
    if weights is None:  # as in least_turns, where it says why
        u *= np.minimum(1.0, most / np.sqrt(np.add.reduce(u * errors, axis=0) + NO_STEP))
    weighted *= u[::-1, np.newaxis]
    np.subtract(weighted[0], weighted[1], out=turns)
    if weights is not None:
        turns *= np.minimum(1.0, most / np.sqrt(np.add.reduce(turns * turns, axis=0) + NO_STEP))
    return turns


def swings_of(turns: Floats, most: Floats, room: Floats) -> Floats:
    """Return how turns (n, m) swing the bones, cut to swing none by more than `most` (m,).

    The turns are overwritten by the swings. room: at least n m floats that are not the turns'.
    """
    (sizes,) = carved(room, turns.shape)
    summed_up(turns)
    largest = np.maximum.reduce(np.abs(turns, out=sizes), axis=0)
    over = largest > most
    if over.any():
        turns *= np.where(over, most / np.maximum(largest, NO_STEP), 1.0)
    return turns


def angles_of(headings: Floats) -> Floats:
    """Return the angles (n, ...) between bones with headings (n, ...)."""
    angles = headings.copy()
    angles[1:] -= headings[:-1]
    return angles
