# SPDX-License-Identifier: GPL-3.0-or-later
"""The poses of least bend of a chain whose bones slide, as a curve like that of bend.py.

Least sum of (a_i - r_i)^2 / w_i + s_j^2 / v means for each slide, too, that it gives way to the force F:

    s_j = -v F cos(t_j), cut off at the ends of its range

t_j is the bone's direction from the line of root and tip. So a place's angles and force give the slides,
and the curve is in the same numbers as that of rigid bones, whose lengths now depend on them. Where a
slide comes to an end the curve has a corner. In tension without bounds (f = -pi / 2) every bone is as
long as it gets.

The bones from one turning joint to the next, between pinned joints, slide each by itself.
"""

from dataclasses import dataclass
from math import cos, pi, tan

import numpy as np
from numpy.typing import NDArray

from ..inputs import Floats
from .bend import CORRECTIONS, LARGEST_TURN, LONGEST_DESCENT, NEARLY_LEAST, Curve, Place, System, f_alone
from .joined import NO_LENGTH, Joined, joined, rigid_bones
from .slid_rooted import Slider

# A step no longer than this may lead over a corner; and how fast a way over a fold may turn a joint (radians
# per reach), even where a longer way would not: slides have more folds, and of a way nothing is least.
CORNER, BRISK = 1e-3, 20.0
# The most that a slide changes in one step.
LARGEST_SLIDE = 0.1
# Rounds to the force that buckles a straight chain, and a force beyond all that do (reach is 1).
BUCKLING_ROUNDS, NO_FORCE = 300, 1e12
# Less than any number that counts: not zero, to divide by.
NOTHING = 1e-300


