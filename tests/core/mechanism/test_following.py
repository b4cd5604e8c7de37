# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies followed past places where they run while the driver creeps, up to true dead points.

The ends were found by a path-follower on other equations (all bodies at once, no triangles).
"""

import numpy as np
import pytest
from machines import openings, pinned

from ik2d_addon.core import MechanismStatus
from ik2d_addon.core.mechanism.posing import posed


def runner(along=-1.1877 + 1.745j):
    """Return a machine whose third link runs 1,000 times as fast as the crank at -0.75208."""
    mechanism = pinned(
        (0, "crank", -1.2664 - 0.138j),
        (0, "arm", 1.3521 + 0.6538j),
        ("crank", "second", 1.2716 + 1.2924j),
        ("second", "plate", -1.2245 + 0.122j),
        ("arm", "third", 1.7988 - 0.0261j),
        ("third", "plate", 0.4221 - 2.3985j),
        (0, "fourth", 1.3837 - 0.9058j),
        ("fourth", "plate", -2.5961 + 0.5326j),
    )
    return mechanism.slide("crank", "arm", [1.4971, 0.29], [along.real, along.imag]).drive("crank")


def test_a_group_that_runs_near_a_dead_point_goes_on_to_the_true_one():
    mechanism = runner()
    values = np.array([-0.74, -0.7519, -0.7521, -0.7524, -0.754, -0.7558, -0.756, -0.8])
    solution = mechanism.solve({"crank": values})
    assert solution.status.tolist() == [MechanismStatus.CLOSED] * 6 + [MechanismStatus.HELD] * 2
    assert solution.drivers["crank"][-1] == pytest.approx(-0.7558410790895, abs=1e-12)
    assert openings(mechanism, solution).max() < 1e-12


def test_a_margin_is_nearly_0_at_the_end_of_an_interval():
    mechanism = runner()
    ends = mechanism.feasible("crank", -1.0, 1.0)[-1]
    assert (np.abs(posed(mechanism.plan, [ends])[1].min(axis=1)) < 1e-6).all()


def test_a_group_on_a_triangle_that_runs_into_its_own_dead_point_goes_on_as_far():
    # At the end the arm, which the group hangs on, turns infinitely fast.
    mechanism = runner(0.5887574821 - 0.8083097348j)
    values = np.array([-0.7, -0.76, -0.9, -1.03, -1.03484, -1.0349])
    solution = mechanism.solve({"crank": values})
    assert solution.status.tolist() == [MechanismStatus.CLOSED] * 5 + [MechanismStatus.HELD]
    assert openings(mechanism, solution).max() < 1e-12
    _, margins = posed(mechanism.plan, [solution.drivers["crank"][-1:]])
    assert abs(margins.min()) < 1e-12


def test_a_row_that_is_followed_does_not_depend_on_others():
    mechanism = runner()
    values = np.array([-0.3, -0.7522, -0.7558, -0.7525, -0.9])
    together, margins = posed(mechanism.plan, [values])
    for row in range(len(values)):
        alone, margin = posed(mechanism.plan, [values[row : row + 1]])
        assert np.array_equal(margin[0], margins[row])
        assert all(alone.turns[body][0] == together.turns[body][row] for body in alone.turns if body)
