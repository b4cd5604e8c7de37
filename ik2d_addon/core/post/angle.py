# SPDX-License-Identifier: GPL-3.0-or-later
"""The angle of a post: a bone that turns about one of its own axes so that a plane on it holds a target.

In the post's own space before its turn, with its axis k, the plane  m . q = d  turned by theta holds a
target t where

    |m'| |t'| cos(phi - psi - theta) = d - m_k t_k

m' and t' are the parts square to the axis, at the angles psi and phi about it. So there are two angles; the
side of the axis that the chain is on at rest decides. Source: the plane's equation, turned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import acos, atan2, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from ..affine import Frames, crossed
from ..inputs import Floats, wrapped

# The plane holds the target; the target is nearer the axis than the plane ever comes; a limit stops the post.
HELD, NEAREST, LIMITED = 0, 1, 2
# A target that is nearer the axis than this part of the size of all has no heading: 32 bits leave as much.
_ON_AXIS = 1e-6
# Joints that are nearer the axis than this part of the furthest from the tip are on neither side of it.
_ASIDE = 0.01
# Angles beyond a limit by no more, in radians, are at it.
_ROUNDING = 1e-9
# A target is near the axis below this part of the reach, or where the plane passes the axis as far as this
# part of the target's distance: there the post turns fast.
NEAR, _EDGE = 0.1, 0.99


@dataclass(frozen=True, eq=False)
class PostAngles(Frames):
    """The angles of a post on all frames."""

    angles: Floats  # (frames,) radians about its axis, -pi to +pi, or nearest the middle of its limits
    status: NDArray[np.int8]  # (frames,) HELD, NEAREST or LIMITED
    near_axis: NDArray[np.bool_]  # (frames,) whether small moves of the target turn it fast
    radii: Floats  # (frames,) from the axis to the target, in the post's own space


@dataclass(frozen=True)
class PostRule:
    """A post's axis, its side and its limits."""

    axis: int  # 0..2, of its own axes
    side: float  # +1.0 or -1.0: of the axis, where the chain is
    limits: tuple[float, float] | None = None  # radians about the axis
    reaches_over: bool = False  # takes the other side where a limit stops this one

    def solve(self, targets: Floats, normals: Floats, distances: Floats, reaches: Floats) -> PostAngles:
        """Return the angles for targets (m, 3) in the post's own space before its turn.

        normals (m, 3) of any length, distances (m,): of the plane there. reaches: (m,) of the chain there.
        """
        k, (u, v) = self.axis, self._across
        phi, rho = np.arctan2(targets[:, v], targets[:, u]), np.hypot(targets[:, v], targets[:, u])
        psi, size = np.arctan2(normals[:, v], normals[:, u]), np.hypot(normals[:, v], normals[:, u])
        off = distances - normals[:, k] * targets[:, k]
        least = _ON_AXIS * (np.abs(targets[:, k]) + reaches)
        there = size * np.maximum(rho, least)  # rounding is no side
        held = there > np.abs(off)
        cosines = np.where(held, off / np.where(held, there, 1.0), np.sign(off))
        phi = np.where(rho <= least, psi + self.side * np.pi / 2.0, phi)
        aside = np.arccos(cosines)
        angles = self._nearest(phi - psi - self.side * aside)
        status = np.where(held, HELD, NEAREST)
        if self.limits is not None:
            low, high = self.limits
            if self.reaches_over:
                other = self._nearest(phi - psi + self.side * aside)
                over = self._are_beyond(angles) & ~self._are_beyond(other)
                angles = np.where(over, other, angles)
            status = np.where(self._are_beyond(angles), LIMITED, status)
            angles = np.clip(angles, low, high)
        near = (rho < NEAR * reaches) | ~held | (np.abs(cosines) > _EDGE)
        return PostAngles(angles, status.astype(np.int8), near, rho)

    def angle(
        self, target: Sequence[float], normal: Sequence[float], distance: float, reach: float
    ) -> tuple[float, int]:
        """Return the angle and status of `solve` for one target, in plain numbers."""
        k, (u, v) = self.axis, self._across
        a, b, p, q = target[u], target[v], normal[u], normal[v]
        rho, off, psi = sqrt(a * a + b * b), distance - normal[k] * target[k], atan2(q, p)
        least = _ON_AXIS * (abs(target[k]) + reach)
        there = sqrt(p * p + q * q) * max(rho, least)
        phi = atan2(b, a)
        if rho <= least:
            phi = psi + self.side * pi / 2.0
        status = HELD
        if there > abs(off):
            aside = acos(off / there)
        else:
            aside, status = (0.0 if off > 0.0 else pi if off < 0.0 else pi / 2.0), NEAREST
        angle = self._nearest_one(phi - psi - self.side * aside)
        if self.limits is not None:
            low, high = self.limits
            if self.reaches_over and not low - _ROUNDING <= angle <= high + _ROUNDING:
                other = self._nearest_one(phi - psi + self.side * aside)
                angle = other if low - _ROUNDING <= other <= high + _ROUNDING else angle
            if not low - _ROUNDING <= angle <= high + _ROUNDING:
                status = LIMITED
            angle = min(max(angle, low), high)
        return angle, status

    def going_on(self, angles: Floats, near: float = 0.0) -> Floats:
        """Return angles (m,) without jumps, the first as near as whole turns allow to `near`.

        As they are where that would leave the limits.
        """
        turned: Floats = np.unwrap(angles)
        turned -= 2.0 * np.pi * np.round((turned[:1] - near) / (2.0 * np.pi))
        return angles if self._are_beyond(turned).any() else turned

    @property
    def _across(self) -> tuple[int, int]:
        return (self.axis + 1) % 3, (self.axis + 2) % 3

    @property
    def _middle(self) -> float:
        return 0.0 if self.limits is None else 0.5 * (self.limits[0] + self.limits[1])

    def _nearest(self, angles: Floats) -> Floats:
        """Return angles (m,) by the turns nearest to the middle of the limits, whatever came before."""
        middle = self._middle
        return middle + wrapped(angles - middle)

    def _nearest_one(self, angle: float) -> float:
        middle = self._middle
        return middle + (angle - middle + pi) % (2.0 * pi) - pi

    def _are_beyond(self, angles: Floats) -> NDArray[np.bool_]:
        low, high = self.limits or (-np.inf, np.inf)
        beyond: NDArray[np.bool_] = (angles < low - _ROUNDING) | (angles > high + _ROUNDING)
        return beyond


def side_at_rest(axis: int, normal: Floats, joints: Floats) -> float:
    """Return the side, +1.0 or -1.0, of a post's axis that a chain is on at rest.

    normal (3,) of its plane and joints (n + 1, 3), root first, in the post's own space. Where target and tip
    at rest are one, the post is at rest. Of a tip over the axis the joint furthest along the chain decides.
    """
    across = crossed(np.eye(3)[axis], normal)
    asides = joints[::-1] @ across
    size = np.abs(joints - joints[0]).max() * np.linalg.norm(across)
    clear = np.flatnonzero(np.abs(asides) > _ASIDE * size)
    return float(np.sign(asides[clear[0]])) if clear.size else 1.0
