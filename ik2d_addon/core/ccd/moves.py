# SPDX-License-Identifier: GPL-3.0-or-later
"""The least turns and slides within their ranges that bring the tip to a target close by.

Slides stand at their ends all the time, and what they cannot do there other slides and joints do. With t_i
for what move i of size one does to the tip, and e for the tip's error, the moves q with the least sum of
q_i^2 / w_i that satisfy

    low_i <= q_i <= high_i,   sum q_i t_i = e

are q_i = w_i t_i . f, cut off at low_i and high_i. The force f is the maximum of a concave function of two
numbers, whose slope is the error that the moves leave. Newton's method finds it: its matrix is that of
correction.py, made of the moves which are not cut off.
"""

from math import hypot, sqrt
from typing import NamedTuple

from .correction import DAMPING, LONGEST_STEP, NO_STEP, Arms
from .sweep import Bones

# Newton's steps, three of which are usual, and the part of the error that may be left after them.
ROUNDS = 12
LEFT = 1e-9
# A step has gone too far where the slope along it has become so much of what it was, downhill.
DOWNHILL = -0.5
SHORTEST_PART = 1e-6

Vector = tuple[float, float]


class Move(NamedTuple):
    """One turn or slide that a chain may make."""

    weight: float
    x: float  # what it does to the tip
    y: float
    low: float
    high: float


def least_moves(bones: Bones, pose: list[float], arms: Arms, error: Vector) -> list[float]:
    """Return the least turns, and behind them slides, that move the tip by the error (reach is 1).

    No step is longer than least_turns has it. Where the ranges do not leave what it takes, a part is done.
    """
    own = [
        Move(weight, -y, x, low - value, high - value)
        for weight, x, y, value, low, high in zip(
            bones.weights, arms[0][::-1], arms[1][::-1], pose, bones.low, bones.high, strict=True
        )
    ]
    size, force, rest, free = hypot(*error), (0.0, 0.0), error, own
    for _ in range(ROUNDS):
        force, moves, rest = _advanced(own, force, _direction(free, rest), error, rest)
        if hypot(*rest) <= LEFT * size:
            break
        free = [move for move, q in zip(own, moves, strict=True) if move.low < q < move.high]
    part = min(1.0, LONGEST_STEP * sqrt(size / (sum(q * q for q in moves) + NO_STEP)))
    return [part * q for q in moves]


def _direction(free: list[Move], rest: Vector) -> Vector:
    """Return Newton's step of the force, as though the free moves were without ends."""
    xx = sum(weight * x * x for weight, x, _, _, _ in free) + DAMPING
    xy = sum(weight * x * y for weight, x, y, _, _ in free)
    yy = sum(weight * y * y for weight, _, y, _, _ in free) + DAMPING
    determinant = xx * yy - xy * xy
    return (yy * rest[0] - xy * rest[1]) / determinant, (xx * rest[1] - xy * rest[0]) / determinant


def _advanced(
    own: list[Move], force: Vector, direction: Vector, error: Vector, rest: Vector
) -> tuple[Vector, list[float], Vector]:
    """Return the force after a step in a direction, or a part of it; its moves, and the error they leave."""
    slope, part = _dot(rest, direction), 1.0
    while True:
        fx, fy = force[0] + part * direction[0], force[1] + part * direction[1]
        moves = [min(max(weight * (x * fx + y * fy), low), high) for weight, x, y, low, high in own]
        done_x = sum(q * move.x for q, move in zip(moves, own, strict=True))
        done_y = sum(q * move.y for q, move in zip(moves, own, strict=True))
        left = error[0] - done_x, error[1] - done_y
        after = _dot(left, direction)
        if after >= DOWNHILL * slope or part < SHORTEST_PART:
            return (fx, fy), moves, left
        part *= slope / (slope - after)


def _dot(a: Vector, b: Vector) -> float:
    return a[0] * b[0] + a[1] * b[1]
