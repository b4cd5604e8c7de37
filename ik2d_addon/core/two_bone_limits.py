# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bones whose joints have limits: the nearest pose, exactly."""

import numpy as np
from numpy.typing import NDArray

from .arithmetic import ARRAYS
from .chain import Chain
from .inputs import Floats
from .limits import within_limits
from .shapes import two_bone_pose
from .solution import Status, annulus_status, distances_to

# Two poses whose tips are as near, but for so many reaches, are equally good: then the bend side decides.
EQUALLY_NEAR = 1e-12

# Angles (m, n), status (m,) and residual (m,) for m targets.
Answer = tuple[Floats, NDArray[np.int8], Floats]


def solve_within_limits(
    chain: Chain, targets: Floats, sides: Floats, kept: Floats, tolerance: float
) -> Answer:
    """Return the poses nearest to targets (m, 2) on the sides (m,); of equal angles, those near `kept`.

    Where the pose that is nearest of all lies, it is one of six; each of them, put within the limits,
    is a pose the chain can take, so the best of them is the answer:
    - inside both ranges: the two bend sides of the chain without limits (this is also where the target
      is off the annulus, and the nearest pose is straight or folded);
    - on the edge where angle2 stands at a limit: the chain is one rigid arm, and aims at the target;
    - on the edge where angle1 stands at a limit: the second bone aims at the target.
    An aim is best where it points, and gets worse all the way round to the opposite: so a blocked one
    stops at the limit that is nearer to it, and the corners need no thought of their own.
    """
    angles = np.empty((len(targets), 2))
    for side in (1.0, -1.0):
        rows = np.flatnonzero(sides == side)
        if rows.size:
            angles[rows] = _nearest(chain, targets[rows], side, kept[rows])
    residual = distances_to(chain, angles, targets)
    status = annulus_status(chain, targets, tolerance)
    status[(status == Status.REACHED) & (residual > tolerance)] = Status.LIMITED
    return angles, status, residual


def _nearest(chain: Chain, targets: Floats, side: float, kept: Floats) -> Floats:
    """Return the best candidate (m, 2) for each target; of equally good ones the first."""
    best, least = kept, np.full(len(targets), np.inf)
    for candidate in _candidates(chain, targets, side):
        pose = within_limits(chain, candidate, kept)
        distance = distances_to(chain, pose, targets)
        better = distance < least - EQUALLY_NEAR * chain.reach[1]
        best, least = np.where(better[:, np.newaxis], pose, best), np.where(better, distance, least)
    return best


def _candidates(chain: Chain, targets: Floats, side: float) -> list[Floats]:
    """Return poses (m, 2), those on the side asked for first, before the limits are applied to them."""
    outer = chain.reach[1] or 1.0
    (d1, d2), (x, y) = (chain.lengths / outer).tolist(), targets.T / outer
    direction = np.arctan2(y, x)
    found = [np.stack(two_bone_pose(d1, d2, x, y, bend, ARRAYS), axis=-1) for bend in (side, -side)]
    limits = (np.full((2, 2), np.nan) if chain.limits is None else chain.limits).tolist()
    for angle2 in sorted(limits[1], key=lambda limit: -side * limit):
        if np.isfinite(angle2):
            arm = np.arctan2(d2 * np.sin(angle2), d1 + d2 * np.cos(angle2))
            found.append(np.stack([direction - arm, np.full_like(x, angle2)], axis=-1))
    for angle1 in limits[0]:
        if np.isfinite(angle1):
            aim = np.arctan2(y - d1 * np.sin(angle1), x - d1 * np.cos(angle1))
            found.append(np.stack([np.full_like(x, angle1), aim - angle1], axis=-1))
    return found
