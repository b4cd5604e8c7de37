# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane that a chain bends in: fit, project, lift."""

from dataclasses import dataclass
from math import frexp, sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from .affine import crossed, norms
from .errors import IK2DError
from .inputs import LONGEST, Floats, floats_within, frozen, largest
from .words import refusal

# A chain is straight if its joints leave their common line by less than this part of its extent.
# Far above the rounding of Blender's 32-bit positions, so that all versions agree; far below a
# bend that anybody would model.
STRAIGHT = 1e-4
# A chain that winds to both sides has no clear side if one outweighs the other by less than
# this part. Then the first clear bend decides.
ONE_SIDED = 0.05


@dataclass(frozen=True, eq=False)
class Plane:
    """An oriented plane in space; x, y and normal are unit vectors, normal = x cross y.

    >>> plane = Plane.fit([[0, 0, 2], [0, -0.1, 1], [0, 0, 0]], straight_normal=[1, 0, 0])
    >>> plane.normal, plane.project([[0, 0, 0]]).round(2)
    (array([1., 0., 0.]), array([[1.99, 0.2 ]]))
    """

    origin: Floats  # (3,)
    x: Floats  # (3,)
    y: Floats  # (3,)
    normal: Floats  # (3,)

    if TYPE_CHECKING:  # what may be handed in, where the fields say what is kept

        def __init__(self, origin: ArrayLike, x: ArrayLike, y: ArrayLike, normal: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        for name in ("origin", "x", "y", "normal"):
            object.__setattr__(self, name, frozen(_vector(getattr(self, name), name)))

    @classmethod
    def fit(cls, points: ArrayLike, straight_normal: ArrayLike) -> "Plane":
        """Return the plane nearest to a chain's joints, by least squares.

        points: (n + 1, 3) joints, root to tip. The normal's sign is such that the chain bends to
        the positive side. For a straight chain the normal is `straight_normal` (3,), made
        perpendicular to the chain. The origin is the root, x points along the first bone.
        Raises IK2DError for fewer than two joints, and for joints that all lie in one point.
        """
        plane = cls.of_bend(points)
        if plane is not None:
            return plane
        _, axes = _extents(_to_size_one(_checked_joints(points)))
        return cls.facing(points, straight_normal, along=axes[0])

    @classmethod
    def of_bend(cls, points: ArrayLike) -> "Plane | None":
        """Return the plane of `fit` for joints (n + 1, 3) of a chain that bends; None for a straight one."""
        joints = _checked_joints(points)
        sized = _to_size_one(joints)
        extents, axes = _extents(sized)
        if _is_straight(extents):
            return None
        return cls._through(joints, sized, _unit(axes[2] * _bend_side(sized, axes[2])))

    @classmethod
    def turning_about(cls, points: ArrayLike, axis: ArrayLike) -> "Plane":
        """Return the plane through a chain's root (n + 1, 3) at right angles to an axis (3,).

        The normal is the axis, to the side that makes the chain bend to the positive one; the axis as
        it is for a chain that is straight as seen along it. Raises IK2DError as `facing` does.
        """
        joints = _to_size_one(_checked_joints(points))
        n = _unit(_vector(axis, "axis"))
        seen = _across(joints, n)
        straight = len(joints) < 3 or not np.ptp(seen, axis=0).any() or _is_straight(_extents(seen)[0])
        return cls.facing(points, n if straight else n * _bend_side(joints, n))

    @staticmethod
    def is_straight(points: ArrayLike) -> bool:
        """Return whether joints (n + 1, 3) lie on a line, in many planes; raise IK2DError as `fit` does."""
        return _is_straight(_extents(_to_size_one(_checked_joints(points)))[0])

    @classmethod
    def facing(cls, points: ArrayLike, normal: ArrayLike, along: ArrayLike | None = None) -> "Plane":
        """Return the plane through a chain's root (n + 1, 3) with a given normal (3,).

        along: (3,) a direction that the plane must hold; the normal gives way to it.
        Raises IK2DError where the normal is zero, or has no part perpendicular to `along`.
        """
        joints = _checked_joints(points)
        n = _unit(_vector(normal, "normal"))
        if along is not None:
            n = _unit(_without(n, _unit(_vector(along, "along"))))
        return cls._through(joints, _to_size_one(joints), n)

    @classmethod
    def _through(cls, joints: Floats, sized: Floats, normal: Floats) -> "Plane":
        """Return the plane through the first of joints (n + 1, 3); sized: the same with a size of one."""
        x = _first_direction(sized[1:] - sized[:-1], normal)
        plane = object.__new__(cls)  # without checks: the joints were checked
        for name, vector in (("origin", joints[0]), ("x", x), ("y", crossed(normal, x)), ("normal", normal)):
            object.__setattr__(plane, name, frozen(vector))
        return plane

    @property
    def matrix(self) -> Floats:
        """Matrix (4, 4) from the plane's x, y and height to space."""
        matrix = np.eye(4)
        matrix[:3] = np.column_stack((self.x, self.y, self.normal, self.origin))
        return matrix

    def project(self, points: ArrayLike) -> Floats:
        """Return points (..., 3) in the plane's own x and y: (..., 2)."""
        offsets = _checked_points(points, 3) - self.origin
        return np.stack((offsets @ self.x, offsets @ self.y), axis=-1)

    def lift(self, points: ArrayLike) -> Floats:
        """Return points (..., 2) of the plane as points in space: (..., 3)."""
        flat = _checked_points(points, 2)
        lifted: Floats = self.origin + flat[..., :1] * self.x + flat[..., 1:] * self.y
        return lifted

    def distance(self, points: ArrayLike) -> Floats:
        """Return the distances (...) of points (..., 3) from the plane, on either side of it."""
        heights: Floats = (_checked_points(points, 3) - self.origin) @ self.normal
        return np.abs(heights)


def _vector(values: ArrayLike, name: str) -> Floats:
    """Return a vector (3,); raise IK2DError for another shape, and for what is not finite."""
    vector = floats_within(values, name, LONGEST)
    if vector.shape != (3,):
        raise IK2DError(f"{name} must be three numbers, x, y and z, not of shape {vector.shape}")
    return vector


def _checked_points(points: ArrayLike, size: int) -> Floats:
    """Return points (..., size); raise IK2DError for another shape, and for what is not finite."""
    checked = floats_within(points, "points", LONGEST)
    if checked.ndim == 0 or checked.shape[-1] != size:
        raise IK2DError(f"points must be {size} numbers each, not of shape {checked.shape}")
    return checked


def _checked_joints(points: ArrayLike) -> Floats:
    joints = floats_within(points, "points", LONGEST)
    if joints.ndim != 2 or joints.shape[1] != 3 or len(joints) < 2:
        raise IK2DError(f"a chain's plane takes two or more joints of x, y, z, not shape {joints.shape}")
    if (joints == joints[0]).all():
        raise refusal("the joints of the chain all lie in one point: it has no plane")
    return joints


def _to_size_one(joints: Floats) -> Floats:
    """Return joints with an extent of about 1, by a power of two, which changes no digit.

    The squares of very large and very small ones would overflow.
    """
    extent = max(max(axis) - min(axis) for axis in joints.T.tolist())
    return np.ldexp(joints, -frexp(max(extent, 1e-300 * largest(joints)))[1])


def _extents(joints: Floats) -> tuple[Floats, Floats]:
    """Return the extents of joints (n + 1, 3) along their principal axes, longest first, and these (3, 3)."""
    _, extents, axes = np.linalg.svd(joints - joints.sum(axis=0) / len(joints))
    return extents, axes


def _is_straight(extents: Floats) -> bool:
    return len(extents) < 2 or bool(extents[1] <= STRAIGHT * extents[0])


def _bend_side(joints: Floats, normal: Floats) -> float:
    """Return +1.0 where the chain bends to the positive side about `normal`, else -1.0.

    The side is that of the area between the chain and the line from its root to its tip; of a
    chain that winds evenly to both, that of the first bend at least half as sharp as the sharpest.
    """
    spokes = joints[1:] - joints[0]
    areas = crossed(spokes[:-1], spokes[1:]) @ normal
    if abs(areas.sum()) > ONE_SIDED * np.abs(areas).sum():
        return float(np.sign(areas.sum()))
    bones = joints[1:] - joints[:-1]
    turns = np.arctan2(crossed(bones[:-1], bones[1:]) @ normal, (bones[:-1] * bones[1:]).sum(axis=1))
    clear = np.abs(turns) >= 0.5 * np.abs(turns).max()
    return 1.0 if turns[np.argmax(clear)] >= 0.0 else -1.0


def _first_direction(bones: Floats, normal: Floats) -> Floats:
    """Return the unit direction in the plane of the first bone that is not perpendicular to it."""
    flat = _across(bones, normal)
    lengths = norms(flat).tolist()
    if not any(lengths):
        raise refusal("the chain is at right angles to its plane; set Bends In to another plane")
    least = STRAIGHT * max(lengths)
    first = next(row for row, length in enumerate(lengths) if length > least)
    return _across(_unit(flat[first]), normal)


def _without(vector: Floats, unit: Floats) -> Floats:
    """Return the unit vector of the part of `vector` perpendicular to `unit`."""
    rest = _across(vector, unit)
    if np.linalg.norm(rest) <= STRAIGHT * np.linalg.norm(vector):
        raise refusal("the normal of a straight chain's plane must not point along the chain")
    return _across(_unit(rest), unit)


def _across(vectors: Floats, unit: Floats) -> Floats:
    """Return the parts of vectors (..., 3) perpendicular to a unit vector (3,).

    A vector nearly along it leaves few right digits: for all, call this again with the result's unit vector.
    """
    return vectors - (vectors @ unit)[..., np.newaxis] * unit


def _unit(vector: Floats) -> Floats:
    largest = max(map(abs, vector.tolist()))
    if largest == 0.0:
        raise IK2DError("a direction must not be zero")
    scaled = np.ldexp(vector, -frexp(largest)[1])  # or squares would overflow
    unit: Floats = scaled / sqrt(scaled @ scaled)
    return unit
