# SPDX-License-Identifier: GPL-3.0-or-later
"""Poses that a formula gives: where their tips are, how they bend, and how near the start they are."""

import cmath

import numpy as np
import pytest

from ik2d_addon.core.ccd import shapes
from ik2d_addon.core.ccd.sweep import CcdBones

TURN = 2.0 * np.pi


def tip_of(lengths, angles):
    return sum(cmath.rect(length, sum(angles[: i + 1])) for i, length in enumerate(lengths))


def bones_of(lengths, weights=None):
    n = len(lengths)
    return CcdBones(list(lengths), list(weights or [1.0] * n), [-np.inf] * n, [np.inf] * n)


def fractions(rng, n):
    lengths = rng.uniform(0.05, 1.0, n) ** 2
    return (lengths / lengths.sum()).tolist()


def test_the_same_rotations_nearest_to_the_start():
    rng = np.random.default_rng(0)
    angles, start = rng.uniform(-30.0, 30.0, (2, 100))
    found = np.array(shapes.nearest_turns(angles.tolist(), start.tolist()))
    assert np.abs(found - start).max() <= np.pi
    assert np.allclose(np.exp(1j * found), np.exp(1j * angles), rtol=0.0, atol=1e-13)


def test_a_straight_pose_points_at_its_target():
    start = [7.0, 12.0, -3.0]
    pose = shapes.straight(start, -3.0, -4.0)
    assert abs(tip_of([0.2, 0.3, 0.5], pose) - complex(-0.6, -0.8)) <= 1e-15
    assert np.abs(np.subtract(pose, start)).max() <= np.pi
    assert pose[1:] == pytest.approx([2.0 * TURN, 0.0])


@pytest.mark.parametrize("n", (1, 2, 3, 7, 30))
@pytest.mark.parametrize("bend", (1.0, -1.0))
def test_the_closed_pose_brings_the_tip_to_the_inner_reach(n, bend):
    rng = np.random.default_rng(n)
    for kind in range(30):
        lengths = fractions(rng, n)
        if kind % 3 == 0:
            lengths[rng.integers(n)] = 2.0
            lengths = [length / sum(lengths) for length in lengths]
        angles = shapes.closed(lengths, bend)
        inner = max(0.0, 2.0 * max(lengths) - 1.0)
        assert abs(tip_of(lengths, angles)) == pytest.approx(inner, abs=2e-15 * n)
        assert len(angles) == n
        assert (bend * np.array(angles) >= 0.0).all()
        assert np.max(np.abs(angles), initial=0.0) <= np.pi


def test_of_even_halves_the_bone_that_ends_in_the_middle_is_taken():
    assert shapes.closed([0.25, 0.25, 0.25, 0.25], 1.0) == pytest.approx([0.0, 0.0, np.pi, 0.0])


@pytest.mark.parametrize("longest", (0, 1, 2))
@pytest.mark.parametrize("bend", (1.0, -1.0))
def test_a_folded_pose_comes_back_to_the_targets_side_and_bends_to_its_own(longest, bend):
    lengths = [0.2, 0.2, 0.2]
    lengths[longest] = 0.6
    target = cmath.rect(0.1, 2.0)
    pose = shapes.folded(lengths, [0.0, 0.0, 0.0], target.real, target.imag, bend)
    assert abs(tip_of(lengths, pose) - cmath.rect(0.2, 2.0)) <= 1e-15
    folds = [a for a in pose[1:] if a != 0.0]
    assert folds and all(a == bend * np.pi for a in folds)
    start = [9.0, -8.0, 7.0]
    near = shapes.folded(lengths, start, target.real, target.imag, bend)
    assert np.abs(np.subtract(near, start)).max() <= np.pi + 1e-12
    assert abs(tip_of(lengths, near) - cmath.rect(0.2, 2.0)) <= 1e-14
    assert shapes.folded(lengths, start, 0.0, 0.0, bend)[0] == start[0]  # at the root: as it is


def test_aimed_turns_the_root_the_short_way_until_the_tip_lies_in_the_targets_direction():
    rng = np.random.default_rng(1)
    lengths = fractions(rng, 4)
    poses, targets = rng.uniform(-6.0, 6.0, (60, 4)), rng.normal(size=(60, 2))
    targets[:3] = [[0.0, 0.0], [0.5, 0.0], [0.0, -0.5]]
    for pose, (x, y) in zip(poses.tolist(), targets.tolist(), strict=True):
        found = shapes.aimed(lengths, pose, x, y)
        assert found[1:] == pose[1:]
        assert abs(found[0] - pose[0]) <= np.pi
        if x == y == 0.0:
            assert found == pose
        else:
            assert abs(cmath.phase(tip_of(lengths, found) / complex(x, y))) <= 1e-12


@pytest.mark.parametrize(
    ("angles", "on_a_line"),
    [
        ([3.0], True),
        ([3.0, 0.0, 0.0], True),
        ([3.0, np.pi, -np.pi], True),
        ([3.0, TURN + 0.9e-4, 0.0], True),
        ([3.0, 1.1e-4, 0.0], False),
        ([3.0, 0.0, np.pi - 1.1e-4], False),
        ([3.0, 0.0, -0.5], False),
    ],
)
def test_a_chain_none_of_whose_joints_bends_is_on_a_line(angles, on_a_line):
    assert shapes.is_on_a_line(angles) == on_a_line
    assert shapes.side_of(angles, 5.0) == 5.0 or not on_a_line


