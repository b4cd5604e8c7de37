# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of least bend of a chain whose root turns freely, as one curve that is followed.

Least sum of (a_i - r_i)^2 / w_i with the tip at a distance d from the root means

    (a_i - r_i) / w_i + F y_i = 0   for each inner joint i

where y_i is the joint's height over the line from root to tip, and F the force along that line: a bent
rod, joint by joint. F is without bounds where the bones come to lie on one line, so that it is written
as a quotient, F = s sin(f) / cos(f); then all such poses, with d left open, are one smooth curve

    cos(f) (a_i - r_i) / w_i + s sin(f) y_i = 0,   y_tip = 0

in (a_1 .. a_m, h, f), h the direction of the first bone. It is followed by its length, so that it can
turn back in d; on the way it passes the rest pose (f = 0), the stretched and the folded one (f a right
angle), and poses with the tip on the root (x_tip = 0).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import cos, sin

import numpy as np

from ..inputs import Floats
from .joined import Joined

# The most that the place on the curve changes from one knot to the next (all its numbers together), that
# a joint turns, and that the curve changes its direction (radians).
LONGEST_STEP, LARGEST_TURN, SHARPEST_TURN = 0.5, 0.25, 0.15
SHORTEST_STEP = 1e-7
# Newton's last step, before which a place counts as on the curve: it squares what is left.
CLOSE = 1e-5
ROUNDS = 6
# Newton's rounds to a place that must be exact.
EXACT_ROUNDS = 12
# Steps from any pose down to one of least bend; a joint's longest turn in one (radians); and the turn from
# which on Newton's method takes over.
DESCENTS, CORRECTIONS, LONGEST_DESCENT, NEARLY_LEAST = 400, 20, 0.2, 1e-4


@dataclass(frozen=True, eq=False)
class Place:
    """A pose of least bend, where on the curve it lies, and where the curve goes on."""

    at: Floats  # (m + 2,) inner angles, direction of the first bone, f
    ahead: Floats  # (m + 2,) the curve's unit tangent
    distance: float  # of the tip along the line; below zero past the root
    slope: float  # of the distance along the curve

    @property
    def angles(self) -> Floats:
        """The inner angles (m,)."""
        return self.at[:-2]

    def turned(self) -> "Place":
        """Return the same place, the curve followed the other way."""
        return Place(self.at, -self.ahead, self.distance, -self.slope)


