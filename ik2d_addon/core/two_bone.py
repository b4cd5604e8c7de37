# SPDX-License-Identifier: GPL-3.0-or-later
"""The analytic two-bone solver.

After Ryan Juckett, "Analytic Two-Bone IK in 2D" (2009).
"""

import numpy as np
from numpy.typing import ArrayLike

from .chain import Chain, Floats, checked_angles, checked_targets, finite_floats, wrapped
from .errors import IK2DError
from .solution import Solution, annulus_status, distances_to

# A bone shorter than this fraction of the reach counts as one of zero length: the second
# angle then moves the tip less than float rounding does.
NO_LENGTH = 1e-12
# A target nearer to the root than this fraction of the reach counts as one at the root: below, the
# products that give its direction underflow.
AT_ROOT = 1e-100


def solve_two_bone(
    chain: Chain,
    target: ArrayLike,
    *,
    bend: ArrayLike = 1,
    start: ArrayLike | None = None,
    tolerance: float | None = None,
) -> Solution:
    """Return the pose of two bones whose tip is on the target, or as near as it gets.

    With lengths d1, d2 and h = |target|, the law of cosines in its half-angle form,

        tan^2(angle2 / 2) = ((d1 + d2)^2 - h^2) / (h^2 - (d1 - d2)^2)

    each side clamped at zero: then a target too far stretches the chain, and one too close folds it.
    It keeps full precision near both ends, where the cosine's does not. The first bone follows from

        angle1 = atan2(y a - x o, x a + y o),   a = d1 + d2 cos(angle2),   o = d2 sin(angle2)

    target: (..., 2) relative to the root. bend: +1 or -1, the sign of angle2, (...) or one for all.
    start: (..., 2) angles, such as last frame's, kept where any would do: angle2 where a bone has
    no length, angle1 for a target at the root; zeros if not given. tolerance: a length.
    A target off the annulus of reach by no more than the tolerance counts as REACHED.
    Raises IK2DError for a chain that has not two bones, a target that is not finite, another bend.
    """
    if len(chain) != 2:
        raise IK2DError(f"the two-bone solver takes chains of two bones, not {len(chain)}; use CCD")
    targets = checked_targets(target)
    sides = finite_floats(bend, "bend")
    if not (np.abs(sides) == 1.0).all():
        raise IK2DError("bend must be +1 or -1")
    kept = checked_angles(chain, np.zeros(2) if start is None else start, "start")
    angles = _angles(chain, targets, sides, kept)
    limit = chain.tolerance_or_default(tolerance)
    shape = angles.shape[:-1]
    targets = np.broadcast_to(targets, (*shape, 2))
    return Solution(
        angles=angles,
        status=annulus_status(chain, targets, limit),
        residual=distances_to(chain, angles, targets),
        iterations=np.zeros(shape, np.int32),
        limited=np.zeros((*shape, 2), np.bool_),
    )


def _angles(chain: Chain, targets: Floats, sides: Floats, kept: Floats) -> Floats:
    """Return the angles (..., 2) of all broadcast inputs."""
    first, second = (float(length) for length in chain.lengths)
    x, y = targets[..., 0], targets[..., 1]
    distance = np.hypot(x, y)
    if min(first, second) <= NO_LENGTH * (first + second):
        angle2 = np.broadcast_to(
            kept[..., 1], np.broadcast_shapes(distance.shape, sides.shape, kept.shape[:-1])
        )
    else:
        # Factored, since h^2 - (d1 - d2)^2 loses its digits where the two are near.
        beyond = (first + second - distance) * (first + second + distance)
        within = (distance - abs(first - second)) * (distance + abs(first - second))
        angle2 = sides * 2.0 * np.arctan2(np.sqrt(np.maximum(beyond, 0.0)), np.sqrt(np.maximum(within, 0.0)))
    adjacent = first + second * np.cos(angle2)
    opposite = second * np.sin(angle2)
    angle1 = np.arctan2(y * adjacent - x * opposite, x * adjacent + y * opposite)
    # At the root every direction is as good: keep the one that was.
    angle1 = np.where(distance > AT_ROOT * (first + second), angle1, wrapped(kept[..., 0]))
    return np.stack(np.broadcast_arrays(angle1, angle2), axis=-1)
