# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that people build: a mechanism, its drivers' values over a run, and a place of a body to look at.

Places are complex numbers here; `xy` makes pairs of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ik2d_addon.core import Mechanism

TURN = 2.0 * np.pi


@dataclass(frozen=True)
class Machine:
    """A mechanism, how it is driven in m frames, and a place that is looked at."""

    mechanism: Mechanism
    run: Callable[[int], dict]
    body: str
    place: list[float]


def xy(place):
    """Return a complex number as a pair."""
    return [complex(place).real, complex(place).imag]


def crossing(a, ra, b, rb, side):
    """Return the place at distances ra of a and rb of b, on the left (+1) or right (-1) of a -> b."""
    d = abs(b - a)
    x = (d * d + ra * ra - rb * rb) / (2.0 * d)
    return a + (b - a) / d * (x + 1j * side * np.sqrt(ra * ra - x * x))


def pinned(*pins):
    """Return a mechanism of pins (a, b, place)."""
    mechanism = Mechanism()
    for a, b, place in pins:
        mechanism = mechanism.pin(a, b, xy(place))
    return mechanism


def turns(name="crank", low=0.0, high=TURN):
    """Return the run of a driver that turns from one angle to another."""
    return lambda m: {name: np.linspace(low, high, m)}


def four_bar():
    a, d = 1j, 3.0
    b = crossing(a, 2.5, d, 2.0, 1)
    mechanism = pinned((0, "crank", 0), ("crank", "coupler", a), ("coupler", "rocker", b), ("rocker", 0, d))
    return Machine(mechanism.drive("crank"), turns(), "coupler", xy((a + b) / 2.0 + 0.5j))


def slider_crank():
    s = 1.0 + np.sqrt(9.0 - 0.04) + 0.2j
    mechanism = pinned((0, "crank", 0), ("crank", "rod", 1.0), ("rod", "piston", s))
    mechanism = mechanism.slide(0, "piston", xy(s), [1, 0], keeps_angle=True)
    return Machine(mechanism.drive("crank"), turns(), "piston", xy(s))


def toggle_clamp():
    k, a = 2.0 + 0.2j, -0.15 + 1.2j
    b = crossing(a, 1.6, k, 1.0, 1)
    mechanism = pinned((0, "handle", 0), ("handle", "link", a), ("link", "arm", b), ("arm", 0, k))
    return Machine(mechanism.drive("handle"), turns("handle", 0.2, -1.05), "arm", xy(b + 0.8))


def scissor_lift(stages=3):
    w, h = 2.0 * np.cos(np.radians(30)), 2.0 * np.sin(np.radians(30))
    mechanism = pinned((0, "a0", 0)).drive("a0").slide(0, "b0", xy(w), [1, 0])
    for i in range(stages):
        mechanism = mechanism.pin(f"a{i}", f"b{i}", xy(w / 2 + 1j * h * (i + 0.5)))
        if i + 1 < stages:
            mechanism = mechanism.pin(f"b{i}", f"a{i + 1}", xy(1j * h * (i + 1)))
            mechanism = mechanism.pin(f"a{i}", f"b{i + 1}", xy(w + 1j * h * (i + 1)))
    top = 1j * h * stages
    mechanism = mechanism.pin(f"b{stages - 1}", "deck", xy(top))
    mechanism = mechanism.slide("deck", f"a{stages - 1}", xy(w + top), [1, 0])
    return Machine(mechanism, turns("a0", np.radians(-27), np.radians(35)), "deck", xy(w / 2 + top))


def peaucellier():
    o, q = 0.0, 1.0
    c = q + np.exp(0.3j)
    a, b = crossing(o, 3.0, c, 1.2, 1), crossing(o, 3.0, c, 1.2, -1)
    p = a + b - c
    pins = [(0, "crank", q), (0, "la", o), (0, "lb", o), ("crank", "ca", c), ("crank", "cb", c)]
    pins += [("la", "ca", a), ("lb", "cb", b), ("la", "pa", a), ("lb", "pb", b), ("pa", "pb", p)]
    return Machine(pinned(*pins).drive("crank"), turns("crank", -0.9, 0.3), "pa", xy(p))


