# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for two bones within limits against the solver, as plain numbers."""

import numpy as np
import pytest
from native_rigs import worked_out

from ik2d_addon.core import Chain, solve_two_bone
from ik2d_addon.features.native.limited import plan
from ik2d_addon.features.native.plan import Shape

LENGTHS, REST = np.array((1.3, 0.8)), np.array((0.4, 0.7))
FREE, ROOT, KNEE = (np.nan, np.nan), (-0.8, 0.6), (-1.5, 0.3)


@pytest.mark.slow
@pytest.mark.parametrize("softness", [0.0, 0.2])
@pytest.mark.parametrize("limits", [(ROOT, FREE), (FREE, KNEE), (ROOT, KNEE)], ids=str)
def test_it_is_the_solvers_pose(limits, softness):
    rng = np.random.default_rng(0)
    chain = Chain(LENGTHS, np.where(np.isnan(limits), np.nan, REST[:, None] + limits))
    found = plan(Shape(LENGTHS, REST.cumsum(), REST, np.array(limits)))
    for _ in range(60):
        x, y = rng.normal(size=2) * 1.5
        side = rng.choice([-1.0, 1.0])
        wanted = solve_two_bone(chain, (x, y), bend=side, softness=softness)
        values = worked_out(found, x=x, y=y, bend=side, softness=softness)
        got = np.array((values["turn0"], values["turn1"])) + REST
        reached = np.cumsum(got)
        tip = (LENGTHS * (np.cos(reached), np.sin(reached))).sum(axis=1)
        assert np.hypot(*(tip - (x, y))) < wanted.residual + 3e-6
        if np.abs(np.sin((got - wanted.angles) / 2.0)).max() > 1e-5:  # another that is as near
            assert abs(np.hypot(*(tip - (x, y))) - wanted.residual) < 3e-6
        for turn, (low, high) in zip(got - REST, limits, strict=True):
            assert np.isnan(low) or low - 1e-9 <= turn <= high + 1e-9


def test_the_bend_side_asked_for_is_taken_where_both_reach():
    found = plan(Shape(LENGTHS, REST.cumsum(), REST, np.array((FREE, (-3.0, 3.0)))))
    sides = [worked_out(found, x=0.9, y=1.0, bend=side)["t"] for side in (1.0, -1.0)]
    assert sides[0] > 0.1 and abs(sides[1] + sides[0]) < 1e-12
    assert worked_out(found, x=0.9, y=1.0, turn_over=1.0)["t"] == sides[1]
