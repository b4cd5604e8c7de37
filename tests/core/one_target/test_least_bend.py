# SPDX-License-Identifier: GPL-3.0-or-later
"""One target of Even within limits, in plain numbers: the pose that it has among others, to 1e-12."""

import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_even
from ik2d_addon.core.even.solve import Even
from ik2d_addon.core.one_target import least_bend

SAME = 1e-12


def chain_with_limits(rng, n, root, weights=False):
    """Return a chain whose inner joints have limits, its root too where asked for, and targets around it."""
    lengths, low, high = rng.uniform(0.3, 1.0, n), -rng.uniform(0.1, 1.0, n), rng.uniform(0.3, 1.6, n)
    limits = np.stack([low, high], axis=1)
    if not root:
        limits[0] = np.nan
    chain = Chain(lengths, limits=limits, weights=rng.uniform(0.2, 1.0, n) if weights else None)
    return chain, rng.uniform(-1.1, 1.1, (30, 2)) * lengths.sum()


@pytest.mark.slow
@pytest.mark.parametrize("root", (False, True), ids=("free root", "limited root"))
@pytest.mark.parametrize("n", (3, 4, 5, 8, 12))
def test_a_target_alone_has_the_pose_that_it_has_among_others(n, root):
    for seed in range(4):
        rng = np.random.default_rng([n, root, seed])
        chain, targets = chain_with_limits(rng, n, root, weights=seed % 2 == 1)
        rest = None if seed < 2 else rng.uniform(-0.1, 0.3, n)
        tolerance = None if seed else 1e-4
        for bend in (1, -1):
            together = solve_even(chain, targets, rest=rest, bend=bend, tolerance=tolerance)
            alone = [solve_even(chain, one, rest=rest, bend=bend, tolerance=tolerance) for one in targets]
            apart = np.array([one.angles for one in alone]) - together.angles
            assert np.abs(apart).max() <= SAME
            assert [int(one.status) for one in alone] == together.status.tolist()
            residuals = np.array([float(one.residual) for one in alone])
            assert np.abs(residuals - together.residual).max() <= SAME * chain.reach[1]
            assert (np.array([one.limited for one in alone]) == together.limited).all()
            assert all(one.angles.shape == one.slides.shape == (n,) for one in alone)


def test_a_target_in_reach_needs_none_of_the_arrays(monkeypatch):
    rng = np.random.default_rng(3)
    chain, _ = chain_with_limits(rng, 6, True)
    targets = forward(chain, rng.uniform(*chain.limits.T, (40, 6)))[:, -1]
    expected = solve_even(chain, targets)
    monkeypatch.setattr(Even, "poses", None)
    found = [solve_even(chain, one) for one in targets]
    assert all(one.reached for one in found)
    assert np.abs(np.array([one.angles for one in found]) - expected.angles).max() <= SAME


def test_answers_depend_on_no_earlier_ones():
    chain, targets = chain_with_limits(np.random.default_rng(4), 5, False)
    first = [solve_even(chain, one).angles for one in targets]
    least_bend._kept.cache_clear()
    again = [solve_even(chain, one).angles for one in targets[::-1]]
    assert np.array_equal(again[::-1], first)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"bend": 0}, "bend"),
        ({"bend": 2}, "bend"),
        ({"bend": True}, "bend"),
        ({"softness": 1.5}, "softness"),
        ({"slide_weight": 0.0}, "slide_weight"),
        ({"root_weight": 2.0}, "root_weight"),
        ({"tolerance": 0.0}, "tolerance"),
        ({"tolerance": [1.0]}, "tolerance"),
        ({"rest": [0.0, 0.0]}, "rest"),
        ({"rest": [[0.0] * 3]}, "rest"),
    ],
    ids=str,
)
def test_what_many_targets_refuse_one_refuses_too(settings, words):
    chain = Chain([1.0, 1.0, 1.0], limits=np.radians([[-90, 90]] * 3))
    with pytest.raises(IK2DError, match=words):
        solve_even(chain, [[2.0, 0.5]], **settings)
    with pytest.raises(IK2DError, match=words):
        solve_even(chain, [2.0, 0.5], **settings)


def test_several_bends_and_softnesses_have_one_target():
    chain = Chain([1.0, 1.0, 1.0], limits=np.radians([[-90, 90]] * 3))
    both = solve_even(chain, [2.0, 0.5], bend=[1, -1])
    assert np.abs(both.angles[1] - solve_even(chain, [2.0, 0.5], bend=-1).angles).max() <= SAME
    soft = solve_even(chain, [2.9, 0.0], softness=[0.0, 0.2])
    assert soft.status.tolist() == [Status.REACHED, Status.EASED]


def test_bones_that_slide_slide_to_one_target_too():
    chain = Chain([1.0, 1.0, 1.0], limits=np.radians([[-90, 90]] * 3), slides=[[0, 0], [0, 0.5], [0.2, 0.2]])
    alone, together = solve_even(chain, [3.4, 0.1]), solve_even(chain, [[3.4, 0.1]])
    assert alone.reached and np.array_equal(alone.slides, together.slides[0]) and alone.slides[1] > 0.0
