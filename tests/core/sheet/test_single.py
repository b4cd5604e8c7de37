# SPDX-License-Identifier: GPL-3.0-or-later
"""The pose of least bend within limits of one target in plain numbers is that of the arrays."""

import numpy as np
import pytest

from benchmarks.limits import RIGS
from ik2d_addon.core import Chain, forward
from ik2d_addon.core.even.solve import springs_within
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.core.sheet.descent import rotated
from ik2d_addon.core.sheet.sheet import sheet_of
from ik2d_addon.core.sheet.single import SingleSheet

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("name", ["bird's leg", "finger"])
def test_the_least_pose_is_that_of_the_arrays(name, free):
    lengths, rest, ranges = RIGS[name]
    ranges = np.radians(ranges) if not free else np.vstack(([-np.inf, np.inf], np.radians(ranges[1:])))
    chain, rng = Chain(lengths, limits=ranges), np.random.default_rng(5)
    low, high = np.clip(ranges, -3.0, 3.0).T
    points = rotated(
        forward(chain, rng.uniform(low, high, (100, len(chain))))[:, -1].T / chain.reach[1],
        -np.radians(rest[0]),
    )
    numbers, slide_weight = springs_within(chain, np.radians(rest))
    sheet = sheet_of(numbers, True, slide_weight)
    single, tried, reached = SingleSheet(sheet), sheet.tried(points), np.zeros(100, np.bool_)
    reached[tried.rows[tried.done]] = True
    assert reached.sum() > 80
    for asked in (0.0, 1.0):
        sides = np.full(100, -1.0)
        found = sheet.least(sheet.tried(points), points, sides, np.full(100, asked), reached)
        for k, point in enumerate(points.T.tolist()):
            pose = single.least(*point, -1.0, asked)
            assert (pose is not None) == reached[k]
            if pose is not None:
                assert np.abs(wrapped(pose.angles - found.poses.angles[:, k])).max() < 1e-12


def test_a_target_that_no_pose_reaches_has_none():
    chain = Chain([1.0] * 4, [(-0.2, 0.2)] * 4)
    numbers, slide_weight = springs_within(chain, np.zeros(4))
    single = SingleSheet(sheet_of(numbers, True, slide_weight))
    assert single.least(-0.5, 0.0, 1.0, 0.0) is None
