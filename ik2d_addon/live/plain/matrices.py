# SPDX-License-Identifier: GPL-3.0-or-later
"""Affine matrices as twelve numbers, row by row: for a single matrix, numpy is slower."""

from math import cos, sin

from mathutils import Matrix

from ...core.inputs import Floats

Affine = tuple[float, ...]  # 12: three rows of a 4x4 matrix


def affine(matrix: Matrix) -> Affine:
    """Return the numbers of a 4x4 matrix whose last row is 0 0 0 1."""
    return (*matrix[0], *matrix[1], *matrix[2])


def numbers_of(matrix: Floats) -> Affine:
    """Return the numbers of an array (4, 4) whose last row is 0 0 0 1."""
    return tuple(matrix[:3].ravel().tolist())


def product(one: Affine, other: Affine) -> Affine:
    """Return the product of two matrices."""
    a, b, c, x, d, e, f, y, g, h, i, z = one
    k, m, n, p, q, r, s, t, u, v, w, o = other
    return (
        a * k + b * q + c * u,
        a * m + b * r + c * v,
        a * n + b * s + c * w,
        a * p + b * t + c * o + x,
        d * k + e * q + f * u,
        d * m + e * r + f * v,
        d * n + e * s + f * w,
        d * p + e * t + f * o + y,
        g * k + h * q + i * u,
        g * m + h * r + i * v,
        g * n + h * s + i * w,
        g * p + h * t + i * o + z,
    )


def spun(matrix: Affine, axis: int, angle: float) -> Affine:
    """Return the product of a matrix and a turn about one of its own axes, 0 to 2."""
    u, v, c, s = (axis + 1) % 3, (axis + 2) % 3, cos(angle), sin(angle)
    turned = [*matrix]
    for row in (0, 4, 8):
        a, b = matrix[row + u], matrix[row + v]
        turned[row + u], turned[row + v] = c * a + s * b, c * b - s * a
    return tuple(turned)


def inverse(matrix: Affine) -> Affine | None:
    """Return the inverse of a matrix; None for a singular one."""
    a, b, c, x, d, e, f, y, g, h, i, z = matrix
    k, n, p = e * i - f * h, f * g - d * i, d * h - e * g
    size = a * k + b * n + c * p
    if not abs(size) > 0.0:
        return None
    q, r, s = (c * h - b * i) / size, (a * i - c * g) / size, (b * g - a * h) / size
    t, u, v = (b * f - c * e) / size, (c * d - a * f) / size, (a * e - b * d) / size
    k, n, p = k / size, n / size, p / size
    return (
        k,
        q,
        t,
        -(k * x + q * y + t * z),
        n,
        r,
        u,
        -(n * x + r * y + u * z),
        p,
        s,
        v,
        -(p * x + s * y + v * z),
    )


def moved(matrix: Affine, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a point moved by a matrix."""
    a, b, c, p, d, e, f, q, g, h, i, r = matrix
    return a * x + b * y + c * z + p, d * x + e * y + f * z + q, g * x + h * y + i * z + r


def turned(matrix: Affine, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a vector turned by a matrix, without its translation."""
    a, b, c, _, d, e, f, _, g, h, i, _ = matrix
    return a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z
