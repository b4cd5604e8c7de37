# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole solve: which way fits which chain, what comes of it, and paths."""

import numpy as np
import pytest

from ik2d_addon.core import (
    CCDResult,
    Chain,
    IK2DError,
    Status,
    ccd_step,
    forward,
    solve_ccd,
    solve_ccd_path,
    solve_two_bone,
)


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
    path = solve_ccd_path(chain, targets, start=[0.1, 0.2, 0.3], posture_gain=0.0)
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


def there_and_back():
    """Targets from within the reach of 1 to beyond it, and back."""
    out = np.linspace(0.8, 1.1, 40)
    radius = np.concatenate([out, out[::-1]])
    return np.stack([radius, 0.2 * radius], axis=-1)


@pytest.mark.parametrize("bend", (1, -1))
@pytest.mark.parametrize("n", (2, 3, 6))
@pytest.mark.parametrize("limits", (None, [-3.2, 3.2]))
def test_on_a_path_the_side_of_the_pose_is_kept_where_a_target_out_of_reach_puts_it_on_a_line(
    n, bend, limits
):
    """The start bends to the side opposite to `bend`, which is for a start on a line only."""
    chain = Chain(np.ones(n) / n, None if limits is None else [limits] * n)
    path = there_and_back()
    start = solve_ccd(chain, path[0], start=np.zeros(n), bend=-bend).angles
    solution = solve_ccd_path(chain, path, start=start, bend=bend)
    assert (solution.status[35:45] == Status.TOO_FAR).all()
    assert np.abs(solution.angles[39, 1:]).max() <= 1e-6  # straight
    bends = np.sin(solution.angles[:, 1:]).sum(axis=1)
    assert (-bend * bends[solution.reached] > 0.0).all()
    # From the straight chain on, alone, it is the side asked for.
    alone = solve_ccd(chain, path[-1], start=solution.angles[39], bend=bend)
    assert bend * np.sin(alone.angles[1:]).sum() > 0.0


@pytest.mark.parametrize("side", (1, -1))
def test_the_side_that_is_kept_is_the_last_one_and_not_the_first(side):
    """The sweeps to the first target take this chain over to the side that it did not start on."""
    chain, start = Chain(np.ones(3) / 3.0), np.full(3, -0.3 * side)
    path = there_and_back() * [1, side]
    solution = solve_ccd_path(chain, path, start=start, bend=-side, posture_gain=0.0)
    bends = np.sin(solution.angles[:, 1:]).sum(axis=1)
    before, after = (np.flatnonzero(solution.reached[rows]) for rows in (slice(40), slice(40, None)))
    assert side * bends[before[-1]] > 0.0
    assert side * bends[40 + after[0]] > 0.0


@pytest.mark.parametrize("bend", (1, -1))
@pytest.mark.parametrize("lengths", ([3.0, 1.0], [1.0, 3.0], [1.0, 4.0, 1.0]))
def test_a_straight_chain_folds_to_the_side_asked_for(lengths, bend):
    for many in (1, 20):
        solution = solve_ccd(Chain(lengths), [[0.5, 0.3]] * many, start=np.zeros(len(lengths)), bend=bend)
        assert (solution.status == Status.TOO_CLOSE).all()
        folds = solution.angles[:, 1:]
        assert np.isclose(np.abs(folds), np.pi, rtol=0.0, atol=1e-12).any(axis=1).all()
        assert (bend * folds >= 0.0).all()


@pytest.mark.parametrize("bend", (1, -1))
def test_a_folded_chain_unfolds_to_the_side_asked_for(bend):
    chain, folded = Chain(np.ones(3)), np.array([0.0, np.pi, 0.0])
    solution = solve_ccd(chain, [-0.8, 0.0], start=folded, bend=bend)
    mirrored = solve_ccd(chain, [-0.8, 0.0], start=-folded, bend=-bend)
    assert solution.status == Status.REACHED
    assert np.allclose(solution.angles, -mirrored.angles, rtol=0.0, atol=1e-9)
    assert bend * solution.angles[2] > 0.0


