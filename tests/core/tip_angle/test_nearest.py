# SPDX-License-Identifier: GPL-3.0-or-later
"""Where no pose has both: the tip stays on its point and the heading comes near, or the other way round."""

import numpy as np
from posed_chains import assert_within, known_poses, limited_chain

from ik2d_addon.core.chain import joints_at
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.nearest import nearest, soft_poses
from ik2d_addon.core.tip_angle.sheet import PoseSheet
from ik2d_addon.core.tip_angle.springs import Goal


def unmet(n: int, count: int, *, free_root: bool):
    """Yield a sheet and goals of reachable tips whose headings no pose has."""
    rng = np.random.default_rng(n)
    sheet = PoseSheet(Arm.of(limited_chain(rng, n, free_root=free_root), np.zeros(n)))
    _, tips, headings = known_poses(rng, sheet.arm.chain, 40)
    headings = headings + rng.uniform(0.8, 2.0, 40)
    rows = np.flatnonzero(sheet.proofs.forbidden(tips, headings))[:count]
    yield from ((sheet, Goal(*tips[k].tolist(), float(headings[k]))) for k in rows)


def test_tip_is_on_its_point_and_no_pose_of_many_is_nearer_to_the_heading() -> None:
    rng = np.random.default_rng(1)
    for sheet, goal in (*unmet(4, 3, free_root=False), *unmet(5, 3, free_root=True)):
        found = nearest(sheet, goal, False)
        tip, heading = sheet.springs.misses(found, goal)
        assert tip <= 1e-9
        assert_within(sheet.arm.chain, np.array(found))
        low, high = np.clip(sheet.arm.chain.ranges, -3.2, 3.2).T
        others = rng.uniform(low, high, (60_000, len(low)))
        off = joints_at(sheet.arm.chain, others)[:, -1] - (goal.x, goal.y)
        near = np.hypot(*off.T) <= 0.01
        turned = np.abs(wrapped(others.sum(axis=1) - goal.heading))[near]
        assert heading <= turned.min(initial=np.pi) + 0.1


def test_angle_first_has_the_heading_and_comes_near_the_point() -> None:
    for sheet, goal in unmet(5, 4, free_root=False):
        found = nearest(sheet, goal, True)
        tip, heading = sheet.springs.misses(found, goal)
        assert heading <= 1e-9 and 0.0 < tip < 1.5


def test_poses_on_springs_come_nearest_first() -> None:
    for sheet, goal in unmet(6, 2, free_root=False):
        off = [sheet.springs.misses(pose, goal)[1] for pose in soft_poses(sheet, goal, False, 4)]
        assert off and off == sorted(off)
