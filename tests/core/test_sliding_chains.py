# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose bones slide: every target in reach is reached, within all ranges, alone and along a path."""

import numpy as np
import pytest
from chains import SLIDING, pose_within, sliding_chain, smooth_path
from hypothesis import given, settings
from hypothesis import strategies as st

from ik2d_addon.core import (
    Chain,
    IK2DError,
    Status,
    ccd_slide_step,
    forward,
    reachable,
    solve_ccd,
    solve_ccd_path,
)
from ik2d_addon.core.path import turned_over

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(SLIDING)


def tips_of(rng, chain, start, count):
    """Return the tips (count, 2) of random poses whose joints of weight 0 stand as in the start."""
    poses = [pose_within(rng, chain, start) for _ in range(count)]
    return np.array([forward(chain, angles, slides)[-1] for angles, slides in poses])


def start_of(rng, chain):
    """Return angles (n,) bent a little, within the limits."""
    return np.clip(rng.uniform(-0.3, 0.3, len(chain)), *chain.ranges.T)


def is_within(chain, solution):
    """Return whether all angles and slides of a solution lie in their ranges."""
    inside = [
        (values >= low) & (values <= high)
        for values, (low, high) in (
            (solution.angles, chain.ranges.T),
            (solution.slides, chain.slide_ranges.T),
        )
    ]
    return bool(np.all(inside))


def distance_of(chain, solution, targets):
    return np.hypot(
        *np.moveaxis(forward(chain, solution.angles, solution.slides)[..., -1, :] - targets, -1, 0)
    )


# --- Targets on their own -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n", (1, 2, 3, 5, 10, 20, 50))
def test_every_tip_of_a_pose_within_the_ranges_is_reached(n):
    for place, kind in enumerate(SLIDING):
        rng = np.random.default_rng([n, place])
        for _ in range(3 if n < 10 else 1):
            chain = sliding_chain(rng, n, kind)
            start = start_of(rng, chain)
            targets = tips_of(rng, chain, start, 12)
            for part in (1e-6, 1e-9):
                solution = solve_ccd(chain, targets, start=start, tolerance=part * chain.reach[1])
                assert solution.reached.all()
                assert distance_of(chain, solution, targets).max() <= part * chain.reach[1]
                assert is_within(chain, solution)
                if chain.weights is not None:
                    held = chain.weights == 0.0
                    assert (solution.angles[:, held] == start[held]).all()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(seed=seeds, kind=kinds, n=st.integers(1, 8))
def test_a_target_is_reached_within_the_ranges_or_it_is_proven_that_none_reaches_it(seed, kind, n):
    rng = np.random.default_rng(seed)
    chain = sliding_chain(rng, n, kind)
    start, outer = start_of(rng, chain), chain.reach[1]
    targets = rng.uniform(-1.1, 1.1, (6, 2)) * outer
    solution = solve_ccd(chain, targets, start=start, start_slides=pose_within(rng, chain)[1])
    assert is_within(chain, solution)
    assert np.allclose(solution.residual, distance_of(chain, solution, targets), rtol=0.0, atol=1e-12 * outer)
    assert (solution.status != Status.STALLED).all()
    away = reachable(chain, start).nearest(targets)[1]
    assert np.abs(solution.residual - away).max() <= 1e-6 * outer
    tips = tips_of(rng, chain, start, 300)
    for target, residual in zip(targets, solution.residual, strict=True):
        assert residual <= np.hypot(*(tips - target).T).min() + 1e-6 * outer


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=seeds, kind=kinds, n=st.integers(1, 8))
def test_a_mirrored_chain_and_target_give_mirrored_angles_and_the_same_slides(seed, kind, n):
    rng = np.random.default_rng(seed)
    chain = sliding_chain(rng, n, kind)
    limits = None if chain.limits is None else -chain.limits[:, ::-1]
    other = Chain(chain.lengths, limits, chain.weights, chain.slides)
    start, (_, slides) = start_of(rng, chain), pose_within(rng, chain)
    targets = tips_of(rng, chain, start, 4)
    one = solve_ccd(chain, targets, start=start, start_slides=slides, bend=1)
    two = solve_ccd(other, targets * [1.0, -1.0], start=-start, start_slides=slides, bend=-1)
    assert np.allclose(two.angles, -one.angles, rtol=0.0, atol=1e-6)
    assert np.allclose(two.slides, one.slides, rtol=0.0, atol=1e-6 * chain.reach[1])


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(seed=seeds, kind=kinds, n=st.integers(1, 8), power=st.integers(-60, 60))
def test_no_answer_depends_on_the_size_of_the_chain(seed, kind, n, power):
    rng, size = np.random.default_rng(seed), 2.0**power
    chain = sliding_chain(rng, n, kind)
    limits = None if chain.limits is None else chain.limits
    other = Chain(chain.lengths * size, limits, chain.weights, chain.slides * size)
    start, (_, slides) = start_of(rng, chain), pose_within(rng, chain)
    targets = rng.uniform(-1.0, 1.0, (4, 2)) * chain.reach[1]
    one = solve_ccd(chain, targets, start=start, start_slides=slides)
    two = solve_ccd(other, targets * size, start=start, start_slides=slides * size)
    assert np.array_equal(two.angles, one.angles)
    assert np.array_equal(two.slides, one.slides * size)
    assert np.array_equal(two.status, one.status)


