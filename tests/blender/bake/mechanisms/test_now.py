# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose This Frame poses mechanisms as well, as a bake keys them there."""

import bpy
import numpy as np
import pytest
from machine_rigs import TILT, add_machine, set_turn
from machines import excavator, four_bar, jansen_leg, toggle_clamp
from rigs import add_target

from ik2d_addon.bake import bake, solve
from ik2d_addon.chains import drive
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.mechanism.read import read_mechanism
from ik2d_addon.rig.mechanism.values import turning_axis


def pose(armature):
    """Return the evaluated pose matrices (bones, 4, 4)."""
    bpy.context.view_layer.update()
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([bone.matrix for bone in shown.pose.bones])


@pytest.mark.parametrize("make", [jansen_leg, excavator, toggle_clamp])
def test_a_frame_is_posed_as_it_is_baked_and_told(make):
    armature, mechanism = add_machine(make(), 13, tilt=TILT)
    bpy.context.scene.frame_set(6)
    report = solve(armature)
    (told,) = report.mechanisms
    assert told.is_closed and told.max_open < 2e-6 and told.name == "machine"
    found = pose(armature)
    bake(armature)
    bpy.context.scene.frame_set(6)
    assert np.abs(pose(armature) - found).max() < 1e-5 * told.size


def test_a_driver_without_a_key_is_as_it_is_turned_and_a_target_as_it_is_moved():
    armature, mechanism = add_machine(four_bar())
    axis = turning_axis(read_mechanism(armature, mechanism), "crank")
    bpy.context.view_layer.update()  # after which what is not keyed stays
    set_turn(armature.pose.bones["crank"], axis, 0.4)
    assert solve(armature).mechanisms[0].is_closed
    assert np.dot(armature.pose.bones["crank"].rotation_euler, axis) == pytest.approx(0.4)
    tail = armature.pose.bones["coupler"].tail.copy()
    mechanism.drivers.clear()
    armature.animation_data_clear()
    target = add_target({1: tail})
    target.hide_viewport = True
    drive(mechanism, "coupler", target)
    set_turn(armature.pose.bones["crank"], axis, 0.1)
    solve(armature)
    bpy.context.view_layer.update()
    assert (armature.pose.bones["coupler"].tail - tail).length < 1e-4


def test_chains_by_name_leave_mechanisms_alone_and_names_are_checked():
    armature, _mechanism = add_machine(four_bar())
    bpy.context.scene.frame_set(9)
    with pytest.raises(IK2DError):
        solve(armature, mechanisms=["other"])
    with pytest.raises(IK2DError):
        solve(armature, ["Leg"])
    rocker = armature.pose.bones["rocker"].rotation_euler[:]
    assert rocker == (0.0, 0.0, 0.0)
    assert solve(armature, mechanisms=["machine"]).mechanisms[0].is_closed
    assert armature.pose.bones["rocker"].rotation_euler[:] != rocker
