# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of least bend with the tip on a point and the last bone at a heading: springs with stops.

As in within_limits/springs.py, but three conditions ask for a force F and a moment M at the tip:

    a_i = clip(r_i + w_i (q_i x F + M))

q_i leads from joint i to the tip, the reach is 1. A root whose turn costs nothing has m_0 = q_0 x F + M = 0
within its range, <= 0 at its least angle and >= 0 at its greatest. In plain numbers, for one target at a
time: a step takes some 25 us of 6 bones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import cos, hypot, inf, pi, remainder, sin
from typing import NamedTuple

from .arm import Arm

TURN = 2.0 * pi
# The longest turn of a joint in one step, and the most that force and moment change by: a part of themselves,
# and of the force that bends a chain about half a radian.
LONGEST_TURN, MORE_FORCE, SOME_FORCE = 0.35, 0.6, 0.5
# That force, times the mean weight of the joints, which counts as no less than this.
SOFTNESS, LEAST_WEIGHT = 0.2, 1e-9
# How far beyond a limit its moment turns a free root, before that holds it.
EAGER = 0.1
# Keep the equations solvable where no joint can give way; a determinant below this part of its greatest terms
# is left to elimination.
DAMPING, NOTHING, NO_PIVOT, FLAT = 1e-15, 1e-300, 1e-12, 1e-9
CONDITIONS = 3

# What is kept of a joint as it is eliminated: the change that its spring wants, its weight, what its moment
# grows by without a push, its three levers, and how much it yields.
_Joint = tuple[float, float, float, float, float, float, float]


class HeldPose(NamedTuple):
    """A pose, and the force and the moment at its tip."""

    angles: list[float]
    force_x: float = 0.0
    force_y: float = 0.0
    moment: float = 0.0

    @property
    def is_held(self) -> bool:
        """Whether the force and the moment are known."""
        return bool(self.force_x or self.force_y or self.moment)


class Goal(NamedTuple):
    """The place of a tip and the heading of its bone; how much of a force each gives way to, 0 for none."""

    x: float
    y: float
    heading: float
    tip_gives: float = 0.0
    heading_gives: float = 0.0

    def softly(self, softness: float, angle_first: bool) -> "Goal":
        """Return the goal with the heading held by a spring, or, with the angle first, the tip."""
        soft = {"tip_gives": softness} if angle_first else {"heading_gives": softness}
        return self._replace(**soft)


class HeldStep(NamedTuple):
    """Newton's step from a pose, and the pose's errors before it."""

    turns: list[float]
    push: tuple[float, float, float]  # changes of force and moment
    off: float  # the farthest that a joint is from where its spring has it
    error: float  # of tip and heading, less what their springs give
    held: list[bool]  # which joints their limits hold
    negative: int  # negative pivots of the joints
    form: list[list[float]]  # of what is left: the root's turn, if it is free, then force and moment

    @property
    def is_least(self) -> bool:
        """Whether no small change bends less: as many negative squares as there are conditions."""
        rows, count = [row[:] for row in self.form], self.negative
        for k, row in enumerate(rows):
            pivot = row[k]
            count += pivot < 0.0
            if abs(pivot) < NOTHING:
                pivot = NOTHING
            for other in rows[k + 1 :]:
                part = other[k] / pivot
                for column in range(k, len(rows)):
                    other[column] -= part * row[column]
        return count == CONDITIONS


