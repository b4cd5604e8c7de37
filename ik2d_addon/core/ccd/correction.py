# SPDX-License-Identifier: GPL-3.0-or-later
"""The least turn of all joints together that brings the tip to a target close by.

Turning joint i by a small angle q moves the tip by q (-ry, rx), where r is the arm from the joint
to the tip. For a tip error e, the turns with the least sum of q^2 / w (w: the joints' weights) are

    q_i = w_i (-ry_i ux + rx_i uy),   M u = e,   M = sum_i w_i (-ry_i, rx_i)^T (-ry_i, rx_i)

(Whitney's resolved motion, 1969, as one 2 x 2 system.) Repeated, it is Newton's method: the error
is squared each time. Where all bones lie on one line M is singular and Newton's step infinite,
but the turn that is needed is not: bending the line by q moves the tip by about q^2 reach / 2. So no
step is longer than LONGEST_STEP sqrt(|e| / reach), and the tip passes such poses without a jump.
"""

from itertools import accumulate
from math import hypot, inf, sqrt
from operator import add, mul

import numpy as np

from ..arithmetic import FLOATS, Arithmetic, Number, carved, put_cos_and_sin, summed_up
from ..inputs import Floats

LONGEST_STEP = 2.0  # radians for an error as long as the reach
# Keeps M invertible on a line, far below where it could change a digit elsewhere (reach is 1).
DAMPING = 1e-14
# The square of no step (radians), where every joint is held: not zero, to divide by.
NO_STEP = 1e-300
# From afar, where a pose far from the start's is needed anyway, steps may be longer, but none swings a bone
# by more than this (radians): beyond it the tip no longer follows the turns of the first order.
LONGEST_FROM_AFAR, SWING = 3.0, 1.5
# And a number of them must leave no more than this part of the error. Those of a long chain that is wound up
# often do not: most of these never arrive, and wind it up further.
TRIAL, NEARER = 4, 0.8

# The arms from each joint to the tip, x and y, the last joint first.
Arms = tuple[list[Number], list[Number]]


def arms_to_tip(lengths: list[float], angles: list[Number], lib: Arithmetic = FLOATS) -> Arms:
    """Return the arms from the joints to the tip, last joint first: the root's, at the end, is the tip."""
    headings = list(accumulate(angles))
    cosines, sines = lib.cos_and_sin_of(headings)
    xs, ys = list(map(mul, lengths, cosines)), list(map(mul, lengths, sines))
    return list(accumulate(xs[::-1])), list(accumulate(ys[::-1]))


def error_of(lengths: list[float], angles: list[float], x: float, y: float) -> float:
    """Return the tip's distance from a point."""
    xs, ys = arms_to_tip(lengths, angles)
    return hypot(x - xs[-1], y - ys[-1])


def least_turns(
    arms: Arms, weights: list[float], error_x: float, error_y: float, longest: float = LONGEST_STEP
) -> list[float]:
    """Return the least turns q, root first, that move the tip by the error (reach is 1).

    weights: one a joint, the last joint first, as the arms; the greatest should be 1. longest: see above.
    """
    xs, ys = arms
    weighted_xs, weighted_ys = list(map(mul, weights, xs)), list(map(mul, weights, ys))
    xx, xy = sum(map(mul, weighted_xs, xs)) + DAMPING, sum(map(mul, weighted_xs, ys))
    yy = sum(map(mul, weighted_ys, ys)) + DAMPING
    determinant = xx * yy - xy * xy
    ux = (xx * error_x + xy * error_y) / determinant
    uy = (xy * error_x + yy * error_y) / determinant
    error = sqrt(error_x * error_x + error_y * error_y)
    if min(weights) == 1.0:
        # u . e is the sum of q^2 / w: the square of the step's length.
        part = min(1.0, longest * sqrt(error / (ux * error_x + uy * error_y)))
        ux, uy = part * ux, part * uy
        turns = [wx * uy - wy * ux for wx, wy in zip(weighted_xs, weighted_ys, strict=True)]
    else:  # unwilling joints would make that long, and the step too short to help
        whole = [wx * uy - wy * ux for wx, wy in zip(weighted_xs, weighted_ys, strict=True)]
        part = min(1.0, longest * sqrt(error / (sum(map(mul, whole, whole)) + NO_STEP)))
        turns = [part * turn for turn in whole]
    turns.reverse()
    return turns


def corrected(
    lengths: list[float],
    weights: list[float],
    angles: list[float],
    target: tuple[float, float],
    tolerance: float,
    rounds: int,
    from_afar: bool = False,
) -> tuple[list[float], float, int]:
    """Correct the angles of one chain until its tip is within the tolerance (reach is 1).

    weights: last joint first. from_afar: to stop where corrections do not help. Returns the angles, the
    error left, and the corrections made, at most `rounds`.
    """
    x, y = target
    before, longest = inf, LONGEST_FROM_AFAR if from_afar else LONGEST_STEP
    for done in range(rounds + 1):
        arms = arms_to_tip(lengths, angles)
        error_x, error_y = x - arms[0][-1], y - arms[1][-1]
        error = hypot(error_x, error_y)
        if error <= tolerance or done == rounds:
            break
        if from_afar and done % TRIAL == 0:
            if error > NEARER * before:
                break
            before = error
        turns = least_turns(arms, weights, error_x, error_y, longest)
        if from_afar:
            most = max(map(abs, accumulate(turns)))
            turns = [SWING / most * turn for turn in turns] if most > SWING else turns
        angles = list(map(add, angles, turns))
    return angles, error, done


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
    if weights is None:  # for the reason in least_turns
        u *= np.minimum(1.0, most / np.sqrt(np.add.reduce(u * errors, axis=0) + NO_STEP))
    weighted *= u[::-1, np.newaxis]
    np.subtract(weighted[0], weighted[1], out=turns)
    if weights is not None:
        turns *= np.minimum(1.0, most / np.sqrt(np.add.reduce(turns * turns, axis=0) + NO_STEP))
    return turns


def swings_of(turns: Floats, most: Floats, room: Floats) -> Floats:
    """Return the swings (n, m) of the bones by turns (n, m), cut so that none is more than `most` (m,).

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
    return np.diff(headings, axis=0, prepend=0.0)