@dataclass(frozen=True, eq=False)
class Sliding:
    """A chain of its turning joints alone, at its longest, and the bones that it consists of."""

    joined: Joined  # its bones as long as they get
    bone: NDArray[np.intp]  # (b,) which bones of the whole chain have a part in it
    group: NDArray[np.intp]  # (b,) which joined bone each belongs to
    offset: Floats  # (b,) its direction from that of the joined bone at its longest
    lengths: Floats  # (b,) without slides; the joined chain's reach is 1
    least: Floats  # (b,) slides
    most: Floats  # (b,)
    weight: float  # of slides, where the joined chain's weights are 1 in the mean

    @property
    def inner(self) -> float:
        """The least distance of the tip, the greatest being 1."""
        x = np.bincount(self.group, (self.lengths + self.least) * np.cos(self.offset))
        y = np.bincount(self.group, (self.lengths + self.least) * np.sin(self.offset))
        return max(0.0, float((np.hypot(x, y) + self.joined.lengths).max()) - 1.0)

    def slides(self, headings: Floats, force: Floats) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the slides (..., b) under a force (...), and which of them are not at an end.

        headings: (..., k) of the joined bones, from the line of root and tip.
        """
        along = np.cos(headings[..., self.group] + self.offset)
        wanted = -self.weight * np.asarray(force)[..., np.newaxis] * along
        slides = np.clip(wanted, self.least, self.most)
        return slides, (wanted > self.least) & (wanted < self.most)


def sliding(lengths: Floats, ranges: Floats, weights: Floats, rest: Floats, slide_weight: float) -> Sliding:
    """Return a chain joined. lengths: (n,); ranges: (n, 2) of slides, in a reach of 1.

    weights, rest: (n - 1,) of the inner joints.
    """
    longest = lengths + ranges[:, 1]
    part = joined(longest, weights, rest)
    ends, directions = rigid_bones(longest, weights, rest)
    solid = np.hypot(*ends.T) > NO_LENGTH
    starts = np.concatenate(([0], np.flatnonzero(weights > 0.0) + 1))
    whole_group = np.searchsorted(starts, np.arange(lengths.size), side="right") - 1
    bone = np.flatnonzero(solid[whole_group])
    group = whole_group[bone]
    headings = np.concatenate(([0.0], np.cumsum(rest)))
    weight = slide_weight / part.reach**2
    turning = np.flatnonzero(part.part > 0.0)
    if turning.size:
        one = turning[int(weights[turning].argmax())]
        own = part.weights[part.joint[one]] / part.weights.mean()
        weight *= float(own * part.part[one] / weights[one])
    return Sliding(
        part,
        bone,
        (np.cumsum(solid) - 1)[group],
        headings[bone] - directions[group],
        lengths[bone] / part.reach,
        ranges[bone, 0] / part.reach,
        ranges[bone, 1] / part.reach,
        weight,
    )


class SlidingCurve(Curve):
    """The equations of the poses of least bend of one chain that slides.

    A pose (m + b,) is its inner angles and its slides.
    """

    def __init__(self, chain: Sliding) -> None:
        if chain.joined.rest.size:
            super().__init__(chain.joined)
        else:
            self.rest, self.weights, self.size, self.force = np.empty(0), np.empty(0), 0, 0.0
        self.sliding, self.inner = chain, chain.inner
        self.corner, self.brisk = CORNER, BRISK
        room = chain.most - chain.least
        push = (float(room.max(initial=0.0)) or 1.0) / chain.weight
        self.force = float(np.sqrt(self.force * push)) if self.size else push

    def pushed(self, f: float) -> float:
        """Return the force at f."""
        return self.force * tan(min(max(f, -pi / 2.0), pi / 2.0))

    def poses(self, at: Floats, ahead: Floats) -> tuple[Floats, Floats]:
        """Return the poses (k, m + b) of places (k, m + 2), and how they change along tangents."""
        own = self.sliding
        headings, turns = np.cumsum(_headings(at), axis=1), np.cumsum(_headings(ahead), axis=1)
        f = np.clip(at[:, -1], -pi / 2.0, pi / 2.0)
        force, steepness = self.force * np.tan(f), self.force / np.maximum(np.cos(f) ** 2, NOTHING)
        slides, free = own.slides(headings, force)
        directions = headings[:, own.group] + own.offset
        by_turn = force[:, np.newaxis] * np.sin(directions) * turns[:, own.group]
        by_force = (steepness * ahead[:, -1])[:, np.newaxis] * np.cos(directions)
        given = np.where(free, own.weight * (by_turn - by_force), 0.0)
        return np.hstack((at[:, :-2], slides)), np.hstack((ahead[:, :-2], given))

    def moved(self, place: Place, found: Place) -> float:
        """Return the distance of a pose from another one, as a part of the most for one step."""
        one, other = (
            self.poses(each.at[np.newaxis], each.ahead[np.newaxis])[0][0] for each in (place, found)
        )
        change = np.abs(other - one)
        turn = float(change[: self.size].max(initial=0.0))
        return max(turn / LARGEST_TURN, float(change[self.size :].max()) / LARGEST_SLIDE)

    def bones(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the joined bones (k, 2) of a place, as vectors, and the slides (b,)."""
        headings = np.cumsum(np.concatenate((at[-2:-1], at[:-2])))
        own = self.sliding
        slides, _ = own.slides(headings, np.array(self.pushed(float(at[-1]))))
        return self.vectors(headings, slides), slides

    def vectors(self, headings: Floats, slides: Floats) -> Floats:
        """Return the joined bones (k, 2) as vectors."""
        own = self.sliding
        directions = headings[own.group] + own.offset
        lengths = own.lengths + slides
        x = np.bincount(own.group, lengths * np.cos(directions), headings.size)
        y = np.bincount(own.group, lengths * np.sin(directions), headings.size)
        return np.stack((x, y), axis=1)

    def joints(self, at: Floats) -> tuple[Floats, Floats]:
        """Return the joints, x and y (m + 2,) each: the root at zero, the tip last."""
        points = np.zeros((self.size + 2, 2))
        np.cumsum(self.bones(at)[0], axis=0, out=points[1:])
        return points[:, 0], points[:, 1]

    def system(self, at: Floats) -> System:
        """Return the equations at `at`."""
        return _SlidingSystem(self, at)

    def buckling(self) -> Place | None:
        """Return the straight pose that is about to buckle, of a chain straight at rest; None if none does.

        A force F bends it once F times the greatest value of K is 1, see `stretched`; K's arms get the
        shorter the greater the force, so that raising it to 1 / value leads to the least such force.
        """
        force = value = 0.0
        roots = np.sqrt(self.weights)
        for _ in range(BUCKLING_ROUNDS):
            slides, _ = self.sliding.slides(np.zeros(self.size + 1), np.array(force))
            ends = np.cumsum(self.vectors(np.zeros(self.size + 1), slides)[:, 0])
            arms = np.minimum.outer(ends[:-1], ends[:-1]) - np.outer(ends[:-1], ends[:-1]) / (ends[-1] or 1.0)
            values, vectors = np.linalg.eigh(roots[:, np.newaxis] * arms * roots)
            value, last = float(values[-1]), force
            if value * NO_FORCE <= 1.0:
                return None
            force = 1.0 / value
            if force - last <= 1e-15 * force:
                break
        bend = roots * vectors[:, -1] * np.sign(vectors[:, -1].sum())
        at, ahead = np.zeros(self.size + 2), np.zeros(self.size + 2)
        at[-1] = np.arctan2(force, self.force)
        ahead[:-2] = bend
        ahead[-2] = -float(((ends[-1] - ends[:-1]) * bend).sum()) / ends[-1]
        return Place(at, ahead / np.linalg.norm(ahead), float(ends[-1]), 0.0)

    def least(self, angles: Floats, distance: float) -> Place | None:
        """Return the pose of least bend reached from a pose, or inner angles (m,), at a distance."""
        own, n = self.sliding, self.sliding.lengths.size
        first = np.asarray(np.diff(own.group, prepend=-1) > 0)  # the bones that turn
        weights = np.concatenate((np.where(first, np.append(1.0, self.weights)[own.group], 0.0), np.zeros(n)))
        weights[n:] = own.weight
        inner, slides = self.split(angles)
        direction = -self.tip_direction(angles)
        starts = [self._turns(np.append(*one)) for one in ((direction, inner), (0.0, self.rest))]
        rest = np.append(starts[1], np.zeros(n))
        slider = Slider(own.lengths, own.least, own.most, weights, rest, free_root=True)
        target = np.array([[distance, 0.0]])
        poses, _, _ = slider.settled(np.append(starts[0], slides)[np.newaxis], target)
        force = float(slider.force(poses, target)[0, 0])
        headings = (np.cumsum(poses[0, :n]) - own.offset)[first]
        at = np.concatenate((np.diff(headings), [headings[0], np.arctan2(force, self.force)]))
        return self.where(at, f_alone(self.size), x=distance)

    def _turns(self, joined_angles: Floats) -> Floats:
        """Return the angles (b,) of all bones for those of the joined ones (m + 1,)."""
        headings = np.cumsum(joined_angles)[self.sliding.group] + self.sliding.offset
        return np.diff(headings, prepend=0.0)

    def corrected(self, angles: Floats, distance: float) -> Floats:
        """Return the pose near one (m + b,) whose tip is at a distance, or near it, its slides the same."""
        inner, slides = self.split(angles)
        for _ in range(CORRECTIONS):
            headings = np.cumsum(np.append(-self.tip_direction(np.append(inner, slides)), inner))
            vectors = self.vectors(headings, slides)
            heights = np.cumsum(vectors[:, 1])[:-1]
            off, willing = distance - float(vectors[:, 0].sum()), self.weights * heights
            turns = off / max(float(willing @ heights), 1e-14) * willing
            largest = float(np.abs(turns).max(initial=0.0))
            inner = inner + min(1.0, LONGEST_DESCENT / max(largest, 1e-14)) * turns
            if largest < NEARLY_LEAST:
                break
        return np.append(inner, slides)

    def split(self, pose: Floats) -> tuple[Floats, Floats]:
        """Return the inner angles (m,) and the slides (b,) of a pose, or of inner angles with no force."""
        none = self.sliding.slides(np.zeros(self.size + 1), np.array(0.0))[0]
        return pose[: self.size], pose[self.size :] if pose.size > self.size else none

    def tip(self, angles: Floats) -> Floats:
        """Return the tip (2,) of a pose, or of inner angles (m,) with no force, the first bone along x."""
        inner, slides = self.split(angles)
        tip: Floats = self.vectors(np.cumsum(np.append(0.0, inner)), slides).sum(axis=0)
        return tip