@pytest.mark.parametrize("limits", ([-1.0, 1.0], [2.0, 2.5], [6.0, 7.0], [np.nan, 0.5]))
def test_one_bone_with_limits_points_as_nearly_as_they_allow(limits):
    chain = Chain([2.0], [limits])
    low, high = chain.limits[0]
    turns = np.linspace(max(low, high - 7.0), min(high, 7.0), 4001)
    directions = np.linspace(-3.0, 3.0, 25)
    targets = 2.0 * np.stack([np.cos(directions), np.sin(directions)], axis=-1)
    solution = solve_ccd(chain, targets, start=[0.0])
    nearest = np.abs(np.exp(1j * turns)[:, np.newaxis] - np.exp(1j * directions)).min(axis=0) * 2.0
    assert (solution.residual <= nearest + 1e-9).all()
    assert (solution.angles >= low).all() and (solution.angles <= high).all()
    assert not solution.iterations.any()
    held = ~solution.reached
    assert (solution.status[held] == Status.LIMITED).all()
    assert solution.limited[held].all()
    near = solve_ccd(Chain([2.0], [[-18.0, 18.0]]), [0.0, 2.0], start=[13.0])
    assert near.angles[0] == pytest.approx(np.pi / 2.0 + 4.0 * np.pi)


@pytest.mark.parametrize("many", (1, 30))
def test_two_bones_with_limits_are_solved_by_the_formula_on_the_side_of_the_start(many):
    rng = np.random.default_rng(20)
    chain = Chain([1.0, 0.8], [[-2.5, 2.5], [-2.0, 1.5]])
    targets, starts = rng.uniform(-1.5, 1.5, (many, 2)), rng.uniform(-2.0, 1.4, (many, 2))
    starts[::3, 1] = 0.0
    bend = rng.choice([-1, 1], many)
    solution = solve_ccd(chain, targets, start=starts, bend=bend)
    sides = np.where(starts[:, 1] == 0.0, bend, np.sign(starts[:, 1]))
    exact = solve_two_bone(chain, targets, bend=sides, start=starts)
    assert np.array_equal(solution.angles, exact.angles)
    assert np.array_equal(solution.status, exact.status)
    assert not solution.iterations.any()


def test_a_start_beyond_its_limits_is_put_within_them_first():
    chain = Chain(np.ones(3), [[-1.0, 1.0]] * 3)
    target = forward(chain, [0.5, 0.6, 0.7])[-1]
    solution = solve_ccd(chain, target, start=[9.0, -9.0, 50.0])
    assert solution.status == Status.REACHED
    assert np.abs(solution.angles).max() <= 1.0
    still = solve_ccd(Chain([1.0, 1.0], [[0.2, 0.2], [0.3, 0.3]]), [1.0, 1.0], start=[5.0, 5.0])
    assert still.angles.tolist() == [0.2, 0.3]
    assert still.status == Status.LIMITED
    assert still.limited.all()


def test_limited_is_said_only_where_limits_or_rigid_joints_keep_the_tip_away():
    """Too fine a tolerance: nothing holds the chain back, and still it does not arrive."""
    rng = np.random.default_rng(21)
    targets = rng.uniform(-1.0, 1.0, (30, 2))
    start = [0.1, 0.2, 0.3]
    for limits in (None, [[-3.0, 3.0]] * 3):
        fine = solve_ccd(Chain(np.ones(3), limits), targets, start=start, tolerance=1e-20)
        assert (fine.status == np.where(fine.residual > 1e-20, Status.STALLED, Status.REACHED)).all()
        assert (fine.status == Status.STALLED).sum() > 20
        assert fine.residual.max() <= 1e-12
    rigid = solve_ccd(Chain(np.ones(3), weights=[1.0, 0.0, 1.0]), targets, start=start, tolerance=1e-20)
    missed = rigid.residual > 1e-20
    expected = np.where(rigid.residual > 1e-12, Status.LIMITED, Status.STALLED)
    assert (rigid.status[missed] == expected[missed]).all()
    assert {Status.LIMITED, Status.STALLED} <= set(rigid.status.tolist())
    unwilling = solve_ccd(Chain(np.ones(3), weights=[1.0, 0.1, 1.0]), targets, start=start, tolerance=1e-20)
    assert (unwilling.status == Status.STALLED).sum() > 20
    held = solve_ccd(Chain(np.ones(3), [[-0.1, 0.1]] * 3), [[0.0, 2.0]], start=np.zeros(3))
    assert held.status.tolist() == [Status.LIMITED]
    assert held.limited.all()


