# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend in plain numbers is the one that `solve_even` gives."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, Status, forward, solve_even
from ik2d_addon.core.one_target import plain_solver

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("count", [3, 5, 12])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_turns_are_those_of_the_arrays(count: int, weighted: bool, bend: float) -> None:
    weights = RNG.uniform(0.2, 1.0, count) if weighted else None
    chain = Chain(RNG.uniform(0.5, 1.5, count), weights=weights)
    rest = bend * RNG.uniform(0.05, 0.3, count)
    solver = plain_solver(chain, rest, even=True)
    assert solver is not None
    targets = RNG.uniform(-1.1, 1.1, (60, 2)) * chain.reach[1]
    solved = solve_even(chain, targets, rest=rest, bend=bend)
    compared = 0
    for i, target in enumerate(targets.tolist()):
        answer = solver.solve(*target, bend=bend)
        if answer is None:
            continue
        compared += 1
        assert answer.status == solved.status[i]
        assert forward(chain, rest + answer.turns) == pytest.approx(
            forward(chain, solved.angles[i]), abs=1e-7 * chain.reach[1]
        )
        if answer.status == Status.REACHED:
            assert solver.bones.tip(answer.turns) == pytest.approx(target, abs=1e-8 * chain.reach[1])
    assert compared > 50
