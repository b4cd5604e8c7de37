# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of three bones or more as drivers: for each joint a curve over the target's distance.

With a root that turns freely Even and Arc have one pose for each distance h of the target. A driver's F-Curve
may have keys, and its property is then the curve at what its expression comes to: so each joint's angle is
a curve over

    u = 2 atan2(sqrt(o o - h h), sqrt(h h - i i))

o and i the outer and inner reach: 0 for the stretched chain, pi for the closed one, with the square roots
that all such poses have next to these. The bend's other side has the curve's negative half.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...core import Chain, IK2DError, forward, solve_arc, solve_even
from ...core.inputs import Floats
from .curves import handles
from .expressions import num
from .plan import Plan, Shape
from .two_bone import SIDE, evenly_stretched, softened

# u = pi. Blender finds the place in a piece exactly to rounding where keys and their handles are whole
# multiples of a power of two (then the cubic for the place is a line), and takes a place within 1e-4 of a key
# for the key itself: so a piece is 3 times a power of two long, and far longer than that.
END = 3072.0
# Pieces on a side to begin with, and how often one is halved.
PIECES, HALVINGS = 16, 15
# A piece is halved where it leads the tip farther astray (reach is 1), or a joint (radians).
TIP, JOINT = 2e-7, 2e-6
# What they may be off by after that, where the family has a kink or a step: so much is seen by nobody.
TIP_MISSED, JOINT_MISSED = 1e-5, 5e-3
# The tip's direction next to the root has no digits nearer than this to it (reach is 1).
NEAR_ROOT = 1e-7

_ABRUPT = (
    "its pose changes too abruptly with the target's distance; set the solver to Arc, or bake it instead"
)

# Distances (m,), reach is 1, and a side to angles (m, n), of which the first one turns the tip to the x axis.
Solver = Callable[[Floats, float], Floats]


@dataclass(frozen=True, eq=False)
class Family:
    """Angles (and, first, how far the root turns the tip to the x axis) as cubics over -END..END."""

    places: Floats  # (k + 1,) the ends of the pieces, rising
    values: Floats  # (k, 4, n) at the start of each piece, a third and two thirds on, and at its end


def family_of(lengths: Floats, solver: Solver) -> Family:
    """Return the family of a chain whose lengths (n,) come to 1.

    Raises IK2DError where the poses change so abruptly that the curves would have to be longer.
    """
    inner = Chain(lengths).reach[0]
    halves = [_half(lengths, inner, solver, side) for side in (-1.0, 1.0)]
    places, values = (np.concatenate(part) for part in zip(*halves, strict=True))
    steps = values[1:, 0, 0] - values[:-1, 3, 0]
    values[1:, :, 0] -= 2.0 * np.pi * np.cumsum(np.rint(steps / (2.0 * np.pi)))[:, np.newaxis]
    if np.abs(values[1:, 0] - values[:-1, 3]).max() > JOINT:
        raise IK2DError(_ABRUPT)
    return Family(np.append(places, END), values)


def _half(lengths: Floats, inner: float, solver: Solver, side: float) -> tuple[Floats, Floats]:
    """Return where pieces of one side start (k,), rising, and their values (k, 4, n)."""
    starts, size = np.arange(PIECES) * (END / PIECES), END / PIECES
    found: list[tuple[float, Floats]] = []
    for _ in range(HALVINGS):
        places = starts[:, np.newaxis] + size * np.arange(7.0) / 6.0
        true, distances = _poses(places.ravel(), inner, solver, side)
        true = true.reshape(len(starts), 7, -1)
        true[..., 0] = np.unwrap(true[..., 0], axis=1)
        distances = distances.reshape(len(starts), 7)
        tip, joint = _missed(lengths, true, distances)
        fine = (tip <= TIP) & (joint <= JOINT) | (size <= END / PIECES / 2.0 ** (HALVINGS - 1))
        if (fine & ((tip > TIP_MISSED) | (joint > JOINT_MISSED))).any():
            raise IK2DError(_ABRUPT)
        for start, one in zip(starts[fine], true[fine], strict=True):
            found.append((float(start), one[::2]) if side > 0.0 else (-float(start) - size, one[::-2]))
        starts = np.concatenate((starts[~fine], starts[~fine] + 0.5 * size))
        if starts.size == 0:
            break
        size *= 0.5
    found.sort(key=lambda piece: piece[0])
    return np.array([start for start, _ in found]), np.stack([values for _, values in found])


