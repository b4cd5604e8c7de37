# SPDX-License-Identifier: GPL-3.0-or-later
"""Plan of a mechanism's drivers: the steps of core/mechanism/steps.py in simple expressions.

Of each body, by its number, the turn from rest is `a`, and the shift of its places `x` and `y`; places are
parts of the mechanism's size, whatever that is. Driver values are floats of 32 bits: a triangle's knee comes
from the squares of its sides, and its heading from that knee, so that it closes as it was rounded.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....core.mechanism import drivers, steps
from ....core.mechanism.joints import GROUND, Kind
from ....core.mechanism.plan import Plan
from ....core.words import noted, refusal
from ....rig.mechanism.read import RAM, TURN, RigMechanism
from ....rig.mechanism.values import turning_axis
from ..expressions import names_in, num

# The variables of a driving bone's evaluated rotation in its own space, and a ram's length, 0..1.
QUATERNION, LENGTH = ("qw", "qx", "qy", "qz"), "l"
# A part of an axis that is left out.
_NOTHING = 1e-12
_NO_NEWTON = noted(
    "{bodies} hold one another in no triangle, which only a bake can solve; let another bone drive it"
)
_NO_THROUGH = noted("it goes through dead points, as only a bake can; set At Dead Points to Stop, or bake it")
_Expression = tuple[str, str]


@dataclass(frozen=True)
class MechanismPlan:
    """Driven properties, by their names, and those that turn bones."""

    steps: tuple[tuple[str, str], ...]  # (name, expression), in any order
    turns: dict[str, str]  # of each bone that it turns, the expression of its turn against its parent


def plan_mechanism(rig: RigMechanism) -> MechanismPlan:
    """Return the plan of a mechanism without gears and targets.

    Raises IK2DError, without its name, for bodies in no triangle, and for one that goes through dead points.
    """
    plan = rig.core.plan
    if plan.groups:
        bodies = next(iter(plan.groups.values())).bodies
        raise refusal(_NO_NEWTON, bodies=plan.words(bodies))
    found = [*_values(rig, plan)]
    for number, step in enumerate(plan.steps):
        found += [*_RULES[step.rule](_Step(plan, number), *step.numbers)]
    numbers = {str(name): number for number, name in enumerate(plan.names) if number != GROUND}
    turned = {bone: f"a{number}" for bone, number in numbers.items()}
    for joint in (one for one in plan.joints if one.kind is Kind.RAM):
        rod = next(ram.other for ram in rig.rams if ram.bone == joint.name)
        name = turned[joint.name] = turned[rod] = f"m{plan.joints.index(joint)}"
        x, y = _way((joint.a, joint.at_a), (joint.b, joint.at_b))
        found += [(f"{name}x", x), (f"{name}y", y)]
        found.append((name, f"atan2({name}y,{name}x)-{num(float(np.angle(joint.at_b - joint.at_a)))}"))
    driving = {one.bone for one in rig.drivers if one.kind == TURN}
    turns = {}
    for bone in rig.turned_bones:
        if bone not in driving:
            parent = rig.placed[bone].parent
            turns[bone] = turned[bone] + (f"-{turned[parent]}" if parent else "")
    return MechanismPlan(tuple(_needed(found, turns.values())), turns)


def _needed(found: Sequence[_Expression], asked: Any) -> Iterator[_Expression]:
    """Yield the expressions that others read, or that are asked for."""
    expressions, wanted = dict(found), list[str]()
    waiting = [name for text in asked for name in names_in(text)]
    while waiting:
        name = waiting.pop()
        if name in expressions and name not in wanted:
            wanted.append(name)
            waiting += names_in(expressions[name])
    yield from ((name, text) for name, text in found if name in wanted)


# --- Drivers -------------------------------------------------------------------


def _values(rig: RigMechanism, plan: Plan) -> Iterator[_Expression]:
    """Yield each driver's value, in the plan's units, and a ram's length held where its loops would tear."""
    for number, one in enumerate(rig.drivers):
        name = f"v{number}"
        if one.kind == TURN:
            w, *letters = (f"{letter}{number}" for letter in QUATERNION)
            parts = zip(turning_axis(rig, one.bone), letters, strict=True)
            along = "+".join(f"{num(value)}*{letter}" for value, letter in parts if abs(value) > _NOTHING)
            yield name, f"2*atan2(({along})*(1 if {w}>=0 else -1),abs({w}))"
            continue
        low, high = (end / plan.size for end in one.stroke)
        given = f"g{number}"
        yield given, f"{num(low)}+{num(high - low)}*clamp(l{number},0,1)"
        width = rig.softness * plan.rest[number] if rig.dead == 'EASE' else 0.0
        least, most = stops_of(rig, number)
        for letter, end, sign in (("e", most, 1.0), ("v", least, -1.0)):
            room = 0.0 if end is None else min(width, abs(end - plan.rest[number]))
            yield f"{letter}{number}", given if end is None else _held(given, end, sign, room)
            given = f"{letter}{number}"


