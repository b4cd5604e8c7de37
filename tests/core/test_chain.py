# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains: what they accept, how far they reach, where their joints are, what their limits allow."""

import cmath
import pickle

import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, forward
from ik2d_addon.core.chain import (
    FAR,
    at_limits,
    checked_angles,
    checked_targets,
    in_reaches,
    joints_at,
    tips_at,
    within_limits,
)
from ik2d_addon.core.inputs import LONGEST

TURN = 2.0 * np.pi


def test_forward_adds_up_relative_angles():
    joints = forward(Chain([2.0, 1.0, 1.0]), [np.pi / 2, -np.pi / 2, np.pi / 2])
    assert np.allclose(joints, [[0, 0], [0, 2], [1, 2], [1, 3]], rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("n", (1, 2, 7, 100))
def test_forward_is_a_sum_of_complex_numbers(n):
    rng = np.random.default_rng(n)
    lengths, angles = rng.uniform(0.0, 2.0, n), rng.uniform(-10.0, 10.0, n)
    joint, expected = 0j, [[0.0, 0.0]]
    for i in range(n):
        joint += cmath.rect(lengths[i], sum(angles[: i + 1]))
        expected.append([joint.real, joint.imag])
    assert np.allclose(forward(Chain(lengths), angles), expected, rtol=0.0, atol=1e-13 * n)


@pytest.mark.parametrize("shape", ((), (1,), (7,), (0,), (3, 40)))
@pytest.mark.parametrize("n", (1, 2, 30))
def test_tips_are_the_last_of_the_joints(n, shape):
    rng = np.random.default_rng([n, *shape])
    chain = Chain(rng.uniform(0.2, 1.0, n))
    angles, slides = rng.uniform(-9.0, 9.0, (*shape, n)), rng.uniform(-0.1, 0.1, (*shape, n))
    for added in (None, slides):
        tips = tips_at(chain, angles, added)
        assert tips.shape == (*shape, 2)
        assert np.allclose(tips, joints_at(chain, angles, added)[..., -1, :], rtol=0.0, atol=2e-14)


def test_forward_broadcasts_over_leading_dimensions():
    chain = Chain([1.0, 2.0])
    angles = np.random.default_rng(1).uniform(-3, 3, (4, 5, 2))
    joints = forward(chain, angles)
    assert joints.shape == (4, 5, 3, 2)
    assert np.array_equal(joints[2, 3], forward(chain, angles[2, 3]))


@pytest.mark.parametrize(
    ("lengths", "reach"),
    [
        ([1, 2], (1, 3)),
        ([2, 1], (1, 3)),
        ([1, 1, 1], (0, 3)),
        ([1, 2, 1], (0, 4)),
        ([5, 1, 1], (3, 7)),
        ([0, 2], (2, 2)),
        ([3], (3, 3)),
        ([0, 0], (0, 0)),
    ],
)
def test_reach_is_the_annulus_of_the_tip(lengths, reach):
    assert Chain(lengths).reach == reach


def test_random_tips_never_leave_the_annulus():
    rng = np.random.default_rng(2)
    for n in (1, 2, 3, 10):
        chain = Chain(rng.uniform(0.1, 3.0, n))
        inner, outer = chain.reach
        tips = np.linalg.norm(forward(chain, rng.uniform(-np.pi, np.pi, (1000, n)))[:, -1], axis=-1)
        assert tips.min() >= inner - 1e-12 * outer
        assert tips.max() <= outer * (1 + 1e-12)


@pytest.mark.parametrize("lengths", [[], [[1.0]], 1.0, [-1.0], [np.nan], [np.inf], ["long"], [0.0, -5e-324]])
def test_lengths_that_make_no_chain_are_refused(lengths):
    with pytest.raises(IK2DError, match="^lengths must"):
        Chain(lengths)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Chain([]), "lengths must be a list of one or more numbers, not of shape (0,)"),
        (
            lambda: Chain(np.ones((2, 3))),
            "lengths must be a list of one or more numbers, not of shape (2, 3)",
        ),
        (lambda: Chain([1.0, -2.0, -3.0]), "lengths must not be negative; bone 2 is -3.0"),
        (lambda: Chain([1.0, 1e301, 1e308]), "lengths must not exceed 1e+300; bone 2 is 1e+308"),
        (lambda: Chain([1.0, np.inf]), "lengths must be finite numbers; at [1] it is inf"),
        (
            lambda: Chain([1.0, 1.0], limits=[0.0, 1.0]),
            "limits must be 2 pairs of least and greatest angle, not of shape (2,)",
        ),
        (
            lambda: Chain([1.0, 1.0], limits=[[0.0, 1.0]] * 3),
            "limits must be 2 pairs of least and greatest angle, not of shape (3, 2)",
        ),
        (
            lambda: Chain([1.0, 1.0, 1.0], limits=[[0.0, 1.0], [0.5, -0.5], [1.0, 0.0]]),
            "limits must run from least to greatest; joint 1 has 0.5 to -0.5",
        ),
        (lambda: Chain([1.0], limits=[["a", "b"]]), None),
        (
            lambda: Chain([1.0, 1.0], weights=[1.0]),
            "weights must be 2 numbers, one a joint, not of shape (1,)",
        ),
        (lambda: Chain([1.0], weights=1.0), "weights must be 1 numbers, one a joint, not of shape ()"),
        (lambda: Chain([1.0] * 3, weights=[1.0, 1.5, -1.0]), "weights must lie in 0..1; joint 1 has 1.5"),
        (lambda: Chain([1.0] * 3, weights=[1.0, 0.0, -0.5]), "weights must lie in 0..1; joint 2 has -0.5"),
        (lambda: Chain([1.0], weights=[np.nan]), "weights must be finite numbers; at [0] it is nan"),
    ],
)
def test_a_refusal_names_the_joint_and_the_number(make, message):
    with pytest.raises(IK2DError) as refusal:
        make()
    assert message is None or str(refusal.value) == message