def landing_gear():
    s, b, r = 0j, 1.2 + 0.1j, 0.45 + 0.35j
    lug = -1.1j
    knee = crossing(b, 0.78, lug, 0.92, -1)
    eye = b + (knee - b) * 0.45 + 0.15j
    mechanism = pinned((0, "strut", s), (0, "upper", b), ("upper", "lower", knee), ("lower", "strut", lug))
    length = abs(eye - r)
    mechanism = mechanism.ram(0, xy(r), "upper", xy(eye)).drive("ram")
    return Machine(mechanism, turns("ram", length, 1.8 * length), "strut", [0.0, -2.2])


# Rams of the excavator: between which bodies, and where.
EXCAVATOR_RAMS = {
    "ram boom": (0, 0.9 - 0.2j, "boom", 2.0 + 1.5j),
    "ram stick": ("boom", 2.6 + 2.0j, "stick", 3.75 + 1.75j),
}


def excavator(drivers=("ram boom", "ram stick", "ram bucket")):
    e, k = 4.2 + 1.2j, 5.6 - 1.4j
    roc = k + 0.45 * (e - k) / abs(e - k)
    w = roc + 0.55 * np.exp(-0.1j)
    pins = [(0, "boom", 0), ("boom", "stick", e), ("stick", "bucket", k), ("stick", "rocker", roc)]
    mechanism = pinned(*pins, ("rocker", "link", w), ("link", "bucket", k + 0.45 + 0.12j))
    rams = {**EXCAVATOR_RAMS, "ram bucket": ("stick", 4.55 + 1.5j, "rocker", w)}
    for name, (a, at_a, b, at_b) in rams.items():
        mechanism = mechanism.ram(a, xy(at_a), b, xy(at_b), name)
    for name in drivers:
        mechanism = mechanism.drive(*name) if isinstance(name, tuple) else mechanism.drive(name)
    lengths = [abs(at_b - at_a) for _, at_a, _, at_b in rams.values()]

    def run(m):
        s = np.linspace(0.0, TURN, m)
        parts = 0.12 * np.sin(s), 0.16 * (1.0 - np.cos(2 * s)), 0.06 * np.sin(3 * s)
        return {name: length * (1.0 + part) for name, length, part in zip(rams, lengths, parts, strict=True)}

    return Machine(mechanism, run, "bucket", xy(k + 0.2 - 1.2j))


def watt():
    a, d, f = 1j, 3.0, 6.0
    b = crossing(a, 2.5, d, 2.0, 1)
    c = d + (b - d) * np.exp(-0.9j) * 0.9
    e = crossing(c, 2.6, f, 2.2, 1)
    pins = [(0, "crank", 0), ("crank", "coupler", a), ("coupler", "rocker", b), ("rocker", 0, d)]
    mechanism = pinned(*pins, ("rocker", "second", c), ("second", "out", e), ("out", 0, f))
    return Machine(mechanism.drive("crank"), turns(), "out", xy(e))


def stephenson(driver="crank"):
    """Driven at its far link it has no triangles: a group of class III."""
    a, d, f = 1j, 3.0, -1.0 + 4.5j
    b = crossing(a, 2.5, d, 2.0, 1)
    c = a + (b - a) * (0.6 + 0.5j)
    e = crossing(c, 2.6, f, 2.4, 1)
    pins = [(0, "crank", 0), ("crank", "coupler", a), ("coupler", "rocker", b), ("rocker", 0, d)]
    mechanism = pinned(*pins, ("coupler", "link", c), ("link", "far", e), ("far", 0, f))
    far = lambda m: {"far": -0.16 + 0.30 * np.sin(np.linspace(0, TURN, m))}  # noqa: E731
    return Machine(mechanism.drive(driver), far if driver == "far" else turns(), "rocker", xy(b))


def far_stephenson():
    return stephenson("far")


def pantograph():
    a, b = np.exp(2.0j), np.exp(0.9j)
    pins = [(0, "arm", 0), ("arm", "forearm", 2 * a), ("arm", "inner", a)]
    mechanism = pinned(*pins, ("forearm", "outer", 2 * a + b), ("inner", "outer", a + b))

    def run(m):
        s = np.linspace(0.0, TURN, m)
        return {"arm": 0.4 * np.sin(s), "forearm": 0.5 * np.cos(s) - 0.5}

    return Machine(mechanism.drive("arm").drive("forearm"), run, "forearm", xy(2 * a + 2 * b))


