# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of least bend of a chain whose root turns freely, as one curve that is followed.

Least sum of (a_i - r_i)^2 / w_i with the tip at a distance d from the root means

    (a_i - r_i) / w_i + F y_i = 0   for each inner joint i

where y_i is the joint's height over the line from root to tip, and F the force along that line: a bent
rod, joint by joint. F grows without bounds as the bones come to lie on one line, so it is written as a
quotient, F = s sin(f) / cos(f); then all such poses, with d left open, are one smooth curve

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
from .band import solved

# The greatest change of the place on the curve from one knot to the next (all its numbers together), of a
# joint's angle, and of the curve's direction (radians).
LONGEST_STEP, LARGEST_TURN, SHARPEST_TURN = 0.5, 0.25, 0.15
SHORTEST_STEP = 1e-7
# Newton's last step, before which a place counts as on the curve: it squares what is left.
CLOSE = 3e-4
ROUNDS = 6
# Newton's rounds to a place that must be exact.
EXACT_ROUNDS = 12
# Steps from any pose down to one of least bend; a joint's longest turn in one (radians); and the turn from
# which on Newton's method takes over.
DESCENTS, CORRECTIONS, LONGEST_DESCENT, NEARLY_LEAST = 400, 20, 0.2, 1e-4


@dataclass(frozen=True, eq=False)
class Place:
    """A pose of least bend: its place on the curve, and the curve's direction there."""

    at: Floats  # (m + 2,) inner angles, direction of the first bone, f
    ahead: Floats  # (m + 2,) the curve's unit tangent
    distance: float  # of the tip along the line; below zero past the root
    slope: float  # of the distance along the curve

    @property
    def angles(self) -> Floats:
        """The inner angles (m,)."""
        return self.at[:-2]

    def inwards(self) -> "Place":
        """Return the same place, the curve followed to where the distance falls."""
        return self.turned() if self.slope > 0.0 else self

    def turned(self) -> "Place":
        """Return the same place, the curve followed the other way."""
        return Place(self.at, -self.ahead, self.distance, -self.slope)


