# SPDX-License-Identifier: GPL-3.0-or-later
"""One pose for each distance of the target: a chain's family of poses of least bend.

The curve of such poses (bend.py) is followed from rest out to the stretched pose and in to the closed one,
and kept as knots with tangents. Between two knots a pose is a cubic in one number t, off the true
one by the fourth power of the knots' distance; and the t at which its tip is at a given distance is found
exactly. So every target is reached, whatever the knots are like, and the answer for one depends on
nothing but its distance.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import pi

import numpy as np
from numpy.typing import NDArray

from ..ccd.shapes import closed
from ..inputs import Floats
from .bend import LARGEST_TURN, Curve, Place
from .joined import Joined

# A chain none of whose joints is bent by more (radians) at rest lies on a line, and the bend picks its side.
ON_A_LINE = 1e-4
# The bend that a chain folded onto a line at rest is given, by a joint of weight 1 (radians): there no small
# turn changes how far the tip is.
NUDGE = 0.02
# Places along the curve before it counts as not arriving.
PLACES = 1500
# A pose is at the end of the family where its tip is as near to the border of reach (which is 1).
AT_THE_END = 1e-9
# The least cosine between a tangent and the way to the next knot.
STEADY = 0.9
# Families kept.
KEPT = 64
# Halvings and Newton's steps for one target: five are usual.
ROUNDS = 80
# What rounding leaves of a distance, of a reach of 1.
ROUNDING = 4e-16
# Pieces of the way that leads over a fold; how often the least turn for a reach of distance it may need; and
# how near to a border of reach turns are not looked at, since there they are without bounds.
PIECES, GENTLE, BORDER = 16, 2.0, 0.05
# Where beyond a fold, as a part of the way to the inner reach, a pose of least bend is looked for; and the
# most folds that are passed.
BEYOND, FOLDS = (0.02, 0.1, 0.3, 0.6), 4
# Where a chain is turned over to its other side, as parts of the way from the inner reach outwards; in so
# many steps, none of which turns a joint by more (radians).
TURNED_OVER, TURNING_STEPS, LARGEST_CHANGE = (0.5, 0.25, 0.1), 9, 0.6


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
        """Return the inner angles (k, m) for distances (k,), the nearest there is, and Newton's steps."""
        wanted = np.clip(distances, *self.span)
        piece = np.clip(
            np.searchsorted(-self.distances, -wanted, side="right") - 1, 0, len(self.distances) - 2
        )
        top, bottom = self.distances[piece], self.distances[piece + 1]
        low, high = np.zeros(wanted.size), np.ones(wanted.size)
        angles, steps = np.empty((wanted.size, self.lengths.size - 1)), np.zeros(wanted.size, np.int32)
        rows, t = np.arange(wanted.size), np.sqrt((top - wanted) / np.maximum(top - bottom, ROUNDING))
        t = np.where(wanted >= top, 0.0, np.where(wanted <= bottom, 1.0, t))
        for done in range(ROUNDS):
            cubic = self.cubics[:, piece]
            pose = cubic[0] + t[:, np.newaxis] * (
                cubic[1] + t[:, np.newaxis] * (cubic[2] + t[:, np.newaxis] * cubic[3])
            )
            turn = cubic[1] + t[:, np.newaxis] * (2.0 * cubic[2] + (3.0 * t)[:, np.newaxis] * cubic[3])
            distance, slope = self._distance(pose, turn)
            off = distance - wanted
            low, high = np.where(off > 0.0, t, low), np.where(off > 0.0, high, t)
            there = (np.abs(off) <= ROUNDING) | (high - low <= ROUNDING) | (t == 0.0) & (wanted >= top)
            there |= (t == 1.0) & (wanted <= bottom)
            angles[rows], steps[rows] = pose, done + 1
            if there.all():
                break
            newton = t - off / np.where(slope < 0.0, slope, -1.0)
            inside = (slope < 0.0) & (newton > low) & (newton < high)
            t = np.where(inside, newton, 0.5 * (low + high))
            going = ~there
            rows, t, low, high = rows[going], t[going], low[going], high[going]
            piece, wanted, top, bottom = piece[going], wanted[going], top[going], bottom[going]
        return angles, steps

    def _distance(self, pose: Floats, turn: Floats) -> tuple[Floats, Floats]:
        """Return how far the tips of poses (k, m) are, and how fast that grows while joints turn (k, m)."""
        headings, turns = _cumulated(pose), _cumulated(turn)
        along, across = self.lengths * np.cos(headings), self.lengths * np.sin(headings)
        x, y = _summed(along), _summed(across)
        distance = np.sqrt(x * x + y * y)
        slope = (y * _summed(along * turns) - x * _summed(across * turns)) / np.maximum(distance, 1e-300)
        return distance, slope

    def mirrored(self) -> "Family":
        """Return the family that bends to the other side."""
        return Family(self.lengths, self.distances, -self.cubics, self.bridged)