@pytest.mark.parametrize(
    ("limits", "weights"),
    [(None, [1.0, 0.0, 1.0]), ([[-4.0, 4.0], [1.5, 2.5], [-1.0, 1.0]], None)],
    ids=["pinned", "limits"],
)
def test_a_target_is_limited_where_the_tip_misses_it_by_more_than_the_tolerance(limits, weights):
    """The second joint is at 1.5, or no straighter: the tip is farthest with the third bone straight on."""
    chain = Chain([1.0, 1.0, 1.0], limits, weights)
    limit, off = 1e-4 * chain.reach[1], np.array([0.0, 0.6, 0.95, 1.05, 1.9, 3.0])
    targets = np.outer(2.0 * np.cos(0.75) + 1.0 + off * limit, [0.6, 0.8])
    for solve in (solve_ccd, solve_ccd_path):
        solution = solve(chain, targets, start=[0.0, 1.5, 0.2], tolerance=limit)
        assert solution.status.tolist() == [Status.REACHED] * 3 + [Status.LIMITED] * 3
        assert np.allclose(solution.residual[3:], off[3:] * limit, rtol=0.0, atol=0.01 * limit)


@pytest.mark.parametrize("n", (3, 20, 100))
def test_below_what_rounding_leaves_no_corrections_are_wasted(n):
    rng = np.random.default_rng(n)
    chain, start = Chain(np.ones(n)), rng.uniform(0.0, 1.0, n) * 2.0 / n
    target = forward(chain, start)[-1] * [0.9, 0.95]
    for tolerance in (1e-12 * n, 1e-18):
        solution = solve_ccd(chain, target, start=start, tolerance=tolerance)
        assert solution.iterations <= 10
        assert solution.residual <= 5e-13 * n
    assert solve_ccd(chain, target, start=start, tolerance=1e-12 * n).reached


def test_the_tip_comes_to_half_the_tolerance_so_that_rounding_makes_no_one_miss_it():
    rng = np.random.default_rng(22)
    chain = Chain(rng.uniform(0.5, 1.0, 5))
    targets = rng.uniform(-2.0, 2.0, (200, 2))
    for tolerance in (1e-2, 1e-5):
        batch = solve_ccd(chain, targets, start=np.full(5, 0.2), tolerance=tolerance)
        alone = [
            solve_ccd(chain, t, start=np.full(5, 0.2), tolerance=tolerance).residual for t in targets[:40]
        ]
        for residual in (batch.residual, np.array(alone)):
            assert residual.max() <= 0.5 * tolerance * (1.0 + 1e-9)
            assert residual.max() > 0.25 * tolerance


def test_most_corrections_from_one_start_are_those_asked_for():
    chain, start = Chain(np.ones(4)), [0.1, 0.2, 0.1, 0.2]
    target = forward(chain, start)[-1] * 0.9
    usual = solve_ccd(chain, target, start=start)
    assert 2 < usual.iterations < 10
    for most in (1, 2):
        few = solve_ccd(chain, target, start=start, max_iterations=most)
        assert few.iterations == most
        assert few.reached  # by the search between two poses
    for wrong in (0, -1):
        with pytest.raises(IK2DError, match=f"^max_iterations must be a whole .* 1000000, not {wrong}$"):
            solve_ccd(chain, target, start=start, max_iterations=wrong)
        with pytest.raises(IK2DError, match=f"^max_iterations must be a whole .* 1000000, not {wrong}$"):
            solve_ccd_path(chain, [target], start=start, max_iterations=wrong)


