# SPDX-License-Identifier: GPL-3.0-or-later
"""Cyclic coordinate descent: one iteration as in the article, and the whole solve."""

import cmath

import numpy as np
import pytest

from ik2d_addon.core import CCDResult, Chain, IK2DError, Status, ccd_step, forward, solve_ccd, solve_ccd_path


def reference_step(lengths, angles, target, tolerance):
    """One iteration on complex numbers: the turn at a joint is the phase of aim / arm."""
    angles, goal = list(angles), complex(*target)
    reach, moved = sum(lengths), False
    for i in reversed(range(len(angles))):
        joints = [0j]
        for k, length in enumerate(lengths):
            joints.append(joints[-1] + cmath.rect(length, sum(angles[: k + 1])))
        arm, aim = joints[-1] - joints[i], goal - joints[i]
        turn = cmath.phase(aim / arm) if abs(arm) * abs(aim) > 1e-12 * reach**2 else 0.0
        angles[i] += turn
        moved |= abs(turn) * abs(arm) > 0.01 * tolerance
        tip = joints[i] + arm * cmath.rect(1.0, turn)
        if abs(goal - tip) <= tolerance:
            return angles, "SUCCESS"
    return angles, "PROCESSING" if moved else "FAILURE"


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 50])
def test_one_iteration_equals_the_articles(n):
    rng = np.random.default_rng(n)
    for _ in range(100):
        lengths = rng.uniform(0.1, 1.0, n) * 10.0 ** rng.uniform(-3, 3)
        chain = Chain(lengths)
        angles = rng.uniform(-np.pi, np.pi, n)
        target = rng.uniform(-1, 1, 2) * chain.reach[1]
        tolerance = 10.0 ** rng.uniform(-6, -1) * chain.reach[1]
        new, result = ccd_step(chain, angles, target, tolerance=tolerance)
        expected, name = reference_step(lengths.tolist(), angles, target, tolerance)
        assert result.name == name
        joints, expected_joints = forward(chain, new), forward(chain, expected)
        assert np.abs(joints - expected_joints).max() <= 1e-7 * chain.reach[1]


def test_figure_2_one_iteration_turns_each_joint_once_from_the_tip():
    chain, start, target = Chain([1.0, 1.0, 1.0]), np.zeros(3), np.array([1.0, 1.5])
    new, result = ccd_step(chain, start, target, tolerance=1e-9)
    # The last joint points bone 3 at the target; the others then turn what hangs on them.
    assert new[2] == pytest.approx(np.arctan2(1.5, -1.0))
    assert (new != start).all()
    assert result is CCDResult.PROCESSING
    before, after = (np.linalg.norm(forward(chain, a)[-1] - target) for a in (start, new))
    assert after < 0.5 * before


def test_an_iteration_never_moves_the_tip_away():
    rng = np.random.default_rng(8)
    for _ in range(300):
        n = rng.integers(1, 12)
        chain = Chain(rng.uniform(0.1, 1.0, n))
        angles, target = rng.uniform(-np.pi, np.pi, n), rng.uniform(-1, 1, 2) * chain.reach[1]
        new, _ = ccd_step(chain, angles, target, tolerance=1e-9)
        before, after = (np.linalg.norm(forward(chain, a)[-1] - target) for a in (angles, new))
        assert after <= before + 1e-12 * chain.reach[1]


def test_success_within_the_tolerance():
    angles, result = ccd_step(Chain([1.0, 1.0]), [0.1, 0.2], [0.0, 1.0], tolerance=10.0)
    assert result is CCDResult.SUCCESS
    assert angles[0] == 0.1  # it stopped at the first joint that brought the tip there


def test_failure_when_no_joint_can_move_the_tip_nearer():
    angles, result = ccd_step(Chain([1.0, 1.0]), [0.0, 0.0], [5.0, 0.0], tolerance=1e-6)
    assert result is CCDResult.FAILURE
    assert np.array_equal(angles, [0.0, 0.0])


def test_angles_that_turned_are_wrapped():
    angles, _ = ccd_step(Chain([1.0, 1.0]), [3.0, 3.0], [-0.3, -1.2], tolerance=1e-9)
    assert (np.abs(angles) <= np.pi).all()


def test_figure_3_locks_the_iteration_but_not_the_solver():
    chain, target = Chain([1.0, 1.0]), [0.6, 0.0]
    angles, result = ccd_step(chain, [0.0, 0.0], target, tolerance=1e-6)
    assert angles[1] == pytest.approx(np.pi)  # figure 3c: the second bone has folded back
    assert result is CCDResult.PROCESSING
    locked, result = ccd_step(chain, angles, target, tolerance=1e-6)
    assert result is CCDResult.FAILURE
    for start in ([0.0, 0.0], locked):  # figure 3a, and 3c itself
        solution = solve_ccd(chain, target, start=start)
        assert solution.status == Status.REACHED
        assert solution.residual <= 1e-6 * 2.0


