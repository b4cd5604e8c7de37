# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers kept where all loops close: dead points on a table of each driver, and values held by it.

A step whose margin depends on one driver alone has its dead points at values of that driver, whatever the
frames. They are found once, on a table in half degrees, with the least margins between its rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..arithmetic import ARRAYS
from ..inputs import Floats
from ..softness import softened_within
from .joints import CLOSED
from .plan import Plan
from .posing import Turnings, gap, posed
from .steps import TURN

Flags: TypeAlias = NDArray[np.bool_]
# Rows of a table for a quarter of a turn, and for an eighth of the size.
ROWS, RAM_PART = 180, 0.125
# A table's most turns to a side, where they do not come round, and a ram's most sizes from rest.
MOST_TURNS = MOST_SIZES = 64
# A table that Newton's method fills has fewer rows and a shorter range: each row takes many steps.
FEW_ROWS, LED_PART = 45, 0.125
# The least way to a dead point, in widths of easing, that is asked for: less takes ever farther values.
NEARLY = 1e-3
# A margin is 0 within rounding. A least margin so near to 0 touches it: a change point (Go Through).
ROUNDING = 1e-14
# Two change points that are nearer (radians) are one, a whole turn on.
SAME = 1e-6
# A margin that is least and lower than this does not touch 0.
FAR = 0.05
# An end is between a place that closes and one that does not: of so many in between the first, so often.
PARTS, DEPTH = 64, 7


@dataclass(frozen=True)
class DriverTable:
    """The values of one driver that close, as far as it was looked at."""

    low: float  # the interval that holds rest, or is nearest to it; infinite where no end was found
    high: float
    turnings: Turnings  # change points of steps
    is_empty: bool = False  # nothing closes


@dataclass(frozen=True)
class Held:
    """Drivers' values that are used, and which of them are not those given, (drivers, frames)."""

    values: list[Floats]
    held: Flags
    eased: Flags
    turnings: Turnings


def held(plan: Plan, values: Sequence[Floats], dead: str, ease: float) -> Held:
    """Return drivers' values (m,) that close the loops, as near as the parts that hold rest allow."""
    used, turnings = list(values), Turnings()
    stopped = np.zeros((len(values), len(values[0]) if values else 1), bool)
    eased = stopped.copy()
    for driver, value in enumerate(values):
        table = stops(plan, driver, value, dead)
        if table is None:
            continue
        if dead == "THROUGH":
            turnings |= _repeated(plan, table.turnings, value)
        if table.is_empty:
            continue
        stopped[driver] = (value < table.low) | (value > table.high)
        used[driver] = _within(plan, driver, value, table, ease if dead == "EASE" else 0.0)
        eased[driver] = (used[driver] != value) & ~stopped[driver]
    _hold_several(plan, values, used, turnings, stopped)
    return Held(used, stopped, eased, turnings)


def stops(plan: Plan, driver: int, values: Floats, dead: str) -> DriverTable | None:
    """Return where steps that depend on one driver alone stop it, as far as values (m,) go; None for none."""
    own = [number for number, on in enumerate(plan.hangs) if on == {driver} and plan.steps[number].may_open]
    if not own:
        return None
    table = table_of(plan, driver, values, own)
    return _before_joints_open(plan, driver, table) if dead != "THROUGH" and plan.unused else table


def _before_joints_open(plan: Plan, driver: int, table: DriverTable) -> DriverTable:
    """Return a table that ends at change points behind which a step's kept side opens other joints."""
    rest, none = plan.rest[driver], np.zeros(0)
    places = np.concatenate([none, *(found for _, found in table.turnings.values())])
    places = places[(places != rest) & (places > table.low) & (places < table.high)]
    if not len(places):
        return table
    values = [np.full(2 * len(places), one) for one in plan.rest]
    aside = 0.5 * width_of(plan, driver) * np.sign(places - rest)
    values[driver] = np.concatenate((places - aside, places + aside))
    poses, _ = posed(plan, values)
    gaps = np.max([np.broadcast_to(gap(poses, joint), 2 * len(places)) for joint in plan.unused], axis=0)
    before, behind = np.split(gaps > CLOSED, 2)
    ends = places[~before & behind]
    low, high = ends[ends < rest].max(initial=table.low), ends[ends > rest].min(initial=table.high)
    return replace(table, low=low, high=high)


