# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs that no pose has both tip and heading: some joint would have to be where the bones cannot bring it.

The root, seen from the wrist, is the tip of the reversed chain: exact where the root turns freely. With
limits on the root, the wrist is not in reach of the bones before the last one; or nowhere on the arc that
the first bone's end can be on do the bones from there on meet the last one.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..chain import Chain
from ..inputs import Floats
from ..region import Region, reachable
from .arm import TURN, Arm, unit
from .backwards import Backwards

# Places on the arc of the first bone's end.
PLACES = 64


@dataclass(frozen=True, eq=False)
class Proofs:
    """An arm's tests of positions."""

    arm: Arm
    backwards: Backwards

    @property
    def _root_is_limited(self) -> bool:
        return not self.arm.root_turns

    @cached_property
    def _wrists(self) -> Region:
        """The points that the wrist may be at."""
        chain = self.arm.chain
        return reachable(Chain(chain.lengths[:-1], chain.ranges[:-1]))

    @cached_property
    def _without_first(self) -> Region:
        """The points that the first bone's end may be at, seen from the wrist."""
        chain = self.backwards.chain
        return reachable(Chain(chain.lengths[:-1], chain.ranges[:-1]))

    def forbidden(self, points: Floats, headings: Floats) -> NDArray[np.bool_]:
        """Return for which points (m, 2) and headings (m,) it is proven that no pose has both."""
        goals = self.backwards.goals(points, headings)
        forbidden = ~self.backwards.region.contains(goals)
        if self._root_is_limited:
            wrists = points - self.arm.chain.lengths[-1] * unit(headings)
            left = np.flatnonzero(~forbidden)
            forbidden[left] = ~self._wrists.contains(wrists[left])
        return forbidden

    def forbidden_by_arc(self, point: Floats, heading: float) -> bool:
        """Return whether the first bone's end is nowhere on its arc where the other bones could meet it.

        It is so far off at some places that it cannot come there between them. point: (2,). Of no account
        where the root turns all the way round.
        """
        if not self._root_is_limited:
            return False
        low, high = self.arm.chain.ranges[0]
        low = max(low, high - TURN) if np.isfinite(high) else low
        high = min(high, low + TURN)
        length = float(self.arm.chain.lengths[0])
        spacing = (high - low) / (PLACES - 1) * length
        ends = length * unit(np.linspace(low, high, PLACES))
        seen = self.backwards.goals(point - ends, np.full(PLACES, heading))
        return bool(self._without_first.nearest(seen)[1].min() > 0.5 * spacing + 1e-9)
