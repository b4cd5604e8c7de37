# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of a plan for drivers' values: its steps in their order, all frames at once."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats
from ..words import refusal
from .following import ROUNDING
from .joints import Joint, Kind
from .newton import LEAD, STEPS, Group
from .plan import Plan
from .steps import TURN, Poses

# Of a step, by its number: its driver, and the driver's values at which the step goes to its other side.
Turnings: TypeAlias = dict[int, tuple[int, Floats]]
# So many numbers of J are in memory at once.
MANY = 4_000_000
# Steps on the way from rest, of which each poses all frames.
MOST_STEPS = 400


def posed(plan: Plan, values: Sequence[Floats], turnings: Turnings | None = None) -> tuple[Poses, Floats]:
    """Return the poses for values (m,) of the drivers, and the margin (m, k) of each step.

    Margins of steps that always close are infinite. turnings: where steps change sides, counted from rest.
    """
    lengths = [
        np.maximum(value, 0.0) if one.is_ram else value
        for one, value in zip(plan.drivers, values, strict=True)
    ]  # differences reach below 0
    poses, margins = _stepped(plan, lengths, turnings or {}, len(plan.steps))
    each = [np.broadcast_to(np.inf if margin is None else margin, poses.frames) for margin in margins]
    return poses, np.array(each).T if each else np.full((poses.frames, 1), np.inf)


def _stepped(
    plan: Plan, values: Sequence[Floats], turnings: Turnings, count: int
) -> tuple[Poses, list[Floats | None]]:
    """Return the poses and margins of the first steps."""
    poses, margins = Poses(list(values), plan.rest), list[Floats | None]()
    for number, step in enumerate(plan.steps[:count]):
        if step.place is None:
            margins.append(_led(plan, number, poses, turnings, _closing(margins, poses.frames)))
        else:
            parity = _parity(plan, values, *turnings[number]) if number in turnings else 1.0
            margins.append(step.place(poses, step.side * parity))
    return poses, margins


def _parity(plan: Plan, values: Sequence[Floats], driver: int, places: Floats) -> Floats:
    """Return -1 where an odd number of places lies between a driver's value and its rest, else +1."""
    passed = np.searchsorted(places, values[driver]) - np.searchsorted(places, plan.rest[driver])
    parity: Floats = 1.0 - 2.0 * (passed % 2)
    return parity


def _short(plan: Plan, driver: int, way: Floats) -> Floats:
    """Return a driver's way from rest (m,) without whole turns, where these come to the same pose."""
    if plan.drivers[driver].is_ram or plan.is_geared:
        return way
    return np.where(np.abs(way) > TURN, np.fmod(way, TURN), way)


def _closing(margins: Sequence[Floats | None], frames: int) -> NDArray[np.bool_]:
    """Return whether all steps with margins (m,) close."""
    closing = np.ones(frames, bool)
    for margin in margins:
        closing &= margin is None or margin >= -ROUNDING
    return closing


def _led(plan: Plan, number: int, poses: Poses, turnings: Turnings, worth: NDArray[np.bool_]) -> Floats:
    """Place the bodies of a group; return its margin (m,). worth: rows whose earlier steps close."""
    group, frames = plan.groups[number], poses.frames
    ways = [
        np.broadcast_to(_short(plan, driver, value - plan.rest[driver]), frames)
        for driver, value in enumerate(poses.values)
    ]
    lengths = np.abs(ways).max(axis=0) if ways else np.zeros(frames)
    counts = _steps_on_the_way(plan, group, lengths)
    rows = max(1, MANY // (3 * len(group.bodies)) ** 2)
    x, margins = np.empty((frames, 3 * len(group.bodies))), np.empty(frames)
    for count in np.unique(counts):
        alike = np.flatnonzero(counts == count)
        for some in np.split(alike, range(rows, len(alike), rows)):

            def known(at: NDArray[np.intp], shares: Floats, some: NDArray[np.intp] = some) -> Poses:
                values = [rest + way[some[at]] * shares for rest, way in zip(plan.rest, ways, strict=True)]
                return _stepped(plan, values, turnings, number)[0]

            x[some], margins[some] = group.led(known, int(count), lengths[some], worth[some])
    group.put(poses, x)
    return margins


def _steps_on_the_way(plan: Plan, group: Group, furthest: Floats) -> NDArray[np.intp]:
    """Return the number of steps (m,) from rest on for ways (m,): that of a row depends on no other."""
    if furthest.max(initial=0.0) > MOST_STEPS * LEAD:
        raise refusal(
            "Drivers of {bodies} are too far from rest: give them values nearer to it",
            bodies=plan.words(group.bodies),
        )
    doubled = np.ceil(np.log2(np.maximum(furthest / (STEPS * LEAD), 1.0)))  # few counts: many rows at once
    counts: NDArray[np.intp] = STEPS * 2 ** doubled.astype(np.intp)
    return counts


def gap(poses: Poses, joint: Joint) -> Floats:
    """Return by how much a joint is open (m,), in parts of the size; of an angle, radians."""
    way = poses.at((joint.b, joint.at_b)) - poses.at((joint.a, joint.at_a))
    if joint.kind is Kind.PIN:
        distance: Floats = np.abs(way)
        return distance
    off = poses.turns[joint.b] - joint.ratio * poses.turns[joint.a]
    turn: Floats = np.abs(off - TURN * np.rint(off / TURN))
    if joint.kind is Kind.GEAR:
        return turn
    across: Floats = np.abs((way * (poses.c[joint.a] * joint.along).conj()).imag)
    return np.maximum(across, turn) if joint.kind is Kind.GUIDE else across
