# SPDX-License-Identifier: GPL-3.0-or-later
"""Many targets at once get what each of them gets alone."""

import numpy as np
import pytest
from chains import drained

from ik2d_addon.core import Chain
from ik2d_addon.core.ccd import batch
from ik2d_addon.core.ccd.batch import BLOCK, Targets, are_inside, free_batch_steps
from ik2d_addon.core.ccd.free import solve_free
from ik2d_addon.core.ccd.sweep import Bones

TOLERANCE = 5e-7


def rows_of_all_kinds(rng, chain, m):
    """Starts and targets (in reaches): anywhere, on a line, close to one, near by, off the annulus."""
    n, inner = len(chain), chain.reach[0] / chain.reach[1]
    starts = rng.uniform(-3.0, 3.0, (m, n))
    radius, turn = rng.uniform(0.0, 1.2, m), rng.uniform(-np.pi, np.pi, m)
    points = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=-1)
    kind = np.arange(m) % 8
    starts[kind == 1, 1:] = 0.0
    starts[kind == 2, 1:] = rng.choice([0.0, np.pi], ((kind == 2).sum(), n - 1))
    starts[(kind == 3) | (kind == 6), 1:] *= 0.003
    for row in np.flatnonzero((kind == 4) | (kind == 6)):  # close by
        headings = np.cumsum(starts[row])
        lengths = chain.lengths / chain.reach[1]
        tip = np.array([(lengths * np.cos(headings)).sum(), (lengths * np.sin(headings)).sum()])
        points[row] = tip * rng.uniform(0.97, 0.999)
    points[kind == 5] *= (1.0 / radius * rng.choice([1.0, 1.0 + 1e-9, 3.0], m))[kind == 5, np.newaxis]
    points[kind == 7] *= (inner / radius * rng.choice([1.0, 1.0 - 1e-9, 0.3, 0.0], m))[kind == 7, np.newaxis]
    return Targets(points, starts, rng.choice([-1.0, 1.0], m))


def one_by_one(bones, targets, rounds):
    rows = zip(targets.starts.tolist(), targets.points.tolist(), targets.bend.tolist(), strict=True)
    answers = [solve_free(bones, start, x, y, bend, TOLERANCE, rounds) for start, (x, y), bend in rows]
    return np.array([angles for angles, _ in answers]), np.array([done for _, done in answers])


def tip_errors(bones, angles, points):
    headings = np.cumsum(angles, axis=1)
    x = (bones.lengths * np.cos(headings)).sum(axis=1) - points[:, 0]
    y = (bones.lengths * np.sin(headings)).sum(axis=1) - points[:, 1]
    return np.hypot(x, y)


@pytest.mark.parametrize("kind", ("even", "random", "one long", "weights"))
@pytest.mark.parametrize("n", (1, 2, 3, 5, 12))
def test_rows_of_all_kinds_get_the_angles_and_the_iterations_that_each_gets_alone(n, kind):
    rng = np.random.default_rng([n, len(kind)])
    lengths = np.ones(n) if kind == "even" else rng.uniform(0.2, 1.0, n)
    if kind == "one long":
        lengths[n // 2] = 1.3 * lengths.sum()
    chain = Chain(lengths, weights=rng.uniform(0.2, 1.0, n) if kind == "weights" else None)
    bones, targets = Bones.of(chain), rows_of_all_kinds(rng, chain, 240)
    given = targets.starts.copy()
    angles, iterations, is_out = drained(free_batch_steps(bones, targets, TOLERANCE, 60))
    expected, counts = one_by_one(bones, targets, 60)
    apart = np.abs(angles - expected).max(axis=1)
    # After tens of corrections, or where the search between two poses arrived, rounding counts for more.
    assert apart.max() <= (1e-9 if n <= 5 else 0.01)
    assert np.mean(apart > 1e-9) <= (0.0 if n <= 5 else 0.02)
    assert np.mean(iterations != counts) <= (0.0 if n <= 5 else 0.02)
    assert (targets.starts == given).all()
    assert not is_out.any()
    distance = np.hypot(*targets.points.T)
    inner = max(0.0, 2.0 * max(bones.lengths) - 1.0)
    off = np.maximum(np.maximum(distance - 1.0, inner - distance), 0.0)
    assert np.abs(tip_errors(bones, angles, targets.points) - off).max() <= TOLERANCE
    assert n < 3 or (iterations > 2).any()
    assert (iterations[off > 1e-12] == 0).all()


@pytest.mark.parametrize("rounds", (1, 2))
def test_with_few_corrections_the_search_between_two_poses_arrives(rounds):
    rng = np.random.default_rng(rounds)
    chain = Chain(rng.uniform(0.2, 1.0, 4))
    bones, targets = Bones.of(chain), rows_of_all_kinds(rng, chain, 160)
    angles, iterations, is_out = drained(free_batch_steps(bones, targets, TOLERANCE, rounds))
    expected, counts = one_by_one(bones, targets, rounds)
    assert np.abs(angles - expected).max() <= 1e-3  # both reach, from the same pose and to the same
    assert np.array_equal(iterations, counts)
    inside = np.hypot(*targets.points.T) < 1.0
    assert tip_errors(bones, angles, targets.points)[inside].max() <= TOLERANCE
    assert iterations.max() == 2 + rounds
    assert not is_out.any()


@pytest.mark.parametrize(("rounds", "most"), [(60, 0.002), (2, 0.05)])
def test_the_common_rows_are_solved_together(monkeypatch, rounds, most):
    """Only targets off the annulus and long searches are left to the solver for one."""
    left = []

    def counted(bones, start, x, y, *rest):
        left.append(np.hypot(x, y))
        return solve_free(bones, start, x, y, *rest)

    monkeypatch.setattr(batch, "solve_free", counted)
    rng = np.random.default_rng(3)
    chain = Chain(rng.uniform(0.5, 1.0, 5))
    m = 2 * BLOCK + 100
    turn, radius = rng.uniform(-3.0, 3.0, m), np.sqrt(rng.uniform(0.04, 0.9, m))
    radius[::1000] = 1.5
    points = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=-1)
    targets = Targets(points, rng.uniform(-1.0, 1.0, (m, 5)), np.ones(m))
    bones = Bones.of(chain)
    angles, iterations, is_out = drained(free_batch_steps(bones, targets, TOLERANCE, rounds))
    assert not is_out.any()
    assert sum(distance > 1.0 for distance in left) == len(radius[::1000])
    assert len(left) - len(radius[::1000]) <= most * m
    assert tip_errors(bones, angles, points)[radius < 1.0].max() <= TOLERANCE
    assert (iterations[radius > 1.0] == 0).all()
    rows = np.concatenate([[0, BLOCK - 1, BLOCK, 2 * BLOCK, m - 1], rng.integers(0, m, 40)])
    expected, counts = one_by_one(bones, targets[rows], rounds)
    assert np.allclose(angles[rows], expected, rtol=0.0, atol=1e-9 if rounds == 60 else 1e-4)
    assert np.array_equal(iterations[rows], counts)


