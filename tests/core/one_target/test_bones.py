# SPDX-License-Identifier: GPL-3.0-or-later
"""Forward kinematics of one pose in plain numbers, against that of the arrays."""

from math import hypot

import numpy as np
import pytest

from ik2d_addon.core import Chain, forward
from ik2d_addon.core.one_target.bones import PlainBones, links_of

RNG = np.random.default_rng(7)


def some_bones(count: int) -> PlainBones:
    """Return a chain of random lengths, bent at random before anything turns."""
    chain = Chain(RNG.uniform(0.5, 1.5, count))
    unturned = RNG.uniform(-1.0, 1.0, count)
    return PlainBones(chain, unturned, links_of(chain, unturned), chain.tolerance_or_default(None))


@pytest.mark.parametrize("count", [1, 2, 5, 12])
def test_the_tip_is_that_of_forward(count: int) -> None:
    bones = some_bones(count)
    for turns in RNG.uniform(-3.0, 3.0, (20, count)):
        tip = forward(bones.chain, np.array(bones.unturned) + turns)[-1]
        assert bones.tip(turns.tolist()) == pytest.approx(tip, abs=1e-14 * bones.outer)


def test_the_arm_is_the_tip_as_the_turned_root_has_it() -> None:
    bones = some_bones(4)
    turns = RNG.uniform(-3.0, 3.0, 4).tolist()
    assert hypot(*bones.arm(turns)) == pytest.approx(hypot(*bones.tip(turns)), abs=1e-14 * bones.outer)
    assert bones.before_root(*bones.tip([0.0, *turns[1:]])) == pytest.approx(bones.arm(turns), abs=1e-14)


@pytest.mark.parametrize("lengths", [(1.0, 1.0), (1.0, 0.4)])
def test_a_point_out_of_reach_is_brought_to_its_edge_and_keeps_its_direction(lengths) -> None:
    chain = Chain(lengths)
    bones = PlainBones(chain, np.zeros(2), links_of(chain, np.zeros(2)), 1e-6)
    inner, outer = chain.reach
    for distance in (0.1, 0.59, 1.0, 1.39, 5.0):
        place = bones.into_reach(0.6 * distance, 0.8 * distance)
        assert hypot(*place) == pytest.approx(min(max(distance, inner), outer))
        assert place[1] * 0.6 == pytest.approx(place[0] * 0.8)
