# SPDX-License-Identifier: GPL-3.0-or-later
"""Which mechanisms a bake takes, and why some are left out."""

import pytest
from machine_rigs import add_machine
from machines import four_bar

from ik2d_addon.bake.mechanisms.request import checked_mechanisms, read_mechanisms, takes_mechanisms
from ik2d_addon.chains import add_mechanism, add_pin, drive
from ik2d_addon.core import IK2DError


def test_without_names_all_are_taken_and_with_names_of_chains_none():
    assert checked_mechanisms(None, None) is None and checked_mechanisms(None, ["leg"]) == []
    assert checked_mechanisms(["a"], ["leg"]) == ["a"]
    with pytest.raises(IK2DError, match=r"write \['a'\]"):
        checked_mechanisms("a", None)


def test_disabled_ones_are_taken_by_name_alone():
    armature, mechanism = add_machine(four_bar())
    mechanism.enabled = False
    assert not takes_mechanisms(armature, None) and takes_mechanisms(armature, ["machine"])
    assert read_mechanisms(armature, None, []) == ([], [])
    assert [one.name for one in read_mechanisms(armature, ["machine"], [])[0]] == ["machine"]


def test_of_two_that_share_a_bone_the_second_is_left_out_and_refused_by_name():
    armature, _ = add_machine(four_bar())
    second = add_mechanism(armature, ["crank", "coupler", "rocker"], "second")
    add_pin(second, "coupler", 'TAIL', "rocker")
    drive(second, "crank")
    found, faults = read_mechanisms(armature, None, [])
    assert [one.name for one in found] == ["machine"]
    assert faults == ["'machine' and 'second' share the bone 'crank'; disable one of them"]
    with pytest.raises(IK2DError, match="share the bone"):
        read_mechanisms(armature, ["machine", "second"], [])
