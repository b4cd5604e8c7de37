# SPDX-License-Identifier: GPL-3.0-or-later
"""Many poses at once get the arms and the turns that each of them gets alone."""

import numpy as np
import pytest

from ik2d_addon.core.arithmetic import FEW
from ik2d_addon.core.ccd.correction import arms_to_tip, least_turns
from ik2d_addon.core.ccd.corrections import arms_of, least_turns_of


def random_poses(n, m):
    """Lengths that add up to 1, poses (n, m) some of which are nearly straight, and errors (2, m)."""
    rng = np.random.default_rng([n, m])
    lengths, poses = rng.uniform(0.2, 1.0, n), rng.uniform(-3.0, 3.0, (n, m))
    poses[1:, ::5] = 1e-3
    return lengths / lengths.sum(), poses, 0.1 * rng.normal(size=(2, m))


@pytest.mark.parametrize("m", (1, 7, FEW, 200))
@pytest.mark.parametrize("n", (1, 2, 6, 60))
def test_arms_are_those_of_each_pose_alone_the_root_first(n, m):
    lengths, poses, _ = random_poses(n, m)
    given = poses.copy()
    arms = np.array(arms_of(lengths, poses))
    for row in range(m):
        alone = np.array(arms_to_tip(lengths.tolist(), poses[:, row].tolist()))[:, ::-1]
        assert np.allclose(arms[:, :, row], alone, rtol=0.0, atol=2e-15)
    assert (poses == given).all()


def test_arms_depend_on_no_other_pose():
    lengths, poses, _ = random_poses(12, 3 * FEW)
    together = np.array(arms_of(lengths, poses))
    for part in (slice(0, 1), slice(3, 3 + FEW // 2), slice(5, 2 * FEW)):
        assert (np.array(arms_of(lengths, poses[:, part].copy())) == together[:, :, part]).all()


@pytest.mark.parametrize("weights", (None, (1.0, 0.0, 0.5, 1.0, 0.2)))
@pytest.mark.parametrize("m", (1, 50, 200))
def test_turns_are_those_of_each_pose_alone(m, weights):
    lengths, poses, errors = random_poses(5, m)
    willing = np.ones(5) if weights is None else np.array(weights)
    turns = least_turns_of(arms_of(lengths, poses), willing, *errors)
    for row in range(m):
        arms = arms_to_tip(lengths.tolist(), poses[:, row].tolist())
        alone = least_turns(arms, willing[::-1].tolist(), *errors[:, row].tolist())
        assert np.allclose(turns[:, row], alone, rtol=1e-6, atol=1e-12)


def test_a_tip_on_its_target_turns_nothing():
    lengths, poses, _ = random_poses(5, 4)
    for weights in (np.ones(5), np.array([1.0, 0.0, 0.5, 1.0, 0.2])):
        turns = least_turns_of(arms_of(lengths, poses), weights, np.zeros(4), np.zeros(4))
        assert (turns == 0.0).all()