def _repeated(plan: Plan, turnings: Turnings, values: Floats) -> Turnings:
    """Return change points as far as values (m,) go: from turn to turn they are the same."""
    turns = int(np.abs(values).max(initial=0.0) // TURN) + 1
    if turns < 2 or plan.is_geared:
        return dict(turnings)
    found = {}
    for step, (driver, places) in turnings.items():
        if not plan.drivers[driver].is_ram:
            once = np.sort(np.mod(places, TURN))
            once = once[np.diff(once, prepend=once[-1] - TURN) > SAME]
            places = (once + TURN * np.arange(-turns - 1, turns + 1)[:, None]).ravel()
        found[step] = driver, places
    return found


def _within(plan: Plan, driver: int, value: Floats, table: DriverTable, ease: float) -> Floats:
    """Return a driver's values within its interval.

    Eased by `softness.py`: from rest, the way that is left, x, becomes w exp((x - w) / w) below the width w.
    """
    rest = plan.rest[driver]
    if plan.drivers[driver].is_ram:
        ease *= rest
    way = value - rest
    for end, sign in ((table.high, 1.0), (table.low, -1.0)):
        outer = sign * (end - rest)
        if np.isfinite(outer):
            ahead = np.maximum(sign * way, 0.0) if outer > 0.0 else sign * way
            if ease > 0.0 and outer > 0.0:
                ahead = softened_within(0.0, outer, ahead, ease / outer, ARRAYS)
            way = np.where(sign * way > (0.0 if outer > 0.0 else outer), sign * np.minimum(ahead, outer), way)
    unchanged = way == value - rest
    return np.where(unchanged, value, np.clip(rest + way, table.low, table.high))


def uneased(plan: Plan, driver: int, used: Floats, ease: float) -> Floats:
    """Return the values (m,) of a driver that easing brings to some; to the very end only nearly."""
    own = [step for step, on in enumerate(plan.hangs) if on == {driver}]
    table, rest, given = table_of(plan, driver, used, own), plan.rest[driver], used
    for end, sign in ((table.high, 1.0), (table.low, -1.0)):
        outer = sign * (end - rest)
        width = min(ease * (rest if plan.drivers[driver].is_ram else 1.0), outer)
        if np.isfinite(outer) and width > 0.0:
            left = np.maximum(outer - sign * (used - rest), NEARLY * width)
            ahead = outer - width * (1.0 + np.log(left / width))
            given = np.where(left < width, rest + sign * ahead, given)
    return given


def table_of(plan: Plan, driver: int, values: Floats, steps: Sequence[int]) -> DriverTable:
    """Return the table of a driver, as far as values (m,) go; kept in the plan."""
    low, high = _range(plan, driver, values)
    key = driver, low, high
    if key not in plan.tables:
        plan.tables[key] = _table(plan, driver, low, high, steps)
    found: DriverTable = plan.tables[key]
    return found


def _range(plan: Plan, driver: int, values: Floats) -> tuple[float, float]:
    """Return the range to look at: from rest to the values, rounded outwards; turns come round."""
    rest, is_ram = plan.rest[driver], plan.drivers[driver].is_ram
    unit = RAM_PART if is_ram else TURN / 4.0
    most = (furthest(plan, driver) if is_ram or plan.is_geared else TURN) / unit
    down = min(most, np.ceil((rest - min(rest, float(values.min()))) / unit))
    up = min(most, np.ceil((max(rest, float(values.max())) - rest) / unit))
    return rest - down * unit, rest + up * unit


def furthest(plan: Plan, driver: int) -> float:
    """Return the greatest way from rest up to which a driver's values are looked at."""
    most = MOST_SIZES if plan.drivers[driver].is_ram else MOST_TURNS * TURN
    is_long = plan.groups and (plan.drivers[driver].is_ram or plan.is_geared)
    return most * LED_PART if is_long else most


def _table(plan: Plan, driver: int, low: float, high: float, steps: Sequence[int]) -> DriverTable:
    rest = plan.rest[driver]
    intervals, turnings = looked_at(plan, driver, _rows(plan, driver, low, high), steps, plan.rest)
    if not any(start <= rest <= end for start, end in intervals):  # the nearest, wherever frames are
        low, high = (0.0, rest + 1.0) if plan.drivers[driver].is_ram else (-TURN, TURN)
        intervals, turnings = looked_at(plan, driver, _rows(plan, driver, low, high), steps, plan.rest)
    if not intervals:
        return DriverTable(rest, rest, turnings, is_empty=True)
    start, end = min(intervals, key=lambda one: max(one[0] - rest, rest - one[1], 0.0))
    return DriverTable(-np.inf if start <= low else start, np.inf if end >= high else end, turnings)


def _rows(plan: Plan, driver: int, low: float, high: float) -> Floats:
    """Return a table's rows of a driver, the same ones in any range, from before it to after it."""
    rest, width = plan.rest[driver], width_of(plan, driver)
    rows: Floats = rest + width * np.arange(
        np.floor((low - rest) / width) - 1, np.ceil((high - rest) / width) + 2
    )
    return np.maximum(rows, 0.0) if plan.drivers[driver].is_ram else rows


def width_of(plan: Plan, driver: int) -> float:
    """Return the width of a row of a driver's table."""
    unit = RAM_PART if plan.drivers[driver].is_ram else TURN / 4.0
    return unit / (FEW_ROWS if plan.groups else ROWS)


def feasible(plan: Plan, driver: int, low: float, high: float, others: Sequence[float]) -> Floats:
    """Return the intervals (k, 2) of a driver in which all steps close, each other driver at one value."""
    steps = [step for step in range(len(plan.hangs)) if plan.steps[step].may_open]
    if all(plan.hangs[step] == {driver} for step in steps):
        table = table_of(plan, driver, np.array((low, high)), steps)  # most are whole
        if np.isinf((table.low, table.high)).all() and not table.turnings:
            return np.array([[low, high]])
    intervals, _ = looked_at(plan, driver, _rows(plan, driver, low, high), steps, others)
    ends = np.clip(np.array(intervals).reshape(-1, 2), low, high)
    return ends[ends[:, 0] < ends[:, 1]]


def looked_at(
    plan: Plan, driver: int, rows: Floats, steps: Sequence[int], others: Sequence[float]
) -> tuple[list[tuple[float, float]], Turnings]:
    """Return the intervals of a driver in which steps close, over the rows of a table, and change points."""
    turnings: Turnings = {}
    width, steps = width_of(plan, driver), [step for step in steps if plan.steps[step].may_open]

    def margins(value: Floats) -> Floats:
        values = [np.full(len(value), one) for one in others]
        values[driver] = value
        return posed(plan, values, turnings)[1]

    touched, dips, found = np.zeros(0), np.zeros(0), margins(rows)
    for step in steps:
        at = _near(found[:, step])
        if not len(at):
            continue
        places, least = _least(lambda value, step=step: margins(value)[:, step], rows[at], width)  # type: ignore[misc]
        touching = np.abs(least) <= CLOSED
        if touching.any():
            turnings[step] = driver, np.sort(places[touching])
            touched = np.union1d(touched, places[touching])
            found = margins(rows)  # later steps follow this one to its other side
        dips = np.union1d(dips, places[least < -CLOSED])
    if len(dips):
        rows = np.union1d(rows, dips)
        found = margins(rows)

    def closing(value: Floats, its_margins: Floats) -> Flags:
        least = np.full(len(value), -ROUNDING)
        for place in touched:
            least[np.abs(value - place) < width] = -2.0 * CLOSED
        flags: Flags = its_margins[:, steps].min(axis=1, initial=np.inf) >= least
        return flags

    return _intervals(lambda value: closing(value, margins(value)), rows, closing(rows, found)), turnings


def _near(values: Floats) -> NDArray[np.intp]:
    """Return the rows (k,) of a margin (m,) next to which it is least and may come to 0."""
    left, inner, right = values[:-2], values[1:-1], values[2:]
    # A parabola through three rows falls below the middle one by less than its second difference.
    lowest = inner - np.maximum(left - 2.0 * inner + right, 0.0)
    return np.flatnonzero((inner <= left) & (inner < right) & (lowest < CLOSED) & (inner > -FAR)) + 1


def _least(margin: Callable[[Floats], Floats], places: Floats, width: float) -> tuple[Floats, Floats]:
    """Return the places (k,) near given ones where a margin is least, and the margins there, by parabolas."""
    for _ in range(3):
        left, middle, right = margin(np.concatenate((places - width, places, places + width))).reshape(3, -1)
        bend = left - 2.0 * middle + right
        step = np.where(bend > 0.0, 0.5 * width * (left - right) / np.where(bend > 0.0, bend, 1.0), 0.0)
        places = places + np.clip(step, -width, width)
        width *= 0.03
    return places, margin(places)


def _intervals(closes: Callable[[Floats], Flags], rows: Floats, flags: Flags) -> list[tuple[float, float]]:
    """Return the intervals of rows (n,), growing, that close, their ends as exactly as floats allow.

    flags: (n,) which rows do.
    """
    padded = np.concatenate(([False], flags, [False]))
    starts, ends = np.flatnonzero(padded[1:] & ~padded[:-1]), np.flatnonzero(padded[:-1] & ~padded[1:]) - 1
    inside = rows[np.concatenate((starts, ends))]
    outside = rows[np.concatenate((np.maximum(starts - 1, 0), np.minimum(ends + 1, len(rows) - 1)))]
    open_ended = inside != outside
    edges = inside.copy()
    edges[open_ended] = _last_closing(closes, inside[open_ended], outside[open_ended])
    return [(float(low), float(high)) for low, high in edges.reshape(2, -1).T]


def _last_closing(closes: Callable[[Floats], Flags], inside: Floats, outside: Floats) -> Floats:
    """Return the last values (m,) on the ways from some that close to some that do not.

    closes: values (m * n,), those of each way together, to whether they close.
    """
    at = np.arange(len(inside))
    for _ in range(DEPTH if len(inside) else 0):
        between = np.linspace(inside, outside, PARTS + 1, axis=1)
        flags = closes(between.ravel()).reshape(between.shape)
        flags[:, 0], flags[:, -1] = True, False
        first = flags.argmin(axis=1)
        inside, outside = between[at, first - 1], between[at, first]
    return inside


def _hold_several(
    plan: Plan,
    values: Sequence[Floats],
    used: list[Floats],
    turnings: Turnings,
    stopped: Flags,
) -> None:
    """Hold the drivers of steps that depend on several, together, on their way from rest."""
    for step, on in enumerate(plan.hangs):
        if len(on) < 2 or not plan.steps[step].may_open:
            continue
        rows = np.flatnonzero(posed(plan, used, turnings)[1][:, step] < -ROUNDING)
        if not len(rows):
            continue
        share = _share(plan, [value[rows] for value in used], on, step, turnings)
        for driver in on:
            rest = plan.rest[driver]
            value = rest + share * (used[driver][rows] - rest)
            used[driver] = used[driver].copy()
            used[driver][rows] = value
            stopped[driver, rows] |= value != values[driver][rows]


def _share(plan: Plan, values: Sequence[Floats], on: frozenset[int], step: int, turnings: Turnings) -> Floats:
    """Return the part (m,) of the way from rest to some drivers' values up to which a step closes.

    1 where it does not even close at rest.
    """

    def closes(shares: Floats) -> Flags:
        each = [np.repeat(value, len(shares) // len(value)) for value in values]
        for driver in on:
            each[driver] = plan.rest[driver] + shares * (each[driver] - plan.rest[driver])
        flags: Flags = posed(plan, each, turnings)[1][:, step] >= -ROUNDING
        return flags

    none, all_ = np.zeros(len(values[0])), np.ones(len(values[0]))
    return np.where(closes(none), _last_closing(closes, none, all_), 1.0)
