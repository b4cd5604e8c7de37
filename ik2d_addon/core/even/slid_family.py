# SPDX-License-Identifier: GPL-3.0-or-later
"""The family of a chain whose bones slide, and its making.

As in family.py, with the slides next to the angles. A chain that is straight at rest stays so while slides
alone lead the tip inwards, until their force buckles it.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import pi

import numpy as np
from numpy.typing import NDArray

from ..ccd.shapes import ON_A_LINE, closed
from ..inputs import Floats
from .bend import Place
from .family import ROUNDING, Family, cumulated, summed_across
from .pieces import STEEP, Pieces
from .search import KEPT, NUDGE, Search, Trace
from .sliding import NOTHING, Sliding, SlidingCurve, sliding

# Pieces on both sides of the rest pose of a chain with no turning joint inside.
PINNED_PIECES = 32
# The most ways past bad pieces; the samples of the distance on a piece; and the greatest rise that is none.
SMOOTHED, SAMPLES, RISE = 12, 9, 1e-14
# Halvings to slides that close a chain.
HALVINGS = 60
# A place at full force is at the border of reach where its tip is as near to it.
AT_THE_BORDER = 1e-7


@dataclass(frozen=True, eq=False)
class SlidFamily(Family):
    """Inner angles and slides (m + b,) as a continuous function of the tip's distance."""

    sliding: Sliding

    def bones(self, poses: Floats) -> tuple[Floats, Floats]:
        """Return the inner angles (k, m) and the slides (k, b) of poses (k, m + b)."""
        m, own = self.lengths.size - 1, self.sliding
        return poses[:, :m], np.clip(poses[:, m:], own.least, own.most)

    def distance(self, pose: Floats, turn: Floats) -> tuple[Floats, Floats]:
        """Return the distances of the tips of poses (k, m + b), and their slopes along `turn`."""
        own, m = self.sliding, self.lengths.size - 1
        angles, slides = self.bones(pose)
        directions = cumulated(angles)[:, own.group] + own.offset
        turns = cumulated(turn[:, :m])[:, own.group]
        given = np.where(slides == pose[:, m:], turn[:, m:], 0.0)
        lengths, along, across = own.lengths + slides, np.cos(directions), np.sin(directions)
        x, y = summed_across(lengths * along), summed_across(lengths * across)
        distance = np.sqrt(x * x + y * y)
        by_x = summed_across(given * along - lengths * across * turns)
        by_y = summed_across(given * across + lengths * along * turns)
        return distance, (x * by_x + y * by_y) / np.maximum(distance, NOTHING)

    def mirrored(self) -> "SlidFamily":
        """Return the family that bends to the other side: the slides are the same."""
        signs = np.ones(self.cubics.shape[2])
        signs[: self.lengths.size - 1] = -1.0
        return SlidFamily(self.lengths, self.distances, self.cubics * signs, self.bridged, self.sliding)


