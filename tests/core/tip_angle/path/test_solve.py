# SPDX-License-Identifier: GPL-3.0-or-later
"""`solve_pose_path`: tips and headings of all frames, without a jump that nothing forces."""

import numpy as np
import pytest
from posed_chains import assert_within

from benchmarks.pose_paths import POP, PosePath, path_of, turns
from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_pose, solve_pose_path
from ik2d_addon.core.inputs import wrapped


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_smooth_paths_are_met_on_all_frames_without_a_pop(seed: int) -> None:
    popped = 0
    rng = np.random.default_rng(seed)
    for path in (path_of(rng, n, limited) for n in (3, 4, 6, 7, 12) for limited in (False, True)):
        chain, (tips, headings) = path.chain, path.goals
        found = solve_pose_path(chain, tips, headings)
        assert found.reached.all() and found.angle_error is not None and found.angle_error.max() <= 1e-9
        assert np.abs(forward(chain, found.angles)[:, -1] - tips).max() <= 1e-9
        assert_within(chain, found.angles)
        assert turns(found.angles).max() <= POP
        assert found.parted is not None and not found.parted.any()
        popped += bool((turns(solve_pose(chain, tips, headings).angles) > POP).any())
    assert popped >= 3  # each frame by itself


def test_same_path_has_the_same_poses_again_and_its_end_from_the_pose_before_it() -> None:
    chain, poses = path = path_of(np.random.default_rng(5), 6, True)
    tips, headings = path.goals
    whole, again = (solve_pose_path(chain, tips, headings).angles for _ in range(2))
    assert (whole == again).all()
    for cut in (50, 120):
        rest = solve_pose_path(chain, tips[cut:], headings[cut:], start=whole[cut - 1])
        assert rest.parted is not None and not rest.parted.any()
        assert turns(np.vstack((whole[:cut], rest.angles))).max() <= POP


def test_starts_of_their_own_lead_to_the_poses_next_to_them() -> None:
    for n in (3, 5):
        chain, poses = path = path_of(np.random.default_rng(n), n, True, 20)
        tips, headings = path.goals
        found = solve_pose_path(chain, tips, headings, start=poses + 0.002)
        assert np.abs(forward(chain, found.angles)[:, -1] - tips).max() <= 1e-9
        assert np.abs(found.angles - poses).max() <= 0.02


def test_poses_next_to_starts_of_their_own_are_exactly_within_the_limits() -> None:
    rng = np.random.default_rng(1034)
    for n in (4, 6, 9):
        half = rng.uniform(0.02, 0.6, n)
        chain = Chain(rng.uniform(0.2, 1.5, n), np.stack((-half, half), axis=1))
        targets = 0.9 * chain.reach[1] * np.column_stack((np.cos(half), np.sin(half)))
        for starts in (rng.uniform(-half, half, (n, n)), np.full((n, n), 2.0)):
            found = solve_pose_path(chain, targets, rng.uniform(-4.0, 4.0, n), start=starts)
            assert (found.angles >= -half).all() and (found.angles <= half).all()


def test_target_that_jumps_away_parts_the_path_where_it_does() -> None:
    chain = Chain(np.ones(4), np.radians([[-180, 180], [-10, 120], [-10, 120], [-120, 120]]))
    first, last = np.radians([[30.0, 40.0, 30.0, 20.0], [-150.0, 100.0, 100.0, -110.0]])
    poses = np.vstack([first + np.linspace(0, 0.1, 10)[:, None], last + np.linspace(0, 0.1, 10)[:, None]])
    found = solve_pose_path(chain, *PosePath(chain, poses).goals)
    assert found.reached.all() and found.angle_error is not None and found.angle_error.max() <= 1e-9
    assert found.parted is not None and set(np.flatnonzero(found.parted)) <= {10}


@pytest.mark.parametrize("n", [3, 5])
def test_frames_that_no_pose_meets_keep_the_tip_on_its_target(n: int) -> None:
    chain, poses = path = path_of(np.random.default_rng(n), n, True, 60)
    tips, headings = path.goals
    headings = headings + 2.5 * np.clip(np.sin(np.linspace(0.0, np.pi, 60)) - 0.5, 0.0, None)
    found, alone = solve_pose_path(chain, tips, headings), solve_pose(chain, tips, headings)
    off = found.status == Status.ANGLE
    assert off.any() and not off.all() and found.reached.all()
    assert found.angle_error is not None and alone.angle_error is not None
    over = (found.angle_error - alone.angle_error)[off]
    assert np.degrees(np.median(over)) <= (1.0 if n > 3 else 4.0)
    assert np.abs(forward(chain, found.angles)[:, -1] - tips).max() <= 1e-9
    assert_within(chain, found.angles)


