# SPDX-License-Identifier: GPL-3.0-or-later
"""The angle of a post in simple expressions is that of the solver."""

import numpy as np
import pytest
from native_rigs import worked_out

from ik2d_addon.core.post import PostRule
from ik2d_addon.features.native.expressions import checked
from ik2d_addon.features.native.plan import NativePlan
from ik2d_addon.features.native.post.angle import TURN, steps


def angle_of(rule, normal, distance, reach, target):
    plan = NativePlan(tuple(steps(rule, normal, distance, reach)), ())
    return worked_out(plan, **dict(zip(("px", "py", "pz"), map(float, target), strict=True)))[TURN]


@pytest.mark.parametrize("limits", [None, (-0.4, 0.9), (1.0, 5.0), (-8.0, -7.0), (-10.0, 10.0)])
@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_any_plane_and_target_have_the_solvers_angle(axis, side, over, limits):
    rng = np.random.default_rng(axis)
    rule = PostRule(axis, side, limits, over)
    for _ in range(60):
        normal, distance, target = rng.normal(size=3), 0.3 * rng.normal(), rng.normal(size=3)
        wanted, _ = rule.angle(tuple(target), tuple(normal), distance, 1.0)
        found = angle_of(rule, normal, distance, 1.0, target)
        off = found - wanted if limits else np.angle(np.exp(1j * (found - wanted)))
        assert abs(off) < 1e-8


def test_a_target_on_the_axis_leaves_the_turn_of_a_plane_through_it_at_0():
    rule = PostRule(1, -1.0)
    assert abs(angle_of(rule, np.array((0.3, 0.0, 0.8)), 0.0, 1.0, (0.0, 0.7, 0.0))) < 1e-9
    assert abs(angle_of(rule, np.array((0.3, 0.0, 0.8)), 0.0, 1.0, (1e-9, 0.7, -2e-9))) < 1e-2


def test_a_target_nearer_the_axis_than_the_plane_comes_has_the_nearest_angle():
    rule, normal = PostRule(2, 1.0), np.array((0.0, 1.0, 0.0))
    wanted, status = rule.angle((0.1, 0.0, 0.4), tuple(normal), 0.5, 1.0)
    assert status == 1 and abs(angle_of(rule, normal, 0.5, 1.0, (0.1, 0.0, 0.4)) - wanted) < 1e-9


def test_a_plane_across_the_axis_has_an_angle():
    assert abs(angle_of(PostRule(2, 1.0), np.array((0.0, 0.0, 1.0)), 0.2, 1.0, (0.3, 0.1, 0.4))) < 4.0


@pytest.mark.parametrize("over", [False, True])
def test_the_longest_numbers_fit_a_driver(over):
    rule = PostRule(0, -1.0, (-12.345678901234, -1.234567890123), over)
    found = steps(rule, np.array((-1.23456789e-7, -9.87654321e-7, 3.33333333e-7)), -1.23456789e-9, 1.23456e-8)
    assert all(checked(text) == text for _, text in found)
