# SPDX-License-Identifier: GPL-3.0-or-later
"""The way through a path: along one lane, by others where that is stuck, with a start or without."""

import numpy as np

from benchmarks.pose_paths import turns
from ik2d_addon.core.tip_angle.path.route import routed
from ik2d_addon.core.tip_angle.path.walk import Walk

from .test_walk import walk_of


def test_route_of_smooth_poses_has_no_jump_and_meets_all_goals() -> None:
    for n in (4, 6):
        walk, poses = walk_of(n, 200)
        for start in (None, poses[0]):
            route = routed(walk, start)
            assert route is not None and route.jumps == () and not walk.unmet
            found = np.array([route.poses[k].angles for k in range(len(walk))])
            assert turns(found).max() <= 15.0
            off = [walk.sheets(0).springs.off(found[k].tolist(), goal) for k, goal in enumerate(walk.goals)]
            assert max(off) <= 1e-9


def test_goals_that_jump_are_met_and_the_jump_is_named() -> None:
    walk, _ = walk_of(5, 200)
    far = Walk(walk.sheets, [*walk.goals[:10], *walk.goals[120:130]])
    route = routed(far, None)
    assert route is not None and sorted(route.poses) == list(range(20))
    assert set(route.jumps) <= {10}
