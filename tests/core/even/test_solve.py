# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver Even as callers see it: exact, on the side asked for, the same in any order of targets."""

import numpy as np
import pytest
from chains import (
    LENGTHS,
    STARTS,
    annulus,
    bend_of,
    random_lengths,
    random_start,
    smooth_path,
    targets_in_annulus,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.problems import smooth_problems
from ik2d_addon.core import (
    Chain,
    IK2DError,
    Status,
    forward,
    reachable,
    solve_ccd,
    solve_even,
    solve_two_bone,
)

LENGTH = st.floats(0.05, 2.0)
ANGLE = st.floats(-1.5, 1.5)


@st.composite
def problems(draw):
    """Return a chain, its rest pose, and targets within its annulus."""
    n = draw(st.integers(2, 7))
    chain = Chain(draw(st.lists(LENGTH, min_size=n, max_size=n)))
    rest = np.array(draw(st.lists(ANGLE, min_size=n, max_size=n)))
    inner, outer = chain.reach
    parts = np.array(draw(st.lists(st.floats(0.001, 0.999), min_size=3, max_size=3)))
    angles = np.array(draw(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3)))
    radius = inner + parts * (outer - inner)
    return chain, rest, np.stack((radius * np.cos(angles), radius * np.sin(angles)), axis=-1)


def rest_of(rng, n, seed):
    """Return a rest pose (n,), or None for a straight one."""
    return [None, random_start(rng, n, STARTS[seed // 5 % 5]), rng.uniform(-0.4, 0.4, n)][seed % 3]


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 20, 50, 200])
def test_every_target_in_the_annulus_is_reached_to_1e_9(n, some):
    for seed in range(some(30, 3) if n <= 20 else 5):
        rng = np.random.default_rng([n, seed])
        weights = None if seed % 4 else rng.uniform(0.01, 1.0, n)
        chain = Chain(random_lengths(rng, n, LENGTHS[seed % 5]), weights=weights)
        targets, rest = targets_in_annulus(rng, chain, 20), rest_of(rng, n, seed)
        for bend in (1, -1):
            solution = solve_even(chain, targets, bend=bend, rest=rest, tolerance=1e-9 * chain.reach[1])
            assert (solution.status == Status.REACHED).all()
            tips = forward(chain, solution.angles)[:, -1]
            assert np.allclose(np.hypot(*(tips - targets).T), solution.residual, atol=1e-14 * chain.reach[1])


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_an_answer_depends_on_nothing_but_its_target(n):
    for seed in range(12):
        rng = np.random.default_rng([n, seed])
        chain = Chain(random_lengths(rng, n, LENGTHS[seed % 5]))
        targets, rest = targets_in_annulus(rng, chain, 40), rest_of(rng, n, seed)
        order = rng.permutation(40)
        together = solve_even(chain, targets, rest=rest).angles
        assert np.array_equal(solve_even(chain, targets[order], rest=rest).angles, together[order])
        alone = [solve_even(chain, target, rest=rest).angles for target in targets]
        assert np.array_equal(alone, together)


@pytest.mark.parametrize("bend", [1, -1])
def test_two_bones_are_the_analytic_ones(bend):
    rng = np.random.default_rng(2)
    for lengths in ([1.0, 1.0], [1.0, 0.4], [0.3, 1.0]):
        chain = Chain(lengths)
        targets = targets_in_annulus(rng, chain, 100)
        even, exact = solve_even(chain, targets, bend=bend), solve_two_bone(chain, targets, bend=bend)
        assert np.allclose(np.cos(even.angles - exact.angles), 1.0, atol=1e-12)


@pytest.mark.parametrize("options", [{"rest": [0.0]}, {"rest": [[0.0] * 3]}, {"rest": [0.0, np.nan, 0.0]}])
def test_a_rest_that_is_not_one_pose_is_refused(options):
    with pytest.raises(IK2DError, match="rest must"):
        solve_even(Chain([1.0, 1.0, 1.0]), [1.0, 0.0], **options)


def directions(chain, angles):
    """Return the headings of all bones (..., n) as unit vectors."""
    headings = np.cumsum(angles, axis=-1)
    return np.stack((np.cos(headings), np.sin(headings)), axis=-1)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems(), st.sampled_from([1, -1]))
