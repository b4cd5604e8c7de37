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
class _Tip:
    """What the tip gives to a push on it, S = (xx xy; xy yy), and how far it still has to go."""

    xx: Number
    xy: Number
    yy: Number
    to_go_x: Number
    to_go_y: Number

    @property
    def determinant(self) -> Number:
        """That of S."""
        return self.xx * self.yy - self.xy * self.xy

    @property
    def signs(self) -> Number:
        """The number of negative squares of the form -S."""
        return negatives(-self.xx, self.determinant)

    def push(self, lib: Arithmetic, gone_x: Number = 0.0, gone_y: Number = 0.0) -> tuple[Number, Number]:
        """Return the push that moves the tip by what it has to go, less what it has gone already."""
        x, y, whole = self.to_go_x - gone_x, self.to_go_y - gone_y, _not_zero(self.determinant, lib)
        return (self.yy * x - self.xy * y) / whole, (self.xx * y - self.xy * x) / whole

    def with_root(
        self,
        lever_x: Number,
        lever_y: Number,
        tension: Number,
        moment: Number,
        change: Number,
        held: Number,
        lib: Arithmetic,
    ) -> tuple[Number, Number, Number, Number]:
        """Return a free root's turn, the push (x, y), and the number of negative squares.

        With the lever b of the tip about the root, and the moment that is to go there,

            tension turn - b . push = moment,   b turn + S push = to go.

        change: the turn of a root that its limits hold.
        """
        xx, xy, yy, x, y = self.xx, self.xy, self.yy, self.to_go_x, self.to_go_y
        determinant = self.determinant
        solved_x, solved_y = yy * lever_x - xy * lever_y, xx * lever_y - xy * lever_x
        aside = lever_y * x - lever_x * y
        whole = _not_zero(tension * determinant + lever_x * solved_x + lever_y * solved_y, lib)
        turn = lib.where(held, change, (moment * determinant + solved_x * x + solved_y * y) / whole)
        free_x = (tension * (yy * x - xy * y) - moment * solved_x + lever_y * aside) / whole
        free_y = (tension * (xx * y - xy * x) - moment * solved_y - lever_x * aside) / whole
        free_signs = negatives(tension, -tension * xx - lever_x * lever_x, whole)
        push_x, push_y = self.push(lib, lever_x * turn, lever_y * turn)
        return (
            turn,
            lib.where(held, push_x, free_x),
            lib.where(held, push_y, free_y),
            lib.where(held, self.signs, free_signs),
        )


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
        anchor, softer = pose if anchor is None else anchor, 1.0 / (1.0 + stiff)
        force_x, force_y, count = pose.force_x, pose.force_y, len(self.rest)
        headings = [pose.angles[0]]
        for angle in pose.angles[1:]:
            headings.append(headings[-1] + angle)
        cosines, sines = lib.cos_and_sin_of(headings)
        zero = 0.0 * force_x
        to_tip_x = to_tip_y = moment = tension = zero  # from the joint; of the force about it, and along
        # The moment at a joint grows by rests + (push_x, push_y) . push - by_turn (turn of the bone before).
        rests = push_x = push_y = by_turn = zero
        moved_x = moved_y = zero  # how far the tip moves by what springs and stops want
        give_xx = give_xy = give_yy = zero  # how far it moves with a push
        off, negative = zero, 0
        joints, slid = [], []
        for i in range(count - 1, -1, -1):
            cosine, sine, length = cosines[i], sines[i], self.lengths[i]
            slides = self.shortest[i] != self.longest[i]
            if slides:
                length = length + pose.slides[i]
            along_x, along_y = length * cosine, length * sine
            to_tip_x, to_tip_y = to_tip_x + along_x, to_tip_y + along_y
            moment = to_tip_x * force_y - to_tip_y * force_x
            tension = by_turn + (force_x * along_x + force_y * along_y)
            lever_x, lever_y = push_x - along_y, push_y + along_x
            if slides:
                gives, across, change = self._slide(i, pose, anchor, softer, cosine, sine, lib, stiff)
                give = gives * across
                tension = tension - give * across
                lever_x, lever_y, rests = (
                    lever_x + give * cosine,
                    lever_y + give * sine,
                    rests + across * change,
                )
                moved_x, moved_y = moved_x + cosine * change, moved_y + sine * change
                give_x, give_y = gives * cosine, gives * sine
                give_xx, give_xy = give_xx + give_x * cosine, give_xy + give_x * sine
                give_yy = give_yy + give_y * sine
                off = lib.maximum(off, abs(change))
                slid.append((i, change, give_x, give_y, give))
            if i == 0 and self.free_root:
                break
            weight = self.weights[i] * softer
            wanted = anchor.angles[i] + softer * (self.rest[i] - anchor.angles[i]) + weight * moment
            to, held = self._within(i, wanted, put, lib)
            change = to - pose.angles[i]
            off = lib.maximum(off, abs(change))
            weight = lib.where(held, 0.0, weight)
            pivot = 1.0 + weight * tension
            negative = negative + (pivot < 0.0)
            yields = 1.0 / lib.where(abs(pivot) < NO_PIVOT, NO_PIVOT, pivot)
            by_turn = tension * yields
            alone = (change + weight * rests) * yields
            moved_x, moved_y = moved_x + lever_x * alone, moved_y + lever_y * alone
            gives = weight * yields
            give_x, give_y = gives * lever_x, gives * lever_y
            give_xx, give_xy = give_xx + give_x * lever_x, give_xy + give_x * lever_y
            give_yy = give_yy + give_y * lever_y
            joints.append((change, weight, rests, lever_x, lever_y, yields, held))
            rests, push_x, push_y = (rests - tension * change) * yields, lever_x * yields, lever_y * yields
        error_x, error_y = x - to_tip_x, y - to_tip_y
        error = lib.sqrt(error_x * error_x + error_y * error_y)
        small = DAMPING * (give_xx + give_yy) + NOTHING
        tip = _Tip(give_xx + small, give_xy, give_yy + small, error_x - moved_x, error_y - moved_y)
        if not self.free_root:
            by_x, by_y = tip.push(lib)
            signs, turns, holds, turn = tip.signs, [], [], zero
        else:
            moment = moment + stiff * (anchor.angles[0] - pose.angles[0])
            to, held = self._within(0, pose.angles[0] + EAGER * softer * moment, put, lib)
            change, tension = to - pose.angles[0], tension + stiff
            off = lib.maximum(off, lib.where(held, abs(change), abs(moment)))
            turn, by_x, by_y, signs = tip.with_root(
                lever_x, lever_y, tension, moment + rests, change, held, lib
            )
            turns, holds = [turn], [held]
        before = turn
        for change, weight, rests, lever_x, lever_y, yields, held in reversed(joints):
            after = (before + change + weight * (rests + lever_x * by_x + lever_y * by_y)) * yields
            turns.append(after - before)
            holds.append(held)
            before = after
        given: list[Number] = [zero] * count
        for i, change, give_x, give_y, give in slid:
            given[i] = change + give_x * by_x + give_y * by_y + give * sum(turns[: i + 1])
        # A least bend: as many negative squares as there are conditions.
        return Step(turns, given, by_x, by_y, off, error, negative + signs == 2, holds)

    def _slide(
        self,
        i: int,
        pose: SpringPose,
        anchor: SpringPose,
        softer: Number,
        cosine: Number,
        sine: Number,
        lib: Arithmetic,
        stiff: Number,
    ) -> tuple[Number, Number, Number]:
        """Return how far the i-th bone slides for a pull along it, the pull across, and the slide to make."""
        gives = self.slide_weight * softer
        pull = cosine * pose.force_x + sine * pose.force_y
        wanted = stiff * softer * anchor.slides[i] + gives * pull
        to = lib.minimum(lib.maximum(wanted, self.shortest[i]), self.longest[i])
        across = cosine * pose.force_y - sine * pose.force_x
        return lib.where(to == wanted, gives, 0.0), across, to - pose.slides[i]

    def _within(
        self, i: int, wanted: Number, put: list[Number] | None, lib: Arithmetic
    ) -> tuple[Number, Number]:
        """Return the angle that the i-th joint goes to, and whether a limit, or `put`, holds it there."""
        to = lib.minimum(lib.maximum(wanted, self.low[i]), self.high[i])
        held = to != wanted
        if put is not None:
            is_put = put[i] == put[i]
            to, held = lib.where(is_put, put[i], to), held | is_put
        return to, held

    def moved(self, pose: SpringPose, step: Step, lib: Arithmetic, stiff: Number = 0.0) -> SpringPose:
        """Return the pose after a step, less of it where it is too long, within the ranges."""
        longest = abs(step.turns[0])
        for turn in step.turns[1:]:
            longest = lib.maximum(longest, abs(turn))
        for i in self.slid:
            longest = lib.maximum(longest, abs(step.given[i]) * (LONGEST_TURN / LONGEST_SLIDE))
        share = lib.minimum(1.0, LONGEST_TURN / lib.maximum(longest, NOTHING))
        force = lib.maximum(abs(pose.force_x), abs(pose.force_y))
        pushed = lib.maximum(abs(step.push_x), abs(step.push_y))
        most = MORE_FORCE * force + SOME_FORCE * self.some_force * (1.0 + stiff)
        less = lib.minimum(1.0, most / lib.maximum(pushed, NOTHING))
        ranges = zip(pose.angles, step.turns, self.low, self.high, strict=True)
        angles = [lib.minimum(lib.maximum(a + share * turn, low), high) for a, turn, low, high in ranges]
        slides = pose.slides
        if self.slid:
            ends = zip(pose.slides, step.given, self.shortest, self.longest, strict=True)
            slides = [lib.minimum(lib.maximum(s + share * give, low), high) for s, give, low, high in ends]
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
