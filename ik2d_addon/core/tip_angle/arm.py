# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain whose tip has an angle, as the solvers of this room see it: its reach is 1, no joint is rigid.

A joint of weight 0 has a range of nothing instead, at its angle in rest.
"""

from dataclasses import dataclass

import numpy as np

from ..chain import Chain, joints_at, within_limits
from ..inputs import Floats, wrapped
from ..region import Region, reachable

TURN = 2.0 * np.pi
# A tip or a root no farther off (reach is 1), or a heading (radians), is where it is to be.
ON_TARGET = 1e-9
# Poses are as good as one another if their distances or headings differ by less.
ALIKE = 1e-9


@dataclass(frozen=True, eq=False)
class Arm:
    """The last bones of a chain, from a joint on that does not move.

    chain: with limits. A joint whose range is a single angle has a weight too, which nothing reads.
    """

    chain: Chain
    rest: Floats  # (n,) radians
    free_root: bool = True  # whether the root's turn costs nothing

    @classmethod
    def of(cls, chain: Chain, rest: Floats, root_weight: float | None = None) -> "Arm":
        """Return a chain of reach 1 with its rigid joints as ranges of nothing.

        root_weight: of the root's turn in the bend; None where that costs nothing.
        """
        ranges = chain.ranges.copy()
        weights = np.ones(len(chain)) if chain.weights is None else chain.weights
        if root_weight is not None and weights[0] > 0.0:
            weights = np.append(root_weight, weights[1:])
        held = np.clip(rest, *ranges.T)
        ranges[weights == 0.0] = held[weights == 0.0, np.newaxis]
        return cls(Chain(chain.lengths / chain.reach[1], ranges, weights), rest, root_weight is None)

    def __len__(self) -> int:
        return len(self.chain)

    @property
    def root_turns(self) -> bool:
        """Whether the first joint turns all the way round."""
        low, high = self.chain.ranges[0]
        return bool(high - low >= TURN)

    @property
    def region(self) -> Region:
        """The points that the tip may be at, at any heading."""
        return reachable(Chain(self.chain.lengths, self.chain.ranges))

    @property
    def own_side(self) -> float:
        """The side (+1 or -1) that the joints between root and last bone bend to at rest; +1 on a line."""
        bent = float(wrapped(self.rest[1:-1] if len(self) > 2 else self.rest[1:]).sum())
        return -1.0 if bent < -1e-4 else 1.0

    def within(self, poses: Floats) -> Floats:
        """Return poses (m, n) as numbers within the limits, near rest."""
        return within_limits(self.chain, poses, np.broadcast_to(self.rest, poses.shape))

    def misses(self, poses: Floats, points: Floats) -> Floats:
        """Return the distances (m,) of the tips of poses (m, n) from points (m, 2)."""
        off = joints_at(self.chain, poses)[:, -1] - points
        return np.hypot(off[:, 0], off[:, 1])

    def bend(self, poses: Floats) -> Floats:
        """Return the bend (m,) of poses (m, n): turns squared over weights, without a free root's."""
        assert self.chain.weights is not None
        costs = np.where(self.chain.weights > 0.0, 1.0 / np.maximum(self.chain.weights, 1e-300), 0.0)
        first = int(self.free_root)
        bend: Floats = ((poses - self.rest)[:, first:] ** 2 * costs[first:]).sum(axis=1)
        return bend


def headings_off(poses: Floats, wanted: Floats) -> Floats:
    """Return the angles (m,), 0 to pi, of the last bones of poses (m, n) from wanted headings (m,)."""
    return np.abs(wrapped(poses.sum(axis=1) - wanted))


def unit(angles: Floats) -> Floats:
    """Return the unit vectors (..., 2) in some directions (...)."""
    return np.stack((np.cos(angles), np.sin(angles)), axis=-1)


def direction(points: Floats) -> Floats:
    """Return the directions (...) of points (..., 2)."""
    angles: Floats = np.arctan2(points[..., 1], points[..., 0])
    return angles
