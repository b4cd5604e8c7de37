# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses of chains that slide: angles and slides in one list."""

import numpy as np
import pytest
from chains import SLIDING, pose_within, sliding_chain

from ik2d_addon.core import Chain, forward
from ik2d_addon.core.ccd.correction import least_turns
from ik2d_addon.core.ccd.sliding import (
    arms_of,
    bent,
    coordinates,
    off_the_annulus,
    off_the_ends,
    parted,
    pinned,
    pointed,
    starting,
)
from ik2d_addon.core.ccd.sweep import CcdBones


def in_reaches(chain, angles, slides):
    return coordinates(chain, np.asarray(angles, float), np.asarray(slides, float)).tolist()


def test_angles_and_slides_are_put_together_in_reaches_and_taken_apart():
    chain = Chain([2.0, 1.0], slides=[(-0.5, 0.7), (0.0, 0.3)])
    angles, slides = np.array([[0.1, 0.2], [7.0, 0.3]]), np.array([-0.5, 0.3])
    poses = coordinates(chain, angles, slides)
    np.testing.assert_allclose(poses[:, 2:] * 4.0, [slides, slides])
    found, slid = parted(chain, poses)
    assert np.array_equal(found, angles) and np.array_equal(slid, [slides, slides])
    rigid = Chain([2.0, 1.0])
    assert coordinates(rigid, angles, slides) is angles
    assert parted(rigid, angles) == (angles, None)


def test_a_start_is_cut_to_the_limits_and_ranges():
    chain = Chain([2.0, 2.0], [[-1.0, 1.0], [0.0, 9.0]], slides=[(0.0, 1.0), (0.5, 1.0)])
    pose = starting(chain, np.array([2.0, 0.5]), np.array([-1.0, 0.0]))
    np.testing.assert_allclose(pose, [1.0, 0.5, 0.0, 0.5 / 6.0])


@pytest.mark.parametrize("n", (1, 2, 6))
def test_arms_of_a_pose_are_what_turns_and_slides_move_the_tip_by(n):
    rng = np.random.default_rng(n)
    for kind in SLIDING:
        chain = sliding_chain(rng, n, kind)
        outer = chain.reach[1]
        angles, slides = pose_within(rng, chain)
        pose = in_reaches(chain, angles, slides)
        xs, ys = (np.array(part)[::-1] for part in arms_of(CcdBones.of(chain), pose))
        tip = forward(chain, angles, slides)[-1] / outer
        assert np.allclose([xs[0], ys[0]], tip, rtol=0.0, atol=1e-12)
        for i, step in enumerate(np.eye(2 * n) * 1e-7):
            moved = np.array(pose) + step
            there = forward(chain, moved[:n], moved[n:] * outer)[-1] / outer
            assert np.allclose((there - tip) / 1e-7, [-ys[i], xs[i]], rtol=0.0, atol=1e-6)


def test_a_correction_is_the_least_of_turns_and_slides_in_reaches():
    rng = np.random.default_rng(3)
    chain = Chain(rng.uniform(0.5, 1.0, 4), weights=[1.0, 0.5, 0.0, 0.2], slides=np.tile([-0.3, 0.5], (4, 1)))
    bones, (angles, slides) = CcdBones.of(chain), pose_within(rng, chain)
    arms, error = arms_of(bones, in_reaches(chain, angles, slides)), np.array([1e-5, -2e-5])
    moves = least_turns(arms, bones.weights[::-1], *error.tolist())
    xs, ys = (np.array(part)[::-1] for part in arms)
    root = np.sqrt([1.0, 0.5, 0.0, 0.2, 1.0, 1.0, 1.0, 1.0])
    expected = root * (np.linalg.pinv(np.stack((-ys, xs)) * root) @ error)
    assert np.allclose(moves, expected, rtol=0.0, atol=1e-12)


def test_slides_are_eased_off_their_ends():
    bones = CcdBones.of(Chain([1.0, 1.0, 2.0], slides=[(0.0, 2.0), (-1.0, 2.0), (0.0, 0.0)]))
    reach = 8.0
    eased = off_the_ends(bones, [0.1, 0.2, 0.3, 0.0, 2.0 / reach, 0.0])
    assert eased[:3] == [0.1, 0.2, 0.3]
    assert np.allclose(np.array(eased[3:]) * reach, [0.04, 1.94, 0.0])
    assert off_the_ends(bones, eased) == eased


def test_joints_of_no_weight_are_held_by_their_ranges():
    chain = Chain([1.0, 1.0], weights=[1.0, 0.0], slides=[(0.0, 1.0), (0.0, 0.0)])
    bones = pinned(CcdBones.of(chain), [0.3, 0.4, 0.1, 0.0])
    assert bones.low == [-np.inf, 0.4, 0.0, 0.0]
    assert bones.high == [np.inf, 0.4, 1.0 / 3.0, 0.0]


@pytest.mark.parametrize("kind", SLIDING)
def test_off_the_annulus_the_pose_is_stretched_or_folded_to_its_border(kind):
    rng = np.random.default_rng(8)
    for n in (1, 2, 5):
        chain = sliding_chain(rng, n, kind)
        inner, outer = chain.reach
        bones = CcdBones.of(chain)
        angles, slides = pose_within(rng, chain)
        start = in_reaches(chain, angles, slides)
        direction = np.array([np.cos(2.0), np.sin(2.0)])
        for distance, border in ((1.5, outer), (0.99 * inner / outer, inner)):
            found = off_the_annulus(bones, start, *(distance * direction).tolist(), 1.0)
            if distance == 0.0:
                continue
            tip = forward(chain, found[:n], np.array(found[n:]) * outer)[-1]
            assert np.allclose(tip, border * direction, rtol=0.0, atol=1e-9)
            assert (np.array(found[n:]) >= bones.low[n:]).all()
            assert (np.array(found[n:]) <= bones.high[n:]).all()
        assert off_the_annulus(bones, start, *(0.5 * (1.0 + inner / outer) * direction), 1.0) is None


def test_a_pose_is_pointed_at_a_target_by_its_root_alone():
    chain = Chain([1.0, 1.0], slides=[(0.0, 1.0), (0.0, 1.0)])
    pose = in_reaches(chain, [7.0, 0.5], [0.2, 0.6])
    pointed_at = pointed(CcdBones.of(chain), pose, -1.0, 0.5)
    assert pointed_at[1:] == pose[1:] and abs(pointed_at[0] - 7.0) <= np.pi
    tip = forward(chain, pointed_at[:2], [0.2, 0.6])[-1]
    assert np.arctan2(*tip[::-1]) == pytest.approx(np.arctan2(0.5, -1.0))


@pytest.mark.parametrize("bend", (1.0, -1.0))
def test_a_pose_on_a_line_is_bent_to_a_side_for_a_target_that_slides_do_not_reach(bend):
    chain = Chain([1.0, 1.0, 1.0], weights=[1.0, 1.0, 0.0], slides=[(0.0, 1.0)] * 3)
    bones = CcdBones.of(chain)
    found = bent(bones, in_reaches(chain, np.zeros(3), np.zeros(3)), 0.0, 0.4, bend)
    assert bend * found[1] > 0.1 and found[2] == 0.0
    assert np.allclose(np.array(found[3:]) * 6.0, 0.02)
    tip = forward(chain, found[:3], np.array(found[3:]) * 6.0)[-1]
    assert np.arctan2(*tip[::-1]) == pytest.approx(np.pi / 2.0)
    off = in_reaches(chain, [0.1, 0.5, 0.2], np.zeros(3))
    assert bent(bones, off, 0.0, 0.4, bend)[1:3] == off[1:3]
