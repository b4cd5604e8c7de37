# SPDX-License-Identifier: GPL-3.0-or-later
"""A foot as a chain's settings describe it: its axes are in the plane, its pivots from the ankle."""

import numpy as np
import pytest
from foot_rigs import plain_leg
from rigs import add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import problem_of, read_chain
from ik2d_addon.rig.chain.foot.foot import FOOT_NAMES, foot_values, ground_of


def test_axes_are_ahead_and_up():
    leg = plain_leg()
    foot = read_chain(leg.armature, leg.chain).foot
    assert foot.ahead == pytest.approx((0.0, -1.0, 0.0), abs=1e-6)
    assert foot.up == pytest.approx((0.0, 0.0, 1.0), abs=1e-6)
    assert foot.ankle == pytest.approx((0.0, 0.02, 0.1), abs=1e-6)
    assert foot.shape.ball == pytest.approx((0.17, -0.07), abs=1e-6)
    assert foot.shape.tip == pytest.approx((0.26, -0.08), abs=1e-6)
    assert foot.shape.heel[0] < 0.0 and foot.shape.heel[1] == pytest.approx(-0.08, abs=1e-6)


def test_a_turn_raises_the_heel():
    leg = plain_leg()
    foot = read_chain(leg.armature, leg.chain).foot
    turned = foot.turns(np.array((0.5,)))[0] @ foot.offsets(np.array(foot.shape.heel))
    assert turned[2] > foot.offsets(np.array(foot.shape.heel))[2]
    assert foot.turns(np.array(0.5)) @ foot.axis == pytest.approx(foot.axis)


def test_values_are_those_of_the_settings():
    leg = plain_leg()
    own = leg.chain.foot
    own.roll, own.toe, own.break_angle, own.use_ground = 0.1, 0.2, 0.3, True
    assert foot_values(own) == pytest.approx([float(getattr(own, name)) for name in FOOT_NAMES])
    assert read_chain(leg.armature, leg.chain).values[4:] == pytest.approx((0.1, 0.2, 0.3, 1.0))


def test_a_ground_counts_only_with_a_foot():
    leg = plain_leg()
    leg.chain.foot.ground = add_target({}, "Floor")
    assert ground_of(leg.chain) == (leg.chain.foot.ground, "")
    assert read_chain(leg.armature, leg.chain).roles["ground"] == ground_of(leg.chain)
    assert not read_chain(leg.armature, leg.chain).foot.has_surface
    leg.chain.foot.is_added = False
    assert ground_of(leg.chain) is None


def test_a_foot_whose_bones_are_all_left_alone_is_refused():
    leg = plain_leg("no toes")
    leg.armature.pose.bones["foot"].constraints.new('COPY_ROTATION').target = leg.control
    with pytest.raises(IK2DError, match="its constraint 'Copy Rotation' turns it.*remove the foot"):
        read_chain(leg.armature, leg.chain)
    assert "remove the foot" in problem_of(leg.armature, leg.chain)
