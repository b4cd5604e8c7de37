# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for every chain without limits: each target of the annulus is reached."""

import numpy as np
import pytest
from chains import LENGTHS, STARTS, random_lengths, random_start, targets_in_annulus

from ik2d_addon.core import Chain, Status, forward, solve_ccd, solve_ccd_path, solve_even
from ik2d_addon.core.ccd import free
from ik2d_addon.core.ccd.correction import corrected
from ik2d_addon.core.ccd.shapes import nearest_turns
from ik2d_addon.core.ccd.sweep import CcdBones, sweep

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


@pytest.mark.slow
@pytest.mark.parametrize("n", BONES)
def test_tip_reaches_every_target_in_the_annulus(n):
    for chain, starts, targets in problems(
        n, {50: 20, 100: 10, 200: 10}.get(n, 50)
    ):  # 11,000 problems in all
        solution = solve_ccd(chain, targets, start=starts)
        assert (solution.status == Status.REACHED).all()
        assert tip_errors(chain, solution, targets).max() <= 1e-6 * chain.reach[1]


@pytest.mark.slow
@pytest.mark.parametrize("n", BONES)
def test_one_target_at_a_time_is_reached_as_well(n):
    for chain, starts, targets in problems(n, 5):
        for start, target in zip(starts, targets, strict=True):
            solution = solve_ccd(chain, target, start=start)
            assert solution.status == Status.REACHED
            assert solution.residual <= 1e-6 * chain.reach[1]


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 3, 5, 10, 50, 200))
def test_a_tolerance_of_a_billionth_is_kept(n):
    for chain, starts, targets in problems(n, 20 if n < 50 else 5):
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
    lengths, starts = rng.uniform(0.2, 1.0, n), rng.uniform(-3.0, 3.0, (20, n))
    targets = rng.uniform(-1.0, 1.0, (20, 2)) * lengths.sum()
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
    path = solve_ccd_path(chain, targets, start=start, posture_gain=0.0)
    assert np.array_equal(path.angles, solve_ccd_path(chain, targets, start=start, posture_gain=0.0).angles)
    for target, angles in zip(targets, path.angles, strict=True):
        start = solve_ccd(chain, target, start=start).angles
        assert np.array_equal(start, angles)


@pytest.mark.slow
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
        assert apart.max() <= 1e-5


def test_zero_length_chains_give_finite_angles():
    for n in (1, 2, 5):
        for limits in (None, [[-1.0, 1.0]] * n):
            solution = solve_ccd(Chain(np.zeros(n), limits), [[0.0, 0.0], [1.0, 0.0]], start=np.zeros(n))
            assert np.isfinite(solution.angles).all()
            assert solution.status.tolist() == [Status.REACHED, Status.TOO_FAR]


@pytest.mark.parametrize(("error", "swept"), [(0.2, False), (0.249, False), (0.251, True), (0.6, True)])
def test_sweeps_shape_the_pose_only_where_the_target_is_a_quarter_of_the_reach_away(error, swept):
    bones, start = CcdBones.of(Chain([2.0, 1.5, 1.0])), [0.3, 0.5, 0.4]
    tip = forward(Chain(bones.lengths), start)[-1]
    target = tip * (1.0 - error / np.hypot(*tip))
    shaped = start
    for _ in range(2 if swept else 0):
        shaped = sweep(bones.sharing, shaped, *target.tolist())
    shaped = nearest_turns(shaped, start)
    assert not swept or free.swept(bones, start, start, *target.tolist()) == shaped
    aim = tuple(target.tolist())
    corrected_pose, _, done = corrected(bones.lengths, [1.0] * 3, shaped, aim, 1e-9, 60, swept)
    found = free.solve_free(bones, start, *target.tolist(), 1.0, 1e-9, 60)
    assert found == (corrected_pose, done + 2 * swept)
    assert done > 0


@pytest.mark.parametrize(
    ("turn", "error", "is_sudden"),
    [
        (0.119, 1e-9, False),
        (0.121, 1e-9, True),
        (0.5, 0.0199, True),
        (0.5, 0.0201, False),
        (0.119, 0.0, False),
    ],
)
def test_a_turn_is_sudden_from_7_degrees_and_25_radians_a_reach_on(turn, error, is_sudden):
    assert bool(free.is_sudden(turn, error)) == is_sudden
    assert free.is_sudden(np.array([turn]), np.array([error])).tolist() == [is_sudden]


def test_the_largest_turn_is_that_of_the_joint_that_turned_most():
    assert free.largest_turn([0.0, 1.0, 2.0], [0.5, 0.2, 2.1]) == 0.8


