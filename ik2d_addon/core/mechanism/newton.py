# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's method on the closure equations: for groups that are no triangles (Assur's class III and above).

All frames at once. Each is led from the rest pose to its drivers' values, so that none depends on another.
The side is the sign of det J, which of a triangle is that of its area: a row on which it changes has passed
a dead point and is lost, since what it finds there is another way to assemble the bodies. So that none
is lost where it only comes near one, lost rows are followed once more (`following.py`).
"""

from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats
from .following import ROUNDING, Known, followed
from .joints import Driver, Joint, Kind, Points, ends_of
from .steps import Poses

# Steps on the way from rest, of drivers by at most LEAD (radians, or parts of the size) each.
STEPS, LEAD = 24, 0.15
# Newton's rounds on the way and at its end, there as long as the gap of a row falls; a row is lost where it
# is open by more on the way.
ROUNDS, LAST_ROUNDS, MOST_ROUNDS, FALL, LOST = 4, 8, 48, 0.6, 1e-4
LOST_SIDE = 1e-9  # of det J at rest
# On the way it is enough to be open by so little.
NEAR = 1e-8
# A row of J is a combination of others where no more than this part is left of it.
DEPENDENT = 1e-9


class Equations:
    """The closure equations F of some bodies, 0 where they close, and J = dF / d(x, y, turn) of each."""

    def __init__(
        self,
        joints: Sequence[Joint],
        drivers: Sequence[Driver],
        bodies: Sequence[int],
        known: Collection[int] = (0,),
    ) -> None:
        """Take the joints and drivers between these bodies, and between them and known ones."""
        self.all, self.given, self.column = joints, drivers, {body: 3 * n for n, body in enumerate(bodies)}
        inside = {*bodies, *known}
        self.joints = [one for one in joints if one.kind is not Kind.RAM and self._ties(one.a, one.b, inside)]
        self.drivers = [n for n, one in enumerate(drivers) if self._ties(*ends_of(one, joints), inside)]

    def _ties(self, a: int, b: int, inside: set[int]) -> bool:
        return inside.issuperset((a, b)) and (a in self.column or b in self.column)

    @property
    def count(self) -> int:
        """The number of equations."""
        twice = sum(one.kind in (Kind.PIN, Kind.GUIDE) for one in self.joints)
        return len(self.joints) + twice + len(self.drivers)

    def at(self, poses: Poses) -> tuple[Floats, Floats]:
        """Return F (m, e) and J (m, e, 3 k) at poses; the drivers' rows are the last ones."""
        rows = _Rows(poses, self.column)
        for joint in self.joints:
            rows.add(joint)
        for number in self.drivers:
            driver, value = self.given[number], poses.values[number]
            if driver.is_ram:
                rows.add_length(self.all[driver.ram], value)
            else:
                rows.add_turn(driver.body, driver.against, 1.0, value)
        return rows.stacked()


class _Rows:
    """The equations of joints, one after the other."""

    def __init__(self, poses: Poses, column: dict[int, int]) -> None:
        self.poses, self.column = poses, column
        self.frames = max(len(turn) for turn in poses.turns.values())
        self.values: list[Floats] = []
        self.slopes: list[Floats] = []

    def add(self, joint: Joint) -> None:
        """Add the equations of a pin, a slide, a guide or a gear."""
        if joint.kind is Kind.PIN:
            self._add_along(joint, np.ones(1, complex))
            self._add_along(joint, np.full(1, 1j))
        elif joint.kind is Kind.GEAR:
            self.add_turn(joint.b, joint.a, joint.ratio)
        else:
            self._add_along(joint, 1j * self.poses.c[joint.a] * joint.along, turns=True)
            if joint.kind is Kind.GUIDE:
                self.add_turn(joint.b, joint.a, 1.0)

    def add_length(self, ram: Joint, length: Floats) -> None:
        """Add the equation of a ram of a given length."""
        way = self.poses.at((ram.b, ram.at_b)) - self.poses.at((ram.a, ram.at_a))
        distance = np.maximum(np.abs(way), 1e-300)
        self._add_along(ram, way / distance, less=length)

    def add_turn(self, body: int, against: int, ratio: float, more: Floats | float = 0.0) -> None:
        """Add: the body turns by so many times the other's turn, and by more."""
        self._row(self.poses.turns[body] - ratio * self.poses.turns[against] - more)
        self._put(body, np.zeros(1, complex), np.ones(1))
        self._put(against, np.zeros(1, complex), np.full(1, -ratio))

    def _add_along(self, joint: Joint, unit: Points, less: Floats | float = 0.0, turns: bool = False) -> None:
        """Add: the way from a's place to b's has this length along a direction, which may turn with a."""
        a, b = self.poses.c[joint.a] * joint.at_a, self.poses.c[joint.b] * joint.at_b
        way = b + self.poses.t[joint.b] - a - self.poses.t[joint.a]
        self._row((way * unit.conj()).real - less)
        self._put(joint.b, unit, (1j * b * unit.conj()).real)
        turning = (1j * a * unit.conj()).real - ((way * (1j * unit).conj()).real if turns else 0.0)
        self._put(joint.a, -unit, -turning)

    def _row(self, value: Floats) -> None:
        self.values.append(np.broadcast_to(value, self.frames))
        self.slopes.append(np.zeros((self.frames, 3 * len(self.column))))

    def _put(self, body: int, shift: Points, turn: Floats) -> None:
        if body in self.column:
            at = self.column[body]
            self.slopes[-1][:, at] += shift.real
            self.slopes[-1][:, at + 1] += shift.imag
            self.slopes[-1][:, at + 2] += turn

    def stacked(self) -> tuple[Floats, Floats]:
        """Return F (m, e) and J (m, e, 3 k)."""
        if not self.values:
            return np.zeros((self.frames, 0)), np.zeros((self.frames, 0, 3 * len(self.column)))
        return np.stack(self.values, axis=1), np.stack(self.slopes, axis=1)


