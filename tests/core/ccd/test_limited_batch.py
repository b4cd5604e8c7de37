# SPDX-License-Identifier: GPL-3.0-or-later
"""Many targets at once for a chain with limits: what each of them gets alone, and soon."""

import numpy as np
import pytest
from chains import drained, poses_within

from ik2d_addon.core import Chain, Status, forward, solve_ccd
from ik2d_addon.core.ccd import limited, limited_batch
from ik2d_addon.core.ccd.batch import BATCH


def targets_of_all_kinds(rng, chain, m):
    """Return targets in reach, near its border, anywhere, and off the annulus; and starts."""
    poses = poses_within(rng, chain, m)
    targets = forward(chain, poses)[:, -1]
    targets[::3] = rng.uniform(-1.0, 1.0, targets[::3].shape) * chain.reach[1]
    targets[::7] *= 3.0
    starts = poses_within(rng, chain, m)
    starts[::2] = 0.0
    return targets, starts


@pytest.mark.slow
@pytest.mark.parametrize("limits", ([-1.0, 1.0], [0.2, 2.0], [-0.2, 0.3]))
@pytest.mark.parametrize("n", (3, 5, 12))
def test_each_target_gets_what_it_gets_alone(n, limits):
    rng = np.random.default_rng([n, 1])
    chain = Chain(rng.uniform(0.5, 1.0, n), [limits] * n)
    targets, starts = targets_of_all_kinds(rng, chain, 90)
    together = solve_ccd(chain, targets, start=starts)
    assert {Status.REACHED, Status.LIMITED, Status.TOO_FAR} <= set(together.status.tolist())
    for row in range(len(targets)):
        alone = solve_ccd(chain, targets[row], start=starts[row])
        assert alone.status == together.status[row]
        assert alone.iterations == together.iterations[row]
        assert np.allclose(alone.angles, together.angles[row], rtol=0.0, atol=1e-9)


def test_targets_out_of_reach_are_answered_without_corrections(monkeypatch):
    chain = Chain(np.ones(6), [[-0.3, 0.3]] * 6)
    targets = np.random.default_rng(2).uniform(-4.0, 0.0, (3 * limited_batch.BLOCK, 2))
    expected = [solve_ccd(chain, target, start=np.zeros(6)).residual for target in targets[::50]]
    monkeypatch.setattr(limited_batch, "around", None)
    monkeypatch.setattr(limited, "around", None)
    found = solve_ccd(chain, targets, start=np.zeros(6))
    assert np.allclose(found.residual[::50], expected, rtol=0.0, atol=1e-9)
    assert set(found.status.tolist()) <= {Status.LIMITED, Status.TOO_FAR}


def test_an_undecided_chain_is_solved_one_target_after_the_other():
    n = 20
    chain = Chain(np.ones(n), [[-1e-7, 1e-7]] * n)
    targets = np.full((BATCH, 2), [float(n), 0.0]) + np.linspace(0.0, 1e-5, BATCH)[:, np.newaxis] * [0.0, 1.0]
    found = solve_ccd(chain, targets, start=np.zeros(n))
    assert found.reached.any()
    out = solve_ccd(chain, targets - [1.0, 0.0], start=np.zeros(n))
    assert (out.status == Status.STALLED).all()  # no claim without a proof
    assert np.allclose(out.residual, 1.0, rtol=0.0, atol=1e-6)


@pytest.mark.slow
def test_the_number_of_targets_done_never_goes_back_and_ends_with_all():
    rng = np.random.default_rng(3)
    chain = Chain(np.ones(4), [[-1.0, 1.0]] * 4)
    m = limited_batch.BLOCK + 40
    targets, starts = targets_of_all_kinds(rng, chain, m)
    rows = limited_batch.Targets(targets / 4.0, starts, np.ones(m))
    bones = limited_batch.Bones.of(chain)
    seen = list(limited_batch.limited_batch_steps(bones, rows, 1e-6, 60))
    done = [number for number in seen if number]
    assert done == sorted(done) and done[-1] == m
    poses = drained(limited_batch.limited_batch_steps(bones, rows, 1e-6, 60))
    assert poses.angles.shape == (m, 4) and poses.is_out.any() and not poses.is_out.all()
