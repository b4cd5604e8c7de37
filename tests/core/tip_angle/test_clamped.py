# SPDX-License-Identifier: GPL-3.0-or-later
"""Arms held at both ends: small steps to less bend, and to a nearer heading."""

import numpy as np
from posed_chains import assert_within, known_poses, limited_chain

from ik2d_addon.core import forward
from ik2d_addon.core.inputs import Floats, wrapped
from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.clamped import Clamped


def clamped_arm(n: int, count: int) -> tuple[Clamped, Floats]:
    """Return an arm with limits on all joints, held on the tips of random poses (count, n), and these."""
    rng = np.random.default_rng(n)
    chain = limited_chain(rng, n, free_root=False)
    arm = Arm.of(chain, rng.uniform(-0.2, 0.2, n))
    poses, tips, _ = known_poses(rng, arm.chain, count)
    return Clamped(arm, tips), poses


def test_steps_to_less_bend_keep_tip_and_heading() -> None:
    for n in (4, 6):
        clamped, poses = clamped_arm(n, 10)
        found = clamped.with_less_bend(poses)
        assert_within(clamped.arm.chain, found)
        assert np.abs(forward(clamped.arm.chain, found)[:, -1] - clamped.points).max() <= 1e-9
        assert np.abs(wrapped(found.sum(axis=1) - poses.sum(axis=1))).max() <= 1e-9
        bends = clamped.arm.bend(found), clamped.arm.bend(poses)
        assert (bends[0] <= bends[1]).all() and bends[0].mean() < 0.8 * bends[1].mean()


def test_poses_are_led_to_a_heading_with_their_tips_held() -> None:
    clamped, poses = clamped_arm(6, 10)
    bent = clamped.with_less_bend(poses)
    found = clamped.turned(bent, poses.sum(axis=1) + 0.02)
    assert_within(clamped.arm.chain, found)
    assert np.abs(forward(clamped.arm.chain, found)[:, -1] - clamped.points).max() <= 1e-9
    off = np.abs(wrapped(found.sum(axis=1) - poses.sum(axis=1) - 0.02))
    assert (off <= 0.02 + 1e-9).all() and (off <= 1e-9).sum() >= 7


def test_heading_that_limits_forbid_is_come_near_to() -> None:
    clamped, poses = clamped_arm(4, 5)
    found = clamped.turned(poses, poses.sum(axis=1) + 3.0)
    assert_within(clamped.arm.chain, found)
    left = np.abs(wrapped(poses.sum(axis=1) + 3.0 - found.sum(axis=1)))
    assert (left > 0.1).all() and (left <= 3.0).all()
    assert np.abs(forward(clamped.arm.chain, found)[:, -1] - clamped.points).max() <= 1e-9
