# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of poses of least bend: each part of the plane has poses that lead to its points."""

import numpy as np
import pytest

from ik2d_addon.core.within_limits.descent import SpringPoses, settled_one, tips
from ik2d_addon.core.within_limits.sheet import NearPoses
from ik2d_addon.core.within_limits.springs import springs_of
from ik2d_addon.core.within_limits.table import KINDS, Table


def tail(free):
    """Return the springs of a tail of four bones, its root free or held at zero."""
    n, room = 4, np.radians(40.0)
    ends = np.full(n, room)
    rows = (np.full(n, 0.25), np.full(n, 0.05), np.ones(n), -ends, ends, np.zeros(n), np.zeros(n))
    springs = springs_of(np.array(rows), free, 1.0)
    return springs.with_root(-np.inf, np.inf, free=True) if free else springs.with_root(0.0, 0.0, free=False)


@pytest.mark.parametrize("free", [True, False])
def test_one_of_the_poses_of_a_part_leads_to_any_point_in_it(free):
    springs = tail(free)
    table, rng = Table(springs), np.random.default_rng(1)
    angles = rng.uniform(-0.69, 0.69, (4, 100))
    angles[0] = rng.uniform(-3.0, 3.0, 100) if free else 0.0
    points = tips(springs, SpringPoses(angles, 0.0 * angles, np.zeros((2, 100))))
    near, led = NearPoses(table), 0
    for x, y in points.T.tolist():
        found = near.near(x, y)
        assert len(found) <= KINDS and all(np.isfinite(guess) for guess, _ in found)
        led += any(settled_one(springs, pose, x, y, 16)[1] for _, pose in found)
    assert led > 95


def test_poses_of_one_part_are_of_different_kinds():
    table = Table(tail(free=False))
    for kept in table.best:
        own = table.poses.angles[:, kept[kept >= 0]].T
        for i, pose in enumerate(own):
            assert all(np.abs(pose - other).max() > 1e-3 for other in own[:i])


def test_a_chain_of_many_bones_has_fewer_parts():
    few = Table(tail(free=False))
    n = 60
    ends = np.full(n, 0.2)
    rows = (np.full(n, 1.0 / n), np.zeros(n), np.ones(n), -ends, ends, np.zeros(n), np.zeros(n))
    many = Table(springs_of(np.array(rows), True, 1.0).with_root(-np.inf, np.inf, free=True))
    assert many.rings * many.parts < few.rings * few.parts
