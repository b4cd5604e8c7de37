# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that do not turn: the bones on both sides of one are one bone, from joint to joint."""

from dataclasses import dataclass, replace
from math import atan2, cos, hypot, sin

from .correction import arms_to_tip
from .shapes import aimed, nearest_turns, side_of
from .sweep import CcdBones, compared

# A joined chain that is no longer than this part of the whole one moves the tip by rounding only.
NO_REACH = 1e-12
# A target nearer to the first joint that turns than this part of the tolerance is on it.
ON_PIVOT = 0.5


@dataclass(frozen=True)
class Joined:
    """A chain without its rigid joints, as a chain of its own whose root and size differ."""

    bones: CcdBones
    turning: list[int]  # the joints that are left
    offsets: list[float]  # angle in the joined chain minus angle in the whole one
    base: tuple[float, float]  # where the joined chain's root is, from the whole one's
    reach: float  # of the joined chain, in units of the whole one's

    def inner_angles(self, angles: list[float]) -> list[float]:
        """Return the joined chain's angles for those of the whole one."""
        return [angles[i] + offset for i, offset in zip(self.turning, self.offsets, strict=True)]


def is_rigid(bones: CcdBones, joint: int) -> bool:
    """Return whether a joint cannot turn: by its weight, or by limits that leave it one angle."""
    return bones.weights[joint] == 0.0 or bones.low[joint] == bones.high[joint]


def has_rigid(bones: CcdBones) -> bool:
    """Return whether any joint cannot turn."""
    return any(is_rigid(bones, i) for i in range(len(bones.lengths)))


def held_on_pivot(bones: CcdBones, start: list[float], x: float, y: float, tolerance: float) -> CcdBones:
    """Return the bones with their first joint that turns held, where a target is on it.

    There every direction is as good, and rounding must not choose one.
    """
    turning = next((i for i in range(len(start)) if not is_rigid(bones, i)), 0)
    pivot_x, pivot_y, _ = _run(bones.lengths[:turning], start[:turning])
    if turning == 0 or hypot(x - pivot_x, y - pivot_y) > ON_PIVOT * tolerance:
        return bones
    low, high = list(bones.low), list(bones.high)
    low[turning] = high[turning] = start[turning]
    return replace(bones, low=low, high=high)


def mirrored(bones: CcdBones, angles: list[float]) -> list[float]:
    """Return a pose mirrored about the line from its first joint that turns to its tip, which stays.

    Rigid joints keep their angles; limits do not count.
    """
    turning = joined(bones, angles)
    if turning is None:
        return angles
    inner, mirror = turning.inner_angles(angles), list(angles)
    xs, ys = arms_to_tip(turning.bones.lengths, inner)
    turned = aimed(turning.bones.lengths, [inner[0], *(-angle for angle in inner[1:])], xs[-1], ys[-1])
    for i, offset, angle in zip(turning.turning, turning.offsets, nearest_turns(turned, inner), strict=True):
        mirror[i] = angle - offset
    return mirror


def turning_side(bones: CcdBones, angles: list[float], bend: float) -> float:
    """Return the side, +1 or -1, to which the joints that turn bend, without the first; else `bend`.

    With a rigid root the first joint that turns only aims, so its angle says nothing of the side.
    """
    if not has_rigid(bones):
        return side_of(angles, bend)
    turning = joined(bones, angles)
    return bend if turning is None else side_of(turning.inner_angles(angles), bend)


def joined(bones: CcdBones, start: list[float]) -> Joined | None:
    """Return the chain without its rigid joints, which keep the start's angles; None if nothing can turn.

    For the bones from joint i to before the next joint that turns, in the frame of bone i, the joined
    bone is the vector from joint to joint: its length, and by `ahead` its direction.
    """
    turning = [i for i in range(len(start)) if not is_rigid(bones, i)]
    if not turning:
        return None
    ends = [*turning[1:], len(start)]
    base_x, base_y, heading = _run(bones.lengths[: turning[0]], start[: turning[0]])
    lengths, offsets = [], []
    behind = heading
    for first, end in zip(turning, ends, strict=True):
        x, y, last = _run(bones.lengths[first:end], [0.0, *start[first + 1 : end]])
        ahead = atan2(y, x)
        lengths.append(hypot(x, y))
        offsets.append(behind + ahead)
        behind = last - ahead
    reach = sum(lengths)
    if reach < NO_REACH:
        return None
    inner = CcdBones(
        [length / reach for length in lengths],
        compared([bones.weights[i] for i in turning]),
        [bones.low[i] + offset for i, offset in zip(turning, offsets, strict=True)],
        [bones.high[i] + offset for i, offset in zip(turning, offsets, strict=True)],
    )
    return Joined(inner, turning, offsets, (base_x, base_y), reach)


def _run(lengths: list[float], angles: list[float]) -> tuple[float, float, float]:
    """Return the end of a run of bones, x and y, and its heading."""
    x = y = heading = 0.0
    for length, angle in zip(lengths, angles, strict=True):
        heading += angle
        x, y = x + length * cos(heading), y + length * sin(heading)
    return x, y, heading
