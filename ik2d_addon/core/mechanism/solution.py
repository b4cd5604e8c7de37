# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of a mechanism over frames: turns, places, how far open, and which drivers were held."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import IK2DError
from ..inputs import Floats, brief, unwrapped
from ..words import noted, number_of, say
from .joints import CLOSED, Body, Kind, Points, checked_body, pairs, point
from .plan import Plan


class MechanismStatus(IntEnum):
    """The result for one frame of a mechanism. An int, so that arrays can hold it.

    >>> MechanismStatus(2).name
    'HELD'
    """

    CLOSED = 0
    """Every loop is closed, with all drivers as given."""
    EASED = 1
    """Every loop is closed; a driver is eased on its way into a dead point."""
    HELD = 2
    """Every loop is closed; a driver is held where its loops would tear."""
    OPEN = 3
    """A joint is open, also as near to the drivers as it closes best."""


@dataclass(frozen=True, eq=False)
class MechanismSolution:
    """A mechanism's poses over frames; `Mechanism.solve` makes it.

    A place of a body at rest, p as a complex number, is at exp(i turn) p + shift. Turns of triangles' bodies
    are continuous over the frames, and within half a turn from rest on the first one; those by drivers and
    gears count whole turns.

    >>> crank = Mechanism().pin(0, "crank", [1, 0]).drive("crank")
    >>> crank.solve({"crank": [0, np.pi / 2]}).places("crank", [2, 0]).round(9)
    array([[2., 0.],
           [1., 1.]])
    """

    plan: Plan
    bodies: tuple[Body, ...]  # the ground, 0, first
    turns: Floats  # (frames, bodies) radians from rest
    shifts: Points  # (frames, bodies)
    open: Floats  # (frames,) the largest distance by which a joint is open, in the mechanism's units
    status: NDArray[np.int8]  # (frames,) MechanismStatus
    drivers: dict[Body, Floats]  # (frames,) each driver's value that is used
    held: dict[Body, NDArray[np.bool_]]  # (frames,) where it is held, and not as given
    given: dict[Body, Floats]  # (frames,)
    residual: Floats  # (frames,) the distance to the target of `solve_target`; zeros without one

    @property
    def is_held(self) -> NDArray[np.bool_]:
        """A mask (frames,) of those on which any driver is held."""
        return np.broadcast_to(np.array(list(self.held.values())).any(axis=0), self.status.shape)

    def on(self, rows: NDArray[np.intp]) -> "MechanismSolution":
        """Return the solution on some of the frames."""
        return replace(
            self,
            turns=self.turns[rows],
            shifts=self.shifts[rows],
            open=self.open[rows],
            status=self.status[rows],
            drivers={name: values[rows] for name, values in self.drivers.items()},
            held={name: flags[rows] for name, flags in self.held.items()},
            given={name: values[rows] for name, values in self.given.items()},
            residual=self.residual[rows],
        )

    def turn(self, body: Body, against: Body = 0) -> Floats:
        """Return the turn (frames,) of a body from rest, against another one, in radians."""
        turn: Floats = self.turns[:, self._number(body)] - self.turns[:, self._number(against)]
        return turn

    def places(self, body: Body, place: ArrayLike) -> Floats:
        """Return where a place (x, y) of a body at rest is, (frames, 2)."""
        return pairs(self.at(self._number(body), point(place, "place")))

    def length(self, ram: str) -> Floats:
        """Return the length (frames,) of a ram."""
        return np.abs(self._ram(ram)[1])

    def heading(self, ram: str) -> Floats:
        """Return the turn (frames,) of a ram's barrel and rod from rest, in radians: both aim along it."""
        rest, way = self._ram(ram)
        return unwrapped(np.angle(way / rest)[:, np.newaxis])[:, 0]

    def _number(self, body: Body) -> int:
        if checked_body(body) not in self.bodies:
            raise IK2DError(f"the mechanism has no body {brief(body)}")
        return self.bodies.index(body)

    def at(self, number: int, place: complex) -> Points:
        """Return where a place of a body, by its number, is."""
        at: Points = np.exp(1j * self.turns[:, number]) * place + self.shifts[:, number]
        return at

    def _ram(self, name: str) -> tuple[complex, Points]:
        """Return the way from a ram's first place to its second, at rest and on the frames."""
        for joint in self.plan.joints:
            if joint.kind is Kind.RAM and joint.name == checked_body(name):
                ends = [
                    joint.at_a * self.plan.size + self.plan.centre,
                    joint.at_b * self.plan.size + self.plan.centre,
                ]
                return ends[1] - ends[0], self.at(joint.b, ends[1]) - self.at(joint.a, ends[0])
        raise IK2DError(f"the mechanism has no ram {brief(name)}")

    def remarks(self, labels: Sequence[int] | None = None) -> list[str]:
        """Return sentences on frames that are not as their drivers ask, in the user's language.

        labels: the numbers of the frames; without them rows are named, from 0.
        """
        said = []
        named = noted("row {number}") if labels is None else noted("frame {number}")
        for driver, flags in self.held.items():
            if flags.any():
                asked, used = self.given[driver][flags], self.drivers[driver][flags]
                worst = int(np.abs(asked - used).argmax())
                given = self._words(driver, asked[worst])
                if labels is not None:
                    frame = labels[np.flatnonzero(flags)[worst]]
                    given = say("{value} on frame {frame}", value=given, frame=frame)
                said.append(
                    say(
                        "{driver} is held at {value} on {count} of {frames} (given: {given})",
                        driver=f"'{driver}'",
                        value=self._words(driver, used[worst]),
                        count=int(flags.sum()),
                        frames=number_of(len(flags), "frame"),
                        given=given,
                    )
                )
        count = int((self.status == MechanismStatus.OPEN).sum())
        if count:
            frame = int(self.open.argmax())
            said.append(
                say(
                    "{what}: {gap} short on {place}, open on {count} of {frames}",
                    what=noted("A loop never closes") if count == len(self.open) else noted("A loop is open"),
                    gap=f"{self.open[frame]:.2g}",
                    place=say(named, number=frame if labels is None else labels[frame]),
                    count=count,
                    frames=number_of(len(self.open), "frame"),
                )
            )
        return said

    def _words(self, driver: Body, value: float) -> str:
        if any(one.name == driver and one.is_ram for one in self.plan.drivers):
            return f"{value:.3g}"
        return f"{np.degrees(value):.1f}\N{DEGREE SIGN}"


def status_of(open_by: Floats, held: NDArray[np.bool_], eased: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the status (frames,) of gaps (frames,), parts of the size, and drivers (drivers, frames)."""
    status = np.zeros(len(open_by), np.int8)
    status[eased.any(axis=0)] = MechanismStatus.EASED
    status[held.any(axis=0)] = MechanismStatus.HELD
    status[open_by > CLOSED] = MechanismStatus.OPEN
    return status
