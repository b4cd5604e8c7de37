# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver Arc: every target is reached, all joints on one circle, on the side asked for."""

import numpy as np
import pytest
from chains import LENGTHS, annulus, random_lengths, targets_in_annulus
from hypothesis import given
from hypothesis import strategies as st

from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_arc, solve_even, solve_two_bone
from ik2d_addon.core.arc import BLOCK_ANGLES
from ik2d_addon.core.inputs import LONGEST, SHORTEST


def off_circle(joints: np.ndarray) -> float:
    """Return how far joints (n + 1, 2) are from the circle, or the line, that suits them best.

    All points (x, y) of a circle or line keep a (x x + y y) + b x + c y + d = 0, which over its slope is a
    distance.
    """
    x, y = (joints - joints.mean(axis=0)).T
    rows = np.stack((x * x + y * y, x, y, np.ones_like(x)), axis=1)
    a, b, c, d = np.linalg.svd(rows)[2][-1]
    slope = np.hypot(2.0 * a * x + b, 2.0 * a * y + c)
    return float((np.abs(rows @ (a, b, c, d)) / slope).max())


def near_borders(rng: np.random.Generator, chain: Chain, count: int) -> np.ndarray:
    """Return targets (4 count + 2, 2) at, and next to, the two reaches."""
    inner, outer = chain.reach
    off = (outer - inner) * 10.0 ** rng.uniform(-15.0, -1.0, (2, count))
    on = np.concatenate(([inner, outer], inner + off[0], outer - off[1]))
    angle = rng.uniform(-np.pi, np.pi, on.size)
    return on[:, None] * np.stack((np.cos(angle), np.sin(angle)), axis=1)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 12, 50, 200])
def test_every_target_in_the_annulus_is_reached_to_1e_14(n):
    for seed in range(25):
        rng = np.random.default_rng([n, seed])
        chain = Chain(random_lengths(rng, n, LENGTHS[seed % 5]))
        targets = np.concatenate((targets_in_annulus(rng, chain, 20), near_borders(rng, chain, 5)))
        solution = solve_arc(chain, targets, bend=rng.choice([-1, 1], len(targets)))
        assert solution.reached.all()
        assert solution.residual.max() <= 1e-14 * max(1.0, n / 20) * chain.reach[1]


@pytest.mark.parametrize("n", [3, 4, 6, 12])
def test_all_joints_lie_on_one_circle(n):
    for seed in range(20):
        rng = np.random.default_rng([n, seed, 1])
        chain = Chain(rng.uniform(0.2, 1.0, n))
        inner, outer = chain.reach
        for distance in inner + (outer - inner) * np.array([0.05, 0.3, 0.6, 0.9, 0.99]):
            joints = forward(chain, solve_arc(chain, [0.0, distance], bend=1 - 2 * (seed % 2)).angles)
            assert off_circle(joints) <= 1e-9 * outer


@pytest.mark.slow
@given(st.lists(st.floats(0.05, 2.0), min_size=2, max_size=9), st.floats(0.001, 0.999), st.floats(-3.1, 3.1))
def test_all_joints_turn_to_the_side_asked_for(lengths, part, angle):
    chain = Chain(lengths)
    inner, outer = chain.reach
    target = (inner + part * (outer - inner)) * np.array([np.cos(angle), np.sin(angle)])
    left, right = solve_arc(chain, target), solve_arc(chain, target * (1, -1), bend=-1)
    assert (left.angles[1:] > 0.0).all() and (left.angles[1:] < np.pi).all()
    assert np.allclose(left.angles, -right.angles, atol=1e-12)


def test_equal_bones_bend_alike_and_as_little_as_they_can_at_the_most():
    chain, rng = Chain(np.ones(7)), np.random.default_rng(2)
    targets = targets_in_annulus(rng, chain, 50)
    inner = solve_arc(chain, targets).angles[:, 1:]
    even = solve_even(chain, targets).angles[:, 1:]
    assert np.ptp(inner, axis=1).max() < 1e-12
    assert (inner.max(axis=1) <= even.max(axis=1) + 1e-12).all()


def test_two_bones_are_the_two_bone_solvers():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        chain = Chain(random_lengths(rng, 2, ("equal", "random", "one long")[seed % 3]))
        targets, bend = targets_in_annulus(rng, chain, 20), rng.choice([-1, 1], 20)
        targets[(targets == 0.0).all(axis=1)] += 0.3 * chain.lengths[0]  # there each direction is as good
        found, exact = solve_arc(chain, targets, bend=bend), solve_two_bone(chain, targets, bend=bend)
        gap = np.abs(forward(chain, found.angles) - forward(chain, exact.angles)).max()
        assert gap <= 1e-7 * chain.reach[1]  # the square root of rounding, next to a border


def test_a_bone_on_whose_other_side_the_centre_lies_is_still_a_chord():
    chain = Chain([0.5, 1.0, 0.4, 0.3])  # at the root the others cannot come round on the near side
    solution = solve_arc(chain, [[0.05, 0.0], [0.0, 0.0]])
    assert solution.residual.max() < 1e-14
    joints = forward(chain, solution.angles)
    assert max(off_circle(pose) for pose in joints) < 1e-12
    assert (solution.angles[:, 1:].sum(axis=1) > np.pi).all()


def test_a_target_off_the_annulus_gets_the_nearest_pose():
    chain = Chain([0.3, 2.0, 0.4, 0.3])
    solution = solve_arc(chain, [[0.0, 3.5], [-0.4, 0.0], [0.0, 0.0]], bend=-1)
    assert solution.status.tolist() == [Status.TOO_FAR, Status.TOO_CLOSE, Status.TOO_CLOSE]
    assert np.allclose(solution.residual, [0.5, 0.6, 1.0], atol=1e-14)
    tips = forward(chain, solution.angles)[:, -1]
    assert np.allclose(tips, [[0.0, 3.0], [-1.0, 0.0], [1.0, 0.0]], atol=1e-14)


