# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver Even as callers have it: one target within limits in plain numbers, others by arrays."""

from functools import lru_cache
from math import hypot

import numpy as np
from numpy.typing import ArrayLike

from .. import even
from ..chain import Chain, checked_angles, checked_chain, checked_targets
from ..even.solve import MANY_BONES
from ..solution import Solution, Status
from .solver import PlainSolver, plain_solver

# Solvers of one target that are kept.
KEPT = 64
# Bend, softness and slide_weight with which one target is solved in plain numbers.
PLAIN = ((1, 0.0, 1.0), (-1, 0.0, 1.0))


def solve_even(
    chain: Chain,
    target: ArrayLike,
    *,
    bend: ArrayLike = 1,
    rest: ArrayLike | None = None,
    root_weight: float | None = None,
    tolerance: float | None = None,
    softness: ArrayLike = 0.0,
    slide_weight: float = 1.0,
) -> Solution:
    """Return the pose of least bend from rest for each target, the tip on it.

    The least sum of (angle_i - rest_i)^2 / w_i, w the chain's weights; a joint of weight 0 stays at rest.
    With a root that turns freely (root_weight None) only the target's distance decides about the shape:
    the chain's family of such poses, from stretched to closed, is found once and kept (family.py). A
    root_weight counts the root's turn like the others'. Of the chain's own weight of the root only 0 counts:
    it stays at rest. Nothing depends on other targets, nor on their order: exactly, but one target within
    limits, alone, is solved in plain numbers, several times as fast, with the angles that it has among others
    to 1e-12. From one target to the next the least pose may jump where bones slide, limits stop or the
    root's turn counts; `solve_even_path` goes on.
    Where bones slide, the sum has (slide_i / reach)^2 / slide_weight as well, reach the outer one: with 1, a
    slide of one reach counts as a turn of one radian, with more, bones slide more willingly.

    target: (..., 2) relative to the root. bend: +1 or -1 (...): the side that a straight rest bends to;
    +1 is the side of a bent rest, -1 the other. rest: (n,) angles of the pose from
    which bend is counted; None: straight. (The `start` of `solve_ccd` is another: a pose to begin with.)
    tolerance: a length; None: a millionth of the reach. softness: 0..1 (...), see softness.py.
    A target off the annulus gets the nearest pose, TOO_FAR or TOO_CLOSE. Within limits it is the pose of
    least bend that they allow (`core/within_limits`). Where none reaches the target it is CCD's: LIMITED is a
    target that it proves to be out of reach of the limits and the joints of weight 0, STALLED one that it
    misses without. EASED is a target that softness leaves the tip behind.
    Raises IK2DError for other shapes and numbers.

    >>> np.degrees(solve_even(Chain([1.0, 1.0, 1.0]), [2.0, 0.0]).angles).round(1)
    array([-60.,  60.,  60.])
    """
    checked_chain(chain)
    settings = bend, softness, slide_weight
    if root_weight is None and _are_plain(settings):
        found = _one_within(chain, target, float(bend), rest, tolerance)  # type: ignore[arg-type]
        if found is not None:
            return found
    return even.solve_even(
        chain,
        target,
        bend=bend,
        rest=rest,
        root_weight=root_weight,
        tolerance=tolerance,
        softness=softness,
        slide_weight=slide_weight,
    )


def _are_plain(settings: tuple[object, ...]) -> bool:
    """Return whether bend, softness and slide_weight are those of a call without them, or of the other side.

    Their types are looked at first: an array is no truth value, and True no side.
    """
    return tuple(map(type, settings)) == (int, float, float) and settings in PLAIN


def _one_within(
    chain: Chain, target: ArrayLike, bend: float, rest: ArrayLike | None, tolerance: float | None
) -> Solution | None:
    """Return the pose within limits for one target (2,); None where only the arrays' solvers will do.

    The arrays take ten times as long for one. A free chain's pose is a formula there.
    """
    if not chain.is_limited or chain.is_sliding or not 3 <= len(chain) <= MANY_BONES:
        return None
    targets, limit = checked_targets(target), chain.tolerance_or_default(tolerance)
    start = np.zeros(len(chain)) if rest is None else checked_angles(chain, rest, "rest")
    if targets.ndim != 1 or start.ndim != 1:
        return None
    weights = b"" if chain.weights is None else chain.weights.tobytes()
    solver = _kept(chain.lengths.tobytes(), chain.ranges.tobytes(), weights, start.tobytes(), limit)
    x, y = targets.tolist()
    answer = None if solver is None else solver.solve(x, y, bend)
    if solver is None or answer is None:
        return None
    angles = start + answer.turns
    tip_x, tip_y = solver.bones.ideal_tip(angles.tolist())
    residual = hypot(tip_x - x, tip_y - y)
    if answer.status == Status.REACHED and residual > limit:
        return None
    return Solution.of_rows(chain, (), angles, np.array(answer.status, np.int8), np.array(residual))


@lru_cache(maxsize=KEPT)
def _kept(lengths: bytes, limits: bytes, weights: bytes, rest: bytes, tolerance: float) -> PlainSolver | None:
    """Return the solver of one target for the numbers of a chain; None where only the arrays' will do."""
    chain = Chain(
        np.frombuffer(lengths),
        np.frombuffer(limits).reshape(-1, 2),
        np.frombuffer(weights) if weights else None,
    )
    return plain_solver(chain, np.frombuffer(rest), even=True, tolerance=tolerance)
