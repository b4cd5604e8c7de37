# SPDX-License-Identifier: GPL-3.0-or-later
"""Extreme sizes and angles are refused in a sentence, or answered rightly: no other exception, no NaN."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from extremes import KINDS, problem, verdict

from ik2d_addon.core import Chain, IK2DError, Plane, forward, solve_ccd, solve_two_bone
from ik2d_addon.core.inputs import LARGEST_ANGLE, LONGEST, SHORTEST


@pytest.mark.slow
def test_of_4000_extreme_problems_each_is_refused_or_answered_rightly(some):
    verdicts = {seed: verdict(problem(seed)) for seed in range(some(4000))}
    assert {seed: words for seed, words in verdicts.items() if words not in ("refused", "answered")} == {}
    assert Counter(verdicts.values())["answered"] > some(2000)
    assert {problem(seed).kind for seed, words in verdicts.items() if words == "answered"} == set(KINDS)


@pytest.mark.slow
def test_of_1000_extreme_problems_even_refuses_or_answers_each_rightly(some):
    given = [
        replace(one, kind="even")
        for one in map(problem, range(some(1000)))
        if one.kind not in ("plane", "step")
    ]
    verdicts = Counter(map(verdict, given))
    assert verdicts.keys() == {"refused", "answered"} and verdicts["answered"] > some(400)


@pytest.mark.slow
def test_of_1000_extreme_problems_arc_refuses_or_answers_each_rightly(some):
    given = [
        replace(one, kind="arc", limits=None, weights=None)
        for one in map(problem, range(some(1000)))
        if one.kind not in ("plane", "step")
    ]
    verdicts = Counter(map(verdict, given))
    assert verdicts.keys() == {"refused", "answered"} and verdicts["answered"] > some(400)


@pytest.mark.parametrize("solve", [solve_ccd, solve_two_bone])
def test_the_largest_angles_are_answered_and_greater_ones_refused(solve):
    chain = Chain([1.0, 1.0])
    start = np.array([LARGEST_ANGLE, -LARGEST_ANGLE])
    solution = solve(chain, [0.5, 0.5], start=start)
    assert np.hypot(*(forward(chain, solution.angles)[-1] - 0.5)) < 2e-6
    with pytest.raises(IK2DError, match=r"start must not exceed 1e\+06 radians; at \[1\] it is -1000001"):
        solve(chain, [0.5, 0.5], start=start - [0.0, 1.0])


def test_the_longest_and_the_shortest_chains_are_answered_and_others_refused():
    for size in (LONGEST, SHORTEST):
        chain = Chain([size / 2.0, size / 2.0])
        for solve in (solve_ccd, solve_two_bone):
            solution = solve(chain, [0.3 * size, 0.4 * size], start=[0.0, 0.5])
            assert solution.reached and solution.residual < 1e-6 * size
    with pytest.raises(IK2DError, match="lengths must come to 1e-290 or more, or to zero, not to 1e-308"):
        Chain([1e-308, 0.0])
    with pytest.raises(IK2DError, match=r"target must not exceed 1e\+300; at \[0\] it is -1e\+301"):
        solve_two_bone(Chain([1.0, 1.0]), [-1e301, 0.0])


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e160, 1e299])
def test_a_plane_does_not_depend_on_the_size_of_the_chain(size):
    joints = np.array([[0.0, 0.0, 2.0], [0.0, -0.5, 1.0], [0.0, 0.0, 0.0]])
    plane, large = Plane.fit(joints, [1.0, 0.0, 0.0]), Plane.fit(size * joints, [1.0, 0.0, 0.0])
    near = 1e-3 if size < 1e-300 else 1e-12  # denormals have few digits
    assert np.allclose(plane.normal, large.normal, atol=near) and np.allclose(plane.x, large.x, atol=near)
    straight = size * np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert np.allclose(Plane.fit(straight, [1e-320, 0.0, 0.0]).normal, [1.0, 0.0, 0.0], atol=1e-15)
    assert Plane.is_straight(straight) and not Plane.is_straight(size * joints)
