# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain that is solved for one target at a time, by the formulas and families of the arrays' solvers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite

import numpy as np

from ..chain import FAR, Chain
from ..even.joined import Joined, joined
from ..even.search import family_of
from ..even.single import SingleFamily
from ..inputs import Floats
from ..softness import soft_targets
from ..solution import Status
from ..two_bone import HUGE, ZERO_LENGTH
from .bones import Bones, Link, links_of
from .even import EvenPose
from .two_bone import TwoBonePose

# Lengths (as parts of the reach) and angles that differ by less are the same: those of one straight chain,
# seen in two planes through it.
_ALIKE = 1e-5


@dataclass(frozen=True, slots=True)
class PlainAnswer:
    """The solution for one target. Lengths are in the chain's units."""

    turns: list[float]  # (n,) radians from the unturned angles
    status: int  # Status
    residual: float  # tip to target
    softened: bool = False


class PlainSolver:
    """A chain whose bones turn from given angles, asked for one target at a time."""

    def __init__(self, bones: Bones, part: Joined | None) -> None:
        """Keep the bones. part: the joints that share the bend; None for two bones."""
        self.bones = bones
        self._part = part
        self._limits = [
            (i, *limits) for i, limits in enumerate(bones.chain.ranges.tolist()) if limits != [-inf, inf]
        ]
        self._poses: dict[float, TwoBonePose | EvenPose] = {}
        self._families: dict[float, SingleFamily] = {}

    def solve(self, x: float, y: float, bend: float = 1.0, softness: float = 0.0) -> PlainAnswer | None:
        """Return the answer for a target from the chain's root; None where the arrays' solver has to do it.

        bend: +1 or -1. None too where a joint would leave its limits, or the target is not finite or FAR.
        """
        bones = self.bones
        distance = hypot(x, y)
        if not (isfinite(distance) and distance < FAR * bones.outer and abs(bend) == 1.0):
            return None
        status = self._status(distance)
        aim_x, aim_y = x, y
        if softness > 0.0:
            aim_x, aim_y = soft_targets(bones.chain, np.array((x, y)), np.array(softness)).tolist()
        turns = self._pose(bend).turns(aim_x, aim_y, reached=status == Status.REACHED)
        if turns is None or not self._within(turns):
            return None
        if softness > 0.0:
            tip_x, tip_y = bones.tip(turns)
            residual = hypot(x - tip_x, y - tip_y)
            if status == Status.REACHED and residual > bones.tolerance:
                status = int(Status.EASED)
            return PlainAnswer(turns, status, residual, True)
        return PlainAnswer(turns, status, max(distance - bones.outer, bones.inner - distance, 0.0))

    def share_families(self, other: "PlainSolver") -> None:
        """Take the families of poses of another chain that has the same lengths and rest."""
        own, others = self.bones, other.bones
        lengths = np.abs(np.subtract(own.lengths, others.lengths)).max()
        angles = np.abs(np.subtract(own.unturned[1:], others.unturned[1:])).max()
        if max(lengths, angles * own.outer) <= _ALIKE * own.outer:
            self._families = other._families

    def _status(self, distance: float) -> int:
        bones = self.bones
        if distance > bones.outer + bones.tolerance:
            return int(Status.TOO_FAR)
        return int(Status.TOO_CLOSE if distance < bones.inner - bones.tolerance else Status.REACHED)

    def _within(self, turns: list[float]) -> bool:
        """Whether all joints are within their limits, by the numbers nearest to rest."""
        unturned = self.bones.unturned
        return all(low <= turns[i] + unturned[i] <= high for i, low, high in self._limits)

    def _pose(self, bend: float) -> TwoBonePose | EvenPose:
        if bend not in self._poses:
            if self._part is None:
                self._poses[bend] = TwoBonePose(self.bones, bend)
            else:
                family = self._families.get(bend) or SingleFamily(family_of(self._part, bend))
                self._families[bend] = family
                self._poses[bend] = EvenPose(self.bones, self._part, family)
        return self._poses[bend]


def plain_solver(
    chain: Chain,
    unturned: Floats,
    *,
    even: bool = False,
    links: Sequence[Link] | None = None,
    tolerance: float | None = None,
) -> PlainSolver | None:
    """Return a solver of a chain for one target at a time; None where only the arrays' solvers will do.

    unturned: (n,) the angles from which the bones turn, the rest pose. even: by least bend with a root that
    turns freely, as `solve_even` does; else of two bones, as `solve_two_bone` does. links: how the bones are
    held, where a rig's rest matrices are not quite rotations. tolerance: a length, None for the chain's
    default.
    """
    weights = np.ones(len(chain)) if chain.weights is None else chain.weights
    if len(chain) < 2 or chain.is_sliding or not 1.0 / HUGE < chain.reach[1] < HUGE:
        return None
    part = None
    if even:
        part = joined(chain.lengths / chain.reach[1], weights[1:], unturned[1:])
        # Joints that stay at rest, by their weights or their places, have no share in the family.
        if weights[0] == 0.0 or part.rest.size == 0 or part.root or abs(part.reach - 1.0) > 1e-12:
            return None
    elif len(chain) != 2 or (weights == 0.0).any() or chain.lengths.min() <= ZERO_LENGTH * chain.reach[1]:
        return None
    if len(chain) == 2:
        part = None
    held = links_of(chain, unturned) if links is None else links
    return PlainSolver(Bones(chain, unturned, held, chain.tolerance_or_default(tolerance)), part)
