# SPDX-License-Identifier: GPL-3.0-or-later
"""What properties were before something was written to them comes back exactly."""

import pytest
from rigs import leg_with_target

from ik2d_addon.rig.animation.remembered import (
    put_back,
    put_back_after,
    put_back_on_error,
    remembered,
    set_values,
    values_now,
)


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


def test_they_come_back_after_a_while_whether_something_fails_or_not():
    found, others = properties()
    before = repr(remembered(found))
    with put_back_after(found):
        change(found, others)
    assert repr(remembered(found)) == before
    with pytest.raises(ZeroDivisionError), put_back_after(found):
        change(found, others)
        _ = 1 / 0
    assert repr(remembered(found)) == before


def test_channels_come_back_by_their_paths():
    armature, _ = leg_with_target()
    armature["wind"] = 0.1
    armature.pose.bones["shin"].location = (0.1, -0.0, 1e-30)
    places = [
        ('["wind"]', 0),
        ("location", 2),
        ('pose.bones["shin"].location', 1),
        ('pose.bones["shin"].rotation_mode', 0),
    ]
    before = values_now((armature, *place) for place in places)
    set_values((armature, *place, value) for place, value in zip(places, (2.0, 3.0, 4.0, 'XYZ'), strict=True))
    now = values_now((armature, *place) for place in places)
    assert [value for *_, value in now] == [2.0, 3.0, 4.0, 'XYZ']
    set_values(before)
    assert repr(values_now((armature, *place) for place in places)) == repr(before)