def jansen_leg():
    """Theo Jansen's leg, by his eleven holy numbers."""
    x, y = 15.0 + 0j, -38.0 - 7.8j
    u, v = crossing(x, 50.0, y, 41.5, -1), crossing(x, 61.9, y, 39.3, 1)
    u, v = (
        max(u, crossing(x, 50.0, y, 41.5, 1), key=np.imag),
        min(v, crossing(x, 61.9, y, 39.3, -1), key=np.imag),
    )
    w = min((crossing(u, 55.8, y, 40.1, s) for s in (1, -1)), key=np.real)
    z = min((crossing(w, 39.4, v, 36.7, s) for s in (1, -1)), key=lambda p: p.imag + p.real)
    foot = min((crossing(z, 65.7, v, 49.0, s) for s in (1, -1)), key=np.imag)
    pins = [(0, "crank", 0), ("crank", "j", x), ("crank", "k", x), ("j", "upper", u), ("upper", 0, y)]
    pins += [("k", "c", v), ("c", 0, y), ("upper", "f", w), ("f", "foot", z), ("foot", "c", v)]
    return Machine(pinned(*pins).drive("crank"), turns(), "foot", xy(foot))


def whitworth():
    """A quick return: the crank's pin slides in the rocker."""
    a, o = 1.0, -1.8j
    mechanism = pinned((0, "crank", 0), (0, "rocker", o)).slide("rocker", "crank", xy(a), xy(a - o))
    return Machine(mechanism.drive("crank"), turns(), "rocker", xy(o + 4.0 * (a - o) / abs(a - o)))


def coupled_wheels(short=0.0):
    """A locomotive's; short: by how much its rod is, so that the wheels only come near their dead points."""
    a, d = 1j, 3.0
    b = crossing(a, 3.0 - short, d, 1.0 + 2.0 * short, 1) if short else d + 1j
    mechanism = pinned((0, "front", 0), ("front", "rod", a), ("rod", "back", b), ("back", 0, d))
    return Machine(mechanism.drive("front"), turns("front"), "rod", xy(1.5 + 1j))


def geared_five_bar():
    a, b, d = 1.0, 4.0 + 0.8j, 4.0
    p = crossing(a, 3.2, b, 3.2, 1)
    mechanism = pinned((0, "crank", 0), (0, "wheel", d)).gear("crank", "wheel", -1.0)
    for one in (("crank", "left", a), ("wheel", "right", b), ("left", "right", p)):
        mechanism = mechanism.pin(*one[:2], xy(one[2]))
    return Machine(mechanism.drive("crank"), turns(), "left", xy(p))


MACHINES = (
    four_bar,
    slider_crank,
    toggle_clamp,
    scissor_lift,
    peaucellier,
    landing_gear,
    excavator,
    watt,
    stephenson,
    far_stephenson,
    pantograph,
    jansen_leg,
    whitworth,
    coupled_wheels,
    geared_five_bar,
)


def openings(mechanism, solution):
    """Return by how much the worst joint is open (frames,), in sizes: from turns and shifts alone."""
    c = np.exp(1j * solution.turns)
    worst = np.zeros(len(c))
    for one in mechanism.joints:
        way = c[:, one.b] * one.at_b + solution.shifts[:, one.b]
        way = way - c[:, one.a] * one.at_a - solution.shifts[:, one.a]
        kind = one.kind.name
        if kind == "PIN":
            worst = np.maximum(worst, np.abs(way))
        if kind in ("SLIDE", "GUIDE"):
            worst = np.maximum(worst, np.abs((way * (c[:, one.a] * one.along).conj()).imag))
        if kind == "GUIDE":
            worst = np.maximum(worst, np.abs(c[:, one.a] - c[:, one.b]) * mechanism.size)
        if kind == "GEAR":
            turned = c[:, one.b] - np.exp(1j * one.ratio * solution.turns[:, one.a])
            worst = np.maximum(worst, np.abs(turned) * mechanism.size)
        if kind == "RAM" and one.name in solution.drivers:
            worst = np.maximum(worst, np.abs(np.abs(way) - solution.drivers[one.name]))
    return worst / mechanism.size


def poses(mechanism, solution):
    """Return exp(i turn) (frames, bodies): turns that do not count whole ones."""
    return np.exp(1j * solution.turns)
