# SPDX-License-Identifier: GPL-3.0-or-later
"""The formulas of `correction` for many poses at once, on whole arrays that are written in place.

Poses and arms stand joint by joint, (n, m) for n joints and m poses, the root's first: all that is done to
one number after the other is then one call, and what is summed from joint to joint is a call a joint.
"""

import numpy as np

from ..arithmetic import cos_and_sin, summed_up
from ..inputs import Floats
from .correction import DAMPING, LONGEST_STEP, NO_STEP

# The arms (n, m) from each joint to the tip, x and y, the root's first: that one is the tip.
Arms = tuple[Floats, Floats]


def arms_of(lengths: Floats, poses: Floats) -> Arms:
    """Return the arms from the joints of poses (n, m) to their tips. lengths: (n,)"""
    xs, ys = cos_and_sin(summed_up(poses.copy()))
    for arms in (xs, ys):
        arms *= lengths[:, np.newaxis]
        summed_up(arms[::-1])
    return xs, ys


def least_turns_of(arms: Arms, weights: Floats, error_x: Floats, error_y: Floats) -> Floats:
    """Return the least turns (n, m) that move the tips by the errors (m,), as `least_turns`.

    weights: (n,), the greatest 1. The arms are overwritten.
    """
    xs, ys = arms
    even = bool((weights == 1.0).all())
    weighted_xs, weighted_ys = (
        (xs, ys) if even else (weights[:, np.newaxis] * xs, weights[:, np.newaxis] * ys)
    )
    product = weighted_xs * xs
    xx = product.sum(axis=0) + DAMPING
    xy = np.multiply(weighted_xs, ys, out=product).sum(axis=0)
    yy = np.multiply(weighted_ys, ys, out=product).sum(axis=0) + DAMPING
    determinant = xx * yy - xy * xy
    ux = (xx * error_x + xy * error_y) / determinant
    uy = (xy * error_x + yy * error_y) / determinant
    error = np.sqrt(error_x * error_x + error_y * error_y)
    if even:  # as in least_turns, where it says why
        squares = ux * error_x + uy * error_y + NO_STEP
        part = np.minimum(1.0, LONGEST_STEP * np.sqrt(error / squares))
        ux, uy = part * ux, part * uy
    turns = np.multiply(weighted_xs, uy, out=xs)
    turns -= np.multiply(weighted_ys, ux, out=product)
    if not even:
        squares = np.multiply(turns, turns, out=product).sum(axis=0) + NO_STEP
        turns *= np.minimum(1.0, LONGEST_STEP * np.sqrt(error / squares))
    return turns
