# SPDX-License-Identifier: GPL-3.0-or-later
"""The rotation of a chain's plane for one target, in plain numbers: that of `Swing.rotations`.

numpy is slow for a single target. Where a rule fails, or nearly so, there is no answer: the arrays keep the
rest's side there.
"""

from collections.abc import Sequence
from math import cos, isfinite, sin, sqrt

import numpy as np

from ..inputs import Floats
from ..post import HELD
from .swing import POLE, SHORTEST_WAY, SWING, Swing

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # (w, x, y, z), a unit quaternion
# The quaternion of a plane, and the target turned back by it.
Turned = tuple[Quaternion, Vector]

# Below this sine of the angle to a direction in which a rule fails the arrays have to decide.
_NEAR = 1e-6
# A tip that is off the plane by less than this part of its distance is in it.
_FLAT = 1e-9
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class PlainSwing:
    """A rule for one target at a time."""

    def __init__(self, swing: Swing, axes: Floats) -> None:
        """Keep a rule. axes: (3, 3) those of all vectors here, in columns, in the swing's own space.

        They are nearly orthonormal; heights here are `scale` times those there. With POST they are the
        post's own.
        """
        normal, along = swing.normal @ axes, np.linalg.solve(axes, swing.along)
        self.scale = 1.0 / float(np.linalg.norm(normal))
        self.normal: list[float] = (normal * self.scale).tolist()
        self.along: list[float] = (along / np.linalg.norm(along)).tolist()
        self._side: list[float] = (swing.side @ axes).tolist()
        upright = swing.upright @ axes
        self._upright: list[float] = (upright / np.linalg.norm(upright)).tolist()
        self._rule, self._post = swing.rule, swing.post
        self.post_status = HELD  # of the post at the last answer, as `PostRule.angle` has it
        self._flat = _frame(self.along, self._side) if swing.rule == POLE else None

    def turned(
        self,
        x: float,
        y: float,
        z: float,
        height: float = 0.0,
        pole: Sequence[float] = (),
        turn: float = 0.0,
    ) -> Turned | None:
        """Return the rotation S and the target turned back by it; None where the arrays have to do it.

        x, y, z: the target from the root. height: of the tip over the plane. pole: (3,) from the root, for
        the rule POLE. turn: radians more about the line to the target; a post has none.
        """
        swung = self._by_rule(x, y, z, height, pole)
        if swung is None or not turn or self._post is not None:
            return swung
        if not isfinite(turn):
            return None
        size = sqrt(x * x + y * y + z * z)
        whole = multiplied(quaternion_about((x / size, y / size, z / size), turn), swung[0])
        if self._rule != SWING:
            return whole, swung[1]
        least = _shortest(self.normal, rotated(whole, *self.normal))
        return least and (least, _turned_back(least, x, y, z))

    def _by_rule(self, x: float, y: float, z: float, height: float, pole: Sequence[float]) -> Turned | None:
        """Return the answer without a turn more."""
        size = sqrt(x * x + y * y + z * z)
        if not size > 0.0 or abs(height) >= (1.0 - _NEAR) * size:
            return None
        if self._post is not None:
            rule = self._post.rule
            angle, self.post_status = rule.angle((x, y, z), self.normal, height, self._post.reach)
            about = quaternion_about(_AXES[rule.axis], angle)
            return about, _turned_back(about, x, y, z)
        x, y, z, rise = x / size, y / size, z / size, height / size
        if self._rule == SHORTEST_WAY:
            rest = self._rest(rise)
            turn = _shortest(rest, (x, y, z))
            return turn and (turn, (size * rest[0], size * rest[1], size * rest[2]))
        if self._rule == POLE:
            return self._to_pole(x, y, z, size, rise, pole)
        (u, v, w), level = self._upright, sqrt(1.0 - rise * rise)
        beside = u * x + v * y + w * z
        a, b, c = u - beside * x, v - beside * y, w - beside * z
        across = sqrt(a * a + b * b + c * c)
        if across < _NEAR:
            return None
        share = level / across
        turn = _shortest(self.normal, (rise * x + share * a, rise * y + share * b, rise * z + share * c))
        return turn and (turn, _turned_back(turn, size * x, size * y, size * z))

    def _to_pole(
        self, x: float, y: float, z: float, size: float, rise: float, pole: Sequence[float]
    ) -> Turned | None:
        """Return the answer for a unit vector to the target, and the sine of its tip over the plane."""
        rest: Sequence[float] = self.along
        before = self._flat
        if abs(rise) > _FLAT:
            rest = self._rest(rise)
            before = _frame(rest, self._side)
        now = _frame((x, y, z), pole)
        if before is None or now is None:
            return None
        w, a, b, c = before
        return multiplied(now, (w, -a, -b, -c)), (size * rest[0], size * rest[1], size * rest[2])

    def _rest(self, rise: float) -> Vector:
        """Return the unit vector to the tip in the rest plane. rise: the sine of its angle over that."""
        (x, y, z), (u, v, w), level = self.along, self.normal, sqrt(1.0 - rise * rise)
        return level * x + rise * u, level * y + rise * v, level * z + rise * w


