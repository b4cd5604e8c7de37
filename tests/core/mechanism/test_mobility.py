# SPDX-License-Identifier: GPL-3.0-or-later
"""Freedoms, by Gruebler's count and by rank, and in words."""

import numpy as np
import pytest
from machines import MACHINES, excavator, four_bar, pantograph, pinned

from ik2d_addon.core import IK2DError, Mechanism


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_machines_have_as_many_freedoms_as_drivers(make):
    found = make().mechanism.mobility()
    assert found.gruebler == found.freedoms == found.drivers and found.redundant == found.left == 0
    assert found.fault == "" and found.may_drive == ()


def test_freedoms_and_drivers_are_counted_in_words():
    assert excavator().mechanism.mobility().words() == "3 freedoms, 3 drivers"


def without_drivers(mechanism):
    return Mechanism(mechanism.bodies, mechanism.joints)


def test_a_freedom_that_is_left_is_told_with_what_may_drive_it():
    free = without_drivers(four_bar().mechanism)
    assert free.mobility().words() == "1 freedom left: choose what drives"
    assert free.mobility().may_drive == ("crank", "coupler", "rocker")
    half = without_drivers(pantograph().mechanism).drive("arm")
    assert half.mobility().may_drive == ("forearm", "inner")
    with pytest.raises(IK2DError, match="^1 freedom left: choose what drives$"):
        half.solve({})


def test_a_driver_too_many_is_told_with_the_pair_that_disagrees():
    both = four_bar().mechanism.drive("rocker")
    assert both.mobility().words() == "2 drivers for 1 freedom: take away 'crank' or 'rocker'"
    with pytest.raises(IK2DError, match="take away 'crank' or 'rocker'"):
        both.solve({"crank": 0.1})
    arms = excavator().mechanism.drive("stick", "boom")
    assert "take away 'ram stick' or 'stick'" in arms.mobility().words()


def wheels(middle):
    pins = [(0, "w1", 0), ("w1", "rod", 1j), ("rod", "w3", 4 + 1j), ("w3", 0, 4)]
    return pinned(*pins, (0, "w2", middle), ("w2", "rod", 2 + 1j)).drive("w1")


def test_a_joint_more_than_needed_agrees_or_jams():
    found = wheels(2.0).mobility()
    assert (found.gruebler, found.freedoms, found.redundant) == (0, 1, 1)
    assert found.words() == "1 freedom, 1 driver; more joints than needed, which agree (1 equation)"
    found = wheels(2.05).mobility()
    assert (found.gruebler, found.freedoms, found.redundant) == (0, 0, 0)
    assert found.words() == "It jams: the joint of 'w2' and 'rod' is 0.051 off"
    with pytest.raises(IK2DError, match="It jams"):
        wheels(2.05).solve({"w1": 1.0})


def test_a_frame_of_three_bodies_jams():
    frame = pinned((0, "a", 0), ("a", "b", 1 + 1j), ("b", 0, 2)).drive("a")
    assert frame.mobility().words() == "It jams: no joint lets it move"


def test_a_rest_pose_that_is_a_dead_point_is_told_with_its_bodies():
    toggle = pinned((0, "a", 0), ("a", "b", 1j), ("b", "c", 1 + 1j), ("c", 0, 3 + 1j)).drive("a")
    words = "The rest pose is a dead point of 'b' and 'c': move it a little to the side that is meant"
    assert toggle.mobility().words() == words
    with pytest.raises(IK2DError, match=f"^{words}$"):
        toggle.solve({"a": np.linspace(0.0, 1.0, 5)})
    # By rank alone, a freedom more: Gruebler knows better.
    assert toggle.mobility().gruebler == 1


def test_a_dead_rest_pose_of_newtons_group_is_told():
    # Stephenson's far link in line with the link that it pulls.
    pins = [(0, "crank", 0), ("crank", "coupler", 1j), ("coupler", "rocker", 2.3 + 1.9j), ("rocker", 0, 3)]
    pins += [("coupler", "link", 0.5 + 3j), ("link", "far", -0.5 + 4j), ("far", 0, -1.5 + 5j)]
    found = pinned(*pins).drive("far").mobility()
    assert found.words().startswith("The rest pose is a dead point of") or found.fault == ""
