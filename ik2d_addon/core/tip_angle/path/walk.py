# SPDX-License-Identifier: GPL-3.0-or-later
"""From the pose of one frame to that of the next: by Newton's method, or by the least turns and then down.

A pose follows another where no joint turns by more than a jump. Where a target moves far in one frame, the
way there is walked in as many steps. In a frame that no pose meets, a spring holds the heading, or with the
angle first the tip, ever more stiffly, as far as that goes without a jump.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, hypot, remainder

import numpy as np

from ..descent import descended, restored, settled
from ..nearest import FREELY, STIFFER, soft_poses, stiffer, walked
from ..sheet import PoseSheet
from ..springs import TURN, Goal, HeldPose, HeldSprings, apart

# A joint may turn by so many radians from one frame to the next: more is a jump. The least turns that put tip
# and heading on their goal may be so much further.
JUMP, FURTHER = 0.2, 0.06
# One step takes the tip so far (in reaches) and the heading (radians); a frame takes so many at most.
WAY, HEADING, MOST_STEPS = 0.15, 0.5, 24
# Newton's rounds from a pose of least bend to the next.
GOING_ON = 6
# How stiff the springs are that hold a pose back, the stiffest first, and Newton's rounds with each.
HELD_BACK, ROUNDS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1), 8
# In a frame that no pose meets: the poses that begin a lane, and the steps nearer from each.
SOFT_KEPT, NEARER = 4, 8


def steps_of(goals: Sequence[Goal]) -> list[int]:
    """Return how many steps lead to each goal from the one before."""
    counts = [1]
    for before, goal in zip(goals, goals[1:], strict=False):
        way = hypot(goal.x - before.x, goal.y - before.y) / WAY
        turn = abs(remainder(goal.heading - before.heading, TURN)) / HEADING
        counts.append(min(max(1, ceil(max(way, turn))), MOST_STEPS))
    return counts


def _between(first: Goal, last: Goal, count: int) -> Iterator[Goal]:
    """Yield goals on the way from one to another, the other at last."""
    turn = remainder(last.heading - first.heading, TURN)
    for step in range(1, count):
        part = 1.0 - step / count
        x, y = last.x + part * (first.x - last.x), last.y + part * (first.y - last.y)
        yield Goal(x, y, last.heading - part * turn)
    yield last


@dataclass(eq=False)
class Walk:
    """The frames of a path: the goal of each, and the poses that follow one another."""

    sheets: Callable[[int], PoseSheet]
    goals: Sequence[Goal]
    angle_first: bool = False
    unmet: set[int] = field(default_factory=set)  # frames that no pose is found to meet

    def __len__(self) -> int:
        return len(self.goals)

    @cached_property
    def steps(self) -> list[int]:
        """How many steps lead to each frame from the one before."""
        return steps_of(self.goals)

    def jump(self, frame: int, other: int) -> float:
        """Return how far a joint may turn between two frames next to one another."""
        return JUMP * self.steps[min(max(frame, other, 0), len(self) - 1)]

    def follows(self, frame: int, pose: HeldPose, other: int, next_pose: HeldPose) -> bool:
        """Return whether one pose follows another without a jump."""
        return apart(pose.angles, next_pose.angles) <= self.jump(frame, other)

    def next_to(self, pose: HeldPose, frame: int, other: int, lazy: bool = False) -> HeldPose | None:
        """Return the pose in another frame that follows one; None where none does without a jump.

        lazy: by the least turns alone.
        """
        return self._stepped(pose, self.goals[frame], other, self.steps[max(frame, other)], lazy)

    def from_start(self, angles: list[float], lazy: bool = False) -> HeldPose | None:
        """Return the pose in the first frame that follows one before all frames; None where none does."""
        first = Goal(*self.sheets(0).springs.tip(angles))
        return self._stepped(HeldPose(angles), first, 0, steps_of([first, self.goals[0]])[1], lazy)

    def _stepped(self, pose: HeldPose, first: Goal, frame: int, count: int, lazy: bool) -> HeldPose | None:
        found = self._followed(pose, frame, self.goals[frame], JUMP, lazy)
        if found is not None or count == 1:
            return found
        found = pose
        for goal in _between(first, self.goals[frame], count):
            following = self._followed(found, frame, goal, JUMP, lazy)
            if following is None:
                return self._followed(pose, frame, self.goals[frame], JUMP * count, lazy)
            found = following
        return found

    def _followed(self, pose: HeldPose, frame: int, goal: Goal, jump: float, lazy: bool) -> HeldPose | None:
        springs, angles = self.sheets(frame).springs, pose.angles
        if frame in self.unmet:
            return self._nearest(springs, angles, goal, jump)
        if pose.is_held and not lazy:
            least, done = settled(springs, pose, goal, GOING_ON)
            if done and apart(least.angles, angles) <= jump:
                return least
        on_goal = restored(springs, angles, goal)
        if on_goal is None or apart(on_goal, angles) > jump + FURTHER:
            return None
        if lazy:
            return HeldPose(on_goal)
        lower = descended(springs, on_goal, goal)
        if lower is not None and apart(lower.angles, angles) <= jump:
            return lower
        return HeldPose(drawn(springs, on_goal, angles, goal, jump))

    def _nearest(self, springs: HeldSprings, angles: list[float], goal: Goal, jump: float) -> HeldPose | None:
        """Return the pose that follows in a frame that no pose meets."""
        on_tip = restored(springs, angles, goal.softly(FREELY, self.angle_first))
        if on_tip is None or apart(on_tip, angles) > jump + FURTHER:
            return None
        found = drawn(springs, on_tip, angles, goal.softly(STIFFER[1], self.angle_first), jump)
        found = stiffer(springs, found, goal, self.angle_first, jump, angles)
        return HeldPose(walked(springs, found, goal, self.angle_first, jump, angles, NEARER))

    def lane(self, frame: int, pose: HeldPose, lazy: bool = False) -> "Lane":
        """Return the poses by frame that go on from one, both ways, as far as that goes."""
        return self.extended(Lane({frame: pose}), lazy)

    def extended(self, lane: "Lane", lazy: bool = False) -> "Lane":
        """Return a lane gone on with from both ends."""
        poses = dict(lane)
        for frame, ahead in ((lane.last, 1), (lane.first, -1)):
            last: HeldPose | None = lane[frame]
            other = frame + ahead
            while last is not None and 0 <= other < len(self):
                last = self.next_to(last, other - ahead, other, lazy)
                if last is not None:
                    poses[other] = last
                other += ahead
        return Lane(poses)

    def mark_by_arcs(self) -> bool:
        """Note the frames that the first bone's arc proves to have no pose; return if there are any."""
        own = {
            frame
            for frame, goal in enumerate(self.goals)
            if frame not in self.unmet
            and self.sheets(frame).proofs.forbidden_by_arc(np.array([goal.x, goal.y]), goal.heading)
        }
        self.unmet |= own
        return bool(own)

    def seeds(self, frame: int) -> list[HeldPose]:
        """Return the poses of locally least bend in a frame; if none meets it, some that are nearest."""
        sheet, goal = self.sheets(frame), self.goals[frame]
        if frame not in self.unmet:
            found = sheet.every(goal)
            if found:
                return found
            self.unmet.add(frame)
        poses = soft_poses(sheet, goal, self.angle_first, SOFT_KEPT)
        return [HeldPose(stiffer(sheet.springs, pose, goal, self.angle_first, TURN, pose)) for pose in poses]


class Lane(dict[int, HeldPose]):
    """Poses by frame that follow one another without a jump."""

    @cached_property
    def first(self) -> int:
        """Its first frame."""
        return min(self)

    @cached_property
    def last(self) -> int:
        """Its last frame."""
        return max(self)


def drawn(
    springs: HeldSprings, found: list[float], angles: list[float], goal: Goal, jump: float
) -> list[float]:
    """Return a pose drawn to rest, so far as no joint turns from angles by more than a jump."""
    best = found
    for stiff in HELD_BACK:
        pose, done = settled(springs, HeldPose(found), goal, ROUNDS, stiff, found)
        if not done or apart(pose.angles, angles) > jump:
            break
        best = pose.angles
    return best
