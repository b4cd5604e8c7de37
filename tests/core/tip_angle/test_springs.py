# SPDX-License-Identifier: GPL-3.0-or-later
"""Springs with stops under a force and a moment: Newton's step, and the law that a settled pose obeys."""

import numpy as np
import pytest
from posed_chains import known_poses, limited_chain

from ik2d_addon.core.chain import joints_at
from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.descent import settled
from ik2d_addon.core.tip_angle.sheet import PoseSheet
from ik2d_addon.core.tip_angle.springs import Goal, HeldPose, HeldSprings, apart, solved


def sheet_and_goals(n: int, *, free_root: bool = True, root_weight: float | None = None, count: int = 6):
    rng = np.random.default_rng(n)
    arm = Arm.of(limited_chain(rng, n, free_root=free_root), rng.uniform(-0.2, 0.2, n), root_weight)
    _, tips, headings = known_poses(rng, arm.chain, count)
    return PoseSheet(arm), [Goal(*tip, heading) for tip, heading in zip(tips.tolist(), headings, strict=True)]


@pytest.mark.parametrize(("free_root", "root_weight"), [(True, None), (False, None), (False, 0.5)])
def test_joints_of_a_settled_pose_are_where_force_and_moment_hold_them(free_root, root_weight) -> None:
    sheet, goals = sheet_and_goals(5, free_root=free_root, root_weight=root_weight)
    springs, checked = sheet.springs, 0
    for goal in goals:
        pose = sheet.least(goal)
        assert pose is not None and springs.off(pose.angles, goal) <= 1e-9
        if not pose.is_held:
            continue
        joints = joints_at(sheet.arm.chain, np.array([pose.angles]))[0]
        levers = joints[-1] - joints[:-1]
        moments = levers[:, 0] * pose.force_y - levers[:, 1] * pose.force_x + pose.moment
        wanted = np.clip(np.array(springs.rest) + springs.weights * moments, springs.low, springs.high)
        first = int(springs.free_root)
        assert np.abs(wanted - pose.angles)[first:].max() <= 1e-7
        if springs.free_root:
            low, high = springs.low[0], springs.high[0]
            sign = (pose.angles[0] >= high) - (pose.angles[0] <= low)
            assert abs(moments[0]) <= 1e-7 if sign == 0 else moments[0] * sign >= -1e-7
        checked += 1
    assert checked >= 3


def test_a_soft_heading_gives_way_by_its_spring() -> None:
    sheet, goals = sheet_and_goals(5)
    pose = sheet.least(goals[0])
    assert pose is not None
    soft = goals[0].softly(0.01, False)
    settled_pose, done = settled(sheet.springs, pose, soft, 40)
    assert done
    tip, heading = sheet.springs.misses(settled_pose.angles, goals[0])
    assert tip <= 1e-9 and heading == pytest.approx(abs(0.01 * settled_pose.moment), abs=1e-9)


def test_a_step_moves_no_joint_over_its_limit_nor_too_far() -> None:
    springs = HeldSprings.of(Arm.of(limited_chain(np.random.default_rng(2), 6, free_root=False), np.zeros(6)))
    start = HeldPose(np.clip(np.zeros(6), springs.low, springs.high).tolist())
    moved = springs.moved(start, springs.step(start, Goal(-0.5, 0.4, 2.0)))
    assert apart(moved.angles, start.angles) <= 0.35 + 1e-12
    assert all(low <= a <= high for low, a, high in zip(springs.low, moved.angles, springs.high, strict=True))


def test_equations_are_solved_with_pivots() -> None:
    form = [[0.0, 1.0, 2.0], [1.0, 0.0, 0.0], [3.0, 0.0, 1.0]]
    assert np.allclose(solved(form, [5.0, 1.0, 5.0]), [1.0, 1.0, 2.0])
