# SPDX-License-Identifier: GPL-3.0-or-later
"""Newton's step of rigid bones in plain numbers has the bits of the one for all chains."""

import numpy as np

from ik2d_addon.core.arithmetic import FLOATS
from ik2d_addon.core.sheet.rigid import rigid_step
from ik2d_addon.core.sheet.springs import Pose, springs_of


def test_a_step_is_that_of_all_springs_to_the_bit():
    rng = np.random.default_rng(3)
    for _ in range(300):
        n, free = int(rng.integers(3, 9)), bool(rng.random() < 0.6)
        rest, none = rng.uniform(-1.0, 1.0, n), np.zeros(n)
        low, high = (rest + sign * rng.choice([0.1, 0.5, np.inf], n) for sign in (-1.0, 1.0))
        weights = rng.uniform(0.0, 1.0, n) * (rng.random(n) < 0.9)
        numbers = np.array((np.full(n, 1.0 / n), rest, weights, low, high, none, none))
        springs = springs_of(numbers, free, 1.0)
        force = (rng.choice([0.0, 1.0, 1e5]) * rng.normal(size=2)).tolist()
        pose = Pose(np.clip(rest + rng.uniform(-1.0, 1.0, n), low, high).tolist(), [0.0] * n, *force)
        target = rng.uniform(-0.7, 0.7, 2).tolist()
        step = springs.step(pose, *target, FLOATS)
        moved = springs.moved(pose, step, FLOATS)
        found, *said = rigid_step(springs, pose, *target)
        assert found.angles == moved.angles
        assert (found.force_x, found.force_y) == (moved.force_x, moved.force_y)
        assert said == [step.off, step.error, step.is_least]
