# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's step of springs with stops: it squares what is left, and tells a least bend from a saddle."""

import numpy as np
import pytest

from ik2d_addon.core.arithmetic import ARRAYS, FLOATS
from ik2d_addon.core.within_limits.descent import SpringPoses, tips
from ik2d_addon.core.within_limits.springs import SpringPose, springs_of
from ik2d_addon.core.within_limits.table import held_by


def chain(n=5, slide=0.0, free=False, room=9.0):
    """Return springs of equal bones with some bend at rest."""
    rest = np.random.default_rng(n).uniform(-0.6, 0.6, n)
    rows = (np.full(n, 1.0 / n), rest, np.ones(n), rest - room, rest + room)
    return springs_of(np.array((*rows, np.full(n, -slide), np.full(n, slide))), free, 1.0)


@pytest.mark.parametrize("slide", [0.0, 0.03])
@pytest.mark.parametrize("room", [9.0, 0.3])
def test_a_force_holds_its_pose(slide, room):
    springs = chain(slide=slide, room=room)
    poses = held_by(springs, np.random.default_rng(1).normal(0.0, 1.0, (2, 20)))
    x, y = tips(springs, poses)
    step = springs.step(poses.rows, x, y, ARRAYS)
    assert step.off.max() < 1e-14 and step.error.max() < 1e-14
    assert np.abs(step.turns).max() < 1e-12


@pytest.mark.parametrize("slide", [0.0, 0.03])
@pytest.mark.parametrize("free", [False, True])
def test_each_step_squares_what_is_left(slide, free):
    springs = chain(slide=slide, free=free)
    poses = held_by(springs, np.random.default_rng(1).normal(0.0, 1.0, (2, 20)))
    if free:  # the moment of these poses at the root is not zero: so the root's own weight holds them
        springs = springs.with_root(0.0, 0.0, free=False)
    goals = tips(springs, poses) + 1e-4
    left = []
    for _ in range(4):
        step = springs.step(poses.rows, *goals, ARRAYS)
        left.append(np.maximum(step.off, step.error).max())
        poses = SpringPoses.of(springs.moved(poses.rows, step, ARRAYS))
    assert left[1] < 1e-4 and left[2] < 1e-8 and left[3] < 1e-13


def test_a_free_root_feels_no_moment_in_the_end():
    springs = chain(free=True)
    pose = SpringPose([0.1, 0.5, 0.6, 0.4, 0.5], [0.0] * 5, 0.0, 0.0)
    for _ in range(20):
        step = springs.step(pose, 0.3, 0.5, FLOATS)
        pose = springs.moved(pose, step, FLOATS)
    assert step.off < 1e-12 and step.error < 1e-14 and step.is_least
    assert abs(0.3 * pose.force_y - 0.5 * pose.force_x) < 1e-12


def test_of_a_straight_chain_that_is_pushed_in_no_bend_is_the_least():
    """The straight chain between its buckled poses is held by a force too, but is a saddle."""
    n = 4
    rows = (np.full(n, 0.25), np.zeros(n), np.ones(n), np.full(n, -2.0), np.full(n, 2.0))
    springs = springs_of(np.array((*rows, np.full(n, -0.2), np.full(n, 0.2))), False, 1.0)
    least = []
    for push in (0.1, 20.0):
        pose = SpringPose([0.0] * n, [-min(0.2, push)] * n, -push, 0.0)
        length = sum(0.25 + slide for slide in pose.slides)
        least.append(bool(springs.step(pose, length, 0.0, FLOATS).is_least))
    assert least == [True, False]


def test_second_springs_keep_a_pose_where_it_is():
    springs = chain()
    pose = SpringPose([0.3] * 5, [0.0] * 5, 0.0, 0.0)
    x, y = (
        float(part[0])
        for part in tips(springs, SpringPoses(np.full((5, 1), 0.3), np.zeros((5, 1)), np.zeros((2, 1))))
    )
    stiff = springs.step(pose, x, y, FLOATS, 1e6, pose)
    assert max(map(abs, stiff.turns)) < 1e-5
    assert max(map(abs, springs.step(pose, x, y, FLOATS).turns)) > 1e-2
