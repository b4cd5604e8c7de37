# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of least bend within limits: springs with stops, held by one force at the tip.

Least sum of (a_i - r_i)^2 / w_i + s_i^2 / v, the tip on its target, each angle a_i and slide s_i within its
range, means that there is one force F on the tip with

    a_i = clip(r_i + w_i (q_i x F)),   s_i = clip(v (e_i . F))

q_i leads from joint i to the tip, e_i along bone i. A root whose turn costs nothing has q_0 x F = 0 within
its range, <= 0 at its least angle and >= 0 at its greatest.

Of single numbers and of arrays over many targets alike, see arithmetic.py; the reach is 1.
"""

from dataclasses import dataclass, replace

from ..arithmetic import Arithmetic, Number
from ..inputs import Floats

# The longest turn of a joint and slide in one step, and the most that the force changes by: a part of
# itself, and of the force that bends a chain about half a radian.
LONGEST_TURN, LONGEST_SLIDE, MORE_FORCE, SOME_FORCE = 0.35, 0.1, 0.6, 0.5
# That force, times the mean weight of the joints, which counts as no less than this.
SOFTNESS, LEAST_WEIGHT = 0.2, 1e-9
# How far beyond a limit its moment turns a free root, before that holds it.
EAGER = 0.1
# Keep the equations solvable where no joint can give way.
DAMPING, NOTHING, NO_PIVOT = 1e-15, 1e-300, 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class SpringPose:
    """A pose, its numbers one a bone, and the force on its tip in the frame of its base."""

    angles: list[Number]
    slides: list[Number]
    force_x: Number
    force_y: Number


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Newton's step from a pose, and what that is like before it."""

    turns: list[Number]
    given: list[Number]  # changes of the slides
    push_x: Number  # change of the force
    push_y: Number
    off: Number  # the farthest that a joint or a slide is from where its spring has it
    error: Number  # tip to target
    is_least: Number  # whether no small change bends less
    held: list[Number]  # which joints their limits hold


