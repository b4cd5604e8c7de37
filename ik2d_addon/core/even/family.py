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
from .bend import Curve, Place
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
# Families kept.
KEPT = 64
# Halvings and Newton's steps for one target: five are usual.
ROUNDS = 80
# What rounding leaves of a distance, of a reach of 1.
ROUNDING = 4e-16
# Pieces of the way that leads over a fold; and of a turn of a joint on it (radians), for each reach.
PIECES = 16
GENTLE = 8.0


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
    if side < 0.0:
        return _kept(lengths, weights, rest, 1.0).mirrored()
    return _made(np.frombuffer(lengths), np.frombuffer(weights), np.frombuffer(rest))


def _made(lengths: Floats, weights: Floats, rest: Floats) -> Family:
    on_a_line = bool((np.abs(np.sin(rest)) <= ON_A_LINE).all())
    straight = on_a_line and bool((np.cos(rest) > 0.0).all())
    if straight:
        rest = np.zeros(rest.size)
    elif on_a_line:
        rest = rest + NUDGE * weights
    none = np.empty(0, np.intp)
    chain = Joined(lengths, weights, rest, 1.0, 0.0, rest, none, np.empty(0))
    return _Search(chain).family(straight)


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Places on the curve, the distance falling from one to the next, and whether they end at the border."""

    places: list[Place]
    arrived: bool


class _Search:
    """The making of one family."""

    def __init__(self, chain: Joined) -> None:
        self.chain, self.curve = chain, Curve(chain)
        self.inner = chain.inner

    def family(self, straight: bool) -> Family:
        """Return the family through the rest pose."""
        bridged = 0
        if straight:
            first = self.curve.stretched()
            outwards = [first]
        else:
            first = self.rest_place()
            out = self.followed(first, outwards=True)
            outwards = out.places[::-1]
            if not out.arrived:
                bridged += 1
        inwards = self.followed(first, outwards=False)
        places = [*outwards, *inwards.places[1:]]
        pieces = _Pieces.through(places)
        if not straight and not out.arrived:
            pieces = self.bridge(self.straight_pose(places[0].angles), places[0].angles).before(pieces)
        if not inwards.arrived:
            bridged += 1
            pieces = pieces.before(self.bridge(places[-1].angles, self.closed_pose()))
        return pieces.family(self.chain.lengths, bridged)

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
            if place.slope * sign <= 0.0 or place.distance * sign <= last.distance * sign:
                return _Stretch(places, False)
            places.append(place)
            last = place
        return _Stretch(places, False)

    def _end(self, last: Place, place: Place, outwards: bool) -> Place | None:
        """Return the family's end where it lies between two places: on the border, or the tip on the root."""
        if not outwards and self.inner == 0.0 and place.distance <= 0.0:
            part = last.distance / (last.distance - place.distance)
            guess = last.at + part * (place.at - last.at)
            return self.curve.where(guess, place.ahead, x=0.0)
        if np.cos(place.at[-1]) * np.cos(last.at[-1]) <= 0.0:
            right = (np.rint(last.at[-1] / pi - 0.5) + 0.5) * pi
            right = right if abs(right - last.at[-1]) <= pi / 2 else right - pi
            part = (right - last.at[-1]) / (place.at[-1] - last.at[-1])
            found = self.curve.where(last.at + part * (place.at - last.at), place.ahead, f=right)
            if found is None:
                return None
            at = found.at.copy()
            at[:-2] = pi * np.rint(at[:-2] / pi)
            distance = abs(self.tip(at[:-2]))
            border = 1.0 if outwards else self.inner
            if abs(distance - border) <= AT_THE_END and np.abs(at - found.at).max() < 1e-3:
                return Place(at, found.ahead, distance, 0.0)
        return None

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

    def bridge(self, far: Floats, near: Floats) -> "_Pieces":
        """Return pieces from one pose (m,) to another, whose tip is nearer to the root."""
        line = np.linspace(0.0, 1.0, PIECES + 1)[:, np.newaxis]
        poses = far + line * (near - far)
        distances = np.array([self.tip(pose) for pose in poses])
        falling = [0]
        for i in range(1, PIECES):
            if distances[-1] < distances[i] < distances[falling[-1]]:
                falling.append(i)
        falling.append(PIECES)
        return _Pieces.lines(poses[falling], distances[falling])


@dataclass(frozen=True, eq=False)
class _Pieces:
    """Pieces of a family: their ends' poses, tangents (as far as t runs in one piece) and distances."""

    cubics: Floats  # (4, k, m)
    distances: Floats  # (k + 1,)

    @classmethod
    def through(cls, places: list[Place]) -> "_Pieces":
        """Return the pieces between places, the distance falling along them."""
        inwards = [_inwards(place) for place in places]
        at = np.array([place.angles for place in inwards])
        whole = np.array([place.at for place in inwards])
        ahead = _aligned(np.array([place.ahead for place in inwards]), np.diff(whole, axis=0))
        lengths = np.linalg.norm(np.diff(whole, axis=0), axis=1)[:, np.newaxis]
        begin, end = lengths * ahead[:-1, :-2], lengths * ahead[1:, :-2]
        change = np.diff(at, axis=0)
        cubics = np.array([at[:-1], begin, 3.0 * change - 2.0 * begin - end, begin + end - 2.0 * change])
        return cls(cubics, np.abs([place.distance for place in inwards]))

    @classmethod
    def lines(cls, poses: Floats, distances: Floats) -> "_Pieces":
        """Return the straight pieces between poses (k + 1, m) at falling distances (k + 1,)."""
        none = np.zeros((len(poses) - 1, poses.shape[1]))
        return cls(np.array([poses[:-1], np.diff(poses, axis=0), none, none]), distances)

    def before(self, others: "_Pieces") -> "_Pieces":
        """Return these pieces and those that go on from them."""
        distances = np.concatenate((self.distances, others.distances[1:]))
        return _Pieces(np.concatenate((self.cubics, others.cubics), axis=1), distances)

    def family(self, lengths: Floats, bridged: int) -> Family:
        """Return the family that these pieces are."""
        return Family(lengths, self.distances, self.cubics, bridged)


def _inwards(place: Place) -> Place:
    """Return a place, the curve followed to where the distance falls."""
    return place.turned() if place.slope > 0.0 else place


def _aligned(ahead: Floats, changes: Floats) -> Floats:
    """Return tangents (k + 1, m + 2), those at an end where the distance has no slope turned to go on."""
    aligned = ahead.copy()
    for i, change in ((0, changes[0]), (-1, changes[-1])):
        if aligned[i] @ change < 0.0:
            aligned[i] = -aligned[i]
    return aligned