def test_softness_keeps_the_tip_short_and_says_so():
    chain = Chain([1.0, 1.0, 1.0])
    soft = solve_arc(chain, [[2.95, 0.0], [3.2, 0.0], [1.0, 0.0]], softness=[0.1, 0.1, 0.1])
    assert soft.status.tolist() == [Status.EASED, Status.TOO_FAR, Status.REACHED]
    goals = [3.0 - 0.3 * np.exp(-0.25 / 0.3), 3.0 - 0.3 * np.exp(-0.5 / 0.3), 1.0]
    assert np.allclose(forward(chain, soft.angles)[:, -1, 0], goals, atol=1e-12)
    assert np.allclose(soft.residual, [2.95 - goals[0], 3.2 - goals[1], 0.0], atol=1e-12)


@pytest.mark.parametrize("lengths", [[1.0, 1.0, 1.0], [0.5, 1.0, 0.3], [1.0, 3.0, 0.5, 0.7]])
def test_joints_turn_one_way_while_the_target_nears_without_a_jump(lengths):
    chain = Chain(lengths)
    inner, outer = chain.reach
    u = np.linspace(0.0, np.pi, 2001)
    distance = np.sqrt(inner**2 + (outer**2 - inner**2) * 0.5 * (1.0 + np.cos(u)))
    angles = solve_arc(chain, np.stack((distance, 0.0 * u), axis=1)).angles[:, 1:]
    assert np.abs(np.diff(angles, axis=0)).max() < 0.01
    assert (np.diff(angles.sum(axis=1)) > -1e-9).all()


def test_one_target_gets_what_it_gets_among_others():
    rng = np.random.default_rng(5)
    chain = Chain(rng.uniform(0.3, 1.0, 12))
    targets = targets_in_annulus(rng, chain, BLOCK_ANGLES // 12 + 3)
    rows = [0, 1, -2, -1]
    alone = [solve_arc(chain, targets[row]).angles for row in rows]
    assert np.array_equal(solve_arc(chain, targets).angles[rows], alone)
    shaped = solve_arc(chain, targets[:6].reshape(3, 2, 2), bend=[[1], [-1], [1]])
    assert shaped.angles.shape == (3, 2, 12) and shaped.status.shape == shaped.residual.shape == (3, 2)
    assert np.array_equal(shaped.angles[2, 1], solve_arc(chain, targets[5]).angles)


@pytest.mark.parametrize("size", [SHORTEST, 1e-150, 1e150, LONGEST / 4.0])
def test_the_answer_does_not_depend_on_the_size(size):
    lengths, targets = np.array([0.5, 0.3, 0.7, 0.1]), np.array([[0.3, 0.9], [0.0, 0.0], [-3.0, 0.0]])
    small, large = solve_arc(Chain(lengths), targets), solve_arc(Chain(size * lengths), size * targets)
    assert np.allclose(small.angles, large.angles, atol=1e-12)
    assert np.array_equal(small.status, large.status)


def test_bones_of_no_length_and_chains_of_none_else():
    none = solve_arc(Chain([0.0, 0.0, 0.0]), [1.0, 0.0])
    assert none.status == Status.TOO_FAR and none.residual == 1.0 and not none.angles.any()
    one = solve_arc(Chain([0.0, 2.0, 0.0]), [[0.0, 2.0], [0.0, 1.0]])
    assert one.status.tolist() == [Status.REACHED, Status.TOO_CLOSE]
    assert np.allclose(one.residual, [0.0, 1.0])


def test_what_an_arc_cannot_is_refused_in_words():
    with pytest.raises(IK2DError, match="Arc solver takes joints without limits"):
        solve_arc(Chain([1.0, 1.0], limits=[[-1.0, 1.0], [np.nan, np.nan]]), [1.0, 0.0])
    with pytest.raises(IK2DError, match="Arc solver takes joints that all turn"):
        solve_arc(Chain([1.0, 1.0], weights=[1.0, 0.0]), [1.0, 0.0])
    with pytest.raises(IK2DError, match="Arc solver takes rigid bones"):
        solve_arc(Chain([1.0, 1.0], slides=[[0.0, 1.0], [0.0, 0.0]]), [1.0, 0.0])
    with pytest.raises(IK2DError, match="a target is two numbers"):
        solve_arc(Chain([1.0, 1.0]), 1.0)
    weighed = solve_arc(Chain([1.0, 1.0], weights=[0.2, 1.0]), [1.0, 0.5])
    assert np.array_equal(weighed.angles, solve_arc(Chain([1.0, 1.0]), [1.0, 0.5]).angles)


@pytest.mark.slow
def test_softness_and_the_annulus_of_random_chains_agree_with_even():
    for seed in range(20):
        rng = np.random.default_rng([seed, 7])
        chain = Chain(random_lengths(rng, 5, LENGTHS[seed % 5]))
        targets = annulus(rng, chain, 20) if seed % 2 else 1.5 * targets_in_annulus(rng, chain, 20)
        soft = rng.uniform(0.0, 0.5, len(targets))
        arc, even = solve_arc(chain, targets, softness=soft), solve_even(chain, targets, softness=soft)
        assert np.array_equal(arc.status, even.status)
        assert np.allclose(arc.residual, even.residual, atol=1e-9 * chain.reach[1])
