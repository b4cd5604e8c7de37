# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain of its turning joints alone: pinned joints and bones of no length are joined away.

The bones on both sides of a pinned joint are one bone, from joint to joint. Joints in one place, with
bones of no length between them, are one joint: of a turn from rest each takes its part by its weight,
which is the least bend; so their weights add up. The answer goes back as

    angle = rest + part (joined angle - joined rest)
"""

from dataclasses import dataclass
from functools import lru_cache
from math import fsum

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats, wrapped

# A bone no longer than this part of the reach counts as one of zero length.
NO_LENGTH = 1e-12
# The least weight of a joint, as a part of the greatest: where the others cannot reach a target alone, it
# still turns.
LEAST_WEIGHT = 1e-6
# Joined chains kept.
KEPT = 256


@dataclass(frozen=True, eq=False)
class Joined:
    """A chain of k bones without pinned joints and bones of no length; its reach is 1."""

    lengths: Floats  # (k,) that add up to 1
    weights: Floats  # (k - 1,) of the inner joints, the greatest is 1
    rest: Floats  # (k - 1,) angles, wrapped
    reach: float  # of this chain, in units of the whole one's; zero where nothing has a length
    root: float  # direction of the first joined bone from that of the whole chain's first bone, at rest
    whole_rest: Floats  # (n - 1,) the whole chain's inner angles at rest
    joint: NDArray[np.intp]  # (n - 1,) which joined joint an inner joint of the whole chain belongs to
    part: Floats  # (n - 1,) its part of that joint's turn; zero for one that stays at rest

    @property
    def inner(self) -> float:
        """The inner reach, the outer one being 1."""
        return max(0.0, 2.0 * float(self.lengths.max(initial=0.0)) - 1.0)

    def whole_angles(self, angles: Floats) -> Floats:
        """Return the whole chain's inner angles (..., n - 1) for those of the joined one (..., k - 1)."""
        if self.rest.size == 0:
            return np.broadcast_to(self.whole_rest, (*angles.shape[:-1], self.whole_rest.size))
        turns: Floats = self.part * (angles - self.rest)[..., self.joint]
        return self.whole_rest + turns


def joined(lengths: Floats, weights: Floats, rest: Floats) -> Joined:
    """Return a chain joined. lengths: (n,), reach 1; weights, rest: (n - 1,) of the inner joints."""
    return _kept(lengths.tobytes(), weights.tobytes(), rest.tobytes())


@lru_cache(maxsize=KEPT)
def _kept(*parts: bytes) -> Joined:
    lengths, weights, rest = (np.frombuffer(part) for part in parts)
    ends, directions = rigid_bones(lengths, weights, rest)
    bones = np.hypot(*ends.T)
    solid = np.flatnonzero(bones > NO_LENGTH)
    joint, part = np.zeros(rest.size, np.intp), np.zeros(rest.size)
    turning = np.flatnonzero(weights > 0.0)  # the joint before rigid bone b + 1 is turning[b]
    sums = []
    for group, (before, after) in enumerate(zip(solid, solid[1:], strict=False)):
        own = turning[before:after]
        shares = np.maximum(weights[own] / weights.max(), LEAST_WEIGHT)
        joint[own], part[own] = group, shares / shares.sum()
        sums.append(fsum(shares))
    kept, headings = bones[solid], directions[solid]
    reach = fsum(kept)
    return Joined(
        kept / (reach or 1.0),
        np.maximum(np.array(sums) / max(sums, default=1.0), LEAST_WEIGHT),
        wrapped(np.diff(headings)),
        reach,
        float(headings[0]) if solid.size else 0.0,
        rest,
        joint,
        part,
    )


def rigid_bones(lengths: Floats, weights: Floats, rest: Floats) -> tuple[Floats, Floats]:
    """Return the vectors (b, 2) from one turning joint to the next, at rest, and their directions (b,).

    A vector of no length has the direction of its first bone.
    """
    headings = np.concatenate(([0.0], np.cumsum(rest)))
    starts = np.concatenate(([0], np.flatnonzero(weights > 0.0) + 1))
    ends = []
    directions = headings[starts].copy()
    for bone, (first, last) in enumerate(zip(starts, [*starts[1:], lengths.size], strict=True)):
        turned = headings[first:last] - headings[first]
        x, y = fsum(lengths[first:last] * np.cos(turned)), fsum(lengths[first:last] * np.sin(turned))
        ends.append((x, y))
        if last - first > 1 and np.hypot(x, y) > NO_LENGTH:
            directions[bone] += np.arctan2(y, x)
    return np.array(ends), directions
