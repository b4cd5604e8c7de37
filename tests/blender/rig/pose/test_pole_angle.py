# SPDX-License-Identifier: GPL-3.0-or-later
"""The pole angle at which a side of a chain faces its pole."""

import numpy as np
import pytest
from rigs import add_leg

from ik2d_addon.rig.chain.checks.bones import chain_bones, rest_joints
from ik2d_addon.rig.chain.planes import pole_side
from ik2d_addon.rig.pose.pole_angle import angle_to_side


@pytest.mark.parametrize("seed", range(6))
def test_a_side_faces_the_pole_at_its_angle_as_seen_along_the_chain(seed):
    side = np.random.default_rng(seed).normal(size=3)
    bones = chain_bones(add_leg(), "shin", 2)
    found = pole_side(bones[0], angle_to_side(bones, side))
    joints = rest_joints(bones)
    line = (joints[-1] - joints[0]) / np.linalg.norm(joints[-1] - joints[0])
    seen = [each - (each @ line) * line for each in (np.array(found), side)]
    found_way, way = (each / np.linalg.norm(each) for each in seen)
    assert found_way == pytest.approx(way, abs=1e-6)


def test_a_side_along_the_chain_has_no_angle():
    bones = chain_bones(add_leg(), "shin", 2)
    joints = rest_joints(bones)
    assert angle_to_side(bones, joints[-1] - joints[0]) is None