def _poses(places: Floats, inner: float, solver: Solver, side: float) -> tuple[Floats, Floats]:
    """Return the values (m, n) at places (m,) of one side, and the distances (m,) of their tips."""
    half = 0.5 * np.pi / END * places
    distances = np.sqrt(inner * inner + (1.0 - inner * inner) * np.cos(half) ** 2)
    distances = np.where(places == 0.0, 1.0, np.maximum(distances, NEAR_ROOT))
    return solver(distances, side), distances


def _missed(lengths: Floats, true: Floats, distances: Floats) -> tuple[Floats, Floats]:
    """Return how far cubics through every other one of the values (k, 7, n) miss the rest.

    That is how far tips (k,) are off their distances (k, 7), and how much joints (k,) are turned astray.
    """
    through = np.array([[5.0, 15.0, -5.0, 1.0], [-1.0, 9.0, 9.0, -1.0], [1.0, -5.0, 15.0, 5.0]])
    taken: Floats = through / through.sum(axis=1, keepdims=True) @ true[:, ::2]
    tips = forward(Chain(lengths), taken)[..., -1, :]
    tips[..., 0] -= distances[:, 1::2]
    astray = np.abs(taken - true[:, 1::2])[..., 1:]
    return np.hypot(tips[..., 0], tips[..., 1]).max(axis=1), astray.max(axis=(1, 2))


def plan(shape: Shape) -> Plan:
    """Return the drivers of a chain of three bones or more, on the family of its own solver.

    A chain that turns over goes through its family's stretched pose. Raises IK2DError, without the chain's
    name, for what has no such family: CCD, a root whose turn counts, joints that do not turn freely, bones
    that change their length one by one.
    """
    solver = solver_of(shape)
    family = family_of(shape.lengths / shape.reach, solver)
    values = family.values - np.append(shape.headings[0], shape.angles[1:])
    root, *others = (handles(family.places, values[..., joint]) for joint in range(len(shape.lengths)))
    steps = [*softened(shape), ("u", _place(shape)), ("c", "u")]
    factors: tuple[str, ...] = ()
    if shape.stretch is not None:
        steps += evenly_stretched(shape)
        factors = ("k",) * len(shape.lengths)
    return Plan(
        tuple(steps),
        ("atan2(y,x)+c", *["u"] * len(others)),
        factors=factors,
        curves={"c": root},
        turn_curves=dict(enumerate(others, start=1)),
    )


def solver_of(shape: Shape) -> Solver:
    """Return what solves a chain of such a shape, but of reach 1; raise IK2DError as `plan` does."""
    if shape.solver == 'CCD':
        raise IK2DError(
            "CCD's poses depend on the frames before; set the solver to Automatic or Arc, then make it native"
        )
    if shape.solver == 'EVEN' and not shape.root_turns_freely:
        raise IK2DError("its root's turn counts; turn Root Turns Freely on, or set the solver to Arc")
    if not np.isnan(shape.limits).all():
        raise IK2DError("its joints have limits, and those of two bones alone can be native; turn Limit off")
    if shape.stretch is not None and shape.stretch.last_only:
        raise IK2DError(
            "it stretches its last bone alone, as two bones alone can natively; turn Last Only off"
        )
    chain = Chain(shape.lengths / shape.reach, weights=shape.weights)
    if chain.weights is not None and (chain.weights == 0.0).any():
        raise IK2DError("a joint of it has the weight 0; give it a weight, or end the chain before it")

    def solve(distances: Floats, side: float) -> Floats:
        targets = np.stack((distances, np.zeros_like(distances)), axis=1)
        if shape.solver == 'ARC':
            return solve_arc(chain, targets, bend=side).angles
        return solve_even(chain, targets, bend=side, rest=shape.angles).angles

    return solve


def _place(shape: Shape) -> str:
    """Return u, times END over pi, with the bend's sign."""
    inner, outer = Chain(shape.lengths).reach
    straight = f"sqrt(max(g*({num(2.0 * outer)}-g),0))"
    closed = f"sqrt(max(({num(outer - inner)}-g)*({num(outer + inner)}-g),0))"
    return f"{SIDE}*{num(2.0 * END / np.pi)}*atan2({straight},{closed})"
