# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains walked backwards: the nearest angle of all, and the least bend."""

import numpy as np
import pytest
from posed_chains import assert_within, known_poses, limited_chain

from ik2d_addon.core import Chain, Status, forward, reachable, solve_pose
from ik2d_addon.core.inputs import Floats, wrapped


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 7])
def test_longer_chains_are_as_near_to_the_angle_as_a_fine_sweep(n: int) -> None:
    rng = np.random.default_rng(n)
    chain, step = limited_chain(rng, n), np.radians(0.1)
    known, tips, headings = known_poses(rng, chain, 30)
    wanted = headings + rng.uniform(-np.pi, np.pi, 30)
    found = solve_pose(chain, tips, wanted)
    assert found.angle_error is not None
    assert np.abs(forward(chain, found.angles)[:, -1] - tips).max() <= 1e-9 * chain.reach[1]
    assert_within(chain, found.angles)
    assert (found.angle_error <= np.abs(wrapped(headings - wanted)) + 1e-9).all()
    # A heading is to be had where the root is in the region of the chain walked backwards.
    backwards = reachable(Chain(chain.lengths[-2::-1], -chain.ranges[:0:-1, ::-1]))
    sweep = np.arange(-np.pi, np.pi, step)
    for row in range(30):
        wrist = tips[row] - chain.lengths[-1] * np.stack((np.cos(sweep), np.sin(sweep)), axis=1)
        x, y = wrist.T
        goals = np.stack(
            (np.cos(sweep) * x + np.sin(sweep) * y, np.cos(sweep) * y - np.sin(sweep) * x), axis=1
        )
        least = np.abs(wrapped(sweep - wanted[row]))[backwards.contains(goals)].min(initial=np.inf)
        assert least - step <= found.angle_error[row] <= least + 1e-9
    assert 5 <= (found.status == Status.ANGLE).sum() < 30


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 6])
def test_no_pose_of_the_same_tip_and_angle_that_comes_down_bends_less(n: int) -> None:
    rng = np.random.default_rng(n)
    chain, rest = limited_chain(rng, n), rng.uniform(-0.3, 0.3, n)
    known, tips, headings = known_poses(rng, chain, 20)
    both = [solve_pose(chain, tips, headings, rest=rest, bend=bend).angles for bend in (1, -1)]
    least = np.minimum(*(_bend(poses, rest) for poses in both))
    assert (least <= _bend(_come_down(chain, rest, known), rest) + 1e-9).all()


def _bend(poses: Floats, rest: Floats) -> Floats:
    return ((poses - rest)[:, 1:] ** 2).sum(axis=1)


def _come_down(chain: Chain, rest: Floats, poses: Floats) -> Floats:
    """Return poses (m, n) that bend less, tip and heading the same, by small steps within the limits."""
    least, size = poses.copy(), np.full(len(poses), 0.1)
    tips, headings = forward(chain, poses)[:, -1], poses.sum(axis=1)
    low, high = chain.ranges.T
    for _ in range(60):
        for row in range(len(poses)):
            pose = least[row].copy()
            way = np.where(np.arange(len(rest)) == 0, 0.0, rest - pose)
            pose = np.clip(pose + size[row] * way, low, high)
            for _ in range(6):
                joints = forward(chain, pose)
                arms = joints[-1] - joints[:-1]
                jacobian = np.array((-arms[:, 1], arms[:, 0], np.ones(len(rest))))
                off = np.append(tips[row] - joints[-1], headings[row] - pose.sum())
                pose = np.clip(pose + np.linalg.pinv(jacobian) @ off, low, high)
            off_tip = np.abs(forward(chain, pose)[-1] - tips[row]).max()
            good = off_tip < 1e-9 and abs(headings[row] - pose.sum()) < 1e-9
            if good and _bend(pose[None], rest) < _bend(least[row][None], rest):
                least[row] = pose
            else:
                size[row] *= 0.5
    return least


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 6])
def test_longer_chains_bend_to_the_side_asked_for(n: int) -> None:
    chain = Chain(np.ones(n))
    for bend in (1, -1):
        found = solve_pose(chain, [0.6 * n, 0.0], 0.0, bend=bend)
        assert np.sign(found.angles[1:-1].sum()) == bend
        rest = np.full(n, -0.1)
        assert (
            np.sign(solve_pose(chain, [0.6 * n, 0.0], 0.0, bend=bend, rest=rest).angles[1:-1].sum()) == -bend
        )
