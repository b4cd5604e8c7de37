# SPDX-License-Identifier: GPL-3.0-or-later
"""The analytic two-bone solver, against an independent reference and the article's remarks."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_two_bone
from ik2d_addon.core.two_bone import BLOCK, are_plain, solve_pairs


def reference_joints(d1, d2, x, y, bend):
    """The elbow and the tip, as the intersection of two circles, in 60 digits and without angles."""
    with mpmath.workdps(60):
        d1, d2, x, y = (mpmath.mpf(float(v)) for v in (d1, d2, x, y))
        h = mpmath.hypot(x, y)
        ux, uy = (x / h, y / h) if h else (mpmath.mpf(1), mpmath.mpf(0))
        reach = min(max(h, abs(d1 - d2)), d1 + d2)
        if reach == 0:
            return None, (mpmath.mpf(0), mpmath.mpf(0))
        along = (reach**2 + d1**2 - d2**2) / (2 * reach)
        aside = -bend * mpmath.sqrt(max(0, d1**2 - along**2))
        return (along * ux - aside * uy, along * uy + aside * ux), (reach * ux, reach * uy)


def random_cases(count, seed):
    """Lengths over eight decades, targets inside, outside and near both borders of the annulus."""
    rng = np.random.default_rng(seed)
    d1 = 10.0 ** rng.uniform(-4, 4, count)
    kind = rng.random(count)  # equal, alike, or of any two lengths
    d2 = np.where(kind < 0.2, d1, np.where(kind < 0.6, d1 * 10.0 ** rng.uniform(-1, 1, count), 0.0))
    d2 = np.where(kind < 0.6, d2, 10.0 ** rng.uniform(-4, 4, count))
    inner, outer = np.abs(d1 - d2), d1 + d2
    kind = rng.integers(0, 5, count)
    near = 10.0 ** rng.uniform(-15, -2, count) * rng.choice([-1.0, 1.0], count)
    radius = np.choose(
        kind,
        [
            rng.uniform(0, 2, count) * outer,
            inner * (1 + near),
            outer * (1 + near),
            near * outer,
            inner + 0 * d1,
        ],
    )
    angle = rng.uniform(-np.pi, np.pi, count)
    return d1, d2, radius * np.cos(angle), radius * np.sin(angle), rng.choice([-1, 1], count)


@pytest.mark.slow
def test_joints_equal_an_independent_reference_over_eight_decades():
    for d1, d2, x, y, bend in zip(*random_cases(1500, seed=3), strict=True):
        chain = Chain([d1, d2])
        joints = forward(chain, solve_two_bone(chain, [x, y], bend=bend).angles)
        _, tip = reference_joints(d1, d2, x, y, bend)
        error = np.hypot(float(joints[2, 0] - tip[0]), float(joints[2, 1] - tip[1]))
        assert error <= 1e-9 * (d1 + d2), (d1, d2, x, y, bend, error)


@pytest.mark.slow
def test_elbows_equal_the_reference_on_the_asked_side():
    rng = np.random.default_rng(4)
    for _ in range(1000):
        d1, d2 = rng.uniform(0.2, 2.0, 2)
        h = rng.uniform(abs(d1 - d2) + 0.01, d1 + d2 - 0.01)
        a, bend = rng.uniform(-np.pi, np.pi), rng.choice([-1, 1])
        x, y = h * np.cos(a), h * np.sin(a)
        chain = Chain([d1, d2])
        elbow = forward(chain, solve_two_bone(chain, [x, y], bend=bend).angles)[1]
        expected, _ = reference_joints(d1, d2, x, y, bend)
        assert np.allclose(elbow, [float(v) for v in expected], atol=1e-12 * (d1 + d2) / 0.01)


@pytest.mark.parametrize("bend", [1, -1])
def test_bend_is_the_sign_of_the_second_angle(bend):
    solution = solve_two_bone(Chain([1.0, 0.7]), np.random.default_rng(5).uniform(-2, 2, (500, 2)), bend=bend)
    assert (solution.angles[:, 1] * bend >= 0.0).all()
    assert (np.abs(solution.angles) <= np.pi).all()


def test_bend_may_vary_per_target():
    chain = Chain([1.0, 0.7])
    solution = solve_two_bone(chain, [1.2, 0.3], bend=[1, -1, 1])
    assert np.array_equal(np.sign(solution.angles[:, 1]), [1, -1, 1])
    assert (solution.status == Status.REACHED).all()


@pytest.mark.parametrize("quadrant", range(8))
def test_article_every_quadrant_and_axis(quadrant):
    angle = quadrant * np.pi / 4
    chain = Chain([1.0, 0.8])
    target = 1.1 * np.array([np.cos(angle), np.sin(angle)])
    solution = solve_two_bone(chain, target)
    assert solution.status == Status.REACHED
    assert np.allclose(forward(chain, solution.angles)[-1], target, atol=1e-12)


@pytest.mark.parametrize("lengths", [(1.0, 0.6), (0.6, 1.0)])
def test_article_too_far_stretches_towards_the_target(lengths):
    chain = Chain(lengths)
    solution = solve_two_bone(chain, [0.0, 5.0])
    assert solution.status == Status.TOO_FAR
    assert solution.residual == pytest.approx(3.4)
    assert np.allclose(forward(chain, solution.angles)[-1], [0.0, 1.6])


@pytest.mark.parametrize("bend", [1, -1])
@pytest.mark.parametrize("lengths", [(1.0, 0.6), (0.6, 1.0)])
def test_article_too_close_folds_back_to_the_targets_side(lengths, bend):
    chain = Chain(lengths)
    solution = solve_two_bone(chain, [0.0, 0.1], bend=bend)
    joints = forward(chain, solution.angles)
    assert solution.status == Status.TOO_CLOSE
    assert solution.residual == pytest.approx(0.3)
    assert np.allclose(joints[-1], [0.0, 0.4])
    # The longer bone points at the target; as the second one it makes the first point away.
    assert joints[1, 1] == pytest.approx(lengths[0] if lengths[0] > lengths[1] else -lengths[0])


def test_article_target_at_the_root():
    equal = solve_two_bone(Chain([1.0, 1.0]), [0.0, 0.0], bend=-1)
    assert equal.status == Status.REACHED
    assert np.allclose(equal.angles, [0.0, -np.pi])
    kept = solve_two_bone(Chain([1.0, 1.0]), [0.0, 0.0], start=[0.8, 0.1])
    assert kept.status == Status.REACHED
    assert kept.angles[0] == 0.8
    unequal = solve_two_bone(Chain([1.0, 0.4]), [0.0, 0.0])
    assert unequal.status == Status.TOO_CLOSE
    assert unequal.residual == pytest.approx(0.6)


@pytest.mark.parametrize("lengths", [(1.0, 0.0), (0.0, 1.0)])
@pytest.mark.parametrize("second_angle", [0.0, 0.7, -2.0])
def test_article_zero_length_bone_keeps_last_frames_angle(lengths, second_angle):
    chain = Chain(lengths)
    solution = solve_two_bone(chain, [[0.6, 0.8], [0.3, 0.4], [3.0, 4.0]], start=[0.0, second_angle])
    assert (solution.angles[:, 1] == second_angle).all()
    assert solution.status.tolist() == [Status.REACHED, Status.TOO_CLOSE, Status.TOO_FAR]
    assert np.allclose(forward(chain, solution.angles)[:, -1], [0.6, 0.8])


def test_both_bones_of_zero_length():
    solution = solve_two_bone(Chain([0.0, 0.0]), [[0.0, 0.0], [1.0, 0.0]])
    assert solution.status.tolist() == [Status.REACHED, Status.TOO_FAR]


def test_tiny_bones_are_not_of_zero_length():
    chain = Chain([5e-3, 5e-3])  # the article's absolute epsilon would call these zero
    solution = solve_two_bone(chain, [4e-3, 3e-3])
    assert solution.status == Status.REACHED
    assert solution.residual <= 1e-12 * 1e-2


@pytest.mark.slow
@given(st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.floats(-2, 2), st.floats(-2, 2), st.integers(-60, 60))
def test_angles_do_not_depend_on_the_size_of_the_rig(d1, d2, x, y, power):
    scale = 2.0**power
    one = solve_two_bone(Chain([d1, d2]), [x, y])
    scaled = solve_two_bone(Chain([d1 * scale, d2 * scale]), [x * scale, y * scale])
    assert np.allclose(one.angles, scaled.angles, rtol=0, atol=1e-12)
    assert one.status == scaled.status


def test_mirrored_target_and_bend_mirror_the_pose():
    targets = np.random.default_rng(6).uniform(-1.5, 1.5, (200, 2))
    chain = Chain([0.9, 0.8])
    up = solve_two_bone(chain, targets, bend=1).angles
    down = solve_two_bone(chain, targets * [1, -1], bend=-1).angles
    assert np.allclose(up, -down, atol=1e-14)


def test_residual_is_the_distance_after_forward():
    targets = np.random.default_rng(7).uniform(-3, 3, (300, 2))
    chain = Chain([1.0, 0.6])
    solution = solve_two_bone(chain, targets)
    tips = forward(chain, solution.angles)[:, -1]
    assert np.allclose(solution.residual, np.linalg.norm(tips - targets, axis=1), atol=1e-15)
    assert ((solution.residual <= 1.6e-6) == (solution.status == Status.REACHED)).all()


def test_inputs_are_not_modified():
    targets = np.ones((3, 2))
    solve_two_bone(Chain([1.0, 1.0]), targets)
    assert (targets == 1.0).all()


@pytest.mark.parametrize(
    ("lengths", "target", "options", "words"),
    [
        ([1.0], [1, 0], {}, "two bones"),
        ([1.0, 1.0, 1.0], [1, 0], {}, "two bones"),
        ([1.0, 1.0], [np.nan, 0], {}, "finite"),
        ([1.0, 1.0], [[1, 0], [np.inf, 0]], {}, r"\[1, 0\]"),
        ([1.0, 1.0], [1, 0, 0], {}, "two numbers"),
        ([1.0, 1.0], [1, 0], {"bend": 0}, "bend"),
        ([1.0, 1.0], [1, 0], {"tolerance": -1.0}, "tolerance"),
        ([1.0, 1.0], [1, 0], {"start": [0.0]}, "start"),
    ],
)
def test_bad_input_is_named(lengths, target, options, words):
    with pytest.raises(IK2DError, match=words):
        solve_two_bone(Chain(lengths), target, **options)


@pytest.mark.parametrize("bend", (1, -1))
@pytest.mark.parametrize("distance", (1e60, 1e74, 1e76, 1e80, 1e153, 1e160, 1e300))
def test_a_huge_target_is_pointed_at_exactly(distance, bend):
    """No square of it is a float; also where one coordinate is huge and the other is not."""
    turn = np.linspace(-3.0, 3.0, 13)
    targets = distance * np.stack([np.cos(turn), np.sin(turn)], axis=-1)
    targets = np.concatenate(
        [targets, [[distance, 1.0], [-1.0, distance], [0.0, -distance], [-distance, 0.0]]]
    )
    with np.errstate(all="raise", under="ignore"):
        for chain in (Chain([1.0, 0.6]), Chain([1.0, 0.0])):
            solution = solve_two_bone(chain, targets, bend=bend)
            assert np.allclose(
                solution.angles[:, 0], np.arctan2(targets[:, 1], targets[:, 0]), rtol=0, atol=1e-15
            )
            assert (solution.angles[:, 1] == 0.0).all()
            assert (solution.status == Status.TOO_FAR).all()
            assert np.allclose(solution.residual, np.hypot(*targets.T), rtol=1e-15, atol=0.0)


@pytest.mark.parametrize("limits", (None, [[-3.0, 3.0], [-2.0, 0.5]]))
@pytest.mark.parametrize("power", (-950, -400, -250, -248, -100, 100, 248, 250, 400, 950))
def test_huge_and_tiny_chains_get_the_angles_of_a_common_one(power, limits):
    rng = np.random.default_rng(8)
    targets = np.concatenate([rng.uniform(-2.0, 2.0, (60, 2)), [[0.0, 0.0], [1.6, 0.0], [0.0, 0.4]]])
    sides = rng.choice([-1, 1], len(targets))
    reference = solve_two_bone(Chain([1.0, 0.6], limits), targets, bend=sides)
    with np.errstate(all="raise", under="ignore"):
        scale = 2.0**power
        chain = Chain([scale, 0.6 * scale], limits)
        solution = solve_two_bone(chain, targets * scale, bend=sides)
    assert np.allclose(solution.angles, reference.angles, rtol=0.0, atol=1e-7)  # the root of rounding, at 1.6
    assert np.allclose(solution.angles[:60], reference.angles[:60], rtol=0.0, atol=1e-12)
    assert solution.status.tolist() == reference.status.tolist()
    assert np.allclose(solution.residual / scale, reference.residual, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("limits", (None, [[-3.0, 3.0], [-2.0, 2.0]]))
def test_a_huge_target_of_a_tiny_chain_is_pointed_at(limits):
    """Their quotient is no float."""
    with np.errstate(all="raise", under="ignore"):
        solution = solve_two_bone(Chain([1e-120, 1e-120], limits), [[3e250, -4e250], [-1e300, 1e300]])
    direction = [-0.9272952180016122, 0.75 * np.pi]
    assert np.allclose(solution.angles, [[d, 0.0] for d in direction], rtol=0.0, atol=1e-12)
    assert solution.status.tolist() == [Status.TOO_FAR] * 2
    assert np.allclose(solution.residual, [5e250, np.sqrt(2.0) * 1e300], rtol=1e-15, atol=0.0)


def test_a_chain_without_length_among_huge_and_common_targets():
    targets = [[0.0, 0.0], [3e200, 4e200], [1.0, 0.0]]
    with np.errstate(all="raise", under="ignore"):
        solution = solve_two_bone(Chain([0.0, 0.0]), targets, start=[0.3, 0.4], tolerance=1e-9)
    assert solution.status.tolist() == [Status.REACHED, Status.TOO_FAR, Status.TOO_FAR]
    assert np.allclose(solution.residual, [0.0, 5e200, 1.0], rtol=1e-15, atol=0.0)
    assert (solution.angles[:, 1] == 0.4).all()
    assert solution.angles[0, 0] == 0.3


@pytest.mark.parametrize(("length", "kept"), [(0.9e-12, True), (1.1e-12, False)])
def test_a_bone_below_a_trillionth_of_the_reach_counts_as_one_of_no_length(length, kept):
    for lengths in ([1.0, length], [length, 1.0]):
        solution = solve_two_bone(Chain(lengths), [3.0, 4.0], start=[0.0, 0.7])
        assert (solution.angles[1] == 0.7) == kept
        assert solution.residual == pytest.approx(4.0)


def test_the_tolerance_is_what_a_target_may_lie_off_the_annulus():
    chain = Chain([4.0, 1.0])
    targets = np.array([[2.7, 0.0], [2.75, 0.0], [5.25, 0.0], [5.3, 0.0]])
    expected = [Status.TOO_CLOSE, Status.REACHED, Status.REACHED, Status.TOO_FAR]
    for limits in (None, [[-4.0, 4.0]] * 2):
        solution = solve_two_bone(Chain([4.0, 1.0], limits), targets, tolerance=0.25)
        assert solution.status.tolist() == expected
        assert np.allclose(solution.residual, [0.3, 0.25, 0.25, 0.3], rtol=0.0, atol=1e-14)
    assert solve_two_bone(chain, targets).status.tolist() == [2, 2, 1, 1]


@pytest.mark.slow
def test_more_targets_than_fit_in_one_block_are_each_solved_as_alone():
    rng = np.random.default_rng(9)
    m = 2 * BLOCK + 100
    targets, sides, starts = (
        rng.uniform(-2.0, 2.0, (m, 2)),
        rng.choice([-1, 1], m),
        rng.uniform(-3, 3, (m, 2)),
    )
    targets[::50] = 0.0
    chain = Chain([1.0, 1.0])
    solution = solve_two_bone(chain, targets, bend=sides, start=starts)
    rows = np.concatenate([rng.integers(0, m, 300), np.arange(0, m, 50), [0, BLOCK - 1, BLOCK, m - 1]])
    for row in rows:
        alone = solve_two_bone(chain, targets[row], bend=sides[row], start=starts[row])
        assert np.allclose(solution.angles[row], alone.angles, rtol=0.0, atol=1e-14)
        assert solution.status[row] == alone.status
        assert solution.residual[row] == alone.residual


def test_targets_sides_and_starts_broadcast():
    chain = Chain([1.0, 1.0])
    targets, sides, starts = np.zeros((4, 1, 1, 2)), np.array([[1], [-1], [1]]), np.zeros((2, 2))
    starts[1] = [0.5, 0.1]
    solution = solve_two_bone(chain, targets, bend=sides, start=starts)
    assert solution.angles.shape == solution.limited.shape == (4, 3, 2, 2)
    assert solution.status.shape == (4, 3, 2)
    assert np.allclose(solution.angles[2, 1], [[0.0, -np.pi], [0.5, -np.pi]], rtol=0.0, atol=1e-15)
    assert not solution.iterations.any()  # a formula
    assert not solution.limited.any()


def test_at_the_root_the_angle_kept_is_within_half_a_turn():
    solution = solve_two_bone(Chain([1.0, 1.0]), [[0.0, 0.0], [0.0, 1.0]], start=[7.0, 0.0])
    assert solution.angles[0, 0] == pytest.approx(7.0 - 2.0 * np.pi, abs=1e-14)
    assert solution.angles[1, 0] == pytest.approx(np.pi / 2.0 - np.pi / 3.0, abs=1e-14)


def nearest_residual(chain, target):
    """The least distance over both ranges: the four edges finely, the two formulas, and a grid."""
    lengths, (low, high) = chain.lengths, chain.limits.T
    along = [np.linspace(*limits, 1501) for limits in chain.limits]
    poses = [np.stack([along[0], np.full(1501, end)], axis=-1) for end in (low[1], high[1])]
    poses += [np.stack([np.full(1501, end), along[1]], axis=-1) for end in (low[0], high[0])]
    grid = np.stack(np.meshgrid(along[0][::50], along[1][::50]), axis=-1).reshape(-1, 2)
    formulas = [solve_two_bone(Chain(lengths), target, bend=bend).angles for bend in (1, -1)]
    turns = 2.0 * np.pi * np.stack(np.meshgrid(range(-3, 4), range(-3, 4)), axis=-1).reshape(-1, 2)
    inside = (np.concatenate(formulas).reshape(-1, 1, 2) + turns).reshape(-1, 2)
    inside = inside[((inside >= low) & (inside <= high)).all(axis=1)]
    tips = forward(chain, np.concatenate([*poses, grid, inside]))[:, -1]
    return np.hypot(*(tips - target).T).min()


@pytest.mark.slow
def test_two_bones_within_limits_are_as_near_as_any_pose():
    rng = np.random.default_rng(1)
    for _ in range(60):
        low = rng.uniform(-8.0, 6.0, 2)
        high = low + rng.uniform(0.0, 3.0, 2)
        chain = Chain(rng.uniform(0.2, 1.0, 2), limits=np.stack([low, high], axis=1))
        targets = rng.uniform(-1.5, 1.5, (8, 2))
        start = rng.uniform(-9.0, 9.0, 2)
        solution = solve_two_bone(chain, targets, bend=rng.choice([-1, 1], 8), start=start)
        assert (solution.angles >= low - 1e-12).all()
        assert (solution.angles <= high + 1e-12).all()
        inner, outer = chain.reach
        for target, residual, status in zip(targets, solution.residual, solution.status, strict=True):
            nearest = nearest_residual(chain, target)
            # The edges are 3 / 1500 apart: between two of them the distance can fall by as much.
            assert nearest - 2e-3 * outer <= residual <= nearest + 1e-12
            distance = np.hypot(*target)
            off = (
                Status.TOO_FAR
                if distance > outer
                else Status.TOO_CLOSE
                if distance < inner
                else Status.LIMITED
            )
            assert status == (Status.REACHED if residual <= 1e-6 * outer else off)


def test_of_equal_poses_within_limits_the_numbers_are_those_near_the_start():
    chain = Chain([1.0, 1.0], limits=[[-18.0, 18.0], [-18.0, 18.0]])
    for turns in (-2, 0, 1, 2):
        start = np.array([0.3, 0.4]) + 2.0 * np.pi * turns
        solution = solve_two_bone(chain, [1.2, 0.9], start=start)
        assert solution.status == Status.REACHED
        assert (np.abs(solution.angles - start) <= np.pi).all()


def test_two_bones_take_the_other_side_only_where_the_asked_one_is_blocked():
    chain = Chain([1.0, 1.0], limits=[[-np.pi, np.pi], [-0.5, 2.0]])
    both, positive_only = [1.95, 0.2], [1.3, 0.4]
    for bend in (1, -1):
        solution = solve_two_bone(chain, [both, positive_only], bend=bend)
        assert (solution.status == Status.REACHED).all()
        assert np.sign(solution.angles[0, 1]) == bend
        assert solution.angles[1, 1] > 0.0


@pytest.mark.parametrize("bend", (1, -1))
@pytest.mark.parametrize("miss", (1e-3, 1e-4, 1e-5, 1e-7, 1e-9))  # of the reach
def test_a_knee_that_misses_by_a_hair_on_the_asked_side_takes_the_other(bend, miss):
    """Its limit lets the tip come no nearer there than `miss` farther off than the first target is."""
    chain = Chain([1.0, 1.0], limits=[[-4.0, 4.0], np.sort([0.5 * bend, -2.0 * bend])])
    distances = 2.0 * np.cos(0.25) + np.array([-miss, miss]) * chain.reach[1]
    targets = np.outer(distances, [0.8, 0.6])
    solution = solve_two_bone(chain, targets, bend=bend, tolerance=1e-12)
    assert solution.reached.all()
    assert np.sign(solution.angles[:, 1]).tolist() == [-bend, bend]


def test_a_blocked_target_is_limited_and_says_which_joint_blocks():
    chain = Chain([1.0, 1.0], limits=[[-np.inf, np.inf], [0.5, 1.0]])
    solution = solve_two_bone(chain, [0.3, 0.0])
    assert solution.status == Status.LIMITED
    assert solution.limited.tolist() == [False, True]
    assert solution.angles[1] == 1.0
    assert np.isclose(solution.residual, 2.0 * np.cos(0.5) - 0.3)


def test_a_target_is_limited_where_two_bones_miss_it_by_more_than_the_tolerance():
    chain = Chain([1.0, 1.0], limits=[[-np.inf, np.inf], [0.5, 1.0]])
    limit, off = 1e-4 * chain.reach[1], np.array([0.0, 0.6, 0.95, 1.05, 1.9])
    targets = np.outer(2.0 * np.cos(0.25) + off * limit, [0.6, 0.8])
    solution = solve_two_bone(chain, targets, tolerance=limit)
    assert solution.status.tolist() == [Status.REACHED] * 3 + [Status.LIMITED] * 2
    assert np.allclose(solution.residual, off * limit, rtol=0.0, atol=1e-14)


@pytest.mark.parametrize("bend", (1, -1))
def test_of_two_poses_equally_near_the_one_on_the_asked_side_is_taken(bend):
    """Both limits of the second joint, and both sides: as good for a target on the axis."""
    free = Chain([1.0, 1.0], limits=[[-4.0, 4.0], [-3.0, 3.0]])
    assert np.sign(solve_two_bone(free, [1.0, 0.0], bend=bend).angles[1]) == bend
    narrow = Chain([1.0, 1.0], limits=[[-4.0, 4.0], [-0.5, 0.5]])
    blocked = solve_two_bone(narrow, [0.5, 0.0], bend=bend)
    assert blocked.status == Status.LIMITED
    assert blocked.angles[1] == 0.5 * bend
    assert solve_two_bone(narrow, [[0.5, 0.0]] * 2, bend=[bend, -bend]).angles[:, 1].tolist() == [
        0.5 * bend,
        -0.5 * bend,
    ]


def test_one_limited_joint_leaves_the_other_free():
    first = solve_two_bone(Chain([1.0, 0.5], limits=[[0.0, 0.5], [np.nan, np.nan]]), [-1.0, -0.3])
    elbow = np.array([np.cos(0.0), np.sin(0.0)])
    assert first.limited.tolist() == [True, False]
    assert first.angles[0] == 0.0
    assert first.residual == pytest.approx(np.hypot(*(elbow - [-1.0, -0.3])) - 0.5)
    second = solve_two_bone(Chain([1.0, 0.5], limits=[[np.nan, np.nan], [0.2, 0.4]]), [-0.8, 0.6])
    assert second.limited.tolist() == [False, True]
    assert second.angles[1] == 0.4
    assert second.residual == pytest.approx(np.hypot(1.0 + 0.5 * np.cos(0.4), 0.5 * np.sin(0.4)) - 1.0)


def test_pairs_of_any_lengths_are_solved_as_each_alone():
    """The same bits, softness, zero lengths and targets at the root included."""
    rng = np.random.default_rng(3)
    count = 400
    lengths = rng.uniform(0.1, 2.0, (count, 2))
    lengths[:20, 1] = 0.0
    targets = rng.uniform(-3.0, 3.0, (count, 2))
    targets[10:30] = 0.0
    bend, kept = rng.choice([-1.0, 1.0], count), rng.uniform(-3.0, 3.0, (count, 2))
    softness = np.where(rng.random(count) < 0.5, 0.0, rng.uniform(0.0, 0.5, count))
    tolerances = rng.uniform(1e-6, 1e-3, count)
    assert are_plain(lengths, targets)
    found = solve_pairs(lengths, targets, bend, softness, tolerances, kept)
    for i in range(count):
        one = solve_two_bone(
            Chain(lengths[i]),
            targets[i],
            bend=bend[i],
            start=kept[i],
            tolerance=tolerances[i],
            softness=softness[i],
        )
        assert found.angles[i].tolist() == one.angles.tolist()
        assert found.status[i] == one.status
        assert found.residual[i] == pytest.approx(float(one.residual), abs=1e-14)
    assert {Status.REACHED, Status.TOO_FAR, Status.TOO_CLOSE, Status.EASED} <= set(found.status.tolist())


@pytest.mark.parametrize("size", [1e80, 1e-80])
def test_pairs_whose_fourth_powers_overflow_are_not_plain(size):
    assert not are_plain(np.full((2, 2), size), np.ones((2, 2)))
    assert are_plain(np.ones((2, 2)), np.ones((2, 2)))
    assert not are_plain(np.ones((2, 2)), np.full((2, 2), 1e80))