@dataclass(frozen=True, slots=True, eq=False)
class Springs:
    """A chain of reach 1 as springs with stops; each list has one number a bone."""

    lengths: list[float]
    rest: list[float]
    weights: list[float]  # the root's being of no account where it is free
    low: list[float]  # limits, -inf for none
    high: list[float]
    free_root: bool  # whether the root's turn costs nothing
    slide_weight: float
    shortest: list[float]  # least slides
    longest: list[float]
    slid: list[int]  # the bones that slide
    some_force: float  # that bends the chain by about half a radian

    def with_root(self, low: float, high: float, *, free: bool) -> "Springs":
        """Return the chain with another range of its root."""
        return replace(self, low=[low, *self.low[1:]], high=[high, *self.high[1:]], free_root=free)

    def bend(self, pose: SpringPose) -> Number:
        """Return the sum that is to be the least."""
        total = 0.0 * pose.force_x
        for i in range(self.free_root, len(self.rest)):
            if self.weights[i] > 0.0:
                total = total + (pose.angles[i] - self.rest[i]) ** 2 / self.weights[i]
        for i in self.slid:
            total = total + pose.slides[i] ** 2 / self.slide_weight
        return total

    def step(
        self,
        pose: SpringPose,
        x: Number,
        y: Number,
        lib: Arithmetic,
        stiff: Number = 0.0,
        anchor: SpringPose | None = None,
        put: list[Number] | None = None,
    ) -> Step:
        """Return Newton's step to the pose that a force holds with the tip on x, y.

        anchor, stiff: a pose that second springs draw to, and how stiff they are as a part of the first ones.
        put: the angles that joints go to whatever their springs have; NaN for none. In as many operations as
        there are bones: what each joint does to those before it, from the tip to the root; then two equations
        of the force, or three with a free root.
        """
        n, fx, fy = len(self.rest), pose.force_x, pose.force_y
        headings = [pose.angles[0]]
        for angle in pose.angles[1:]:
            headings.append(headings[-1] + angle)
        cosines, sines = lib.cos_and_sin_of(headings)
        qx = qy = off = p = c0 = cx = cy = ex = ey = xx = xy = yy = tension = moment = zero = 0.0 * fx
        negative = 0
        softer = 1.0 / (1.0 + stiff)
        anchor = pose if anchor is None else anchor
        given: list[Number] = [zero] * n
        # The moment at a joint grows by c0 + c . push - p (the turn of the bone before it).
        kept, slid = [], []
        for i in range(n - 1, -1, -1):
            c, s, length = cosines[i], sines[i], self.lengths[i]
            slides = self.shortest[i] != self.longest[i]
            if slides:
                length = length + pose.slides[i]
            along, across = length * c, length * s
            qx, qy = qx + along, qy + across
            moment = qx * fy - qy * fx
            tension = p + (fx * along + fy * across)
            bx, by = cx - across, cy + along
            if slides:
                own = self.slide_weight * softer
                wanted = stiff * softer * anchor.slides[i] + own * (c * fx + s * fy)
                to = lib.minimum(lib.maximum(wanted, self.shortest[i]), self.longest[i])
                gives, aside = lib.where(to == wanted, own, 0.0), c * fy - s * fx
                give, change = gives * aside, to - pose.slides[i]
                tension = tension - give * aside
                bx, by, c0 = bx + give * c, by + give * s, c0 + aside * change
                ex, ey = ex + c * change, ey + s * change
                gc, gs = gives * c, gives * s
                xx, xy, yy = xx + gc * c, xy + gc * s, yy + gs * s
                off = lib.maximum(off, abs(change))
                slid.append((i, change, gc, gs, give))
            if i == 0 and self.free_root:
                break
            weight = self.weights[i] * softer
            wanted = anchor.angles[i] + softer * (self.rest[i] - anchor.angles[i]) + weight * moment
            to = lib.minimum(lib.maximum(wanted, self.low[i]), self.high[i])
            held = to != wanted
            if put is not None:
                is_put = put[i] == put[i]
                to, held = lib.where(is_put, put[i], to), held | is_put
            change = to - pose.angles[i]
            off = lib.maximum(off, abs(change))
            weight = lib.where(held, 0.0, weight)
            g = 1.0 + weight * tension
            negative = negative + (g < 0.0)
            part = 1.0 / lib.where(abs(g) < NO_PIVOT, NO_PIVOT, g)
            p = tension * part
            u = (change + weight * c0) * part
            ex, ey = ex + bx * u, ey + by * u
            gives = weight * part
            wx, wy = gives * bx, gives * by
            xx, xy, yy = xx + wx * bx, xy + wx * by, yy + wy * by
            kept.append((change, weight, c0, bx, by, part, held))
            c0, cx, cy = (c0 - tension * change) * part, bx * part, by * part
        error_x, error_y = x - qx, y - qy
        error = lib.sqrt(error_x * error_x + error_y * error_y)
        small = DAMPING * (xx + yy) + NOTHING
        xx, yy = xx + small, yy + small
        rx, ry = error_x - ex, error_y - ey
        determinant = xx * yy - xy * xy
        turns, holds, turn = [], [], zero
        if self.free_root:
            # tension turn - b . push = around;   b turn + S push = r;   S = (xx xy; xy yy)
            tension = tension + stiff
            moment = moment + stiff * (anchor.angles[0] - pose.angles[0])
            wanted = pose.angles[0] + EAGER * softer * moment
            to = lib.minimum(lib.maximum(wanted, self.low[0]), self.high[0])
            held = to != wanted
            if put is not None:
                is_put = put[0] == put[0]
                to, held = lib.where(is_put, put[0], to), held | is_put
            change, around = to - pose.angles[0], moment + c0
            off = lib.maximum(off, lib.where(held, abs(change), abs(moment)))
            sx, sy, aside = yy * bx - xy * by, xx * by - xy * bx, by * rx - bx * ry
            whole = _not_zero(tension * determinant + bx * sx + by * sy, lib)
            turn = lib.where(held, change, (around * determinant + sx * rx + sy * ry) / whole)
            free_x = (tension * (yy * rx - xy * ry) - around * sx + by * aside) / whole
            free_y = (tension * (xx * ry - xy * rx) - around * sy - bx * aside) / whole
            free_signs = negatives(tension, -tension * xx - bx * bx, whole)
            rx, ry = rx - bx * turn, ry - by * turn
            turns.append(turn)
            holds.append(held)
        signs = negatives(-xx, determinant)
        determinant = _not_zero(determinant, lib)
        push_x, push_y = (yy * rx - xy * ry) / determinant, (xx * ry - xy * rx) / determinant
        if self.free_root:
            push_x, push_y = lib.where(held, push_x, free_x), lib.where(held, push_y, free_y)
            signs = lib.where(held, signs, free_signs)
        before = turn
        for change, weight, c0, bx, by, part, held in reversed(kept):
            after = (before + change + weight * (c0 + bx * push_x + by * push_y)) * part
            turns.append(after - before)
            holds.append(held)
            before = after
        for i, change, gc, gs, give in slid:
            given[i] = change + gc * push_x + gs * push_y + give * sum(turns[: i + 1])
        # A least bend: as many negative squares as there are conditions.
        is_least = negative + signs == 2
        return Step(turns, given, push_x, push_y, off, error, is_least, holds)

    def moved(self, pose: SpringPose, step: Step, lib: Arithmetic, stiff: Number = 0.0) -> SpringPose:
        """Return the pose after a step, less of it where it is too long, within the ranges."""
        longest = abs(step.turns[0])
        for turn in step.turns[1:]:
            longest = lib.maximum(longest, abs(turn))
        for i in self.slid:
            longest = lib.maximum(longest, abs(step.given[i]) * (LONGEST_TURN / LONGEST_SLIDE))
        part = lib.minimum(1.0, LONGEST_TURN / lib.maximum(longest, NOTHING))
        force = lib.maximum(abs(pose.force_x), abs(pose.force_y))
        pushed = lib.maximum(abs(step.push_x), abs(step.push_y))
        most = MORE_FORCE * force + SOME_FORCE * self.some_force * (1.0 + stiff)
        less = lib.minimum(1.0, most / lib.maximum(pushed, NOTHING))
        ranges = zip(pose.angles, step.turns, self.low, self.high, strict=True)
        angles = [lib.minimum(lib.maximum(a + part * turn, low), high) for a, turn, low, high in ranges]
        slides = pose.slides
        if self.slid:
            ends = zip(pose.slides, step.given, self.shortest, self.longest, strict=True)
            slides = [lib.minimum(lib.maximum(s + part * give, low), high) for s, give, low, high in ends]
        return SpringPose(
            angles, slides, pose.force_x + less * step.push_x, pose.force_y + less * step.push_y
        )


def springs_of(numbers: Floats, free_root: bool, slide_weight: float) -> Springs:
    """Return a chain of reach 1 as springs.

    numbers: (7, n) lengths, rest, weights, least and greatest angle, least and greatest slide of each bone.
    """
    lengths, rest, weights, low, high, shortest, longest = numbers.tolist()
    slid = [i for i, (least, most) in enumerate(zip(shortest, longest, strict=True)) if least != most]
    turning = weights[1:] or weights
    some_force = SOFTNESS / max(sum(turning) / len(turning), LEAST_WEIGHT)
    return Springs(
        lengths, rest, weights, low, high, free_root, slide_weight, shortest, longest, slid, some_force
    )


def _not_zero(value: Number, lib: Arithmetic) -> Number:
    return lib.where(abs(value) < NOTHING, NOTHING, value)


def negatives(*minors: Number) -> Number:
    """Return the number of negative squares of a form with these leading minors: its changes of sign."""
    count, before = 0, False
    for minor in minors:
        now = minor < 0.0
        count, before = count + (now != before), now
    return count