def test_a_batch_is_its_targets_one_by_one():
    rng = np.random.default_rng(1)
    chain = sliding_chain(rng, 4, "two-sided")
    targets, starts = tips_of(rng, chain, None, 30).reshape(5, 6, 2), rng.uniform(-1.0, 1.0, (6, 4))
    slides = chain.slides[:, 0] + rng.random((5, 1, 4)) * np.ptp(chain.slides, axis=1)
    together = solve_ccd(chain, targets, start=starts, start_slides=slides)
    assert together.slides.shape == together.angles.shape == (5, 6, 4)
    for i, j in np.ndindex(5, 6):
        alone = solve_ccd(chain, targets[i, j], start=starts[j], start_slides=slides[i, 0])
        assert np.array_equal(alone.angles, together.angles[i, j])
        assert np.array_equal(alone.slides, together.slides[i, j])


def test_a_bone_that_only_slides_reaches_what_is_on_its_line_and_the_nearest_point_of_it():
    chain = Chain([1.0], weights=[0.0], slides=[(-0.5, 1.0)])
    direction = np.array([np.cos(0.4), np.sin(0.4)])
    across = np.array([-direction[1], direction[0]])
    for along, off, nearest in ((1.7, 0.0, 1.7), (0.5, 0.0, 0.5), (1.2, 0.3, 1.2), (-0.4, 0.0, 0.5)):
        target = along * direction + off * across
        solution = solve_ccd(chain, target, start=[0.4])
        reached = nearest == along and off == 0.0
        assert solution.angles[0] == 0.4
        assert solution.slides[0] == pytest.approx(nearest - 1.0, abs=2e-6)
        assert solution.residual == pytest.approx(np.hypot(along - nearest, off), abs=2e-6)
        if np.hypot(*target) >= 0.5:
            assert solution.status == (Status.REACHED if reached else Status.LIMITED)
    assert solve_ccd(chain, 3.0 * direction, start=[0.4]).status == Status.TOO_FAR


def test_a_target_off_the_annulus_is_too_far_or_too_close_by_the_exact_distance():
    chain = Chain([3.0, 0.5, 0.5], slides=[(-0.5, 0.5), (0.0, 0.2), (np.nan, np.nan)])
    assert chain.reach == pytest.approx((1.3, 4.7))
    for distance, status in ((9.0, Status.TOO_FAR), (0.7, Status.TOO_CLOSE), (0.0, Status.TOO_CLOSE)):
        solution = solve_ccd(chain, [0.0, distance], start=np.full(3, 0.1))
        assert solution.status == status
        border = 4.7 if status == Status.TOO_FAR else 1.3
        assert solution.residual == pytest.approx(abs(distance - border), abs=1e-9)
        assert is_within(chain, solution)