def test_numbers_on_the_border_of_what_is_allowed_are_accepted():
    assert Chain([1e300, 1e300]).reach == (0.0, 2e300)
    chain = Chain([0.0, 1.0], limits=[[0.5, 0.5], [-9.0, 9.0]], weights=[0.0, 1.0])
    assert chain.limits.tolist() == [[0.5, 0.5], [-9.0, 9.0]]
    assert chain.weights.tolist() == [0.0, 1.0]
    assert len(chain) == 2


def test_a_side_that_is_not_a_number_is_free():
    chain = Chain([1.0] * 4, limits=[[np.nan, 1.0], [-1.0, np.inf], [-np.inf, np.nan], [0.0, 0.0]])
    assert chain.limits.tolist() == [[-np.inf, 1.0], [-1.0, np.inf], [-np.inf, np.inf], [0.0, 0.0]]
    assert chain.ranges is chain.limits
    assert Chain([1.0, 1.0]).ranges.tolist() == [[-np.inf, np.inf]] * 2


@pytest.mark.parametrize(
    ("limits", "is_limited"),
    [
        (None, False),
        ([[np.nan, np.nan], [-np.inf, np.inf]], False),
        ([[np.nan, np.nan], [np.nan, 1.0]], True),
        ([[-1.0, 1.0], [-1.0, 1.0]], True),
    ],
)
def test_a_chain_is_limited_where_any_joint_is(limits, is_limited):
    assert Chain([1.0, 1.0], limits).is_limited is is_limited


