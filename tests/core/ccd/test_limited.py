# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds for chains whose joints have limits."""

import numpy as np
import pytest
from chains import drained

from ik2d_addon.core import Chain, Status, forward, reachable, solve_ccd, solve_ccd_path, solve_two_bone
from ik2d_addon.core.ccd import limited
from ik2d_addon.core.ccd.limited import TriedPose, cut
from ik2d_addon.core.ccd.sweep import CcdBones

SIXTY = np.radians(60.0)


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 3, 4, 5, 7, 10, 20, 50))
def test_targets_that_the_limits_allow_are_reached(n):
    rng = np.random.default_rng(n)
    count = {20: 300, 50: 300}.get(n, 1500)  # 9,600 problems in all
    for lengths in (np.ones(n), rng.uniform(0.3, 1.0, n)):
        chain = Chain(lengths, limits=[[-SIXTY, SIXTY]] * n)
        targets = forward(chain, rng.uniform(-SIXTY, SIXTY, (count // 2, n)))[:, -1]
        solution = solve_ccd(chain, targets, start=np.full(n, 0.1))
        reached = np.hypot(*(forward(chain, solution.angles)[:, -1] - targets).T) <= 1e-6 * chain.reach[1]
        assert reached.mean() >= 0.999
        assert ((solution.status == Status.REACHED) == reached).all()
        assert np.abs(solution.angles).max() <= SIXTY + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("part", (0.5, 0.25))
@pytest.mark.parametrize("n", (50, 100, 200))
def test_near_full_stretch_all_is_reached_from_a_start_that_is_bent(n, part):
    """Targets of poses within a part of the limits, from 0.04 radians a joint: local minima all around."""
    rng = np.random.default_rng([n, int(4 * part)])
    chain = Chain(np.ones(n), limits=[[-SIXTY, SIXTY]] * n)
    targets = forward(chain, rng.uniform(-part * SIXTY, part * SIXTY, (30, n)))[:, -1]
    for tolerance in (1e-6 * n, 1e-9 * n):
        solution = solve_ccd(chain, targets, start=np.full(n, 0.04), tolerance=tolerance)
        assert solution.reached.all()
        assert np.hypot(*(forward(chain, solution.angles)[:, -1] - targets).T).max() <= tolerance
        assert np.abs(solution.angles).max() <= SIXTY


@pytest.mark.parametrize("off", (1e-2, 1e-4, 1e-6, 1e-8, 1e-9))
@pytest.mark.parametrize("n", (3, 10, 40))
def test_just_inside_the_border_is_reached_and_just_outside_is_limited(n, off):
    rng = np.random.default_rng([n, 1])
    chain = Chain(rng.uniform(0.5, 1.0, n), limits=[[-0.3, 0.2]] * n)
    region = reachable(chain)
    level = region.sets.elements[0]
    which = np.argsort(-np.abs(level.radius) * (level.end - level.start))[:5]
    normals = 0.5 * (level.start[which] + level.end[which])
    for side in (1.0, -1.0):
        points = (level.at(which, normals) + side * off * np.exp(1j * normals)) * region.scale
        targets = np.stack((points.real, points.imag), axis=-1)
        targets = targets[np.hypot(*targets.T) < chain.reach[1]]
        solution = solve_ccd(chain, targets, start=np.zeros(n), tolerance=0.5e-9 * chain.reach[1])
        expected = np.where(region.contains(targets), Status.REACHED, Status.LIMITED)
        assert (solution.status == expected).all()
        assert np.allclose(solution.residual, region.nearest(targets)[1], rtol=0.0, atol=1e-9 * n)


@pytest.mark.slow
def test_limited_is_a_proof_with_the_exact_distance_alone_and_on_a_path():
    chain = Chain([1.0, 0.9, 0.8, 0.7, 0.6, 0.5], limits=[[-0.5, 0.7]] * 6)
    region = reachable(chain)
    u = np.linspace(0.0, 2.0 * np.pi, 120)
    path = np.stack([2.8 + 1.4 * np.cos(u), 1.0 + 1.4 * np.sin(u)], axis=-1)
    contained, away = region.contains(path), region.nearest(path)[1]
    assert 10 < contained.sum() < 110
    found = solve_ccd_path(chain, path, start=np.zeros(6))
    alone = solve_ccd(chain, path[:10], start=np.zeros(6))
    for solution, rows in ((found, slice(None)), (alone, slice(10))):
        assert (solution.status == np.where(contained, Status.REACHED, Status.LIMITED)[rows]).all()
        assert np.abs(solution.residual - away[rows])[~contained[rows]].max(initial=0.0) <= 1e-9
        assert (solution.iterations[~contained[rows]] == 0).all()


def test_after_a_target_out_of_reach_the_region_is_asked_before_corrections(monkeypatch):
    chain = Chain(np.ones(5), limits=[[-0.3, 0.3]] * 5)
    calls, function = [], limited.around

    def counted(*given):
        calls.append(given)
        return function(*given)

    monkeypatch.setattr(limited, "around", counted)
    path = [[-2.0, 1.0]] * 6 + [[4.8, 0.5]] * 3
    solution = solve_ccd_path(chain, path, start=np.zeros(5), posture_gain=0.0)
    assert solution.status.tolist() == [Status.LIMITED] * 6 + [Status.REACHED] * 3
    assert len(calls) == 1 + 3


@pytest.mark.parametrize("asks_first", (False, True))
def test_the_order_of_questions_changes_no_answer(asks_first):
    bones = CcdBones([0.25] * 4, [1.0] * 4, [-0.5] * 4, [0.8] * 4)
    for x, y in ((0.7, 0.4), (-0.5, 0.1), (0.9, 0.42), (1.5, 0.0), (0.0, 0.0), (2.0, 9.0)):
        usual = drained(limited.limited_steps(bones, [0.1] * 4, x, y, 1.0, 1e-6, 60))
        other = drained(limited.limited_steps(bones, [0.1] * 4, x, y, 1.0, 1e-6, 60, asks_first=asks_first))
        assert other == usual


def test_a_pose_from_the_region_is_blended_with_the_start():
    """Where corrections fail the pose still is as near to the start's as one can be found on the way."""
    n = 20
    rng = np.random.default_rng(5)
    low, high = [-1.0] * n, [1.0] * n
    bones = CcdBones([1.0 / n] * n, [1.0] * n, low, high)
    nearer = 0
    for _ in range(30):
        start, exact = rng.uniform(-0.2, 0.2, n), rng.uniform(-1.0, 1.0, n)
        target = forward(Chain(bones.lengths), exact)[-1]
        found = limited.blended(bones, start.tolist(), exact.tolist(), *target.tolist(), 1e-9, 60, 7)
        angles = np.array(found.angles)
        assert np.hypot(*(forward(Chain(bones.lengths), angles)[-1] - target)) <= 1e-9
        assert np.abs(angles).max() <= 1.0
        assert found.iterations > 7 and not found.is_out
        nearer += np.linalg.norm(angles - start) < 0.8 * np.linalg.norm(exact - start)
    assert nearer >= 25
    exact = [1.0] * n  # the only pose with its tip there
    target = forward(Chain(bones.lengths), exact)[-1]
    found = limited.blended(bones, [0.0] * n, exact, *target.tolist(), 1e-13, 1, 0)
    assert found.angles == exact


@pytest.mark.parametrize("n", (2, 3, 10))
def test_ranges_that_exclude_the_rest_pose_hold(n):
    rng = np.random.default_rng(n)
    low, high = np.radians(10.0), np.radians(150.0)
    chain = Chain(np.ones(n), limits=[[np.nan, np.nan]] + [[low, high]] * (n - 1))
    targets = forward(chain, rng.uniform(low, high, (200, n)))[:, -1]
    solution = solve_ccd(chain, targets, start=np.zeros(n))
    assert (solution.status == Status.REACHED).all()
    assert solution.angles[:, 1:].min() >= low - 1e-9
    assert solution.angles[:, 1:].max() <= high + 1e-9


def test_limits_are_numbers_and_not_modulo_a_turn():
    chain = Chain([1.0, 1.0], limits=[[6.0, 8.0], [-2.0 * np.pi, -3.5]])
    pose = [7.0, -5.0]
    target = forward(chain, pose)[-1]
    for solution in (solve_two_bone(chain, target), solve_ccd(chain, target, start=[0.0, 0.0])):
        assert np.allclose(solution.angles, pose)


@pytest.mark.slow
@pytest.mark.parametrize("n", (3, 6))
def test_an_n_bone_chain_that_is_blocked_comes_as_near_as_a_search_does(n):
    rng = np.random.default_rng(n)
    chain = Chain(np.ones(n), limits=[[-0.4, 0.4]] * n)
    targets = np.stack([rng.uniform(-0.8, 0.2, 8) * n, rng.uniform(-0.5, 0.5, 8) * n], axis=-1)
    solution = solve_ccd(chain, targets, start=np.zeros(n))
    tips = forward(chain, rng.uniform(-0.4, 0.4, (200_000, n)))[:, -1]
    inside = np.hypot(*targets.T) <= n
    for target, residual, status in zip(
        targets[inside], solution.residual[inside], solution.status[inside], strict=True
    ):
        assert residual <= np.hypot(*(tips - target).T).min()
        assert status == Status.LIMITED


@pytest.mark.slow
def test_a_path_within_limits_stays_within_them():
    chain = Chain(np.ones(5), limits=[[-1.0, 1.0]] * 5)
    u = np.linspace(0.0, 2.0 * np.pi, 200)
    path = np.stack([4.0 + 0.5 * np.cos(u), 1.5 * np.sin(u)], axis=-1)
    solution = solve_ccd_path(chain, path, start=np.zeros(5))
    assert (solution.status == Status.REACHED).all()
    assert np.abs(solution.angles).max() <= 1.0 + 1e-9


def nearest_by_one_joint(chain, angles, target):
    """Return how near the tip comes when one joint alone turns, whichever it is, within its limits."""
    nearest = np.inf
    for joint, (low, high) in enumerate(chain.limits):
        poses = np.tile(angles, (401, 1))
        coarse, fine = np.linspace(low, high, 200), angles[joint] + np.linspace(-0.02, 0.02, 201)
        poses[:, joint] = np.clip(np.concatenate([coarse, fine]), low, high)
        nearest = min(nearest, np.hypot(*(forward(chain, poses)[:, -1] - target).T).min())
    return nearest


@pytest.mark.parametrize("n", (3, 5, 8))
def test_out_of_reach_no_joint_alone_can_bring_the_tip_nearer(n):
    rng = np.random.default_rng(0)
    chain = Chain(rng.uniform(0.5, 1.0, n), limits=[[-0.4, 0.4]] * n)
    targets = rng.uniform([-0.6, -0.6], [0.6, 0.6], (12, 2)) * n
    solution = solve_ccd(chain, targets, start=np.zeros(n))
    missed = np.flatnonzero(~solution.reached)
    assert missed.size > 4
    for row in missed:
        nearest = nearest_by_one_joint(chain, solution.angles[row], targets[row])
        assert solution.residual[row] <= nearest + 1e-9 * chain.reach[1]


@pytest.mark.slow
@pytest.mark.parametrize("n", (3, 12))
def test_where_corrections_are_too_few_the_region_has_the_pose(n):
    rng = np.random.default_rng(0)
    chain = Chain(np.ones(n), limits=[[-1.0, 1.0]] * n)
    targets = forward(chain, rng.uniform(-1.0, 1.0, (100, n)))[:, -1]
    usual = solve_ccd(chain, targets, start=np.zeros(n))
    hasty = solve_ccd(chain, targets, start=np.zeros(n), max_iterations=1)
    assert usual.reached.all() and hasty.reached.all()
    assert np.abs(hasty.angles).max() <= 1.0
    assert hasty.iterations.max() <= 7  # two sweeps, one correction, and one from four poses on the way


def test_each_correction_and_each_pair_of_sweeps_counts():
    chain = Chain(np.ones(4), limits=[[-2.0, 2.0]] * 4)
    near = forward(chain, [0.5, 0.5, 0.4, 0.31])[-1]
    start = [0.5, 0.5, 0.4, 0.3]
    few = solve_ccd(chain, near, start=start)
    assert 1 <= few.iterations <= 4
    assert solve_ccd(chain, forward(chain, start)[-1], start=start).iterations == 0
    far = solve_ccd(chain, forward(chain, [-0.9, 0.5, 0.4, 0.3])[-1], start=start)
    assert 3 <= far.iterations <= 12
    assert far.reached and few.reached


@pytest.mark.slow
def test_a_target_behind_the_chain_gets_the_nearest_pose_from_the_other_side_too():
    """Corrections from the start end in a local minimum."""
    chain = Chain(np.ones(6), limits=[[-1.0, 1.0]] * 6)
    rng = np.random.default_rng(4)
    tips = forward(
        chain, np.clip(rng.normal(0.0, 1.0, (200_000, 6)) + rng.uniform(-1, 1, (200_000, 1)), -1, 1)
    )[:, -1]
    for turn in np.linspace(1.8, np.pi, 6):
        for side in (1.0, -1.0):
            target = 5.0 * np.array([np.cos(turn), side * np.sin(turn)])
            solution = solve_ccd(chain, target, start=np.full(6, -0.3 * side))
            assert solution.residual <= np.hypot(*(tips - target).T).min() + 1e-9
            assert solution.status == (Status.REACHED if solution.residual <= 6e-6 else Status.LIMITED)


def test_a_pose_knows_its_arms_and_its_error():
    bones = CcdBones([0.5, 0.5], [1.0] * 2, [-9.0] * 2, [9.0] * 2)
    pose = TriedPose.of(bones, [0.0, np.pi / 2.0], 1.5, 2.5)
    assert pose.angles == [0.0, np.pi / 2.0]
    assert np.allclose(pose.arms, [[0.0, 0.5], [0.5, 0.5]], rtol=0.0, atol=1e-15)
    assert (pose.error_x, pose.error_y) == pytest.approx((1.0, 2.0))
    assert pose.error == pytest.approx(np.sqrt(5.0))


def test_angles_are_cut_off_at_the_limits():
    bones = CcdBones([0.25] * 4, [1.0] * 4, [-1.0, 0.5, -np.inf, -np.inf], [1.0, 0.6, 0.0, np.inf])
    assert cut(bones, [5.0, -5.0, -5.0, 9.0]) == [1.0, 0.5, -5.0, 9.0]
    assert cut(bones, [-5.0, 5.0, 5.0, -9.0]) == [-1.0, 0.6, 0.0, -9.0]


def least_turns_by_trial(jacobian, weights, error, blocked_up, blocked_down):
    """The least weighted turns among all sets of joints left out that turn none of them into its limit."""
    n = jacobian.shape[1]
    found = []
    for mask in range(2**n):
        free = np.array([not mask >> i & 1 for i in range(n)])
        if free.sum() < 2:
            continue
        root = np.sqrt(weights * free)
        turns = root * (np.linalg.pinv(jacobian * root) @ error)
        if not (((turns > 1e-15) & blocked_up) | ((turns < -1e-15) & blocked_down)).any():
            found.append((np.sum(turns[free] ** 2 / weights[free]), turns))
    return [turns for _, turns in sorted(found, key=lambda pair: pair[0])]


@pytest.mark.slow
def test_a_correction_leaves_out_the_joints_that_a_limit_holds():
    """The tip is moved as asked by the others; a joint at its limit may turn away from it."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(200):
        angles = rng.uniform(0.2, 0.9, 5)
        low, high = angles - rng.choice([0.0, 0.5], 5), angles + rng.choice([0.0, 0.5], 5)
        weights = rng.uniform(0.3, 1.0, 5)
        bones = CcdBones([0.2] * 5, weights.tolist(), low.tolist(), high.tolist())
        tip = forward(Chain([0.2] * 5), angles)[-1]
        error = rng.normal(0.0, 1e-5, 2)
        turns = np.array(
            limited._turns_within(bones, TriedPose.of(bones, angles.tolist(), *(tip + error).tolist()))
        )
        assert bones.weights == weights.tolist()  # not modified
        assert not ((turns > 0.0) & (angles >= high)).any()
        assert not ((turns < 0.0) & (angles <= low)).any()
        arms = tip - forward(Chain([0.2] * 5), angles)[:-1]
        jacobian = np.stack([-arms[:, 1], arms[:, 0]])
        possible = least_turns_by_trial(jacobian, weights, error, angles >= high, angles <= low)
        if (turns != 0.0).sum() >= 3:
            assert any(np.allclose(turns, other, rtol=1e-3, atol=1e-12) for other in possible)
            assert np.allclose(jacobian @ turns, error, rtol=0.0, atol=1e-9)
            held += (turns == 0.0).any()
    assert held > 20


def test_limits_and_weights_together():
    """Limits hold, the joint of weight 0 stays, a heavier joint turns more, and what can be reached is."""
    rng = np.random.default_rng(6)
    start = np.array([0.1, 0.2, 0.1, 0.2, 0.1, 0.2])
    limits = np.stack([start - 0.8, start + 0.8], axis=1)
    chain = Chain(np.ones(6), limits, weights=[1.0, 0.5, 0.0, 1.0, 0.2, 1.0])
    poses = start + rng.uniform(-0.8, 0.8, (200, 6))
    poses[:, 2] = start[2]
    targets = forward(chain, poses)[:, -1]
    solution = solve_ccd(chain, targets, start=start)
    assert (solution.status == Status.REACHED).mean() >= 0.995
    assert (solution.angles >= limits[:, 0]).all() and (solution.angles <= limits[:, 1]).all()
    assert (solution.angles[:, 2] == start[2]).all()
    near = forward(chain, start)[-1] * 0.99
    turn = {}
    for weight in (1.0, 0.5, 0.1):
        one = Chain(np.ones(6), limits, weights=[1.0, 1.0, 1.0, weight, 1.0, 1.0])
        moved = solve_ccd(one, near, start=start)
        assert moved.status == Status.REACHED
        turn[weight] = abs(moved.angles[3] - start[3])
    assert turn[0.1] < 0.3 * turn[1.0] < 0.3 * turn[0.5] * 2.1
    assert turn[0.1] < turn[0.5] < turn[1.0]


@pytest.mark.parametrize("turns", (-3, -1, 0, 1))
def test_ranges_beyond_a_turn_and_starts_many_turns_away(turns):
    """Limits of 200 to 400 degrees, and the same some turns on: the pose is the same, its numbers follow."""
    rng = np.random.default_rng(7)
    low, high = np.radians([200.0, 400.0]) + 2.0 * np.pi * turns
    chain = Chain(np.ones(4), [[np.nan, np.nan]] + [[low, high]] * 3)
    targets = forward(chain, rng.uniform(low, high, (40, 4)))[:, -1]
    solution = solve_ccd(chain, targets, start=np.zeros(4))
    assert (solution.status == Status.REACHED).all()
    assert (solution.angles[:, 1:] >= low).all() and (solution.angles[:, 1:] <= high).all()
    base = solve_ccd(
        Chain(np.ones(4), [[np.nan, np.nan]] + [np.radians([200.0, 400.0])] * 3), targets, start=np.zeros(4)
    )
    assert np.allclose(solution.angles[:, 1:] - base.angles[:, 1:], 2.0 * np.pi * turns, rtol=0.0, atol=1e-6)


def test_a_free_joint_beside_limited_ones_keeps_its_turns():
    """Of equal rotations the numbers near the start: a free root many turns away stays there."""
    chain = Chain(np.ones(3), [[np.nan, np.nan], [-2.0, 2.0], [-2.0, 2.0]])
    target = forward(chain, [0.5, 0.6, 0.7])[-1]
    reference = solve_ccd(chain, target, start=[0.4, 0.5, 0.6])
    for turns in (-4, 3):
        solution = solve_ccd(chain, target, start=[0.4 + 2.0 * np.pi * turns, 0.5, 0.6])
        assert solution.status == Status.REACHED
        assert np.allclose(
            solution.angles - reference.angles, [2.0 * np.pi * turns, 0.0, 0.0], rtol=0.0, atol=1e-9
        )
    free = Chain(np.ones(3))
    for start in ([20.0, -30.0, 40.0], [0.3, 9.0, -9.0]):
        solution = solve_ccd(free, [1.0, 1.5], start=start)
        assert solution.status == Status.REACHED
        assert np.abs(solution.angles - start).max() <= np.pi + 1.0


def test_joints_at_their_limits_are_named():
    chain = Chain(np.ones(3), [[-0.5, 0.5], [np.nan, 0.4], [-0.3, np.nan]])
    solution = solve_ccd(chain, [[-0.5, 2.5], [-0.5, -2.5], [2.6, 0.3]], start=np.zeros(3))
    for angles, at_a_limit in zip(solution.angles, solution.limited, strict=True):
        expected = [
            min(abs(angles[0] + 0.5), abs(angles[0] - 0.5)) < 1e-9,
            abs(angles[1] - 0.4) < 1e-9,
            abs(angles[2] + 0.3) < 1e-9,
        ]
        assert at_a_limit.tolist() == expected
    assert solution.limited.tolist() == [[True, False, False], [True, False, False], [False, False, False]]


def test_of_equal_rotations_within_the_limits_the_numbers_are_those_near_the_start():
    """Against all numbers that the limits allow, for ranges wide and narrow."""
    rng = np.random.default_rng(8)
    turned = 0
    for _ in range(300):
        low, width = rng.uniform(-10.0, 10.0, 3), rng.choice([0.5, 4.0, 9.0, 30.0, np.inf], 3)
        high = low + width
        low = np.where((width == np.inf) & (rng.random(3) < 0.5), -np.inf, low)
        bones = CcdBones([0.3, 0.3, 0.4], [1.0] * 3, low.tolist(), high.tolist())
        angles, start = (np.clip(rng.uniform(-30.0, 30.0, 3), low, high) for _ in range(2))
        found = limited.near_numbers(bones, angles.tolist(), start.tolist())
        for number, angle, begin, least, most in zip(found, angles, start, low, high, strict=True):
            others = angle + 2.0 * np.pi * np.arange(-12, 13)
            allowed = others[(others >= least) & (others <= most)]
            assert least <= number <= most
            assert number == pytest.approx(allowed[np.abs(allowed - begin).argmin()], abs=1e-9)
            turned += number != angle
    assert turned > 100
    chain = Chain(np.ones(3), [[-0.5, 0.5], [np.nan, 0.4], [-0.3, np.nan]])
    solution = solve_ccd(chain, [[-0.5, 2.5], [-0.5, -2.5], [2.6, 0.3]], start=np.zeros(3))
    assert np.abs(solution.angles[:, 2]).max() <= np.pi


@pytest.mark.parametrize("bend", (1, -1))
def test_off_the_annulus_the_nearest_pose_is_the_formulas_where_the_limits_allow_it(bend):
    chain = Chain([4.0, 1.0, 1.0], [[-4.0, 4.0]] * 3)
    solution = solve_ccd(chain, [[9.0, 12.0], [0.3, 0.4]], start=[0.2, 0.3 * bend, 0.4 * bend], bend=bend)
    assert solution.status.tolist() == [Status.TOO_FAR, Status.TOO_CLOSE]
    assert np.allclose(solution.residual, [9.0, 1.5], rtol=0.0, atol=1e-14)
    assert solution.iterations.tolist() == [0, 0]
    assert np.allclose(solution.angles[0], [np.arctan2(4.0, 3.0), 0.0, 0.0], rtol=0.0, atol=1e-15)
    narrow = Chain([4.0, 1.0, 1.0], [[-4.0, 4.0], [-0.5, 0.5], [0.1, 0.5]])
    blocked = solve_ccd(narrow, [[9.0, 12.0], [0.3, 0.4]], start=[0.2, 0.3, 0.4])
    assert (blocked.residual > [9.0, 1.5]).all()
    assert not blocked.iterations.any()
    assert blocked.status.tolist() == [Status.TOO_FAR, Status.TOO_CLOSE]


def test_of_a_sliding_chain_the_region_has_the_pose_near_to_the_start_with_its_slides():
    bones = CcdBones.of(Chain([1.0, 1.0], [[-0.5, 0.5], [0.0, 0.0]], slides=[(0.0, 1.0)] * 2))
    region = drained(limited.region_of(bones))
    starts = np.array([[0.1, 0.0, 0.2, 0.05], [0.1, 0.0, 0.05, 0.2]])
    poses, away = limited.asked(region, np.array([[0.75, 0.0]] * 2), starts, 1e-9)
    assert (away == 0.0).all()
    assert np.allclose(poses[:, :2], 0.0, rtol=0.0, atol=1e-9)
    assert np.allclose(poses[:, 2:], starts[:, 2:], rtol=0.0, atol=1e-6)