def stops_of(rig: RigMechanism, number: int) -> tuple[float | None, float | None]:
    """Return a driver's values, in the plan's units, beyond which its loops tear; None where none does."""
    plan = rig.core.plan
    one, rest = rig.drivers[number], plan.rest[number]
    ends = np.array(one.stroke) / plan.size if one.kind == RAM else np.array((-np.pi, np.pi))
    table = drivers.stops(plan, number, ends, rig.dead)
    if table is None:
        return None, None
    if rig.dead == 'THROUGH' and table.turnings:
        raise refusal(_NO_THROUGH)
    low, high = table.low, table.high
    return (
        low if ends[0] < low <= rest else None,
        high if rest <= high < ends[1] else None,
    )


def _held(value: str, end: float, sign: float, width: float) -> str:
    """Return the expression of a value held at an end, and eased over a width into it.

    The way left, x, becomes w exp((x - w) / w) below w, as `core/softness.py` has it.
    """
    if width <= 0.0:
        return f"{'min' if sign > 0.0 else 'max'}({value},{num(end)})"
    left, w = (f"({num(end)}-{value})" if sign > 0.0 else f"({value}-{num(end)})"), num(width)
    return f"{num(end)}{'-' if sign > 0.0 else '+'}max({left},{w}*exp(-max({w}-{left},0)/{w}))"


# --- Steps ---------------------------------------------------------------------


def _at(end: steps.End) -> _Expression:
    """Return the expressions of where a place of a body is."""
    body, place = end
    if body == GROUND:
        return num(place.real), num(place.imag)
    return (
        f"{num(place.real)}*cos(a{body})-{num(place.imag)}*sin(a{body})+x{body}",
        f"{num(place.real)}*sin(a{body})+{num(place.imag)}*cos(a{body})+y{body}",
    )


def _way(start: steps.End, end: steps.End) -> _Expression:
    """Return the expressions of the way from one place to another."""
    (x, y), (to_x, to_y) = _at(start), _at(end)
    return f"{to_x}-({x})", f"{to_y}-({y})"


def _put(body: int, turn: str, place: complex, at: _Expression) -> Iterator[_Expression]:
    """Yield the turn of a body and its shift, from where one of its places is."""
    yield f"a{body}", turn
    yield f"x{body}", f"{at[0]}-({num(place.real)}*cos(a{body})-{num(place.imag)}*sin(a{body}))"
    yield f"y{body}", f"{at[1]}-({num(place.real)}*sin(a{body})+{num(place.imag)}*cos(a{body}))"


