# SPDX-License-Identifier: GPL-3.0-or-later
"""The arm of the demo: each solver poses it, limits hold, steps bring it nearer."""

import numpy as np
import pytest

from core_demo.arm import ARC, CCD, EVEN, LIMITS, MOST_BONES, SOLVERS, STEPS, TWO_BONE, DemoArm


@pytest.mark.parametrize("bones", range(1, MOST_BONES + 1))
def test_it_is_one_long_whatever_the_number_of_bones(bones):
    assert DemoArm(bones).chain.reach[1] == pytest.approx(1.0)


@pytest.mark.parametrize("solver", [TWO_BONE, EVEN, ARC, CCD])
def test_each_solver_brings_the_tip_to_the_target(solver):
    arm = DemoArm(2, limits=())
    assert arm.set_solver(solver)
    for x, y in ((0.4, 0.5), (-0.6, 0.1), (0.0, -0.9)):
        arm.aim(x, y)
        assert np.hypot(*(arm.joints()[-1] - (x, y))) < 1e-6
        assert arm.result.startswith("Target reached")
    arm.aim(1.2, 0.0)
    assert arm.result.startswith("Too far") and arm.distance() == pytest.approx(0.2, abs=1e-5)


def test_flip_bends_to_the_other_side_or_says_that_there_is_none():
    arm = DemoArm(2, limits=())
    side = arm.angles[1]
    arm.flip()
    assert arm.angles[1] == pytest.approx(-side) and arm.distance() < 1e-6
    assert arm.result == "Target reached"
    held = DemoArm(2, limits=[(-90.0, 90.0), (0.0, 135.0)])
    held.flip()
    assert held.result == "Target reached; Flip finds no other bend within the limits"


@pytest.mark.slow
def test_limits_hold_and_what_they_forbid_is_said():
    arm = DemoArm(3)
    for joint in range(3):
        arm.set_limits(joint, -10, 40)
    for x, y in np.random.default_rng(5).uniform(-1, 1, (40, 2)):
        arm.aim(x, y)
        assert (np.degrees(arm.angles) >= -10 - 1e-9).all() and (np.degrees(arm.angles) <= 40 + 1e-9).all()
        assert arm.result.startswith("Target reached") == bool(arm.region().contains([x, y]))
    arm.aim(-0.5, 0.0)
    assert "proven" in arm.result
    for joint in range(3):
        arm.set_limits(joint, -180, 180)
    assert not arm.chain.is_limited and arm.result.startswith("Target reached")


def test_solvers_that_an_arm_cannot_have_are_not_taken_and_the_result_says_so():
    arm = DemoArm(3, limits=())
    assert not arm.set_solver(TWO_BONE) and arm.solver == EVEN and "takes two bones" in arm.result
    assert arm.set_solver(ARC)
    arm.set_limits(1, 0, 90)
    assert arm.solver == EVEN and "Circle (Arc) takes joints without limits" in arm.result
    assert not arm.set_solver(ARC)
    pair = DemoArm(2, limits=())
    pair.set_solver(TWO_BONE)
    pair.set_bones(4)
    assert pair.solver == EVEN and "Two-bone takes two bones" in pair.result


def test_joints_keep_their_limits_with_more_or_fewer_bones():
    arm = DemoArm(3, limits=LIMITS)
    arm.set_bones(5)
    assert np.degrees(arm.chain.ranges).tolist() == [*map(list, LIMITS), *[[-np.inf, np.inf]] * 2]
    arm.set_bones(2)
    assert np.degrees(arm.chain.ranges).tolist() == [list(ends) for ends in LIMITS[:2]]


def test_steps_move_the_arm_and_the_target_alone_does_not():
    arm = DemoArm(4, limits=())
    arm.set_solver(STEPS)
    before = arm.angles
    arm.aim(-0.5, 0.6)
    assert np.array_equal(arm.angles, before)
    distances = [arm.distance()]
    while not arm.result.startswith("Target reached"):
        arm.step()
        distances.append(arm.distance())
        assert arm.steps < 200
    assert distances == sorted(distances, reverse=True) and distances[-1] <= 1e-4


def test_every_solver_is_offered_to_an_arm_of_two_free_bones():
    arm = DemoArm(2, limits=())
    assert all(arm.offers(solver) for solver in SOLVERS)
