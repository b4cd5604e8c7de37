# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a plan: formulas that place one body or two on bodies that are placed, for all frames."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..arithmetic import ARRAYS, cos_and_sin
from ..inputs import Floats, unwrapped
from ..triangle import two_bone_pose
from .joints import Points

End = tuple[int, complex]  # a place of a body
Side = Floats | float
TURN = 2.0 * np.pi
Angle = Callable[["Poses"], Floats]


@dataclass
class Poses:
    """Turns and shifts of bodies as far as they are placed, over frames; the ground's have one row."""

    values: list[Floats]  # of each driver
    rest: list[float]
    turns: dict[int, Floats] = field(default_factory=lambda: {0: np.zeros(1)})
    c: dict[int, Points] = field(default_factory=lambda: {0: np.ones(1, complex)})
    t: dict[int, Points] = field(default_factory=lambda: {0: np.zeros(1, complex)})

    @property
    def frames(self) -> int:
        """The number of frames of the drivers; 1 without any."""
        return max((len(value) for value in self.values), default=1)

    def at(self, end: End) -> Points:
        """Return where a place of a body is."""
        body, place = end
        return self.c[body] * place + self.t[body]

    def continuous(self, body: int) -> Floats:
        """Return a body's turn (m,) without jumps, within half a turn on the row nearest to rest."""
        turn = unwrapped(self.turns[body][:, np.newaxis])[:, 0]
        ways = [
            np.abs(value - value_at_rest) for value, value_at_rest in zip(self.values, self.rest, strict=True)
        ]
        anchor = int(np.sum(ways, axis=0).argmin()) if len(turn) > 1 else 0
        turn -= TURN * np.rint(turn[anchor] / TURN)
        return turn

    def put(self, body: int, turn: Floats, place: complex, at: Points) -> None:
        """Place a body by its turn and one of its places."""
        c = np.empty(turn.shape, complex)
        c.real, c.imag = cos_and_sin(turn)
        self.turns[body], self.c[body], self.t[body] = turn, c, at - c * place


@dataclass(frozen=True)
class Placing:
    """A formula that places bodies on others.

    place(poses, side): returns its margin (m,), as a part of the size: how far its loop is from not
    closing, and below 0 how far it is open; None where it always closes.
    """

    bodies: tuple[int, ...]
    on: tuple[int, ...]
    place: Callable[[Poses, Side], Floats | None] | None  # None: Newton's method places them
    side: float = 0.0  # that of the rest pose, -1 or +1; 0 where there is one pose alone
    knee: float = 1.0  # the sine of the angle that is 0 or half a turn at its dead points, at rest
    drivers: tuple[int, ...] = ()  # its own
    rule: "Callable[..., Placing] | None" = None  # the function here that made it
    numbers: tuple[Any, ...] = ()  # what that took, after the bodies

    @property
    def may_open(self) -> bool:
        """Whether it has a margin."""
        return self.side != 0.0 or self.place is None


def pin_and_angle(
    body: int, own: complex, pin: End, on: tuple[int, ...], angle: Angle, driver: int
) -> Placing:
    """Return the step of a body with a pin and a known turn:  c = exp(i turn), t = P - c p."""

    def place(poses: Poses, _side: Side) -> None:
        poses.put(body, angle(poses), own, poses.at(pin))

    known, drivers = (pin[0], *on), (driver,) if driver >= 0 else ()
    return Placing((body,), known, place, drivers=drivers, rule=pin_and_angle, numbers=(own, pin))


def two_pins(body: int, own: tuple[complex, complex], pins: tuple[End, End]) -> Placing:
    """Return the step of a body with two pins: its heading is that from the one to the other."""
    rest = np.angle(own[1] - own[0])

    def place(poses: Poses, _side: Side) -> None:
        first, second = poses.at(pins[0]), poses.at(pins[1])
        poses.put(body, np.angle(second - first) - rest, own[0], first)

    return Placing((body,), (pins[0][0], pins[1][0]), place, rule=two_pins, numbers=(own, pins))


def dyad(bodies: tuple[int, int], own: tuple[complex, ...], pins: tuple[End, End]) -> Placing:
    """Return the step of two bodies with three pins, a triangle of known sides (`core/triangle.py`).

    own: the first body's known and common pin, the second one's common and known pin. Where the triangle
    does not close, both point along the line of the known pins, which keeps their gap least.
    """
    x, y = bodies
    first, second = own[1] - own[0], own[3] - own[2]
    arms = abs(first), abs(second)
    rest_x, rest_y = np.angle(first), np.angle(second)

    def place(poses: Poses, side: Side) -> Floats:
        start, end = poses.at(pins[0]), poses.at(pins[1])
        heading, knee, margin = _triangle(arms[0], arms[1], end - start, side)
        poses.put(x, heading - rest_x, own[0], start)
        poses.put(y, heading + knee - rest_y, own[3], end)
        return margin

    area = (first.conjugate() * second).imag / (arms[0] * arms[1])
    known = pins[0][0], pins[1][0]
    return Placing(bodies, known, place, _sign(area), abs(area), rule=dyad, numbers=(own, pins))


