# SPDX-License-Identifier: GPL-3.0-or-later
"""The making of a family: the curve of poses of least bend, followed from rest out and in.

Out to the stretched pose, and in to the closed one. Where the curve folds, so that the distance turns back on
it, another curve is looked for beyond, and a way leads from one to the other that is not of least bend:
the family stays a continuous function of the distance.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import fsum, pi

import numpy as np

from ..ccd.shapes import ON_A_LINE, closed
from ..inputs import Floats, wrapped
from .bend import LARGEST_TURN, Curve, Place, f_alone
from .family import Family
from .pieces import Pieces

# The bend that a chain folded onto a line at rest is given, by a joint of weight 1 (radians): there no small
# turn changes how far the tip is.
NUDGE = 0.02
# The most places along the curve; more, and it counts as not arriving.
PLACES = 400
# A pose is at the end of the family where its tip is as near to the border of reach (which is 1).
AT_THE_END = 1e-9
# The least weight of a joint, as a part of the greatest: where the others cannot reach a target alone, it
# still turns.
LEAST_WEIGHT = 1e-6
# Families kept.
KEPT = 64
# Where beyond a fold, as a part of the way to the inner reach, a pose of least bend is looked for; and the
# most folds that are passed.
BEYOND, FOLDS = (0.02, 0.1, 0.3, 0.6), 4
# Where a chain is turned over to its other side, as parts of the way from the inner reach outwards; in so
# many steps, none of which turns a joint by more (radians).
TURNED_OVER, TURNING_STEPS, LARGEST_CHANGE = (0.5, 0.25, 0.1), 9, 0.6


def family_of(lengths: Floats, weights: Floats, rest: Floats, side: float) -> Family:
    """Return a chain's family on a side: +1 is that of its rest pose, -1 the other.

    lengths: (n,), none of them zero. weights, rest: (n - 1,) of the inner joints, which all turn.
    """
    shares = np.maximum(weights / weights.max(), LEAST_WEIGHT)
    return _kept((lengths / fsum(lengths)).tobytes(), shares.tobytes(), wrapped(rest).tobytes(), side)


@lru_cache(maxsize=KEPT)
def _kept(lengths: bytes, weights: bytes, rest: bytes, side: float) -> Family:
    arrays = np.frombuffer(lengths), np.frombuffer(weights), np.frombuffer(rest)
    on_a_line = bool((np.abs(np.sin(arrays[2])) <= ON_A_LINE).all())
    straight = on_a_line and bool((np.cos(arrays[2]) > 0.0).all())
    if side < 0.0:
        unturned = _kept(lengths, weights, rest, 1.0)
        return unturned.mirrored() if on_a_line else Search(*arrays).other_side(unturned)
    if straight:
        return Search(arrays[0], arrays[1], np.zeros(arrays[2].size)).straight_family()
    if on_a_line:
        return Search(arrays[0], arrays[1], arrays[2] + NUDGE * arrays[1]).family()
    return Search(*arrays).family()


@dataclass(frozen=True, eq=False)
class Trace:
    """Places on the curve, the distance falling from one to the next, and whether they end at the border."""

    places: list[Place]
    arrived: bool


class Search:
    """The making of one family."""

    def __init__(self, lengths: Floats, weights: Floats, rest: Floats) -> None:
        self.lengths, self.rest, self.curve = lengths, rest, Curve(lengths, weights, rest)

    def straight_family(self) -> Family:
        """Return the family of a chain that is straight at rest."""
        inwards = self.followed(self.curve.stretched(), outwards=False)
        return self.made(self.to_the_root(Pieces.through(inwards.places, self.curve), inwards.arrived))

    def family(self) -> Family:
        """Return the family through the rest pose."""
        return self.made(self.rest_pieces().gentle(self.curve))

    def rest_pieces(self) -> Pieces:
        """Return the pieces through the rest pose, from full reach to the inner one."""
        pieces, out, arrived = self.both_ways(self.rest_place())
        if not out:
            pieces = self.from_full_reach(pieces)
        return self.to_the_root(pieces, arrived)

    def other_side(self, family: Family) -> Family:
        """Return the family that bends to the other side than the rest pose.

        Bent far enough to that side there is a pose of least bend; it is found from the mirror image of
        the family, while the rest pose is turned over. Near full stretch there is none: there the chain
        is the mirror image of what it is on its own side.
        """
        mirror = family.mirrored()
        mirrored = Pieces(mirror.cubics, mirror.distances, mirror.bridged)
        far = float(family.distances[0])
        for share in TURNED_OVER:
            distance = self.curve.inner + share * (far - self.curve.inner)
            place = self.turned_over(-family.at(np.array([distance]))[0][0, : self.curve.size], distance)
            if place is not None:
                pieces, out, arrived = self.both_ways(place)
                pieces = self.to_the_root(pieces, arrived)
                return self.made(pieces if out else mirrored.over_to(pieces, self.curve))
        return self.made(mirrored)

    def turned_over(self, angles: Floats, distance: float) -> Place | None:
        """Return the pose of least bend near one (m,) for the mirrored rest; None where none is found."""
        rest = self.rest
        for share in np.linspace(-1.0, 1.0, TURNING_STEPS):
            self.curve.rest = share * rest
            place = self.curve.least(angles, distance)
            if place is None or np.abs(place.angles - angles).max() > LARGEST_CHANGE:
                break
            angles = place.angles
        self.curve.rest = rest
        return place.inwards() if place is not None and share == 1.0 else None

    def made(self, pieces: Pieces) -> Family:
        """Return the family of pieces."""
        return Family(self.lengths, pieces.distances, pieces.cubics, pieces.bridged)

    def both_ways(self, place: Place) -> tuple[Pieces, bool, bool]:
        """Return the pieces on both sides of a place, and whether they arrive at full reach, and within."""
        outwards = self.followed(place, outwards=True)
        inwards = self.followed(place, outwards=False)
        pieces = Pieces.through([*outwards.places[:0:-1], *inwards.places], self.curve)
        return pieces, outwards.arrived, inwards.arrived

    def to_the_root(self, pieces: Pieces, arrived: bool, folds: int = FOLDS) -> Pieces:
        """Return pieces that go on to the inner reach, over folds where there are any."""
        if arrived:
            return pieces
        last = float(pieces.distances[-1])
        for turned in BEYOND if folds else ():
            distance = last - turned * (last - self.curve.inner)
            place = self.curve.least(pieces.end, distance)
            if place is not None:
                beyond, _, arrived = self.both_ways(place.inwards())
                if beyond.distances[-1] < last:
                    return pieces.over_to(self.to_the_root(beyond, arrived, folds - 1), self.curve)
        closed_pose = self.closed_pose()
        last_pose = Pieces.pose(closed_pose, self.curve.tip_distance(closed_pose))
        return pieces.over_to(last_pose, self.curve)

    def from_full_reach(self, pieces: Pieces) -> Pieces:
        """Return pieces that begin at full reach, where these ones do not arrive."""
        first_pose = pieces.knots[0]
        bent = first_pose[: self.curve.size]
        begin = 2.0 * pi * np.rint(bent / (2.0 * pi))  # stretched, in the numbers nearest to the pose's
        at = np.concatenate((begin, [0.0, -pi / 2.0]))
        first = self.curve.place(at, np.concatenate((bent - begin, [0.0, 0.0])))
        inwards = self.followed(first, outwards=False)
        far = Pieces.pose(Pieces.through([first], self.curve).end, 1.0)
        if len(inwards.places) > 1:
            far = Pieces.through(inwards.places, self.curve)
        return far.over_to(pieces, self.curve)

    def rest_place(self) -> Place:
        """Return the rest pose as a place, the curve followed inwards."""
        rest = self.rest
        at = np.concatenate((rest, [-self.curve.tip_direction(rest), 0.0]))
        return self.curve.place(at, f_alone(rest.size)).inwards()

    def followed(self, first: Place, *, outwards: bool) -> Trace:
        """Return the places from the first one to the border, or to where the curve turns back."""
        places = [first]
        sign = 1.0 if outwards else -1.0
        start = first.turned() if outwards else first
        last = start
        for place in self.curve.follow(start, PLACES):
            end = self._end(last, place, outwards)
            if end is not None:
                places.append(end)
                return Trace(places, True)
            falls = place.distance > 0.0 and (place.distance - last.distance) * sign > 0.0
            if not falls or place.slope * sign <= 0.0:
                return Trace(places, False)
            places.append(place)
            last = place
        return Trace(places, False)

    def _end(self, last: Place, place: Place, outwards: bool) -> Place | None:
        """Return the family's end where it lies between two places: on the border, or the tip on the root."""
        if not outwards and self.curve.inner == 0.0 and place.distance <= 0.0:
            share = last.distance / (last.distance - place.distance)
            guess = last.at + share * (place.at - last.at)
            closed = self.curve.where(guess, place.ahead, x=0.0)
            return self._on_a_line(last, outwards) if closed is None else closed
        if np.cos(place.at[-1]) * np.cos(last.at[-1]) <= 0.0:
            right = (np.rint(last.at[-1] / pi - 0.5) + 0.5) * pi
            right = right if abs(right - last.at[-1]) <= pi / 2 else right - pi
            share = (right - last.at[-1]) / (place.at[-1] - last.at[-1])
            end = self.curve.where(last.at + share * (place.at - last.at), place.ahead, f=right)
            return None if end is None else self._on_a_line(end, outwards)
        return None

    def _on_a_line(self, place: Place, outwards: bool) -> Place | None:
        """Return the border's pose with all bones on a line that is close to a place; None where none is."""
        at = place.at.copy()
        at[:-2] = pi * np.rint(at[:-2] / pi)
        distance = self.curve.tip_distance(at[:-2])
        is_end = abs(distance - (1.0 if outwards else self.curve.inner)) <= AT_THE_END
        is_close = np.abs(at - place.at).max() <= LARGEST_TURN
        return Place(at, place.ahead, distance, 0.0) if is_end and is_close else None

    def closed_pose(self) -> Floats:
        """Return a pose (m,) whose tip is as near to the root as it gets."""
        pose = np.array(closed(self.lengths.tolist(), 1.0)[1:])
        on_a_line = pi * np.rint(pose / pi)  # where rounding kept a flat triangle open
        return on_a_line if self.curve.tip_distance(on_a_line) < self.curve.tip_distance(pose) else pose