def independent(slopes: Floats, most: int) -> tuple[list[int], Floats]:
    """Return rows of J (e, n) of which none is a combination of others, at most so many, and what is left.

    Gram-Schmidt with pivots: what is left (e, n) of each row has no part along the rows taken.
    """
    left, taken = slopes.copy(), list[int]()
    least = DEPENDENT * float(np.linalg.norm(slopes, axis=1).max(initial=0.0))
    for _ in range(most):
        lengths = np.linalg.norm(left, axis=1)
        if not len(lengths) or lengths.max() <= least:
            break
        row = int(lengths.argmax())
        taken.append(row)
        unit = left[row] / lengths[row]
        left = left - np.outer(left @ unit, unit)
    return sorted(taken), left


def at_rest(rest: list[float], bodies: Iterable[int]) -> Poses:
    """Return bodies in the rest pose, one row, with the drivers' values there."""
    poses = Poses([np.array([value]) for value in rest], rest)
    for body in bodies:
        poses.put(body, np.zeros(1), 0j, np.zeros(1, complex))
    return poses


class Group:
    """Bodies that no formula places, and the rows of J that hold them, if they do."""

    def __init__(self, equations: Equations, known: Collection[int], rest: list[float]) -> None:
        self.equations, self.bodies = equations, tuple(equations.column)
        slopes = equations.at(at_rest(rest, {*known, *self.bodies} - {0}))[1][0]
        self.kept, _ = independent(slopes, 3 * len(self.bodies))
        self.is_held = len(self.kept) == 3 * len(self.bodies)
        self.side = float(np.linalg.det(slopes[self.kept])) if self.is_held else 0.0

    def led(
        self, known: Known, count: int, lengths: Floats, worth: NDArray[np.bool_]
    ) -> tuple[Floats, Floats]:
        """Return x, y and turn of each body (m, 3 k), led from rest in so many steps, and the margin (m,).

        lengths: of the drivers' ways (m,). Rows that are lost in these steps, and worth it, are followed in
        steps along the bodies' way.
        """
        frames = len(lengths)
        now = before = good = np.zeros((frames, 3 * len(self.bodies)))
        alive, shares, every = np.ones(frames, bool), np.zeros(frames), np.arange(frames)
        for n in range(1, count + 1):
            guess = 2.0 * now - before  # by the secant
            before, last = now, n == count
            now, gaps, sides = self.corrected(known(every, np.full(frames, n / count)), guess, last)
            alive &= (gaps < (ROUNDING if last else LOST)) & (sides * self.side > 0.0)
            good, shares = np.where(alive[:, None], now, good), np.where(alive, n / count, shares)
        margin = sides / self.side
        margin = np.where(alive, margin, -np.abs(margin) - gaps - ROUNDING)
        lost = np.flatnonzero(~alive & worth)
        if len(lost):
            ends, found = followed(self, _some(known, lost), good[lost], shares[lost], lengths[lost])
            closes = found > 0.0
            now[lost[closes]], margin[lost[closes]] = ends[closes], found[closes]
        return now, margin

    def at(self, known: Poses, x: Floats) -> tuple[Floats, Floats]:
        """Return F (m, 3 k) and J (m, 3 k, 3 k) of the equations that hold the bodies, at x, y and turn."""
        self.put(known, x)
        gap, slopes = self.equations.at(known)
        return gap[:, self.kept], slopes[:, self.kept]

    def corrected(self, known: Poses, guess: Floats, last: bool) -> tuple[Floats, Floats, Floats]:
        """Return x, y and turn of each body (m, 3 k) after some rounds, the gaps (m,) and det J (m,).

        Next to a dead point each round halves what is off, and so quarters the gap: at last these go on.
        """
        before, falls = np.full(len(guess), np.inf), np.ones(len(guess), bool)
        for done in range(MOST_ROUNDS if last else ROUNDS + 1):
            self.put(known, guess)
            gap, slopes = self.equations.at(known)
            kept = slopes[:, self.kept]
            largest = np.abs(gap).max(axis=1)
            falls &= (largest >= (1e-15 if last else NEAR)) & (
                (done < LAST_ROUNDS) | (largest < FALL * before)
            )
            if done == (MOST_ROUNDS - 1 if last else ROUNDS) or not falls.any():
                break
            before = largest
            sides = np.linalg.det(kept)
            regular = np.abs(sides) > LOST_SIDE * abs(self.side)  # else the row is lost anyway
            kept = np.where(regular[:, None, None], kept, np.eye(len(self.kept)))
            steps = np.linalg.solve(kept, -gap[:, self.kept, None])[..., 0]
            length = np.abs(steps).max(axis=1, keepdims=True)
            shares = np.minimum(1.0, 0.3 / np.maximum(length, 1e-300))
            guess = guess + steps * np.where(falls[:, None], shares, 0.0)  # no row depends on others
        return guess, largest, np.linalg.det(slopes[:, self.kept])

    def put(self, poses: Poses, rows: Floats) -> None:
        """Put the bodies of the group where x, y and turn of each (m, 3 k) say."""
        for number, body in enumerate(self.bodies):
            x, y, turn = rows[:, 3 * number : 3 * number + 3].T
            poses.put(body, turn, 0j, x + 1j * y)


def _some(known: Known, rows: NDArray[np.intp]) -> Known:
    """Return a function that gives the known poses of some rows."""
    return lambda at, shares: known(rows[at], shares)
