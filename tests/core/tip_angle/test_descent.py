# SPDX-License-Identifier: GPL-3.0-or-later
"""From a pose to one on a goal: by the least turns, down to the least bend, or by damped steps."""

import numpy as np
from posed_chains import known_poses, limited_chain

from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.descent import cornered, descended, led_down, restored
from ik2d_addon.core.tip_angle.springs import Goal, HeldSprings, apart


def springs_and_poses(n: int, count: int):
    rng = np.random.default_rng(n)
    arm = Arm.of(limited_chain(rng, n, free_root=False), np.zeros(n))
    poses, tips, headings = known_poses(rng, arm.chain, count)
    goals = [Goal(*tip, heading) for tip, heading in zip(tips.tolist(), headings.tolist(), strict=True)]
    return HeldSprings.of(arm), poses.tolist(), goals


def test_least_turns_bring_a_pose_back_onto_its_goal_and_little_farther() -> None:
    springs, poses, goals = springs_and_poses(6, 20)
    done = 0
    for pose, goal in zip(poses, goals, strict=True):
        near = np.clip(np.add(pose, 0.02), springs.low, springs.high).tolist()
        found = restored(springs, near, goal)
        if found is not None:
            assert springs.off(found, goal) <= 1e-9 and apart(found, near) <= 0.3
            done += 1
    assert done >= 18


def test_a_pose_that_goes_down_stays_on_its_goal_and_bends_no_more() -> None:
    springs, poses, goals = springs_and_poses(5, 20)
    done = 0
    for pose, goal in zip(poses, goals, strict=True):
        lower = descended(springs, pose, goal)
        if lower is not None:
            assert springs.off(lower.angles, goal) <= 1e-9
            assert springs.bend(lower.angles) <= springs.bend(pose) + 1e-9
            done += 1
    assert done >= 12


def test_a_goal_that_is_nowhere_near_leads_nowhere() -> None:
    springs, poses, _ = springs_and_poses(5, 1)
    assert restored(springs, poses[0], Goal(5.0, 0.0, 0.0)) is None
    assert led_down(springs, poses[0], Goal(5.0, 0.0, 0.0)) is None
    assert cornered(springs, poses[0], Goal(5.0, 0.0, 0.0)) is None


def test_damped_steps_come_to_a_pose_with_nearly_all_joints_at_their_limits() -> None:
    springs, _, _ = springs_and_poses(6, 1)
    pose = [springs.low[0], springs.high[1], springs.low[2], springs.high[3], springs.low[4], springs.high[5]]
    goal = Goal(*springs.tip(pose))
    found = cornered(springs, np.add(pose, 0.1).tolist(), goal)
    assert found is not None and springs.off(found, goal) <= 1e-9
