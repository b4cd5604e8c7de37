# SPDX-License-Identifier: GPL-3.0-or-later
"""What properties were before something was written to them comes back exactly."""

import pytest
from rigs import leg_with_target

from ik2d_addon.rig.animation.remembered import put_back, put_back_on_error, remembered


def properties():
    """Add a leg; return one property of each kind of it, and other values for these."""
    armature, _ = leg_with_target()
    bone, chain = armature.pose.bones["shin"], armature.ik2d.chains[0]
    bone.location = (0.1, -0.0, 1e-30)
    found = [(bone, "location"), (bone, "rotation_mode"), (chain, "hands_posed"), (chain, "bake_reached")]
    return found, [(1.0, 2.0, 3.0), 'ZYX', "hand", True]


def change(found, others):
    for (owner, name), value in zip(found, others, strict=True):
        setattr(owner, name, value)


def test_values_come_back_to_the_last_bit():
    found, others = properties()
    before = remembered(found)
    change(found, others)
    assert [value for _, _, value in remembered(found)] == others
    put_back(before)
    assert repr(remembered(found)) == repr(before)


def test_they_come_back_where_something_fails_and_stay_where_nothing_does():
    found, others = properties()
    before = repr(remembered(found))
    with pytest.raises(ZeroDivisionError), put_back_on_error(found):
        change(found, others)
        _ = 1 / 0
    assert repr(remembered(found)) == before
    with put_back_on_error(found):
        change(found, others)
    assert [value for _, _, value in remembered(found)] == others
