# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain whose tip has an angle, as the solvers of this room see it: its reach is 1, no joint is rigid.

A joint of weight 0 has a range of nothing instead, at its angle in rest.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..chain import Chain, joints_at, within_limits
from ..inputs import Floats, wrapped

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

    @classmethod
    def of(cls, chain: Chain, rest: Floats) -> "Arm":
        """Return a chain of reach 1 with its rigid joints as ranges of nothing."""
        ranges, weights = chain.ranges.copy(), np.ones(len(chain))
        if chain.weights is not None:
            weights = chain.weights
            held = np.clip(rest, *ranges.T)
            ranges[weights == 0.0] = held[weights == 0.0, np.newaxis]
        return cls(Chain(chain.lengths / chain.reach[1], ranges, weights), rest)

    def __len__(self) -> int:
        return len(self.chain)

    @property
    def root_turns(self) -> bool:
        """Whether the first joint turns all the way round."""
        low, high = self.chain.ranges[0]
        return bool(high - low >= TURN)

    @property
    def own_side(self) -> float:
        """The side (+1 or -1) that the joints between root and last bone bend to at rest; +1 on a line."""
        bent = float(wrapped(self.rest[1:-1] if len(self) > 2 else self.rest[1:]).sum())
        return -1.0 if bent < -1e-4 else 1.0

    def without_root(self) -> "Arm":
        """Return the arm from the second joint on."""
        ranges, weights = self.chain.ranges, self.chain.weights
        assert weights is not None
        return replace(self, chain=Chain(self.chain.lengths[1:], ranges[1:], weights[1:]), rest=self.rest[1:])

    def within(self, poses: Floats) -> Floats:
        """Return poses (m, n) as numbers within the limits, near rest."""
        return within_limits(self.chain, poses, np.broadcast_to(self.rest, poses.shape))

    def misses(self, poses: Floats, points: Floats) -> Floats:
        """Return the distances (m,) of the tips of poses (m, n) from points (m, 2)."""
        off = joints_at(self.chain, poses)[:, -1] - points
        return np.hypot(off[:, 0], off[:, 1])

    def bend(self, poses: Floats) -> Floats:
        """Return the bend (m,) of poses (m, n): turns squared over weights, without the root's."""
        assert self.chain.weights is not None
        costs = np.where(self.chain.weights > 0.0, 1.0 / np.maximum(self.chain.weights, 1e-300), 0.0)
        bend: Floats = ((poses - self.rest)[:, 1:] ** 2 * costs[1:]).sum(axis=1)
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
