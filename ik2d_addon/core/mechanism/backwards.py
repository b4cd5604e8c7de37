# SPDX-License-Identifier: GPL-3.0-or-later
"""Backwards: the drivers' values that bring a place of a body nearest to its target."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats
from .drivers import DEPTH, PARTS, ROUNDING, furthest, held, table_of, uneased, width_of
from .joints import Points
from .plan import Plan
from .posing import posed
from .solution import MechanismSolution
from .solve import solved
from .steps import TURN, End

# Starts to choose from: half degrees for one driver, random ones, seeded, for several.
STARTS, MANY_STARTS = 721, 2048
# So many distances at once, from targets to starts.
BLOCK = 1_000_000
# Rounds of Gauss-Newton, the width of its differences, and its damping: at first, and by how much it changes.
ROUNDS, WIDTH, DAMPING, CHANGE = 40, 1e-6, 1e-4, 10.0
# A step that is smaller ends it. Farther from the target, several drivers start from other places too.
SMALL, SHORT, TRIES = 1e-14, 1e-10, 8
# Poses whose distances differ by no more (sizes) are equally near, and values that do by more have jumped.
EQUAL, JUMP = 1e-10, 0.05
# Rows of a driver's table that are looked at first on the way downhill; then twice as many each time.
FIRST_ROWS, MOST_ROWS = 8, 512
# Where the place is as near to its target so far (radians, sizes) on this side of a dead point, it stays.
BEFORE, AS_NEAR = 1e-6, 1e-11


@dataclass(frozen=True)
class GoingOn:
    """How a frame goes on from the one before, as a dragged point does. Values are parts of the size."""

    start: Floats | None = None  # (k,) of the free drivers, from which the first frame goes on
    ranges: Floats | None = None  # (k, 2) within which they stay


def solved_backwards(
    plan: Plan,
    values: Sequence[Floats],
    free: Sequence[int],
    end: End,
    targets: Points,
    going_on: GoingOn | None,
    dead: str,
    ease: float,
    near: Floats | None = None,
) -> MechanismSolution:
    """Return the solution with free drivers at their best for targets (frames,), parts of the size.

    values: (frames,) of each driver; those of free ones are not looked at. going_on: None for each frame by
    itself. dead, ease: as `solve` has them; `given` has the values that it brings to those used. near:
    (frames, free) values from which each frame starts instead.
    """
    way, search = going_on or GoingOn(), _Search(plan, list(values), list(free), end, dead)
    starts = search.starts(way.ranges)
    if near is not None:
        best, _ = search.refined(np.clip(near, search.low, search.high), targets, slice(None))
    elif going_on is not None:
        if way.start is None:
            found = search.nearest(starts, targets[:1], slice(0, 1))[0]
        else:
            found = np.clip(way.start, search.low, search.high)[np.newaxis]
        path = []
        for row in range(len(targets)):
            found = search.followed(found, targets[row : row + 1], slice(row, row + 1))
            path.append(found)
        best = np.concatenate(path)
    else:
        first, *others = search.nearest(starts, targets, slice(None))
        best, missed = search.refined(first, targets, slice(None))
        for start in others:  # where that one ends short of a target; one driver's may be as near
            rows = np.flatnonzero((missed > SHORT) | (len(free) == 1))
            if len(rows):
                again, short = search.refined(start[rows], targets[rows], rows)
                better = short < missed[rows] - EQUAL if len(free) == 1 else short < missed[rows]
                if len(free) == 1:  # of poses equally near, the one nearer to rest
                    ways = [np.abs(found[:, 0] - starts[0, 0]) for found in (again, best[rows])]
                    better |= (short <= missed[rows] + EQUAL) & (ways[0] < ways[1] - JUMP)
                best[rows[better]], missed[rows[better]] = again[better], short[better]
        search.keep(best, missed, targets)
    used = list(values)
    for column, driver in enumerate(free):
        used[driver] = best[:, column]
    solution = solved(plan, used, "STOP" if dead == "EASE" else dead)
    number, place = end
    at = solution.at(number, place * plan.size + plan.centre)
    residual, given = np.abs(at - (targets * plan.size + plan.centre)), dict(solution.given)
    for driver in free if dead == "EASE" else ():
        given[plan.drivers[driver].name] = uneased(plan, driver, used[driver], ease) * plan.unit(driver)
    return replace(solution, residual=residual, given=given)


class _Search:
    """The free drivers' values x (m, k) for a place of a body."""

    def __init__(self, plan: Plan, values: list[Floats], free: list[int], end: End, dead: str) -> None:
        self.plan, self.values, self.free, self.end = plan, values, free, end
        self.low, self.high = np.full(len(free), -np.inf), np.full(len(free), np.inf)
        far = [np.array([rest - 2.0 * TURN, rest + 2.0 * TURN]) for rest in plan.rest]
        self.turnings = held(plan, far, dead, 0.0).turnings if dead == "THROUGH" else {}

    def starts(self, ranges: Floats | None = None) -> Floats:
        """Return values (n, k) to start from, over the intervals that hold rest; rest is the first."""
        bounds = []
        for column, driver in enumerate(self.free):
            rest, is_ram = self.plan.rest[driver], self.plan.drivers[driver].is_ram
            far = np.array([0.0, 2.0 * rest + 1.0] if is_ram else [-np.pi, np.pi])
            own = [step for step, on in enumerate(self.plan.hangs) if on == {driver}]
            table = table_of(self.plan, driver, far, own)
            self.low[column] = max(0.0, table.low) if is_ram else table.low
            self.high[column] = min(table.high, rest + furthest(self.plan, driver)) if is_ram else table.high
            if ranges is not None:
                self.low[column] = max(self.low[column], ranges[column, 0])
                self.high[column] = min(self.high[column], ranges[column, 1])
            bounds.append((max(far[0], self.low[column]), min(far[1], self.high[column])))
        low, high = np.array(bounds).T
        if len(self.free) == 1:
            shares = np.linspace(0.0, 1.0, STARTS)[:, np.newaxis]
        else:
            shares = np.random.default_rng(0).random((MANY_STARTS, len(self.free)))
        rest_row = np.array([[self.plan.rest[driver] for driver in self.free]])
        return np.concatenate((rest_row, low + (high - low) * shares))

    def nearest(self, starts: Floats, targets: Points, rows: slice) -> Floats:
        """Return the starts (s, m, k) whose places are nearest to each target (m,), the nearest first."""
        others = [value[rows] for value in self.values]
        is_one = all((value == value[0]).all() for n, value in enumerate(others) if n not in self.free)
        found, block, tries = [], max(1, BLOCK // len(starts)), 2 if len(self.free) == 1 else TRIES
        for first in range(0, len(targets), block):
            some = slice(first, first + block)
            count = len(targets[some])
            if is_one:
                places, closes = self.at(starts, [np.resize(value[:1], len(starts)) for value in others])
            else:
                each = [np.repeat(value[some], len(starts)) for value in others]
                places, closes = self.at(np.tile(starts, (count, 1)), each)
                places, closes = places.reshape(count, -1), closes.reshape(count, -1)
            ways = np.where(closes, np.abs(places - targets[some, np.newaxis]), np.inf)
            if len(self.free) == 1:
                ways = _valleys(ways)
            order = np.argpartition(ways, tries, axis=1)[:, :tries]
            order = np.take_along_axis(order, np.take_along_axis(ways, order, axis=1).argsort(axis=1), axis=1)
            known = np.isfinite(np.take_along_axis(ways, order, axis=1))
            order = np.where(known, order, order[:, :1])
            found.append(starts[order])
        nearest: Floats = np.concatenate(found).swapaxes(0, 1)
        return nearest

    def followed(self, x: Floats, target: Points, row: slice) -> Floats:
        """Return values (1, k) nearest to a target (1,), going on from some (1, k).

        One driver goes downhill, over no place that does not close: on its table's rows to the first least
        distance, then by parts between them. At a dead point of the place it stays on the side it came from.
        """
        if len(self.free) > 1:
            return self.refined(x, target, row)[0]
        (low,), (high,), before = self.low, self.high, x[0, 0]
        others, width = [value[row] for value in self.values], width_of(self.plan, self.free[0])

        def ways(values: Floats) -> Floats:
            places, closes = self.at(values[:, np.newaxis], [np.resize(one, len(values)) for one in others])
            return np.where(closes, np.abs(places - target), np.inf)

        best, count, near = before, FIRST_ROWS, 10.0 * BEFORE
        side = 1 if np.subtract(*ways(np.clip((best + near, best - near), low, high))) <= 0.0 else -1
        while True:
            rows = np.clip(best + side * width * np.arange(count + 1), low, high)
            away = ways(rows)
            steps = int(np.append(away[1:] < away[:-1], False).argmin())
            best = rows[steps]
            if steps < count or count >= MOST_ROWS:
                break
            count *= 2
        for _ in range(DEPTH):
            rows = np.clip(best + width * np.linspace(-1.0, 1.0, PARTS + 1), low, high)
            best, width = rows[int(ways(rows).argmin())], 2.0 * width / PARTS
        back = best + np.clip(before - best, -BEFORE, BEFORE)
        least, there = ways(np.array((best, back)))
        return np.array([[back if there <= least + AS_NEAR else best]])

    def keep(self, best: Floats, missed: Floats, targets: Points) -> None:
        """Have each row of values (m, k) go on from the row before where that is as near; changes `best`."""
        for row in range(1, len(best)):
            if np.abs(best[row] - best[row - 1]).max() > JUMP:
                rows = slice(row, row + 1)
                again, way = self.refined(best[row - 1 : row], targets[rows], rows)
                if way[0] <= missed[row] + EQUAL:
                    best[row] = again[0]

    def at(self, x: Floats, others: Sequence[Floats]) -> tuple[Points, Floats]:
        """Return the place (m,) at values x (m, k), and whether all loops close there."""
        values = list(others)
        for column, driver in enumerate(self.free):
            values[driver] = x[:, column]
        poses, margins = posed(self.plan, values, self.turnings)
        return poses.at(self.end) + np.zeros(len(x)), (margins >= -ROUNDING).all(axis=1)

    def refined(self, x: Floats, targets: Points, rows: slice | NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Return values (m, k) from starts x on by Gauss-Newton, and the distances (m,) that are left."""
        others = [value[rows] for value in self.values]
        x, damping = x.copy(), np.full(len(x), DAMPING)
        place, _ = self.at(x, others)
        way = place - targets
        going = np.ones(len(x), bool)
        for _ in range(ROUNDS):
            at = np.flatnonzero(going)
            if not len(at):
                break
            some = [value[at] for value in others]
            slopes, off = self._slopes(x[at], some), np.stack((way[at].real, way[at].imag), axis=1)
            step = _damped(slopes, off, damping[at])
            ended = (x[at] <= self.low) & (step > 0.0) | (x[at] >= self.high) & (step < 0.0)
            if ended.any():  # the others alone
                step = _damped(np.where(ended[:, np.newaxis], 0.0, slopes), off, damping[at])
            step = x[at] - np.clip(x[at] - step, self.low, self.high)
            place, closes = self.at(x[at] - step, some)
            better = closes & (np.abs(place - targets[at]) < np.abs(way[at]))
            x[at[better]] -= step[better]
            way[at[better]] = (place - targets[at])[better]
            damping[at] = np.clip(np.where(better, damping[at] / CHANGE, damping[at] * CHANGE), 1e-18, 1e6)
            going[at] = (np.abs(step).max(axis=1) > SMALL) & (np.abs(way[at]) > SMALL)
        return x, np.abs(way)

    def _slopes(self, x: Floats, others: Sequence[Floats]) -> Floats:
        """Return the slopes (m, 2, k) of the place by central differences."""
        columns = []
        for column in range(x.shape[1]):
            step = np.zeros(x.shape[1])
            step[column] = WIDTH
            slope = (self.at(x + step, others)[0] - self.at(x - step, others)[0]) / (2.0 * WIDTH)
            columns.append(np.stack((slope.real, slope.imag), axis=1))
        return np.stack(columns, axis=2)


def _valleys(ways: Floats) -> Floats:
    """Return distances (m, n) where they are least around, else infinity; the first is left out."""
    padded = np.pad(ways[:, 1:], ((0, 0), (1, 1)), constant_values=np.inf)
    middle, none = padded[:, 1:-1], np.full((len(ways), 1), np.inf)
    valley = (middle <= padded[:, :-2]) & (middle <= padded[:, 2:])
    found: Floats = np.concatenate((none, np.where(valley, middle, np.inf)), axis=1)
    empty = ~np.isfinite(found).any(axis=1)
    found[empty] = ways[empty]
    return found


def _damped(slopes: Floats, off: Floats, damping: Floats) -> Floats:
    """Return J^T (J J^T + damping)^-1 r (m, k) of slopes J (m, 2, k), at most half a radian or size."""
    across = slopes.swapaxes(1, 2)
    squares = (slopes * slopes).sum(axis=(1, 2))
    if slopes.shape[2] == 1:
        step: Floats = (across @ off[..., None])[..., 0] / (squares + damping)[:, None]
    else:
        square = slopes @ across + (damping + ROUNDING * squares)[:, None, None] * np.eye(2)
        step = (across @ np.linalg.solve(square, off[..., None]))[..., 0]
    largest = np.abs(step).max(axis=1, keepdims=True)
    step *= np.minimum(1.0, 0.5 / np.maximum(largest, SMALL))
    return step