@pytest.mark.slow
@pytest.mark.parametrize("m", (20, 400))
def test_long_chains_that_are_wound_up_are_unrolled_as_each_alone(m):
    rng = np.random.default_rng(m)
    bones = Bones.of(Chain(rng.uniform(1.0, 4.0, 40)))
    turn, radius = rng.uniform(-3.0, 3.0, m), rng.uniform(0.4, 0.95, m)
    points = np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=-1)
    targets = Targets(points, rng.uniform(-np.pi, np.pi, (m, 40)), np.ones(m))
    angles, iterations, _ = drained(free_batch_steps(bones, targets, TOLERANCE, 60))
    expected, counts = one_by_one(bones, targets, 60)
    assert tip_errors(bones, angles, points).max() <= TOLERANCE
    assert np.mean(np.abs(angles - expected).max(axis=1) > 1e-4) <= 0.02
    assert np.mean(iterations != counts) <= 0.02
    # Few corrections, and none that wind it up further: the joints turn no more than to the straight chain.
    assert np.median(iterations) <= 12
    whole = np.abs(targets.starts[:, 1:]).sum(axis=1)
    assert np.mean(np.abs(angles - targets.starts)[:, 1:].sum(axis=1) <= whole) > 0.95


def test_two_bones_and_no_rows_are_solved_as_well():
    bones = Bones.of(Chain([0.6, 0.4]))
    angles, iterations, is_out = drained(
        free_batch_steps(bones, Targets(np.empty((0, 2)), np.empty((0, 2)), np.empty(0)), 1e-6, 9)
    )
    assert angles.shape == (0, 2)
    assert iterations.shape == (0,)
    assert iterations.dtype == np.int32
    assert is_out.shape == (0,)


def test_targets_are_cut_row_by_row():
    targets = Targets(np.arange(8.0).reshape(4, 2), np.arange(12.0).reshape(4, 3), np.arange(4.0))
    part = targets[np.array([2, 0])]
    assert part.points.tolist() == [[4.0, 5.0], [0.0, 1.0]]
    assert part.starts.tolist() == [[6.0, 7.0, 8.0], [0.0, 1.0, 2.0]]
    assert part.bend.tolist() == [2.0, 0.0]
    assert targets.row(1) == ([3.0, 4.0, 5.0], 2.0, 3.0, 1.0)


def test_what_lies_inside_the_annulus_is_told_with_slides_too():
    points = np.array([[0.0, 0.1], [0.0, 0.3], [0.6, 0.0], [0.9, 0.9]])
    rows = Targets(points, np.zeros((4, 4)), np.ones(4))
    long_one = Chain([3.0, 1.0], slides=[(-1.0, 0.0), (0.0, 0.0)])  # its reach is 4, inner 1
    assert are_inside(Bones.of(long_one), rows).tolist() == [False, True, True, False]
    assert are_inside(Bones.of(Chain([3.0, 1.0])), rows).tolist() == [False, False, True, False]
