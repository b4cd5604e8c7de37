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
    joints_at,
    tips_at,
    within_limits,
    within_slides,
)
from ..errors import IK2DError
from ..inputs import Floats, checked_bend, common_shape, number
from ..sheet.descent import Poses as Column
from ..sheet.descent import rotated
from ..sheet.sheet import TURN, sheet_of
from ..sheet.springs import Springs, springs_of
from ..softness import checked_softness, soft_targets
from ..solution import Solution, Status, annulus_status, distances_to, eased_status
from .joined import LEAST_WEIGHT, joined
from .rooted import settled
from .search import family_of
from .slid_family import slid_family_of
from .slid_rooted import Slider

# So many angles at a time that the arrays between the steps stay in the processor's cache.
BLOCK_ANGLES = 65536
# The least slide_weight, and one over it the greatest.
LEAST_SLIDE_WEIGHT = 1e-4
# A tip no farther from its target (reach is 1) is on it.
ON_TARGET = 1e-12
# Chains of more bones get CCD's poses where limits count.
MANY_BONES = 200

# Angles (m, n) and iterations (m,).
Poses = tuple[Floats, NDArray[np.int32]]
# Angles (m, n), slides (m, n) and iterations (m,).
SlidPoses = tuple[Floats, Floats, NDArray[np.int32]]
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
    """Return the pose of least bend from rest for each target, the tip on it.

    The least sum of (angle_i - rest_i)^2 / w_i, w the chain's weights; a joint of weight 0 stays at rest.
    With a root that turns freely (root_weight None) only the target's distance decides about the shape:
    the chain's family of such poses, from stretched to closed, is found once and kept (family.py). A
    root_weight counts the root's turn like the others', as near as that leads from there (rooted.py). Of the
    chain's own weight of the root only 0 counts: it stays at rest. Nothing depends on other targets, nor on
    their order.
    Where bones slide, the sum has (slide_i / reach)^2 / slide_weight as well, reach the outer one
    (sliding.py): with 1, a slide of one reach counts as a turn of one radian, with more, bones slide more
    willingly.

    target: (..., 2) relative to the root. bend: +1 or -1 (...): the side that a straight rest bends to;
    +1 is the side of a bent rest, -1 the other. rest: (n,) angles of the pose from
    which bend is counted; None: straight. (The `start` of `solve_ccd` is another: a pose to begin with.)
    tolerance: a length; None: a millionth of the reach. softness: 0..1 (...), see softness.py.
    A target off the annulus gets the nearest pose, TOO_FAR or TOO_CLOSE. Within limits it is the pose of
    least bend that they allow (sheet/sheet.py). Where none reaches the target it is CCD's: LIMITED is a
    target that it proves to be out of reach of the limits and the joints of weight 0, STALLED one that it
    misses without. EASED is a target that softness leaves the tip behind.
    Raises IK2DError for other shapes and numbers.

    >>> np.degrees(solve_even(Chain([1.0, 1.0, 1.0]), [2.0, 0.0]).angles).round(1)
    array([-60.,  60.,  60.])
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
    residual, status = distances_to(chain, angles, points, slides), annulus_status(chain, points, limit)
    missed = (status == Status.REACHED) & (residual > limit)
    status[missed] = np.where(proven[missed], Status.LIMITED, Status.STALLED)
    if soft.any():
        softnesses = np.broadcast_to(soft, shape).reshape(-1)
        eased = soft_targets(chain, points, softnesses)
        angles, slides, iterations, _ = even.poses(eased, side)
        residual = distances_to(chain, angles, points, slides)
        status = eased_status(status, residual, softnesses, limit)
    return Solution.of_rows(chain, shape, angles, status, residual, iterations, slides)


@dataclass(frozen=True, eq=False)
class Even:
    """A chain, and the checked settings of its solve."""

    chain: Chain
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
        if chain.is_sliding:  # beside slides, any less leaves no digits
            weights = np.where(weights > 0.0, np.maximum(weights, LEAST_WEIGHT), 0.0)
        return cls(chain, angles, weights, root_weight, willing, tolerance)

    @property
    def is_on_sheet(self) -> bool:
        """Whether limits make it a chain of springs with stops, see sheet/."""
        return self.chain.is_limited and 3 <= len(self.chain) <= MANY_BONES

    @property
    def is_pinned(self) -> bool:
        """Whether any joint does not turn."""
        return self.root_weight == 0.0 or bool((self.weights == 0.0).any())

    def poses(self, points: Floats, sides: Floats) -> tuple[Floats, Floats, NDArray[np.int32], Proven]:
        """Return the poses for points (m, 2), on the sides (m,), and which points are proven out of reach."""
        n = len(self.chain)
        slides, iterations = np.zeros((len(points), n)), np.zeros(len(points), np.int32)
        proven = np.zeros(len(points), np.bool_)
        if self.chain.reach[1] == 0.0:
            unmoved = np.tile(self.rest, (len(points), 1))
            return within_limits(self.chain, unmoved, unmoved), slides, iterations, ~proven
        angles = np.empty((len(points), n))
        unit = in_reaches(self.chain, points)
        block = max(1, BLOCK_ANGLES // n)
        for side in (1.0, -1.0):
            own = np.flatnonzero(sides == side)
            for first in range(0, own.size, block):
                rows = own[first : first + block]
                if self.chain.is_sliding:
                    angles[rows], slides[rows], iterations[rows] = self._slid(unit[rows], side)
                else:
                    angles[rows], iterations[rows] = self._of_least_bend(unit[rows], side)
        if self.chain.is_limited or self.chain.is_sliding or self.is_pinned:
            proven = self._limit(angles, slides, iterations, points, sides)
        return angles, slides, iterations, proven

    def _of_least_bend(self, points: Floats, side: float) -> Poses:
        """Return the poses for points (m, 2) on one side, limits not asked; reach is 1.

        Joints before the first one that turns stay at rest, and are the base of the others.
        """
        lengths = self.chain.lengths / self.chain.reach[1]
        if self.root_weight is None:
            return _free(lengths, self.weights, self.rest, points, side)
        weights = np.append(self.root_weight, self.weights)
        angles = np.tile(self.rest, (len(points), 1))
        turning = np.flatnonzero(weights > 0.0)
        if turning.size == 0:
            return angles, np.zeros(len(points), np.int32)
        first = int(turning[0])
        base = joints_at(Chain(lengths), self.rest)[first]
        rest = np.append(self.rest[: first + 1].sum(), self.rest[first + 1 :])
        own, steps = _rooted(lengths[first:], weights[first:], rest, points - base, side)
        angles[:, first:] = own
        angles[:, first] -= self.rest[:first].sum()
        return angles, steps

    def _slid(self, points: Floats, side: float) -> SlidPoses:
        """Return the poses for points (m, 2) on one side of a chain that slides; reach is 1, slides are not.

        Where the root's turn counts they are found from those of a free one, or from rest if it is fixed.
        """
        outer, n = self.chain.reach[1], len(self.chain)
        lengths, ranges = self.chain.lengths / outer, self.chain.slide_ranges / outer
        if self.root_weight == 0.0:
            at_rest = np.append(self.rest, np.clip(0.0, *ranges.T))
            poses, steps = np.tile(at_rest, (len(points), 1)), np.zeros(len(points), np.int32)
            rows = np.arange(len(points))
        else:
            poses, steps = _free_slid(
                lengths, ranges, self.weights, self.rest, self.slide_weight, points, side
            )
            tips = tips_at(Chain(lengths), poses[:, :n], poses[:, n:])
            rows = np.flatnonzero((np.abs(tips - points) <= ON_TARGET).all(axis=1))
        if self.root_weight is not None:
            weights = np.concatenate(([self.root_weight], self.weights, np.full(n, self.slide_weight)))
            rest = np.append(self.rest, np.zeros(n))
            slider = Slider(lengths, ranges[:, 0], ranges[:, 1], weights / weights.max(), rest)
            settled, rounds, _ = slider.settled(poses[rows], points[rows])
            errors = distances_to(Chain(lengths), settled[:, :n], points[rows], settled[:, n:])
            better = slider.bend(settled) < slider.bend(poses[rows])
            kept = (self.root_weight == 0.0) | better & (errors <= ON_TARGET)
            poses[rows[kept]] = settled[kept]
            steps[rows] += rounds
        return poses[:, :n], within_slides(self.chain, poses[:, n:] * outer), steps

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
        missed |= inside & (before > self.tolerance)
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
        outer = self.chain.reach[1]
        numbers, free, slide_weight, turn = self.numbers()
        sheet = sheet_of(numbers, free, slide_weight)
        goals = rotated(points[rows].T / outer, -turn)
        tried = sheet.tried(goals)
        reached = np.zeros(rows.size, np.bool_)
        reached[tried.rows[tried.done]] = True
        if not reached.all():
            reached[~reached] = corrected(rows[~reached])
        rest_side = 0.0 if is_on_a_line(self.rest.tolist()) else side_of(self.rest.tolist(), 1.0)
        found = sheet.least(tried, goals, sides[rows], np.where(sides[rows] < 0.0, -rest_side, 0.0), reached)
        lost = np.flatnonzero(reached & ~found.done)
        if lost.size:
            start = Column(
                angles[rows[lost]].T.copy(), slides[rows[lost]].T / outer, np.zeros((2, lost.size))
            )
            start.angles[0] -= turn
            more = sheet.nearest(start, goals[:, lost])
            found.poses.put(lost, more.poses)
            found.done[lost], found.steps[lost] = more.done, more.steps
        own = rows[found.done]
        poses = found.poses[found.done]
        poses.angles[0] += turn
        near = np.broadcast_to(self.rest, poses.angles.T.shape)
        angles[own] = within_limits(self.chain, poses.angles.T, near)
        slides[own] = within_slides(self.chain, poses.slides.T * outer)
        iterations[own] += found.steps[found.done]

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
        most = weights[free:].max() or 1.0
        for values in (rest, low, high):
            values[0] -= turn
        short, long = chain.slide_ranges.T / outer
        numbers = np.array((chain.lengths / outer, rest, weights / most, low, high, short, long))
        return numbers, free, self.slide_weight / float(most), turn


def springs_within(chain: Chain, rest: Floats) -> tuple[Floats, float]:
    """Return the numbers (7, n) and the slide weight of a chain whose root turns freely, for `sheet_of`."""
    numbers, _, slide_weight, _ = Even.checked(
        chain, rest, None, 1.0, chain.tolerance_or_default(None)
    ).numbers()
    return numbers, slide_weight


def _free(lengths: Floats, weights: Floats, rest: Floats, points: Floats, side: float) -> Poses:
    """Return the poses of a chain whose root turns freely. weights: (n - 1,) of the inner joints."""
    part = joined(lengths, weights, rest[1:])
    inner, steps = np.zeros((len(points), part.rest.size)), np.zeros(len(points), np.int32)
    if part.rest.size:
        distances = np.hypot(points[:, 0], points[:, 1]) / part.reach
        inner, steps = family_of(part, side).at(distances)
    angles = np.zeros((len(points), lengths.size))
    angles[:, 1:] = part.whole_angles(inner)
    angles[:, 0] = _aim(lengths, angles, points, float(rest[0]))
    return angles, steps


def _free_slid(
    lengths: Floats,
    ranges: Floats,
    weights: Floats,
    rest: Floats,
    slide_weight: float,
    points: Floats,
    side: float,
) -> Poses:
    """Return the poses (m, 2 n), angles and slides, of a chain that slides and whose root turns freely."""
    family = slid_family_of(lengths, ranges, weights, rest[1:], slide_weight, side)
    own, n = family.sliding, lengths.size
    places, steps = family.at(np.hypot(points[:, 0], points[:, 1]) / own.joined.reach)
    inner, slides = family.bones(places)
    poses = np.zeros((len(points), 2 * n))
    poses[:, n:] = np.clip(0.0, *ranges.T)
    poses[:, 1:n] = own.joined.whole_angles(inner)
    poses[:, n + own.bone] = slides * own.joined.reach
    poses[:, 0] = _aim(lengths, poses[:, :n], points, float(rest[0]), poses[:, n:])
    return poses, steps


def _rooted(lengths: Floats, weights: Floats, rest: Floats, points: Floats, side: float) -> Poses:
    """Return the poses of a chain whose root's turn counts, from those of a free one; off reach, the same."""
    angles, steps = _free(lengths, weights[1:], rest, points, side)
    tips = tips_at(Chain(lengths), angles)
    rows = np.flatnonzero((np.abs(tips - points) <= ON_TARGET).all(axis=1))
    angles[rows], rounds, _ = settled(lengths, weights / weights.max(), rest, angles[rows], points[rows])
    steps[rows] += rounds
    return angles, steps


def _aim(
    lengths: Floats, angles: Floats, points: Floats, rest: float, slides: Floats | None = None
) -> Floats:
    """Return the root's angles (m,), near rest, that turn the tips of poses (m, n) towards the points.

    For a point on the root itself, where each is as good, it is that at rest.
    """
    tips = tips_at(Chain(lengths), angles, slides)
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
