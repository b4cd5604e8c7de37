# SPDX-License-Identifier: GPL-3.0-or-later
"""Along a path the pose is drawn to least bend: loops close, nothing winds up, nothing creeps."""

import numpy as np
import pytest
from chains import smooth_path

from benchmarks.loops import LOOPS, Loop, loops_of, walked
from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_ccd_path, solve_even
from ik2d_addon.core.path import path_steps, posture_of


@pytest.mark.slow
@pytest.mark.parametrize("is_limited", (False, True), ids=("free", "limited"))
@pytest.mark.parametrize("n", (3, 5, 12, 30))
def test_loops_close_and_bend_little_more_than_even(n, is_limited):
    loops = loops_of(n, is_limited)
    assert len(loops) >= 3
    for loop in loops:
        found = walked(loop, 20 if n < 12 else 6)
        assert found.missed == 0
        assert found.open <= 1e-3
        assert found.bend <= 1.2
        assert found.turn <= 12.0


def test_without_the_pull_a_chain_winds_up():
    (eight,) = (loop for loop in loops_of(5, False) if loop.name == "eight")
    found = walked(eight, 3, posture_gain=0.0)
    assert found.open > 90.0 and found.bend > 10.0
    assert set(LOOPS) == {"round the root", "next to it", "eight", "walk"} and isinstance(eight, Loop)


