# SPDX-License-Identifier: GPL-3.0-or-later
"""The least pose for one goal: found wherever there is one, and of no more bend than others."""

import numpy as np
import pytest
from posed_chains import FREE, known_poses, limited_chain

from ik2d_addon.core import Chain
from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.sheet import PoseSheet, Side, sheet_of
from ik2d_addon.core.tip_angle.springs import Goal


@pytest.mark.parametrize(("free_root", "root_weight"), [(True, None), (False, None), (False, 0.6)])
@pytest.mark.parametrize("n", [4, 6, 9])
def test_a_pose_that_exists_is_found_and_bends_no_more_than_that(n, free_root, root_weight) -> None:
    rng = np.random.default_rng(10 + n)
    arm = Arm.of(limited_chain(rng, n, free_root=free_root), np.zeros(n), root_weight)
    sheet, (poses, tips, headings) = PoseSheet(arm), known_poses(rng, arm.chain, 15)
    for pose, tip, heading in zip(poses, tips.tolist(), headings.tolist(), strict=True):
        goal = Goal(*tip, heading)
        found = sheet.least(goal)
        assert found is not None and sheet.springs.off(found.angles, goal) <= 1e-9
        assert sheet.springs.bend(found.angles) <= sheet.springs.bend(pose.tolist()) + 1e-9


def test_every_pose_of_a_goal_is_on_it_and_the_least_is_among_them() -> None:
    rng = np.random.default_rng(4)
    arm = Arm.of(limited_chain(rng, 5), np.zeros(5))
    sheet, (_, tips, headings) = PoseSheet(arm), known_poses(rng, arm.chain, 5)
    for tip, heading in zip(tips.tolist(), headings.tolist(), strict=True):
        goal = Goal(*tip, heading)
        found, least = sheet.every(goal), sheet.least(goal)
        assert least is not None and all(sheet.springs.off(pose.angles, goal) <= 1e-9 for pose in found)
        bends = [sheet.springs.bend(pose.angles) for pose in found]
        assert min(bends) == pytest.approx(sheet.springs.bend(least.angles), abs=1e-6)


def test_the_side_that_is_asked_for_is_taken_where_a_pose_there_has_both() -> None:
    sheet = PoseSheet(Arm.of(Chain(np.ones(5)), np.array([0.0, 0.1, 0.1, 0.1, 0.0])))
    goal = Goal(0.6, 0.0, 0.0)
    for side in (1.0, -1.0):
        pose = sheet.least(goal, Side(side, side))
        assert pose is not None and sum(pose.angles[1:-1]) * side > 0.0


def test_nothing_is_found_where_nothing_is() -> None:
    sheet = PoseSheet(Arm.of(Chain(np.ones(4), [FREE] + [[0.0, 0.1]] * 3), np.zeros(4)))
    assert sheet.least(Goal(0.2, 0.0, 0.0)) is None and sheet.every(Goal(0.2, 0.0, 0.0)) == []


def test_arms_alike_share_a_sheet() -> None:
    chain = Chain(np.ones(4), weights=[1.0, 0.5, 1.0, 1.0])
    one, other = (
        Arm.of(chain, np.zeros(4)),
        Arm.of(Chain(2.0 * chain.lengths, None, chain.weights), np.zeros(4)),
    )
    assert sheet_of(one) is sheet_of(other)
    assert sheet_of(one) is not sheet_of(Arm.of(chain, np.zeros(4), 1.0))