def test_a_telescope_extends_straight_and_by_equal_parts():
    chain = Chain(np.ones(4), slides=[(0, 0), (0, 0.8), (0, 0.8), (0, 0.8)])
    near = solve_ccd(chain, [4.6, 0.0], start=np.zeros(4))
    assert np.array_equal(near.angles, np.zeros(4))
    assert np.allclose(near.slides, [0.0, 0.2, 0.2, 0.2], rtol=0.0, atol=1e-9)
    boom = Chain(np.ones(4), weights=[1.0, 0.0, 0.0, 0.0], slides=[(0, 0), (0, 0.2), (0, 0.8), (0, 0.8)])
    path = np.linspace(4.0, 5.8, 40)[:, np.newaxis] * [np.cos(0.5), np.sin(0.5)]
    solution = solve_ccd_path(boom, path, start=[0.5, 0.0, 0.0, 0.0])
    assert solution.reached.all()
    assert np.allclose(solution.angles, [0.5, 0.0, 0.0, 0.0], rtol=0.0, atol=1e-9)
    added = np.linspace(0.0, 1.8, 40)
    expected = np.where(added <= 0.6, added / 3.0, 0.5 * (added - 0.2))
    assert np.allclose(solution.slides[:, 2], expected, rtol=0.0, atol=1e-5)
    assert np.allclose(solution.slides[:, 1], np.minimum(added / 3.0, 0.2), rtol=0.0, atol=1e-5)


