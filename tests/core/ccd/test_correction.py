# SPDX-License-Identifier: GPL-3.0-or-later
"""The least turns, against complex numbers and numpy's pseudo-inverse."""

import cmath

import numpy as np
import pytest

from ik2d_addon.core.arithmetic import ARRAYS, FEW
from ik2d_addon.core.ccd.correction import (
    LONGEST_FROM_AFAR,
    LONGEST_STEP,
    NEARER,
    SWING,
    TRIAL,
    angles_of,
    arms_of,
    arms_to_tip,
    corrected,
    least_turns,
    least_turns_of,
    swings_of,
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
    on_arrays = np.array(arms_to_tip(lengths, list(poses.T), ARRAYS))
    for row, pose in enumerate(poses):
        expected = arms_by_complex(lengths, pose)[::-1]
        assert np.allclose(
            arms_to_tip(lengths, pose.tolist()), [expected.real, expected.imag], rtol=0, atol=1e-15
        )
        assert np.allclose(on_arrays[:, :, row], [expected.real, expected.imag], rtol=0, atol=1e-15)


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


def random_poses(n, m):
    """Lengths that add up to 1, poses (n, m) some of which are nearly straight, and errors (2, m)."""
    rng = np.random.default_rng([n, m])
    lengths, poses = rng.uniform(0.2, 1.0, n), rng.uniform(-3.0, 3.0, (n, m))
    poses[1:, ::5] = 1e-3
    return lengths / lengths.sum(), poses, 0.1 * rng.normal(size=(2, m))


def arms_at(lengths, poses):
    return arms_of(lengths, np.cumsum(poses, axis=0), np.empty(3 * poses.size)).copy()


def turns_at(lengths, poses, weights, errors, longest=LONGEST_STEP):
    distances, room = np.hypot(*errors), np.empty(2 * poses.size)
    longest = np.broadcast_to(longest, distances.shape)
    return least_turns_of(arms_at(lengths, poses), weights, errors, distances, longest, room)


@pytest.mark.parametrize("m", (1, 7, FEW, 200))
@pytest.mark.parametrize("n", (1, 2, 6, 60))
def test_arms_are_those_of_each_pose_alone_the_root_first(n, m):
    lengths, poses, _ = random_poses(n, m)
    headings, room = np.cumsum(poses, axis=0), np.empty(3 * n * m + 5)
    given = headings.copy()
    arms = arms_of(lengths, headings, room)
    for row in range(m):
        alone = np.array(arms_to_tip(lengths.tolist(), poses[:, row].tolist()))[:, ::-1]
        assert np.allclose(arms[:, :, row], alone, rtol=0.0, atol=2e-15)
    assert (headings == given).all()
    assert (room[: arms.size] == arms.ravel()).all()


def test_arms_depend_on_no_other_pose():
    lengths, poses, _ = random_poses(12, 3 * FEW)
    together = arms_at(lengths, poses)
    for part in (slice(0, 1), slice(3, 3 + FEW // 2), slice(5, 2 * FEW)):
        assert (arms_at(lengths, poses[:, part]) == together[:, :, part]).all()


@pytest.mark.parametrize("longest", (LONGEST_STEP, 0.1))
@pytest.mark.parametrize("weights", (None, (1.0, 0.0, 0.5, 1.0, 0.2)))
@pytest.mark.parametrize("m", (1, 50, 200))
def test_turns_are_those_of_each_pose_alone(m, weights, longest):
    lengths, poses, errors = random_poses(5, m)
    willing = np.ones(5) if weights is None else np.array(weights)
    turns = turns_at(lengths, poses, None if weights is None else willing, errors, longest)
    for row in range(m):
        arms = arms_to_tip(lengths.tolist(), poses[:, row].tolist())
        alone = least_turns(arms, willing[::-1].tolist(), *errors[:, row].tolist(), longest)
        assert np.allclose(turns[:, row], alone, rtol=1e-6, atol=1e-12)


def test_a_tip_on_its_target_turns_nothing():
    lengths, poses, _ = random_poses(5, 4)
    for weights in (None, np.ones(5), np.array([1.0, 0.0, 0.5, 1.0, 0.2])):
        assert (turns_at(lengths, poses, weights, np.zeros((2, 4))) == 0.0).all()


@pytest.mark.parametrize("m", (1, 200))
def test_swings_are_the_sums_of_turns_cut_to_the_most(m):
    turns = np.random.default_rng(m).normal(size=(6, m))
    turns[:, ::4] *= 0.01
    turns[:, 3:4] = 0.0
    sums, most = np.cumsum(turns, axis=0), np.where(np.arange(m) % 3, 1.5, np.inf)
    swings = swings_of(turns, most, np.empty(6 * m))
    largest = np.abs(sums).max(axis=0)
    assert np.allclose(
        swings, np.where(largest > most, most / np.maximum(largest, 1e-9), 1.0) * sums, atol=1e-14
    )
    assert (np.abs(swings).max(axis=0) <= most * (1.0 + 1e-15)).all()


def test_angles_are_the_differences_of_headings():
    poses = np.random.default_rng(1).uniform(-3.0, 3.0, (7, 20))
    assert np.allclose(angles_of(np.cumsum(poses, axis=0)), poses, rtol=0.0, atol=1e-14)
    assert angles_of(np.array([0.5, 0.7])).tolist() == pytest.approx([0.5, 0.2])
