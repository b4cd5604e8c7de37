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
from math import cos, hypot, inf, sin, sqrt
from operator import add, mul

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
Arms = tuple[list[float], list[float]]


def arms_to_tip(lengths: list[float], angles: list[float]) -> Arms:
    """Return the arms from the joints to the tip, last joint first: the root's, at the end, is the tip."""
    headings = list(accumulate(angles))
    xs, ys = list(map(mul, lengths, map(cos, headings))), list(map(mul, lengths, map(sin, headings)))
    return list(accumulate(xs[::-1])), list(accumulate(ys[::-1]))


def error_of(lengths: list[float], angles: list[float], x: float, y: float) -> float:
    """Return the tip's distance from a point."""
    xs, ys = arms_to_tip(lengths, angles)
    return hypot(x - xs[-1], y - ys[-1])


def push(xs: list[float], ys: list[float], weights: list[float], x: float, y: float) -> tuple[float, float]:
    """Return u of M u = (x, y), where M is the sum of w (xi, yi) (xi, yi)^T over all joints i."""
    weighted_xs, weighted_ys = list(map(mul, weights, xs)), list(map(mul, weights, ys))
    xx, xy = sum(map(mul, weighted_xs, xs)) + DAMPING, sum(map(mul, weighted_xs, ys))
    yy = sum(map(mul, weighted_ys, ys)) + DAMPING
    determinant = xx * yy - xy * xy
    return (yy * x - xy * y) / determinant, (xx * y - xy * x) / determinant


def least_turns(
    arms: Arms, weights: list[float], error_x: float, error_y: float, longest: float = LONGEST_STEP
) -> list[float]:
    """Return the least turns q, root first, that move the tip by the error (reach is 1).

    weights: one a joint, the last joint first, as the arms; the greatest should be 1. longest: see above.
    """
    xs, ys = arms
    uy, ux = push(xs, ys, weights, error_y, -error_x)
    ux = -ux
    whole = [weight * (x * uy - y * ux) for weight, x, y in zip(weights, xs, ys, strict=True)]
    error = sqrt(error_x * error_x + error_y * error_y)
    if min(weights) == 1.0:
        # u . e is the sum of q^2 / w: the square of the step's length.
        share = min(1.0, longest * sqrt(error / (ux * error_x + uy * error_y)))
    else:  # unwilling joints would make that long, and the step too short to help
        share = min(1.0, longest * sqrt(error / (sum(map(mul, whole, whole)) + NO_STEP)))
    return [share * turn for turn in reversed(whole)]


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