def _cumulated(angles: Floats) -> Floats:
    """Return the sums (k, m + 1) of angles (k, m), the first one zero."""
    sums = np.zeros((angles.shape[0], angles.shape[1] + 1))
    np.cumsum(angles, axis=1, out=sums[:, 1:])
    return sums


def _summed(values: Floats) -> Floats:
    """Return the sums (k,) of rows (k, m), in the same order whatever k is."""
    sums: Floats = np.cumsum(values, axis=1)[:, -1]
    return sums


def family_of(chain: Joined, side: float) -> Family:
    """Return a chain's family on a side: +1 is that of its rest pose, -1 the other."""
    return _kept(chain.lengths.tobytes(), chain.weights.tobytes(), chain.rest.tobytes(), side)


@lru_cache(maxsize=KEPT)
def _kept(lengths: bytes, weights: bytes, rest: bytes, side: float) -> Family:
    arrays = np.frombuffer(lengths), np.frombuffer(weights), np.frombuffer(rest)
    on_a_line = bool((np.abs(np.sin(arrays[2])) <= ON_A_LINE).all())
    straight = on_a_line and bool((np.cos(arrays[2]) > 0.0).all())
    if side < 0.0:
        own = _kept(lengths, weights, rest, 1.0)
        return own.mirrored() if on_a_line else _Search(*arrays).other_side(own)
    if straight:
        return _Search(arrays[0], arrays[1], np.zeros(arrays[2].size)).straight_family()
    if on_a_line:
        return _Search(arrays[0], arrays[1], arrays[2] + NUDGE * arrays[1]).family()
    return _Search(*arrays).family()


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Places on the curve, the distance falling from one to the next, and whether they end at the border."""

    places: list[Place]
    arrived: bool


class _Search:
    """The making of one family."""

    def __init__(self, lengths: Floats, weights: Floats, rest: Floats) -> None:
        none = np.empty(0, np.intp)
        self.chain = Joined(lengths, weights, rest, 1.0, 0.0, rest, none, np.empty(0))
        self.curve, self.inner = Curve(self.chain), self.chain.inner

    def straight_family(self) -> Family:
        """Return the family of a chain that is straight at rest."""
        inwards = self.followed(self.curve.stretched(), outwards=False)
        return self.to_the_root(_Pieces.through(inwards.places), inwards.arrived).family(self.chain.lengths)

    def family(self) -> Family:
        """Return the family through the rest pose."""
        pieces, out, arrived = self.both_ways(self.rest_place())
        if not out:
            pieces = self.from_full_reach(pieces)
        return self.to_the_root(pieces, arrived).family(self.chain.lengths)

    def other_side(self, own: Family) -> Family:
        """Return the family that bends to the other side than the rest pose.

        Bent far enough to that side there is a pose of least bend; it is found from the mirror image of
        the family, while the rest pose is turned over. Near full stretch there is none: there the chain
        is the mirror image of what it is on its own side.
        """
        mirrored = _Pieces(-own.cubics, own.distances, own.bridged)
        far = float(own.distances[0])
        for part in TURNED_OVER:
            distance = self.inner + part * (far - self.inner)
            place = self.turned_over(-own.at(np.array([distance]))[0][0], distance)
            if place is not None:
                pieces, out, arrived = self.both_ways(place)
                pieces = self.to_the_root(pieces, arrived)
                return (pieces if out else mirrored.over_to(pieces, self)).family(self.chain.lengths)
        return mirrored.family(self.chain.lengths)

    def turned_over(self, angles: Floats, distance: float) -> Place | None:
        """Return the pose of least bend near a pose (m,) that is one for the mirrored rest; None for none."""
        rest = self.chain.rest
        for part in np.linspace(-1.0, 1.0, TURNING_STEPS):
            self.curve.rest = part * rest
            place = self.curve.least(angles, distance)
            if place is None or np.abs(place.angles - angles).max() > LARGEST_CHANGE:
                break
            angles = place.angles
        self.curve.rest = rest
        return _inwards(place) if place is not None and part == 1.0 else None

    def both_ways(self, place: Place) -> tuple["_Pieces", bool, bool]:
        """Return the pieces on both sides of a place, and whether they arrive at full reach, and within."""
        outwards = self.followed(place, outwards=True)
        inwards = self.followed(place, outwards=False)
        pieces = _Pieces.through([*outwards.places[:0:-1], *inwards.places])
        return pieces, outwards.arrived, inwards.arrived

    def to_the_root(self, pieces: "_Pieces", arrived: bool, folds: int = FOLDS) -> "_Pieces":
        """Return pieces that go on to the inner reach, over folds where there are any."""
        if arrived:
            return pieces
        last = float(pieces.distances[-1])
        for part in BEYOND if folds else ():
            distance = last - part * (last - self.inner)
            place = self.curve.least(pieces.end, distance)
            if place is not None:
                beyond, _, arrived = self.both_ways(_inwards(place))
                if beyond.distances[-1] < last:
                    return pieces.over_to(self.to_the_root(beyond, arrived, folds - 1), self)
        return pieces.over_to(_Pieces.pose(self.closed_pose(), self.tip(self.closed_pose())), self)

    def from_full_reach(self, pieces: "_Pieces") -> "_Pieces":
        """Return pieces that begin at full reach, where these ones do not arrive."""
        begin = self.straight_pose(pieces.cubics[0, 0])
        at = np.concatenate((begin, [0.0, -pi / 2.0]))
        first = self.curve.place(at, np.concatenate((pieces.cubics[0, 0] - begin, [0.0, 0.0])))
        inwards = self.followed(first, outwards=False)
        far = _Pieces.pose(begin, 1.0)
        if len(inwards.places) > 1:
            far = _Pieces.through(inwards.places)
        return far.over_to(pieces, self)

    def rest_place(self) -> Place:
        """Return the rest pose as a place, the curve followed inwards."""
        rest = self.chain.rest
        at = np.concatenate((rest, [-self.curve.tip_direction(rest), 0.0]))
        ahead = np.zeros(rest.size + 2)
        ahead[-1] = 1.0
        return _inwards(self.curve.place(at, ahead))

    def followed(self, first: Place, *, outwards: bool) -> _Stretch:
        """Return the places from the first one to the border, or to where the curve turns back."""
        places = [first]
        sign = 1.0 if outwards else -1.0
        start = first.turned() if outwards else first
        last = start
        for place in self.curve.follow(start, PLACES):
            end = self._end(last, place, outwards)
            if end is not None:
                places.append(end)
                return _Stretch(places, True)
            falls = place.distance > 0.0 and (place.distance - last.distance) * sign > 0.0
            if not falls or place.slope * sign <= 0.0:
                return _Stretch(places, False)
            places.append(place)
            last = place
        return _Stretch(places, False)

    def _end(self, last: Place, place: Place, outwards: bool) -> Place | None:
        """Return the family's end where it lies between two places: on the border, or the tip on the root."""
        if not outwards and self.inner == 0.0 and place.distance <= 0.0:
            part = last.distance / (last.distance - place.distance)
            guess = last.at + part * (place.at - last.at)
            closed = self.curve.where(guess, place.ahead, x=0.0)
            return self._on_a_line(last, outwards) if closed is None else closed
        if np.cos(place.at[-1]) * np.cos(last.at[-1]) <= 0.0:
            right = (np.rint(last.at[-1] / pi - 0.5) + 0.5) * pi
            right = right if abs(right - last.at[-1]) <= pi / 2 else right - pi
            part = (right - last.at[-1]) / (place.at[-1] - last.at[-1])
            found = self.curve.where(last.at + part * (place.at - last.at), place.ahead, f=right)
            if found is None:
                return None
            return self._on_a_line(found, outwards)
        return None

    def _on_a_line(self, place: Place, outwards: bool) -> Place | None:
        """Return the border's pose with all bones on a line that is close to a place; None where none is."""
        at = place.at.copy()
        at[:-2] = pi * np.rint(at[:-2] / pi)
        distance = self.tip(at[:-2])
        is_end = abs(distance - (1.0 if outwards else self.inner)) <= AT_THE_END
        is_close = np.abs(at - place.at).max() <= LARGEST_TURN
        return Place(at, place.ahead, distance, 0.0) if is_end and is_close else None

    def tip(self, angles: Floats) -> float:
        """Return how far the tip of inner angles (m,) is from the root."""
        xs, ys = self.curve.joints(np.concatenate((angles, [0.0, 0.0])))
        return float(np.hypot(xs[-1], ys[-1]))

    def straight_pose(self, near: Floats) -> Floats:
        """Return the stretched pose (m,) in the numbers nearest to a pose's."""
        pose: Floats = 2.0 * pi * np.rint(near / (2.0 * pi))
        return pose

    def closed_pose(self) -> Floats:
        """Return a pose (m,) whose tip is as near to the root as it gets."""
        pose = np.array(closed(self.chain.lengths.tolist(), 1.0)[1:])
        on_a_line = pi * np.rint(pose / pi)  # where rounding kept a flat triangle open
        return on_a_line if self.tip(on_a_line) < self.tip(pose) else pose


