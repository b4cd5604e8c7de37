# SPDX-License-Identifier: GPL-3.0-or-later
"""`solve_pose`: the tip on its target and the last bone at its angle, or as near as it can be."""

import numpy as np
import pytest
from posed_chains import FREE, assert_within, known_poses, limited_chain

from ik2d_addon.core import Chain, IK2DError, Status, forward, reachable, solve_even, solve_pose
from ik2d_addon.core.inputs import wrapped


@pytest.mark.slow
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
@pytest.mark.parametrize("limited", [False, True])
def test_tip_and_angle_are_had_wherever_a_pose_has_both(n: int, limited: bool) -> None:
    rng = np.random.default_rng(n)
    chain = limited_chain(rng, n) if limited else Chain(rng.uniform(0.5, 1.5, n))
    _, tips, headings = known_poses(rng, chain, 40)
    found = solve_pose(chain, tips, headings, rest=rng.uniform(-0.3, 0.3, n))
    assert (found.status == Status.REACHED).all()
    assert np.abs(forward(chain, found.angles)[:, -1] - tips).max() <= 1e-9 * chain.reach[1]
    assert np.abs(wrapped(found.angles.sum(axis=1) - headings)).max() <= 1e-9
    assert found.angle_error is not None and found.angle_error.max() <= 1e-9
    assert_within(chain, found.angles)


@pytest.mark.slow
@pytest.mark.parametrize("n", [4, 6])
def test_limits_of_the_first_joint_hold_and_the_tip_stays_on_its_target(n: int) -> None:
    rng = np.random.default_rng(n)
    chain = limited_chain(rng, n, free_root=False)
    _, tips, headings = known_poses(rng, chain, 40)
    found = solve_pose(chain, tips, headings)
    assert_within(chain, found.angles)
    assert np.abs(forward(chain, found.angles)[:, -1] - tips).max() <= 1e-9 * chain.reach[1]
    assert (found.status == Status.REACHED).all()


