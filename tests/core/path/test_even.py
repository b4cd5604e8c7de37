# SPDX-License-Identifier: GPL-3.0-or-later
"""Even along a path: no jumps where that can be, the least bend wherever it follows, nothing creeps."""

import numpy as np
import pytest

from benchmarks.limits import RIGS, bend_of, paths_of, rigs
from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_even, solve_even_path
from ik2d_addon.core.path import even

FAR = np.radians(15.0)


def turns(poses):
    """Return the largest turn (frames - 1,) of any joint from each frame to the next."""
    return np.abs(np.diff(poses, axis=0)).max(axis=1)


def tail():
    """Return a tail within 15 degrees, its rest pose, and a line on which the least pose jumps."""
    lengths, rest, ranges = RIGS["tail"]
    line = np.linspace([0.684, -0.291], [0.859, -0.327], 31)
    return Chain(lengths, limits=np.radians(ranges)), np.radians(rest), line


@pytest.mark.slow
@pytest.mark.parametrize(("chosen", "paths", "left"), (("bird's leg", 8, 0.0), ("24 random", 2, 0.9)))
def test_fewer_frames_jump_and_the_bend_is_little_more(chosen, paths, left):
    jumps, bends = np.zeros(2, int), np.zeros(2)
    for name, chain, rest in [rig for rig in rigs() if rig[0] == chosen][::6]:
        for path in paths_of(chain, np.random.default_rng(3), paths):
            least, on = (solve(chain, path, rest=rest) for solve in (solve_even, solve_even_path))
            assert (on.status == least.status).all(), name
            off = np.hypot(*(forward(chain, on.angles)[:, -1] - path).T)
            assert off.max() < 1e-8 and np.abs(off - on.residual).max() < 1e-14
            low, high = chain.ranges.T
            assert (low - 1e-12 <= on.angles).all() and (on.angles <= high + 1e-12).all()
            jumps += [(turns(one.angles) > FAR).sum() for one in (least, on)]
            bends += [bend_of(one.angles, rest).sum() for one in (least, on)]
            same = np.abs(on.angles - least.angles).max(axis=1) <= even.SAME
            assert (on.parted == ~same).all()
    assert jumps[0] >= 2 and jumps[1] <= left * jumps[0]
    assert bends[1] <= 1.1 * bends[0]


@pytest.mark.slow
def test_where_the_least_pose_jumps_a_tail_goes_over_on_several_frames():
    chain, rest, path = tail()
    least, on = solve_even(chain, path, rest=rest), solve_even_path(chain, path, rest=rest)
    assert on.parted.any() and not on.parted.all()
    assert turns(least.angles).max() > 6.0 * FAR and turns(on.angles).max() < FAR
    assert (on.angles[~on.parted] == least.angles[~on.parted]).all()
    assert (on.limited == even.at_limits(chain, on.angles)).all()


@pytest.mark.slow
def test_nothing_creeps_while_the_target_rests():
    chain, rest, path = tail()
    row = int(solve_even_path(chain, path, rest=rest).parted.argmax())
    rests = np.concatenate((path[: row + 1], np.repeat(path[row : row + 1], 9, axis=0), path[row + 1 :]))
    on = solve_even_path(chain, rests, rest=rest)
    assert on.parted[row]
    assert np.abs(np.diff(on.angles[row : row + 10], axis=0)).max() < 1e-7


