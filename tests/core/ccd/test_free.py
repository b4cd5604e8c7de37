# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every chain without limits: each target of the annulus is reached."""

import numpy as np
import pytest
from chains import LENGTHS, STARTS, random_lengths, random_start, targets_in_annulus

from ik2d_addon.core import Chain, Status, forward, solve_ccd, solve_ccd_path

BONES = (1, 2, 3, 4, 5, 7, 10, 20, 50, 100, 200)


def tip_errors(chain, solution, targets):
    return np.hypot(*(forward(chain, solution.angles)[..., -1, :] - targets).T)


def problems(n, per_kind):
    """Yield chains with starts (m, n) and targets (m, 2): 5 kinds of lengths times 5 kinds of start."""
    for kind in LENGTHS:
        for pose in STARTS:
            rng = np.random.default_rng([n, LENGTHS.index(kind), STARTS.index(pose)])
            chain = Chain(random_lengths(rng, n, kind))
            starts = np.array([random_start(rng, n, pose) for _ in range(per_kind)])
            yield chain, starts, targets_in_annulus(rng, chain, per_kind)


@pytest.mark.parametrize("n", BONES)
def test_tip_reaches_every_target_in_the_annulus(n):
    for chain, starts, targets in problems(n, 50):  # 13,750 problems in all
        solution = solve_ccd(chain, targets, start=starts)
        assert (solution.status == Status.REACHED).all()
        assert tip_errors(chain, solution, targets).max() <= 1e-6 * chain.reach[1]


@pytest.mark.parametrize("n", BONES)
def test_one_target_at_a_time_is_reached_as_well(n):
    for chain, starts, targets in problems(n, 5):
        for start, target in zip(starts, targets, strict=True):
            solution = solve_ccd(chain, target, start=start)
            assert solution.status == Status.REACHED
            assert solution.residual <= 1e-6 * chain.reach[1]


@pytest.mark.parametrize("n", (2, 3, 5, 10, 50, 200))
def test_a_tolerance_of_a_billionth_is_kept(n):
    for chain, starts, targets in problems(n, 20):
        tolerance = 1e-9 * chain.reach[1]
        solution = solve_ccd(chain, targets, start=starts, tolerance=tolerance)
        assert (solution.status == Status.REACHED).all()
        assert tip_errors(chain, solution, targets).max() <= tolerance


@pytest.mark.parametrize("n", (1, 2, 3, 10, 50))
def test_targets_off_the_annulus_get_the_nearest_pose(n):
    for seed in range(4):
        rng = np.random.default_rng([n, seed])
        lengths = random_lengths(rng, n, "random")
        lengths[seed % n] = 1.5 * lengths.sum()  # so that there is an inner reach
        chain = Chain(lengths)
        inner, outer = chain.reach
        radius = np.concatenate([outer * rng.uniform(1.001, 5.0, 30), inner * rng.uniform(0.0, 0.999, 30)])
        angle = rng.uniform(-np.pi, np.pi, 60)
        targets = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
        solution = solve_ccd(chain, targets, start=rng.uniform(-3.0, 3.0, (60, n)))
        expected = np.maximum(np.maximum(radius - outer, inner - radius), 0.0)
        assert np.abs(tip_errors(chain, solution, targets) - expected).max() <= 1e-12 * outer
        assert (solution.status[:30] == Status.TOO_FAR).all()
        assert (solution.status[30:] == Status.TOO_CLOSE).all()


@pytest.mark.parametrize("n", (2, 3, 10))
def test_size_of_the_rig_does_not_matter(n):
    rng = np.random.default_rng(n)
    lengths, starts = rng.uniform(0.2, 1.0, n), rng.uniform(-3.0, 3.0, (40, n))
    targets = rng.uniform(-1.0, 1.0, (40, 2)) * lengths.sum()
    for limits in (None, [[-1.0, 1.0]] * n):
        reference = solve_ccd(Chain(lengths, limits), targets, start=starts)
        for factor in (2.0**-40, 0.25, 2.0**30):
            scaled = solve_ccd(Chain(lengths * factor, limits), targets * factor, start=starts)
            assert np.array_equal(scaled.angles, reference.angles)
        scaled = solve_ccd(Chain(lengths * 3.7e-4, limits), targets * 3.7e-4, start=starts)
        assert np.abs(scaled.angles - reference.angles).max() <= 1e-9


