# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver Even: of all poses that reach a target, the one that bends least from rest."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..ccd.shapes import is_on_a_line, side_of
from ..ccd.solve import solve_ccd
from ..chain import (
    MOST_BONES,
    Chain,
    checked_angles,
    checked_chain,
    checked_targets,
    in_reaches,
    tips_at,
    within_limits,
    within_slides,
)
from ..errors import IK2DError
from ..inputs import SHORTEST, Floats, checked_bend, common_shape, number, wrapped
from ..softness import checked_softness, soft_targets
from ..solution import Solution, Status, annulus_status, distances_to, eased_status
from ..within_limits.descent import PATIENT, descended_one
from ..within_limits.sheet import TURN, Sheet, rotated, tables_of
from ..within_limits.springs import SpringPose, Springs, springs_of
from .search import LEAST_WEIGHT, family_of

# So many angles at a time that the arrays between the steps stay in the processor's cache.
BLOCK_ANGLES = 65536
# The least slide_weight, and one over it the greatest.
LEAST_SLIDE_WEIGHT = 1e-4
# A tip no farther from its target (reach is 1) is on it.
ON_TARGET = 1e-12
# Chains of more bones get CCD's poses where limits count.
MANY_BONES = 200
# A bone no longer than this part of the reach counts as one of zero length.
NO_LENGTH = 1e-12

# Angles (m, n) and iterations (m,).
Poses = tuple[Floats, NDArray[np.int32]]
Proven = NDArray[np.bool_]
Rows = NDArray[np.intp]


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
    """Return the poses of `core/one_target/least_bend.py`, by arrays: for all targets at once, or for one.

    Arguments and errors are those of its `solve_even`, the one that callers have.
    """
    checked_chain(chain)
    if len(chain) > MOST_BONES:
        raise IK2DError(
            f"the Even solver takes chains of up to {MOST_BONES} bones, not {len(chain)}; use Arc or CCD"
        )
    targets, sides, soft = checked_targets(target), checked_bend(bend), checked_softness(softness)
    limit = chain.tolerance_or_default(tolerance)
    shape = common_shape(target=targets.shape[:-1], bend=sides.shape, softness=soft.shape)
    points = np.ascontiguousarray(np.broadcast_to(targets, (*shape, 2))).reshape(-1, 2)
    even = Even.checked(chain, rest, root_weight, slide_weight, limit)
    side = np.broadcast_to(sides, shape).reshape(-1)
    angles, slides, iterations, proven = even.poses(points, side)
    residual, status = distances_to(even.chain, angles, points, slides), annulus_status(chain, points, limit)
    missed = (status == Status.REACHED) & (residual > limit)
    status[missed] = np.where(proven[missed], Status.LIMITED, Status.STALLED)
    if soft.any():
        softnesses = np.broadcast_to(soft, shape).reshape(-1)
        eased = soft_targets(chain, points, softnesses)
        angles, slides, iterations, _ = even.poses(eased, side)
        residual = distances_to(even.chain, angles, points, slides)
        status = eased_status(status, residual, softnesses, limit)
    return Solution.of_rows(chain, shape, angles, status, residual, iterations, slides + even.held)