def test_a_straight_chain_points_at_a_target_far_off_and_stays_straight_where_slides_reach_it():
    chain = Chain(np.ones(3), slides=[(0.0, 0.5)] * 3)
    solution = solve_ccd(chain, [-2.0, 3.0], start=np.zeros(3))
    assert solution.reached
    assert np.allclose(solution.angles, [np.arctan2(3.0, -2.0), 0.0, 0.0], rtol=0.0, atol=1e-9)
    assert np.allclose(solution.slides, np.hypot(2.0, 3.0) / 3.0 - 1.0, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("bend", (1, -1))
def test_a_straight_chain_whose_slides_are_at_their_end_bends_to_its_side(bend):
    chain = Chain(np.ones(4), slides=[(0.0, 0.5)] * 4)
    for distance in (3.9999, 3.9, 3.0, 1.5, 0.2):
        solution = solve_ccd(chain, [distance, 0.0], start=np.zeros(4), bend=bend)
        assert solution.reached
        assert bend * solution.angles[1:].sum() > 0.0


def test_from_a_start_close_by_little_moves():
    rng = np.random.default_rng(6)
    for kind in SLIDING:
        chain = sliding_chain(rng, 6, kind)
        for _ in range(10):
            angles, slides = pose_within(rng, chain)
            moved = np.clip(slides + rng.normal(0.0, 1e-4, 6), *chain.slide_ranges.T)
            turned = angles + rng.normal(0.0, 1e-4, 6) * (1.0 if chain.weights is None else chain.weights)
            target = forward(chain, np.clip(turned, *chain.ranges.T), moved)[-1]
            solution = solve_ccd(chain, target, start=angles, start_slides=slides, tolerance=1e-9)
            assert solution.reached and solution.iterations <= 6
            assert np.abs(solution.angles - angles).max() <= 1e-2
            assert np.abs(solution.slides - slides).max() <= 1e-2


def test_a_heavier_joint_turns_more():
    target, turns = [4.3, 0.8], []
    for weight in (1.0, 0.5, 0.1):
        chain = Chain(np.ones(4), weights=[1.0, weight, 1.0, 1.0], slides=[(0.0, 0.5)] * 4)
        solution = solve_ccd(chain, target, start=np.full(4, 0.1))
        assert solution.reached
        turns.append(abs(solution.angles[1] - 0.1))
    assert turns[0] > turns[1] > turns[2]


def test_softness_keeps_the_tip_short_of_full_reach_with_all_slides():
    chain = Chain([1.0, 1.0], slides=[(0.0, 1.0), (0.0, 1.0)])
    solution = solve_ccd(chain, [[2.0, 0.0], [3.9, 0.0], [4.5, 0.0]], start=[0.1, 0.2], softness=0.2)
    assert solution.status.tolist() == [Status.REACHED, Status.EASED, Status.TOO_FAR]
    assert solution.residual[0] <= 4e-6 and solution.residual[1] > 0.05
    assert np.hypot(*forward(chain, solution.angles, solution.slides)[2, -1]) < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("size", (1e-250, 1e-30, 1.0, 1e200))
def test_chains_and_targets_of_any_size_give_finite_numbers_within_the_ranges(size):
    rng = np.random.default_rng(9)
    with np.errstate(all="raise", under="ignore"):
        for kind in SLIDING:
            chain = sliding_chain(rng, 3, kind, scale=size)
            targets = [[0.0, 0.0], [1e300, -1e300], [1e-300, 1e-290], [size, 0.0], [0.0, -0.3 * size]]
            start = start_of(rng, chain)
            for solution in (
                solve_ccd(chain, targets, start=start),
                solve_ccd_path(chain, targets, start=start),
            ):
                assert is_within(chain, solution) and np.isfinite(solution.residual).all()
                angles, slides, _ = ccd_slide_step(chain, start, np.zeros(3), targets[1], tolerance=1e-6)
                assert np.isfinite(forward(chain, angles, slides)).all()


# --- Paths ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 3, 5, 8, 12))
@pytest.mark.parametrize("kind", ("one-sided", "two-sided", "some"))
def test_along_a_smooth_path_nothing_jumps(n, kind):
    for seed in range(3):
        rng = np.random.default_rng([n, seed])
        chain = sliding_chain(rng, n, kind)
        inner, outer = chain.reach
        low = max(inner / outer + 0.1, 0.2)
        if low > 0.9:
            continue
        path = smooth_path(rng, low, 0.95, 150, 0.005) * outer
        solution = solve_ccd_path(chain, path, start=rng.uniform(-0.5, 0.5, n))
        assert solution.reached.all()
        assert is_within(chain, solution)
        assert np.degrees(np.abs(np.diff(solution.angles, axis=0)).max()) <= 15.0
        assert np.abs(np.diff(solution.slides, axis=0)).max() <= 0.1 * outer


@pytest.mark.slow
@pytest.mark.parametrize("sections", (1, 3))
def test_a_crane_follows_a_smooth_path(sections):
    """A jib that turns, a boom that lifts, and sections that extend."""
    n = sections + 2
    chain = Chain(
        [0.4, 1.0, *np.full(sections, 0.2)],
        [[np.nan, np.nan], [-2.8, 2.8], *[[0.0, 0.0]] * sections],
        slides=[(0.0, 0.0), (0.0, 0.0), *[(0.0, 0.5)] * sections],
    )
    longest = 0.4 + 1.0 + 0.7 * sections
    low, high = (1.0 + 0.2 * sections - 0.4) / longest + 0.1, 0.95
    path = smooth_path(np.random.default_rng(sections), low, high, 300, 0.005) * longest
    solution = solve_ccd_path(chain, path, start=np.append([0.2, 0.5], np.zeros(sections)))
    assert solution.reached.all() and is_within(chain, solution)
    assert np.degrees(np.abs(np.diff(solution.angles, axis=0)).max()) <= 15.0
    assert np.abs(np.diff(solution.slides, axis=0)).max() <= 0.1 * longest
    assert np.ptp(solution.slides[:, 2]) > 0.05 and solution.slides.shape == (300, n)


def test_each_frame_starts_from_the_slides_of_the_one_before():
    rng = np.random.default_rng(3)
    chain = sliding_chain(rng, 5, "two-sided")
    path = smooth_path(rng, 0.3, 0.9, 40, 0.01) * chain.reach[1]
    angles, slides = pose_within(rng, chain)
    solution = solve_ccd_path(chain, path, start=angles, start_slides=slides, posture_gain=0.0)
    for row, target in enumerate(path):
        one = solve_ccd(chain, target, start=angles, start_slides=slides)
        assert np.allclose(one.angles, solution.angles[row], rtol=0.0, atol=1e-9)
        assert np.allclose(one.slides, solution.slides[row], rtol=0.0, atol=1e-9)
        angles, slides = solution.angles[row], solution.slides[row]


def test_where_the_bend_changes_the_pose_is_mirrored_with_its_slides():
    chain = Chain([1.0, 0.8, 0.6], slides=[(0.0, 1.0)] * 3)
    angles, slides = np.array([0.2, 0.7, 0.4]), np.array([0.9, 0.1, 0.4])
    tip = forward(chain, angles, slides)[-1]
    turned = turned_over(chain, angles.tolist(), -1.0, slides.tolist())
    assert np.allclose(forward(chain, turned, slides)[-1], tip)
    assert np.allclose(turned[1:], -angles[1:])
    path = np.tile(tip, (3, 1))
    solution = solve_ccd_path(chain, path, start=angles, start_slides=slides, bend=[1, -1, -1])
    assert np.allclose(solution.angles[0], angles) and np.allclose(solution.angles[1:], turned)
    assert np.allclose(solution.slides, slides)


def test_a_chain_that_was_stretched_bends_back_to_the_side_it_came_from():
    chain, slides = Chain(np.ones(3), slides=[(0.0, 2.0)] * 3), np.full(3, 1.5)
    for side in (1.0, -1.0):
        angles = np.array([0.3, -0.1, -0.1]) * -side
        path = [forward(chain, angles, slides)[-1], [20.0, 0.0], [1.0, 0.0]]
        solution = solve_ccd_path(chain, path, start=angles, start_slides=slides, bend=-side)
        assert solution.status.tolist() == [Status.REACHED, Status.TOO_FAR, Status.REACHED]
        assert np.allclose(solution.angles[1, 1:], 0.0) and np.allclose(solution.slides[1], 2.0)
        assert side * solution.angles[2, 1:].sum() > 0.1


# --- Input ----------------------------------------------------------------------------------------


def test_a_start_begins_without_slides_as_near_as_their_ranges_have_it():
    chain = Chain([1.0, 1.0], slides=[(0.2, 0.5), (-0.5, 0.5)])
    target = forward(chain, [0.3, 0.4], [0.2, 0.0])[-1]
    for slides in (None, [0.0, 0.0], [-9.0, 0.0]):
        solution = solve_ccd(chain, target, start=[0.3, 0.4], start_slides=slides)
        assert solution.iterations == 0
        assert np.allclose(solution.slides, [0.2, 0.0])
    assert not solve_ccd(Chain([1.0, 1.0]), [1.0, 1.0], start=[0.0, 0.1]).slides.any()


@pytest.mark.parametrize(
    ("slides", "words"), [([0.0], "start_slides must hold 2"), ([0.0, np.nan], "start_slides must be finite")]
)
def test_start_slides_that_do_not_fit_are_refused(slides, words):
    for chain in (Chain([1.0, 1.0]), Chain([1.0, 1.0], slides=[(0.0, 1.0)] * 2)):
        with pytest.raises(IK2DError, match=words):
            solve_ccd(chain, [1.0, 0.0], start=[0.0, 0.0], start_slides=slides)
        with pytest.raises(IK2DError, match=words):
            solve_ccd_path(chain, [[1.0, 0.0]], start=[0.0, 0.0], start_slides=slides)
    with pytest.raises(IK2DError, match="one start"):
        solve_ccd_path(chain, [[1.0, 0.0]], start=[0.0, 0.0], start_slides=np.zeros((1, 2)))


def test_a_chain_of_no_length_at_all_stays_as_it_is():
    chain = Chain([0.0, 0.0], slides=[(0.0, 0.0), (np.nan, 0.0)])
    assert not solve_ccd(chain, [1.0, 0.0], start=[0.1, 0.2]).slides.any()