def test_a_chain_cannot_be_changed_and_does_not_follow_its_input():
    given = [np.array([1.0, 2.0]), np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([1.0, 0.5])]
    chain = Chain(*given)
    for array in given:
        array[:] = 9.0
    assert chain.reach == (1.0, 3.0)
    assert chain.limits.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert chain.weights.tolist() == [1.0, 0.5]
    for array in (chain.lengths, chain.limits, chain.weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0
    with pytest.raises(AttributeError):
        chain.lengths = given[0]
    copied = pickle.loads(pickle.dumps(chain))
    assert copied.limits.tolist() == chain.limits.tolist() and not copied.lengths.flags.writeable


def test_the_tolerance_is_a_millionth_of_the_reach_where_none_is_named():
    chain = Chain([3.0, 4.0])
    assert chain.tolerance_or_default(None) == pytest.approx(7e-6, rel=1e-12)
    assert chain.tolerance_or_default(0.5) == 0.5
    assert chain.tolerance_or_default(1e-300) == 1e-300


@pytest.mark.parametrize("tolerance", (0.0, -1.0, np.nan, np.inf))
def test_another_tolerance_is_refused(tolerance):
    wanted = "length greater than zero" if np.isfinite(tolerance) else r"finite number, up to 1e\+300"
    with pytest.raises(IK2DError, match=f"^tolerance must be a {wanted}, not {tolerance}$"):
        Chain([1.0]).tolerance_or_default(tolerance)


@pytest.mark.parametrize("angles", [[0.0], [0.0, 0.0, 0.0], 0.0, [[0.0], [0.0]]])
def test_angles_that_do_not_fit_are_refused(angles):
    shape = str(np.shape(angles)).replace("(", r"\(").replace(")", r"\)")
    with pytest.raises(IK2DError, match=f"^angles must hold 2 numbers, one a bone, not shape {shape}$"):
        forward(Chain([1.0, 1.0]), angles)
    with pytest.raises(IK2DError, match="^start must hold 2"):
        checked_angles(Chain([1.0, 1.0]), angles, "start")


def test_angles_and_targets_must_be_finite():
    with pytest.raises(IK2DError, match=r"^angles must be finite numbers; at \[1\] it is nan$"):
        forward(Chain([1.0, 1.0]), [0.0, np.nan])
    with pytest.raises(IK2DError, match=r"^target must be finite numbers; at \[0\] it is inf$"):
        checked_targets([np.inf, 1.0])


@pytest.mark.parametrize("target", [1.0, [1.0], [1.0, 2.0, 3.0], np.ones((2, 3))])
def test_a_target_is_two_numbers(target):
    with pytest.raises(IK2DError, match="^a target is two numbers, x and y, not shape"):
        checked_targets(target)
    assert checked_targets(np.ones((4, 1, 2))).shape == (4, 1, 2)


def test_targets_in_reaches_and_the_farthest_of_them_drawn_in():
    chain = Chain([1.0, 3.0])
    targets = np.array([[[2.0, -8.0], [0.0, 0.0]], [[4e60, 0.0], [-3e200, 4e200]]])
    found = in_reaches(chain, targets)
    assert found[0].tolist() == [[0.5, -2.0], [0.0, 0.0]]
    assert np.allclose(found[1], [[1e60, 0.0], [-0.75 * FAR, FAR]], rtol=1e-15, atol=0.0)
    assert in_reaches(Chain([0.0, 0.0]), targets[0]).tolist() == targets[0].tolist()
    assert np.isfinite(in_reaches(Chain([1e-120]), np.array([1e300, -1e300]))).all()


def best_within(angle, low, high, near):
    """Return what within_limits should, by trying 41 turns: the number nearest to `near`, or a limit."""
    numbers = [angle + k * TURN for k in range(-20, 21)]
    inside = [number for number in numbers if low <= number <= high]
    if inside:
        return min(inside, key=lambda number: abs(number - near))
    apart = {limit: min(abs(number - limit) for number in numbers) for limit in (low, high)}
    return min(apart, key=apart.get)


def test_a_rotation_becomes_the_number_within_the_limits_nearest_to_the_one_asked_for():
    """Ranges anywhere, some wider than a turn, some narrow; starts several turns away."""
    rng = np.random.default_rng(3)
    for _ in range(400):
        low = rng.uniform(-12.0, 11.0, 2)
        high = np.minimum(low + rng.choice([0.3, 3.0, 7.0, 20.0], 2), 18.0)
        chain = Chain([1.0, 1.0], np.stack([low, high], axis=1))
        angles, near = rng.uniform(-20.0, 20.0, 2), rng.uniform(-20.0, 20.0, 2)
        found = within_limits(chain, angles, near)
        for row in zip(found, angles, low, high, near, strict=True):
            assert row[0] == pytest.approx(best_within(*row[1:]), abs=1e-9), row


@pytest.mark.parametrize(
    ("limits", "angle", "near", "expected"),
    [
        ([200.0, 400.0], 0.0, 0.0, 360.0),  # beyond a turn: the rest pose itself is a turn further on
        ([200.0, 400.0], 30.0, 0.0, 390.0),
        ([200.0, 400.0], 100.0, 0.0, 400.0),  # blocked: 60 degrees beyond 400, 100 before 200
        ([200.0, 400.0], 130.0, 0.0, 200.0),
        ([-400.0, -200.0], -30.0, 0.0, -390.0),
        ([-10.0, np.inf], -20.0, 0.0, 340.0),  # free upwards: so there is a number
        ([-10.0, np.inf], -20.0, 700.0, 700.0),
        ([-np.inf, 10.0], 20.0, 0.0, -340.0),
        ([-10.0, 10.0], 20.0, 0.0, 10.0),
        ([-10.0, 10.0], -20.0, 0.0, -10.0),
        ([-10.0, 10.0], 190.0, 0.0, -10.0),  # the shorter way round is over 180
        ([0.0, 720.0], 90.0, 500.0, 450.0),
        ([90.0, 90.0], -270.0, 0.0, 90.0),
        ([0.0, 10.0], -20.0, 0.0, 0.0),
        ([-10.0, 0.0], 20.0, 0.0, 0.0),
        ([-180.0, 180.0], 180.0, 179.0, 180.0),
        ([-180.0, 180.0], 180.0, -179.0, -180.0),
    ],
)
def test_limits_by_example_in_degrees(limits, angle, near, expected):
    limits, angle, near = np.radians(limits), np.radians([angle]), np.radians([near])
    if expected == 700.0:
        expected = -20.0 + 720.0
    assert np.degrees(within_limits(Chain([1.0], [limits]), angle, near)) == pytest.approx(expected)


def test_of_two_limits_equally_near_the_lower_one_is_taken():
    assert within_limits(Chain([1.0], [[-0.5, 0.5]]), np.array([np.pi]), np.zeros(1)) == -0.5


@pytest.mark.parametrize(
    ("high", "angle"), [(1.88, 14.446370614359173), (-2.46, 10.106370614359173), (-2.31, 3.9731853071795866)]
)
def test_a_free_side_is_never_stood_at_however_a_turn_rounds(high, angle):
    """A whole number of turns back from these angles rounds to just beyond the limit."""
    near = np.array([angle])
    with np.errstate(all="raise"):
        above = within_limits(Chain([1.0], [[np.nan, high]]), near, near)
        below = within_limits(Chain([1.0], [[-high, np.nan]]), -near, -near)
    assert above == pytest.approx(high, abs=1e-12)
    assert below == -above


def test_without_limits_a_rotation_becomes_the_number_nearest_to_the_one_asked_for():
    rng = np.random.default_rng(4)
    angles, near = rng.uniform(-30.0, 30.0, (2, 50, 3))
    found = within_limits(Chain([1.0] * 3), angles, near)
    assert np.abs(found - near).max() <= np.pi + 1e-12
    turns = (found - angles) / TURN
    assert np.allclose(turns, np.round(turns), rtol=0.0, atol=1e-12)


def test_a_joint_stands_at_a_limit_within_a_billionth_of_a_radian():
    chain = Chain([1.0] * 4, [[-1.0, 2.0], [0.0, np.inf], [np.nan, np.nan], [3.0, 3.0]])
    assert at_limits(chain, np.array([-1.0, 0.0, 0.0, 3.0])).tolist() == [True, True, False, True]
    assert at_limits(chain, np.array([2.0, 1.0, 99.0, 3.0])).tolist() == [True, False, False, True]
    for off, at in ((0.9e-9, True), (1.1e-9, False)):
        angles = np.array([[2.0 - off, off, 0.0, 3.0 - off], [-1.0 + off, 5.0, 0.0, 3.0 + off]])
        assert at_limits(chain, angles).tolist() == [[at, at, False, at], [at, False, False, at]]
    assert at_limits(chain, np.array([0.0, 1e-9, 0.0, 0.0])).tolist() == [False, True, False, False]
    assert at_limits(Chain([1.0, 1.0]), np.zeros((3, 2))).tolist() == [[False, False]] * 3


def test_a_chain_that_slides_reaches_as_far_as_its_longest_bones():
    chain = Chain([2.0, 1.0], slides=[(-0.5, 0.5), (0.0, 1.0)])
    assert chain.is_sliding
    np.testing.assert_allclose(chain.reach, (0.0, 4.5))
    np.testing.assert_allclose(Chain([3.0, 1.0], slides=[(-0.5, 0.5), (0.0, 1.0)]).reach, (0.5, 5.5))


@pytest.mark.slow
def test_reach_with_slides_is_that_of_sampled_lengths():
    random = np.random.default_rng(5)
    for _ in range(20):
        n = int(random.integers(1, 4))
        lengths = random.uniform(0.5, 3.0, n)
        slides = np.sort(random.uniform(-0.5, 1.0, (n, 2)), axis=1)
        parts = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 21)] * n), -1).reshape(-1, n)
        sampled = lengths + slides[:, 0] + parts * np.ptp(slides, axis=1)
        inner, outer = np.transpose([Chain(own).reach for own in sampled])
        found = Chain(lengths, slides=slides).reach
        step = np.ptp(slides, axis=1).max() / 20.0
        assert found[1] == pytest.approx(outer.max(), rel=1e-12)
        assert inner.min() - step <= found[0] <= inner.min() + 1e-12


