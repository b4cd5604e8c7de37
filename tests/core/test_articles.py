# SPDX-License-Identifier: GPL-3.0-or-later
"""The remarks of Ryan Juckett's two articles that no other file's tests are named after.

The others: test_two_bone.py (quadrants, too far, too close, zero length, target at the root),
ccd/test_sweep.py (figure 2, the three results, wrapped angles) and ccd/test_solve.py (figure 3, frames
that follow one another).
"""

import numpy as np
import pytest

from ik2d_addon.core import CCDResult, Chain, Status, ccd_step, forward, solve_ccd, solve_two_bone


def test_two_bone_solvable_domain_is_a_ring():
    """Figure 2: between |d1 - d2| and d1 + d2 there is a solution, and nowhere else."""
    chain = Chain([1.0, 0.4])
    radius = np.linspace(0.0, 2.0, 401)
    angle = np.linspace(0.0, 40.0, 401)
    status = solve_two_bone(chain, np.stack((radius * np.cos(angle), radius * np.sin(angle)), axis=1)).status
    assert (status[radius < 0.6 - 1e-5] == Status.TOO_CLOSE).all()
    assert (status[(radius > 0.6 - 1e-7) & (radius < 1.4 + 1e-7)] == Status.REACHED).all()
    assert (status[radius > 1.4 + 1e-5] == Status.TOO_FAR).all()


def test_two_bone_both_bends_reach_the_same_target():
    """Solving for theta 2, remark 3: negated, it is the other valid solution."""
    targets = np.random.default_rng(31).uniform(-1.2, 1.2, (500, 2))
    chain = Chain([1.0, 0.9])
    one, other = (solve_two_bone(chain, targets, bend=bend) for bend in (1, -1))
    assert np.array_equal(one.angles[:, 1], -other.angles[:, 1])
    assert np.allclose(forward(chain, one.angles)[:, -1], forward(chain, other.angles)[:, -1], atol=1e-12)


def test_two_bone_angle_one_points_in_any_direction():
    """Solving for theta 1: atan2, since the arctangent alone covers half of the directions."""
    turn = np.linspace(-np.pi, np.pi, 73)[:-1]
    angles = solve_two_bone(Chain([1.0, 1.0]), 1.5 * np.stack((np.cos(turn), np.sin(turn)), axis=1)).angles
    steps = np.remainder(np.diff(angles[:, 0]), 2.0 * np.pi)
    assert np.allclose(steps, np.radians(5.0))


@pytest.mark.parametrize("lengths", [(1e-4, 1e4), (1e4, 1e-4), (1.0, 1.0), (1e-12, 1.0)])
def test_two_bone_of_unexpected_lengths(lengths):
    """Solving for theta 1: what looks true in the diagram must hold for all lengths."""
    chain = Chain(lengths)
    inner, outer = chain.reach
    for radius in (inner, (inner + outer) / 2.0, outer):
        for angle in (0.3, 2.0, -2.5):
            target = radius * np.array([np.cos(angle), np.sin(angle)])
            tip = forward(chain, solve_two_bone(chain, target).angles)[-1]
            assert np.linalg.norm(tip - target) <= 1e-9 * outer


def test_ccd_figure_1_the_optimum_is_on_the_segment_from_joint_to_target():
    chain, target = Chain([1.0]), np.array([3.0, 4.0])
    angles, _ = ccd_step(chain, [-2.0], target, tolerance=1e-9)
    assert np.allclose(forward(chain, angles)[-1], target / 5.0)


@pytest.mark.parametrize(("target", "turn"), [([0.0, 1.0], np.pi / 2), ([0.0, -1.0], -np.pi / 2)])
def test_ccd_the_sign_of_the_cross_product_is_the_direction_of_the_turn(target, turn):
    angles, _ = ccd_step(Chain([1.0]), [0.0], target, tolerance=1e-9)
    assert angles[0] == pytest.approx(turn)


def test_ccd_a_joint_at_its_target_or_under_its_tip_is_left_alone():
    """The test for a singularity: there the angle is undefined."""
    chain = Chain([1.0, 1.0])
    at_target, _ = ccd_step(chain, [0.0, 0.7], [1.0, 0.0], tolerance=1e-9)  # joint 1 is on the target
    assert at_target[1] == 0.7
    under_tip, _ = ccd_step(chain, [0.3, np.pi], [0.0, 0.5], tolerance=1e-9)
    # Joint 1 turns the tip away from the root first, so that joint 0 can turn: nothing is divided by zero.
    assert np.isfinite(under_tip).all()


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_ccd_does_not_give_up_just_before_it_arrives(scale):
    """The erratum: a length that counts as no motion must lie well below the tolerance."""
    rng = np.random.default_rng(32)
    for _ in range(20):
        chain = Chain(rng.uniform(0.2, 1.0, 10) * scale)
        angles, goal = rng.uniform(-0.5, 0.5, 10), forward(chain, rng.uniform(-0.5, 0.5, 10))[-1]
        tolerance = 1e-4 * chain.reach[1]
        result = CCDResult.PROCESSING
        for _ in range(3000):
            angles, result = ccd_step(chain, angles, goal, tolerance=tolerance)
            if result is not CCDResult.PROCESSING:
                break
        distance = np.linalg.norm(forward(chain, angles)[-1] - goal)
        if result is CCDResult.FAILURE:  # then it is a true local minimum, not the last stretch
            assert distance > 10.0 * tolerance


def test_ccd_more_iterations_may_be_spread_over_frames():
    """The updated joints start the next frame: on a target that rests the error only falls."""
    chain, target = Chain([1.0, 0.8, 0.6, 0.4]), np.array([0.5, 1.2])
    angles, errors = np.full(4, 0.2), []
    for _ in range(12):
        angles, _ = ccd_step(chain, angles, target, tolerance=1e-12)
        errors.append(np.linalg.norm(forward(chain, angles)[-1] - target))
    assert (np.diff(errors) <= 1e-12).all()
    assert errors[-1] < 0.1 * errors[0]


def test_ccd_limits_avoid_figure_3_and_their_own_local_minima_are_solved():
    """Local minima: joints that could not spin 180 degrees would avoid it, but add minima of their own."""
    limits = np.radians([[-170.0, 170.0]] * 2)
    chain = Chain([1.0, 1.0], limits)
    solution = solve_ccd(chain, [0.6, 0.0], start=[0.0, 0.0])
    assert solution.status == Status.REACHED
    rng = np.random.default_rng(33)
    chain = Chain([1.0] * 6, np.radians([[-60.0, 60.0]] * 6))
    goals = forward(chain, rng.uniform(*np.radians([-60.0, 60.0]), (50, 6)))[:, -1]
    solution = solve_ccd(chain, goals, start=np.full(6, 0.01))
    assert (solution.status == Status.REACHED).all()
    assert (np.abs(solution.angles) <= np.radians(60.0) + 1e-9).all()