@pytest.mark.slow
@pytest.mark.parametrize("n, chains", [(4, 30), (5, 12)])
def test_a_pose_with_both_is_found_though_the_first_joint_has_limits(n: int, chains: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(chains):
        widest = rng.uniform(0.5, 2.2)
        limits = np.sort(rng.uniform(-widest, widest, (n, 2)), axis=1) + (-0.3, 0.3)
        chain = Chain(rng.uniform(0.2, 1.0, n), limits)
        known = rng.uniform(*limits.T, (25, n))
        found = solve_pose(chain, forward(chain, known)[:, -1], known.sum(axis=1))
        assert (found.status == Status.REACHED).all() and found.angle_error is not None
        assert found.angle_error.max() <= 1e-9
        assert_within(chain, found.angles)


@pytest.mark.parametrize("lengths", [[1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.3, 0.2, 0.0]])
def test_a_wrist_of_no_length_turns_to_its_heading(lengths: list[float]) -> None:
    for limits in (None, [[-2.5, 2.5]] * len(lengths)):
        found = solve_pose(Chain(lengths, limits), [0.6, 0.8], np.radians(30.0))
        assert found.status == Status.REACHED and found.angle_error <= 1e-9


@pytest.mark.slow
def test_joint_of_weight_0_keeps_its_angle_in_rest() -> None:
    for n, pinned in ((3, 1), (3, 2), (5, 0), (5, 2), (5, 4)):
        weights, rest = np.ones(n), np.full(n, 0.3)
        weights[pinned] = 0.0
        chain = Chain(np.ones(n), weights=weights)
        known = np.linspace(-0.5, 0.4, n)
        known[pinned] = 0.3
        found = solve_pose(chain, forward(chain, known)[-1], known.sum(), rest=rest)
        assert found.status == Status.REACHED and found.angles[pinned] == pytest.approx(0.3)


def test_target_out_of_reach_is_too_far_and_the_chain_points_at_it() -> None:
    for n in (2, 3, 5):
        found = solve_pose(Chain(np.ones(n)), [0.0, 2.0 * n], 0.0)
        assert found.status == Status.TOO_FAR and not found.reached
        assert found.residual == pytest.approx(n) and found.angle_error == pytest.approx(np.pi / 2.0)


@pytest.mark.slow
def test_target_that_limits_forbid_is_limited_and_the_tip_as_near_as_without_the_angle() -> None:
    for n in (3, 5):
        chain = Chain(np.ones(n), [FREE] + [[0.0, 0.1]] * (n - 1))
        found = solve_pose(chain, [0.5 * n, 0.0], 0.0)
        assert found.status == Status.LIMITED
        assert found.residual == pytest.approx(float(reachable(chain).nearest([0.5 * n, 0.0])[1]), abs=1e-6)


@pytest.mark.slow
def test_angle_first_keeps_the_angle_and_brings_the_tip_as_near_as_that_allows() -> None:
    rng = np.random.default_rng(7)
    for n in (2, 3, 5):
        chain = limited_chain(rng, n)
        _, tips, headings = known_poses(rng, chain, 20)
        wanted = headings + rng.uniform(-np.pi, np.pi, 20)
        found = solve_pose(chain, tips, wanted, angle_first=True)
        assert found.angle_error is not None and found.angle_error.max() <= 1e-9
        assert_within(chain, found.angles)
        low, high = np.clip(chain.ranges[1:], -3.2, 3.2).T
        others = rng.uniform(low, high, (4000, n - 1))
        for row in range(20):
            poses = np.column_stack((wanted[row] - others.sum(axis=1), others))
            away = np.hypot(*(forward(chain, poses)[:, -1] - tips[row]).T)
            assert found.residual[row] <= away.min() + 1e-9
        assert set(found.status) <= {Status.REACHED, Status.LIMITED}


def test_softness_leaves_the_tip_behind_as_it_does_without_an_angle() -> None:
    chain = Chain([1.0, 1.0, 0.5])
    soft = solve_pose(chain, [2.45, 0.0], 0.3, softness=0.2)
    assert soft.status == Status.EASED
    assert soft.residual == pytest.approx(float(solve_even(chain, [2.45, 0.0], softness=0.2).residual))


@pytest.mark.slow
def test_answers_do_not_depend_on_the_size_of_the_chain_nor_on_whole_turns() -> None:
    rng = np.random.default_rng(11)
    for n in (3, 5):
        chain = limited_chain(rng, n)
        _, tips, headings = known_poses(rng, chain, 10)
        one = solve_pose(chain, tips, headings + 1.0)
        large = Chain(1e6 * chain.lengths, chain.limits)
        other = solve_pose(large, 1e6 * tips, headings + 1.0 - 4.0 * np.pi)
        assert np.abs(one.angles - other.angles).max() <= 1e-6


def test_one_target_of_a_free_root_has_the_pose_that_it_has_among_many() -> None:
    rng = np.random.default_rng(2)
    for n, limited in ((4, True), (5, False), (8, True)):
        chain = limited_chain(rng, n) if limited else Chain(rng.uniform(0.5, 1.0, n))
        _, tips, headings = known_poses(rng, chain, 8)
        rest = rng.uniform(-0.2, 0.2, n)
        for bend in (1, -1):
            many = solve_pose(chain, tips, headings, rest=rest, bend=bend)
            for row in range(8):
                one = solve_pose(chain, tips[row], headings[row], rest=rest, bend=bend)
                assert np.abs(wrapped(one.angles - many.angles[row])).max() <= 1e-6


def test_shapes_broadcast_and_one_row_is_one_answer() -> None:
    found = solve_pose(Chain([1.0, 1.0, 0.5]), [1.0, 1.0], [[0.0, 1.0, 2.0]] * 2, bend=[[1], [-1]])
    assert found.angles.shape == (2, 3, 3) and found.angle_error is not None
    assert found.angle_error.shape == found.status.shape == (2, 3)
    assert found.at(0).angle_error is not None
    assert solve_pose(Chain([1.0, 1.0]), np.zeros((0, 2)), 0.0).status.shape == (0,)


def test_bones_of_no_length_and_targets_on_the_root_have_a_pose() -> None:
    for lengths in ([0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0]):
        found = solve_pose(Chain(lengths), [[0.0, 0.0], [0.5, 0.0]], 1.0)
        assert np.isfinite(found.angles).all()


def test_wrong_input_is_refused_with_a_sentence() -> None:
    with pytest.raises(IK2DError, match="2 to 1000 bones, not 1"):
        solve_pose(Chain([1.0]), [1.0, 0.0], 0.0)
    with pytest.raises(IK2DError, match="takes rigid bones"):
        solve_pose(Chain([1.0, 1.0], slides=[[0.0, 1.0], [0.0, 0.0]]), [1.0, 0.0], 0.0)
    with pytest.raises(IK2DError, match="angle must be finite"):
        solve_pose(Chain([1.0, 1.0]), [1.0, 0.0], np.nan)
    with pytest.raises(IK2DError, match="angle_first must be a bool"):
        solve_pose(Chain([1.0, 1.0]), [1.0, 0.0], 0.0, angle_first="no")  # type: ignore[arg-type]
    with pytest.raises(IK2DError, match="rest must be 2 angles"):
        solve_pose(Chain([1.0, 1.0]), [1.0, 0.0], 0.0, rest=[[0.0, 0.0]])


@pytest.mark.slow
def test_joint_of_little_weight_turns_less() -> None:
    chain, target = np.ones(5), [2.5, 1.0]
    even = solve_pose(Chain(chain), target, 0.4)
    stiff = solve_pose(Chain(chain, weights=[1.0, 1.0, 0.05, 1.0, 1.0]), target, 0.4)
    assert stiff.status == Status.REACHED and stiff.angle_error <= 1e-9
    assert abs(stiff.angles[2]) < 0.3 * abs(even.angles[2])