@pytest.mark.parametrize("n", [3, 5, 12])
def test_gentle_paths_are_followed_to_the_tolerance(n):
    chain = Chain(np.linspace(1.0, 0.4, n))
    turn = np.linspace(0, 2 * np.pi, 200)
    center, radius = 0.55 * chain.reach[1], 0.2 * chain.reach[1]
    targets = np.stack((center + radius * np.cos(turn), radius * np.sin(turn)), axis=1)
    solution = solve_ccd_path(chain, targets, start=np.full(n, 0.3))
    assert (solution.status == Status.REACHED).all()
    tips = forward(chain, solution.angles)[:, -1]
    assert np.linalg.norm(tips - targets, axis=1).max() <= 1e-6 * chain.reach[1]
    assert np.allclose(solution.residual, np.linalg.norm(tips - targets, axis=1), atol=1e-15)


def test_article_each_frame_starts_from_the_one_before():
    chain = Chain([1.0, 0.8, 0.6])
    targets = np.array([[1.5, 0.5], [1.4, 0.6], [1.3, 0.7]])
    path = solve_ccd_path(chain, targets, start=[0.1, 0.2, 0.3])
    start = np.array([0.1, 0.2, 0.3])
    for i, target in enumerate(targets):
        alone = solve_ccd(chain, target, start=start)
        assert np.array_equal(path.angles[i], alone.angles)
        start = alone.angles


def test_a_target_that_stays_leaves_the_pose_as_it_is():
    chain = Chain([1.0, 0.8, 0.6])
    solution = solve_ccd_path(chain, [[1.0, 1.0]] * 3, start=[0.1, 0.2, 0.3])
    assert np.array_equal(solution.angles[0], solution.angles[2])
    assert solution.iterations[2] == 0


@pytest.mark.parametrize(("lengths", "tip"), [([1, 2, 1], 4.0), ([0, 1], 1.0), ([2], 2.0)])
def test_too_far_stretches_the_chain_at_the_target(lengths, tip):
    chain = Chain(lengths)
    solution = solve_ccd(chain, [0.0, 9.0], start=np.full(len(lengths), 0.4))
    assert solution.status == Status.TOO_FAR
    assert np.allclose(forward(chain, solution.angles)[-1], [0.0, tip])
    assert solution.residual == pytest.approx(9.0 - tip)


@pytest.mark.parametrize("lengths", [[5, 1, 1], [1, 5, 1], [1, 1, 5]])
def test_too_close_folds_the_chain_to_the_targets_side(lengths):
    chain = Chain(lengths)
    solution = solve_ccd(chain, [0.0, 1.0], start=[0.1, 0.2, 0.3])
    assert solution.status == Status.TOO_CLOSE
    assert np.allclose(forward(chain, solution.angles)[-1], [0.0, 3.0])
    at_root = solve_ccd(chain, [0.0, 0.0], start=[0.1, 0.2, 0.3])
    assert at_root.status == Status.TOO_CLOSE
    assert at_root.residual == pytest.approx(3.0)


def test_angles_do_not_depend_on_the_size_of_the_rig():
    lengths, start, target = np.array([1.0, 0.8, 0.6]), [0.4, 0.5, -0.6], np.array([1.1, 0.4])
    one = solve_ccd(Chain(lengths), target, start=start)
    for scale in (1e-4, 1e4):
        other = solve_ccd(Chain(lengths * scale), target * scale, start=start)
        assert np.allclose(one.angles, other.angles, rtol=0, atol=1e-9)
        assert one.iterations == other.iterations


def test_targets_and_starts_broadcast():
    chain = Chain([1.0, 0.8, 0.6])
    targets = np.random.default_rng(9).uniform(-1, 1, (4, 1, 2))
    starts = np.random.default_rng(10).uniform(-1, 1, (3, 3))
    solution = solve_ccd(chain, targets, start=starts)
    assert solution.angles.shape == (4, 3, 3)
    assert solution.status.shape == solution.residual.shape == solution.iterations.shape == (4, 3)
    alone = solve_ccd(chain, targets[1, 0], start=starts[2])
    assert np.array_equal(solution.angles[1, 2], alone.angles)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda c: ccd_step(c, [0, 0], [np.nan, 0], tolerance=1e-6), "finite"),
        (lambda c: ccd_step(c, [0], [1, 0], tolerance=1e-6), "angles"),
        (lambda c: ccd_step(c, [[0, 0]], [1, 0], tolerance=1e-6), "one chain"),
        (lambda c: solve_ccd(c, [1, 0], start=[0, np.inf]), "start"),
        (lambda c: solve_ccd(c, [1, 0], start=[0, 0], tolerance=np.nan), "tolerance"),
        (lambda c: solve_ccd_path(c, [1, 0], start=[0, 0]), "path"),
        (lambda c: solve_ccd_path(c, [[1, 0]], start=[[0, 0]]), "path"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(IK2DError, match=words):
        call(Chain([1.0, 1.0]))
