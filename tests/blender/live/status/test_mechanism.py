# SPDX-License-Identifier: GPL-3.0-or-later
"""The status of a live mechanism in words, and whether its joints are closed, as Blender shows it."""

import bpy
import numpy as np
from machine_rigs import add_machine, set_turn
from machines import four_bar, landing_gear
from rigs import add_target

from ik2d_addon.chains import drive
from ik2d_addon.rig.mechanism.read import read_mechanism
from ik2d_addon.rig.mechanism.values import turning_axis


def test_one_that_is_not_live_says_nothing():
    _, mechanism = add_machine(four_bar())
    assert mechanism.live_status == "" and not mechanism.live_closed


def test_joints_that_something_else_opens_are_told_with_their_length():
    armature, mechanism = add_machine(four_bar())
    mechanism.live = True
    bpy.context.scene.frame_set(3)
    assert mechanism.live_closed and mechanism.live_status == "All joints closed"
    held = armature.pose.bones["rocker"].constraints.new('LIMIT_ROTATION')
    held.use_limit_x = held.use_limit_y = held.use_limit_z = True
    held.owner_space = 'LOCAL'
    bpy.context.view_layer.update()
    assert not mechanism.live_closed and mechanism.live_status.startswith("open by ")


def test_the_length_of_a_ram_that_is_held():
    armature, mechanism = add_machine(landing_gear(), 5)
    armature.animation_data_clear()
    mechanism.joints[-1].stroke = 0.1, 9.0
    mechanism.drivers[0].length = 1.0
    mechanism.live = True
    bpy.context.scene.frame_set(2)
    assert mechanism.live_closed and mechanism.live_status.startswith("'ram' is held at ")
    barrel, rod = (armature.data.bones[name].head_local for name in ("ram", "ram rod"))
    mechanism.drivers[0].length = ((rod - barrel).length - 0.1) / 8.9
    bpy.context.scene.frame_set(3)
    assert "held" not in mechanism.live_status and mechanism.live_closed


def test_a_target_that_is_not_reached_is_told_with_its_distance():
    armature, mechanism = add_machine(four_bar())
    armature.animation_data_clear()
    mechanism.drivers.clear()
    x, _, z = armature.data.bones["coupler"].tail_local
    drive(mechanism, "coupler", add_target({1: (x + 3.0, 0, z + 9.0)}))
    mechanism.live = True
    bpy.context.scene.frame_set(2)
    assert mechanism.live_closed and mechanism.live_status.endswith("off its target")


def test_a_machine_at_rest_in_rest_position_says_so():
    armature, mechanism = add_machine(four_bar())
    mechanism.live = True
    armature.data.pose_position = 'REST'
    bpy.context.scene.frame_set(2)
    assert "rest pose" in mechanism.live_status and not mechanism.live_closed
    armature.data.pose_position = 'POSE'
    set_turn(
        armature.pose.bones["crank"], turning_axis(read_mechanism(armature, mechanism), "crank"), np.pi / 3.0
    )
    bpy.context.view_layer.update()
    assert mechanism.live_closed