def rounds(seed):
    """Return a chain, a bent rest pose, and two rounds of 150 frames on a circle."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 13))
    chain, rest = Chain(rng.uniform(0.3, 1.0, n)), rng.uniform(-0.4, 0.4, n)
    center, radius, turned = rng.uniform(-0.4, 0.4, 2), rng.uniform(0.1, 0.4), rng.uniform(0.0, 6.28)
    u = np.linspace(0.0, 2.0 * np.pi, 150) + turned
    circle = chain.reach[1] * (center + radius * np.stack([np.cos(u), np.sin(u)], axis=-1))
    return chain, rest, np.tile(circle, (2, 1))


def off_least(chain, rest, path, angles):
    """Return how far the inner joints of the last round (150, n) are off the nearer poses of least bend."""
    inner = angles[-150:, 1:]
    sides = [solve_even(chain, path[-150:], rest=rest, bend=side).angles[:, 1:] for side in (1, -1)]
    return min(np.degrees(np.abs(inner - side).max(axis=1).min()) for side in sides)


@pytest.mark.slow
@pytest.mark.parametrize("off", (None, 0.3, 0.6), ids=("no start", "near", "up to 34 degrees off"))
def test_from_a_start_near_least_bend_no_joint_winds_up(off):
    for seed in range(20):
        chain, rest, path = rounds(seed)
        start = None
        if off is not None:
            turns = np.random.default_rng([seed, 7]).uniform(-off, off, len(chain))
            start = solve_even(chain, path[0], rest=rest).angles + turns
        angles = solve_ccd_path(chain, path, start=start, rest=rest).angles
        assert off_least(chain, rest, path, angles) <= 15.0


def test_from_a_start_far_from_least_bend_a_joint_may_stay_wound_up():
    """Under a hundredth of such chains stay next to another pose from the rest pose; this is one."""
    chain, rest, path = rounds(394)
    path = np.tile(path, (5, 1))
    angles = solve_ccd_path(chain, path, start=rest, rest=rest).angles
    assert off_least(chain, rest, path, angles) > 90.0
    assert np.abs(angles[:, 4] - rest[4]).max() < np.pi
    assert (np.degrees(np.abs(angles[-150:, 3])) > 160.0).all()  # a pose of least bend needs 105
    assert (
        np.abs(angles[-1] - angles[-151]).max() <= 1e-3
    )  # still, no joint turns further from round to round
    assert off_least(chain, rest, path, solve_ccd_path(chain, path, rest=rest).angles) <= 15.0


@pytest.mark.parametrize(
    "kind",
    (
        {},
        {"limits": [[-3.0, 3.0], *[[-1.2, 1.2]] * 4]},
        {"weights": [1.0, 0.2, 0.0, 1.0, 0.5]},
        {"weights": [0.0, 1.0, 1.0, 1.0, 1.0]},
        {"limits": [[-9.0, 9.0], [-2.0, 2.0], [0.3, 0.3], [-2.0, 2.0], [-2.0, 2.0]]},
        {"slides": [[0.0, 0.1]] * 5},
    ),
    ids=("free", "limited", "weights", "rigid root", "rigid by limits", "sliding"),
)
@pytest.mark.parametrize("softness", (0.0, 0.1))
def test_a_target_that_rests_leaves_every_joint_where_it_is(kind, softness):
    chain = Chain(np.ones(5) / 5, **kind)
    path = np.array([[0.7, 0.1], [0.6, 0.2], *[[0.5, 0.3]] * 20, [0.5, 0.32]])
    start = [0.1, 0.3, 0.3, 0.3, -0.4]
    solution = solve_ccd_path(chain, path, start=start, softness=softness)
    assert (solution.status == Status.REACHED).all() or softness
    assert (solution.angles[2:22] == solution.angles[2]).all()
    assert (solution.slides[2:22] == solution.slides[2]).all()
    low, high = chain.ranges.T
    assert (low <= solution.angles).all() and (solution.angles <= high).all()
    rigid = np.flatnonzero([weight == 0.0 for weight in kind.get("weights", [])])
    assert (solution.angles[:, rigid] == np.array(start)[rigid]).all()


@pytest.mark.parametrize("kind", ({}, {"slides": [[0.0, 0.15]] * 4}), ids=("rigid", "sliding"))
@pytest.mark.parametrize("bend", (1, -1))
def test_without_a_start_it_is_even_s_pose(kind, bend):
    chain, rest = Chain(np.ones(4) / 4, **kind), [0.0, 0.3, 0.2, 0.1]
    path = [[0.5, 0.4], [0.5, 0.42]]
    even = solve_even(chain, path[0], rest=rest, bend=bend)
    solution = solve_ccd_path(chain, path, rest=rest, bend=bend)
    assert np.abs(solution.angles[0] - even.angles).max() <= 1e-6
    assert np.abs(solution.slides[0] - even.slides).max() <= 1e-6
    assert solve_ccd_path(chain, np.empty((0, 2))).angles.shape == (0, 4)


def test_it_is_drawn_as_far_over_a_way_in_many_frames_as_in_few():
    chain = Chain(np.ones(6) / 6)
    start = np.array([0.4, 0.9, -0.5, 0.8, 0.2, -0.6])
    tip = forward(chain, start)[-1]
    ends = []
    for frames in (20, 400):
        path = tip + np.linspace(0.0, 1.0, frames + 1)[:, np.newaxis] * [0.05, -0.04]
        ends.append(solve_ccd_path(chain, path, start=start).angles[-1])
    moved = np.abs(ends[0] - start).max()
    assert moved > 0.2
    assert np.abs(ends[0] - ends[1]).max() <= 0.05 * moved


@pytest.mark.parametrize("limits", (None, [-2.5, 2.5]))
@pytest.mark.parametrize("side", (1, -1))
def test_a_chain_is_drawn_on_the_side_that_it_is_on(side, limits):
    chain = Chain(np.ones(4) / 4, None if limits is None else [[-9.0, 9.0], *[limits] * 3])
    path = smooth_path(np.random.default_rng(3), 0.5, 0.9, 150, 0.01)
    for rest in (np.zeros(4), [0.0, 0.3, 0.3, 0.3], [0.0, -0.3, -0.3, -0.3]):
        begin = solve_even(chain, path[0], rest=[0.0, 0.4 * side, 0.4 * side, 0.4 * side]).angles
        for bend in (1, -1):  # for a start on a line only
            angles = solve_ccd_path(chain, path, start=begin, bend=bend, rest=rest).angles
            assert (np.sign(angles[:, 1:].sum(axis=1)) == side).all()


def test_the_goals_change_with_the_bend():
    chain, rest = Chain(np.ones(5) / 5), np.array([0.0, 0.2, 0.2, 0.2, 0.2])
    u = np.linspace(0.0, 6.0, 300)
    path = 0.7 * np.stack([np.cos(u), np.sin(u)], axis=-1)
    bend = np.where(u < 3.0, 1, -1)
    angles = solve_ccd_path(chain, path, rest=rest, bend=bend).angles
    for row, side in ((149, 1), (299, -1)):
        even = solve_even(chain, path[row], rest=rest, bend=side).angles
        assert np.abs((angles[row] - even)[1:]).max() <= 0.1


def test_goals_of_another_chain_s_posture_are_near_enough():
    """As for chains whose lengths or unturned angles change from frame to frame."""
    chain, offset = Chain([0.3, 0.3, 0.25, 0.25]), np.array([0.0, 0.1, 0.0, -0.1])
    near = Chain([0.25, 0.3, 0.25, 0.2])
    u = np.linspace(0.0, 4.0 * np.pi, 200)
    path = [0.6, 0.0] + 0.2 * np.stack([np.cos(u), np.sin(u)], axis=-1)
    posture = posture_of(near, [0.0, 0.2, 0.2, 0.2])
    shifted = type(posture)(posture.chain, posture.rest, posture.gain, offset)
    for one in (posture, shifted):
        steps = path_steps(chain, path, start=[0.0, 0.3, 0.3, 0.3], posture=one)
        while True:
            try:
                next(steps)
            except StopIteration as finished:
                found = finished.value
                break
        assert found.reached.all()
        assert np.abs(found.angles[-1] - found.angles[99 + 1]).max() <= 0.02
    assert np.allclose(shifted.goals(path[:3], np.ones(3)), posture.goals(path[:3], np.ones(3)) + offset)


def test_wrong_settings_are_refused():
    chain, path = Chain(np.ones(3)), [[1.0, 0.0]]
    for gain in (-1.0, np.nan, np.inf, [1.0, 2.0]):
        with pytest.raises(IK2DError, match="posture_gain must be"):
            solve_ccd_path(chain, path, posture_gain=gain)
    for rest in ([0.0, 0.0], np.zeros((2, 3)), [0.0, 0.0, np.nan]):
        with pytest.raises(IK2DError, match="rest must"):
            solve_ccd_path(chain, path, rest=rest)