def test_any_target_in_reach_is_reached_from_any_rest(problem, bend):
    chain, rest, targets = problem
    solution = solve_even(chain, targets, bend=bend, rest=rest, tolerance=1e-9 * chain.reach[1])
    assert solution.reached.all()
    assert np.array_equal(
        solve_even(chain, targets[::-1], bend=bend, rest=rest).angles, solution.angles[::-1]
    )


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems(), st.floats(-3.0, 3.0))
def test_turned_targets_turn_the_root_alone(problem, turn):
    chain, rest, targets = problem
    c, s = np.cos(turn), np.sin(turn)
    angles = solve_even(chain, targets, rest=rest).angles
    turned = solve_even(chain, targets @ np.array([[c, s], [-s, c]]), rest=rest).angles
    assert np.allclose(turned[:, 1:], angles[:, 1:], atol=1e-5)
    assert np.allclose(np.cos(turned[:, 0] - angles[:, 0] - turn), 1.0, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(problems(), st.sampled_from([1, -1]))
def test_a_mirrored_chain_has_the_mirrored_answer(problem, bend):
    chain, rest, targets = problem
    straight = (np.abs(np.sin(rest[1:])) <= 1e-4).all()  # then the bend is a side, else it is that of rest
    angles = solve_even(chain, targets, rest=rest, bend=bend).angles
    other = -bend if straight else bend
    mirrored = solve_even(chain, targets * [1.0, -1.0], rest=-rest, bend=other).angles
    assert np.allclose(directions(chain, -mirrored), directions(chain, angles), atol=1e-4)


@pytest.mark.parametrize("size", [2.0**-40, 2.0**40, 1e-290, 1e299])
def test_no_answer_depends_on_the_size_of_the_rig(size):
    rng = np.random.default_rng(5)
    chain = Chain([0.5, 0.25, 0.125, 0.125])
    targets, rest = annulus(rng, chain, 20), [0.1, 0.3, 0.2, -0.1]
    large = solve_even(Chain(chain.lengths * size), targets * size, rest=rest)
    assert large.reached.all()
    assert np.allclose(large.angles, solve_even(chain, targets, rest=rest).angles, atol=1e-6)


@pytest.mark.slow
def test_three_bones_bend_no_more_than_any_pose_of_a_fine_grid():
    rng = np.random.default_rng(3)
    for _ in range(30):
        chain, rest = Chain(rng.uniform(0.5, 1.5, 3)), rng.uniform(0.0, 0.8, 3)
        inner, outer = chain.reach
        distance = inner + (outer - inner) * rng.uniform(0.05, 0.95)
        own = bend_of(solve_even(chain, [distance, 0.0], rest=rest).angles[1:], rest[1:])
        d1, d2, d3 = chain.lengths
        first = np.linspace(-np.pi, np.pi, 20_001)
        x, y = d1 + d2 * np.cos(first), d2 * np.sin(first)  # then the last bone makes up for the distance
        ahead, far = np.arctan2(y, x), np.hypot(x, y)
        cosine = (distance**2 - far**2 - d3**2) / (2.0 * far * d3)
        corner = np.arccos(np.where(np.abs(cosine) <= 1.0, cosine, np.nan))
        for last in (corner, -corner):
            second = np.remainder(ahead + last - first - rest[2] + np.pi, 2.0 * np.pi) - np.pi
            others = (first - rest[1]) ** 2 + second**2
            assert own <= np.nanmin(others) * 1.0001


@pytest.mark.slow
def test_no_joint_winds_up():
    for n, most, of_ccd in ((5, 95.0, 100.0), (12, 65.0, 60.0), (30, 40.0, 30.0)):
        rng = np.random.default_rng(n)
        chain, rest = Chain(np.ones(n)), np.append(0.0, np.full(n - 1, min(0.2, 2.0 / n)))
        targets = annulus(rng, chain, 300)
        largest = [
            np.degrees(np.percentile(np.abs(solution.angles[:, 1:]).max(axis=1), 90.0))
            for solution in (
                solve_even(chain, targets, rest=rest),
                solve_even(chain, targets, rest=rest, root_weight=1.0),
                solve_ccd(chain, targets, start=rest),
            )
        ]
        assert max(largest[:2]) < most and largest[2] < of_ccd


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 3, 4, 5, 7, 10, 20, 50))
def test_no_joint_turns_by_more_than_15_degrees_in_a_frame(n):
    for i, (rng, chain, path) in enumerate(smooth_problems(n, 15, 300)):
        rest = random_start(rng, n, "nearly straight") if i % 2 else np.zeros(n)
        solution = solve_even(chain, path, rest=rest)
        turns = np.diff(solution.angles, axis=0)
        turns[:, 0] -= 2.0 * np.pi * np.rint(turns[:, 0] / (2.0 * np.pi))
        assert solution.reached.all() and np.degrees(np.abs(turns).max()) <= 15.0


