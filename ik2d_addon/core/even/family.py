# SPDX-License-Identifier: GPL-3.0-or-later
"""One pose for each distance of the target: a chain's family of poses of least bend.

It is kept as pieces, in each of which a pose is a cubic in one number t, off the true one by the fourth
power of the piece's length. The t at which its tip is at a given distance is found exactly: so every
target is reached, whatever the pieces are like, and the answer for one depends on nothing but its distance.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .. import arithmetic
from ..inputs import Floats
from ..roots.falling import falling_roots

# Newton's steps to a guess, each far cheaper than one to a pose.
GUESSES = 3
# After a step of t as short as this the error is below rounding.
SHORT = 2e-8
# The error of a distance by rounding, in reaches.
ROUNDING = 4e-16


@dataclass(frozen=True, eq=False)
class Family:
    """Inner angles as a continuous function of the tip's distance, in pieces from far to near."""

    lengths: Floats  # (m + 1,) that add up to 1
    distances: Floats  # (k + 1,) at the ends of the pieces, falling
    cubics: Floats  # (4, k, m) a pose is c0 + t c1 + t^2 c2 + t^3 c3
    bridged: int  # how many times a fold was passed by a way that is not of least bend

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest distance of the tip."""
        return float(self.distances[-1]), float(self.distances[0])

    def at(self, distances: Floats) -> tuple[Floats, NDArray[np.int32]]:
        """Return the inner angles (k, m) for distances (k,), the nearest there is, and the rounds."""
        wanted = np.clip(distances, *self.span)
        piece = np.clip(
            np.searchsorted(-self.distances, -wanted, side="right") - 1, 0, len(self.distances) - 2
        )
        at_first, at_last = wanted >= self.distances[piece], wanted <= self.distances[piece + 1]
        ends = at_first | at_last
        angles, rounds = np.empty((wanted.size, self.cubics.shape[2])), np.ones(wanted.size, np.int32)
        angles[ends] = _poses(self.cubics[:, piece[ends]], np.where(at_first, 0.0, 1.0)[ends, np.newaxis])
        inner = np.flatnonzero(~ends)
        piece, wanted = piece[inner], wanted[inner]
        poses, turns = angles[inner], np.empty((inner.size, self.cubics.shape[2]))

        def off(rows: NDArray[np.intp], t: Floats) -> tuple[Floats, Floats]:
            cubic, t = self.cubics[:, piece[rows]], t[:, np.newaxis]
            poses[rows] = pose = _poses(cubic, t)
            turns[rows] = turn = cubic[1] + t * (2.0 * cubic[2] + (3.0 * t) * cubic[3])
            distance, slope = self.distance(pose, turn)
            return distance - wanted[rows], slope

        start, bracket = self._guess(piece, wanted), (np.zeros(inner.size), np.ones(inner.size))
        _, steps, rounds[inner] = falling_roots(off, start, *bracket, ROUNDING, SHORT)
        angles[inner] = poses + steps[:, np.newaxis] * turns
        return angles, rounds

    def _guess(self, piece: NDArray[np.intp], wanted: Floats) -> Floats:
        """Return an estimate of t (k,) for distances (k,) in their pieces (k,), taken as cubics of t."""
        top, first, second, third = self._distances[:, piece]
        fall = -(first + second + third)
        t: Floats = np.clip((top - wanted) / np.maximum(fall, ROUNDING), 0.0, 1.0)
        t = np.where(piece == 0, np.sqrt(t), t)  # next to full reach the distance has no slope
        for _ in range(GUESSES):
            off = top - wanted + t * (first + t * (second + t * third))
            slope = first + t * (2.0 * second + t * (3.0 * third))
            t = np.clip(t - off / np.where(slope < 0.0, slope, -np.inf), 0.0, 1.0)
        return t

    @cached_property
    def _distances(self) -> Floats:
        """The cubics of t (4, k) with the distance and the slope of each piece at both of its ends."""
        c0, c1, c2, c3 = self.cubics
        top, start = self.distance(c0, c1)
        bottom, end = self.distance(c0 + c1 + c2 + c3, c1 + 2.0 * c2 + 3.0 * c3)
        fall = bottom - top
        return np.array((top, start, 3.0 * fall - 2.0 * start - end, start + end - 2.0 * fall))

    def distance(self, pose: Floats, turn: Floats) -> tuple[Floats, Floats]:
        """Return the distances of the tips of poses (k, m), and their slopes for turns (k, m)."""
        headings, turns = _headings(pose), _headings(turn)
        lengths = self.lengths[:, np.newaxis]
        along, across = arithmetic.cos_and_sin(headings)
        along *= lengths
        across *= lengths
        x, y = arithmetic.summed(along), arithmetic.summed(across)
        along *= turns
        across *= turns
        distance = np.sqrt(x * x + y * y)
        rise = y * arithmetic.summed(along) - x * arithmetic.summed(across)
        slope = rise / np.maximum(distance, 1e-300)
        return distance, slope

    def mirrored(self) -> "Family":
        """Return the family that bends to the other side."""
        return Family(self.lengths, self.distances, -self.cubics, self.bridged)


def _headings(angles: Floats) -> Floats:
    """Return the sums (m + 1, k) of angles (k, m), the first one zero; joint by joint, which is faster."""
    sums = np.zeros((angles.shape[1] + 1, angles.shape[0]))
    sums[1:] = angles.T
    arithmetic.summed_up(sums)
    return sums


def _poses(cubics: Floats, t: Floats) -> Floats:
    """Return the poses (k, m) of cubics (4, k, m) at their t (k, 1)."""
    poses: Floats = cubics[0] + t * (cubics[1] + t * (cubics[2] + t * cubics[3]))
    return poses
