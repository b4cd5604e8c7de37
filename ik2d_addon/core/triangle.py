# SPDX-License-Identifier: GPL-3.0-or-later
"""The triangle of two bones and the line from root to tip: the one place where it is solved.

With sides d1, d2 and h, the law of cosines in its half-angle form gives the turn from d1 to d2,

    tan(turn / 2) = sqrt(N / D),   N = (d1 + d2)^2 - h^2,   D = h^2 - (d1 - d2)^2

with h clamped to |d1 - d2| .. d1 + d2: a third side too long makes the turn 0, and one too short half
a turn. Factored as (d1 + d2 - h) (d1 + d2 + h) they keep full precision near both ends, where the cosine's
formula does not. After Ryan Juckett, "Analytic Two-Bone IK in 2D" (2009).
"""

from .arithmetic import FLOATS, Arithmetic, Number


def corner(first: float, second: float, third: Number, lib: Arithmetic = FLOATS) -> Number:
    """Return the turn (0..pi) from one side of a triangle to the next, opposite the third."""
    n, d = _numerator_and_denominator(first, second, third, lib)
    return 2.0 * lib.atan2(lib.sqrt(n), lib.sqrt(d))


def two_bone_pose(
    first: Number,
    second: Number,
    x: Number,
    y: Number,
    distance: Number,
    bend: Number,
    lib: Arithmetic = FLOATS,
) -> tuple[Number, Number]:
    """Return the two angles that bring the tip of two bones to (x, y), bent to a side.

    The first bone follows without a sine or cosine of the second's angle:

        angle1 = atan2(y a - x o, x a + y o),   a = (d1 + d2) D + (d1 - d2) N,   o = 2 d2 sqrt(N D)

    a and o are N + D times the d1 + d2 cos(angle2) and d2 sin(angle2) of the article.
    distance: that of (x, y) from the root. bend: +1 or -1, the sign of angle2.
    """
    n, d = _numerator_and_denominator(first, second, distance, lib)
    root_n, root_d = lib.sqrt(n), lib.sqrt(d)
    adjacent = (first + second) * d + (first - second) * n
    opposite = (2.0 * second) * bend * root_n * root_d
    angle1 = lib.atan2(y * adjacent - x * opposite, x * adjacent + y * opposite)
    return angle1, 2.0 * bend * lib.atan2(root_n, root_d)


def _numerator_and_denominator(
    first: Number, second: Number, third: Number, lib: Arithmetic
) -> tuple[Number, Number]:
    """Return N and D; a third side that is too long or too short counts as the nearest that is not."""
    outer, inner = first + second, abs(first - second)
    h = lib.minimum(lib.maximum(third, inner), outer)
    return (outer - h) * (outer + h), (h - inner) * (h + inner)