@pytest.mark.parametrize("limits", (None, [-1.2, 1.2]))
@pytest.mark.parametrize("n", (1, 2, 4))
def test_a_path_of_any_chain_is_its_frames_in_turn(n, limits):
    rng = np.random.default_rng(n)
    chain = Chain(rng.uniform(0.5, 1.0, n), None if limits is None else [limits] * n)
    targets = rng.uniform(0.1, 0.35, (20, 2)) * n
    start = np.full(n, 0.3)
    path = solve_ccd_path(chain, targets, start=start, posture_gain=0.0)
    for frame, target in enumerate(targets):
        alone = solve_ccd(chain, target, start=start)
        if limits is None or n > 2:
            assert np.array_equal(path.angles[frame], alone.angles)
            assert path.iterations[frame] == alone.iterations
            start = alone.angles
        assert path.status[frame] == alone.status
        assert path.residual[frame] == pytest.approx(alone.residual, abs=1e-9)


def test_a_path_takes_one_start_and_one_side():
    chain = Chain([1.0, 1.0])
    message = r"^a path takes targets of shape \(frames, 2\) and one start of shape \(n,\)$"
    for targets, start in (([1, 0], [0, 0]), ([[1, 0]], [[0, 0]]), ([[[1, 0]]], [0, 0])):
        with pytest.raises(IK2DError, match=message):
            solve_ccd_path(chain, targets, start=start)
    for name in ("bend", "softness"):
        message = rf"^a path takes one {name} or 2, one a frame, not of shape \(3,\)$"
        with pytest.raises(IK2DError, match=message):
            solve_ccd_path(chain, [[1, 0], [0, 1]], start=[0, 0], **{name: [1, 1, 1]})


@pytest.mark.parametrize("limits", (None, [[-1.0, 1.0]] * 2))
def test_a_chain_of_no_length_stays_in_its_start(limits):
    solution = solve_ccd(Chain([0.0, 0.0], limits), [[0.0, 0.0], [1.0, 0.0]], start=[0.3, 0.4])
    assert solution.angles.tolist() == [[0.3, 0.4]] * 2
    assert solution.status.tolist() == [Status.REACHED, Status.TOO_FAR]
    assert solution.iterations.tolist() == [0, 0]


@pytest.mark.parametrize("n", (1, 2, 4))
@pytest.mark.parametrize("limits", (None, [-3.0, 3.0]))
def test_huge_targets_and_tiny_chains_are_pointed_at(n, limits):
    for many in (1, 20):
        with np.errstate(all="raise", under="ignore"):
            chain = Chain(np.full(n, 1e-120), None if limits is None else [limits] * n)
            solution = solve_ccd(chain, np.tile([3e250, -4e250], (many, 1)), start=np.full(n, 0.1))
        assert (solution.status == Status.TOO_FAR).all()
        assert np.allclose(solution.residual, 5e250, rtol=1e-14, atol=0.0)
        assert np.allclose(np.cumsum(solution.angles, axis=1), -0.9272952180016122, rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("slides", (None, [[0.0, 0.0], [-0.2, 0.4], [0.0, 0.3]]))
def test_without_a_start_the_chain_starts_straight(slides):
    chain, targets = Chain([1.0, 0.8, 0.6], slides=slides), [[1.5, 0.3], [1.5, 0.4]]
    straight = solve_ccd(chain, targets, start=[0.0] * 3)
    assert np.array_equal(solve_ccd(chain, targets).angles, straight.angles)
