# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of a plan, with its drivers held, as a solution."""

from collections.abc import Sequence

import numpy as np

from ..inputs import Floats, unwrapped
from .drivers import ROUNDING, held
from .joints import CLOSED
from .plan import Plan
from .posing import gap, posed
from .solution import MechanismSolution, status_of
from .steps import TURN


def solved(plan: Plan, given: Sequence[Floats], dead: str = "STOP", ease: float = 0.0) -> MechanismSolution:
    """Return the solution for drivers' values (frames,), in parts of the size."""
    kept = held(plan, given, dead, ease)
    poses, margins = posed(plan, kept.values, kept.turnings)
    frames = len(margins)
    closed = [number for number in range(margins.shape[1]) if number not in plan.groups]
    open_by = np.maximum(0.0, -margins[:, closed]).max(axis=1, initial=0.0)
    for number in plan.groups:  # a margin below 0 says that it is open, and not by how much
        open_by = np.where(margins[:, number] < -ROUNDING, np.maximum(open_by, 2.0 * CLOSED), open_by)
    for joint in plan.unused:
        open_by = np.maximum(open_by, gap(poses, joint))
    turns, shifts = np.empty((len(plan.names), frames)), np.empty((len(plan.names), frames), complex)
    for body in range(len(plan.names)):  # rows of memory: a body's frames
        turns[body] = poses.turns[body]
        np.multiply(poses.c[body], -plan.centre, out=shifts[body])
        shifts[body] += plan.size * poses.t[body]
    shifts += plan.centre
    units = [plan.unit(driver) for driver in range(len(plan.drivers))]
    names = [one.name for one in plan.drivers]
    return MechanismSolution(
        plan=plan,
        bodies=plan.names,
        turns=_continuous(plan, turns).T,
        shifts=shifts.T,
        open=open_by * plan.size,
        status=status_of(open_by, kept.held, kept.eased),
        drivers={name: value * unit for name, value, unit in zip(names, kept.values, units, strict=True)},
        held=dict(zip(names, kept.held, strict=True)),
        given={name: value * unit for name, value, unit in zip(names, given, units, strict=True)},
        residual=np.zeros(frames),
    )


def _continuous(plan: Plan, turns: Floats) -> Floats:
    """Return turns (bodies, frames) without jumps, but for bodies whose turns count whole turns already."""
    found = [body for body in range(len(turns)) if body not in plan.whole]
    some = turns[found]
    some[:, 0] -= TURN * np.rint(some[:, 0] / TURN)
    turns[found] = unwrapped(some.T).T
    return turns