@pytest.mark.parametrize(
    ("lengths", "tip"), [([1, 2, 1], 4.0), ([0, 1], 1.0), ([2], 2.0), ([1, 0, 1, 1], 3.0)]
)
def test_too_far_stretches_the_chain_at_the_target(lengths, tip):
    chain = Chain(lengths)
    solution = solve_even(chain, [0.0, 9.0], rest=np.full(len(lengths), 0.4))
    assert solution.status == Status.TOO_FAR
    assert np.allclose(forward(chain, solution.angles)[-1], [0.0, tip])
    assert solution.residual == pytest.approx(9.0 - tip)


@pytest.mark.parametrize("lengths", [[5, 1, 1], [1, 5, 1], [1, 1, 5], [1, 0, 5, 1]])
@pytest.mark.parametrize("bend", [1, -1])
def test_too_close_folds_the_chain_to_the_targets_side(lengths, bend):
    chain = Chain(lengths)
    inner = chain.reach[0]
    solution = solve_even(chain, [[0.0, 1.0], [0.0, inner]], rest=np.full(len(lengths), 0.3), bend=bend)
    assert solution.status.tolist() == [Status.TOO_CLOSE, Status.REACHED]
    assert np.allclose(forward(chain, solution.angles)[:, -1], [[0.0, inner]] * 2)
    assert solve_even(chain, [0.0, 0.0]).residual == pytest.approx(inner)


@pytest.mark.parametrize("lengths", [[1.0, 1.0, 1.0], [3.0, 1.0, 1.0], [1.0, 1.0], [2.0, 1.0, 1.0]])
def test_the_rims_are_reached_from_both_sides(lengths):
    chain = Chain(lengths)
    inner, outer = chain.reach
    for rest in (None, np.full(len(lengths), 0.4)):
        for rim in (inner, outer):
            for off in (0.0, 1e-15, -1e-15, 1e-12, -1e-12, 1e-9, -1e-9):
                distance = abs(rim + off * outer)
                solution = solve_even(chain, [distance, 0.0], rest=rest)
                nearest = min(max(distance, inner), outer)
                assert solution.residual == pytest.approx(abs(distance - nearest), abs=1e-14)


def test_a_target_at_the_rest_tip_leaves_the_pose_at_rest():
    chain, rest = Chain([1.0, 0.8, 0.6, 0.4]), np.array([0.2, 0.4, -0.1, 0.5])
    assert np.allclose(solve_even(chain, forward(chain, rest)[-1], rest=rest).angles, rest, atol=1e-7)
    at_root = solve_even(Chain(np.ones(4)), [0.0, 0.0], rest=rest)
    assert at_root.reached and at_root.angles[0] == 0.2


