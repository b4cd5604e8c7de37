# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of a family, and the ways that lead from one curve of poses of least bend to another."""

from dataclasses import dataclass

import numpy as np

from ..inputs import Floats
from .bend import Curve, Place
from .family import ROUNDING

# The least cosine between a tangent and the way to the next knot.
STEADY = 0.9
# Pieces of the way that leads over a fold; how often the least turn for a reach of distance it may need; and
# how near to a border of reach turns are not looked at, since there they are without bounds.
PIECES, GENTLE, BORDER = 16, 2.0, 0.05
# The most that a joint may turn for a reach of distance (radians) before a way past that is looked for.
STEEP = 40.0


@dataclass(frozen=True, eq=False)
class Pieces:
    """Pieces of a family, from far to near."""

    cubics: Floats  # (4, k, m)
    distances: Floats  # (k + 1,)
    bridged: int = 0
    only: Floats | None = None  # the pose, where there is no piece

    @property
    def knots(self) -> Floats:
        """The poses (k + 1, m) at the ends of the pieces."""
        return np.vstack((self.cubics[0], self.end))

    @property
    def end(self) -> Floats:
        """The last pose (m,)."""
        return self.cubics[:, -1].sum(axis=0) if self.only is None else self.only

    def turns(self, curve: Curve) -> Floats:
        """Return the poses at the ends of the pieces with the root's angle before each, (k + 1, m + 1)."""
        roots = np.unwrap([-curve.tip_direction(pose) for pose in self.knots])
        return np.column_stack((roots, self.knots))

    def rates(self, curve: Curve, first: int) -> Floats:
        """Return the largest turn of a joint from `first` on for a reach of distance (k,).

        Zero for one next to a border, where turns are without bounds.
        """
        falls = np.maximum(-np.diff(self.distances), ROUNDING)
        rates = np.abs(np.diff(self.turns(curve)[:, first:], axis=0)).max(axis=1) / falls
        middle = (self.distances[1:] < 1.0 - BORDER) & (self.distances[:-1] > curve.inner + BORDER)
        return np.where(middle, rates, 0.0)

    def gentle(self, curve: Curve) -> "Pieces":
        """Return the pieces, with another way past one where a joint turns too far for the distance."""
        rates = self.rates(curve, 0)
        k = int(rates.argmax()) if rates.size > 2 else 0
        if not 0 < k < rates.size - 1 or rates[k] <= STEEP:
            return self
        far = Pieces(self.cubics[:, :k], self.distances[: k + 1], self.bridged)
        near = Pieces(self.cubics[:, k + 1 :], self.distances[k + 1 :])
        return far.over_to(near, curve, 0)

    @classmethod
    def pose(cls, angles: Floats, distance: float) -> "Pieces":
        """Return a single pose (m,)."""
        return cls(np.empty((4, 0, angles.size)), np.array([distance]), only=angles)

    @classmethod
    def through(cls, places: list[Place], curve: Curve) -> "Pieces":
        """Return the pieces between places of a curve, the distance falling along them."""
        distances = np.abs([place.distance for place in places])
        if len(places) == 1:
            return cls.pose(places[0].angles, float(distances[0]))
        inwards = [place.inwards() for place in places]
        whole = np.array([place.at for place in inwards])
        changes = np.diff(whole, axis=0)
        ahead = _aligned(np.array([place.ahead for place in inwards]), changes)
        lengths = np.linalg.norm(changes, axis=1)[:, np.newaxis]
        poses, slopes = whole[:, :-2], ahead[:, :-2]
        begin, end, change = lengths * slopes[:-1], lengths * slopes[1:], np.diff(poses, axis=0)
        cubics = [poses[:-1], begin, 3.0 * change - 2.0 * begin - end, begin + end - 2.0 * change]
        return cls(np.array(cubics), distances)

    def over_to(self, near: "Pieces", curve: Curve, first: int = 1) -> "Pieces":
        """Return these pieces up to a knot, a way over to a knot of nearer ones, and those from there.

        Of all pairs of knots it is the one with the shortest way among those where no joint turns by more
        than twice what it must, for each reach of distance, on the way or on what is left of the pieces:
        next to a fold that is without bounds. first: the joint from which on turns count.
        """
        apart = self.distances[:, np.newaxis] - near.distances
        changes = self.turns(curve)[:, np.newaxis] - near.turns(curve)
        changes[..., 0] -= 2.0 * np.pi * np.rint(changes[..., 0] / (2.0 * np.pi))
        ways = np.abs(changes[..., first:]).max(axis=2)
        rates = np.where(apart > 0.0, ways / np.maximum(apart, ROUNDING), np.inf)
        here, others = self.rates(curve, first), near.rates(curve, first)
        before = np.maximum.accumulate(np.append(0.0, here))[:, np.newaxis]
        after = np.maximum.accumulate(np.append(0.0, others[::-1]))[::-1]
        rates = np.maximum(np.maximum(rates, before), after)
        best = np.where(rates <= GENTLE * rates.min(), apart, np.inf)
        i, j = (int(k) for k in np.unravel_index(best.argmin(), best.shape))
        line = np.linspace(0.0, 1.0, PIECES + 1)[:, np.newaxis]
        poses = self.knots[i] + line * (near.knots[j] - self.knots[i])
        wanted = self.distances[i] + line[:, 0] * (near.distances[j] - self.distances[i])
        kept, between = [poses[0]], [float(wanted[0])]
        for guess, distance in zip(poses[1:-1], wanted[1:-1], strict=True):
            pose = curve.corrected(guess, distance)
            tip = curve.tip_distance(pose)
            if wanted[-1] < tip < between[-1]:
                kept.append(pose)
                between.append(tip)
        turns = np.diff([*kept, poses[-1]], axis=0)
        way = np.array([kept, turns, np.zeros_like(turns), np.zeros_like(turns)])
        return Pieces(
            np.concatenate((self.cubics[:, :i], way, near.cubics[:, j:]), axis=1),
            np.concatenate((self.distances[:i], between, near.distances[j:])),
            self.bridged + near.bridged + 1,
        )


def _aligned(ahead: Floats, changes: Floats) -> Floats:
    """Return tangents (k + 1, m + 2), those at both ends corrected so that the curve goes on there.

    At an end the distance may have no slope, which leaves the tangent's sign open; and where the folded
    chain's tip is on the root, more than one tangent may solve the equations: then it is that of an arc.
    """
    aligned = ahead.copy()
    for end, inside, change in ((0, 1, changes[0]), (-1, -2, changes[-1])):
        chord = change / np.linalg.norm(change)
        if aligned[end] @ chord < 0.0:
            aligned[end] = -aligned[end]
        if aligned[end] @ chord < STEADY:
            aligned[end] = 2.0 * (aligned[inside] @ chord) * chord - aligned[inside]
    return aligned
