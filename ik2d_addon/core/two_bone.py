# SPDX-License-Identifier: GPL-3.0-or-later
"""The analytic two-bone solver.

After Ryan Juckett, "Analytic Two-Bone IK in 2D" (2009).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .chain import Chain, checked_angles, checked_targets
from .errors import IK2DError
from .inputs import Floats, checked_bend, wrapped
from .limits import at_limits
from .softness import checked_softness, soft_targets
from .solution import Solution, Status, distances_to
from .two_bone_limits import Answer, solve_within_limits

# A bone shorter than this fraction of the reach counts as one of zero length: the second
# angle then moves the tip less than float rounding does.
ZERO_LENGTH = 1e-12
# Distances whose squares are no floats any more begin here.
HUGE = 1e75
# So many targets at a time that the arrays between the steps stay in the processor's cache.
BLOCK = 8192


def solve_two_bone(
    chain: Chain,
    target: ArrayLike,
    *,
    bend: ArrayLike = 1,
    start: ArrayLike | None = None,
    tolerance: float | None = None,
    softness: float = 0.0,
) -> Solution:
    """Return the pose of two bones whose tip is on the target, or as near as it gets.

    With lengths d1, d2 and h = |target|, the law of cosines in its half-angle form,

        tan(angle2 / 2) = sqrt(N / D),   N = (d1 + d2)^2 - h^2,   D = h^2 - (d1 - d2)^2

    each clamped at zero: then a target too far stretches the chain, and one too close folds it.
    Factored as (d1 + d2 - h) (d1 + d2 + h) they keep full precision near both ends, where the
    cosine's formula does not. The first bone follows without a sine or cosine of angle2:

        angle1 = atan2(y a - x o, x a + y o),   a = (d1 + d2) D + (d1 - d2) N,   o = 2 d2 sqrt(N D)

    which are N + D times the d1 + d2 cos(angle2) and d2 sin(angle2) of the article.

    target: (..., 2) relative to the root. bend: +1 or -1, the sign of angle2, (...) or one for all.
    start: (..., 2) angles, such as last frame's, kept where any would do: angle2 where a bone has
    no length, angle1 for a target at the root; zeros if not given. tolerance: a length.
    softness: 0..1, see softness.py; status is that of the exact solve, residual the true distance.
    A target off the annulus of reach by no more than the tolerance counts as REACHED.
    Of a chain with limits the bend side asked for is taken where it reaches the target, else the
    other; where neither does, the pose within the limits that is nearest to the target: LIMITED.
    Raises IK2DError for a chain that has not two bones, a target that is not finite, another bend.
    """
    if len(chain) != 2:
        raise IK2DError(f"the two-bone solver takes chains of two bones, not {len(chain)}; use CCD")
    targets, sides = checked_targets(target), checked_bend(bend)
    kept = checked_angles(chain, np.zeros(2) if start is None else start, "start")
    limit, soft = chain.tolerance_or_default(tolerance), checked_softness(softness)
    shape = np.broadcast_shapes(targets.shape[:-1], sides.shape, kept.shape[:-1])
    rows = (
        np.broadcast_to(targets, (*shape, 2)).reshape(-1, 2),
        np.broadcast_to(sides, shape).reshape(-1),
        np.broadcast_to(kept, (*shape, 2)).reshape(-1, 2),
    )
    solver = solve_within_limits if chain.is_limited else _solve_free
    angles, status, residual = solver(chain, *rows, limit)
    if soft > 0.0:
        angles, _, _ = solver(chain, soft_targets(chain, rows[0], soft), *rows[1:], limit)
        residual = distances_to(chain, angles, rows[0])
    return Solution(
        angles=angles.reshape(*shape, 2),
        status=status.reshape(shape),
        residual=residual.reshape(shape),
        iterations=np.zeros(shape, np.int32),
        limited=at_limits(chain, angles).reshape(*shape, 2),
    )


def _solve_free(chain: Chain, targets: Floats, sides: Floats, kept: Floats, tolerance: float) -> Answer:
    """Return angles (m, 2), status (m,) and residual (m,) for targets (m, 2) of a chain without limits."""
    m = len(targets)
    angles, status, residual = np.empty((m, 2)), np.empty(m, np.int8), np.empty(m)
    # A power of two, which changes no digit, where squares of the lengths would be no floats any more.
    outer = chain.reach[1]
    unit = 1.0 if 1.0 / HUGE < outer < HUGE or outer == 0.0 else 2.0 ** float(np.frexp(outer)[1])
    lengths = (chain.lengths / unit).tolist()
    # N / D is infinite for a folded chain, and its arctangent then what it should be.
    with np.errstate(divide="ignore", over="ignore"):
        for first in range(0, m, BLOCK):
            rows = slice(first, first + BLOCK)
            x, y = targets[rows, 0] / unit, targets[rows, 1] / unit
            angles[rows, 0], angles[rows, 1], status[rows], residual[rows] = _solve_block(
                lengths, x, y, sides[rows], kept[rows], tolerance / unit
            )
    return angles, status, residual * unit


def _solve_block(
    lengths: list[float], x: Floats, y: Floats, sides: Floats, kept: Floats, tolerance: float
) -> tuple[Floats, Floats, NDArray[np.int8], Floats]:
    """Return angle1, angle2, status and residual, each (m,), by the formulas of solve_two_bone.

    The residual is that of the annulus: what the tip of such a pose is off by, but for rounding.
    """
    d1, d2 = lengths
    inner, outer = abs(d1 - d2), d1 + d2
    h = np.sqrt(x * x + y * y)
    if not h.max() < HUGE:  # hypot() squares nothing too great, but takes several times as long
        h = np.hypot(x, y)
    short, spare = outer - h, h - inner
    residual = np.maximum(-np.minimum(short, spare), 0.0)
    status = (short < -tolerance) * np.int8(Status.TOO_FAR) + (spare < -tolerance) * np.int8(Status.TOO_CLOSE)
    if min(d1, d2) <= ZERO_LENGTH * outer:
        angle2 = kept[:, 1]
        adjacent, opposite = d1 + d2 * np.cos(angle2), d2 * np.sin(angle2)
    else:
        n, d = np.maximum(short * (outer + h), 0.0), np.maximum(spare * (h + inner), 0.0)
        root_n, root_d = np.sqrt(n), np.sqrt(d)
        angle2 = 2.0 * sides * np.arctan(root_n / root_d)
        adjacent, opposite = outer * d + (d1 - d2) * n, (2.0 * d2) * sides * root_n * root_d
    angle1 = np.arctan2(y * adjacent - x * opposite, x * adjacent + y * opposite)
    if h.min() == 0.0:  # at the root every direction is as good: keep the one that was
        angle1 = np.where(h > 0.0, angle1, wrapped(kept[:, 0]))
    return angle1, angle2, status, residual
