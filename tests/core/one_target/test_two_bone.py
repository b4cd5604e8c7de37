# SPDX-License-Identifier: GPL-3.0-or-later
"""The analytic solve in plain numbers gives what `solve_two_bone` gives, and aims again at bent bones."""

from math import hypot

import numpy as np
import pytest

from ik2d_addon.core import Chain, solve_two_bone
from ik2d_addon.core.inputs import wrapped
from ik2d_addon.core.one_target.bones import PlainBones, links_of
from ik2d_addon.core.one_target.two_bone import TwoBonePose

RNG = np.random.default_rng(3)


@pytest.mark.parametrize("bend", [1.0, -1.0])
def test_turns_are_those_of_the_arrays(bend: float) -> None:
    chain, unturned = Chain((1.0, 0.7)), np.array((0.4, -0.8))
    pose = TwoBonePose(PlainBones(chain, unturned, links_of(chain, unturned), 1e-6), bend)
    targets = RNG.uniform(-2.5, 2.5, (200, 2))
    solved = solve_two_bone(chain, targets, bend=bend)
    for target, angles, status in zip(targets.tolist(), solved.angles, solved.status, strict=True):
        turns = pose.turns(*target, reached=status == 0)
        assert np.abs(wrapped(unturned + turns - angles)).max() < 1e-7  # where it is nearly straight


def test_a_target_at_the_root_leaves_the_first_bone() -> None:
    chain, unturned = Chain((1.0, 1.0)), np.array((0.4, -0.8))
    pose = TwoBonePose(PlainBones(chain, unturned, links_of(chain, unturned), 1e-6), 1.0)
    assert pose.turns(0.0, 0.0, reached=True)[0] == 0.0


def test_what_links_miss_by_is_aimed_at_again() -> None:
    chain, unturned = Chain((1.0, 0.7)), np.array((0.4, -0.8))
    links = [
        tuple(np.array(link) * (1.0 + 2e-5 * RNG.uniform(-1, 1, 6))) for link in links_of(chain, unturned)
    ]
    bones = PlainBones(chain, unturned, links, 1e-6)
    pose = TwoBonePose(bones, 1.0)
    off = [
        hypot(*np.subtract(bones.tip(pose.turns(x, y, reached=True)), (x, y)))
        for x, y in ((1.2, 0.3), (-0.5, 0.6), (0.1, -1.1))
    ]
    once = hypot(*np.subtract(bones.tip(pose.turns(1.2, 0.3, reached=False)), (1.2, 0.3)))
    assert max(off) < 1e-8 < 1e-6 < once
