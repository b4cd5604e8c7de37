# SPDX-License-Identifier: GPL-3.0-or-later
"""Even for chains that slide, as callers see it: exact, the same in any order, slides within their ranges."""

import numpy as np
import pytest
from chains import annulus, bend_of, smooth_path
from hypothesis import given, settings
from hypothesis import strategies as st

from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_ccd, solve_even, solve_even_path
from ik2d_addon.core.even.search import LEAST_WEIGHT


@st.composite
def sliding_problems(draw):
    """Return a chain that slides, its rest pose, and targets within its annulus."""
    n = draw(st.integers(1, 5))
    lengths = np.array(draw(st.lists(st.floats(0.05, 2.0), min_size=n, max_size=n)))
    parts = np.array(
        draw(st.lists(st.tuples(st.floats(0.0, 0.9), st.floats(0.05, 1.0)), min_size=n, max_size=n))
    )
    chain = Chain(lengths, slides=parts * [-1.0, 1.0] * lengths[:, np.newaxis])
    rest = np.array(draw(st.lists(st.floats(-0.6, 0.6), min_size=n, max_size=n)))
    inner, outer = chain.reach
    parts = np.array(draw(st.lists(st.floats(0.02, 0.999), min_size=3, max_size=3)))
    angles = np.array(draw(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3)))
    radius = inner + parts * (outer - inner)
    return chain, rest, np.stack((radius * np.cos(angles), radius * np.sin(angles)), axis=-1)


@pytest.mark.slow
@settings(max_examples=10, deadline=None, derandomize=True)
@given(sliding_problems(), st.sampled_from([1, -1]), st.sampled_from([None, 1.0]))
def test_chains_that_slide_reach_any_target_in_any_order(problem, bend, root_weight):
    chain, rest, targets = problem
    options = {"bend": bend, "rest": rest, "root_weight": root_weight}
    solution = solve_even(chain, targets, tolerance=1e-9 * chain.reach[1], **options)
    assert solution.reached.all()
    assert (solution.slides >= chain.slides[:, 0]).all() and (solution.slides <= chain.slides[:, 1]).all()
    tips = forward(chain, solution.angles, solution.slides)[:, -1]
    assert np.allclose(np.hypot(*(tips - targets).T), solution.residual, atol=1e-14 * chain.reach[1])
    turned = solve_even(chain, targets[::-1], tolerance=1e-9 * chain.reach[1], **options)
    assert np.array_equal(turned.angles[::-1], solution.angles)
    assert np.array_equal(turned.slides[::-1], solution.slides)


@pytest.mark.slow
@settings(max_examples=6, deadline=None, derandomize=True)
@given(sliding_problems())
def test_a_mirrored_chain_that_slides_has_the_mirrored_answer(problem):
    chain, rest, targets = problem
    rest = np.abs(rest) + 0.01
    solution = solve_even(chain, targets, rest=rest)
    mirrored = solve_even(chain, targets * [1.0, -1.0], rest=-rest)
    joints = forward(chain, mirrored.angles, mirrored.slides) * [1.0, -1.0]
    assert np.allclose(joints, forward(chain, solution.angles, solution.slides), atol=1e-4 * chain.reach[1])
    assert np.allclose(mirrored.slides, solution.slides, atol=1e-5 * chain.reach[1])


@pytest.mark.parametrize("size", [2.0**-40, 1e-280, 1e290])
def test_no_slide_depends_on_the_size_of_the_rig(size):
    lengths, slides = np.array([0.5, 0.3, 0.2]), np.array([[0.0, 0.2], [-0.1, 0.1], [0.0, 0.0]])
    targets = np.array([[0.9, 0.3], [0.2, -0.4], [-1.1, 0.1]])
    small = solve_even(Chain(lengths, slides=slides), targets, rest=[0.1, 0.3, 0.2])
    large = solve_even(Chain(lengths * size, slides=slides * size), targets * size, rest=[0.1, 0.3, 0.2])
    assert large.reached.all() and np.allclose(large.angles, small.angles, atol=1e-6)
    assert np.allclose(large.slides / size, small.slides, atol=1e-6)