class Curve:
    """The equations of the poses of least bend of one chain."""

    def __init__(self, lengths: Floats, weights: Floats, rest: Floats) -> None:
        """Keep the lengths (m + 1,), adding up to 1, and the inner joints' weights and rest angles (m,)."""
        self.lengths, self.rest = lengths, rest
        self.weights = weights / weights.mean()
        self.force = 10.0 / (rest.size + 1)  # about the force that buckles a chain of equal bones
        self.size, self.inner = rest.size, max(0.0, 2.0 * float(lengths.max()) - 1.0)

    def joints(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the joints, x and y (m + 2,) each: the root at zero, the tip last."""
        headings = np.concatenate(([at[-2]], at[:-2]))
        np.cumsum(headings, out=headings)
        points = np.zeros((2, self.size + 2))
        np.cumsum(self.lengths * np.cos(headings), out=points[0, 1:])
        np.cumsum(self.lengths * np.sin(headings), out=points[1, 1:])
        return points[0], points[1]

    def place(self, at: Floats, ahead: Floats) -> Place:
        """Return the place on the curve at `at`, its tangent pointing the way of `ahead`."""
        system = System(self, at)
        _, tangent = system.solved(ahead, 0.0)
        if not np.isfinite(tangent).all():
            tangent = ahead
        tangent = tangent / np.linalg.norm(tangent)
        return Place(at, tangent, system.x, float(system.x_slopes @ tangent))

    def step(self, place: Place, guess: Floats) -> Place | None:
        """Return the place on the curve across from a guess; None where Newton's method does not find it."""
        at = guess
        for _ in range(ROUNDS):
            system = System(self, at)
            change, tangent = system.solved(place.ahead, float(place.ahead @ (guess - at)))
            largest = float(np.abs(change).max())
            if not largest <= 1.0:
                return None
            at = at + change
            if largest < CLOSE:
                tangent = tangent / np.linalg.norm(tangent)
                # The slope at the corrected place is off by no more than the correction.
                xs, ys = self.joints(at)
                distance = float(np.copysign(np.hypot(xs[-1], ys[-1]), xs[-1]))
                return Place(at, tangent, distance, float(system.x_slopes @ tangent))
        return None

    def where(self, guess: Floats, ahead: Floats, *, x: float | None = None, f: float = 0.0) -> Place | None:
        """Return the place near a guess with the tip at distance x, or else with the given f."""
        at = guess
        for _ in range(EXACT_ROUNDS):
            system = System(self, at)
            if x is None:
                change, _ = system.solved(f_alone(self.size), f - at[-1])
            else:
                change, _ = system.solved(system.x_slopes, x - system.x)
            largest = float(np.abs(change).max())
            if not largest <= 1.0:
                return None
            at = at + change
            if largest < 1e-13:
                break
        return self.place(at, ahead) if largest < 1e-9 else None

    def follow(self, start: Place, steps: int, first: float = 0.05) -> Iterator[Place]:
        """Yield places along the curve after `start`, until no more is found."""
        place, before, length, last = start, start.ahead, first, first
        for _ in range(steps):
            while True:
                bent = (place.ahead - before) / last
                guess = place.at + length * place.ahead + 0.5 * length * length * bent
                place_on = self.step(place, guess)
                if place_on is not None:
                    turn = float(np.linalg.norm(place_on.ahead - place.ahead))
                    moved = float(np.abs(place_on.angles - place.angles).max()) / LARGEST_TURN
                    too_far = max(turn / SHARPEST_TURN, moved, length / LONGEST_STEP)
                    if too_far <= 2.0 and place_on.ahead @ place.ahead > 0.0:
                        break
                length /= 2.0
                if length < SHORTEST_STEP:
                    return
            before, last = place.ahead, float(np.linalg.norm(place_on.at - place.at))
            place = place_on
            yield place
            length *= min(2.0, max(0.5, 0.9 / max(too_far, 1e-3)))

    def stretched(self) -> Place:
        """Return the straight pose of a chain that is straight at rest, with the direction it buckles in.

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
        """Return the pose of least bend reached from inner angles (m,), the tip kept at a distance.

        Each step has the least bend if poses changed along straight lines: the turns q with

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
        return self.where(at, f_alone(self.size), x=distance)

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

    def tip_distance(self, angles: Floats) -> float:
        """Return the distance of the tip of inner angles (m,) from the root."""
        return float(np.hypot(*self.tip(angles)))

    def tip_direction(self, angles: Floats) -> float:
        """Return the direction of the tip from that of the first bone."""
        x, y = self.tip(angles)
        return float(np.arctan2(y, x))

    def tip(self, angles: Floats) -> Floats:
        """Return the tip (2,) of inner angles (m,), the first bone along x."""
        return np.array(self.joints(np.concatenate((angles, [0.0, 0.0]))))[:, -1]


class System:
    """The equations of a curve at a place, and their slopes.

    The difference of two neighbouring joints' equations has three headings only, those of the bone between
    and of its neighbours; L_i is its length and h_i its heading:

        cos(f) ((a_i - r_i) / w_i - (a_(i+1) - r_(i+1)) / w_(i+1)) - s sin(f) L_i sin(h_i) = 0
    """

    def __init__(self, curve: Curve, at: Floats) -> None:
        m = curve.size
        headings = np.cumsum(np.concatenate((at[-2:-1], at[:-2])))
        along, across = curve.lengths * np.cos(headings), curve.lengths * np.sin(headings)
        xs, ys = np.cumsum(along), np.cumsum(across)
        c, s, uneven = self.set_stiffness(curve, at)
        pressed = curve.force * across[:-1]
        self.values = c * uneven - s * pressed
        self.own -= (s * curve.force) * along[:-1]
        self.column = -s * uneven - c * pressed
        self.y, self.y_slopes = float(ys[-1]), np.append(along, 0.0)
        self.x, self.x_slopes = float(xs[-1]), np.zeros(m + 2)
        self.x_slopes[:m] = ys[:-1] - ys[-1]
        self.x_slopes[m] = -ys[-1]

    def set_stiffness(self, curve: Curve, at: Floats) -> tuple[float, float, Floats]:
        """Set the slopes by the joints' stiffness; return cos(f), sin(f), the neighbours' difference (m,)."""
        c, s = cos(at[-1]), sin(at[-1])
        stiffness, turned = np.zeros(curve.size + 1), np.zeros(curve.size + 1)
        np.divide(c, curve.weights, out=stiffness[1:])
        np.divide(at[:-2] - curve.rest, curve.weights, out=turned[1:])
        self.before, self.after = -stiffness[:-1], -stiffness[1:]
        self.own = stiffness[:-1] + stiffness[1:]
        return c, s, turned[:-1] - turned[1:]

    def solved(self, row: Floats, value: float) -> tuple[Floats, Floats]:
        """Return Newton's step (m + 2,) with row . step = value, and the direction with row . direction = 1.

        The step solves the curve's equations; the direction leaves them as they are. row: (m + 2,)
        """
        m = self.values.size
        last = np.append(row[[m, *range(m)]], row[m + 1])  # of headings, in place of angles
        last[:m] -= row[:m]
        values = [*(-self.values).tolist(), -self.y, value]
        found = np.array(
            solved(
                self.before.tolist(),
                self.own.tolist(),
                self.after.tolist(),
                self.column.tolist(),
                (self.y_slopes.tolist(), last.tolist()),
                (values, [0.0] * (m + 1) + [1.0]),
            )
        )
        steps = np.empty((2, m + 2))
        steps[:, :m] = np.diff(found[:, :-1], axis=1)
        steps[:, m], steps[:, m + 1] = found[:, 0], found[:, -1]
        return steps[0], steps[1]


def f_alone(size: int) -> Floats:
    """Return the direction (size + 2,) in which f alone changes."""
    return np.append(np.zeros(size + 1), 1.0)
