# SPDX-License-Identifier: GPL-3.0-or-later
"""Where no pose has both: the tip on its point and the heading as near as it gets, or the other way round.

Exact where the root turns freely, or where the pose that has the nearest heading of such a root is within its
limits. Else poses are held by springs that draw to the goal, and walked nearer by smaller and smaller steps.
"""

from math import remainder

import numpy as np

from .arm import ON_TARGET
from .descent import descended, restored, settled
from .sheet import PoseSheet
from .springs import TURN, Goal, HeldPose, HeldSprings, apart

# How much a heading that no pose has gives to the moment, or a tip to the force: nothing holds it, then
# springs that poses go down by, then ever stiffer ones, with Newton's rounds for each.
FREELY, SOFT, STIFFER, ROUNDS = 1e8, (10.0, 1.0, 0.1), (1e-2, 1e-3, 2e-4, 4e-5, 8e-6, 2e-6), 8
# Starts, how much their headings count for them, where these come first or not, poses that differ by less
# being the same, and those that are walked nearer.
STARTS, FIRST, SECOND, ALIKE, WALKED = 7, 4.0, 0.1, 0.01, 2
# Walks nearer: steps at most, and the least part of the way.
STEPS, LEAST = 24, 1e-4


def soft_poses(sheet: PoseSheet, goal: Goal, angle_first: bool, most: int) -> list[list[float]]:
    """Return the poses that springs hold near a goal, the nearest first, so many at most."""
    springs = sheet.springs
    starts = sheet.spread.near(goal, STARTS, FIRST if angle_first else SECOND)
    if not angle_first:
        on_point = sheet.arm.region.poses([goal.x, goal.y], sheet.arm.rest)
        starts.insert(0, on_point.tolist())
    on_first = (restored(springs, start, goal.softly(FREELY, angle_first)) for start in starts)
    poses = [HeldPose(angles) for angles in on_first if angles is not None]
    for softness, kept in zip(SOFT, (len(poses), len(poses), most), strict=True):
        drawn = [_drawn_near(springs, pose, goal.softly(softness, angle_first)) for pose in poses]
        drawn.sort(key=lambda pose: springs.off(pose.angles, goal))
        poses = []
        for pose in drawn:
            if len(poses) < kept and all(apart(pose.angles, other.angles) > ALIKE for other in poses):
                poses.append(pose)
    return [pose.angles for pose in poses]


def _drawn_near(springs: HeldSprings, pose: HeldPose, soft: Goal) -> HeldPose:
    """Return the pose that springs draw another to; the other where they do not settle."""
    closer, done = settled(springs, pose, soft)
    return closer if done else descended(springs, pose.angles, soft) or pose


def stiffer(
    springs: HeldSprings, angles: list[float], goal: Goal, angle_first: bool, jump: float, near: list[float]
) -> list[float]:
    """Return a pose held by ever stiffer springs, no joint turned from near by more than a jump."""
    pose = HeldPose(angles)
    for softness in STIFFER:
        closer, done = settled(springs, pose, goal.softly(softness, angle_first), ROUNDS)
        if not done or apart(closer.angles, near) > jump:
            break
        pose = closer
    return pose.angles


def nearest(sheet: PoseSheet, goal: Goal, angle_first: bool) -> list[float]:
    """Return the angles of the nearest pose found to a goal that none has."""
    point, heading = np.array([[goal.x, goal.y]]), np.array([goal.heading])
    free = sheet.backwards.nearest_poses(point, heading, angle_first)
    within = sheet.arm.within(free)
    tries: list[list[float]] = [within[0].tolist()]
    if sheet.arm.root_turns or np.abs(np.sin(0.5 * (within - free))).max() <= ON_TARGET:
        return tries[0]
    for pose in soft_poses(sheet, goal, angle_first, WALKED):
        closer = stiffer(sheet.springs, pose, goal, angle_first, TURN, pose)
        tries.append(walked(sheet.springs, closer, goal, angle_first, TURN, closer, STEPS))
    return min(tries, key=lambda own: sheet.misses(own, goal, angle_first))


def walked(
    springs: HeldSprings,
    angles: list[float],
    goal: Goal,
    angle_first: bool,
    jump: float,
    near: list[float],
    steps: int,
) -> list[float]:
    """Return a pose walked towards a goal by smaller and smaller parts of the way there.

    No joint turns from near by more than a jump.
    """
    part = 0.5
    for _ in range(steps):
        x, y, heading = springs.tip(angles)
        if angle_first:
            between = Goal(x + part * (goal.x - x), y + part * (goal.y - y), goal.heading)
        else:
            between = Goal(goal.x, goal.y, heading + part * remainder(goal.heading - heading, TURN))
        closer = restored(springs, angles, between)
        if closer is None or apart(closer, near) > jump:
            part *= 0.5
            if part < LEAST:
                break
        else:
            angles, part = closer, min(0.5, 2.0 * part)
    return angles
