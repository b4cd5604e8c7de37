# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets that can be moved, and those that cannot."""

from rigs import add_armature, add_target

from ik2d_addon.rig.pose.target_moves import why_fixed


def test_a_connected_bone_says_that_it_cannot_be_moved():
    armature = add_armature(
        {"root": ((0, 0, 0), (0, 0, 1), "", 0.0), "next": ((0, 0, 1), (0, 0, 2), "root", 0.0)}
    )
    assert "connected" in why_fixed(armature, "next")
    assert not why_fixed(armature, "root")


def test_a_driver_keeps_a_target_where_it_is_unless_it_is_muted():
    target = add_target({})
    target.driver_add("rotation_euler", 2)
    assert not why_fixed(target, "")
    driver = target.driver_add("location", 2)
    assert why_fixed(target, "") == "the location of 'Target' has a driver"
    driver.mute = True
    assert not why_fixed(target, "")
