# SPDX-License-Identifier: GPL-3.0-or-later
"""From frame to frame: poses that follow one another within a jump, and far ways in several steps."""

import numpy as np

from benchmarks.pose_paths import path_of
from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.path.walk import FURTHER, JUMP, Walk, steps_of
from ik2d_addon.core.tip_angle.sheet import PoseSheet
from ik2d_addon.core.tip_angle.springs import Goal, HeldPose


def walk_of(n: int, frames: int) -> tuple[Walk, list[list[float]]]:
    """Return the walk of a limited chain's own smooth poses, and these."""
    chain, poses = path = path_of(np.random.default_rng(n), n, True, frames)
    tips, headings = path.goals
    sheet = PoseSheet(Arm.of(chain, np.zeros(n)))
    goals = [Goal(*tip, heading) for tip, heading in zip(tips.tolist(), headings.tolist(), strict=True)]
    return Walk(lambda frame: sheet, goals), poses.tolist()


def test_lane_of_a_pose_follows_both_ways_on_the_goals_within_jumps() -> None:
    walk, _ = walk_of(6, 100)
    seed = walk.sheets(0).least(walk.goals[50])
    assert seed is not None
    lane = walk.lane(50, seed)
    assert lane.first < 50 < lane.last and list(range(lane.first, lane.last + 1)) == sorted(lane)
    found = np.array([lane[frame].angles for frame in sorted(lane)])
    assert np.abs(np.diff(found, axis=0)).max() <= JUMP + FURTHER
    assert max(walk.sheets(0).springs.off(lane[k].angles, walk.goals[k]) for k in lane) <= 1e-9


def test_far_ways_are_walked_in_steps() -> None:
    walk, poses = walk_of(5, 12)
    assert max(walk.steps) > 1 and walk.steps[0] == 1
    assert steps_of([Goal(0.0, 0.0, 0.0), Goal(0.05, 0.0, 0.1), Goal(0.05, 0.0, -2.0)]) == [1, 1, 5]
    frame = walk.steps.index(max(walk.steps))
    found = walk.next_to(HeldPose(poses[frame - 1]), frame - 1, frame)
    assert found is None or walk.sheets(0).springs.off(found.angles, walk.goals[frame]) <= 1e-9


def test_lazy_pose_turns_least_and_one_out_of_reach_is_none() -> None:
    walk, poses = walk_of(5, 200)
    found = walk.next_to(HeldPose(poses[10]), 10, 11, lazy=True)
    assert found is not None and np.abs(np.subtract(found.angles, poses[10])).max() <= JUMP
    far = Walk(walk.sheets, [Goal(3.0, 0.0, 0.0)] * 2)
    assert far.next_to(HeldPose(poses[10]), 0, 1) is None


def test_frame_without_a_pose_is_noted_and_has_seeds_with_the_tip_on_its_place() -> None:
    walk, _ = walk_of(5, 200)
    goals = [walk.goals[20]._replace(heading=heading) for heading in np.linspace(-3.1, 3.1, 24)]
    tips = np.array([[goal.x, goal.y] for goal in goals])
    forbidden = walk.sheets(0).proofs.forbidden(tips, np.array([goal.heading for goal in goals]))
    goal = goals[int(forbidden.argmax())]
    turned = Walk(walk.sheets, [goal])
    seeds = turned.seeds(0)
    assert forbidden.any() and turned.unmet == {0} and seeds
    assert max(turned.sheets(0).springs.misses(pose.angles, goal)[0] for pose in seeds) <= 1e-9
