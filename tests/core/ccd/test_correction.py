# SPDX-License-Identifier: GPL-3.0-or-later
"""The least turns, against complex numbers and numpy's pseudo-inverse."""

import cmath

import numpy as np
import pytest

from ik2d_addon.core.ccd.correction import (
    LONGEST_FROM_AFAR,
    LONGEST_STEP,
    NEARER,
    SWING,
    TRIAL,
    arms_to_tip,
    corrected,
    least_turns,
)


def random_bones(rng, n):
    lengths = rng.uniform(0.2, 1.0, n)
    return (lengths / lengths.sum()).tolist(), rng.uniform(-3.0, 3.0, n)


def arms_by_complex(lengths, angles):
    """Return the arms from the joints to the tip, root first."""
    steps = [cmath.rect(length, sum(angles[: i + 1])) for i, length in enumerate(lengths)]
    return np.array([sum(steps[i:]) for i in range(len(steps))])


@pytest.mark.parametrize("n", (1, 2, 6))
def test_arms_reach_from_each_joint_to_the_tip_the_last_joint_first(n):
    rng = np.random.default_rng(n)
    lengths, _ = random_bones(rng, n)
    poses = rng.uniform(-3.0, 3.0, (20, n))
    for pose in poses:
        expected = arms_by_complex(lengths, pose)[::-1]
        assert np.allclose(
            arms_to_tip(lengths, pose.tolist()), [expected.real, expected.imag], rtol=0, atol=1e-15
        )


@pytest.mark.parametrize("n", (2, 3, 6, 30))
def test_turns_are_those_of_the_weighted_pseudo_inverse(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        lengths, angles = random_bones(rng, n)
        weights = rng.uniform(0.1, 1.0, n)
        error = 1e-4 * rng.normal(size=2)
        arms = arms_by_complex(lengths, angles)
        jacobian = np.stack([-arms.imag, arms.real])  # of the tip by the angles
        root = np.sqrt(weights)
        expected = root * (np.linalg.pinv(jacobian * root) @ error)
        if np.linalg.cond(jacobian * root) > 50.0:
            continue
        turns = least_turns(arms_to_tip(lengths, angles.tolist()), weights[::-1].tolist(), *error)
        assert np.allclose(turns, expected, rtol=1e-8, atol=0.0)
        assert np.allclose(jacobian @ turns, error, rtol=1e-8, atol=1e-14)


def test_a_joint_of_no_weight_does_not_turn_and_one_of_little_weight_turns_less():
    lengths, angles = [0.25] * 4, [0.1, 0.5, 0.4, 0.6]
    arms = arms_to_tip(lengths, angles)
    even = least_turns(arms, [1.0] * 4, 0.01, 0.02)
    uneven = least_turns(arms, [1.0, 0.0, 1.0, 0.1], 0.01, 0.02)  # the last joint first
    assert uneven[2] == 0.0
    assert abs(uneven[0]) < 0.5 * abs(even[0])


@pytest.mark.parametrize("error", (1e-2, 1e-6, 1e-10))
def test_no_step_is_longer_than_twice_the_root_of_the_error(error):
    """On a line and close to one, where Newton's step has no end."""
    weights = [1.0, 0.5, 0.25]
    for bend in (0.0, 1e-9, 1e-5):
        for error_x, error_y in ((-error, 0.0), (-0.6 * error, 0.8 * error)):
            turns = least_turns(arms_to_tip([0.3, 0.3, 0.4], [0.0, bend, bend]), weights, error_x, error_y)
            assert np.isfinite(turns).all()
            assert np.linalg.norm(turns) <= LONGEST_STEP * np.sqrt(error) * (1.0 + 1e-9)
    assert LONGEST_STEP == 2.0
    along = least_turns(arms_to_tip([0.3, 0.3, 0.4], [0.0, 1e-5, 1e-5]), [1.0] * 3, -error, 0.0)
    assert np.linalg.norm(along) == pytest.approx(2.0 * np.sqrt(error), rel=1e-3)


@pytest.mark.parametrize("n", (3, 10, 50))
def test_corrections_square_the_error_each_time(n):
    rng = np.random.default_rng(n)
    lengths = [1.0 / n] * n
    start = rng.uniform(0.1, 0.6, n) * 3.0 / n
    tip = arms_by_complex(lengths, start)[0]
    target = tip * 0.95
    errors = []
    for rounds in range(6):
        angles, error, done = corrected(
            lengths, [1.0] * n, start.tolist(), (target.real, target.imag), 1e-14, rounds
        )
        assert abs(arms_by_complex(lengths, angles)[0] - target) == pytest.approx(error, abs=1e-15)
        assert done == rounds or error <= 1e-14
        errors.append(error)
    assert errors[0] == pytest.approx(abs(tip) * 0.05)
    for before, after in zip(errors, errors[1:], strict=False):
        assert after <= 10.0 * before**2 + 1e-14


def test_corrections_stop_at_the_tolerance_itself():
    straight = [0.5, 0.5], [1.0, 1.0], [0.0, 0.0]
    assert corrected(*straight, (0.75, 0.0), 0.25, 9) == ([0.0, 0.0], 0.25, 0)
    _, error, done = corrected([0.5, 0.5], [1.0, 1.0], [0.0, 0.8], (0.8, 0.1), 1e-3, 9)
    assert error <= 1e-3
    assert 1 <= done <= 4
    assert corrected([0.5, 0.5], [1.0, 1.0], [0.0, 0.8], (0.8, 0.1), 1e-3, done - 1)[1] > 1e-3


def test_from_afar_corrections_swing_no_bone_by_more_than_so_much():
    swung = 0
    for seed in range(1, 40):
        lengths, start = random_bones(np.random.default_rng(seed), 12)
        arms = arms_to_tip(lengths, start.tolist())
        error = 0.02 * seed
        target = arms[0][-1] + error, arms[1][-1]
        whole = least_turns(arms, [1.0] * 12, error, 0.0, LONGEST_FROM_AFAR)
        angles, _, _ = corrected(lengths, [1.0] * 12, start.tolist(), target, 1e-9, 1, from_afar=True)
        largest = np.abs(np.cumsum(whole)).max()
        swung += largest > SWING
        assert np.allclose(angles - start, np.multiply(min(1.0, SWING / largest), whole), rtol=0, atol=1e-14)
    assert 5 < swung < 35


def test_from_afar_corrections_stop_once_four_have_brought_the_tip_hardly_nearer():
    """And only then; from close by they go on."""
    stopped = 0
    for seed in range(40):
        lengths, start = random_bones(np.random.default_rng(seed), 30)

        def made(rounds, from_afar=True, lengths=lengths, start=start):
            return corrected(lengths, [1.0] * 30, start.tolist(), (0.8, 0.1), 1e-7, rounds, from_afar)

        angles, error, done = made(60)
        errors = [made(rounds)[1] for rounds in range(0, done + 1, TRIAL)]
        nearer = [after <= NEARER * before for before, after in zip(errors, errors[1:], strict=False)]
        assert made(done) == (angles, error, done)
        if error <= 1e-7:
            assert all(nearer)
        else:
            stopped += 1
            assert done in range(TRIAL, 61, TRIAL)
            assert nearer == [True] * (len(nearer) - 1) + [False]
        assert made(60, from_afar=False)[2] > TRIAL
    assert 10 < stopped < 40
