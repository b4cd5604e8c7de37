# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints that do not turn: the bones on both sides of one are one bone, from joint to joint."""

from collections.abc import Generator
from dataclasses import dataclass
from math import atan2, cos, hypot, isinf, sin

from .correction import arms_to_tip
from .free import solve_free
from .limited import Found, limited_steps
from .shapes import aimed, is_off_the_annulus, nearest_turns, side_of
from .sweep import Bones, compared

# A joined chain that is no longer than this part of the whole one moves the tip by rounding only.
NO_REACH = 1e-12
# A target nearer to the first joint that turns than this part of the tolerance is on it: there every
# direction is as good, and rounding must not choose one.
ON_ROOT = 0.5


@dataclass(frozen=True)
class Joined:
    """A chain without its rigid joints, as a chain of its own whose root and size differ."""

    bones: Bones
    turning: list[int]  # the joints that are left
    offsets: list[float]  # angle in the joined chain minus angle in the whole one
    base: tuple[float, float]  # where the joined chain's root is, from the whole one's
    reach: float  # of the joined chain, in units of the whole one's

    def target(self, x: float, y: float, on_root: float = 0.0) -> tuple[float, float]:
        """Return a target as the joined chain sees it, on its root where it is no farther than `on_root`."""
        x, y = x - self.base[0], y - self.base[1]
        return (0.0, 0.0) if hypot(x, y) <= on_root else (x / self.reach, y / self.reach)

    def inner_angles(self, angles: list[float]) -> list[float]:
        """Return the joined chain's angles for those of the whole one."""
        return [angles[i] + offset for i, offset in zip(self.turning, self.offsets, strict=True)]

    def whole_angles(self, inner: list[float], start: list[float], whole: Bones) -> list[float]:
        """Return the whole chain's angles for those of the joined one; rigid joints keep the start's."""
        angles = list(start)
        for i, offset, angle in zip(self.turning, self.offsets, inner, strict=True):
            # Within the limit again, where adding and subtracting the offset has rounded.
            angles[i] = min(max(angle - offset, whole.low[i]), whole.high[i])
        return angles


def is_rigid(bones: Bones, joint: int) -> bool:
    """Return whether a joint cannot turn: by its weight, or by limits that leave it one angle."""
    return bones.weights[joint] == 0.0 or bones.low[joint] == bones.high[joint]


def has_rigid(bones: Bones) -> bool:
    """Return whether any joint cannot turn."""
    return any(is_rigid(bones, i) for i in range(len(bones.lengths)))


def mirrored(bones: Bones, angles: list[float]) -> list[float]:
    """Return a pose mirrored about the line from its first joint that turns to its tip, which stays.

    Rigid joints keep their angles; limits do not count.
    """
    part = joined(bones, angles)
    if part is None:
        return angles
    inner, found = part.inner_angles(angles), list(angles)
    xs, ys = arms_to_tip(part.bones.lengths, inner)
    turned = aimed(part.bones.lengths, [inner[0], *(-angle for angle in inner[1:])], xs[-1], ys[-1])
    for i, offset, angle in zip(part.turning, part.offsets, nearest_turns(turned, inner), strict=True):
        found[i] = angle - offset
    return found


def turning_side(bones: Bones, angles: list[float], bend: float) -> float:
    """Return the side, +1 or -1, to which the joints that turn bend, without the first; else `bend`.

    With a rigid root the first joint that turns only aims, so its angle says nothing of the side.
    """
    if not has_rigid(bones):
        return side_of(angles, bend)
    part = joined(bones, angles)
    return bend if part is None else side_of(part.inner_angles(angles), bend)


def joined(bones: Bones, start: list[float]) -> Joined | None:
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
    inner = Bones(
        [length / reach for length in lengths],
        compared([bones.weights[i] for i in turning]),
        [bones.low[i] + offset for i, offset in zip(turning, offsets, strict=True)],
        [bones.high[i] + offset for i, offset in zip(turning, offsets, strict=True)],
    )
    return Joined(inner, turning, offsets, (base_x, base_y), reach)


def joined_steps(
    bones: Bones,
    start: list[float],
    x: float,
    y: float,
    bend: float,
    tolerance: float,
    rounds: int,
    *,
    asks_first: bool = False,
) -> Generator[int, None, Found]:
    """Return the pose of any_steps for a chain some of whose joints are rigid."""
    part = joined(bones, start)
    if part is None:
        return Found(start, 0, True)
    found = yield from any_steps(
        part.bones,
        part.inner_angles(start),
        *part.target(x, y, ON_ROOT * tolerance),
        bend,
        tolerance / part.reach,
        rounds,
        asks_first=asks_first,
    )
    return found._replace(angles=part.whole_angles(found.angles, start, bones))


def any_steps(
    bones: Bones,
    start: list[float],
    x: float,
    y: float,
    bend: float,
    tolerance: float,
    rounds: int,
    *,
    asks_first: bool = False,
) -> Generator[int, None, Found]:
    """Return a pose for one target, for a chain with limits or without; yield 0 now and then."""
    if all(map(isinf, bones.low)) and all(map(isinf, bones.high)):
        angles, iterations = solve_free(bones, start, x, y, bend, tolerance, rounds)
        return Found(angles, iterations, is_off_the_annulus(bones.lengths, x, y))
    return (yield from limited_steps(bones, start, x, y, bend, tolerance, rounds, asks_first=asks_first))


def _run(lengths: list[float], angles: list[float]) -> tuple[float, float, float]:
    """Return the end of a run of bones, x and y, and its heading."""
    x = y = heading = 0.0
    for length, angle in zip(lengths, angles, strict=True):
        heading += angle
        x, y = x + length * cos(heading), y + length * sin(heading)
    return x, y, heading
