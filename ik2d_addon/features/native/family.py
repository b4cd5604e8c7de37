# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers of three bones or more: for each joint an F-Curve over the target's distance.

If the root turns freely, Even and Arc have one pose for each distance h of the target. A driver's F-Curve may
have keys, and then maps the expression's value to the property's: so each joint's angle is a curve over

    u = 2 atan2(sqrt(o o - h h), sqrt(h h - i i))

with o and i the outer and inner reach: 0 for the stretched chain, pi for the closed one, with the square
roots that all such poses have near these. The other bend side is the curve's negative half.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...core import Chain, forward, solve_arc, solve_even
from ...core.inputs import Floats
from ...core.words import noted, refusal
from .drivers import handles
from .expressions import num
from .plan import Links, NativePlan, Shape
from .two_bone import evenly_stretched, softened

# u = pi. Blender finds the place in a piece up to rounding if keys and handles are whole multiples of a power
# of two (then the cubic of the place is a line), and takes a place within 1e-4 of a key for the key itself:
# so a piece's length is 3 times a power of two, and far more than that.
END = 3072.0
# Pieces on a side to begin with, and how often one is halved.
PIECES, HALVINGS = 16, 15
# A piece is halved while it moves the tip off by more (reach is 1), or a joint (radians).
TIP, JOINT = 2e-7, 2e-6
# The largest errors after that, at a kink or a step of the family: nobody sees them.
TIP_MISSED, JOINT_MISSED = 1e-5, 5e-3
# Rounds of aiming poses again, since Blender's rest matrices are off by up to 5e-5.
AIMS = 3
# A root is skewed if its axes are off the plane's by more than this.
SKEWED = 3e-7
# The largest error of the solver's own tips (reach is 1).
OFF_TARGET = 2e-5
# The tip's direction has no digits nearer than this to the root (reach is 1).
NEAR_ROOT = 1e-7

_ABRUPT = noted(
    "its pose changes too abruptly with the target's distance; set Solver to Circle, or bake it instead"
)

# From distances (m,), reach is 1, and a side to angles (m, n); the first turns the tip to the x axis.
Solver = Callable[[Floats, float], Floats]
# From angles (..., n) to tips (..., 2), reach is 1.
Tips = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class NativeFamily:
    """Angles as cubics over -END..END; the first is the root's turn that brings the tip to the x axis."""

    places: Floats  # (k + 1,) the ends of the pieces, rising
    values: Floats  # (k, 4, n) at the start of each piece, a third and two thirds on, and at its end


def family_of(lengths: Floats, solver: Solver, tips: Tips | None = None) -> NativeFamily:
    """Return the family of a chain whose lengths (n,) sum to 1.

    tips: the tips of angles; None: by the lengths. Raises IK2DError if the poses change too abruptly for
    the curves.
    """
    chain = Chain(lengths)
    tips_of = tips or (lambda angles: forward(chain, angles)[..., -1, :])
    halves = [_half(tips_of, chain.reach[0], solver, side) for side in (-1.0, 1.0)]
    places, values = (np.concatenate(half) for half in zip(*halves, strict=True))
    steps = values[1:, 0, 0] - values[:-1, 3, 0]
    values[1:, :, 0] -= 2.0 * np.pi * np.cumsum(np.rint(steps / (2.0 * np.pi)))[:, np.newaxis]
    if np.abs(values[1:, 0] - values[:-1, 3]).max() > JOINT:
        raise refusal(_ABRUPT)
    return NativeFamily(np.append(places, END), values)


def _half(tips: Tips, inner: float, solver: Solver, side: float) -> tuple[Floats, Floats]:
    """Return the starts of the pieces of one side (k,), rising, and their values (k, 4, n)."""
    starts, size = np.arange(PIECES) * (END / PIECES), END / PIECES
    kept: list[tuple[float, Floats]] = []
    for _ in range(HALVINGS):
        places = starts[:, np.newaxis] + size * np.arange(7.0) / 6.0
        true, distances = _poses(places.ravel(), inner, solver, side)
        true = true.reshape(len(starts), 7, -1)
        true[..., 0] = np.unwrap(true[..., 0], axis=1)
        if np.abs(tips(true) - _on_axis(distances).reshape(len(starts), 7, 2)).max() > OFF_TARGET:
            raise refusal("its tip would miss targets in reach; bake it instead")
        tip, joint = _missed(tips, true)
        fine = (tip <= TIP) & (joint <= JOINT) | (size <= END / PIECES / 2.0 ** (HALVINGS - 1))
        if (fine & ((tip > TIP_MISSED) | (joint > JOINT_MISSED))).any():
            raise refusal(_ABRUPT)
        for start, value in zip(starts[fine], true[fine], strict=True):
            kept.append((float(start), value[::2]) if side > 0.0 else (-float(start) - size, value[::-2]))
        starts = np.concatenate((starts[~fine], starts[~fine] + 0.5 * size))
        if starts.size == 0:
            break
        size *= 0.5
    kept.sort(key=lambda piece: piece[0])
    return np.array([start for start, _ in kept]), np.stack([values for _, values in kept])


def _poses(places: Floats, inner: float, solver: Solver, side: float) -> tuple[Floats, Floats]:
    """Return the values (m, n) at places (m,) of one side, and the distances (m,) of their tips."""
    half = 0.5 * np.pi / END * places
    distances = np.sqrt(inner * inner + (1.0 - inner * inner) * np.cos(half) ** 2)
    distances = np.where(places == 0.0, 1.0, np.maximum(distances, NEAR_ROOT))
    return solver(distances, side), distances


