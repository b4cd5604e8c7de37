# SPDX-License-Identifier: GPL-3.0-or-later
"""A sweep of many poses at once gives each what it gets alone."""

import numpy as np
import pytest

from ik2d_addon.core import Chain
from ik2d_addon.core.ccd.sweep import Bones, sweep, swept


def swept_at_once(bones, poses, points):
    n, m = poses.shape
    return swept(bones, poses, points, np.empty(4 * (n + 1) * m))


@pytest.mark.parametrize("weighted", (False, True))
@pytest.mark.parametrize("m", (1, 20, 100))
@pytest.mark.parametrize("n", (1, 2, 3, 8, 50))
def test_each_pose_gets_what_it_gets_alone(n, m, weighted):
    rng = np.random.default_rng([n, m])
    weights = rng.uniform(0.1, 1.0, n) if weighted else None
    whole = Bones.of(Chain(rng.uniform(0.2, 1.0, n), weights=weights))
    poses, points = rng.uniform(-9.0, 9.0, (n, m)), rng.uniform(-1.0, 1.0, (2, m))
    given = poses.copy()
    for bones in (whole, whole.sharing):
        found = swept_at_once(bones, poses, points)
        for row in range(m):
            alone = sweep(bones, poses[:, row].tolist(), *points[:, row].tolist())
            assert np.allclose(found[:, row], alone, rtol=0.0, atol=1e-9)
    assert (poses == given).all()


def test_joints_without_a_defined_angle_stay_as_they_are():
    """A target on a joint, a tip on a joint, a bone without length; beside poses that have none of these."""
    bones = Bones([0.5, 0.25, 0.25, 0.0], [1.0] * 4, [-np.inf] * 4, [np.inf] * 4)
    poses = np.array(
        [[0.0, 0.0, 0.0, 0.0], [0.0, np.pi, 0.0, 0.3], [0.4, 0.3, np.pi, 0.0], [0.2, 0.1, 0.3, 0.7]]
    ).T
    points = np.array([[0.5, 0.0], [0.2, 0.1], [0.3, 0.3], [0.1, 0.6]]).T
    found = swept_at_once(bones, poses, points)
    assert (found[3] == poses[3]).all()
    for row in range(4):
        alone = sweep(bones, poses[:, row].tolist(), *points[:, row].tolist())
        assert np.allclose(found[:, row], alone, rtol=0.0, atol=1e-9)


def test_half_a_turn_is_to_the_left():
    bones = Bones.of(Chain([1.0]))
    found = swept_at_once(bones, np.array([[0.0, 0.0]]), np.array([[-1.0, -0.5], [0.0, -0.0]]))
    assert found[0].tolist() == pytest.approx([np.pi, np.pi])
