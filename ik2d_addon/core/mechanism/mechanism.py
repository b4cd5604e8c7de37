# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms: what a caller builds and solves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..errors import IK2DError
from ..inputs import LARGEST_ANGLE, LONGEST, Floats, brief, checked_kind, common_shape, floats_within, number
from ..words import refusal
from .backwards import GoingOn, solved_backwards
from .drivers import feasible, furthest
from .joints import GROUND, MOST_BODIES, Body, Driver, Joint, Kind, checked_body, point
from .mobility import Mobility, mobility_of
from .plan import Plan, planned
from .solution import MechanismSolution
from .solve import solved

DEAD = ("STOP", "EASE", "THROUGH")
# Of a place that is dragged, from the joints, in sizes.
FARTHEST = 1e6


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A planar mechanism: bodies, joints between two of them, and drivers. Each method returns a larger one.

    A body is a name or a number; 0 is the ground. It is there as soon as a joint names it; at most
    MOST_BODIES (500) are. Places are (x, y) in the rest pose, in any unit. Turns are radians from rest.

    bodies, joints, drivers: as the methods make them. sides: bodies whose triangle is on the other side.

    >>> crank = Mechanism().pin(0, "crank", [0, 0]).pin("crank", "rod", [1, 0]).pin("rod", "piston", [4, 0.2])
    >>> engine = crank.slide(0, "piston", [4, 0.2], [1, 0], keeps_angle=True).drive("crank")
    >>> engine.mobility().words(), engine.solve({"crank": [0, np.pi]}).places("piston", [4, 0.2]).round(3)
    ('1 freedom, 1 driver', array([[4. , 0.2],
           [2. , 0.2]]))
    """

    bodies: tuple[Body, ...] = (GROUND,)
    joints: tuple[Joint, ...] = ()
    drivers: tuple[Driver, ...] = ()
    sides: frozenset[Body] = frozenset()

    def __reduce__(self) -> tuple[type["Mechanism"], tuple[object, ...]]:
        return Mechanism, (self.bodies, self.joints, self.drivers, self.sides)  # a plan has functions

    def pin(self, a: Body, b: Body, place: ArrayLike, place_b: ArrayLike | None = None) -> "Mechanism":
        """Keep a place of body a and one of body b together; place_b: where the rest pose is not closed.

        Raises IK2DError for a body on itself, and for two bodies with two pins.
        """
        at, pair = point(place, "place"), {checked_body(a), checked_body(b)}
        if any(
            one.kind is Kind.PIN and {self.bodies[one.a], self.bodies[one.b]} == pair for one in self.joints
        ):
            raise refusal("'{a}' and '{b}' are pinned already: a loop needs three bodies or more", a=a, b=b)
        return self._with(a, b, Kind.PIN, at, at if place_b is None else point(place_b, "place_b"))

    def slide(
        self, a: Body, b: Body, place: ArrayLike, direction: ArrayLike, keeps_angle: bool = False
    ) -> "Mechanism":
        """Keep a place of body b on the line of body a through it in a direction (x, y).

        keeps_angle: b does not turn against a, as a piston does not. Raises IK2DError for no direction.
        """
        along = point(direction, "direction")
        if not along:
            raise refusal("The slide of '{a}' and '{b}' has no direction", a=a, b=b)
        along /= max(abs(along.real), abs(along.imag))  # the length of the least numbers has no digits
        checked_kind(keeps_angle, bool, "keeps_angle")
        at, kind = point(place, "place"), Kind.GUIDE if keeps_angle else Kind.SLIDE
        return self._with(a, b, kind, at, at, along=along / abs(along))

    def gear(self, a: Body, b: Body, ratio: float) -> "Mechanism":
        """Turn body b by `ratio` times what body a turns, both against the ground: negative the other way.

        Where a triangle turns the one that leads, whole turns count from the frame that is nearest to rest.
        Raises IK2DError for a ratio of zero, and one over a million.
        """
        turns, named = number(ratio, "ratio"), (checked_body(a), checked_body(b))
        if not 1e-6 <= abs(turns) <= 1e6:
            raise refusal(
                "The gear of '{a}' and '{b}' has a ratio of {ratio}", a=named[0], b=named[1], ratio=turns
            )
        return self._with(a, b, Kind.GEAR, 0j, 0j, ratio=turns)

    def ram(self, a: Body, place_a: ArrayLike, b: Body, place_b: ArrayLike, name: str = "ram") -> "Mechanism":
        """Span a ram from a place of body a to one of body b, whose length follows or drives.

        Raises IK2DError for a name that a body or another ram has.
        """
        taken = {*self.bodies, *(one.name for one in self.joints if one.kind is Kind.RAM)}
        if not isinstance(name, str) or name in taken or name in (checked_body(a), checked_body(b)):
            raise IK2DError(f"the ram's name must be a text that nothing else has, not {brief(name)}")
        return self._with(a, b, Kind.RAM, point(place_a, "place_a"), point(place_b, "place_b"), name=name)

    def _with(
        self, a: Body, b: Body, kind: Kind, at_a: complex, at_b: complex, **more: object
    ) -> "Mechanism":
        if checked_body(a) == checked_body(b):
            raise refusal("A joint needs two bodies, not '{body}' and itself", body=a)
        bodies = (*self.bodies, *(one for one in map(checked_body, (a, b)) if one not in self.bodies))
        if len(bodies) > MOST_BODIES + 1:
            raise refusal("A mechanism has at most {most} bodies", most=MOST_BODIES)
        joint = Joint(kind, bodies.index(a), bodies.index(b), at_a, at_b, **more)  # type: ignore[arg-type]
        return replace(self, bodies=bodies, joints=(*self.joints, joint))

    def drive(self, what: Body, against: Body = GROUND) -> "Mechanism":
        """Have the turn of a body against another given, or the length of a ram; in this order to `solve`.

        Raises IK2DError for what the mechanism has not, and for a driver that it has.
        """
        checked_body(what)
        if any(one.name == what for one in self.drivers):
            raise refusal("'{driver}' drives already", driver=what)
        for count, one in enumerate(self.joints):
            if one.kind is Kind.RAM and one.name == what:
                return replace(self, drivers=(*self.drivers, Driver(what, ram=count)))
        if what == GROUND or what == checked_body(against):
            raise refusal("'{driver}' cannot drive itself", driver=what)
        driver = Driver(what, self._number(what), self._number(against))
        return replace(self, drivers=(*self.drivers, driver))

    def other_side(self, body: Body) -> "Mechanism":
        """Assemble the triangle that places a body on the other side than at rest; once more, as at rest."""
        self._number(body)
        return replace(self, sides=self.sides ^ {body})

    def _number(self, body: Body) -> int:
        if checked_body(body) in self.bodies:
            return self.bodies.index(body)
        raise IK2DError(f"the mechanism has no body or ram {brief(body)}")

    @cached_property
    def plan(self) -> Plan:
        """The steps that place the bodies, made once."""
        return planned(self.bodies, self.joints, self.drivers, self.sides)

    @property
    def size(self) -> float:
        """The diameter of all joints about their centre: what tolerances are parts of."""
        return self.plan.size

    def mobility(self) -> Mobility:
        """Return the freedoms, by Gruebler's count and by rank, and in words what is wrong, if anything."""
        return mobility_of(self.plan)

    def solve(
        self, drivers: Mapping[Body, ArrayLike], *, dead: str = "STOP", ease: float = 0.02
    ) -> MechanismSolution:
        """Return the poses for values of the drivers, each frame by its own values alone, all at once.

        drivers: (frames,) or one number for all of each driver: radians from rest, or a ram's length; one
        that is left out stays at rest. A triangle keeps the side that it has at rest, and Newton's method the
        sign of det J. Where a loop would tear, its driver is held at the nearest end of the interval that
        holds rest; a loop on several drivers holds these together, on their way from rest. Loops that do not
        close at rest stay open, their triangles stretched along the gap: `open` tells.
        dead: "STOP", at dead points, and where both sides of a triangle meet if the one that is kept opens a
        joint more than needed there; "EASE", into them: the way that is left becomes w exp((way - w) / w)
        below a width w, so that no speed is infinite; "THROUGH", where both sides of a triangle meet and part
        again, as those of coupled wheels, goes over to the other one.
        ease: w in radians, or as a part of a ram's length at rest.
        Raises IK2DError for drivers that are more or fewer than the freedoms, a rest pose that is a dead
        point or jams, and values that are no numbers. Groups as L. V. Assur has them (1914).

        >>> four = Mechanism().pin(0, "crank", [0, 0]).pin("crank", "rod", [0, 1]).pin("rod", "arm", [2, 2])
        >>> four = four.pin("arm", 0, [3, 0]).drive("crank")
        >>> np.degrees(four.solve({"crank": [0, np.pi, 2 * np.pi]}).turn("arm")).round(3) + 0.0
        array([ 0.   , 48.904,  0.   ])
        """
        width = self._width(dead, ease)
        return solved(self._ready(), self._values(drivers), dead, width)

    @staticmethod
    def _width(dead: str, ease: float) -> float:
        """Return the width of easing; raise IK2DError for what is none."""
        if not isinstance(dead, str) or dead not in DEAD:
            raise IK2DError(f"dead must be one of {', '.join(DEAD)}, not {brief(dead)}")
        width = number(ease, "ease")
        if width < 0.0:
            raise IK2DError(f"ease must not be negative, and it is {width}")
        return width

    def solve_target(
        self,
        body: Body,
        place: ArrayLike,
        target: ArrayLike,
        drivers: Mapping[Body, ArrayLike] | None = None,
        *,
        goes_on: bool = False,
        start: Mapping[Body, float] | None = None,
        ranges: Mapping[Body, tuple[float, float]] | None = None,
        dead: str = "STOP",
        ease: float = 0.02,
        near: Mapping[Body, ArrayLike] | None = None,
    ) -> MechanismSolution:
        """Return the poses that bring a place of a body nearest to targets, by the drivers not given.

        place: (x, y) at rest. target: (frames, 2), or one (2,). drivers: those that are given, as `solve` has
        them. The free ones start from the nearest of a table (one freedom: half degrees), then
        Gauss-Newton's method with damping (Levenberg 1944) goes on with all targets at once. Of poses that
        are equally near, a frame has that of the frame before, and the first one that nearest to rest.
        goes_on: each frame starts from the one before instead, as a dragged point does: one driver goes to
        the first least distance on its way, over no place that does not close. start: values of the free
        drivers from which the first frame goes on; without, from the best of the table. ranges: of free
        drivers, within which they stay then. near: values of all free drivers, (frames,) or one number, from
        which frames start instead. `residual` has the distances; `given` the values by which `solve` with
        the same dead and ease gives these poses.
        Raises IK2DError as `solve` does, and where all drivers are given.

        >>> crank = Mechanism().pin(0, "crank", [0, 0]).drive("crank")
        >>> crank.solve_target("crank", [1, 0], [[0, 1], [0, 3]]).turn("crank").round(6)
        array([1.570796, 1.570796])
        """
        plan, given = self._ready(), self._values({} if drivers is None else drivers)
        free = [count for count, one in enumerate(self.drivers) if one.name not in (drivers or {})]
        if not free:
            raise IK2DError("all drivers are given: leave out those that the target may move")
        checked_kind(goes_on, bool, "goes_on")
        targets = floats_within(target, "target", LONGEST)
        if targets.shape[-1:] != (2,) or targets.ndim > 2 or not targets.size:
            raise IK2DError(f"target must be pairs of x and y, not {brief(target)}")
        ends = (np.atleast_2d(targets) - [plan.centre.real, plan.centre.imag]) / plan.size
        at = (point(place, "place") - plan.centre) / plan.size
        if not abs(at) <= FARTHEST:
            raise IK2DError(f"place must be nearer to the joints, within {FARTHEST:g} sizes of them")
        frames = common_shape(target=(len(ends),), drivers=(len(given[0]),))[0]
        goals = np.broadcast_to(ends[:, 0] + 1j * ends[:, 1], frames)
        values = [np.broadcast_to(value, frames) for value in given]
        way = self._going_on(free, start, ranges) if goes_on else None
        body_place = self._number(body), at
        starts = None
        if near is not None:
            around = self._values(near)
            starts = np.stack([np.broadcast_to(around[count], frames) for count in free], axis=1)
        width = self._width(dead, ease)
        return solved_backwards(plan, values, free, body_place, goals, way, dead, width, starts)

    def _going_on(
        self,
        free: Sequence[int],
        start: Mapping[Body, float] | None,
        ranges: Mapping[Body, tuple[float, float]] | None,
    ) -> GoingOn:
        """Return the free drivers' values to start from, and their ranges, in parts of the size."""
        begin, within = None, np.tile((-np.inf, np.inf), (len(free), 1))
        if start is not None:
            begin = np.array([self._values(start)[count][0] for count in free])
        for name, ends in (ranges or {}).items():
            count = self._driver(name)
            within[free.index(count)] = np.array(ends) / self.plan.unit(count)
        return GoingOn(begin, within)

    def feasible(
        self, driver: Body, least: float, greatest: float, others: Mapping[Body, float] | None = None
    ) -> Floats:
        """Return the intervals (k, 2) of a driver's values, from least to greatest, in which all loops close.

        An end inside is a dead point, to 1e-12. others: one value for each other driver; rest without.

        >>> toggle = Mechanism().pin(0, "a", [0, 0]).pin("a", "b", [0, 1]).pin("b", "c", [2, 1.5])
        >>> toggle.pin("c", 0, [2, 0]).drive("a").feasible("a", -np.pi, np.pi).round(3)
        array([[-2.484,  0.964]])
        """
        plan = self._ready()
        count = self._driver(driver)
        ends = [number(value, name) for value, name in ((least, "least"), (greatest, "greatest"))]
        if ends[0] >= ends[1]:
            raise IK2DError(f"least must be below greatest, not {ends[0]} and {ends[1]}")
        values = [float(value[0]) for value in self._values({} if others is None else others)]
        unit, most = plan.unit(count), furthest(plan, count)
        words = "sizes of the mechanism" if self.drivers[count].is_ram else "radians"
        if max(abs(end / unit) for end in ends) > most:
            raise IK2DError(f"a driver's range must lie within {most:.0f} {words}")
        return feasible(plan, count, ends[0] / unit, ends[1] / unit, values) * unit

    def _ready(self) -> Plan:
        """Return the plan; raise IK2DError where it does not move as its drivers say."""
        if not self.fault:
            return self.plan
        raise IK2DError(self.fault)

    @cached_property
    def fault(self) -> str:
        """Why it does not move as its drivers say, "" where it does."""
        plan = self.plan
        is_plain = not (plan.left or plan.idle or plan.unused or plan.flat)
        return "" if is_plain else mobility_of(plan).fault

    def _driver(self, name: Body) -> int:
        for count, one in enumerate(self.drivers):
            if one.name == checked_body(name):
                return count
        raise IK2DError(f"{brief(name)} is no driver of this mechanism")

    def _values(self, drivers: Mapping[Body, ArrayLike]) -> list[Floats]:
        """Return the drivers' values (frames,), lengths as parts of the size."""
        checked_kind(drivers, Mapping, "drivers")
        found = [np.array([rest]) for rest in self.plan.rest]
        for name, given in drivers.items():
            count = self._driver(name)
            is_ram = self.drivers[count].is_ram
            values = floats_within(given, f"driver {name!r}", LONGEST if is_ram else LARGEST_ANGLE)
            if values.ndim > 1 or not values.size:
                raise IK2DError(f"driver {name!r} must be one number a frame, not {brief(given)}")
            if is_ram and (values < 0.0).any():
                raise IK2DError(f"the length of {name!r} must not be negative")
            found[count] = np.atleast_1d(values / self.plan.unit(count))
        frames = common_shape(
            **{str(one.name): value.shape for one, value in zip(self.drivers, found, strict=True)}
        )
        return [np.broadcast_to(value, frames) for value in found]
