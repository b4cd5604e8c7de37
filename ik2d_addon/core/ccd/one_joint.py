# SPDX-License-Identifier: GPL-3.0-or-later
"""One joint of plain CCD alone, to look at what each of them does."""

from dataclasses import replace
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from ..chain import Chain, checked_angles, checked_targets, in_reaches
from ..errors import IK2DError
from ..inputs import Floats, wrapped
from .sweep import Bones, sweep


def ccd_joint(chain: Chain, angles: ArrayLike, target: ArrayLike, joint: int) -> Floats:
    """Turn one joint so that the tip comes as near to the target as this joint can bring it.

    It turns as in `ccd_step`: by its weight, as far as its limits. angles: (n,); target: (2,) relative
    to the root; joint: 0 for the root to n - 1. Returns the new angles (n,), that of the joint wrapped to
    [-pi, pi] if it turned and is free. Raises IK2DError for other shapes and numbers.
    """
    start, point = checked_angles(chain, angles), checked_targets(target)
    if start.ndim != 1 or point.ndim != 1:
        raise IK2DError("ccd_joint takes the angles of one chain and one target")
    if not 0 <= index(joint) < len(chain):
        raise IK2DError(f"the chain has joints 0 to {len(chain) - 1}, not {joint}")
    x, y = in_reaches(chain, point).tolist()
    bones, held = Bones.of(chain), [i != joint for i in range(len(chain))]
    alone = replace(
        bones,
        weights=[0.0 if other else weight for other, weight in zip(held, bones.weights, strict=True)],
        low=[-np.inf if other else low for other, low in zip(held, bones.low, strict=True)],
        high=[np.inf if other else high for other, high in zip(held, bones.high, strict=True)],
    )
    new = np.array(sweep(alone, start.tolist(), x, y))
    if new[joint] != start[joint] and np.isinf(chain.ranges[joint]).all():
        new[joint] = wrapped(new[joint])
    return new
