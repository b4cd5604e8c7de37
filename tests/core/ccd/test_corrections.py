# SPDX-License-Identifier: GPL-3.0-or-later
"""Many poses at once get the arms and the turns that each of them gets alone."""

import numpy as np
import pytest

from ik2d_addon.core.arithmetic import FEW
from ik2d_addon.core.ccd.correction import (
    LONGEST_STEP,
    angles_of,
    arms_of,
    arms_to_tip,
    least_turns,
    least_turns_of,
    swings_of,
)


def random_poses(n, m):
    """Lengths that add up to 1, poses (n, m) some of which are nearly straight, and errors (2, m)."""
    rng = np.random.default_rng([n, m])
    lengths, poses = rng.uniform(0.2, 1.0, n), rng.uniform(-3.0, 3.0, (n, m))
    poses[1:, ::5] = 1e-3
    return lengths / lengths.sum(), poses, 0.1 * rng.normal(size=(2, m))


def arms_at(lengths, poses):
    return arms_of(lengths, np.cumsum(poses, axis=0), np.empty(3 * poses.size)).copy()


def turns_at(lengths, poses, weights, errors, longest=LONGEST_STEP):
    distances, room = np.hypot(*errors), np.empty(2 * poses.size)
    longest = np.broadcast_to(longest, distances.shape)
    return least_turns_of(arms_at(lengths, poses), weights, errors, distances, longest, room)


@pytest.mark.parametrize("m", (1, 7, FEW, 200))
@pytest.mark.parametrize("n", (1, 2, 6, 60))
def test_arms_are_those_of_each_pose_alone_the_root_first(n, m):
    lengths, poses, _ = random_poses(n, m)
    headings, room = np.cumsum(poses, axis=0), np.empty(3 * n * m + 5)
    given = headings.copy()
    arms = arms_of(lengths, headings, room)
    for row in range(m):
        alone = np.array(arms_to_tip(lengths.tolist(), poses[:, row].tolist()))[:, ::-1]
        assert np.allclose(arms[:, :, row], alone, rtol=0.0, atol=2e-15)
    assert (headings == given).all()
    assert (room[: arms.size] == arms.ravel()).all()


def test_arms_depend_on_no_other_pose():
    lengths, poses, _ = random_poses(12, 3 * FEW)
    together = arms_at(lengths, poses)
    for part in (slice(0, 1), slice(3, 3 + FEW // 2), slice(5, 2 * FEW)):
        assert (arms_at(lengths, poses[:, part]) == together[:, :, part]).all()


@pytest.mark.parametrize("longest", (LONGEST_STEP, 0.1))
@pytest.mark.parametrize("weights", (None, (1.0, 0.0, 0.5, 1.0, 0.2)))
@pytest.mark.parametrize("m", (1, 50, 200))
def test_turns_are_those_of_each_pose_alone(m, weights, longest):
    lengths, poses, errors = random_poses(5, m)
    willing = np.ones(5) if weights is None else np.array(weights)
    turns = turns_at(lengths, poses, None if weights is None else willing, errors, longest)
    for row in range(m):
        arms = arms_to_tip(lengths.tolist(), poses[:, row].tolist())
        alone = least_turns(arms, willing[::-1].tolist(), *errors[:, row].tolist(), longest)
        assert np.allclose(turns[:, row], alone, rtol=1e-6, atol=1e-12)


def test_a_tip_on_its_target_turns_nothing():
    lengths, poses, _ = random_poses(5, 4)
    for weights in (None, np.ones(5), np.array([1.0, 0.0, 0.5, 1.0, 0.2])):
        assert (turns_at(lengths, poses, weights, np.zeros((2, 4))) == 0.0).all()


@pytest.mark.parametrize("m", (1, 200))
def test_swings_are_the_sums_of_turns_cut_to_the_most(m):
    turns = np.random.default_rng(m).normal(size=(6, m))
    turns[:, ::4] *= 0.01
    turns[:, 3:4] = 0.0
    sums, most = np.cumsum(turns, axis=0), np.where(np.arange(m) % 3, 1.5, np.inf)
    swings = swings_of(turns, most, np.empty(6 * m))
    largest = np.abs(sums).max(axis=0)
    assert np.allclose(
        swings, np.where(largest > most, most / np.maximum(largest, 1e-9), 1.0) * sums, atol=1e-14
    )
    assert (np.abs(swings).max(axis=0) <= most * (1.0 + 1e-15)).all()


def test_angles_are_the_differences_of_headings():
    poses = np.random.default_rng(1).uniform(-3.0, 3.0, (7, 20))
    assert np.allclose(angles_of(np.cumsum(poses, axis=0)), poses, rtol=0.0, atol=1e-14)
    assert angles_of(np.array([0.5, 0.7])).tolist() == pytest.approx([0.5, 0.2])