def _headings(places: Floats) -> Floats:
    """Return the numbers of places (k, m + 2) that add up to headings: the first bone's, inner angles."""
    return np.hstack((places[:, -2:-1], places[:, :-2]))


class _SlidingSystem(System):
    """The equations of a sliding chain's curve at a place, and their slopes.

    In System's, a bone of length L_i is the vector of a joined bone, which depends on its heading and on f.
    """

    def __init__(self, curve: SlidingCurve, at: Floats) -> None:
        m, own = curve.size, curve.sliding
        headings = np.cumsum(np.concatenate((at[-2:-1], at[:-2])))
        f = min(max(float(at[-1]), -pi / 2.0), pi / 2.0)
        force = curve.pushed(f)
        slides, free = own.slides(headings, np.array(force))
        directions = headings[own.group] + own.offset
        along, across, lengths = np.cos(directions), np.sin(directions), own.lengths + slides
        by_turn = np.where(free, own.weight * force * across, 0.0)
        by_force = np.where(free, -own.weight * curve.force / max(cos(f) ** 2, NOTHING) * along, 0.0)

        def joined_up(values: Floats) -> Floats:
            return np.bincount(own.group, values, m + 1).astype(np.float64)

        x, ys = float(joined_up(lengths * along).sum()), joined_up(lengths * across)
        x_turns = joined_up(by_turn * along - lengths * across)
        y_turns = joined_up(by_turn * across + lengths * along)
        y_forces = joined_up(by_force * across)
        c, s, uneven = self.set_stiffness(curve, at)
        self.values = c * uneven - s * curve.force * ys[:-1]
        self.own -= s * curve.force * y_turns[:-1]
        self.column = -s * uneven - curve.force * (c * ys[:-1] + s * y_forces[:-1])
        self.y, self.y_slopes = float(ys.sum()), np.append(y_turns, y_forces.sum())
        self.x, self.x_slopes = x, np.zeros(m + 2)
        sums = np.cumsum(x_turns[::-1])[::-1]
        self.x_slopes[:m], self.x_slopes[m] = sums[1:], sums[0]
        self.x_slopes[m + 1] = float((by_force * along).sum())

    def solved(self, row: Floats, value: float) -> tuple[Floats, Floats]:
        """Return the step and the direction as System does, without an inner joint by two equations."""
        if self.values.size:
            return super().solved(row, value)
        a, b, c, d = *self.y_slopes, *row
        determinant = (a * d - b * c) or NOTHING
        step = np.array([-d * self.y - b * value, a * value + c * self.y]) / determinant
        return step, np.array([-b, a]) / determinant
