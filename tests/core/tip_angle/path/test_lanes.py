# SPDX-License-Identifier: GPL-3.0-or-later
"""Lanes, the ways between them, and the route with the fewest jumps."""

import numpy as np

from ik2d_addon.core import Chain
from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.path.lanes import Lanes
from ik2d_addon.core.tip_angle.path.walk import Lane, Walk
from ik2d_addon.core.tip_angle.sheet import PoseSheet
from ik2d_addon.core.tip_angle.springs import Goal, HeldPose

FRAMES = 10


def lanes_of(*angles: dict[int, list[float]], begins: bool = False) -> Lanes:
    """Return lanes of given angles by frame, of a chain whose goals they need not be on."""
    sheet = PoseSheet(Arm.of(Chain(np.ones(4)), np.zeros(4)))
    walk = Walk(lambda frame: sheet, [Goal(5.0, 0.0, 0.0)] * FRAMES)  # nothing can be drawn over
    lanes = [Lane({k: HeldPose(pose) for k, pose in own.items()}) for own in angles]
    return Lanes(walk, begins, lanes)


def lane(first: int, last: int, bent: float) -> dict[int, list[float]]:
    return {k: [0.0, bent, bent, bent] for k in range(first, last + 1)}


def test_route_steps_over_where_lanes_are_side_by_side() -> None:
    route = lanes_of(lane(0, 6, 0.0), lane(4, 9, 0.1)).through()
    assert route is not None and route.jumps == () and sorted(route.poses) == list(range(FRAMES))
    assert route.poses[6].angles[1] == 0.0 and route.poses[7].angles[1] == 0.1


def test_route_has_as_few_jumps_as_lanes_allow_and_says_where() -> None:
    route = lanes_of(lane(0, 3, 0.0), lane(3, 6, 1.0), lane(5, 9, 2.0), lane(2, 9, 1.5)).through()
    assert route is not None and len(route.jumps) == 1 and route.poses[9].angles[1] == 1.5
    at = route.jumps[0]
    assert abs(route.poses[at].angles[1] - route.poses[at - 1].angles[1]) > 1.0


def test_no_route_where_a_frame_is_on_no_lane_nor_from_another_than_the_first() -> None:
    assert lanes_of(lane(0, 3, 0.0), lane(5, 9, 0.0)).through() is None
    both = lane(0, 4, 0.0), lane(0, 9, 1.0)
    free, bound = lanes_of(*both).through(), lanes_of(*both, begins=True).through()
    assert free is not None and free.jumps == ()
    assert bound is not None and len(bound.jumps) == 1


def test_lane_like_another_is_not_added() -> None:
    sheet = PoseSheet(Arm.of(Chain(np.ones(4)), np.zeros(4)))
    goals = [Goal(0.6, 0.01 * k, 0.3) for k in range(FRAMES)]
    lanes = Lanes(Walk(lambda frame: sheet, goals), False)
    pose = sheet.least(goals[0])
    assert pose is not None
    lanes.add(0, pose)
    lanes.add(0, HeldPose(pose.angles))
    lanes.seed(5, lanes.lanes[0][5])
    assert len(lanes.lanes) == 1 and lanes.through() is not None