def multiplied(one: Quaternion, other: Quaternion) -> Quaternion:
    """Return the product of two quaternions: the other's rotation, then the first one's."""
    a, b, c, d = one
    w, x, y, z = other
    return (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )


def quaternion_about(axis: Sequence[float], angle: float) -> Quaternion:
    """Return the quaternion of a turn about a unit axis (3,) by an angle in radians."""
    sine = sin(0.5 * angle)
    return cos(0.5 * angle), sine * axis[0], sine * axis[1], sine * axis[2]


def rotated(turn: Quaternion, x: float, y: float, z: float) -> Vector:
    """Return a vector rotated by a quaternion."""
    w, a, b, c = turn
    u, v, t = 2.0 * (b * z - c * y), 2.0 * (c * x - a * z), 2.0 * (a * y - b * x)
    return x + w * u + b * t - c * v, y + w * v + c * u - a * t, z + w * t + a * v - b * u


def _turned_back(turn: Quaternion, x: float, y: float, z: float) -> Vector:
    w, a, b, c = turn
    return rotated((w, -a, -b, -c), x, y, z)


def _shortest(one: Sequence[float], other: Sequence[float]) -> Quaternion | None:
    """Return the least rotation of a unit vector (3,) onto another; None where they are opposite."""
    (x, y, z), (u, v, w) = one, other
    half = sqrt(max(0.0, 0.5 * (1.0 + x * u + y * v + z * w)))  # the cosine of half the angle
    if half < _NEAR:
        return None
    share = 0.5 / half
    return half, share * (y * w - z * v), share * (z * u - x * w), share * (x * v - y * u)


def _frame(along: Sequence[float], towards: Sequence[float]) -> Quaternion | None:
    """Return the rotation of X onto a unit vector (3,), and of Y to the side of another; None without one."""
    (x, y, z), (a, b, c) = along, towards
    along_it = a * x + b * y + c * z
    length = sqrt(a * a + b * b + c * c)
    a, b, c = a - along_it * x, b - along_it * y, c - along_it * z
    size = sqrt(a * a + b * b + c * c)
    if not size > _NEAR * length:
        return None
    a, b, c = a / size, b / size, c / size
    u, v, w = y * c - z * b, z * a - x * c, x * b - y * a
    # The columns of the matrix are (x, y, z), (a, b, c) and (u, v, w).
    trace = x + b + w
    if trace > 0.0:
        size = 2.0 * sqrt(trace + 1.0)
        return 0.25 * size, (c - v) / size, (u - z) / size, (y - a) / size
    if x > b and x > w:
        size = 2.0 * sqrt(1.0 + x - b - w)
        return (c - v) / size, 0.25 * size, (a + y) / size, (u + z) / size
    if b > w:
        size = 2.0 * sqrt(1.0 + b - x - w)
        return (u - z) / size, (a + y) / size, 0.25 * size, (v + c) / size
    size = 2.0 * sqrt(1.0 + w - x - b)
    return (y - a) / size, (u + z) / size, (v + c) / size, 0.25 * size
