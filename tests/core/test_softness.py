# SPDX-License-Identifier: GPL-3.0-or-later
"""Softness eases the tip into full reach, and says what it costs."""

import mpmath
import numpy as np
import pytest

from ik2d_addon.core import Chain, IK2DError, Status, forward, solve_ccd, solve_ccd_path, solve_two_bone
from ik2d_addon.core.arithmetic import ARRAYS
from ik2d_addon.core.softness import checked_softness, soft_targets, softened_within


def softened(chain, distance, softness):
    """Return the tip's distances from the root for targets at distances (m,)."""
    return softened_within(*chain.reach, distance, softness, ARRAYS)


def elbow_rates(lengths, softness):
    """Return distances and how fast angle2 turns there, in radians for each reach the target moves."""
    chain = Chain(lengths)
    inner, outer = chain.reach
    h = np.linspace(np.sqrt(inner * outer) + 1e-3, 1.5 * outer, 200_001)
    angle = solve_two_bone(chain, np.stack([h, np.zeros_like(h)], axis=-1), softness=softness).angles[:, 1]
    return h, np.abs(np.diff(angle) / np.diff(h / outer))


@pytest.mark.parametrize("lengths", ([0.5, 0.5], [0.7, 0.3], [3.0, 4.0]))
@pytest.mark.parametrize("s", (0.01, 0.05, 0.1, 0.3))
def test_the_elbow_turns_no_faster_than_the_bound(lengths, s):
    i = Chain(lengths).reach[0] / Chain(lengths).reach[1]
    bound = 2.0 * (1.0 - s) / np.sqrt(s * (2.0 - s) * ((1.0 - s) ** 2 - i * i))
    _, rates = elbow_rates(lengths, s)
    assert 0.99 * bound <= rates.max() <= 1.001 * bound


def test_without_softness_the_elbow_snaps():
    h, rates = elbow_rates([0.5, 0.5], 0.0)
    degrees = np.degrees(0.01 * rates)
    assert np.isclose(degrees[np.searchsorted(h, 0.99)], 8.1, atol=0.1)
    assert np.isclose(degrees[np.searchsorted(h, 0.999)], 25.6, atol=0.5)


@pytest.mark.parametrize("lengths", ([3.0, 1.0], [0.2, 0.2], [1.0, 1.0, 5.0]))
@pytest.mark.parametrize("s", (1e-4, 0.05, 0.5, 1.0))
def test_the_formula_in_30_digits(lengths, s):
    """The soft zone is softness times the reach wide, but no wider than the annulus."""
    chain = Chain(lengths)
    inner, outer = chain.reach
    width = min(s * outer, outer - inner)
    distance = np.linspace(0.0, 3.0 * outer, 301)
    with np.errstate(all="raise", under="ignore"):
        found = softened(chain, distance, s)
    with mpmath.workdps(30):
        for h, f in zip(distance.tolist(), found.tolist(), strict=True):
            start = mpmath.mpf(outer) - width
            expected = h if h <= start else outer - width * mpmath.exp(-(h - start) / width)
            assert abs(f - expected) <= 2e-16 * outer


def test_the_curve_sets_in_without_a_kink_and_never_leaves_the_reach():
    chain, s = Chain([1.0, 1.0]), 0.2
    h = np.linspace(0.0, 20.0, 200_001)
    slope = np.diff(softened(chain, h, s)) / np.diff(h)
    assert np.abs(np.diff(slope)).max() <= 3e-4  # continuous: 1e-4 / width for each step of 1e-4
    assert slope.min() >= 0.0
    assert softened(chain, h, s).max() <= 2.0


@pytest.mark.parametrize("lengths", ([1.0], [0.0, 2.0], [0.0, 0.0]))
def test_where_the_reach_is_a_circle_nothing_is_soft(lengths):
    distance = np.array([0.0, 0.5, 1.9, 2.0, 7.0])
    assert softened(Chain(lengths), distance, 0.5).tolist() == distance.tolist()


