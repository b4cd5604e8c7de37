# SPDX-License-Identifier: GPL-3.0-or-later
"""Even where the root's turn counts, or where it does not turn; and the side that Bend asks for."""

import numpy as np
import pytest
from chains import annulus, bend_of

from ik2d_addon.core import Chain, Status, forward, solve_even

KINDS = {
    "free": {},
    "within limits": {"limits": [-3.0, 3.0]},
    "slides": {"slides": [-0.1, 0.1]},
    "a counted root": {"root_weight": 1.0},
    "a bone of no length": {"no_length": 1},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_bend_takes_a_bent_rest_to_the_other_side(kind):
    """25 chains bent to one side at rest, 30 targets each, from near the root to near full reach."""
    asked, rng, to_the_other = dict(KINDS[kind]), np.random.default_rng(5), 0
    root_weight, no_length = asked.pop("root_weight", None), asked.pop("no_length", None)
    for _ in range(25):
        n = int(rng.integers(3, 8))
        lengths, rest = rng.uniform(0.6, 1.4, n), rng.uniform(0.1, 0.7, n)
        rest[0] = 0.0
        if no_length is not None:
            lengths[no_length] = 0.0
        chain = Chain(lengths, **{name: np.tile(ends, (n, 1)) for name, ends in asked.items()})
        targets = np.column_stack((np.linspace(0.3, 0.9, 30) * lengths.sum(), np.zeros(30)))
        found = solve_even(chain, targets, rest=rest, bend=-1, root_weight=root_weight)
        assert (found.status == Status.REACHED).all()
        to_the_other += int((found.angles[:, 1:].sum(axis=1) < 0.0).sum())
    assert to_the_other >= 749


@pytest.mark.slow
def test_the_weight_of_the_root_is_relative_to_the_others():
    chain = Chain([1.0, 0.8, 0.7])
    half = Chain(chain.lengths, weights=[1.0, 0.5, 0.5])
    one = solve_even(chain, [-1.2, 1.1], root_weight=1.0).angles
    assert np.allclose(solve_even(half, [-1.2, 1.1], root_weight=0.5).angles, one, atol=1e-5)
    assert not np.allclose(solve_even(chain, [-1.2, 1.1], root_weight=0.1).angles, one, atol=0.05)


def test_a_root_that_does_not_turn_leaves_the_others_to_reach():
    chain, rest = Chain([1.0, 1.0, 1.0, 1.0]), [0.3, 0.1, 0.1, 0.1]
    solution = solve_even(chain, [[1.5, 2.0], [-2.5, -2.5]], rest=rest, root_weight=0.0)
    assert solution.reached.tolist() == [True, False] and (solution.angles[:, 0] == 0.3).all()
    assert solution.residual[1] > 0.5


@pytest.mark.parametrize("heading", [0.7, -2.0, 3.0, 8.0])
@pytest.mark.parametrize(("pinned", "root_weight"), [(0, 0.5), (1, 0.0), (2, 0.0)])
def test_where_the_root_points_at_rest_turns_the_pose_and_nothing_inside_it(pinned, root_weight, heading):
    weights = [float(joint >= pinned) for joint in range(5)]
    chain, rest = Chain([1.0, 0.8, 0.7, 0.6, 0.5], weights=weights), np.array([0.0, 0.2, 0.3, -0.1, 0.2])
    targets = forward(chain, rest + np.random.default_rng(5).normal(0.0, 0.4, (6, 5)) * weights)[:, -1]
    targets[0] = forward(chain, rest)[-1]
    c, s, turn = np.cos(heading), np.sin(heading), np.array([heading, 0.0, 0.0, 0.0, 0.0])
    level = solve_even(chain, targets, rest=rest, root_weight=root_weight)
    turned = solve_even(chain, targets @ [[c, s], [-s, c]], rest=rest + turn, root_weight=root_weight)
    assert level.reached.all() and turned.reached.all()
    assert np.allclose(turned.angles, level.angles + turn, rtol=0.0, atol=1e-5)
    assert np.allclose(turned.angles[0], rest + turn, rtol=0.0, atol=1e-6)
    assert pinned == 0 or (turned.angles[:, 0] == heading).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [3, 5, 12, 30])
def test_no_turn_that_keeps_the_tip_bends_less(n):
    rng = np.random.default_rng(n)
    chain, rest = Chain(rng.uniform(0.5, 1.5, n)), np.append(0.0, np.full(n - 1, min(0.2, 2.0 / n)))
    targets = annulus(rng, chain, 30)
    found = solve_even(chain, targets, rest=rest, root_weight=1.0)
    assert found.reached.all() and found.residual.max() < 1e-9 * chain.reach[1]
    assert (
        bend_of(found.angles, rest) <= bend_of(solve_even(chain, targets, rest=rest).angles, rest) + 1e-9
    ).all()
    for pose in found.angles:
        joints = forward(chain, pose)
        arms = joints[-1] - joints[:-1]
        ways = np.stack((-arms[:, 1], arms[:, 0]))  # of the tip, with each joint
        force, *_ = np.linalg.lstsq(ways.T, pose - rest, rcond=None)
        assert np.abs(ways.T @ force - (pose - rest)).max() < 1e-5