def test_unwilling_joints_bend_less_and_pinned_ones_not_at_all():
    chain = Chain(np.ones(5), weights=[1.0, 1.0, 0.2, 0.0, 1.0])
    solution = solve_even(chain, [2.0, 1.0], rest=[0.0, 0.1, 0.1, 0.3, 0.1])
    turned = np.abs(solution.angles - [0.0, 0.1, 0.1, 0.3, 0.1])
    assert solution.reached and turned[3] == 0.0
    assert turned[2] < 0.5 * min(turned[1], turned[4])
    light = Chain(np.ones(5), weights=[1.0, 1e-3, 2e-4, 0.0, 1e-3])
    again = solve_even(light, [2.0, 1.0], rest=[0.0, 0.1, 0.1, 0.3, 0.1])
    assert np.allclose(again.angles, solution.angles, atol=1e-6)


def test_what_pinned_joints_put_out_of_reach_is_limited():
    chain = Chain([1.0, 1.0, 1.0], weights=[1.0, 0.0, 1.0])
    solution = solve_even(chain, [[2.9, 0.0], [2.0, 0.0]], rest=[0.0, 1.5, 0.2])
    assert solution.status.tolist() == [Status.LIMITED, Status.REACHED]
    assert solution.residual[0] == pytest.approx(2.9 - 2.0 * np.cos(0.75) - 1.0)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-3])  # of the reach
@pytest.mark.parametrize(
    ("chain", "rest"),
    [
        (Chain([1.0, 1.0, 1.0], weights=[1.0, 0.0, 1.0]), [0.0, 1.5, 0.2]),
        (Chain([1.0, 1.0, 1.0], limits=[[-4.0, 4.0], [1.5, 2.5], [-1.0, 1.0]]), [0.0, 1.6, 0.2]),
    ],
    ids=["pinned", "limits"],
)
def test_a_target_is_limited_where_the_tip_misses_it_by_more_than_the_tolerance(chain, rest, tolerance):
    """The second joint is at 1.5, or no straighter: the tip is farthest with the third bone straight on."""
    farthest, limit = 2.0 * np.cos(0.75) + 1.0, tolerance * chain.reach[1]
    off = np.array([-0.5, 0.0, 0.6, 0.95, 1.05, 1.9, 3.0])
    targets = np.outer(farthest + off * limit, [0.6, 0.8])
    solution = solve_even(chain, targets, rest=rest, tolerance=limit)
    assert solution.status.tolist() == [Status.REACHED] * 4 + [Status.LIMITED] * 3
    assert np.allclose(solution.residual[3:], off[3:] * limit, rtol=0.0, atol=0.01 * limit)


@pytest.mark.slow
def test_limits_hold_and_change_nothing_where_the_pose_is_within_them():
    rng = np.random.default_rng(8)
    for n in (2, 3, 6, 12):
        free = Chain(rng.uniform(0.5, 1.5, n))
        targets, rest = annulus(rng, free, 60), np.full(n, 0.1)
        even = solve_even(free, targets, rest=rest)
        most = np.percentile(np.abs(even.angles[:, 1:]).max(axis=1), 50.0)
        limits = np.array([[-np.inf, np.inf]] + [[-most, most]] * (n - 1))
        chain = Chain(free.lengths, limits=limits)
        solution = solve_even(chain, targets, rest=rest)
        within = (np.abs(even.angles[:, 1:]) <= most).all(axis=1)
        assert np.array_equal(solution.angles[within], even.angles[within])
        assert (np.abs(solution.angles[:, 1:]) <= most).all()
        assert solution.reached[within].all()
        assert np.isin(solution.status, [Status.REACHED, Status.LIMITED]).all()
        if n >= 6:
            assert solution.reached.mean() > 0.6


