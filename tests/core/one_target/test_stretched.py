# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains that stretch take the factors and the poses in plain numbers that the arrays' solvers give them."""

import numpy as np
import pytest

from ik2d_addon.core import (
    Chain,
    Status,
    Stretch,
    forward,
    solve_even,
    solve_two_bone,
    stretched,
    stretched_status,
)
from ik2d_addon.core.arithmetic import FLOATS
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.core.one_target import PlainStretch, plain_solver
from ik2d_addon.core.one_target.bones import FINE
from ik2d_addon.core.stretch import Stretcher

CHAINS = {
    "pair": ([1.0, 0.7], [0.3, -0.8]),
    "long last": ([0.4, 1.2], [2.0, 0.5]),
    "closing": ([0.9, 1.1], [0.4, -0.3]),
    "long first": ([1.5, 0.5], [0.0, 0.0]),
    "one": ([1.3], [0.4]),
    "four": ([1.0, 0.8, 0.9, 0.4], [0.2, 0.3, 0.1, 0.4]),
}
STRETCHES = [
    Stretch(1.6, 0.7),
    Stretch(1.6, 0.7, True),
    Stretch(100.0),
    Stretch(100.0, 1.0, True),
    Stretch(1.0, 0.5),
]


def distances(rng, chain, stretch, count):
    """Return distances through full reach, the end of the stretch and the root; these themselves too."""
    inner, outer = stretch.reach(chain)
    found = rng.uniform(0.0, min(1.2 * outer, 4.0 * chain.reach[1]), count)
    found[:5] = 0.0, *chain.reach, inner, outer
    return found


@pytest.mark.parametrize("stretch", STRETCHES)
@pytest.mark.parametrize("softness", [0.0, 0.15, 0.9])
def test_factors_are_those_of_the_arrays_at_every_distance(stretch, softness):
    rng = np.random.default_rng(8)
    for lengths, _ in CHAINS.values():
        chain = Chain(lengths)
        h = distances(rng, chain, stretch, 1500)
        factors, goals = stretched(chain, h, softness, stretch)
        own = Stretcher.of(chain, stretch)
        found = np.array([own.stretched(one, softness, FLOATS) for one in h.tolist()])
        assert np.abs(found[:, 0] - factors[:, -1]).max() < 1e-12
        assert np.abs(found[:, 1] - goals).max() < 1e-12


@pytest.mark.parametrize("softness", [0.0, 0.15])
@pytest.mark.parametrize("stretch", STRETCHES)
@pytest.mark.parametrize("name", CHAINS)
def test_poses_are_those_of_the_arrays(name, stretch, softness):
    lengths, rest = CHAINS[name]
    chain, rest, rng, even = Chain(lengths), np.array(rest), np.random.default_rng(9), len(lengths) != 2
    solver = PlainStretch(plain_solver(chain, rest, even=even), stretch)
    h, turns = distances(rng, chain, stretch, 60), rng.uniform(-3.0, 3.0, 60)
    points = h[:, None] * np.stack((np.cos(turns), np.sin(turns)), axis=-1)
    factors, goals = stretched(chain, h, softness, stretch)
    status, left = stretched_status(chain, h, stretch), 0
    same = 1e-12 if len(lengths) <= 2 else FINE  # a family of poses is exact to less than that
    for i, point in enumerate(points.tolist()):
        bend = float(rng.choice([-1.0, 1.0]))
        answer = solver.solve(*point, bend, softness)
        if answer is None:
            left += 1
            assert name == "four" and stretch.last_only and factors[i, -1] != 1.0
            continue
        longer = Chain(chain.lengths * factors[i])
        goal = points[i] * (goals[i] / (h[i] or 1.0))
        asked = {"rest": rest} if even else {"start": rest}
        solved = (solve_even if even else solve_two_bone)(longer, goal, bend=bend, **asked)
        assert np.abs(answer.factors - factors[i]).max() < 1e-12
        angles = rest + answer.turns
        assert (
            np.abs(wrapped(angles - solved.angles)).max() < 2e-7
        )  # it is straight: rounding turns it so far
        tip = forward(longer, angles)[-1]
        assert np.abs(tip - forward(longer, solved.angles)[-1]).max() < same * (1.0 + h[i])
        assert answer.residual == pytest.approx(np.hypot(*(tip - points[i])), abs=same * (1.0 + h[i]))
        expected = Status.EASED if softness and answer.residual > 1e-6 * chain.reach[1] else Status.REACHED
        assert answer.status == (status[i] or solved.status or expected)
    assert left < 60


def test_tips_by_other_means_are_aimed_at_again():
    chain = Chain([1.0, 1.0])
    bent = Chain([1.0 + 2e-5, 1.0 - 1e-5])

    def tips(turns, factors):
        return tuple(forward(Chain(bent.lengths * factors), turns)[-1].tolist())

    for stretch in (Stretch(1.5, 0.6), Stretch(1.5, 0.6, True)):
        solver = PlainStretch(plain_solver(chain, np.zeros(2)), stretch, tips)
        answer = solver.solve(1.2, 0.3)
        assert tips(answer.turns, answer.factors) == pytest.approx((1.2, 0.3), abs=1e-8)
        assert answer.status == Status.REACHED and answer.residual < 1e-8


@pytest.mark.parametrize("x", [np.nan, np.inf, 1e300])
def test_targets_that_are_nowhere_are_left_to_the_arrays(x):
    assert PlainStretch(plain_solver(Chain([1.0, 1.0]), np.zeros(2)), Stretch(2.0)).solve(x, 0.0) is None
