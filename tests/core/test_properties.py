# SPDX-License-Identifier: GPL-3.0-or-later
"""What every solver keeps to, whatever the chain: exactness, limits, no memory, symmetry, size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ik2d_addon.core import Chain, Solution, forward, solve_ccd, solve_even, solve_two_bone

FINE = 1e-9


def two_bone(chain: Chain, targets: np.ndarray, start: np.ndarray, bend: int) -> Solution:
    """Solve from a pose, for the analytic solver one to be near to."""
    return solve_two_bone(chain, targets, start=start, bend=bend, tolerance=FINE * chain.reach[1])


def ccd(chain: Chain, targets: np.ndarray, start: np.ndarray, bend: int) -> Solution:
    """Solve from a pose."""
    return solve_ccd(chain, targets, start=start, bend=bend, tolerance=FINE * chain.reach[1])


def even(chain: Chain, targets: np.ndarray, start: np.ndarray, bend: int) -> Solution:
    """Solve with that pose as rest."""
    return solve_even(chain, targets, rest=start, bend=bend, tolerance=FINE * chain.reach[1])


SOLVERS = {"two-bone": two_bone, "CCD": ccd, "Even": even}
each_solver = pytest.mark.parametrize("name", SOLVERS)
short = settings(max_examples=40)


@st.composite
def problems(draw, name):
    """Return a chain with limits or without, a start within them, tips of poses within them, and a bend.

    Every other joint is free, so that neighbouring targets need not be at an end of every range.
    """
    n = 2 if name == "two-bone" else draw(st.integers(2, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths, low = rng.uniform(0.2, 1.0, n), rng.uniform(-2.0, 0.2, n)
    limits = np.stack([low, low + rng.uniform(0.4, 2.5, n)], axis=-1)
    if draw(st.booleans()):
        limits[::2] = np.nan
    limited = Chain(lengths, limits)
    chain = limited if draw(st.booleans()) else Chain(lengths)
    low, high = np.where(np.isfinite(limited.ranges), limited.ranges, (-3.0, 3.0)).T
    poses = low + rng.random((5, n)) * (high - low)
    start = low + rng.uniform(0.3, 0.7, n) * (high - low)
    return chain, start, forward(chain, poses)[:, -1], draw(st.sampled_from([1, -1]))


@pytest.mark.slow
@each_solver
@short
@given(data=st.data())
def test_tips_of_poses_are_reached_within_the_limits(name, data):
    chain, start, targets, bend = data.draw(problems(name))
    solution = SOLVERS[name](chain, targets, start, bend)
    off = np.hypot(*(forward(chain, solution.angles)[:, -1] - targets).T)
    assert solution.reached.all()
    assert off.max() <= FINE * chain.reach[1]
    low, high = chain.ranges.T
    assert ((solution.angles >= low) & (solution.angles <= high)).all()


@pytest.mark.slow
@each_solver
@short
@given(data=st.data())
def test_a_target_has_one_answer_whatever_is_asked_beside_it(name, data):
    chain, start, targets, bend = data.draw(problems(name))
    solution = SOLVERS[name](chain, targets, start, bend)
    assert np.array_equal(SOLVERS[name](chain, targets[::-1], start, bend).angles, solution.angles[::-1])
    alone = SOLVERS[name](chain, targets[2], start, bend)
    # One target of Even within limits is solved in plain numbers.
    most = 1e-12 if name == "Even" and chain.is_limited else 0.0
    assert np.abs(alone.angles - solution.angles[2]).max() <= most


@pytest.mark.slow
@each_solver
@short
@given(data=st.data())
def test_a_mirrored_chain_has_the_mirrored_answer(name, data):
    chain, start, targets, bend = data.draw(problems(name))
    limits = None if chain.limits is None else -chain.limits[:, ::-1]
    # Of Even's bend +1 is the side of its rest, which is mirrored itself.
    other = bend if name == "Even" else -bend
    solution = SOLVERS[name](chain, targets, start, bend)
    mirrored = SOLVERS[name](Chain(chain.lengths, limits), targets * [1.0, -1.0], -start, other)
    headings, others = np.cumsum(solution.angles, axis=1), np.cumsum(-mirrored.angles, axis=1)
    assert np.abs(np.exp(1j * headings) - np.exp(1j * others)).max() <= 1e-5
    assert (mirrored.status == solution.status).all()


@pytest.mark.slow
@each_solver
@short
@given(data=st.data())
def test_the_size_of_a_chain_changes_no_angle(name, data):
    chain, start, targets, bend = data.draw(problems(name))
    scale = 2.0 ** data.draw(st.integers(-40, 40))
    solution = SOLVERS[name](chain, targets, start, bend)
    scaled = SOLVERS[name](Chain(scale * chain.lengths, chain.limits), scale * targets, start, bend)
    assert np.array_equal(scaled.angles, solution.angles)
