# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole solve: which way fits which chain, what comes of it, and paths."""

import numpy as np
import pytest

from ik2d_addon.core import CCDResult, Chain, IK2DError, Status, ccd_step, forward, solve_ccd, solve_ccd_path


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
