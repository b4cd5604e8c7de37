# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend within limits in plain numbers is the one that `solve_even` gives."""

from math import nan

import numpy as np
import pytest

from ik2d_addon.core import Chain, Status, forward, solve_even
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.core.one_target import plain_solver

pytestmark = pytest.mark.slow

# Angles that differ by less (radians) are the same.
SAME = 1e-12


def some_chain(rng: np.random.Generator, count: int) -> tuple[Chain, np.ndarray]:
    """Return a chain of any size with limits about its rest (n,)."""
    rest = rng.uniform(-0.6, 0.6, count) * rng.choice([0.0, 1.0], p=[0.2, 0.8])
    rest[0] = rng.uniform(-3.0, 3.0)
    low, high = (rest + sign * rng.choice([0.2, 0.5, 1.0, 2.0], count) for sign in (-1.0, 1.0))
    if rng.random() < 0.5:
        low[0], high[0] = nan, nan
    lengths = rng.uniform(0.3, 1.5, count) * 10.0 ** rng.uniform(-2.0, 2.0)
    weights = rng.uniform(0.2, 1.0, count) if rng.random() < 0.3 else None
    return Chain(lengths, np.stack((low, high), axis=-1), weights), rest


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("softness", [0.0, 0.1])
def test_poses_are_those_of_the_arrays(seed: int, softness: float) -> None:
    rng = np.random.default_rng(seed)
    chain, rest = some_chain(rng, 3 + seed)
    solver = plain_solver(chain, rest, even=True)
    free = ~np.isfinite(chain.limits)
    low, high = np.where(free, rest[:, None] + (-3.0, 3.0), chain.limits).T
    points = forward(chain, rng.uniform(low, high, (150, len(chain))))[:, -1]
    bend = rng.choice([-1.0, 1.0], 150)
    solved = solve_even(chain, points, bend=bend, rest=rest, softness=softness)
    bound = 0
    for i, (point, side) in enumerate(zip(points.tolist(), bend.tolist(), strict=True)):
        answer = solver.solve(*point, side, softness)
        if answer is None:
            continue
        bound += bool(solved.limited[i].any())
        assert answer.status == solved.status[i]
        off = rest + answer.turns - solved.angles[i]
        assert np.abs(np.where(free[:, 0], wrapped(off), off)).max() < SAME
        if answer.status == Status.REACHED:
            assert solver.bones.tip(answer.turns) == pytest.approx(point, abs=1e-6 * chain.reach[1])
    assert bound > 5


def test_targets_that_limits_put_out_of_reach_are_left_to_the_arrays() -> None:
    chain, rest = Chain([1.0] * 4, [(-0.2, 0.2)] * 4), np.zeros(4)
    solver = plain_solver(chain, rest, even=True)
    assert solver.solve(-2.0, 0.0) is None and solver.solve(0.5, 0.0) is None
    assert solver.solve(3.9, 0.3).status == Status.REACHED


def test_a_chain_in_another_plane_shares_the_tables_and_reaches_as_exactly() -> None:
    chain, rest = Chain([1.0] * 4, [(-0.4, 0.4)] * 4), np.zeros(4)
    turned = np.array((0.8, 1e-6, -1e-6, 0.0))
    one = plain_solver(chain, rest, even=True)
    one.solve(3.6, 0.6)
    other = plain_solver(Chain([1.0 + 1e-6] * 4, chain.limits + turned[:, None]), turned, even=True)
    other.share_families(one)
    aside = np.array((np.cos(0.8), np.sin(0.8)))
    target = 3.6 * aside + 0.6 * np.array((-aside[1], aside[0]))
    answer = other.solve(*target.tolist())
    assert other._sheets is one._sheets and len(one._sheets) == 1
    assert other.bones.tip(answer.turns) == pytest.approx(target, abs=1e-8)
    assert np.abs(np.subtract(answer.turns, one.solve(3.6, 0.6).turns)).max() < 1e-3
