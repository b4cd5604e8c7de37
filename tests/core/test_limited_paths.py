# SPDX-License-Identifier: GPL-3.0-or-later
"""Along a path every chain starts each frame from the one before: its side, its number of turns, its pose."""

import numpy as np
import pytest
from chains import smooth_path

from ik2d_addon.core import Chain, IK2DError, forward, solve_ccd, solve_ccd_path, solve_even
from ik2d_addon.core.chain import going_on

TURN = np.radians(200.0)


def in_turn(chain, path, start, bend=1, softness=0.0):
    """Return the angles of a path's frames, solved one after the other, each from the one before."""
    angles = [np.asarray(start, float)]
    for target in path:
        angles.append(solve_ccd(chain, target, start=angles[-1], bend=bend, softness=softness).angles)
    return np.array(angles[1:])


@pytest.mark.slow
@pytest.mark.parametrize(
    "limits",
    (
        [[-TURN, TURN]],
        [[-4.0 * np.pi, 4.0 * np.pi]],
        [[-TURN, TURN], [np.nan, np.nan]],
        [[-TURN, TURN], [-2.0, 2.5]],
        [[np.nan, np.nan], [-4.0, 5.0]],
        [[-9.0, 9.0], [0.2, 2.0]],
    ),
)
def test_a_path_of_one_or_two_limited_bones_is_its_frames_solved_in_turn(limits):
    n = len(limits)
    chain = Chain(np.ones(n) / n, limits)
    for seed in range(6):
        rng = np.random.default_rng([n, seed])
        path = smooth_path(rng, 0.2, 0.98, 200, 0.03)  # a stretched chain has no side to compare
        start = rng.uniform(-1.0, 1.0, n)
        solution = solve_ccd_path(chain, path, start=start)
        assert np.abs(solution.angles - in_turn(chain, path, start)).max() <= 1e-9


def test_a_limited_root_follows_a_circle_for_as_many_turns_as_it_may():
    chain = Chain([0.6, 0.5], [[-9.0, 9.0], [-3.0, 3.0]])
    u = np.linspace(0.0, 8.0, 300)  # more than a turn, less than the limit
    path = 0.7 * np.stack([np.cos(u), np.sin(u)], axis=-1)
    solution = solve_ccd_path(chain, path, start=[0.0, 0.5])
    assert solution.reached.all()
    assert np.abs(np.diff(solution.angles, axis=0)).max() <= 0.05


def test_two_limited_bones_keep_the_side_they_are_on():
    chain = Chain([0.5, 0.5], [[-9.0, 9.0], [-2.5, 2.5]])
    u = np.linspace(0.0, 6.0, 200)
    path = 0.8 * np.stack([np.cos(u), np.sin(u)], axis=-1)
    for side in (1.0, -1.0):
        solution = solve_ccd_path(chain, path, start=[0.3, 0.6 * side], bend=1)
        assert (np.sign(solution.angles[:, 1]) == side).all()


# --- Settings that change along the path -------------------------------------


@pytest.mark.parametrize("limits", (None, [[-3.0, 3.0]] * 2, [[-3.0, 3.0]] * 5))
def test_a_path_changes_its_side_where_the_bend_does(limits):
    n = 5 if limits is None else len(limits)
    chain = Chain(np.ones(n) / n, limits)
    u = np.linspace(0.0, 1.0, 60)
    path = 0.7 * np.stack([np.cos(u), np.sin(u)], axis=-1)
    bend = np.where(np.arange(60) < 30, 1, -1)
    start = np.full(n, 2.7 / n)  # about an arc whose chord is 0.7
    start[0] = -1.35
    solution = solve_ccd_path(chain, path, start=start, bend=bend)
    assert solution.reached.all()
    assert (np.sign(solution.angles[:, 1:].sum(axis=1)) == bend).all()
    steps = np.abs(np.diff(solution.angles, axis=0)).max(axis=1)
    assert steps.argmax() == 29
    assert np.delete(steps, 29).max() <= 0.1
    # The mirrored pose, about the line from root to tip.
    assert np.abs(solution.angles[30, 1:] + solution.angles[29, 1:]).max() <= 0.1


