# SPDX-License-Identifier: GPL-3.0-or-later
"""One joint of plain CCD alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ik2d_addon.core import Chain, IK2DError, ccd_step, forward
from ik2d_addon.core.ccd.step import ccd_joint

ANGLES = st.lists(st.floats(-3.0, 3.0), min_size=4, max_size=4)


@given(angles=ANGLES, x=st.floats(-4.0, 4.0), y=st.floats(-4.0, 4.0))
def test_all_joints_from_tip_to_root_make_one_iteration(angles, x, y):
    chain = Chain(
        [1.0, 0.8, 0.6, 0.7], limits=[(-2, 2), (np.nan, np.nan), (-1, 1), (-3, 3)], weights=[1, 0.5, 1, 0.2]
    )
    angles = np.clip(angles, *np.nan_to_num(chain.ranges.T, neginf=-9, posinf=9))
    whole, _ = ccd_step(chain, angles, (x, y), tolerance=1e-15)
    for joint in (3, 2, 1, 0):
        angles = ccd_joint(chain, angles, (x, y), joint)
    assert np.abs(forward(chain, angles) - forward(chain, whole)).max() < 1e-9


def test_the_joint_points_the_tip_at_the_target_and_no_other_turns():
    chain, target = Chain([1.0, 1.0, 1.0]), np.array((0.5, 2.0))
    start = np.array((0.2, 0.4, -0.3))
    new = ccd_joint(chain, start, target, 1)
    assert (new[[0, 2]] == start[[0, 2]]).all() and new[1] != start[1]
    joints = forward(chain, new)
    along, aim = joints[3] - joints[1], target - joints[1]
    assert abs(along[0] * aim[1] - along[1] * aim[0]) < 1e-12 and along @ aim > 0


def test_others_stay_though_they_stand_outside_of_their_limits():
    chain = Chain([1.0, 1.0], limits=[(-0.1, 0.1), (-2.0, 2.0)])
    assert ccd_joint(chain, (0.5, 0.2), (0.0, 1.5), 1)[0] == 0.5


def test_a_straight_chain_with_its_target_on_the_line_is_locked():
    chain = Chain([1.2, 0.9])
    for joint in (1, 0):
        assert np.abs(np.sin(ccd_joint(chain, (0.0, 0.0), (0.6, 0.0), joint))).max() < 1e-12


@pytest.mark.parametrize("joint", [-1, 2])
def test_a_joint_that_is_not_there_is_refused(joint):
    with pytest.raises(IK2DError, match="joints 0 to 1"):
        ccd_joint(Chain([1.0, 1.0]), (0, 0), (1, 1), joint)
