# SPDX-License-Identifier: GPL-3.0-or-later
"""The analytic two-bone solver, against an independent reference and the article's remarks."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_two_bone


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


def test_joints_equal_an_independent_reference_over_eight_decades():
    for d1, d2, x, y, bend in zip(*random_cases(3000, seed=3), strict=True):
        chain = Chain([d1, d2])
        joints = forward(chain, solve_two_bone(chain, [x, y], bend=bend).angles)
        _, tip = reference_joints(d1, d2, x, y, bend)
        error = np.hypot(float(joints[2, 0] - tip[0]), float(joints[2, 1] - tip[1]))
        assert error <= 1e-9 * (d1 + d2), (d1, d2, x, y, bend, error)


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