def test_a_straight_start_bends_to_the_declared_side():
    for n in (2, 3, 10, 50):
        for bend in (1, -1):
            rng = np.random.default_rng(n)
            chain = Chain(rng.uniform(1.0, 2.0, n))
            targets = targets_in_annulus(rng, chain, 40)[::5]
            solution = solve_ccd(chain, targets, start=np.zeros(n), bend=bend)
            assert (bend * solution.angles[:, 1:].sum(axis=1) > 0.0).all()


def test_figure_3_the_deadlock_is_solved():
    """A straight chain with the target on its own line: the local minimum that the article leaves open."""
    for n in (2, 3, 10):
        for distance in (0.1, 0.5, 0.9):
            solution = solve_ccd(Chain(np.ones(n) / n), [distance, 0.0], start=np.zeros(n))
            assert solution.status == Status.REACHED
            assert solution.residual <= 1e-6


def test_a_rigid_joint_keeps_its_angle_and_the_others_reach():
    rng = np.random.default_rng(3)
    chain = Chain(np.ones(6), weights=[1.0, 0.0, 0.5, 1.0, 0.0, 1.0])
    start = rng.uniform(-1.0, 1.0, 6)
    solution = solve_ccd(chain, rng.uniform(-1.5, 1.5, (200, 2)), start=start)
    assert (solution.status == Status.REACHED).all()
    assert (solution.angles[:, [1, 4]] == start[[1, 4]]).all()


def test_a_joint_of_less_weight_turns_less():
    rng = np.random.default_rng(4)
    start = rng.uniform(-0.5, 0.5, 8)
    target = forward(Chain(np.ones(8)), start)[-1] * 0.95
    turn = {}
    for weight in (1.0, 0.1):
        weights = np.ones(8)
        weights[3] = weight
        solution = solve_ccd(Chain(np.ones(8), weights=weights), target, start=start)
        turn[weight] = abs(solution.angles[3] - start[3])
    assert turn[0.1] < 0.3 * turn[1.0]


def test_same_input_same_output_and_a_path_is_its_frames_in_turn():
    rng = np.random.default_rng(8)
    chain, start = Chain(rng.uniform(1.0, 2.0, 7)), rng.uniform(-1.0, 1.0, 7)
    targets = rng.uniform(-4.0, 4.0, (30, 2))
    path = solve_ccd_path(chain, targets, start=start)
    assert np.array_equal(path.angles, solve_ccd_path(chain, targets, start=start).angles)
    for target, angles in zip(targets, path.angles, strict=True):
        start = solve_ccd(chain, target, start=start).angles
        assert np.array_equal(start, angles)


def test_a_batch_gives_what_each_target_gives_alone():
    rng = np.random.default_rng(9)
    for n in (2, 3, 10):
        chain, starts = Chain(rng.uniform(1.0, 2.0, n)), rng.uniform(-3.0, 3.0, (300, n))
        starts[:100, 1:] = 0.0
        targets = rng.uniform(-1.0, 1.0, (300, 2)) * n
        batch = solve_ccd(chain, targets, start=starts)
        alone = [solve_ccd(chain, t, start=s).angles for t, s in zip(targets, starts, strict=True)]
        apart = np.abs(batch.angles - alone).max(axis=1)
        assert np.median(apart) <= 1e-12
        assert np.mean(apart > 1e-6) <= 0.03  # long searches may settle on another pose that reaches


def test_zero_length_chains_give_finite_angles():
    for n in (1, 2, 5):
        for limits in (None, [[-1.0, 1.0]] * n):
            solution = solve_ccd(Chain(np.zeros(n), limits), [[0.0, 0.0], [1.0, 0.0]], start=np.zeros(n))
            assert np.isfinite(solution.angles).all()
            assert solution.status.tolist() == [Status.REACHED, Status.TOO_FAR]