def apart(angles: Sequence[float], others: Sequence[float]) -> float:
    """Return the largest turn between two poses, whole turns not counted."""
    return max(abs(remainder(a - b, TURN)) for a, b in zip(angles, others, strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class HeldSprings:
    """A chain of reach 1 as springs with stops; each list has one number a bone."""

    lengths: list[float]
    rest: list[float]
    weights: list[float]  # the root's is of no account where it is free
    low: list[float]  # limits, -inf for none
    high: list[float]
    free_root: bool  # whether the root's turn costs nothing
    some_force: float  # that bends the chain by about half a radian

    @classmethod
    def of(cls, arm: Arm) -> "HeldSprings":
        """Return an arm as springs. A free root that turns all the way round has no limits."""
        assert arm.chain.weights is not None
        low, high = arm.chain.ranges.T.tolist()
        if arm.free_root and arm.root_turns:
            low[0], high[0] = -inf, inf
        weights = arm.chain.weights.tolist()
        some_force = SOFTNESS / max(sum(weights[1:]) / (len(weights) - 1), LEAST_WEIGHT)
        lengths, rest = arm.chain.lengths.tolist(), arm.rest.tolist()
        return cls(lengths, rest, weights, low, high, arm.free_root, some_force)

    def with_root(self, low: float, high: float) -> "HeldSprings":
        """Return the chain with another range of its root."""
        return replace(self, low=[low, *self.low[1:]], high=[high, *self.high[1:]])

    def bend(self, angles: Sequence[float]) -> float:
        """Return the sum that is to be the least."""
        total = 0.0
        for i in range(self.free_root, len(angles)):
            if self.weights[i] > 0.0:
                total += (angles[i] - self.rest[i]) ** 2 / self.weights[i]
        return total

    def tip(self, angles: Sequence[float]) -> tuple[float, float, float]:
        """Return a pose's tip, x and y, and the heading of its last bone."""
        x = y = heading = 0.0
        for length, angle in zip(self.lengths, angles, strict=True):
            heading += angle
            x, y = x + length * cos(heading), y + length * sin(heading)
        return x, y, heading

    def misses(self, angles: Sequence[float], goal: Goal) -> tuple[float, float]:
        """Return how far a pose's tip and its heading are from a goal."""
        x, y, heading = self.tip(angles)
        return hypot(goal.x - x, goal.y - y), abs(remainder(goal.heading - heading, TURN))

    def off(self, angles: Sequence[float], goal: Goal) -> float:
        """Return how far a pose is from a goal: its tip or its heading, whichever is farther."""
        return max(self.misses(angles, goal))

    def step(
        self,
        pose: HeldPose,
        goal: Goal,
        stiff: float = 0.0,
        anchor: list[float] | None = None,
        put: list[float | None] | None = None,
    ) -> HeldStep:
        """Return Newton's step to the pose that a force and a moment hold with tip and heading on a goal.

        anchor, stiff: a pose that second springs draw to, and how stiff they are as a part of the first ones.
        put: the angles that joints go to whatever their springs have. From the tip to the root each joint's
        part in the others is eliminated; then three equations are left, or four with a free root.
        """
        angles, force_x, force_y, moment_at_tip = pose
        lengths, rest, weights, lows, highs = self.lengths, self.rest, self.weights, self.low, self.high
        headings = list(accumulate(angles))
        heading = headings[-1]
        softer = 1.0 / (1.0 + stiff)
        to_tip_x = to_tip_y = off = moment = tension = 0.0  # of the force about the joint, and along the bone
        # The moment at a joint grows by rests + (lever_x, lever_y, lever) . push - by_turn (turn before it).
        rests = by_turn = lever_x = lever_y = 0.0
        lever = 1.0
        moved_x = moved_y = moved = 0.0  # of tip and heading by what springs and stops want
        xx = xy = yy = xm = ym = mm = 0.0  # what tip and heading give to a push
        negative, held = 0, [False] * len(angles)
        joints: list[_Joint] = []  # from the tip to the root
        for i in range(len(angles) - 1, self.free_root - 1, -1):
            length, at, angle = lengths[i], headings[i], angles[i]
            along_x, along_y = length * cos(at), length * sin(at)
            to_tip_x += along_x
            to_tip_y += along_y
            moment = to_tip_x * force_y - to_tip_y * force_x + moment_at_tip
            tension = by_turn + force_x * along_x + force_y * along_y
            lever_x -= along_y
            lever_y += along_x
            weight, low, high = weights[i] * softer, lows[i], highs[i]
            if anchor is None:
                wanted = rest[i] + weight * moment
            else:
                wanted = anchor[i] + softer * (rest[i] - anchor[i]) + weight * moment
            to = low if wanted < low else high if wanted > high else wanted
            is_held = to != wanted
            if put is not None and (placed := put[i]) is not None:
                to, is_held = placed, True
            change = to - angle
            if change > off or -change > off:
                off = abs(change)
            if is_held:
                held[i], weight, yields, by_turn, alone = True, 0.0, 1.0, tension, change
            else:
                pivot = 1.0 + weight * tension
                negative += pivot < 0.0
                yields = 1.0 / (NO_PIVOT if -NO_PIVOT < pivot < NO_PIVOT else pivot)
                by_turn, alone = tension * yields, (change + weight * rests) * yields
                gives = weight * yields
                gives_x, gives_y, gives_m = gives * lever_x, gives * lever_y, gives * lever
                xx += gives_x * lever_x
                xy += gives_x * lever_y
                yy += gives_y * lever_y
                xm += gives_x * lever
                ym += gives_y * lever
                mm += gives_m * lever
            moved_x += lever_x * alone
            moved_y += lever_y * alone
            moved += lever * alone
            joints.append((change, weight, rests, lever_x, lever_y, lever, yields))
            rests = (rests - tension * change) * yields
            lever_x, lever_y, lever = lever_x * yields, lever_y * yields, lever * yields
        if self.free_root:
            along_x, along_y = lengths[0] * cos(angles[0]), lengths[0] * sin(angles[0])
            to_tip_x, to_tip_y = to_tip_x + along_x, to_tip_y + along_y
            lever_x, lever_y = lever_x - along_y, lever_y + along_x
        left_x = goal.x - to_tip_x - goal.tip_gives * force_x
        left_y = goal.y - to_tip_y - goal.tip_gives * force_y
        left = remainder(goal.heading - heading, TURN) - goal.heading_gives * moment_at_tip
        error = max(hypot(left_x, left_y), abs(left))
        left_x, left_y, left = left_x - moved_x, left_y - moved_y, left - moved
        small = DAMPING * (xx + yy + mm) + NOTHING
        xx, yy = xx + small + goal.tip_gives, yy + small + goal.tip_gives
        mm += small + goal.heading_gives
        form = [[-xx, -xy, -xm], [-xy, -yy, -ym], [-xm, -ym, -mm]]
        turns: list[float] = []
        if self.free_root:
            moment = to_tip_x * force_y - to_tip_y * force_x + moment_at_tip
            tension = by_turn + force_x * along_x + force_y * along_y + stiff
            if anchor is not None:
                moment += stiff * (anchor[0] - angles[0])
            root = self._root_held_at(angles[0], EAGER * softer * moment, put)
            if root is not None:
                held[0], turn = True, root - angles[0]
                off = max(off, abs(turn))
                left_x, left_y, left = left_x - lever_x * turn, left_y - lever_y * turn, left - lever * turn
                turns.append(turn)
            else:
                off = max(off, abs(moment))
                levers = lever_x, lever_y, lever
                form = [[tension, *(-own for own in levers)]] + [
                    [-own, *row] for own, row in zip(levers, form, strict=True)
                ]
                turns, push = _turned(form, moment + rests, left_x, left_y, left)
        if len(form) == CONDITIONS:
            push = _pushed(xx, xy, yy, xm, ym, mm, left_x, left_y, left)
        turns += _turns_of(joints, turns[0] if turns else 0.0, push)
        return HeldStep(turns, push, off, error, held, negative, form)

    def _root_held_at(self, angle: float, turn: float, put: list[float | None] | None) -> float | None:
        """Return the angle that a free root is put at, or the limit that its moment turns it against."""
        if put is not None and (placed := put[0]) is not None:
            return placed
        wanted, low, high = angle + turn, self.low[0], self.high[0]
        return low if wanted < low else high if wanted > high else None

    def moved(self, pose: HeldPose, step: HeldStep, stiff: float = 0.0) -> HeldPose:
        """Return the pose after a step, less of it where it is too long, within the ranges."""
        share = min(1.0, LONGEST_TURN / max(max(step.turns), -min(step.turns), NOTHING))
        push_x, push_y, push = step.push
        most = MORE_FORCE * max(abs(pose.force_x), abs(pose.force_y), abs(pose.moment))
        most += SOME_FORCE * self.some_force * (1.0 + stiff)
        less = min(1.0, most / max(abs(push_x), abs(push_y), abs(push), NOTHING))
        angles = []
        for angle, turn, low, high in zip(pose.angles, step.turns, self.low, self.high, strict=True):
            moved = angle + share * turn
            angles.append(low if moved < low else high if moved > high else moved)
        return HeldPose(
            angles, pose.force_x + less * push_x, pose.force_y + less * push_y, pose.moment + less * push
        )


def _turns_of(joints: list[_Joint], before: float, push: tuple[float, float, float]) -> list[float]:
    """Return the joints' turns under a push, from the root to the tip. before: the turns up to there."""
    push_x, push_y, push_m = push
    turns = []
    for change, weight, rests, lever_x, lever_y, lever, yields in reversed(joints):
        pushed = rests + lever_x * push_x + lever_y * push_y + lever * push_m
        after = (before + change + weight * pushed) * yields
        turns.append(after - before)
        before = after
    return turns


def _pushed(
    xx: float, xy: float, yy: float, xm: float, ym: float, mm: float, x: float, y: float, heading: float
) -> tuple[float, float, float]:
    """Return the force and the moment that move tip and heading so far."""
    minor_x, minor_y, minor = yy * mm - ym * ym, xm * ym - xy * mm, xy * ym - yy * xm
    whole = xx * minor_x + xy * minor_y + xm * minor
    if -NOTHING < whole < NOTHING:
        whole = NOTHING
    middle, aside = xx * mm - xm * xm, xm * xy - xx * ym
    return (
        (minor_x * x + minor_y * y + minor * heading) / whole,
        (minor_y * x + middle * y + aside * heading) / whole,
        (minor * x + aside * y + (xx * yy - xy * xy) * heading) / whole,
    )


def _turned(
    form: list[list[float]], moment: float, x: float, y: float, heading: float
) -> tuple[list[float], tuple[float, float, float]]:
    """Return a free root's turn, and the push, that take a moment away and move tip and heading so far.

    By cofactors where these are large enough, else by elimination.
    """
    tension, lever_x, lever_y, lever = form[0]
    (_, xx, xy, xm), (_, _, yy, ym), (_, _, _, mm) = form[1:]
    minor_x, minor_y, minor = yy * mm - ym * ym, xm * ym - xy * mm, xy * ym - yy * xm
    whole = xx * minor_x + xy * minor_y + xm * minor
    if abs(whole) < FLAT * (abs(xx * minor_x) + abs(xy * minor_y) + abs(xm * minor)) + NOTHING:
        turn, push_x, push_y, push = solved(form, [moment, -x, -y, -heading])
        return [turn], (push_x, push_y, push)
    middle, aside, last = xx * mm - xm * xm, xm * xy - xx * ym, xx * yy - xy * xy
    by_x = (minor_x * lever_x + minor_y * lever_y + minor * lever) / whole
    by_y = (minor_y * lever_x + middle * lever_y + aside * lever) / whole
    by = (minor * lever_x + aside * lever_y + last * lever) / whole
    left = tension - lever_x * by_x - lever_y * by_y - lever * by
    if -NOTHING < left < NOTHING:
        left = NOTHING
    turn = (moment + x * by_x + y * by_y + heading * by) / left
    x, y, heading = -x - lever_x * turn, -y - lever_y * turn, -heading - lever * turn
    return [turn], (
        (minor_x * x + minor_y * y + minor * heading) / whole,
        (minor_y * x + middle * y + aside * heading) / whole,
        (minor * x + aside * y + last * heading) / whole,
    )


def solved(form: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return the solution of linear equations by elimination with pivots."""
    rows = [[*row, value] for row, value in zip(form, right, strict=True)]
    n = len(rows)
    for k in range(n):
        largest = max(range(k, n), key=lambda row: abs(rows[row][k]))
        rows[k], rows[largest] = rows[largest], rows[k]
        pivot_row = rows[k]
        if -NOTHING < pivot_row[k] < NOTHING:
            pivot_row[k] = NOTHING
        for row in rows[k + 1 :]:
            part = row[k] / pivot_row[k]
            if part:
                for column in range(k + 1, n + 1):
                    row[column] -= part * pivot_row[column]
    values = [0.0] * n
    for k in range(n - 1, -1, -1):
        known = sum(rows[k][column] * values[column] for column in range(k + 1, n))
        values[k] = (rows[k][n] - known) / rows[k][k]
    return values
