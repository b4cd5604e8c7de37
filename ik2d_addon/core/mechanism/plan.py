# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a mechanism, made once: the steps that place its bodies, and on which drivers each depends."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..inputs import Floats
from ..words import refusal, say
from .joints import FLAT, GROUND, Body, Driver, Joint, Kind, ends_of
from .newton import Equations, Group
from .steps import (
    Angle,
    End,
    Placing,
    Poses,
    dyad,
    pin_and_angle,
    pin_and_own_line,
    pin_and_ram,
    pin_on_line,
    two_pins,
)

# Two places that are nearer than this part of the size are one.
POINT = 1e-9
# Newton's method takes groups of at most so many bodies, the least of at most so many sets of a size.
MOST_LEFT, MOST_SETS = 40, 2000


@dataclass(frozen=True, eq=False)
class Plan:
    """Steps in their order, joints as parts of the size about a centre, and what no step has used."""

    names: tuple[Body, ...]
    joints: tuple[Joint, ...]
    drivers: tuple[Driver, ...]
    steps: tuple[Placing, ...]
    groups: dict[int, Group]  # of steps by Newton's method, by their number
    left: tuple[int, ...]  # bodies that nothing holds
    unused: tuple[Joint, ...]  # joints that close by themselves, if they do
    idle: tuple[int, ...]  # drivers that nothing is left for
    centre: complex
    size: float
    whole: frozenset[int]  # bodies by drivers and gears, whose turns are numbers that count whole turns
    hangs: tuple[frozenset[int], ...]  # the drivers on which each step's margin depends
    tables: dict[Any, Any] = field(default_factory=dict)  # of drivers, as they are needed

    @property
    def rest(self) -> list[float]:
        """Each driver's value at rest, in parts of the size."""
        return _rest(self.drivers, self.joints)

    def unit(self, driver: int) -> float:
        """Return the unit of a driver's values: 1 of radians, else the size."""
        return self.size if self.drivers[driver].is_ram else 1.0

    @property
    def is_geared(self) -> bool:
        """Whether whole turns of a driver may come to another pose."""
        return any(joint.kind is Kind.GEAR for joint in self.joints)

    @property
    def flat(self) -> tuple[int, ...]:
        """The bodies of the first triangle that is flat at rest, so that it has no side to keep; or none."""
        return next((step.bodies for step in self.steps if step.side and not step.knee > FLAT), ())

    def words(self, bodies: Sequence[int]) -> str:
        """Return the names of bodies, for a sentence."""
        names = [say("the ground") if body == GROUND else f"'{self.names[body]}'" for body in bodies]
        return say(" and ").join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def planned(
    names: tuple[Body, ...],
    joints: Sequence[Joint],
    drivers: tuple[Driver, ...],
    turned_over: frozenset[Body] = frozenset(),
    by_triangles: bool = True,
) -> Plan:
    """Return the plan. turned_over: bodies whose triangle is on the other side than at rest.

    Each step is a group of Assur's class I or II, or where there is none a least one of a higher class, which
    Newton's method places. by_triangles: False leaves all to that.
    """
    places = np.array([end for one in joints if one.kind is not Kind.GEAR for end in (one.at_a, one.at_b)])
    middle = complex(places.mean()) if len(places) else 0j
    size = 2.0 * float(np.abs(places - middle).max(initial=0.0)) or 1.0  # one pin has none
    own = tuple(
        replace(one, at_a=(one.at_a - middle) / size, at_b=(one.at_b - middle) / size) for one in joints
    )
    builder = _Builder(names, own, drivers)
    builder.build(by_triangles)
    steps = tuple(
        replace(step, side=-step.side)
        if sum(names[body] in turned_over for body in step.bodies) % 2
        else step
        for step in builder.steps
    )
    for body in turned_over:
        if not any(step.side and names.index(body) in step.bodies for step in steps):
            raise refusal("'{body}' is in no triangle, which alone has another side", body=body)
    left = tuple(body for body in range(1, len(names)) if body not in builder.known)
    unused = tuple(
        one
        for number, one in enumerate(own)
        if number not in builder.used
        and one.kind is not Kind.RAM
        and builder.known.issuperset((one.a, one.b))
    )
    idle = tuple(
        number
        for number, one in enumerate(drivers)
        if number not in builder.driving and builder.known.issuperset(ends_of(one, own))
    )
    return Plan(
        names=names,
        joints=own,
        drivers=drivers,
        steps=steps,
        groups=builder.groups,
        left=left,
        unused=unused,
        idle=idle,
        centre=middle,
        size=size,
        whole=frozenset(builder.whole),
        hangs=_hangs(steps),
    )


