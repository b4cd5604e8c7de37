# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames, the time of an action, and the time of a strip."""

import bpy
import pytest
from keyed_legs import add_strip, euler_leg, key_euler

from ik2d_addon.rig.animation.times import action_time, animation_times, strip_times


def test_frames_take_place_where_the_scene_maps_them():
    scene = bpy.context.scene
    assert animation_times(scene, [1, 2.5]) == [1, 2.5]
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    assert animation_times(scene, [1, 2.5, 100]) == [0.5, 1.25, 50]


def test_frames_are_told_in_the_time_of_the_action_that_is_played():
    armature, scene = euler_leg(), bpy.context.scene
    assert action_time(armature, scene, 15) == 15
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    assert action_time(armature, scene, 15) == 7.5
    key_euler(armature, frames=(1, 6))
    add_strip(armature)
    assert action_time(armature, scene, 30) == pytest.approx(3, abs=1e-3)
    assert strip_times(armature, [11, 15, 21]).tolist() == pytest.approx([1, 3, 6], abs=1e-3)