@pytest.mark.parametrize(
    ("angles", "side"),
    [
        ([-9.0, 0.5], 1.0),
        ([9.0, -0.5], -1.0),
        ([0.0, 0.5, -0.4], 1.0),
        ([0.0, 0.4, -0.5], -1.0),
        ([0.0, 0.5, -0.5], 1.0),
        ([0.0, TURN - 0.5, 0.1], -1.0),  # as a rotation, not as a number
        ([0.0, -TURN + 0.5], 1.0),
    ],
)
def test_the_side_of_a_chain_is_that_of_all_its_bends(angles, side):
    assert shapes.side_of(angles, 0.0) == side


@pytest.mark.parametrize("bend", (1.0, -1.0))
@pytest.mark.parametrize("distance", (0.999, 0.99, 0.9))
def test_an_arc_ends_about_at_its_target(distance, bend):
    """1 - chord / arc = b^2 / 24 leaves out the fourth power of b."""
    n = 200
    target = cmath.rect(distance, 2.5)
    pose = shapes.arc([1.0 / n] * n, [1.0] * n, target.real, target.imag, bend)
    missing = 1.0 - distance
    assert abs(tip_of([1.0 / n] * n, pose) - target) <= missing * (0.3 * missing + 0.02)
    assert (bend * np.array(pose[1:]) > 0.0).all()
    assert sum(pose[1:]) == pytest.approx(bend * np.sqrt(24.0 * missing), rel=0.01)


def test_an_arc_bends_each_joint_by_its_bones_and_its_weight():
    """The bend of a joint is the curvature times half of both bones beside it."""
    lengths, weights = [0.1, 0.3, 0.4, 0.2], [1.0, 0.5, 0.0, 1.0]
    even = shapes.arc(lengths, [1.0] * 4, 0.9, 0.0, 1.0)
    assert np.divide(even[1:], even[1]) == pytest.approx([1.0, 0.7 / 0.4, 0.6 / 0.4])
    assert even[1] == pytest.approx(np.sqrt(2.4) * 0.2)
    assert even[0] == pytest.approx(-sum(even[1:]) / 2.0)
    weighted = shapes.arc(lengths, weights, 0.9, 0.0, 1.0)
    assert weighted[1:] == pytest.approx([0.5 * even[1], 0.0, even[3]])
    assert shapes.arc(lengths, weights, 0.0, 1.5, 1.0) == pytest.approx([np.pi / 2.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("bend", (1.0, -1.0))
def test_off_the_line_leaves_a_bent_start_and_bends_one_on_a_line(bend):
    weights = [1.0, 0.5, 1.0]
    bones = bones_of([0.3, 0.3, 0.4], weights)
    bent, straight, folded = [1.0, 0.5, 0.0], [1.0, TURN, 0.0], [1.0, np.pi, 0.0]
    assert shapes.off_the_line(bones, bent, 0.5, 0.5, bend) == bent
    curved = shapes.off_the_line(bones, straight, 0.5, 0.5, bend)
    arc = shapes.arc(bones.lengths, weights, 0.5, 0.5, bend)
    assert curved == pytest.approx([arc[0], arc[1] + TURN, arc[2]])
    nudged = shapes.off_the_line(bones, folded, 0.5, 0.5, bend)
    assert nudged == pytest.approx([1.0, np.pi + bend * 0.01, bend * 0.02])


@pytest.mark.parametrize("bend", (1.0, -1.0))
def test_two_bones_keep_the_side_of_the_start_or_take_the_asked_one(bend):
    lengths, target = [0.6, 0.4], (0.5, 0.6)
    starts = [
        [0.0, 0.5],
        [0.0, -0.5],
        [0.0, 0.9e-4],
        [0.0, -0.9e-4],
        [0.0, -2e-4],
        [9.0, TURN + 1.0],
        [0.0, np.pi],
    ]
    sides = [1.0, -1.0, bend, bend, -1.0, 1.0, bend]
    for start, side in zip(starts, sides, strict=True):
        pose = shapes.two_bones(lengths, start, *target, bend)
        assert abs(tip_of(lengths, pose) - complex(*target)) <= 1e-15
        assert np.sign(np.sin(pose[1])) == side
        assert np.abs(np.subtract(pose, start)).max() <= np.pi


@pytest.mark.parametrize("n", (3, 5, 20))
@pytest.mark.parametrize("bend", (1.0, -1.0))
def test_between_reaches_every_target_of_the_annulus(n, bend):
    rng = np.random.default_rng(n)
    for kind in range(60):
        lengths = fractions(rng, n)
        start = rng.uniform(-3.0, 3.0, n) if kind % 2 else rng.normal(0.0, 0.1, n)
        inner = max(0.0, 2.0 * max(lengths) - 1.0)
        target = cmath.rect(rng.uniform(inner, 1.0), rng.uniform(-3.0, 3.0))
        pose = shapes.between(lengths, start.tolist(), target.real, target.imag, bend, 1e-12)
        assert abs(tip_of(lengths, pose) - target) <= 1e-11
        too_short = abs(tip_of(lengths, start.tolist())) < abs(target)
        end = np.zeros(n) if too_short else bend * np.array(shapes.closed(lengths, 1.0))
        # All joints but the root lie evenly between the start's pose and the other one's.
        whole = np.array(shapes.nearest_turns(end.tolist(), start.tolist()))[1:] - start[1:]
        parts = (np.array(pose) - start)[1:] / whole
        assert np.ptp(parts) <= 1e-6
        assert 0.0 <= parts[0] <= 1.0
