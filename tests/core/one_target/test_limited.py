# SPDX-License-Identifier: GPL-3.0-or-later
"""Within limits, one and two bones in plain numbers take the poses that the arrays' solvers take."""

from math import inf, nan, pi

import numpy as np
import pytest

from ik2d_addon.core import Chain, Status, forward, solve_even, solve_two_bone
from ik2d_addon.core.chain import within_limits
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.core.one_target import plain_solver
from ik2d_addon.core.one_target.limited import within_range

# Angles (radians) and tips (reaches) that differ by less are the same: numpy and Python round apart.
SAME = 1e-12


def some_chain(rng: np.random.Generator, count: int) -> tuple[Chain, np.ndarray]:
    """Return a chain of any size with limits of many kinds, and its rest (n,)."""
    rest = rng.uniform(-3.0, 3.0, count)
    low = rng.uniform(-3.2, 1.5, count)
    high = low + rng.choice([0.1, 0.4, 1.0, 3.0, 7.0], count)
    limits = rest[:, np.newaxis] + np.stack((low, high), axis=-1)
    kinds = rng.random(count)
    limits[kinds < 0.3, 0], limits[kinds > 0.8, 1] = -inf, inf
    return Chain(rng.uniform(0.3, 1.5, count) * 10.0 ** rng.uniform(-2.0, 2.0), limits), rest


def compare(chains: int, targets: int, count: int, softness: float = 0.0) -> set[int]:
    """Compare answers for targets in and out of reach of random chains; return the status that there were."""
    rng, seen = np.random.default_rng(19), set()
    for _ in range(chains):
        chain, rest = some_chain(rng, count)
        solver = plain_solver(chain, rest, even=count == 1)
        inner, outer = chain.reach
        points = rng.uniform(-1.05, 1.05, (targets, 2)) * outer
        if count == 1:
            points *= np.where(rng.random(targets) < 0.7, outer / np.hypot(*points.T), 1.0)[:, None]
        bend = rng.choice([-1.0, 1.0], targets)
        if count == 1:
            solved = solve_even(chain, points, bend=bend, rest=rest, softness=softness)
        else:
            solved = solve_two_bone(chain, points, bend=bend, start=rest, softness=softness)
        answers = [
            solver.solve(x, y, side, softness)
            for (x, y), side in zip(points.tolist(), bend.tolist(), strict=True)
        ]
        assert [answer.status for answer in answers] == solved.status.tolist()
        seen.update(solved.status.tolist())
        angles = rest + [answer.turns for answer in answers]
        off = angles - solved.angles
        off[:, ~np.isfinite(chain.ranges).any(axis=1)] = wrapped(
            off[:, ~np.isfinite(chain.ranges).any(axis=1)]
        )
        bent = count == 1 or np.abs(np.sin(solved.angles[:, 1])) > 1e-3  # else rounding turns a joint far
        assert np.abs(off[bent]).max() < SAME
        tips = forward(chain, angles)[:, -1] - forward(chain, solved.angles)[:, -1]
        assert np.abs(tips).max() < SAME * outer
        residuals = np.array([answer.residual for answer in answers])
        assert np.abs(residuals - solved.residual).max() < 2.0 * SAME * outer
    return seen


@pytest.mark.parametrize("softness", [0.0, 0.2])
@pytest.mark.parametrize("count", [1, 2])
def test_poses_are_those_of_the_arrays(count: int, softness: float) -> None:
    seen = compare(8, 40, count, softness)
    assert seen >= {Status.REACHED, Status.LIMITED, Status.TOO_FAR}


@pytest.mark.slow
def test_poses_of_two_bones_are_those_of_the_arrays_for_many_targets() -> None:
    assert compare(60, 500, 2) == {Status.REACHED, Status.LIMITED, Status.TOO_FAR, Status.TOO_CLOSE}
    compare(10, 500, 2, 0.15)
    compare(20, 500, 1)


@pytest.mark.parametrize(
    "low, high", [(-0.5, 0.5), (-inf, 1.0), (2.0, inf), (-4.0, 4.0), (7.0, 8.0), (-9.0, -8.5), (0.3, 0.3)]
)
def test_a_number_within_a_range_is_the_one_of_the_arrays(low: float, high: float) -> None:
    chain = Chain([1.0], [[low, high]])
    for angle in np.linspace(-12.0, 12.0, 200).tolist():
        for near in (0.0, 2.0 * pi, -5.0):
            expected = within_limits(chain, np.array([angle]), np.array([near]))[0]
            assert within_range(angle, near, low, high) == pytest.approx(expected, abs=4e-15)


def test_a_bone_with_one_angle_and_even_pairs_within_limits_are_left_to_the_arrays() -> None:
    assert plain_solver(Chain([1.0], [[0.3, 0.3]]), np.zeros(1), even=True) is None
    pair = plain_solver(Chain([1.0, 1.0], [[nan, nan], [-0.1, 0.1]]), np.zeros(2), even=True)
    assert pair.solve(1.0, 0.0) is None and pair.solve(3.0, 0.0) is not None


def test_a_pose_stopped_by_limits_is_not_aimed_again_and_one_that_reaches_is() -> None:
    chain = Chain([1.0, 1.0], [[nan, nan], [0.2, 1.0]])
    links = [(1.0, 1e-5, 0.0, 1.0, 1.0 + 2e-5, 0.0), (1.0, 0.0, 0.0, 1.0, 1.0, 1e-5)]
    solver = plain_solver(chain, np.zeros(2), links=links)
    reached, stopped = solver.solve(1.3, 1.2, bend=-1.0), solver.solve(0.9, 0.8)
    assert reached.status == Status.REACHED and reached.turns[1] > 0.0
    assert solver.bones.tip(reached.turns) == pytest.approx((1.3, 1.2), abs=1e-8)
    assert stopped.status == Status.LIMITED and stopped.turns[1] == 1.0
    assert stopped.residual == pytest.approx(2.0 * np.cos(0.5) - np.hypot(0.9, 0.8), abs=1e-15)