def pin_and_ram(body: int, own: tuple[complex, complex], pins: tuple[End, End], driver: int) -> Placing:
    """Return the step of a body with a pin and a ram of a given length: a triangle of known sides."""
    arm, ram = own[1] - own[0], pins[1][1] - own[1]
    rest = np.angle(arm)

    def place(poses: Poses, side: Side) -> Floats:
        start, end = poses.at(pins[0]), poses.at(pins[1])
        heading, _, margin = _triangle(abs(arm), poses.values[driver], end - start, side)
        poses.put(body, heading - rest, own[0], start)
        return margin

    area = (arm.conjugate() * ram).imag / (abs(arm) * abs(ram))
    known, made_of = (pins[0][0], pins[1][0]), (own, pins)
    return Placing((body,), known, place, _sign(area), abs(area), (driver,), pin_and_ram, made_of)


def _triangle(
    first: float, second: Floats | float, base: Points, side: Side
) -> tuple[Floats, Floats, Floats]:
    """Return the heading of the first side, the turn to the second, and the margin, over a base."""
    d = np.abs(base)
    heading, knee = two_bone_pose(first, second, base.real, base.imag, d, side, ARRAYS)
    return heading, knee, np.minimum(first + second - d, d - abs(first - second))


def pin_on_line(
    body: int, own: tuple[complex, complex], pin: End, line: End, along: complex, slider: End | None
) -> Placing:
    """Return the step of a body with a pin, whose place q slides on the line of a known body (RRP).

        q = the pin's foot on the line + side sqrt(r^2 - h^2),   h: the pin's distance from it

    slider: a body that keeps its angle, and its place, which q is pinned to.
    """
    arm, direction = own[1] - own[0], np.angle(along)
    r, rest = abs(arm), np.angle(arm)

    def place(poses: Poses, side: Side) -> Floats:
        start, origin, unit = poses.at(pin), poses.at(line), poses.c[line[0]] * along
        from_line = (start - origin) * unit.conj()
        h, leg = _leg(r, from_line.imag)
        turn = poses.turns[line[0]] + direction + np.arctan2(-h, side * leg) - rest
        poses.put(body, turn, own[0], start)
        if slider:
            turned = poses.turns[line[0]] + 0.0 * h
            poses.put(slider[0], turned, slider[1], origin + unit * (from_line.real + side * leg))
        margin: Floats = r - np.abs(from_line.imag)
        return margin

    cosine = (arm * along.conjugate()).real / r
    bodies = (body, slider[0]) if slider else (body,)
    known, made_of = (pin[0], line[0]), (own, pin, line, along, slider)
    return Placing(bodies, known, place, _sign(cosine), abs(cosine), rule=pin_on_line, numbers=made_of)


def pin_and_own_line(
    body: int, own: tuple[complex, complex], along: complex, pin: End, through: End
) -> Placing:
    """Return the step of a body with a pin O, whose own line, e off the pin, goes through a known place Q.

    turn = arg(Q - O) - arg(f + i e) - arg(line),   f = side sqrt(|Q - O|^2 - e^2)
    """
    e = ((own[1] - own[0]) * along.conjugate()).imag
    direction = np.angle(along)

    def place(poses: Poses, side: Side) -> Floats:
        start = poses.at(pin)
        way = poses.at(through) - start
        distance = np.abs(way)
        _, leg = _leg(distance, e)
        poses.put(body, np.angle(way) - np.arctan2(e, side * leg) - direction, own[0], start)
        margin: Floats = distance - abs(e)
        return margin

    way = (through[1] - own[0]) * along.conjugate()
    share = way.real / max(abs(way), 1e-300)
    known, made_of = (pin[0], through[0]), (own, along, pin, through)
    return Placing((body,), known, place, _sign(share), abs(share), rule=pin_and_own_line, numbers=made_of)


def _leg(longest: Floats | float, other: Floats | float) -> tuple[Floats, Floats]:
    """Return the one leg of a right triangle, at most as long as the longest side, and the other leg."""
    h = np.clip(other, -np.abs(longest), np.abs(longest))
    return h, np.sqrt((longest - h) * (longest + h))


def _sign(value: float) -> float:
    return -1.0 if value < 0.0 else 1.0
