# SPDX-License-Identifier: GPL-3.0-or-later
"""Along a smooth path the joints turn smoothly."""

import numpy as np
import pytest
from chains import STARTS, random_start

from benchmarks.problems import smooth_problems
from ik2d_addon.core import Chain, Status, solve_ccd_path


@pytest.mark.slow
@pytest.mark.parametrize("n", (2, 3, 4, 5, 7, 10, 20, 50))
def test_no_joint_turns_by_more_than_15_degrees_in_a_frame(n):
    for i, (rng, chain, path) in enumerate(smooth_problems(n, 25, 300)):
        start = random_start(rng, n, STARTS[i % 5])
        for begin, gain, most in ((start, 0.0, 15.0), (None, 10.0, 5.0)):
            solution = solve_ccd_path(chain, path, start=begin, posture_gain=gain)
            assert (solution.status == Status.REACHED).all()
            assert np.degrees(np.abs(np.diff(solution.angles, axis=0)).max()) <= most


@pytest.mark.parametrize("bend", (1, -1))
def test_two_bones_keep_their_side_even_through_full_reach(bend):
    u = np.linspace(0.0, 4.0 * np.pi, 500)
    radius = 0.8 + 0.5 * np.sin(3.0 * u)  # from 0.3 to beyond the reach of 1, and back
    path = np.stack([radius * np.cos(u), radius * np.sin(u)], axis=-1)
    for start in ([0.0, 0.0], [0.3, 0.5 * bend]):
        solution = solve_ccd_path(Chain([0.5, 0.5]), path, start=start, bend=bend)
        assert (solution.status == np.where(radius > 1.0 + 1e-6, Status.TOO_FAR, Status.REACHED)).all()
        assert (bend * np.sin(solution.angles[:, 1]) >= -1e-12).all()


@pytest.mark.slow
def test_a_target_that_circles_home_finds_bounded_angles():
    u = np.linspace(0.0, 40.0 * np.pi, 20_000)
    path = 0.55 * np.stack([np.cos(u), np.sin(u)], axis=-1) + [0.1, 0.0]
    solution = solve_ccd_path(Chain(np.ones(10) / 10), path, start=np.full(10, 0.1))
    assert (solution.status == Status.REACHED).all()
    assert np.degrees(np.abs(np.diff(solution.angles, axis=0)).max()) <= 15.0
