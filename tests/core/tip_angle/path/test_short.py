# SPDX-License-Identifier: GPL-3.0-or-later
"""Three bones along a path: the triangles of each frame with the fewest jumps."""

from itertools import pairwise, product

import numpy as np

from benchmarks.pose_paths import PosePath, path_of
from ik2d_addon.core import Chain
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.core.tip_angle.arm import Arm
from ik2d_addon.core.tip_angle.path.short import next_to, short_path


def test_no_other_choice_of_triangles_has_fewer_jumps() -> None:
    rng = np.random.default_rng(3)
    chain = Chain([0.5, 0.3, 0.2], [[-9.0, 9.0], [-1.0, 2.0], [-1.5, 1.5]])
    arm = Arm.of(chain, np.zeros(3))
    poses = rng.uniform(*np.clip(chain.ranges, -1.5, 1.5).T, (6, 3))
    tips, headings = PosePath(chain, poses).goals
    found = short_path([arm], tips, headings, np.ones(6), [1] * 6, None, False)
    both = [
        [next_to(arm, tip, heading, np.array([0.0, side, 0.0]), False) for side in (2.0, -2.0)]
        for tip, heading in zip(tips, headings, strict=True)
    ]

    def jumps(path) -> int:
        return sum(np.abs(wrapped(b - a)).max() > 0.26 for a, b in pairwise(path))

    assert jumps(found) == min(jumps(path) for path in product(*both))


def test_path_goes_on_from_its_start_and_takes_the_side_asked_for() -> None:
    chain, poses = path = path_of(np.random.default_rng(1), 3, False, 30)
    arm = Arm.of(chain, np.zeros(3))
    tips, headings = path.goals
    for side in (1.0, -1.0):
        found = short_path([arm], tips[:1], headings[:1], np.array([side]), [1], None, False)
        assert found[0, 1] * side > 0.0
    found = short_path([arm], tips, headings, np.ones(30), [1] * 30, poses[0], False)
    assert np.abs(wrapped(found[0] - poses[0])).max() <= 0.26
