# SPDX-License-Identifier: GPL-3.0-or-later
"""What a solver in plain numbers takes, what it leaves to the arrays, and that both say the same."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, Status, forward, solve_two_bone
from ik2d_addon.core.one_target import plain_solver

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("softness", [0.0, 0.1])
def test_status_and_residual_are_those_of_the_arrays(softness: float) -> None:
    chain, rest = Chain((1.0, 0.6)), np.array((0.2, 0.4))
    solver = plain_solver(chain, rest)
    for target in RNG.uniform(-2.0, 2.0, (100, 2)).tolist():
        answer = solver.solve(*target, softness=softness)
        solved = solve_two_bone(chain, target, softness=softness)
        assert answer.status == solved.status and answer.softened == (softness > 0.0)
        assert answer.residual == pytest.approx(float(solved.residual), abs=1e-9)
        tip = forward(chain, rest + answer.turns)[-1]
        assert tip == pytest.approx(forward(chain, solved.angles)[-1], abs=1e-7)


@pytest.mark.parametrize(
    "chain, even",
    [
        (Chain((1.0,)), False),
        (Chain((1.0,), weights=(0.0,)), True),
        (Chain((1.0, 1.0), weights=(1.0, 0.0)), False),
        (Chain((1.0, 1.0, 1.0)), False),
        (Chain((1.0, 0.0)), False),
        (Chain((1.0, 1.0, 1.0), weights=(0.0, 1.0, 1.0)), True),
        (Chain((1.0, 1.0, 1.0), weights=(1.0, 0.0, 0.0)), True),
        (Chain((1.0, 1.0), slides=[(0.0, 1.0), (np.nan, np.nan)]), False),
        (Chain((1e-200, 1e-200)), False),
    ],
)
def test_chains_out_of_the_ordinary_are_left_to_the_arrays(chain: Chain, even: bool) -> None:
    assert plain_solver(chain, np.zeros(len(chain)), even=even) is None


@pytest.mark.parametrize(
    "x, y, bend", [(np.nan, 0.0, 1.0), (np.inf, 0.0, 1.0), (1e300, 0.0, 1.0), (1.0, 0.0, 0.5)]
)
def test_targets_that_are_nowhere_and_half_bends_are_left_to_the_arrays(x, y, bend) -> None:
    assert plain_solver(Chain((1.0, 1.0)), np.zeros(2)).solve(x, y, bend) is None


def test_the_tolerance_decides_what_is_reached() -> None:
    chain = Chain((1.0, 1.0))
    for tolerance, status in ((1e-3, Status.REACHED), (None, Status.TOO_FAR)):
        assert plain_solver(chain, np.zeros(2), tolerance=tolerance).solve(2.0005, 0.0).status == status


def test_families_are_shared_by_chains_that_look_the_same_alone() -> None:
    chain, rest = Chain((1.0, 0.8, 0.5)), np.array((0.3, 0.2, 0.1))
    one = plain_solver(chain, rest, even=True)
    one.solve(1.0, 1.0)
    same = plain_solver(chain, rest + (1.0, 1e-6, 0.0), even=True)
    other = plain_solver(chain, rest + (0.0, 1e-3, 0.0), even=True)
    for solver in (same, other):
        solver.share_families(one)
    assert same._families is one._families and other._families is not one._families
