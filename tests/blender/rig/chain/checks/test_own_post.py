# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of a first bone that is its chain's post, for its locks and its rotation mode."""

import pytest
from post_rigs import MODES, gimbal, hinge_first, turntable

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.own_post import refuse_held


def test_modes_that_turn_the_post_first_are_refused_where_the_third_axis_is_locked():
    made = gimbal(1, exact=True)
    made.post.lock_rotation[3 - made.axis - made.hinge] = True
    made.post.lock_rotations_4d = False
    chain = made.add_chain()
    good = hinge_first(made.hinge, made.axis)
    for mode in MODES:
        made.post.rotation_mode = mode
        if mode in good:
            assert read_chain(made.armature, chain).swing is not None
            continue
        with pytest.raises(IK2DError, match="does not turn one after the other; set that to"):
            read_chain(made.armature, chain)
    made.post.lock_rotation = (False,) * 3
    assert read_chain(made.armature, chain).swing is not None


def test_locked_channels_off_their_rest_are_refused():
    made, chain, _ = turntable(2)
    made.post.rotation_mode = 'XYZ'
    assert read_chain(made.armature, chain).swing is not None
    made.post.rotation_euler[made.axis - 1] = 0.3
    with pytest.raises(IK2DError, match="locks hold rotation channels of its post 'post' off their rest"):
        refuse_held(made.post)
    with pytest.raises(IK2DError, match="its post 'post'"):
        read_chain(made.armature, chain)
