# SPDX-License-Identifier: GPL-3.0-or-later
"""The least turns and slides within their ranges that bring the tip to a target close by.

Slides are often at their ends, and other slides and joints then do the rest. With t_i for the motion of the
tip by move i of size one, and e for the tip's error, the moves q with the least sum of
q_i^2 / w_i that satisfy

    low_i <= q_i <= high_i,   sum q_i t_i = e

are q_i = w_i t_i . f, clamped to low_i and high_i. The force f is the maximum of a concave function of two
numbers, whose slope is the error that the moves leave. Newton's method finds it: its matrix is that of
correction.py, made of the moves which are not clamped.
"""

from dataclasses import dataclass
from math import hypot, sqrt
from operator import mul, sub

from .correction import LONGEST_STEP, NO_STEP, Arms, push
from .sweep import CcdBones

# Newton's steps, three of which are usual, and the part of the error that may be left after them.
ROUNDS = 12
LEFT = 1e-9
# A step has gone too far where the slope along it has become this part of the slope before, downhill.
DOWNHILL = -0.5
SHORTEST_PART = 1e-6

Vector = tuple[float, float]


@dataclass(frozen=True)
class Moves:
    """The turns that a chain in a pose may make, and behind them the slides."""

    weights: list[float]
    x: list[float]  # the motion of the tip by each
    y: list[float]
    low: list[float]  # the range of each
    high: list[float]

    @classmethod
    def of(cls, bones: CcdBones, pose: list[float], arms: Arms) -> "Moves":
        """Return the moves from a pose with these arms."""
        low, high = list(map(sub, bones.low, pose)), list(map(sub, bones.high, pose))
        return cls(bones.weights, [-y for y in reversed(arms[1])], arms[0][::-1], low, high)

    def by(self, force: Vector) -> list[float]:
        """Return the moves by a force, clamped to their ranges."""
        fx, fy = force
        moves = []
        for weight, x, y, low, high in zip(self.weights, self.x, self.y, self.low, self.high, strict=True):
            move = weight * (x * fx + y * fy)
            moves.append(low if move < low else high if move > high else move)
        return moves

    def tip(self, moves: list[float]) -> Vector:
        """Return the motion of the tip by moves."""
        return sum(map(mul, moves, self.x)), sum(map(mul, moves, self.y))

    def free(self, moves: list[float]) -> list[float]:
        """Return the weights of the moves that are not at an end, and zeros for the others."""
        ends = zip(self.weights, self.low, moves, self.high, strict=True)
        return [weight if low < move < high else 0.0 for weight, low, move, high in ends]


def least_moves(bones: CcdBones, pose: list[float], arms: Arms, error: Vector) -> list[float]:
    """Return the least turns, and behind them slides, that move the tip by the error (reach is 1).

    No step is longer than that of least_turns. Where the ranges do not suffice, a part is done.
    """
    at_pose = Moves.of(bones, pose, arms)
    enough = LEFT * hypot(*error)
    force, rest, weights = (0.0, 0.0), error, at_pose.weights
    for _ in range(ROUNDS):
        force, moves, rest = _advanced(
            at_pose, force, push(at_pose.x, at_pose.y, weights, *rest), error, rest
        )
        if hypot(*rest) <= enough:
            break
        weights = at_pose.free(moves)
    squares = sum(map(mul, moves, moves)) + NO_STEP
    share = min(1.0, LONGEST_STEP * sqrt(hypot(*error) / squares))
    return [share * move for move in moves]


def _advanced(
    before: Moves, force: Vector, step: Vector, error: Vector, rest: Vector
) -> tuple[Vector, list[float], Vector]:
    """Return the force after a step, or a part of it; its moves, and the error they leave."""
    slope, share = rest[0] * step[0] + rest[1] * step[1], 1.0
    while True:
        new = force[0] + share * step[0], force[1] + share * step[1]
        moves = before.by(new)
        x, y = before.tip(moves)
        left = error[0] - x, error[1] - y
        after = left[0] * step[0] + left[1] * step[1]
        if after >= DOWNHILL * slope or share < SHORTEST_PART:
            return new, moves, left
        share *= slope / (slope - after)
