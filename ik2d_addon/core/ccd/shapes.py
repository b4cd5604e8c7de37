# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of a free chain that a formula gives, and the proof that some pose reaches every target.

All lengths are fractions of the outer reach. Angles are those nearest to the pose the chain is in.
"""

from collections.abc import Callable
from itertools import accumulate
from math import atan2, hypot, pi, remainder
from typing import NamedTuple

from ..arithmetic import FLOATS, Arithmetic, Number
from ..triangle import corner, two_bone_pose
from .correction import arms_to_tip, error_of
from .sweep import Bones

# A chain none of whose joints bends by more (radians) lies on a line, to the eye.
ON_A_LINE = 1e-4
# The bend that a folded chain is given, for a start: on a line no small turn changes its length.
NUDGE = 0.02
# Steps of the search between two poses. Ten are usual; this is what the worst case needs.
CHORDS = 200


def nearest_turns(angles: list[Number], start: list[Number], lib: Arithmetic = FLOATS) -> list[Number]:
    """Return the same rotations, each as the number nearest to the start's."""
    return [b + lib.remainder(a - b, 2.0 * pi) for a, b in zip(angles, start, strict=True)]


def straight(start: list[float], x: float, y: float) -> list[float]:
    """Return the pose nearest to a target beyond the outer reach: all bones point at it."""
    return nearest_turns([atan2(y, x)] + [0.0] * (len(start) - 1), start)


def folded(lengths: list[float], start: list[float], x: float, y: float, bend: float) -> list[float]:
    """Return the pose nearest to a target inside the inner reach.

    The longest bone points at it and all others away, so that the tip comes back to the target's side.
    """
    return aimed(lengths, nearest_turns([start[0], *closed(lengths, bend)[1:]], start), x, y)


def off_the_annulus(
    lengths: list[float], start: list[float], x: float, y: float, bend: float
) -> list[float] | None:
    """Return the pose nearest to a target that is too far or too close; None for one in the annulus."""
    if not is_off_the_annulus(lengths, x, y):
        return None
    return straight(start, x, y) if hypot(x, y) >= 1.0 else folded(lengths, start, x, y, bend)


def is_off_the_annulus(lengths: list[float], x: float, y: float) -> bool:
    """Return whether a target is too far or too close, so that `off_the_annulus` has its pose."""
    return not 2.0 * max(lengths) - 1.0 < hypot(x, y) < 1.0


def aimed(lengths: list[float], angles: list[float], x: float, y: float) -> list[float]:
    """Return the angles with the root turned so that the tip lies in the target's direction.

    For a target at the root itself, where every direction is as good, the chain stays as it is.
    """
    if x == y == 0.0:
        return angles
    xs, ys = arms_to_tip(lengths, angles)
    return [angles[0] + remainder(atan2(y, x) - atan2(ys[-1], xs[-1]), 2.0 * pi), *angles[1:]]


def off_the_line(
    bones: Bones, start: list[Number], x: Number, y: Number, bend: Number, lib: Arithmetic = FLOATS
) -> list[Number]:
    """Return a start that is not on a line, bent to the side `bend` where it was.

    On a line no small turn changes how far the tip is from the root. A straight chain becomes the
    arc towards the target; one that is folded onto a line is bent by NUDGE at each joint.
    """

    def bent(pose: list[Number], x: Number, y: Number, bend: Number) -> list[Number]:
        ahead = lib.all_of(lib.cos(angle) > 0.0 for angle in pose[1:])
        curved = nearest_turns(arc(bones.lengths, bones.weights, x, y, bend, lib), pose, lib)
        nudged = [pose[0]] + [a + bend * NUDGE * w for a, w in zip(pose[1:], bones.weights[1:], strict=True)]
        return [lib.where(ahead, a, b) for a, b in zip(curved, nudged, strict=True)]

    return lib.only(is_on_a_line(start, lib), bent, start, x, y, bend)


def is_on_a_line(angles: list[Number], lib: Arithmetic = FLOATS) -> Number:
    """Return whether all bones lie on one line, straight or folded."""
    return lib.all_of(abs(lib.remainder(angle, pi)) <= ON_A_LINE for angle in angles[1:])


def arc(
    lengths: list[float], weights: list[float], x: Number, y: Number, bend: Number, lib: Arithmetic = FLOATS
) -> list[Number]:
    """Return the angles of a circular arc from the root to about the target.

    1 - chord / arc = b^2 / 24, near enough, for an arc that bends by b in all. Each joint takes its
    part of b by the bones on both sides of it, and by its weight.
    """
    missing = lib.maximum(0.0, 1.0 - lib.sqrt(x * x + y * y))
    whole = bend * lib.sqrt(24.0 * missing)
    parts = [w * (a + b) / 2.0 for a, b, w in zip(lengths, lengths[1:], weights[1:], strict=False)]
    return [lib.atan2(y, x) - whole * sum(parts) / 2.0, *(whole * part for part in parts)]