@pytest.mark.slow
def test_a_path_goes_on_from_its_start_and_each_target_from_its_own():
    chain, rest, path = tail()
    on = solve_even_path(chain, path, rest=rest)
    row = int(on.parted.argmax())
    after = solve_even_path(chain, path[row:], rest=rest, start=on.angles[row - 1])
    assert np.abs(after.angles[0] - on.angles[row]).max() < 1e-9
    alone = solve_even_path(chain, path[row:], rest=rest)
    assert np.abs(alone.angles[0] - solve_even(chain, path[row], rest=rest).angles).max() < 1e-12
    own = solve_even_path(chain, path[row:], rest=rest, start=on.angles[row:])
    assert np.abs(own.angles - on.angles[row:]).max() < 1e-7  # each is there already
    between = solve_even_path(chain, (path[1:] + path[:-1]) / 2.0, rest=rest, start=on.angles[:-1])
    near = turns(on.angles) < FAR
    assert np.abs(between.angles - on.angles[:-1]).max(axis=1)[near].max() < 2.0 * FAR


def test_where_the_bend_changes_the_least_pose_on_that_side_is_taken():
    chain = Chain(np.ones(4) / 4, limits=[[-3.0, 3.0], [-1.5, 1.5], [-1.5, 1.5], [-1.5, 1.5]])
    path, bend = np.array([[0.6, 0.1]] * 4), np.array([1, 1, -1, -1])
    on = solve_even_path(chain, path, bend=bend)
    assert (on.angles == solve_even(chain, path, bend=bend).angles).all() and not on.parted.any()
    assert np.sign(on.angles[:, 1:].sum(axis=1)).tolist() == [1, 1, -1, -1]


@pytest.mark.slow
@pytest.mark.parametrize("softness", (0.0, 0.2))
def test_slides_and_softness_go_on_too(softness):
    rng = np.random.default_rng(1)
    limits = np.array([[-1.0, 1.0], [-0.4, 1.4], [-1.2, 0.2], [-0.3, 1.0]])
    chain = Chain([0.4, 0.2, 0.3, 0.1], limits=limits, slides=[[0, 0], [0, 0.3], [-0.05, 0.1], [0, 0]])
    for path in paths_of(Chain(chain.lengths, limits=limits), rng, 2):
        least = solve_even(chain, path, softness=softness)
        start = least.angles[0] + np.array([0.0, 0.5, -0.4, 0.3])
        on = solve_even_path(chain, path, softness=softness, start=np.clip(start, *limits.T))
        assert (on.status == least.status).all() and np.abs(on.residual - least.residual).max() < 1e-8
        reached = on.status == Status.REACHED
        tips = forward(chain, on.angles, on.slides)[:, -1]
        assert np.hypot(*(tips - path).T)[reached].max() < 1e-6
        low, high = chain.slide_ranges.T
        assert (low - 1e-12 <= on.slides).all() and (on.slides <= high + 1e-12).all()


def test_chains_without_such_jumps_have_the_poses_of_solve_even():
    path = np.stack((np.linspace(0.9, -0.9, 50), np.full(50, 0.2)), axis=1)
    for chain in (Chain(np.ones(5) / 5), Chain([0.5, 0.5], limits=[[-3, 3], [0, 2]])):
        on = solve_even_path(chain, path)
        assert (on.angles == solve_even(chain, path).angles).all() and not on.parted.any()
    assert solve_even_path(Chain([1.0]), np.empty((0, 2))).angles.shape == (0, 1)


@pytest.mark.parametrize(
    ("options", "words"),
    (
        ({"start": [0.0, 0.0]}, "start must hold 3 numbers, one a bone, not shape .*"),
        ({"start": np.zeros((3, 3))}, "a path takes one start, or 2, one a frame, and .*"),
        ({"start": np.zeros(3), "start_slides": np.zeros((2, 3))}, "a path takes one start, .*"),
        ({"targets": [1.0, 0.0]}, "a path takes targets of shape .*"),
        ({"bend": [1, 1, 1]}, ".*target for .*bend for .*|a path takes one bend or 2.*"),
    ),
)
def test_bad_input_is_named(options, words):
    given = {"targets": [[1.0, 0.0], [1.0, 0.1]], **options}
    with pytest.raises(IK2DError, match=words):
        solve_even_path(Chain(np.ones(3), limits=[[-1.0, 1.0]] * 3), given.pop("targets"), **given)