def test_a_boom_turns_its_root_and_extends_its_telescopes_alike():
    slides = [[0.0, 0.0], [0.0, 1.5], [0.0, 1.5], [0.0, 0.5]]
    boom = Chain([2.0, 2.0, 2.0, 2.0], weights=[1.0, 0.0, 0.0, 0.0], slides=slides)
    distances = np.array([8.0, 9.2, 10.5, 11.5, 12.0])
    targets = distances[:, np.newaxis] * [np.cos(0.7), np.sin(0.7)]
    solution = solve_even(boom, targets)
    assert solution.status.tolist() == [Status.REACHED] * 4 + [Status.TOO_FAR]
    assert np.allclose(solution.angles, [0.7, 0.0, 0.0, 0.0])
    extended = [[0.0, 0.0, 0.0], [0.4, 0.4, 0.4], [1.0, 1.0, 0.5], [1.5, 1.5, 0.5], [1.5, 1.5, 0.5]]
    assert np.allclose(solution.slides[:, 1:], extended) and (solution.slides[:, 0] == 0.0).all()
    assert solution.residual[-1] == pytest.approx(0.5)
    too_close = solve_even(boom, [5.0, 0.0])
    assert too_close.status == Status.LIMITED and too_close.residual == pytest.approx(3.0)


@pytest.mark.slow
def test_a_path_along_a_sliding_chain_has_no_jump():
    chain = Chain(np.ones(5), slides=np.tile([-0.3, 0.4], (5, 1)))
    path = smooth_path(np.random.default_rng(1), 0.2, 0.95, 500, 0.005) * chain.reach[1]
    solution = solve_even_path(chain, path, rest=np.append(0.0, np.full(4, 0.2)))
    turns = np.diff(solution.angles, axis=0)
    turns[:, 0] -= 2.0 * np.pi * np.rint(turns[:, 0] / (2.0 * np.pi))
    assert solution.reached.all() and np.degrees(np.abs(turns).max()) < 15.0
    assert np.abs(np.diff(solution.slides, axis=0)).max() < 0.05 * chain.reach[1]


def test_willing_slides_spare_the_joints():
    chain, rest = Chain(np.ones(4), slides=np.tile([-0.5, 0.5], (4, 1))), np.full(4, 0.4)
    stiff, even, willing = (
        solve_even(chain, [2.0, 1.0], rest=rest, slide_weight=weight) for weight in (1e-4, 1.0, 1e4)
    )
    bends = [np.abs(solution.angles[1:] - rest[1:]).max() for solution in (willing, even, stiff)]
    assert bends[0] < 0.1 * bends[1] < bends[2] and np.abs(stiff.slides).max() < 0.05
    rigid = solve_even(Chain(np.ones(4)), [2.0, 1.0], rest=rest)
    assert np.allclose(stiff.angles, rigid.angles, atol=0.02) and (rigid.slides == 0.0).all()


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf, [1.0]])
def test_a_slide_weight_that_is_none_is_refused(weight):
    with pytest.raises(IK2DError, match="slide_weight must"):
        solve_even(Chain([1.0, 1.0]), [1.0, 0.0], slide_weight=weight)


@pytest.mark.slow
def test_a_counted_root_costs_no_more_than_a_free_one():
    chain, rest = Chain(np.ones(4), slides=np.tile([0.0, 0.5], (4, 1))), np.full(4, 0.3)
    targets = annulus(np.random.default_rng(4), chain, 60)
    costs = []
    for root_weight in (None, 1.0):
        solution = solve_even(chain, targets, rest=rest, root_weight=root_weight)
        assert solution.reached.all()
        slid = ((solution.slides / chain.reach[1]) ** 2).sum(axis=1)
        costs.append(((solution.angles - rest) ** 2).sum(axis=1) + slid)
    assert (costs[1] <= costs[0] + 1e-9).all() and costs[1].mean() < 0.8 * costs[0].mean()


def test_a_root_that_does_not_turn_leaves_slides_and_joints_to_reach():
    chain = Chain(np.ones(3), slides=np.tile([0.0, 0.5], (3, 1)))
    targets = forward(chain, [[0.3, 0.4, 0.2], [0.3, -0.5, 0.9]], [[0.1, 0.3, 0.0], [0.4, 0.2, 0.3]])[:, -1]
    solution = solve_even(chain, targets, rest=[0.3, 0.1, 0.1], root_weight=0.0)
    assert solution.reached.all() and (solution.angles[:, 0] == 0.3).all()