def side_of(angles: list[float], bend: float) -> float:
    """Return the side, +1 or -1, to which a chain bends in all; `bend` for one that is on a line."""
    if is_on_a_line(angles):
        return bend
    return 1.0 if sum(remainder(angle, 2.0 * pi) for angle in angles[1:]) >= 0.0 else -1.0


def two_bones(
    lengths: list[float], start: list[Number], x: Number, y: Number, bend: Number, lib: Arithmetic = FLOATS
) -> list[Number]:
    """Return the pose of two bones that reaches a target in the annulus, on the side of the start.

    A start on a line has no side: then it is that of `bend`.
    """
    side = lib.sin(start[1])
    bend = lib.where(abs(side) > ON_A_LINE, lib.where(side > 0.0, 1.0, -1.0), bend)
    pose = two_bone_pose(lengths[0], lengths[1], x, y, lib.sqrt(x * x + y * y), bend, lib)
    return nearest_turns(list(pose), start, lib)


def closed(lengths: list[float], bend: float) -> list[float]:
    """Return the angles of a pose whose tip is at the inner reach: on the root itself, where it can be.

    A bone of half the reach or more: all others fold back along it. Otherwise a triangle: take the
    bone k in which half of the whole length is passed. The bones before it, the bone, and the bones
    after it make three sides of at most half each, and of three such sides a triangle can be made.
    """
    sums = [0.0, *accumulate(lengths)]
    k = next(i for i, end in enumerate(sums[1:]) if end >= sums[-1] / 2.0)
    before, bone, after = sums[k], lengths[k], sums[-1] - sums[k + 1]
    angles = [0.0] * len(lengths)
    if k > 0:
        angles[k] = bend * corner(before, bone, after)
    if k + 1 < len(lengths):
        angles[k + 1] = bend * corner(bone, after, before)
    return angles


def between(
    lengths: list[float], start: list[float], x: float, y: float, bend: float, tolerance: float
) -> list[float]:
    """Return a pose that reaches a target within the annulus, from whatever pose the chain is in.

    Why there always is one: turn all joints evenly from the start's pose (s = 0) to the straight
    chain's, if the target is farther off than the tip, or else to the closed one's (s = 1). The tip's
    distance from the root changes continuously with s, from the start's to the outer reach or to the
    inner, so somewhere it is the target's. A turn of the root does the rest.
    """
    distance = hypot(x, y)
    too_short = error_of(lengths, start, 0.0, 0.0) < distance
    ends = [0.0] * len(start) if too_short else [bend * shut for shut in closed(lengths, 1.0)]
    turns = [0.0, *(remainder(end - angle, 2.0 * pi) for angle, end in zip(start[1:], ends[1:], strict=True))]

    def pose(s: float) -> list[float]:
        return [angle + s * turn for angle, turn in zip(start, turns, strict=True)]

    s = crossing(lambda s: error_of(lengths, pose(s), 0.0, 0.0) - distance, tolerance)
    return aimed(lengths, pose(s), x, y)


class Bracket(NamedTuple):
    """An interval in which a continuous function changes its sign, for the Illinois method.

    The next place is where the chord crosses zero; the value at an end that is kept twice counts half.
    """

    low: Number
    high: Number
    at_low: Number
    at_high: Number
    kept: Number = 0  # -1: the last step kept the high end; +1: the low one

    def chord(self, lib: Arithmetic) -> Number:
        """Return the place at which the chord crosses zero."""
        low, high, at_low, at_high, _ = self
        return low + (high - low) * at_low / lib.where(at_low == at_high, 1.0, at_low - at_high)

    def cut(self, middle: Number, value: Number, lib: Arithmetic) -> "Bracket":
        """Return the part in which the sign changes, where the function has a value in the middle."""
        low, high, at_low, at_high, kept = self
        ahead = (value < 0.0) == (at_low < 0.0)  # the zero lies beyond the middle
        return Bracket(
            lib.where(ahead, middle, low),
            lib.where(ahead, high, middle),
            lib.where(ahead, value, lib.where(kept == 1, at_low / 2.0, at_low)),
            lib.where(ahead, lib.where(kept == -1, at_high / 2.0, at_high), value),
            lib.where(ahead, -1, 1),
        )


def crossing(function: Callable[[float], float], tolerance: float, chords: int = CHORDS) -> float:
    """Return the zero in 0..1 of a continuous function that changes its sign there, to a tolerance."""
    bracket = Bracket(0.0, 1.0, function(0.0), function(1.0))
    for _ in range(chords):
        middle: float = bracket.chord(FLOATS)
        value = function(middle)
        if abs(value) <= tolerance:
            break
        bracket = bracket.cut(middle, value, FLOATS)
    return middle