def test_bones_without_a_range_are_rigid():
    chain = Chain([1.0, 1.0], slides=[(np.nan, np.nan), (0.0, 0.0)])
    assert not chain.is_sliding
    np.testing.assert_array_equal(chain.slide_ranges, 0.0)
    assert chain.reach == Chain([1.0, 1.0]).reach


def test_forward_adds_slides_along_each_bone():
    chain = Chain([1.0, 2.0], slides=[(0.0, 1.0), (-1.0, 1.0)])
    joints = forward(chain, [np.pi / 2.0, -np.pi / 2.0], [0.5, -1.0])
    np.testing.assert_allclose(joints, [(0.0, 0.0), (0.0, 1.5), (1.0, 1.5)], atol=1e-15)
    many = forward(chain, [0.0, 0.0], [[0.0, 0.0], [1.0, 1.0]])
    np.testing.assert_allclose(many[:, -1], [(3.0, 0.0), (5.0, 0.0)])


@pytest.mark.parametrize(
    ("slides", "words"),
    [
        ([(0.0, 1.0)], "2 pairs"),
        ([(0.0, 1.0), (1.0, 0.0)], "bone 1 has 1.0 to 0.0"),
        ([(-1.5, 0.0), (0.0, 0.0)], "bone 0 is 1.0 long"),
        ([(0.0, np.inf), (0.0, 0.0)], "slides"),
        ([(0.0, 2.0 * LONGEST), (0.0, 0.0)], "slides"),
    ],
)
def test_slides_out_of_range_are_refused(slides, words):
    with pytest.raises(IK2DError, match=words):
        Chain([1.0, 1.0], slides=slides)


def test_forward_refuses_slides_of_another_shape():
    with pytest.raises(IK2DError, match="2 numbers"):
        forward(Chain([1.0, 1.0]), [0.0, 0.0], [0.0])