def test_a_root_that_does_not_turn_leaves_the_least_bend_to_slides_and_joints():
    chain, rest = Chain(np.ones(4), slides=np.tile([-0.3, 0.5], (4, 1))), np.array([0.3, 0.4, 0.4, 0.4])
    rng = np.random.default_rng(6)
    poses = rest + rng.normal(0.0, 0.5, (12, 4)) * [0.0, 1.0, 1.0, 1.0]
    targets = forward(chain, poses, rng.uniform(-0.3, 0.5, (12, 4)))[:, -1]
    solution = solve_even(chain, targets, rest=rest, root_weight=0.0)
    held = Chain(chain.lengths, weights=[0.0, 1.0, 1.0, 1.0], slides=chain.slides)
    other = solve_ccd(held, targets, start=rest)
    costs = [
        bend_of(one.angles, rest) + ((one.slides / chain.reach[1]) ** 2).sum(axis=1)
        for one in (solution, other)
    ]
    assert solution.reached.all() and other.reached.all()
    assert (costs[0] <= costs[1] + 1e-9).all() and costs[0].mean() < 0.9 * costs[1].mean()


@pytest.mark.parametrize("heading", [0.7, -2.0, 8.0])
@pytest.mark.parametrize("root_weight", [0.0, 0.5])
def test_where_the_root_points_at_rest_turns_a_pose_that_slides_and_changes_nothing_else(
    root_weight, heading
):
    chain, rest = Chain(np.ones(3), slides=np.tile([0.0, 0.5], (3, 1))), np.array([0.0, 0.3, 0.1])
    targets = forward(chain, [rest, [0.0, -0.2, 0.6]], [[0.0] * 3, [0.1, 0.3, 0.0]])[:, -1]
    c, s, turn = np.cos(heading), np.sin(heading), np.array([heading, 0.0, 0.0])
    level = solve_even(chain, targets, rest=rest, root_weight=root_weight)
    turned = solve_even(chain, targets @ [[c, s], [-s, c]], rest=rest + turn, root_weight=root_weight)
    assert level.reached.all() and turned.reached.all()
    assert np.allclose(turned.angles, level.angles + turn, rtol=0.0, atol=1e-5)
    assert np.allclose(turned.slides, level.slides, rtol=0.0, atol=1e-5 * chain.reach[1])
    assert np.allclose(level.angles[0], rest, rtol=0.0, atol=1e-6)


def test_limits_hold_for_chains_that_slide():
    limits = np.array([[-np.inf, np.inf]] + [[-0.5, 0.5]] * 4)
    chain = Chain(np.ones(5), limits=limits, slides=np.tile([-0.4, 0.4], (5, 1)))
    targets = annulus(np.random.default_rng(6), chain, 30)
    solution = solve_even(chain, targets, rest=np.full(5, 0.1))
    assert (np.abs(solution.angles[:, 1:]) <= 0.5).all()
    assert (np.abs(solution.slides) <= 0.4).all() and solution.reached.mean() > 0.5
    assert np.isin(solution.status, [Status.REACHED, Status.LIMITED]).all()


def test_softness_eases_slides_into_full_reach():
    chain = Chain(np.ones(3), slides=np.tile([0.0, 0.5], (3, 1)))
    targets = np.stack((np.linspace(3.0, 6.0, 100), np.zeros(100)), axis=-1)
    soft, hard = (solve_even(chain, targets, softness=softness) for softness in (0.2, 0.0))
    eased = hard.reached & (soft.residual > 1e-6 * chain.reach[1])
    assert eased.any() and np.array_equal(soft.status, np.where(eased, Status.EASED, hard.status))
    tips = forward(chain, soft.angles, soft.slides)[:, -1]
    assert np.allclose(np.hypot(*(tips - targets).T), soft.residual)
    assert (soft.slides < hard.slides - 0.01)[60:].any() and (np.diff(soft.slides, axis=0) > -1e-9).all()


@pytest.mark.parametrize(
    ("slides", "rest"),
    [
        ([[0.0, 0.5], [0.0, 0.0], [0.0, 1.0]], [0.1, 0.2, 0.3]),
        ([[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]], [0.0, 0.0, 0.0]),
    ],
)
def test_bones_that_slide_from_no_length_at_all_reach(slides, rest):
    chain = Chain(np.zeros(3), slides=slides)
    solution = solve_even(chain, [[0.0, 0.0], [0.5, 0.1], [1.2, 0.3], [9.0, 9.0]], rest=rest)
    assert solution.status.tolist() == [Status.REACHED] * 3 + [Status.TOO_FAR]


