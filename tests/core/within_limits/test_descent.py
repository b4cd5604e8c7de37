# SPDX-License-Identifier: GPL-3.0-or-later
"""From any pose to one of least bend."""

import numpy as np
import pytest

from ik2d_addon.core.arithmetic import FLOATS
from ik2d_addon.core.within_limits.descent import SpringPoses, descended_one, settled, settled_one, tips
from ik2d_addon.core.within_limits.springs import SpringPose, springs_of


def leg(free=True):
    """Return the springs of a dog's leg."""
    rest, (low, high) = np.radians([-60, 40, -50]), np.radians([(-120, 10, -140), (20, 140, -10)])
    none = np.zeros(3)
    return springs_of(np.array(([0.35, 0.4, 0.25], rest, np.ones(3), low, high, none, none)), free, 1.0)


def random_poses(springs, count, seed=0):
    """Return poses within the limits, and their tips."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(springs.low, springs.high, (count, 3)).T
    poses = SpringPoses(angles, 0.0 * angles, np.zeros((2, count)))
    return poses, tips(springs, poses)


def one_of(poses, k):
    """Return one of many poses."""
    return SpringPose(poses.angles[:, k].tolist(), [0.0] * 3, 0.0, 0.0)


@pytest.mark.parametrize("free", [True, False])
def test_going_down_leaves_the_tip_and_bends_no_more(free):
    springs, settled_ones = leg(free), 0
    poses, points = random_poses(springs, 30)
    for k, (x, y) in enumerate(points.T.tolist()):
        start = one_of(poses, k)
        pose, done = descended_one(springs, start, x, y)
        assert all(
            low <= angle <= high
            for low, angle, high in zip(springs.low, pose.angles, springs.high, strict=True)
        )
        if not done:
            continue
        settled_ones += 1
        assert springs.bend(pose) <= springs.bend(start) + 1e-12
        step = springs.step(pose, x, y, FLOATS)
        assert step.error < 1e-12 and step.off < 1e-9 and step.is_least
    assert settled_ones > 27


def test_plain_numbers_settle_to_the_same_as_arrays():
    springs = leg()
    poses, points = random_poses(springs, 12)
    near = settled(springs, poses, points, 16)
    for k in range(12):
        pose, done = settled_one(springs, one_of(poses, k), *points[:, k].tolist(), 16)
        assert done == near.done[k]
        assert not done or np.abs(np.array(pose.angles) - near.poses.angles[:, k]).max() < 1e-9


def test_what_no_pose_reaches_is_not_done():
    springs = leg()
    poses, _ = random_poses(springs, 3)
    assert not any(descended_one(springs, one_of(poses, k), 0.99, 0.99)[1] for k in range(3))