def _on_axis(distances: Floats) -> Floats:
    """Return points (m, 2) on the x axis at distances (m,)."""
    return np.stack((distances, np.zeros_like(distances)), axis=-1)


def _missed(tips: Tips, true: Floats) -> tuple[Floats, Floats]:
    """Return the errors of tips (k,) and joints (k,) of cubics through every other value (k, 7, n)."""
    through = np.array([[5.0, 15.0, -5.0, 1.0], [-1.0, 9.0, 9.0, -1.0], [1.0, -5.0, 15.0, 5.0]])
    taken: Floats = through / through.sum(axis=1, keepdims=True) @ true[:, ::2]
    off = tips(taken) - tips(true[:, 1::2])
    turned = np.abs(taken - true[:, 1::2])[..., 1:]
    return np.hypot(off[..., 0], off[..., 1]).max(axis=1), turned.max(axis=(1, 2))


def plan(shape: Shape) -> NativePlan:
    """Return the plan for three bones or more, from the family of their solver.

    A chain that turns over goes through its family's stretched pose. Raises IK2DError, without the chain's
    name, for chains without one: CCD, a root whose turn counts, limits, a last bone that stretches alone.
    """
    solver = solver_of(shape)
    tips = None if shape.links is None else _tips(shape, shape.links)
    family = family_of(shape.lengths / shape.reach, _aimed(solver, tips, shape) if tips else solver, tips)
    values = family.values - np.append(shape.headings[0], shape.angles[1:])
    root, *others = (handles(family.places, values[..., joint]) for joint in range(len(shape.lengths)))
    steps = [*softened(shape), ("u", _place(shape)), ("c", "u")]
    factors: tuple[str, ...] = ()
    if shape.stretch is not None:
        steps += evenly_stretched(shape)
        factors = ("k",) * len(shape.lengths)
    aim = "atan2(y,x)+c"
    if shape.links is not None and np.abs(shape.links.root - np.eye(2)).max() > SKEWED:
        steps = [(name, _capitals(expression)) for name, expression in steps]
        steps += [
            (name, f"{num(a)}*x+{num(b)}*y") for name, (a, b) in zip("XY", shape.links.root, strict=True)
        ]
        aim = _capitals(aim)
    return NativePlan(
        tuple(steps),
        (aim, *["u"] * len(others)),
        factors=factors,
        curves={"c": root},
        turn_curves=dict(enumerate(others, start=1)),
    )


def solver_of(shape: Shape) -> Solver:
    """Return the solver of a chain of that shape with reach 1; raise IK2DError as `plan` does."""
    if shape.solver == 'CCD':
        raise refusal(
            "CCD's poses depend on the frames before; set Solver to Automatic or Circle, then convert it"
        )
    if shape.solver == 'EVEN' and not shape.root_turns_freely:
        raise refusal("its root's turn counts; turn First Bone Turns Freely on, or set Solver to Circle")
    if not np.isnan(shape.limits).all():
        raise refusal("its joints have limits, and drivers have them for two bones alone; turn Limit off")
    if shape.stretch is not None and shape.stretch.last_only:
        raise refusal(
            "it stretches its last bone alone, as only two bones can on drivers; set Stretched Bones to All"
        )
    chain = Chain(shape.lengths / shape.reach, weights=shape.weights)
    if chain.weights is not None and (chain.weights == 0.0).any():
        raise refusal("a joint of it has the flexibility 0; give it some, or end the chain before it")

    def solve(distances: Floats, side: float) -> Floats:
        targets = _on_axis(distances)
        if shape.solver == 'ARC':
            return solve_arc(chain, targets, bend=side).angles
        return solve_even(chain, targets, bend=side, rest=shape.angles).angles

    return solve


def _capitals(expression: str) -> str:
    """Return an expression with the target in the root's axes, X and Y, instead of the plane's x and y."""
    return re.sub(r"\b[xy]\b", lambda letter: letter[0].upper(), expression)


def _tips(shape: Shape, links: Links) -> Tips:
    """Return the function from angles to tips in Blender."""
    rest = np.append(shape.headings[0], shape.angles[1:])
    return lambda angles: links.tips(angles - rest) / shape.reach


def _aimed(solver: Solver, tips: Tips, shape: Shape) -> Solver:
    """Return a solver whose tips are exact in Blender."""
    inner = Chain(shape.lengths / shape.reach).reach[0]

    def solve(distances: Floats, side: float) -> Floats:
        wanted = distances
        for _ in range(AIMS):
            angles = solver(wanted, side)
            reached = tips(angles)
            wanted = np.clip(wanted + distances - np.hypot(*reached.T), inner, 1.0)
        angles[:, 0] -= np.arctan2(reached[:, 1], reached[:, 0])
        return angles

    return solve


def _place(shape: Shape) -> str:
    """Return the expression of u, times END over pi, with the bend's sign."""
    inner, outer = Chain(shape.lengths).reach
    straight = f"sqrt(max(g*({num(2.0 * outer)}-g),0))"
    closed = f"sqrt(max(({num(outer - inner)}-g)*({num(outer + inner)}-g),0))"
    return f"{shape.side}*{num(2.0 * END / np.pi)}*atan2({straight},{closed})"