class SlidSearch(Search):
    """The making of one family of a chain that slides."""

    curve: SlidingCurve

    def __init__(self, chain: Sliding) -> None:
        self.chain, self.curve = chain.joined, SlidingCurve(chain)

    def made(self, pieces: Pieces) -> SlidFamily:
        """Return the family of pieces."""
        return SlidFamily(
            self.chain.lengths, pieces.distances, pieces.cubics, pieces.bridged, self.curve.sliding
        )

    def family(self) -> SlidFamily:
        """Return the family through the rest pose."""
        return self.made(self.smoothed(self.rest_pieces()))

    def other_side(self, own: Family) -> SlidFamily:
        """Return the family that bends to the other side than the rest pose."""
        other = super().other_side(own)
        return self.made(self.smoothed(Pieces(other.cubics, other.distances, other.bridged)))

    def followed(self, first: Place, *, outwards: bool) -> Trace:
        """Return the places from the first one to the border, or to where the curve turns back."""
        if not outwards and first.distance <= self.curve.inner + ROUNDING:
            return Trace([first], True)  # as with bones that have no length at rest
        return super().followed(first, outwards=outwards)

    def straight_family(self) -> SlidFamily:
        """Return the family of a chain that is straight at rest, or has no turning joint inside.

        While it is straight, a slide comes off one of its ends at one force, and to the other at another.
        """
        own, size = self.curve.sliding, self.curve.size
        bent = self.curve.buckling() if size else None
        ends = np.unique(-np.append(own.least, own.most) / own.weight)
        if bent is not None:
            most = self.curve.pushed(float(bent.at[-1]))
            ends = np.append(ends[ends < most], most)
        slides, _ = own.slides(np.zeros((ends.size, size + 1)), ends)
        line = self._through_poses(np.hstack((np.zeros((ends.size, size)), slides)))
        if bent is None:
            return self.made(line)
        inwards = self.followed(bent, outwards=False)
        pieces = self.to_the_root(Pieces.through(inwards.places, self.curve), inwards.arrived)
        pieces = self.smoothed(pieces)
        return self.made(
            Pieces(
                np.concatenate((line.cubics, pieces.cubics), axis=1),
                np.append(line.distances[:-1], pieces.distances),
                pieces.bridged,
            )
        )

    def pinned_family(self) -> SlidFamily:
        """Return the family of a chain with no turning joint inside, but bent pinned ones."""
        places = [self.rest_place().at]
        for end in (-pi / 2.0, pi / 2.0):
            for f in np.linspace(0.0, end, PINNED_PIECES + 1)[1:]:
                place = self.curve.where(np.append(places[-1][:-1], f), places[-1], f=float(f))
                if place is None:
                    break
                places.append(place.at)
            places.reverse()
        at = np.array(places[::-1])
        return self.made(self._through_poses(self.curve.poses(at, at)[0]))

    def _through_poses(self, poses: Floats) -> Pieces:
        """Return straight ways from pose to pose (k, m + b), without those that lead no farther in."""
        distances = np.array([self.curve.tip_distance(pose) for pose in poses])
        before = np.append(np.inf, np.minimum.accumulate(distances)[:-1])
        knots, distances = poses[distances < before - ROUNDING], distances[distances < before - ROUNDING]
        if len(knots) == 1:
            knots, distances = knots[[0, 0]], distances[[0, 0]]
        none = np.zeros_like(knots[1:])
        return Pieces(np.array([knots[:-1], np.diff(knots, axis=0), none, none]), distances)

    def smoothed(self, pieces: Pieces) -> Pieces:
        """Return pieces with other ways past those where the distance rises, or a pose changes too fast."""
        for _ in range(SMOOTHED):
            rates = pieces.rates(self.curve, 0)
            bad = ~self._fall(pieces) | (rates > STEEP)
            if rates.size < 3 or not bad.any():
                break
            k = int(np.where(bad, rates, -1.0).argmax())
            far = Pieces(pieces.cubics[:, :k], pieces.distances[: k + 1], pieces.bridged)
            near = Pieces(pieces.cubics[:, k + 1 :], pieces.distances[k + 1 :])
            if k == 0:
                far = Pieces.pose(pieces.knots[0], float(pieces.distances[0]))
            if k == rates.size - 1:
                near = Pieces.pose(pieces.end, float(pieces.distances[-1]))
            pieces = far.over_to(near, self.curve, 0)
        for k in np.flatnonzero(~self._fall(pieces))[::-1]:
            ends = (Pieces.pose(pieces.knots[i], float(pieces.distances[i])) for i in (k, k + 1))
            way = next(ends).over_to(next(ends), self.curve, 0)
            pieces = Pieces(
                np.concatenate((pieces.cubics[:, :k], way.cubics, pieces.cubics[:, k + 1 :]), axis=1),
                np.concatenate((pieces.distances[:k], way.distances, pieces.distances[k + 2 :])),
                pieces.bridged + 1,
            )
        return pieces

    def _fall(self, pieces: Pieces) -> NDArray[np.bool_]:
        """Return whether the distance falls all along each piece (k,)."""
        family, c = self.made(pieces), pieces.cubics
        poses = (c[0] + t * (c[1] + t * (c[2] + t * c[3])) for t in np.linspace(0.0, 1.0, SAMPLES))
        distances = [family.distance(pose, pose)[0] for pose in poses]
        falls: NDArray[np.bool_] = (np.diff(distances, axis=0) < RISE).all(axis=0)
        return falls

    def closed_pose(self) -> Floats:
        """Return a pose (m + b,) whose tip is as near to the root as it gets.

        The slides go from those at rest as far as they must to where the longest bone is shortest and the
        others are longest.
        """
        own, size = self.curve.sliding, self.curve.size
        at_rest, headings = self.curve.split(np.zeros(size))[1], np.zeros(size + 1)
        shortest = np.hypot(*self.curve.vectors(headings, own.least).T)
        longest = own.group == int((shortest + self.chain.lengths).argmax())
        closing = np.where(longest, own.least, own.most)
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            lengths = self._lengths(at_rest + middle * (closing - at_rest))
            low, high = (low, middle) if 2.0 * lengths.max() <= lengths.sum() else (middle, high)
        slides = at_rest + high * (closing - at_rest)
        lengths = self._lengths(slides)
        return np.append(closed((lengths / lengths.sum()).tolist(), 1.0)[1:], slides)

    def _lengths(self, slides: Floats) -> Floats:
        lengths: Floats = np.hypot(*self.curve.vectors(np.zeros(self.curve.size + 1), slides).T)
        return lengths

    def _on_a_line(self, place: Place, outwards: bool) -> Place | None:
        """Return a place at full force, if it is at the border of reach."""
        border = 1.0 if outwards else self.curve.inner
        return place if abs(place.distance - border) <= AT_THE_BORDER else None


def slid_family_of(
    lengths: Floats, ranges: Floats, weights: Floats, rest: Floats, slide_weight: float, side: float
) -> SlidFamily:
    """Return a chain's family on a side: +1 is that of its rest pose, -1 the other. As for `sliding`."""
    parts = (lengths, np.ascontiguousarray(ranges), weights, rest)
    return _kept(*(part.tobytes() for part in parts), slide_weight, side)


@lru_cache(maxsize=KEPT)
def _kept(
    lengths: bytes, ranges: bytes, weights: bytes, rest: bytes, slide_weight: float, side: float
) -> SlidFamily:
    arrays = [np.frombuffer(part) for part in (lengths, ranges, weights, rest)]
    on_a_line = bool((np.abs(np.sin(arrays[3])) <= ON_A_LINE).all())
    straight = on_a_line and bool((np.cos(arrays[3]) > 0.0).all())
    chain = sliding(arrays[0], arrays[1].reshape(-1, 2), arrays[2], arrays[3], slide_weight)
    turns = chain.joined.rest.size > 0
    if side < 0.0:
        own = _kept(lengths, ranges, weights, rest, slide_weight, 1.0)
        if not turns:
            return own
        return own.mirrored() if on_a_line else SlidSearch(chain).other_side(own)
    search = SlidSearch(chain)
    if not turns:
        return search.pinned_family() if not straight else search.straight_family()
    if straight:
        search.curve.rest = np.zeros(search.curve.size)
        return search.straight_family()
    if on_a_line:
        search.curve.rest = search.curve.rest + NUDGE * search.curve.weights
    return search.family()