@dataclass(frozen=True, eq=False)
class Even:
    """A chain, and the checked settings of its solve."""

    chain: Chain  # without slides of one value: they are a part of the bones
    held: Floats  # (n,) these slides
    rest: Floats  # (n,)
    weights: Floats  # (n - 1,) of the inner joints
    root_weight: float | None
    slide_weight: float
    tolerance: float

    @classmethod
    def checked(
        cls,
        chain: Chain,
        rest: ArrayLike | None,
        root_weight: float | None,
        slide_weight: float,
        tolerance: float,
    ) -> "Even":
        """Return the settings; raise IK2DError for numbers out of range."""
        n = len(chain)
        angles = checked_angles(chain, np.zeros(n) if rest is None else rest, "rest")
        if angles.ndim != 1:
            raise IK2DError(f"rest must be {n} angles, one a bone, not of shape {angles.shape}")
        if root_weight is None and chain.weights is not None and chain.weights[0] == 0.0:
            root_weight = 0.0
        if root_weight is not None:
            root_weight = number(root_weight, "root_weight")
            if not 0.0 <= root_weight <= 1.0:
                raise IK2DError(f"root_weight must lie in 0..1, or be None, not {root_weight}")
        willing = number(slide_weight, "slide_weight")
        if not LEAST_SLIDE_WEIGHT <= willing <= 1.0 / LEAST_SLIDE_WEIGHT:
            raise IK2DError(
                f"slide_weight must lie in {LEAST_SLIDE_WEIGHT}..{1.0 / LEAST_SLIDE_WEIGHT:g},"
                f" not {slide_weight}"
            )
        weights = np.ones(n - 1) if chain.weights is None else chain.weights[1:]
        chain, held = _without_held_slides(chain)
        if chain.is_sliding:  # beside slides, any less leaves no digits
            weights = np.where(weights > 0.0, np.maximum(weights, LEAST_WEIGHT), 0.0)
        return cls(chain, held, angles, weights, root_weight, willing, tolerance)

    @property
    def is_on_sheet(self) -> bool:
        """Whether limits make it a chain of springs with stops, see within_limits/."""
        n = len(self.chain)
        return self.is_by_sheet and n <= MANY_BONES or self.chain.is_limited and 3 <= n <= MANY_BONES

    @property
    def is_by_sheet(self) -> bool:
        """Whether only the sheet has such poses: slides or the root's turn count, or there is no family."""
        return self.chain.is_sliding or self.root_weight is not None or not self.has_family

    @property
    def has_family(self) -> bool:
        """Whether every inner joint turns, about a place of its own."""
        shortest = NO_LENGTH * self.chain.reach[1]
        return bool((self.weights > 0.0).all() and (self.chain.lengths > shortest).all())

    @property
    def is_pinned(self) -> bool:
        """Whether any joint does not turn."""
        return self.root_weight == 0.0 or bool((self.weights == 0.0).any())

    def poses(self, points: Floats, sides: Floats) -> tuple[Floats, Floats, NDArray[np.int32], Proven]:
        """Return the poses for points (m, 2), on the sides (m,), and which points are proven out of reach.

        Slides of one value are not among the slides.
        """
        n = len(self.chain)
        slides, iterations = np.zeros((len(points), n)), np.zeros(len(points), np.int32)
        proven = np.zeros(len(points), np.bool_)
        if self.chain.reach[1] == 0.0:
            unmoved = np.tile(self.rest, (len(points), 1))
            return within_limits(self.chain, unmoved, unmoved), slides, iterations, ~proven
        if self.root_weight:  # from the poses of a free root
            angles, slides, iterations, _ = replace(self, root_weight=None).poses(points, sides)
        elif self.is_by_sheet:
            angles = np.tile(self.rest, (len(points), 1))
            slides = within_slides(self.chain, slides)
        else:
            angles = np.empty((len(points), n))
            unit, lengths = in_reaches(self.chain, points), self.chain.lengths / self.chain.reach[1]
            block = max(1, BLOCK_ANGLES // n)
            for side in (1.0, -1.0):
                on_side = np.flatnonzero(sides == side)
                for first in range(0, on_side.size, block):
                    rows = on_side[first : first + block]
                    angles[rows], iterations[rows] = _free(lengths, self.weights, self.rest, unit[rows], side)
        if self.is_by_sheet or self.chain.is_limited or self.is_pinned:
            proven = self._limit(angles, slides, iterations, points, sides)
        return angles, slides, iterations, proven

    def _limit(
        self, angles: Floats, slides: Floats, iterations: NDArray[np.int32], points: Floats, sides: Floats
    ) -> Proven:
        """Put poses (m, n) within the limits; solve again where that moves the tip, or where they miss.

        Returns a mask (m,) of the points that are proven to be out of reach.
        """
        within = within_limits(self.chain, angles, np.broadcast_to(self.rest, angles.shape))
        before = distances_to(self.chain, angles, points, slides)
        missed = distances_to(self.chain, within, points, slides) > before + 0.5 * self.tolerance
        inside = annulus_status(self.chain, points, self.tolerance) == Status.REACHED
        missed |= inside & (before > self.tolerance) | self.is_by_sheet
        angles[:] = within
        proven = np.zeros(len(points), np.bool_)

        def corrected(rows: Rows) -> NDArray[np.bool_]:
            """Put CCD's poses into rows, and return which reach their points."""
            root = 1.0 if self.root_weight is None else self.root_weight
            held = solve_ccd(
                replace(self.chain, weights=np.append(root, self.weights)),
                points[rows],
                start=within[rows],
                start_slides=slides[rows],
                tolerance=self.tolerance,
                bend=sides[rows],
            )
            angles[rows], slides[rows] = held.angles, held.slides
            iterations[rows] += held.iterations
            proven[rows] = held.status == Status.LIMITED
            reached: NDArray[np.bool_] = held.status == Status.REACHED
            return reached

        rows = np.flatnonzero(missed)
        if self.is_on_sheet and inside[rows].any():
            self._least(angles, slides, iterations, points, sides, np.flatnonzero(missed & inside), corrected)
            rows = np.flatnonzero(missed & ~inside)
        if rows.size:
            corrected(rows)
        return proven

    def _least(
        self,
        angles: Floats,
        slides: Floats,
        iterations: NDArray[np.int32],
        points: Floats,
        sides: Floats,
        rows: Rows,
        corrected: Callable[[Rows], NDArray[np.bool_]],
    ) -> None:
        """Put the poses (m, n) of least bend within limits into some rows, where they reach their points.

        corrected: puts other poses, for rows, and returns which of them reach.
        """
        outer, n = self.chain.reach[1], len(self.chain)
        numbers, free, slide_weight, turn = self.numbers()
        sheet = Sheet(tables_of(numbers, free, slide_weight))
        rest_side = 0.0 if is_on_a_line(self.rest.tolist()) else side_of(self.rest.tolist(), 1.0)
        goals = [rotated(x, y, -turn) for x, y in (points[rows] / outer).tolist()]
        least: dict[int, SpringPose] = {}
        for row, (x, y), side in zip(rows.tolist(), goals, sides[rows].tolist(), strict=True):
            asked = -rest_side if side < 0.0 else 0.0
            pose = sheet.least(x, y, side, asked)
            if pose is not None:
                least[row] = pose
        lost = np.array([row for row in rows.tolist() if row not in least], np.intp)
        reached = dict(zip(lost.tolist(), corrected(lost).tolist(), strict=True)) if lost.size else {}
        for row, (x, y) in zip(rows.tolist(), goals, strict=True):
            before = least.get(row)
            if reached.get(row, False) or before is not None and self.root_weight:
                start = SpringPose(angles[row].tolist(), (slides[row] / outer).tolist(), 0.0, 0.0)
                start.angles[0] -= turn
                pose, done = descended_one(sheet.springs, start, x, y, PATIENT)
                asked = -rest_side if sides[row] < 0.0 else 0.0
                if done and (before is None or sheet.score(pose, asked) < sheet.score(before, asked)):
                    least[row] = pose
        own = np.array(list(least), np.intp)
        if own.size:
            turned = np.array([pose.angles for pose in least.values()])
            turned[:, 0] += turn
            slid = np.array([pose.slides for pose in least.values()]).reshape(-1, n)
            angles[own] = within_limits(self.chain, turned, np.broadcast_to(self.rest, turned.shape))
            slides[own] = within_slides(self.chain, slid * outer)

    def springs(self) -> tuple[Springs, float]:
        """Return the chain as springs, and how far its base is turned: its root is at zero at rest."""
        numbers, free, slide_weight, turn = self.numbers()
        return springs_of(numbers, free, slide_weight), turn

    def numbers(self) -> tuple[Floats, bool, float, float]:
        """Return the arguments of `springs_of`, and the turn of `springs`."""
        chain, free = self.chain, self.root_weight is None
        outer, turn = chain.reach[1], float(self.rest[0])
        low, high = chain.ranges.T.copy()
        if free and high[0] - low[0] >= TURN:
            low[0], high[0] = -np.inf, np.inf
        rest = self.rest.copy()
        weights = np.append(1.0 if self.root_weight is None else self.root_weight, self.weights)
        most = weights[free:].max(initial=0.0) or 1.0
        for values in (rest, low, high):
            values[0] -= turn
        short, long = chain.slide_ranges.T / outer
        numbers = np.array((chain.lengths / outer, rest, weights / most, low, high, short, long))
        return numbers, free, self.slide_weight / float(most), turn


def _without_held_slides(chain: Chain) -> tuple[Chain, Floats]:
    """Return a chain whose slides of one value are a part of its bones, and these slides (n,)."""
    least, most = chain.slide_ranges.T
    held = np.where(least == most, least, 0.0)
    lengths = chain.lengths + held
    if not held.any() or lengths.sum() < SHORTEST:
        return chain, np.zeros(len(chain))
    slides = np.where(held[:, np.newaxis] != 0.0, 0.0, chain.slide_ranges)
    return Chain(lengths, chain.limits, chain.weights, slides), held


def springs_within(chain: Chain, rest: Floats) -> tuple[Floats, float]:
    """Return the numbers (7, n) and the slide weight of a chain whose root turns freely, for `sheet_of`."""
    numbers, _, slide_weight, _ = Even.checked(
        chain, rest, None, 1.0, chain.tolerance_or_default(None)
    ).numbers()
    return numbers, slide_weight


def _free(lengths: Floats, weights: Floats, rest: Floats, points: Floats, side: float) -> Poses:
    """Return the poses of a chain whose root turns freely. weights: (n - 1,) of the inner joints."""
    angles, steps = np.zeros((len(points), lengths.size)), np.zeros(len(points), np.int32)
    if lengths.size > 1:
        inner, steps = family_of(lengths, weights, rest[1:], side).at(np.hypot(points[:, 0], points[:, 1]))
        angles[:, 1:] = rest[1:] + (inner - wrapped(rest[1:]))
    angles[:, 0] = _aim(lengths, angles, points, float(rest[0]))
    return angles, steps


def _aim(lengths: Floats, angles: Floats, points: Floats, rest: float) -> Floats:
    """Return the root's angles (m,), near rest, that turn the tips of poses (m, n) towards the points.

    For a point on the root itself, where each is as good, it is that at rest.
    """
    tips = tips_at(Chain(lengths), angles)
    turn: Floats = _directions(points) - _directions(tips) - rest
    turn -= 2.0 * np.pi * np.rint(turn / (2.0 * np.pi))
    turn[(points == 0.0).all(axis=1)] = 0.0
    turn += rest
    return turn


def _directions(points: Floats) -> Floats:
    """Return the directions (m,) of points (m, 2).

    Of arrays that lie far from one another: where they overlap numpy rounds in another way, and an answer
    would depend on where in memory its target is.
    """
    x, y = points.T.copy()
    directions: Floats = np.arctan2(y, x)
    return directions