def _rest(drivers: Sequence[Driver], joints: Sequence[Joint]) -> list[float]:
    return [joints[one.ram].rest_length if one.is_ram else 0.0 for one in drivers]


def _hangs(steps: Sequence[Placing]) -> tuple[frozenset[int], ...]:
    """Return the drivers on which each step depends: those of its bodies' motion against one another."""
    above: dict[
        int, tuple[int, frozenset[int]]
    ] = {}  # of each body: the one that carries it, by which drivers
    found = []
    for step in steps:
        ways = [_way_down(body, above) for body in step.on]
        carrier = next(body for body, _ in ways[0] if all(body in dict(way) for way in ways))
        on = frozenset[int]().union(*(dict(way)[carrier] for way in ways), step.drivers)
        above.update((body, (carrier, on)) for body in step.bodies)
        found.append(on)
    return tuple(found)


def _way_down(body: int, above: dict[int, tuple[int, frozenset[int]]]) -> list[tuple[int, frozenset[int]]]:
    """Return the bodies that carry one, each with the drivers of the way to it."""
    way, on = [(body, frozenset[int]())], frozenset[int]()
    while body != GROUND:
        body, more = above[body]
        on |= more
        way.append((body, on))
    return way


class _Builder:
    """The search for steps: bodies that are known, joints that are used."""

    def __init__(self, names: Sequence[Body], joints: Sequence[Joint], drivers: Sequence[Driver]) -> None:
        self.names, self.joints, self.drivers = names, joints, drivers
        self.known, self.used, self.driving = {GROUND}, set[int](), set[int]()
        self.whole = {GROUND}
        self.steps: list[Placing] = []
        self.groups: dict[int, Group] = {}
        self.at: list[list[int]] = [[] for _ in names]
        for number, one in enumerate(joints):
            self.at[one.a].append(number)
            self.at[one.b].append(number)

    def build(self, by_triangles: bool) -> None:
        """Find steps until none is left."""
        while by_triangles and self._place_by_formula() or self._place_group(by_triangles):
            pass

    def _place_by_formula(self) -> bool:
        return any(self._place_one(body) for body in range(1, len(self.names))) or self._place_two()

    def _place_group(self, is_least: bool) -> bool:
        """Add the least group of bodies that hold one another, or all that are left."""
        left = [body for body in range(1, len(self.names)) if body not in self.known]
        rest = _rest(self.drivers, self.joints)
        for bodies in (*self._connected(left), tuple(left)) if is_least else (tuple(left),):
            equations = Equations(self.joints, self.drivers, bodies, self.known)
            if not 0 < len(bodies) <= MOST_LEFT or equations.count < 3 * len(bodies):
                continue
            group = Group(equations, self.known, rest)
            if group.is_held:
                self.groups[len(self.steps)] = group
                on = {end for one in equations.joints for end in (one.a, one.b)}
                on |= {end for n in equations.drivers for end in ends_of(self.drivers[n], self.joints)}
                known = tuple(on & self.known) or (GROUND,)
                return self._add(Placing(bodies, known, None, drivers=tuple(equations.drivers)))
        return False

    def _connected(self, left: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Yield the sets of bodies that joints or drivers tie together, the small ones first."""
        ties = [(one.a, one.b) for one in self.joints if one.kind is not Kind.RAM]
        ties += [ends_of(one, self.joints) for one in self.drivers]
        near = {body: {b if a == body else a for a, b in ties if body in (a, b)} & {*left} for body in left}
        sets = {frozenset((body,)) for body in left}
        while sets and len(sets) <= MOST_SETS:
            yield from sorted(tuple(sorted(one)) for one in sets)
            sets = {one | {body} for one in sets for other in one for body in near[other] - one}

    def _add(self, step: Placing, *used: int) -> bool:
        self.steps.append(step)
        self.known.update(step.bodies)
        self.used.update(used)
        self.driving.update(step.drivers)
        return True

    def _of(self, body: int, *kinds: Kind) -> Iterator[tuple[int, Joint]]:
        """Yield the joints of some kinds between a body and known ones."""
        for number in self.at[body]:
            one = self.joints[number]
            if one.kind in kinds and one.other(body) in self.known:
                yield number, one

    def _angle(self, body: int) -> tuple[tuple[int, ...], Angle, int, int] | None:
        """Return how a body's turn is known: on which bodies, the formula, the driver, the joint used."""
        for number, one in enumerate(self.drivers):
            if not one.is_ram and body in (one.body, one.against):
                other = one.against if body == one.body else one.body
                if other in self.known:
                    sign = 1.0 if body == one.body else -1.0
                    return (other,), _against(other, number, sign), number, -1
        for used, joint in self._of(body, Kind.GUIDE, Kind.GEAR):
            other, ratio = joint.other(body), 1.0
            if joint.kind is Kind.GEAR:
                ratio = joint.ratio if body == joint.b else 1.0 / joint.ratio
            on = (other, GROUND) if joint.kind is Kind.GEAR else (other,)
            return on, _geared(other, ratio, other in self.whole), -1, used if joint.kind is Kind.GEAR else -1
        return None

    def _place_one(self, body: int) -> bool:
        """Add the step that places one body, if known bodies decide it."""
        pins = [] if body in self.known else list(self._of(body, Kind.PIN))
        if not pins:
            return False
        (number, pin), end = pins[0], _end(pins[0][1], body)
        own = pin.end(body)
        if angle := self._angle(body):
            if angle[0][0] in self.whole or GROUND in angle[0]:
                self.whole.add(body)
            return self._add(pin_and_angle(body, own, end, *angle[:3]), number, angle[3])
        far = max((one for _, one in pins), key=lambda one: abs(one.end(body) - own))
        if abs(far.end(body) - own) > POINT:  # its distance is not used: it is looked at in the end
            return self._add(two_pins(body, (own, far.end(body)), (end, _end(far, body))), number)
        for used, ram in self._of(body, Kind.RAM):
            for driver, one in enumerate(self.drivers):
                if one.ram == used:
                    self._refuse_point(body, own, ram.end(body))
                    step = pin_and_ram(body, (own, ram.end(body)), (end, _end(ram, body)), driver)
                    return self._add(step, number, used)
        for used, slide in self._of(body, Kind.SLIDE):
            if slide.b == body:
                self._refuse_point(body, own, slide.at_b)
                line = (slide.a, slide.at_a)
                return self._add(
                    pin_on_line(body, (own, slide.at_b), end, line, slide.along, None), number, used
                )
            through = _end(slide, body)
            return self._add(
                pin_and_own_line(body, (own, slide.at_a), slide.along, end, through), number, used
            )
        return False

    def _refuse_point(self, body: int, first: complex, second: complex) -> None:
        if abs(second - first) <= POINT:
            raise refusal("Two joints of '{body}' are in one place: move one", body=self.names[body])

    def _place_two(self) -> bool:
        """Add the step that places two bodies that are pinned together, if known bodies decide it."""
        for number, pin in enumerate(self.joints):
            if pin.kind is not Kind.PIN or {pin.a, pin.b} & self.known:
                continue
            for x, y in ((pin.a, pin.b), (pin.b, pin.a)):
                for used, first in self._of(x, Kind.PIN):
                    self._refuse_point(x, first.end(x), pin.end(x))
                    start = _end(first, x)
                    for other, second in self._of(y, Kind.PIN):
                        self._refuse_point(y, second.end(y), pin.end(y))
                        own = (first.end(x), pin.end(x), pin.end(y), second.end(y))
                        return self._add(dyad((x, y), own, (start, _end(second, y))), number, used, other)
                    for other, guide in self._of(y, Kind.GUIDE):
                        # The line of y's pin: where the known body would carry it.
                        known = guide.other(y)
                        ends, line = (first.end(x), pin.end(x)), (known, pin.end(y))
                        step = pin_on_line(x, ends, start, line, guide.along, (y, pin.end(y)))
                        return self._add(step, number, used, other)
        return False


def _end(joint: Joint, body: int) -> End:
    """Return the joint's end on the other body."""
    other = joint.other(body)
    return other, joint.end(other)


def _against(other: int, driver: int, sign: float) -> Angle:
    def angle(poses: Poses) -> Floats:
        turn: Floats = poses.turns[other] + sign * poses.values[driver]
        return turn

    return angle


def _geared(other: int, ratio: float, is_whole: bool) -> Angle:
    def angle(poses: Poses) -> Floats:
        return ratio * (poses.turns[other] if is_whole else poses.continuous(other))

    return angle