def test_a_limited_root_holds_its_range_as_a_number():
    chain = Chain(np.ones(4), limits=[[1.0, 2.0], [np.nan] * 2, [np.nan] * 2, [np.nan] * 2])
    targets = annulus(np.random.default_rng(1), chain, 40)
    solution = solve_even(chain, targets, rest=[1.5, 0.1, 0.1, 0.1])
    assert ((solution.angles[:, 0] >= 1.0) & (solution.angles[:, 0] <= 2.0)).all()
    assert solution.reached.mean() > 0.6


@pytest.mark.slow
@pytest.mark.parametrize("held", [{"limits": [[-3.0, 3.0]] * 3}, {"weights": [1.0, 0.0, 1.0]}])
def test_limited_is_said_only_where_it_is_proven(held):
    """Too fine a tolerance: some targets within reach are missed by rounding alone."""
    targets = np.random.default_rng(21).uniform(-1.0, 1.0, (60, 2))
    chain = Chain(np.ones(3), **held)
    solution = solve_even(chain, targets, rest=[0.1, 0.2, 0.3], tolerance=1e-20)
    missed = solution.residual > 1e-20
    expected = np.where(reachable(chain, [0.1, 0.2, 0.3]).contains(targets), Status.STALLED, Status.LIMITED)
    assert (solution.status[missed] == expected[missed]).all()
    assert (solution.status == Status.STALLED).any()


def test_softness_eases_into_full_reach():
    chain = Chain(np.ones(4))
    distances = np.linspace(3.0, 6.0, 400)
    targets = np.stack((distances, np.zeros(400)), axis=-1)
    soft, hard = (solve_even(chain, targets, softness=softness) for softness in (0.1, 0.0))
    eased = hard.reached & (soft.residual > 1e-6 * chain.reach[1])
    assert eased.any() and np.array_equal(soft.status, np.where(eased, Status.EASED, hard.status))
    assert np.abs(np.diff(soft.angles, axis=0)).max() < 0.5 * np.abs(np.diff(hard.angles, axis=0)).max()
    tips = forward(chain, soft.angles)[:, -1]
    assert np.allclose(np.hypot(*(tips - targets).T), soft.residual)


def test_targets_sides_and_softness_go_together():
    chain = Chain(np.ones(3))
    solution = solve_even(chain, np.full((2, 1, 2), 0.9), bend=[1, -1], softness=[[0.0], [0.5]])
    assert solution.angles.shape == (2, 2, 3) and solution.status.shape == (2, 2)
    assert np.array_equal(solution.angles[:, 0, 1:], -solution.angles[:, 1, 1:])
    assert solve_even(chain, np.empty((0, 2))).angles.shape == (0, 3)
    assert (solve_even(Chain([0.0, 0.0]), [1.0, 0.0], rest=[0.2, 0.3]).angles == [0.2, 0.3]).all()


@pytest.mark.parametrize("weight", [-0.1, 1.5, np.nan, [0.5]])
def test_a_weight_of_the_root_that_is_none_is_refused(weight):
    with pytest.raises(IK2DError, match="root_weight must"):
        solve_even(Chain([1.0, 1.0, 1.0]), [1.0, 0.0], root_weight=weight)


def test_the_root_does_not_jump_next_to_a_fold():
    rng = np.random.default_rng([50, 376])
    lengths = rng.uniform(1.0, 4.0, 50)
    chain = Chain(lengths / lengths.sum())
    path = smooth_path(rng, 0.2, 0.95, 500, 0.005)
    solution = solve_even(chain, path, rest=np.append(0.0, rng.normal(0.0, 0.3, 49)))
    turns = np.diff(solution.angles, axis=0)
    turns[:, 0] -= 2.0 * np.pi * np.rint(turns[:, 0] / (2.0 * np.pi))
    assert solution.reached.all() and np.degrees(np.abs(turns).max()) < 5.0


def test_more_bones_than_take_a_few_seconds_are_refused():
    with pytest.raises(
        IK2DError, match="^the Even solver takes chains of up to 1000 bones, not 1001; use Arc"
    ):
        solve_even(Chain(np.ones(1001)), [1.0, 0.0])
