# SPDX-License-Identifier: GPL-3.0-or-later
"""Within limits Even's pose is the least bent of all, one for each target, and exactly on it."""

import numpy as np
import pytest

from benchmarks.limits import RIGS
from ik2d_addon.core import Chain, Status, forward, solve_even
from ik2d_addon.core.even.solve import springs_within
from ik2d_addon.core.within_limits.descent import descended_one
from ik2d_addon.core.within_limits.sheet import Sheet, tables_of
from ik2d_addon.core.within_limits.springs import SpringPose, springs_of

pytestmark = pytest.mark.slow

NAMES = ("bird's leg", "dog's leg", "finger", "tail")


def rig(name):
    """Return a chain with limits, its rest pose, and the tips of 200 random poses within them."""
    lengths, rest, ranges = RIGS[name]
    chain, rng = Chain(lengths, limits=np.radians(ranges)), np.random.default_rng(len(lengths))
    return chain, np.radians(rest), forward(chain, rng.uniform(*chain.ranges.T, (200, len(chain))))[:, -1]


def bend_of(poses, rest):
    """Return the bend of poses whose root turns freely."""
    return ((poses - rest)[..., 1:] ** 2).sum(axis=-1)


@pytest.mark.parametrize("name", NAMES)
def test_every_target_in_the_region_is_reached_to_1e_9(name):
    chain, rest, targets = rig(name)
    found = solve_even(chain, targets, rest=rest)
    assert (found.status == Status.REACHED).all() and found.residual.max() < 1e-9
    low, high = chain.ranges.T
    assert (found.angles >= low - 1e-12).all() and (found.angles <= high + 1e-12).all()


@pytest.mark.parametrize("name", NAMES)
def test_no_pose_on_the_target_bends_less(name):
    """Against what many random poses within the limits come down to."""
    chain, rest, targets = rig(name)
    targets, n, starts = targets[:40], len(chain), 20
    none = np.zeros(n)
    springs = springs_of(np.array((chain.lengths, rest, np.ones(n), *chain.ranges.T, none, none)), True, 1.0)
    rng = np.random.default_rng(1)
    bends = np.full(len(targets), np.inf)
    for k, (x, y) in enumerate(targets.tolist()):
        for start in rng.uniform(*chain.ranges.T, (starts, n)).tolist():
            pose, done = descended_one(springs, SpringPose(start, [0.0] * n, 0.0, 0.0), x, y)
            if done:
                bends[k] = min(bends[k], springs.bend(pose))
    assert np.isfinite(bends).mean() > 0.9
    assert (bend_of(solve_even(chain, targets, rest=rest).angles, rest) <= 1.001 * bends + 1e-9).all()


@pytest.mark.parametrize("name", NAMES)
def test_joints_are_springs_that_one_force_at_the_tip_holds(name):
    chain, rest, targets = rig(name)
    looked_at = 0
    for pose in solve_even(chain, targets[:80], rest=rest).angles:
        joints = forward(chain, pose)
        arms = joints[-1] - joints[:-1]
        ways = np.stack((-arms[:, 1], arms[:, 0]), axis=1)  # of the tip, with each joint
        low, high = chain.ranges.T
        free = (pose > low + 1e-9) & (pose < high - 1e-9)
        if free.all() or free.sum() < 2:
            continue  # of the family; or too few to tell the force from
        looked_at += 1
        wanted = np.where(np.arange(len(pose)) > 0, pose - rest, 0.0)
        force, *_ = np.linalg.lstsq(ways[free], wanted[free], rcond=None)
        springs = rest + ways @ force
        assert np.abs(np.clip(springs, low, high) - pose)[1:].max() < 1e-7
        assert abs(ways[0] @ force) < 1e-7 or not free[0]
    assert looked_at


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_depends_on_nothing_but_its_target(name):
    chain, rest, targets = rig(name)
    targets = targets[:60]
    together = solve_even(chain, targets, rest=rest).angles
    backwards = solve_even(chain, targets[::-1], rest=rest).angles[::-1]
    alone = np.array([solve_even(chain, target, rest=rest).angles for target in targets])
    assert np.abs(backwards - together).max() < 1e-12
    assert np.abs(alone - together).max() < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_and_turned_rig_has_the_same_pose(name):
    chain, rest, targets = rig(name)
    turn, size = 0.7, 3.3
    turned = rest + turn * (np.arange(len(rest)) == 0)
    limits = chain.limits + turn * (np.arange(len(rest)) == 0)[:, np.newaxis]
    c, s = np.cos(turn), np.sin(turn)
    other = Chain(size * chain.lengths, limits=limits)
    poses = solve_even(other, size * targets @ np.array([[c, s], [-s, c]]), rest=turned).angles
    poses[:, 0] -= turn
    off = np.abs(poses - solve_even(chain, targets, rest=rest).angles).max(axis=1)
    assert (off < 1e-9).mean() >= 0.99


def test_of_two_mirrored_poses_bend_takes_one():
    chain = Chain([1.0] * 3, limits=np.radians([(-170, 170), (-40, 40), (-40, 40)]))
    for bend in (1, -1):
        pose = solve_even(chain, [[2.75, 0.0], [0.0, 2.7]], bend=bend, rest=[0.0, 0.0, 0.0]).angles
        assert (np.sign(pose[:, 1:].sum(axis=1)) == bend).all()


def test_bend_keeps_a_bent_chain_on_the_other_side_where_limits_count():
    chain = Chain([1.0] * 4, limits=np.radians([(-170, 170)] + [(-60, 25)] * 3))
    rest = np.radians([0, 5, 5, 5])
    path = np.stack((np.linspace(3.9, 3.0, 60), np.zeros(60)), axis=1)
    poses = solve_even(chain, path, bend=-1, rest=rest).angles
    assert (poses[1:, 1:].sum(axis=1) < 0.0).all()
    assert np.degrees(np.abs(np.diff(poses, axis=0))).max() < 15.0


@pytest.mark.parametrize("root_weight", [0.0, 0.5, 1.0])
def test_a_root_that_counts_is_a_joint_like_the_others(root_weight):
    rng = np.random.default_rng(3)
    chain = Chain([1.0] * 4, limits=np.radians([(-80, 80)] + [(-70, 20)] * 3))
    rest = np.radians([10, -20, -20, -20])
    angles = rng.uniform(*chain.ranges.T, (60, 4))
    angles[:, 0] = rest[0] if root_weight == 0.0 else angles[:, 0]
    targets = forward(chain, angles)[:, -1]
    found = solve_even(chain, targets, rest=rest, root_weight=root_weight)
    assert (found.status == Status.REACHED).all()
    weights = np.append(root_weight, np.ones(3))
    given = ((angles - rest)[:, weights > 0.0] ** 2 / weights[weights > 0.0]).sum(axis=1)
    own = ((found.angles - rest)[:, weights > 0.0] ** 2 / weights[weights > 0.0]).sum(axis=1)
    assert (own <= given + 1e-9).all()


def test_a_target_that_no_pose_reaches_has_none():
    chain = Chain([1.0] * 4, [(-0.2, 0.2)] * 4)
    numbers, slide_weight = springs_within(chain, np.zeros(4))
    assert Sheet(tables_of(numbers, True, slide_weight)).least(-0.5, 0.0, 1.0, 0.0) is None