def test_a_slide_of_one_value_is_a_rigid_bone_of_another_length():
    slid = Chain([0.5, 0.5, 0.7], slides=[[0.2, 0.2], [-0.1, -0.1], [0.0, 0.0]])
    rigid = Chain([0.7, 0.4, 0.7])
    targets = annulus(np.random.default_rng(2), rigid, 20)
    for rest in (np.zeros(3), np.full(3, 0.3)):
        own, other = solve_even(slid, targets, rest=rest), solve_even(rigid, targets, rest=rest)
        assert np.allclose(own.angles, other.angles, atol=1e-3)
        assert (own.slides == [0.2, -0.1, 0.0]).all()


@pytest.mark.parametrize("weight", (5e-324, 1e-310, 1e-300, 1e-30, 1e-12))
@pytest.mark.parametrize("root_weight", (None, 1.0, 1e-310))
def test_weights_without_digits_beside_slides_are_the_least_weight(weight, root_weight):
    slides, targets = [[0.0, 0.0], [-0.3, 0.5], [0.0, 0.2]], [[1.0, 0.5], [2.9, 0.0], [0.1, 0.0]]
    for weights in ([weight] * 3, [1.0, weight, 1.0], [1.0, 1.0, weight]):
        found, least = (
            solve_even(Chain(np.ones(3), None, each, slides), targets, root_weight=root_weight)
            for each in (weights, np.maximum(weights, LEAST_WEIGHT))
        )
        assert found.reached.all() and np.array_equal(found.angles, least.angles)


# --- Slides of one value ---------------------------------------------------------------------------

HELD = np.array([0.3, 0.2, 0.25, -0.1])
BONES = np.array([0.7, 0.8, 0.75, 0.5])
LIMITS = np.radians([[-60, 60], [-90, 90], [-90, 90], [-90, 90]])


@pytest.mark.slow
@pytest.mark.parametrize("limits", [None, LIMITS])
@pytest.mark.parametrize("root_weight", [None, 1.0, 0.0])
def test_slides_of_one_value_are_a_part_of_the_bones(limits, root_weight):
    slid = Chain(BONES, limits=limits, slides=np.stack((HELD, HELD), axis=1))
    rigid = Chain(BONES + HELD, limits=limits)
    poses = np.random.default_rng(2).uniform(*LIMITS.T, (200, 4))
    targets = forward(rigid, poses)[:, -1]
    options = {"root_weight": root_weight, "softness": 0.0}
    found, expected = solve_even(slid, targets, **options), solve_even(rigid, targets, **options)
    assert np.array_equal(found.angles, expected.angles) and np.array_equal(found.status, expected.status)
    assert (found.slides == HELD).all()
    if root_weight is None:
        assert found.reached.all()


@pytest.mark.slow
@pytest.mark.parametrize("sliding", range(4))
def test_a_chain_reaches_within_limits_where_one_bone_slides_and_the_others_hold(sliding):
    slides = np.stack((HELD, HELD), axis=1)
    slides[sliding] = -0.2, 0.3
    chain = Chain(BONES, limits=LIMITS, slides=slides)
    rng = np.random.default_rng(sliding)
    poses, given = rng.uniform(*LIMITS.T, (100, 4)), rng.uniform(*slides.T, (100, 4))
    targets = forward(chain, poses, given)[:, -1]
    solution = solve_even(chain, targets)
    assert solution.reached.all()
    assert (solution.slides >= slides[:, 0]).all() and (solution.slides <= slides[:, 1]).all()
    tips = forward(chain, solution.angles, solution.slides)[:, -1]
    assert np.abs(tips - targets).max() < 1e-6 * chain.reach[1]


def test_a_path_goes_on_as_that_of_rigid_bones():
    slid = Chain(BONES, limits=LIMITS, slides=np.stack((HELD, HELD), axis=1))
    rigid = Chain(BONES + HELD, limits=LIMITS)
    turns = np.linspace(0.0, 1.0, 60)[:, np.newaxis]
    first, last = np.array([0.4, 1.5, -1.5, 1.5]), np.array([-0.4, -1.5, 1.5, -1.5])
    targets = forward(rigid, first + turns * (last - first))[:, -1]
    start = solve_even(rigid, targets[:1]).angles[0] * [1.0, -1.0, -1.0, -1.0]
    found = solve_even_path(slid, targets, start=start, start_slides=HELD)
    expected = solve_even_path(rigid, targets, start=start)
    assert np.array_equal(found.angles, expected.angles) and expected.parted.any()
    assert (found.slides == HELD).all()
