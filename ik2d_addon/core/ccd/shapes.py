# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of a free chain that a formula gives, and the proof that some pose reaches every target.

All lengths are fractions of the outer reach. Angles are those nearest to the pose the chain is in.
"""

from itertools import accumulate
from math import atan2, cos, hypot, pi, remainder, sin, sqrt

from ..roots.crossing import crossing
from ..triangle import corner, two_bone_pose
from .correction import arms_to_tip, error_of
from .sweep import CcdBones

# A chain none of whose joints bends by more (radians) lies on a line, to the eye.
ON_A_LINE = 1e-4
# The bend that a folded chain is given, for a start: on a line no small turn changes its length.
NUDGE = 0.02


def nearest_turns(angles: list[float], start: list[float]) -> list[float]:
    """Return the same rotations, each as the number nearest to the start's."""
    return [b + remainder(a - b, 2.0 * pi) for a, b in zip(angles, start, strict=True)]


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


def off_the_line(bones: CcdBones, start: list[float], x: float, y: float, bend: float) -> list[float]:
    """Return a start that is not on a line, bent to the side `bend` where it was.

    On a line no small turn changes how far the tip is from the root. A straight chain becomes the
    arc towards the target; one that is folded onto a line is bent by NUDGE at each joint.
    """
    if not is_on_a_line(start):
        return start
    if all(cos(angle) > 0.0 for angle in start[1:]):
        return nearest_turns(arc(bones.lengths, bones.weights, x, y, bend), start)
    return [start[0]] + [a + bend * NUDGE * w for a, w in zip(start[1:], bones.weights[1:], strict=True)]


def is_on_a_line(angles: list[float]) -> bool:
    """Return whether all bones lie on one line, straight or folded."""
    return all(abs(remainder(angle, pi)) <= ON_A_LINE for angle in angles[1:])


def arc(lengths: list[float], weights: list[float], x: float, y: float, bend: float) -> list[float]:
    """Return the angles of a circular arc from the root to about the target.

    1 - chord / arc = b^2 / 24, near enough, for an arc that bends by b in all. Each joint takes its
    part of b by the bones on both sides of it, and by its weight.
    """
    missing = max(0.0, 1.0 - sqrt(x * x + y * y))
    whole = bend * sqrt(24.0 * missing)
    parts = [w * (a + b) / 2.0 for a, b, w in zip(lengths, lengths[1:], weights[1:], strict=False)]
    return [atan2(y, x) - whole * sum(parts) / 2.0, *(whole * part for part in parts)]


def side_of(angles: list[float], bend: float) -> float:
    """Return the side, +1 or -1, to which a chain bends in all; `bend` for one that is on a line."""
    if is_on_a_line(angles):
        return bend
    return 1.0 if sum(remainder(angle, 2.0 * pi) for angle in angles[1:]) >= 0.0 else -1.0


def two_bones(lengths: list[float], start: list[float], x: float, y: float, bend: float) -> list[float]:
    """Return the pose of two bones that reaches a target in the annulus, on the side of the start.

    A start on a line has no side: then it is that of `bend`.
    """
    side = sin(start[1])
    if abs(side) > ON_A_LINE:
        bend = 1.0 if side > 0.0 else -1.0
    pose = two_bone_pose(lengths[0], lengths[1], x, y, sqrt(x * x + y * y), bend)
    return nearest_turns(list(pose), start)


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