def test_a_rigid_joint_keeps_its_angle_where_the_bend_changes():
    chain = Chain(np.ones(4) / 4, weights=[1.0, 1.0, 0.0, 1.0])
    path = np.tile([0.6, 0.1], (4, 1))
    solution = solve_ccd_path(chain, path, start=[0.1, 0.4, 0.3, 0.4], bend=[1, 1, -1, -1])
    assert solution.reached.all()
    assert (solution.angles[:, 2] == 0.3).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    ({}, {"limits": [[-3.0, 3.0], [-0.6, 0.6], *[[-2.5, 2.5]] * 2]}, {"slides": [[-0.05, 0.1]] * 4}),
    ids=("free", "limited", "sliding"),
)
def test_a_root_of_weight_0_does_not_turn_where_the_bend_changes(kind):
    chain, rest = Chain(np.ones(4) / 4, weights=[0.0, 1.0, 1.0, 1.0], **kind), [0.1, 0.4, 0.3, 0.4]
    path, bend = [[0.65, 0.0], [0.64, 0.04], [0.62, 0.07], [0.6, 0.1]], [1, 1, -1, 1]
    for solution in (
        solve_ccd_path(chain, path, start=rest, bend=bend),
        solve_even(chain, path, rest=rest, bend=bend, root_weight=0.0),
    ):
        assert solution.reached.all()
        assert (solution.angles[:, 0] == 0.1).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 5))
def test_softness_may_change_from_frame_to_frame(n):
    chain = Chain(np.ones(n) / n)
    h = np.linspace(0.7, 1.1, 40)
    path, softness = np.stack([h, 0.0 * h], axis=-1), np.linspace(0.0, 0.2, 40)
    solution = solve_ccd_path(chain, path, start=np.full(n, 0.2), softness=softness)
    one_by_one = [
        solve_ccd_path(chain, path, start=np.full(n, 0.2), softness=s).residual[i]
        for i, s in enumerate(softness)
    ]
    assert np.allclose(solution.residual, one_by_one, atol=1e-6)
    assert (solution.arrived == (h <= 1.0 + 1e-6)).all()
    assert (solution.reached == (solution.residual <= chain.tolerance_or_default(None))).all()


def test_a_path_refuses_settings_of_another_shape():
    chain, path = Chain(np.ones(3)), np.ones((5, 2))
    for settings in ({"bend": [1, -1]}, {"softness": [0.1, 0.2]}, {"softness": [0.1, 0.2, 0.3, 0.4, 1.5]}):
        with pytest.raises(IK2DError, match=next(iter(settings))):
            solve_ccd_path(chain, path, start=np.zeros(3), **settings)


def test_a_path_within_limits_goes_where_its_frames_go():
    chain = Chain(np.ones(5) / 5, [[-1.0, 1.0]] * 5)
    path = smooth_path(np.random.default_rng(4), 0.4, 0.9, 100, 0.02)
    start = np.full(5, 0.1)
    found = solve_ccd_path(chain, path, start=start, posture_gain=0.0).angles
    assert np.abs(found - in_turn(chain, path, start)).max() <= 1e-9
    assert np.isfinite(forward(chain, found)).all()


# --- Numbers -----------------------------------------------------------------


@pytest.mark.parametrize(("low", "high"), [(-TURN, TURN), (2.0, 9.0), (-20.0, -12.0), (-np.pi, np.pi)])
def test_numbers_go_on_within_a_range_that_has_room_for_every_rotation(low, high):
    rng = np.random.default_rng(5)
    there = np.cumsum(rng.uniform(-0.5, 0.5, 2000))
    found = going_on(np.angle(np.exp(1j * there)), low, high, (low + high) / 2.0)
    assert low - 1e-12 <= found.min() and found.max() <= high + 1e-12
    assert np.abs(np.exp(1j * found) - np.exp(1j * there)).max() <= 1e-9
    jumps = np.abs(np.diff(found)) > 0.5 + 1e-9
    near_an_end = np.minimum(found - low, high - found)[:-1] <= 0.5
    assert near_an_end[jumps].all()
