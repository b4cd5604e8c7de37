# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain that is solved for one target at a time, by the formulas and families of the arrays' solvers."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite, remainder

import numpy as np

from ..arithmetic import FLOATS
from ..chain import FAR, Chain
from ..even.family import Family
from ..even.search import family_of
from ..even.single import SingleFamily
from ..even.solve import MANY_BONES, NO_LENGTH, springs_within
from ..inputs import Floats
from ..softness import softened_within
from ..solution import Status
from ..two_bone import HUGE, ZERO_LENGTH
from ..within_limits.sheet import Sheet, Tables, rounded, tables_of
from ..within_limits.springs import springs_of
from .bones import TURN, Link, PlainBones, links_of
from .even import EvenPose, EvenWithin
from .limited import AimWithin, PairWithin
from .two_bone import OneBonePose, TwoBonePose

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
    factors: list[float] | None = None  # (n,) of the bones' lengths; None where they keep these


class PlainSolver:
    """A chain whose bones turn from given angles, asked for one target at a time."""

    def __init__(self, bones: PlainBones, weights: Floats | None, even: bool) -> None:
        """Keep the bones. weights: (n - 1,) of the joints that share the bend; None for two bones."""
        self.bones = bones
        self._weights, self._even = weights, even
        self._limits = [
            (i, *limits) for i, limits in enumerate(bones.chain.ranges.tolist()) if limits != [-inf, inf]
        ]
        held = {i for i, _, _ in self._limits}
        self._held = [i in held for i in range(len(bones.lengths))]
        self._poses: dict[float, OneBonePose | EvenPose] = {}
        self._limited: dict[float, AimWithin | EvenWithin] = {}
        self._sheets: list[Tables] = []  # one, once it is asked for
        self._families: dict[float, SingleFamily] = {}

    def solve(self, x: float, y: float, bend: float = 1.0, softness: float = 0.0) -> PlainAnswer | None:
        """Return the answer for a target from the chain's root; None where the arrays' solver has to do it.

        bend: +1 or -1. None too where the target is not finite or FAR.
        """
        bones = self.bones
        distance = hypot(x, y)
        if not (isfinite(distance) and distance < FAR * bones.outer and abs(bend) == 1.0):
            return None
        status = bones.status(distance, bones.inner, bones.outer)
        if softness <= 0.0:
            return self._posed(x, y, bend, status)
        if self._limits:
            exact = self._posed(x, y, bend, status)
            if exact is None:
                return None
            status = exact.status
        nearer = softened_within(bones.inner, bones.outer, distance, softness, FLOATS) / (distance or 1.0)
        eased = self._posed(x * nearer, y * nearer, bend, status, judged=True)
        if eased is None:
            return None
        tip_x, tip_y = bones.tip(eased.turns)
        residual = hypot(x - tip_x, y - tip_y)
        if status == Status.REACHED and residual > bones.tolerance:
            status = int(Status.EASED)
        return PlainAnswer(eased.turns, status, residual, True)

    def share_families(self, other: "PlainSolver") -> None:
        """Take the families and tables of poses of the same chain in another plane, its limits alike."""
        bones, others = self.bones, other.bones
        lengths = np.abs(np.subtract(bones.lengths, others.lengths)).max()
        angles = np.abs(np.subtract(bones.unturned[1:], others.unturned[1:])).max(initial=0.0)
        if max(lengths, angles * bones.outer) <= _ALIKE * bones.outer:
            self._families, self._sheets = other._families, other._sheets

    def _posed(
        self, x: float, y: float, bend: float, status: int, judged: bool = False
    ) -> PlainAnswer | None:
        """Return the answer for a target without softness. judged: its status says already if limits stop it.

        A pose that the limits do not ask about is taken as it is.
        """
        bones = self.bones
        turns = self.pose(bend).turns(x, y, reached=status == Status.REACHED)
        if turns is not None and (not self._limits or self._within(turns)):
            distance = hypot(x, y)
            return PlainAnswer(turns, status, max(distance - bones.outer, bones.inner - distance, 0.0))
        limited = self._limited_pose(bend)
        limited_pose = None if limited is None else limited.found(x, y)
        if limited_pose is None:
            return None
        angles, again = limited_pose
        tip_x, tip_y = bones.ideal_tip(angles)
        residual = hypot(x - tip_x, y - tip_y)
        if status == Status.REACHED and residual > bones.tolerance and not judged:
            status = int(Status.LIMITED)
        turns = self._from_unturned(angles)
        if status == Status.REACHED:
            turns = bones.aimed(turns, tip_x, tip_y, lambda x, y: self._from_unturned(again(x, y)))
        return PlainAnswer(turns, status, residual)

    def _from_unturned(self, angles: list[float]) -> list[float]:
        """Return the turns (n,) to angles; of a joint without limits the shorter way round."""
        turns = [angle - start for angle, start in zip(angles, self.bones.unturned, strict=True)]
        return [turn if held else remainder(turn, TURN) for turn, held in zip(turns, self._held, strict=True)]

    def _within(self, turns: list[float]) -> bool:
        """Whether all joints are within their limits, by the numbers nearest to rest."""
        unturned = self.bones.unturned
        return all(low <= turns[i] + unturned[i] <= high for i, low, high in self._limits)

    def pose(self, bend: float) -> OneBonePose | EvenPose:
        """Return the solver without limits, bent to a side."""
        if bend not in self._poses:
            if self._weights is not None:
                family = self._families.get(bend) or SingleFamily(self._family(self._weights, bend))
                self._families[bend] = family
                self._poses[bend] = EvenPose(self.bones, family)
            elif len(self.bones.lengths) == 1:
                self._poses[bend] = OneBonePose(self.bones)
            else:
                self._poses[bend] = TwoBonePose(self.bones, bend)
        return self._poses[bend]

    def _family(self, weights: Floats, bend: float) -> Family:
        chain, rest = self.bones.chain, np.array(self.bones.unturned[1:])
        return family_of(chain.lengths / chain.reach[1], weights, rest, bend)

    def _limited_pose(self, bend: float) -> AimWithin | EvenWithin | None:
        """Return the solver within limits; None where there are none, or the arrays have to do it."""
        n = len(self.bones.lengths)
        if not self._limits or n > MANY_BONES or (self._even and n == 2):
            return None
        if bend not in self._limited:
            pose = self.pose(bend)
            if isinstance(pose, EvenPose):
                self._limited[bend] = EvenWithin(pose, self._sheet(), bend)
            else:
                self._limited[bend] = AimWithin(self.bones) if n == 1 else PairWithin(self.bones, bend)
        return self._limited[bend]

    def _sheet(self) -> Sheet:
        """Return the sheet of poses within limits, with the tables that chains share."""
        numbers, slide_weight = springs_within(self.bones.chain, np.array(self.bones.unturned))
        if not self._sheets:
            self._sheets.append(tables_of(numbers, True, slide_weight))
        return Sheet(self._sheets[0], springs_of(rounded(numbers), True, slide_weight))


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
    n, outer = len(chain), chain.reach[1]
    if chain.is_sliding or not 1.0 / HUGE < outer < HUGE:
        return None
    if n == 1:
        low, high = chain.ranges[0].tolist()
        if not even or weights[0] == 0.0 or low == high:
            return None
    elif even:
        if (weights == 0.0).any() or chain.lengths.min() <= NO_LENGTH * outer:
            return None
    elif n != 2 or (weights == 0.0).any() or chain.lengths.min() <= ZERO_LENGTH * outer:
        return None
    held = links_of(chain, unturned) if links is None else links
    bones = PlainBones(chain, unturned, held, chain.tolerance_or_default(tolerance))
    return PlainSolver(bones, weights[1:] if n > 2 else None, even)