class Curve:
    """The equations of the poses of least bend of one chain."""

    def __init__(self, chain: Joined) -> None:
        self.lengths, self.rest = chain.lengths, chain.rest
        self.weights = chain.weights / chain.weights.mean()
        self.force = 10.0 / (chain.rest.size + 1)  # about what buckles a chain of equal bones
        self.size = chain.rest.size
        self._before = np.tri(self.size, dtype=np.bool_)  # joint j at or before joint i

    def joints(self, at: Floats) -> tuple[Floats, Floats]:
        """Return where the joints are, x and y (m + 2,) each: the root at zero, the tip last."""
        headings = np.concatenate(([at[-2]], at[:-2]))
        np.cumsum(headings, out=headings)
        points = np.zeros((2, self.size + 2))
        np.cumsum(self.lengths * np.cos(headings), out=points[0, 1:])
        np.cumsum(self.lengths * np.sin(headings), out=points[1, 1:])
        return points[0], points[1]

    def system(self, at: Floats) -> tuple[Floats, Floats, float, Floats]:
        """Return the equations' values (m + 1,) and slopes (m + 1, m + 2); x of the tip and its slopes."""
        m = self.size
        xs, ys = self.joints(at)
        turned = (at[:-2] - self.rest) / self.weights
        c, s = cos(at[-1]), self.force * sin(at[-1])
        values = np.empty(m + 1)
        values[:m] = c * turned + s * ys[1:-1]
        values[m] = ys[-1]
        slopes = np.empty((m + 1, m + 2))
        slopes[:m, :m] = np.where(self._before, s * (xs[1:-1, np.newaxis] - xs[1:-1]), 0.0)
        slopes.ravel()[: m * (m + 2) : m + 3] += c / self.weights
        slopes[:m, m] = s * xs[1:-1]
        slopes[:m, m + 1] = self.force * c * ys[1:-1] - sin(at[-1]) * turned
        slopes[m, :m] = xs[-1] - xs[1:-1]
        slopes[m, m] = xs[-1]
        slopes[m, m + 1] = 0.0
        x_slopes = np.zeros(m + 2)
        x_slopes[:m] = ys[1:-1] - ys[-1]
        x_slopes[m] = -ys[-1]
        return values, slopes, float(xs[-1]), x_slopes

    def place(self, at: Floats, ahead: Floats) -> Place:
        """Return the place on the curve at `at`, the tangent being the one that points as `ahead` does."""
        _, slopes, x, x_slopes = self.system(at)
        tangent = _solved(np.vstack((slopes, ahead)), _last(self.size + 2))
        if tangent is None:
            tangent = ahead
        tangent = tangent / np.linalg.norm(tangent)
        return Place(at, tangent, x, float(x_slopes @ tangent))

    def step(self, place: Place, guess: Floats) -> Place | None:
        """Return the place on the curve across from a guess; None where Newton's method does not find it."""
        at = guess
        for _ in range(ROUNDS):
            values, slopes, x, x_slopes = self.system(at)
            ends = np.zeros((self.size + 2, 2))
            ends[:-1, 0] = -values
            ends[-1, 0] = place.ahead @ (guess - at)
            ends[-1, 1] = 1.0
            found = _solved(np.vstack((slopes, place.ahead)), ends)
            if found is None:
                return None
            change, tangent = found.T
            largest = float(np.abs(change).max())
            if largest > 1.0:
                return None
            at = at + change
            if largest < CLOSE:
                tangent = tangent / np.linalg.norm(tangent)
                # The slope at the corrected place is off by no more than the correction.
                return Place(at, tangent, x + float(x_slopes @ change), float(x_slopes @ tangent))
        return None

    def where(self, guess: Floats, ahead: Floats, *, x: float | None = None, f: float = 0.0) -> Place | None:
        """Return the place near a guess where the tip is at distance x, or else where f is as given."""
        at = guess
        for _ in range(EXACT_ROUNDS):
            values, slopes, x_now, x_slopes = self.system(at)
            if x is None:
                row, value = _last(self.size + 2), at[-1] - f
            else:
                row, value = x_slopes, x_now - x
            change = _solved(np.vstack((slopes, row)), -np.append(values, value))
            largest = np.inf if change is None else float(np.abs(change).max())
            if change is None or largest > 1.0:
                return None
            at = at + change
            if largest < 1e-13:
                break
        return self.place(at, ahead) if largest < 1e-9 else None

    def follow(self, start: Place, steps: int, first: float = 0.05) -> Iterator[Place]:
        """Yield places along the curve from `start`, which is not among them, until no more is found."""
        place, before, length, last = start, start.ahead, first, first
        for _ in range(steps):
            while True:
                bent = (place.ahead - before) / last
                guess = place.at + length * place.ahead + 0.5 * length * length * bent
                found = self.step(place, guess)
                if found is not None:
                    turn = float(np.linalg.norm(found.ahead - place.ahead))
                    most = float(np.abs(found.angles - place.angles).max())
                    part = max(turn / SHARPEST_TURN, most / LARGEST_TURN, length / LONGEST_STEP)
                    if part <= 2.0 and found.ahead @ place.ahead > 0.0:
                        break
                length /= 2.0
                if length < SHORTEST_STEP:
                    return
            before, last = place.ahead, float(np.linalg.norm(found.at - place.at))
            place = found
            yield place
            length *= min(2.0, max(0.5, 0.9 / max(part, 1e-3)))

    def stretched(self) -> Place:
        """Return the straight pose of a chain that is straight at rest, and where it buckles to.

        Among slight bends a the chain shortens by a K a / 2, K made of the arms on both sides of a joint;
        so the one with the least a^2 / w for it is that of K's greatest value.
        """
        ends = np.cumsum(self.lengths)
        near = np.minimum.outer(ends[:-1], ends[:-1]) - np.outer(ends[:-1], ends[:-1])
        roots = np.sqrt(self.weights)
        values, vectors = np.linalg.eigh(roots[:, np.newaxis] * near * roots)
        bend = roots * vectors[:, -1] * np.sign(vectors[:, -1].sum())
        at = np.zeros(self.size + 2)
        at[-1] = np.arctan2(1.0, self.force * values[-1])
        ahead = np.zeros(self.size + 2)
        ahead[:-2] = bend
        ahead[-2] = -float(((1.0 - ends[:-1]) * bend).sum())
        return Place(at, ahead / np.linalg.norm(ahead), 1.0, 0.0)

    def least(self, angles: Floats, distance: float) -> Place | None:
        """Return the pose of least bend that inner angles (m,) fall to, the tip kept at a distance.

        Each step is the least bend of all for an arc of poses that were straight: the turns q with

            least sum (a_i + q_i - r_i)^2 / w_i,   sum q_i y_i = distance - x_tip
        """
        for descent in range(DESCENTS):
            at = np.concatenate((angles, [-self.tip_direction(angles), 0.0]))
            xs, ys = self.joints(at)
            heights, back = ys[1:-1], self.rest - angles
            resistance = float((self.weights * heights * heights).sum())
            if resistance < 1e-14:
                return None
            push = (distance - xs[-1] - float(heights @ back)) / resistance
            turns = back + push * self.weights * heights
            largest = float(np.abs(turns).max())
            if largest < NEARLY_LEAST:
                break
            patience = 1.0 if descent < DESCENTS // 4 else 0.3
            angles = angles + min(patience, LONGEST_DESCENT / largest) * turns
        turned = (angles - self.rest) / self.weights
        at[-1] = np.arctan2(-float(turned @ heights), self.force * float(heights @ heights))
        if at[-1] > np.pi / 2.0:
            at[-1] -= np.pi
        elif at[-1] < -np.pi / 2.0:
            at[-1] += np.pi
        return self.where(at, _last(self.size + 2), x=distance)

    def corrected(self, angles: Floats, distance: float) -> Floats:
        """Return the pose near inner angles (m,) whose tip is at a distance, or near it."""
        for _ in range(CORRECTIONS):
            xs, ys = self.joints(np.concatenate((angles, [-self.tip_direction(angles), 0.0])))
            off, willing = distance - xs[-1], self.weights * ys[1:-1]
            turns = off / max(float(willing @ ys[1:-1]), 1e-14) * willing
            largest = float(np.abs(turns).max())
            angles = angles + min(1.0, LONGEST_DESCENT / max(largest, 1e-14)) * turns
            if largest < NEARLY_LEAST:
                break
        return angles

    def tip_direction(self, angles: Floats) -> float:
        """Return the direction of the tip from that of the first bone."""
        xs, ys = self.joints(np.concatenate((angles, [0.0, 0.0])))
        return float(np.arctan2(ys[-1], xs[-1]))


def _solved(slopes: Floats, values: Floats) -> Floats | None:
    try:
        found: Floats = np.linalg.solve(slopes, values)
    except np.linalg.LinAlgError:
        return None
    return found if np.isfinite(found).all() else None


def _last(size: int) -> Floats:
    row = np.zeros(size)
    row[-1] = 1.0
    return row