def test_frames_out_of_reach_point_at_their_target_and_the_path_goes_on() -> None:
    chain = Chain([1.0, 1.0, 1.0, 0.5])
    path = np.column_stack((np.linspace(3.0, 4.0, 20), np.zeros(20)))
    found = solve_pose_path(chain, np.vstack((path, path[::-1])), 0.0)
    assert (found.status[18:22] == Status.TOO_FAR).all() and (found.status[[0, -1]] == Status.REACHED).all()
    assert found.angles.shape == (40, 4)


def test_first_joint_whose_turn_counts_bends_less() -> None:
    chain, poses = path = path_of(np.random.default_rng(3), 5, False, 30)
    tips, headings = path.goals
    free = solve_pose_path(chain, tips, headings)
    counted = solve_pose_path(chain, tips, headings, root_weight=1.0)
    assert counted.angle_error is not None and counted.angle_error.max() <= 1e-9
    assert (counted.angles[0] ** 2).sum() < (wrapped(free.angles[0]) ** 2).sum()


def test_angle_first_keeps_the_angle_on_all_frames() -> None:
    chain, poses = path = path_of(np.random.default_rng(8), 5, True, 40)
    tips, headings = path.goals
    found = solve_pose_path(chain, tips, headings + np.linspace(0.0, 1.5, 40), angle_first=True)
    assert found.angle_error is not None and found.angle_error.max() <= 1e-9
    assert found.residual[0] <= 1e-9 < found.residual.max()
    assert_within(chain, found.angles)


def test_path_of_no_frames_and_of_two_bones_is_that_of_solve_pose() -> None:
    assert solve_pose_path(Chain(np.ones(4)), np.zeros((0, 2)), 0.0).angles.shape == (0, 4)
    chain, targets = Chain([1.0, 1.0]), [[1.0, 1.0], [1.0, 1.2]]
    found, alone = solve_pose_path(chain, targets, 0.3), solve_pose(chain, targets, 0.3)
    assert (found.angles == alone.angles).all() and (found.status == alone.status).all()


@pytest.mark.parametrize("angle_first", [False, True])
def test_path_of_one_frame_is_that_of_solve_pose(angle_first: bool) -> None:
    rng = np.random.default_rng(12)
    for n in (3, 5, 8):
        half = rng.uniform(0.2, 1.3, n)
        chain, rest = Chain(np.ones(n), np.stack((-half, half), axis=1)), rng.uniform(-half, half)
        for target in rng.normal(size=(4, 2)) * 0.4 * n:
            asked = {"rest": rest, "angle_first": angle_first}
            angle = rng.uniform(-3.0, 3.0)
            alone = solve_pose(chain, target[None], angle, **asked)
            found = solve_pose_path(chain, target[None], angle, **asked)
            assert (found.angles == alone.angles).all() and (found.status == alone.status).all()
            # The first of many frames is as near, too.
            two = solve_pose_path(chain, [target, target], angle, **asked)
            assert two.angle_error is not None and alone.angle_error is not None
            assert two.angle_error[0] <= alone.angle_error[0] + 1e-6
            assert two.residual[0] <= alone.residual[0] + 1e-6


@pytest.mark.parametrize("n", [2, 3, 5])
def test_chain_without_length_keeps_its_rest(n: int) -> None:
    rest = np.full(n, 0.1)
    for start in (None, np.zeros(n), np.zeros((3, n))):
        found = solve_pose_path(
            Chain(np.zeros(n)), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], 0.3, start=start, rest=rest
        )
        assert (found.angles == rest).all() and found.parted is not None and not found.parted.any()


def test_no_pose_found_with_the_angle_first_is_unproven_as_in_solve_pose() -> None:
    half = np.array([0.3, 1.0, 1.0, 1.0, 1.0])
    chain, rng = Chain(np.ones(5), np.stack((-half, half), axis=1)), np.random.default_rng(3)
    targets, angles = rng.uniform(-4.0, 4.0, (60, 2)), rng.uniform(-3.0, 3.0, 60)
    for target, angle in zip(targets, angles, strict=True):
        alone = solve_pose(chain, target[None], angle, angle_first=True)
        two = solve_pose_path(chain, [target, target], angle, angle_first=True)
        assert alone.unproven is not None and two.unproven is not None
        assert not (alone.unproven & alone.reached).any()
        if alone.status[0] == two.status[0] == Status.LIMITED:
            assert (two.unproven == alone.unproven[0]).all()


def test_wrong_input_is_refused_with_a_sentence() -> None:
    chain = Chain(np.ones(4))
    with pytest.raises(IK2DError, match="targets of shape"):
        solve_pose_path(chain, [1.0, 0.0], 0.0)
    with pytest.raises(IK2DError, match="one angle or one a frame"):
        solve_pose_path(chain, [[1.0, 0.0]] * 3, np.zeros((3, 1)))
    with pytest.raises(IK2DError, match="one start, or 3"):
        solve_pose_path(chain, [[1.0, 0.0]] * 3, 0.0, start=np.zeros((2, 4)))
    with pytest.raises(IK2DError, match=r"root_weight must lie in 0\.\.1"):
        solve_pose_path(chain, [[1.0, 0.0]], 0.0, root_weight=2.0)
