# SPDX-License-Identifier: GPL-3.0-or-later
"""Two bones and a hand with an angle: the best pose of all, with limits on any joint."""

import numpy as np
import pytest
from posed_chains import FREE, assert_within, known_poses, limited_chain

from ik2d_addon.core import Chain, Status, forward, solve_pose
from ik2d_addon.core.inputs import Floats, wrapped


@pytest.mark.parametrize("n", [2, 3])
def test_limits_of_the_first_joint_cost_nothing_of_two_bones_and_a_hand(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(5):
        chain = limited_chain(rng, n, free_root=False)
        _, tips, headings = known_poses(rng, chain, 40)
        found = solve_pose(chain, tips, headings)
        assert (found.status == Status.REACHED).all()
        assert_within(chain, found.angles)


@pytest.mark.parametrize("free_root", [False, True])
def test_two_bones_and_a_hand_are_as_near_to_the_angle_as_a_fine_sweep(free_root: bool) -> None:
    rng = np.random.default_rng(3)
    step = np.radians(0.1)
    sweep = np.arange(-np.pi, np.pi, step)
    missed = 0
    for _ in range(10):
        chain = limited_chain(rng, 3, free_root=free_root)
        _, (tip,), (heading,) = known_poses(rng, chain, 1)
        wanted = heading + rng.uniform(0.5, np.pi)
        found = solve_pose(chain, tip, wanted)
        away = np.abs(wrapped(sweep - wanted))[_can_have(chain, tip, sweep)]
        assert np.abs(forward(chain, found.angles)[-1] - tip).max() <= 1e-9 * chain.reach[1]
        assert_within(chain, found.angles)
        assert found.angle_error is not None
        assert away.min(initial=np.inf) - step <= found.angle_error <= away.min(initial=np.pi) + 1e-9
        assert bool(found.reached)
        assert (found.status == Status.ANGLE) == (found.angle_error > 1e-6)
        missed += int(found.status == Status.ANGLE)
    assert missed >= 5


def _can_have(chain: Chain, tip: Floats, headings: Floats) -> np.ndarray:
    """Return which headings (m,) two bones and a hand may have at a tip, by the law of cosines alone."""
    (first, second, hand), (low, high) = chain.lengths, chain.ranges.T
    wrist = tip - hand * np.stack((np.cos(headings), np.sin(headings)), axis=1)
    cosine = ((wrist**2).sum(axis=1) - first**2 - second**2) / (2.0 * first * second)
    able = np.zeros(len(headings), np.bool_)
    for side in (1.0, -1.0):
        elbow = side * np.arccos(np.clip(cosine, -1.0, 1.0))
        root = np.arctan2(wrist[:, 1], wrist[:, 0]) - np.arctan2(
            second * np.sin(elbow), first + second * np.cos(elbow)
        )
        pose = np.stack((wrapped(root), elbow, wrapped(headings - root - elbow)), axis=1)
        able |= (np.abs(cosine) <= 1.0) & ((pose >= low) & (pose <= high)).all(axis=1)
    return able


def test_two_bones_take_the_side_with_the_nearer_angle_and_the_bend_where_both_are_alike() -> None:
    chain, target = Chain([1.0, 1.0]), [1.2, 0.0]
    for bend in (1, -1):
        assert solve_pose(chain, target, 0.5, bend=bend).angles[1] > 0.0
        assert solve_pose(chain, target, -0.5, bend=bend).angles[1] < 0.0
        assert np.sign(solve_pose(chain, target, 0.0, bend=bend).angles[1]) == bend


def test_two_bones_and_a_hand_bend_to_the_side_asked_for_where_limits_allow_it() -> None:
    chain = Chain([1.0, 1.0, 0.4])
    for bend in (1, -1):
        assert np.sign(solve_pose(chain, [1.2, 0.3], 0.5, bend=bend).angles[1]) == bend
        bent = solve_pose(chain, [1.2, 0.3], 0.5, bend=bend, rest=[0.0, -0.5, 0.0])
        assert np.sign(bent.angles[1]) == -bend
    held = Chain([1.0, 1.0, 0.4], [FREE, [0.0, 3.0], FREE])
    found = solve_pose(held, [1.2, 0.3], 0.5, bend=-1)
    assert found.angles[1] > 0.0 and found.status == Status.REACHED