def nearly_on_a_line(seed):
    """A chain that is straight or folded but for a hundredth of a radian, and a target close by."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    lengths = rng.uniform(0.2, 1.0, n) ** rng.choice([0, 1, 3])
    line = rng.choice([0, np.pi], n, p=[0.8, 0.2] if seed % 2 else [1, 0])
    start = line + rng.normal(0.0, 1.0, n) * 10.0 ** rng.uniform(-4.0, -1.5)
    chain = Chain(lengths / lengths.sum())
    tip = forward(chain, start)[-1]
    step, direction = 10.0 ** rng.uniform(-4.0, -2.3), rng.uniform(-np.pi, np.pi)
    if seed % 3:
        direction = np.arctan2(-tip[1], -tip[0])
    return chain, start, tip + step * np.array([np.cos(direction), np.sin(direction)])


@pytest.mark.parametrize("seed", (3977, 7690, 11945, 13183, 15963, 12375, 8677))
def test_near_a_line_a_small_move_of_the_target_gives_a_small_largest_turn(seed):
    """The least turns of all would have one joint do most of it."""
    chain, start, target = nearly_on_a_line(seed)
    bones = CcdBones.of(chain)
    least, _, _ = corrected(bones.lengths, bones.weights, start.tolist(), tuple(target.tolist()), 5e-7, 60)
    solution = solve_ccd(chain, target, start=start)
    assert solution.status == Status.REACHED
    largest = np.abs(solution.angles - start).max()
    assert largest <= free.GENTLE
    assert largest <= 0.52 * np.abs(least - start).max()
    assert np.abs(least - start).max() > 0.14


@pytest.mark.slow
def test_sharing_never_makes_the_largest_turn_larger_and_keeps_the_target():
    tried = 0
    for seed in range(800):
        chain, start, target = nearly_on_a_line(seed)
        bones, point = CcdBones.of(chain), tuple(target.tolist())
        angles, error, _ = corrected(bones.lengths, bones.weights, start.tolist(), point, 5e-7, 60)
        if error > 5e-7 or free.largest_turn(start, angles) < 0.05:
            continue
        shared = free.shared(bones, start.tolist(), angles, point, 5e-7, 60)
        assert free.largest_turn(start, shared) <= free.largest_turn(start, angles)
        assert free.error_of(bones.lengths, shared, *point) <= 5e-7
        tried += 1
    assert tried > 60


def test_sharing_makes_joints_less_willing_by_how_much_they_turned():
    """One round by the formula: w / (1 + (turn / 0.12)^2), the greatest of them 1."""
    chain, start, target = nearly_on_a_line(12375)
    bones, point = CcdBones.of(chain), tuple(target.tolist())
    angles, _, _ = corrected(bones.lengths, bones.weights, start.tolist(), point, 5e-7, 60)
    weights = 1.0 / (1.0 + (np.subtract(angles, start) / 0.12) ** 2)
    weights = (weights / weights.max()).tolist()
    once, _, _ = corrected(bones.lengths, weights[::-1], start.tolist(), point, 5e-7, 60)
    assert 0.12 < free.largest_turn(start, angles)
    if free.largest_turn(start, once) <= 0.12:
        assert free.shared(bones, start.tolist(), angles, point, 5e-7, 60) == once
    assert free.largest_turn(start, once) < free.largest_turn(start, angles)


def test_iterations_are_counted_where_it_corrected_and_none_where_a_formula_answers():
    rng = np.random.default_rng(12)
    targets = np.array([[2.0, 1.5], [9.0, 0.0], [0.05, 0.0], [4.0, -4.0]])
    for many in (1, 8):  # one after the other, and a batch
        chain = Chain([4.0, 1.0, 1.0])
        solution = solve_ccd(chain, np.tile(targets, (many, 1)), start=rng.uniform(-1.0, 1.0, (4 * many, 3)))
        assert (solution.iterations.reshape(many, 4) > 0).tolist() == [[True, False, False, True]] * many
        two = solve_ccd(Chain([1.0, 1.0]), np.tile([[1.0, 0.5]], (4 * many, 1)), start=[0.1, 0.2])
        assert not two.iterations.any()
        assert not solution.limited.any()


@pytest.mark.parametrize("n", [3, 5, 12, 30, 50])
def test_no_joint_of_a_bent_chain_winds_up(n):
    # From rest to targets anywhere: where the pose of least bend needs less than 90 degrees, none beyond 180.
    rng = np.random.default_rng(n)
    chain, rest = Chain(rng.uniform(0.5, 1.5, n)), np.append(0.0, np.full(n - 1, min(0.2, 2.0 / n)))
    inner, outer = chain.reach
    radius = np.sqrt(rng.uniform(inner**2, outer**2, 300))
    turn = rng.uniform(-np.pi, np.pi, 300)
    targets = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=-1)
    solution = solve_ccd(chain, targets, start=rest)
    assert solution.reached.all()
    largest = np.degrees(np.abs(solution.angles[:, 1:]).max(axis=1))
    least = np.degrees(np.abs(solve_even(chain, targets, rest=rest).angles[:, 1:]).max(axis=1))
    assert largest[least < 90.0].max() < 180.0
    assert np.percentile(largest, 90.0) < {3: 135.0, 5: 95.0, 12: 60.0, 30: 30.0, 50: 20.0}[n]


def test_joints_share_a_sweep_and_the_root_turns_as_far_as_ccd_has_it():
    bones = CcdBones.of(Chain([1.0, 1.0, 1.0, 1.0], weights=[0.5, 1.0, 0.0, 0.5]))
    assert bones.sharing.weights == [0.5, 0.25, 0.0, 0.125]
    assert (bones.sharing.lengths, bones.sharing.low) == (bones.lengths, bones.low)