def test_targets_move_along_their_direction():
    chain = Chain([1.0, 1.0])
    rng = np.random.default_rng(0)
    targets = np.concatenate([rng.normal(size=(50, 3, 2)) * 2.0, np.zeros((1, 3, 2))])
    moved = soft_targets(chain, targets, 0.3)
    distance = np.hypot(targets[..., 0], targets[..., 1])
    expected = softened(chain, distance, 0.3)
    assert np.allclose(np.hypot(moved[..., 0], moved[..., 1]), expected, rtol=1e-15, atol=0.0)
    cross = moved[..., 0] * targets[..., 1] - moved[..., 1] * targets[..., 0]
    assert np.abs(cross).max() <= 1e-14
    assert ((moved * targets).sum(axis=-1) >= 0.0).all()
    assert (moved[-1] == 0.0).all()  # a target at the root stays there


@pytest.mark.parametrize("softness", (0, 0.0, 0.5, 1, 1.0, np.float32(0.25)))
def test_softness_lies_in_0_to_1(softness):
    assert checked_softness(softness) == float(softness)


@pytest.mark.parametrize("softness", (-1e-9, 1.0 + 1e-9, np.nan, np.inf, -np.inf))
def test_another_softness_is_refused_by_every_solver(softness):
    chain = Chain([1.0, 1.0])
    for call in (
        lambda: checked_softness(softness),
        lambda: solve_two_bone(chain, [1.0, 0.0], softness=softness),
        lambda: solve_ccd(chain, [1.0, 0.0], start=[0.0, 0.0], softness=softness),
        lambda: solve_ccd_path(chain, [[1.0, 0.0]], start=[0.0, 0.0], softness=softness),
    ):
        with pytest.raises(IK2DError, match=f"^softness must lie in 0..1, not {softness}$"):
            call()


@pytest.mark.parametrize(
    ("solver", "n"), [("two bones", 2), ("ccd", 2), ("ccd", 5), ("path", 2), ("path", 5)]
)
@pytest.mark.parametrize("limits", (None, [-3.0, 3.0]))
def test_status_is_that_of_the_exact_solve_or_eased_and_residual_the_true_distance(solver, n, limits):
    chain, s = Chain(np.ones(n) / n, None if limits is None else [limits] * n), 0.1
    h = np.array([0.5, 0.89, 0.95, 1.0, 1.2])
    targets = np.stack([0.6 * h, 0.8 * h], axis=-1)
    if solver == "two bones":
        solution = solve_two_bone(chain, targets, softness=s)
    else:
        solve = solve_ccd if solver == "ccd" else solve_ccd_path
        solution = solve(chain, targets, start=np.full(n, 0.1), softness=s)
    tip = forward(chain, solution.angles)[:, -1]
    assert solution.status.tolist() == [0, 0, Status.EASED, Status.EASED, Status.TOO_FAR]
    assert solution.reached.tolist() == [True, True, False, False, False]
    assert solution.arrived.tolist() == [True, True, True, True, False]
    assert np.allclose(solution.residual, np.hypot(*(tip - targets).T), rtol=0.0, atol=1e-15)
    expected = np.where(h > 1.0 - s, 1.0 - s * np.exp(-(h - 1.0 + s) / s), h)
    assert np.allclose(tip, expected[:, np.newaxis] * [0.6, 0.8], rtol=0.0, atol=1e-6)
    assert solution.residual[2] > 0.01  # what it costs


def test_softness_and_limits_say_which_joint_stands_at_its_limit_in_the_soft_pose():
    """At full reach the exact pose is straight, at the limit 0; the soft one is bent, at none."""
    chain = Chain([1.0, 1.0], [[-3.0, 3.0], [0.0, 2.0]])
    for solve in (
        lambda **options: solve_two_bone(chain, [2.0, 0.0], **options),
        lambda **options: solve_ccd(chain, [2.0, 0.0], start=[0.0, 0.5], **options),
    ):
        assert solve().limited.tolist() == [False, True]
        assert solve(softness=0.2).limited.tolist() == [False, False]
        assert solve(softness=0.2).status == Status.EASED
