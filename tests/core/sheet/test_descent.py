# SPDX-License-Identifier: GPL-3.0-or-later
"""From any pose to one of least bend: many at once and one by one come to the same."""

import numpy as np
import pytest

from ik2d_addon.core.arithmetic import ARRAYS
from ik2d_addon.core.sheet.descent import Poses, descended, descended_one, settled, settled_one, tips
from ik2d_addon.core.sheet.springs import Pose, springs_of

pytestmark = pytest.mark.slow


def leg(free=True):
    """Return the springs of a dog's leg."""
    rest, (low, high) = np.radians([-60, 40, -50]), np.radians([(-120, 10, -140), (20, 140, -10)])
    none = np.zeros(3)
    return springs_of(np.array(([0.35, 0.4, 0.25], rest, np.ones(3), low, high, none, none)), free, 1.0)


def random_poses(springs, count, seed=0):
    """Return poses within the limits, and their tips."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(springs.low, springs.high, (count, 3)).T
    poses = Poses(angles, 0.0 * angles, np.zeros((2, count)))
    return poses, tips(springs, poses)


@pytest.mark.parametrize("free", [True, False])
def test_going_down_leaves_the_tip_and_bends_no_more(free):
    springs = leg(free)
    poses, points = random_poses(springs, 30)
    found = descended(springs, poses, points)
    assert found.done.mean() > 0.9
    low = found.poses[found.done]
    assert np.abs(tips(springs, low) - points[:, found.done]).max() < 1e-12
    assert (springs.bend(low.rows) <= springs.bend(poses[found.done].rows) + 1e-12).all()
    step = springs.step(low.rows, *points[:, found.done], ARRAYS)
    assert step.off.max() < 1e-9 and step.is_least.all()


def test_plain_numbers_come_to_the_same_as_arrays():
    springs = leg()
    poses, points = random_poses(springs, 12)
    many, near = descended(springs, poses, points), settled(springs, poses, points, 16)
    for k in range(12):
        pose = Pose(poses.angles[:, k].tolist(), [0.0] * 3, 0.0, 0.0)
        one, done, _ = descended_one(springs, pose, *points[:, k].tolist())
        assert done == many.done[k]
        assert not done or np.abs(np.array(one.angles) - many.poses.angles[:, k]).max() < 1e-9
        one, done, _ = settled_one(springs, pose, *points[:, k].tolist(), 16)
        assert done == near.done[k]
        assert not done or np.abs(np.array(one.angles) - near.poses.angles[:, k]).max() < 1e-9


def test_limits_hold_on_the_way():
    springs = leg()
    poses, points = random_poses(springs, 40, seed=4)
    angles = descended(springs, poses, points).poses.angles
    assert (angles >= np.array(springs.low)[:, np.newaxis]).all()
    assert (angles <= np.array(springs.high)[:, np.newaxis]).all()


def test_what_no_pose_reaches_is_not_done():
    springs = leg()
    poses, points = random_poses(springs, 3)
    assert not descended(springs, poses, 0.0 * points + 0.99).done.any()