@dataclass(frozen=True)
class _Step:
    """A step of a plan, by its number, in expressions: each function takes the numbers of its rule."""

    plan: Plan
    number: int

    @property
    def side(self) -> str:
        """The side that its triangle keeps."""
        return num(self.plan.steps[self.number].side)

    @property
    def bodies(self) -> tuple[int, ...]:
        """The bodies that it places."""
        return self.plan.steps[self.number].bodies

    def of(self, name: str) -> str:
        """Return the name of a property of its own."""
        return f"{name}{self.number}"

    def angle(self, own: complex, pin: steps.End) -> Iterator[_Expression]:
        """Yield a body with a pin and a known turn."""
        step, (body,) = self.plan.steps[self.number], self.bodies
        other = step.on[1]
        turn = "0" if other == GROUND else f"a{other}"
        for driver in step.drivers:
            turn += f"{'+' if self.plan.drivers[driver].body == body else '-'}v{driver}"
        yield from _put(body, turn, own, _at(pin))

    def two_pins(self, own: Sequence[complex], pins: Sequence[steps.End]) -> Iterator[_Expression]:
        """Yield a body with two pins."""
        x, y = self.of("u"), self.of("w")
        yield from zip((x, y), _way(*pins), strict=True)
        turn = f"atan2({y},{x})-{num(float(np.angle(own[1] - own[0])))}"
        yield from _put(self.bodies[0], turn, own[0], _at(pins[0]))

    def dyad(self, own: Sequence[complex], pins: Sequence[steps.End]) -> Iterator[_Expression]:
        """Yield two bodies with three pins."""
        first, second = own[1] - own[0], own[3] - own[2]
        yield from self._triangle(num(abs(first)), num(abs(second)), pins)
        (x, y), (h, k) = self.bodies, (self.of("h"), self.of("k"))
        yield from _put(x, f"{h}-{num(float(np.angle(first)))}", own[0], _at(pins[0]))
        yield from _put(y, f"{h}+{k}-{num(float(np.angle(second)))}", own[3], _at(pins[1]))

    def ram(self, own: Sequence[complex], pins: Sequence[steps.End]) -> Iterator[_Expression]:
        """Yield a body with a pin and a ram of a given length."""
        arm = own[1] - own[0]
        (driver,) = self.plan.steps[self.number].drivers
        yield from self._triangle(num(abs(arm)), f"v{driver}", pins)
        turn = f"{self.of('h')}-{num(float(np.angle(arm)))}"
        yield from _put(self.bodies[0], turn, own[0], _at(pins[0]))

    def _triangle(self, first: str, second: str, pins: Sequence[steps.End]) -> Iterator[_Expression]:
        """Yield the heading "h" of the first side and the turn "k" to the second, over a base."""
        u, w, h, k = (self.of(name) for name in "uwhk")
        yield from zip((u, w), _way(*pins), strict=True)
        square = f"{u}*{u}+{w}*{w}"
        above = f"sqrt(max(({first}+{second})*({first}+{second})-({square}),0))"
        below = f"sqrt(max({square}-({first}-{second})*({first}-{second}),0))"
        yield k, f"{self.side}*2*atan2({above},{below})"
        adjacent, opposite = f"({first}+{second}*cos({k}))", f"{second}*sin({k})"
        yield h, f"atan2({w}*{adjacent}-{u}*{opposite},{u}*{adjacent}+{w}*{opposite})"

    def on_line(
        self,
        own: Sequence[complex],
        pin: steps.End,
        line: steps.End,
        along: complex,
        slider: steps.End | None,
    ) -> Iterator[_Expression]:
        """Yield a body with a pin, whose other place slides on a line, and what is pinned to that."""
        arm, carrier = own[1] - own[0], line[0]
        u, w, f, h, leg = (self.of(name) for name in ("u", "w", "f", "h", "k"))
        turned = "0" if carrier == GROUND else f"a{carrier}"
        direction = f"({turned}+{num(float(np.angle(along)))})"
        yield from zip((u, w), _way(line, pin), strict=True)
        r = num(abs(arm))
        yield f, f"{u}*cos{direction}+{w}*sin{direction}"
        yield h, f"clamp({w}*cos{direction}-{u}*sin{direction},-{r},{r})"
        yield leg, f"{self.side}*sqrt(max(({r}-{h})*({r}+{h}),0))"
        turn = f"{direction}+atan2(-{h},{leg})-{num(float(np.angle(arm)))}"
        yield from _put(self.bodies[0], turn, own[0], _at(pin))
        if slider:
            x, y = _at(line)
            at = f"{x}+({f}+{leg})*cos{direction}", f"{y}+({f}+{leg})*sin{direction}"
            yield from _put(slider[0], turned, slider[1], at)

    def own_line(
        self, own: Sequence[complex], along: complex, pin: steps.End, through: steps.End
    ) -> Iterator[_Expression]:
        """Yield a body with a pin, whose own line goes through a known place."""
        e = num(float(((own[1] - own[0]) * along.conjugate()).imag))
        u, w = self.of("u"), self.of("w")
        yield from zip((u, w), _way(pin, through), strict=True)
        leg = f"{self.side}*sqrt(max({u}*{u}+{w}*{w}-{e}*{e},0))"
        turn = f"atan2({w},{u})-atan2({e},{leg})-{num(float(np.angle(along)))}"
        yield from _put(self.bodies[0], turn, own[0], _at(pin))


_RULES: dict[Any, Callable[..., Iterator[_Expression]]] = {
    steps.pin_and_angle: _Step.angle,
    steps.two_pins: _Step.two_pins,
    steps.dyad: _Step.dyad,
    steps.pin_and_ram: _Step.ram,
    steps.pin_on_line: _Step.on_line,
    steps.pin_and_own_line: _Step.own_line,
}
