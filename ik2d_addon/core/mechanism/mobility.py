# SPDX-License-Identifier: GPL-3.0-or-later
"""The freedoms of a mechanism, counted twice, and in words."""

from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from ..words import number_of, say
from .drivers import held
from .joints import CLOSED, Body, Joint, Kind
from .newton import Equations, at_rest
from .plan import MOST_LEFT, Plan
from .posing import gap, posed

# Values of each driver on which joints that jam are looked at; and the largest gap that may be an oversight.
LOOKS, SLIGHT = 73, 0.1
# A singular value counts as 0 below this part of the largest.
RANK = 1e-9
_FULL, _HALF = (Kind.PIN, Kind.GUIDE), (Kind.SLIDE, Kind.GEAR)


@dataclass(frozen=True)
class Mobility:
    """The freedoms of a mechanism.

    gruebler: 3 (n - 1) - 2 j1 - j2, with n bodies, the ground among them, j1 pins and slides that keep their
    angle, and j2 other slides and gears; after Gruebler (1883). A ram that is no driver holds nothing.
    freedoms: 3 (n - 1) - rank J, with the closure equations' derivatives J at rest. redundant: equations that
    others imply there; Gruebler counts them as if they held something. left: freedoms that no driver holds.
    triangles: steps of the plan that have two sides. may_drive: bodies that could drive what is left.
    fault: why it does not move as its drivers say, "" where it does.

    >>> four = Mechanism().pin(0, "crank", [0, 0]).pin("crank", "rod", [0, 1]).pin("rod", "arm", [2, 2])
    >>> four.pin("arm", 0, [3, 0]).mobility().words()
    '1 freedom left: choose what drives'
    """

    gruebler: int
    freedoms: int
    redundant: int
    left: int
    drivers: int
    triangles: int
    may_drive: tuple[Body, ...]
    fault: str

    def words(self) -> str:
        """Return the mobility in a sentence, in the user's language."""
        if self.fault:
            return self.fault
        numbers = number_of(self.freedoms, "freedom"), number_of(self.drivers, "driver")
        said = say("{freedoms}, {drivers}", freedoms=numbers[0], drivers=numbers[1])
        if self.redundant:
            count = number_of(self.redundant, "equation")
            said = say(
                "{said}; more joints than needed, which agree ({equations})",
                said=said,
                equations=count,
            )
        return said


def mobility_of(plan: Plan) -> Mobility:
    """Return the mobility of a plan's mechanism."""
    kinds = [joint.kind for joint in plan.joints]
    full, half = (sum(kind in some for kind in kinds) for some in (_FULL, _HALF))
    bodies = range(1, len(plan.names))
    equations = Equations(plan.joints, plan.drivers, bodies)
    slopes = equations.at(at_rest(plan.rest, bodies))[1][0]
    count = len(slopes) - len(equations.drivers)
    rank, _ = _rank(slopes[:count])
    held, null = _rank(slopes)
    freedoms, left = 3 * len(bodies) - rank, 3 * len(bodies) - held
    return Mobility(
        gruebler=3 * len(bodies) - 2 * full - half,
        freedoms=freedoms,
        redundant=count - rank,
        left=left,
        drivers=len(plan.drivers),
        triangles=sum(step.side != 0.0 for step in plan.steps),
        may_drive=tuple(plan.names[body] for body in bodies if (np.abs(null[:, 3 * body - 1]) > 1e-6).any()),
        fault=_fault(plan, freedoms, left, slopes, count),
    )


def _rank(slopes: Floats) -> tuple[int, Floats]:
    """Return the rank of rows (e, n), and the motions (n - rank, n) that they allow."""
    if not slopes.size:
        return 0, np.eye(slopes.shape[1])
    _, values, motions = np.linalg.svd(slopes)
    rank = int((values > RANK * values[0]).sum())
    return rank, motions[rank:]


def _fault(plan: Plan, freedoms: int, left: int, slopes: Floats, count: int) -> str:
    """Return why a mechanism does not move as its drivers say, or ""."""
    flat = plan.flat or (plan.left if left and plan.left and _is_dead(plan, len(slopes)) else ())
    if flat:
        return say(
            "The rest pose is a dead point of {bodies}: move it a little to the side that is meant",
            bodies=plan.words(flat),
        )
    if left:
        return say("{freedoms} left: choose what drives", freedoms=number_of(left, "freedom"))
    if not freedoms:
        joint, most = _worst_gap(plan)
        if joint is None or not CLOSED < most < SLIGHT:
            return say("It jams: no joint lets it move")
        return say(
            "It jams: the joint of {bodies} is {gap} off",
            bodies=plan.words((joint.a, joint.b)),
            gap=f"{most * plan.size:.2g}",
        )
    if len(plan.drivers) > freedoms:
        return say(
            "{drivers} for {freedoms}: take away {bodies}",
            drivers=number_of(len(plan.drivers), "driver"),
            freedoms=number_of(freedoms, "freedom"),
            bodies=say(" or ").join(f"'{plan.drivers[one].name}'" for one in _pair(slopes, count)),
        )
    if plan.left:
        return say(
            "{bodies} hang together without triangles: at most {most} bodies may",
            bodies=number_of(len(plan.left), "bone"),
            most=MOST_LEFT,
        )
    return ""


def _is_dead(plan: Plan, rows: int) -> bool:
    """Return whether equations enough hold the bodies that are left, but not at rest."""
    known = {*range(len(plan.names))} - {*plan.left}
    equations = Equations(plan.joints, plan.drivers, plan.left, known)
    return equations.count >= 3 * len(plan.left) and rows >= 3 * (len(plan.names) - 1)


def _worst_gap(plan: Plan) -> tuple[Joint | None, float]:
    """Return the joint that opens most where drivers move and the triangles close, and by how much."""
    worst, most = None, 0.0
    for driver, one in enumerate(plan.drivers):
        values = [np.full(LOOKS, rest) for rest in plan.rest]
        shares = np.linspace(-1.0, 1.0, LOOKS)
        values[driver] = values[driver] * (1.0 + 0.5 * shares) if one.is_ram else np.pi * shares
        kept = held(plan, values, "THROUGH", 0.0)
        poses, _ = posed(plan, kept.values, kept.turnings)
        for joint in plan.unused:
            open_by = float(gap(poses, joint).max())
            if open_by > most:
                worst, most = joint, open_by
    return worst, most


def _pair(slopes: Floats, count: int) -> list[int]:
    """Return the first driver that those before it decide, and one of these that decides it."""
    for last in range(count, len(slopes)):
        before = slopes[:last]
        if _rank(slopes[: last + 1])[0] == _rank(before)[0]:
            for other in range(count, last):
                others = np.delete(slopes[: last + 1], other, axis=0)
                if _rank(others)[0] > _rank(others[:-1])[0]:
                    return [other - count, last - count]
            return [last - count]
    return []
