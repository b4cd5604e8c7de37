# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of a plan for drivers' values: its steps in their order, all frames at once."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from ..inputs import Floats
from ..words import number_of, refusal
from .joints import Joint, Kind
from .newton import LEAD, STEPS, Group
from .plan import Plan
from .steps import Poses

# Of a step, by its number: its driver, and the driver's values at which the step goes to its other side.
Turnings = Mapping[int, tuple[int, Floats]]
# More bodies in one group without triangles are refused, and so many numbers of J are in memory at once.
MOST_LEFT, MANY = 40, 4_000_000

TURN = 2.0 * np.pi


def posed(plan: Plan, values: Sequence[Floats], turnings: Turnings | None = None) -> tuple[Poses, Floats]:
    """Return the poses for values (m,) of the drivers, and the margin (m, k) of each step that has one.

    Margins of steps that always close are infinite; that of Newton's group is the last. turnings: where
    steps change sides, counted from rest.
    """
    poses, margins = _stepped(plan, values, turnings or {})
    if plan.left:
        margins.append(_led(plan, poses, values, turnings or {}))
    frames = max((len(value) for value in values), default=1)
    each = [np.broadcast_to(np.inf if margin is None else margin, frames) for margin in margins]
    return poses, np.array(each).T if each else np.full((frames, 1), np.inf)


def _stepped(plan: Plan, values: Sequence[Floats], turnings: Turnings) -> tuple[Poses, list[Floats | None]]:
    poses = Poses(list(values), plan.rest)
    margins = []
    for number, step in enumerate(plan.steps):
        parity = _parity(plan, values, *turnings[number]) if number in turnings else 1.0
        margins.append(step.place(poses, step.side * parity))
    return poses, margins


def _parity(plan: Plan, values: Sequence[Floats], driver: int, places: Floats) -> Floats:
    """Return -1 where an odd number of places lies between a driver's value and its rest, else +1."""
    passed = np.searchsorted(places, values[driver]) - np.searchsorted(places, plan.rest[driver])
    parity: Floats = 1.0 - 2.0 * (passed % 2)
    return parity


@lru_cache(8)
def group_of(plan: Plan) -> Group:
    """Return the group for Newton's method; raise IK2DError where it is too large."""
    if len(plan.left) > MOST_LEFT:
        raise refusal(
            "{bodies} hang together without triangles: at most {most} bodies may",
            bodies=number_of(len(plan.left), "bone"),
            most=MOST_LEFT,
        )
    return Group(plan)


def _short(plan: Plan, driver: int, way: Floats) -> Floats:
    """Return a driver's way from rest (m,) without whole turns, where these come to the same pose."""
    if plan.drivers[driver].ram >= 0 or plan.is_geared:
        return way
    return np.where(np.abs(way) > TURN, np.fmod(way, TURN), way)


def _led(plan: Plan, poses: Poses, values: Sequence[Floats], turnings: Turnings) -> Floats:
    """Place what no step does; return the margin (m,)."""
    group, frames = group_of(plan), max((len(value) for value in values), default=1)
    ways = [_short(plan, number, value - plan.rest[number]) for number, value in enumerate(values)]
    furthest = max((float(np.abs(way).max(initial=0.0)) for way in ways), default=0.0)
    steps = max(STEPS, int(np.ceil(furthest / LEAD)))
    rows = max(1, MANY // (3 * len(plan.left)) ** 2)
    parts = [slice(first, first + rows) for first in range(0, frames, rows)]
    found = []
    for part in parts:
        some = [np.broadcast_to(way, frames)[part] for way in ways]
        led = [
            _stepped(plan, [r + way * (n / steps) for r, way in zip(plan.rest, some, strict=True)], turnings)[
                0
            ]
            for n in range(1, steps + 1)
        ]
        found.append((led[-1], group.place(led[-1], led)))
    for body in plan.left:
        for name in ("turns", "c", "t"):
            getattr(poses, name)[body] = np.concatenate([getattr(one, name)[body] for one, _ in found])
    return np.concatenate([margin for _, margin in found])


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