@dataclass(frozen=True, eq=False)
class _Pieces:
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

    def rates(self, inner: float) -> Floats:
        """Return how far a joint turns at most for a reach of distance (k,), away from the borders."""
        rates = np.abs(np.diff(self.knots, axis=0)).max(axis=1) / -np.diff(self.distances)
        middle = (self.distances[1:] < 1.0 - BORDER) & (self.distances[:-1] > inner + BORDER)
        return np.where(middle, rates, 0.0)

    @classmethod
    def pose(cls, angles: Floats, distance: float) -> "_Pieces":
        """Return a single pose (m,)."""
        return cls(np.empty((4, 0, angles.size)), np.array([distance]), only=angles)

    @classmethod
    def through(cls, places: list[Place]) -> "_Pieces":
        """Return the pieces between places, the distance falling along them."""
        distances = np.abs([place.distance for place in places])
        if len(places) == 1:
            return cls.pose(places[0].angles, float(distances[0]))
        inwards = [_inwards(place) for place in places]
        whole = np.array([place.at for place in inwards])
        changes = np.diff(whole, axis=0)
        ahead = _aligned(np.array([place.ahead for place in inwards]), changes)
        lengths = np.linalg.norm(changes, axis=1)[:, np.newaxis]
        begin, end, change = lengths * ahead[:-1, :-2], lengths * ahead[1:, :-2], changes[:, :-2]
        cubics = [whole[:-1, :-2], begin, 3.0 * change - 2.0 * begin - end, begin + end - 2.0 * change]
        return cls(np.array(cubics), distances)

    def over_to(self, near: "_Pieces", search: _Search) -> "_Pieces":
        """Return these pieces to a knot, a way to a knot of others, which lie nearer, and those from there.

        Of all pairs of knots it is the one with the shortest way among those where no joint turns by more
        than twice what it must, for each reach of distance, on the way or on what is left of the pieces:
        next to a fold that is without bounds.
        """
        apart = self.distances[:, np.newaxis] - near.distances
        ways = np.abs(self.knots[:, np.newaxis] - near.knots).max(axis=2)
        own, others = self.rates(search.inner), near.rates(search.inner)
        before = np.maximum.accumulate(np.append(0.0, own))[:, np.newaxis]
        after = np.maximum.accumulate(np.append(0.0, others[::-1]))[::-1]
        rates = np.where(apart > 0.0, ways / np.maximum(apart, ROUNDING), np.inf)
        rates = np.maximum(np.maximum(rates, before), after)
        best = np.where(rates <= GENTLE * rates.min(), apart, np.inf)
        i, j = (int(k) for k in np.unravel_index(best.argmin(), best.shape))
        line = np.linspace(0.0, 1.0, PIECES + 1)[:, np.newaxis]
        poses = self.knots[i] + line * (near.knots[j] - self.knots[i])
        wanted = self.distances[i] + line[:, 0] * (near.distances[j] - self.distances[i])
        kept, between = [poses[0]], [float(wanted[0])]
        for guess, distance in zip(poses[1:-1], wanted[1:-1], strict=True):
            pose = search.curve.corrected(guess, distance)
            tip = search.tip(pose)
            if wanted[-1] < tip < between[-1]:
                kept.append(pose)
                between.append(tip)
        turns = np.diff([*kept, poses[-1]], axis=0)
        way = np.array([kept, turns, np.zeros_like(turns), np.zeros_like(turns)])
        return _Pieces(
            np.concatenate((self.cubics[:, :i], way, near.cubics[:, j:]), axis=1),
            np.concatenate((self.distances[:i], between, near.distances[j:])),
            self.bridged + near.bridged + 1,
        )

    def family(self, lengths: Floats) -> Family:
        """Return the family that these pieces are."""
        return Family(lengths, self.distances, self.cubics, self.bridged)


def _inwards(place: Place) -> Place:
    """Return a place, the curve followed to where the distance falls."""
    return place.turned() if place.slope > 0.0 else place


def _aligned(ahead: Floats, changes: Floats) -> Floats:
    """Return tangents (k + 1, m + 2), those at both ends such that the curve goes on there.

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
