# SPDX-License-Identifier: GPL-3.0-or-later
"""The values of drivers over times: by keys, between them too; and of targets by Blender."""

import bpy
import numpy as np
import pytest
from machine_rigs import TILT, add_machine, key_turns, make_linear
from machines import four_bar, landing_gear
from rigs import add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.mechanism.read import read_mechanism
from ik2d_addon.rig.mechanism.values import (
    SteppedTurns,
    driver_values,
    drivers_read,
    stepping,
    target_places,
    turning_axis,
)


def crank(mode='XYZ', turns=(0.0, 9.0), **ways):
    """Return a four-bar whose crank has keys on the frames from 1 on."""
    armature, mechanism = add_machine(four_bar(), mode=mode, **ways)
    armature.animation_data_clear()
    key_turns(armature, "crank", turns)
    make_linear(armature)
    return read_mechanism(armature, mechanism)


@pytest.mark.parametrize("mode", ['XYZ', 'ZYX', 'AXIS_ANGLE'])
def test_turns_are_those_of_the_curves_also_over_whole_turns(mode):
    values = driver_values(bpy.context.scene, crank(mode), [1.0, 1.5, 2.0, 9.0])
    assert values["crank"] == pytest.approx([0.0, 4.5, 9.0, 9.0], abs=1e-5)


def test_turns_of_quaternions_go_on():
    turns = np.linspace(0.0, 20.0, 21)
    times = np.arange(1.0, 22.0)
    values = driver_values(bpy.context.scene, crank('QUATERNION', turns, tilt=TILT), times.tolist())
    assert values["crank"] == pytest.approx(turns, abs=1e-5)


def test_a_bone_without_keys_has_the_turn_that_it_has():
    armature, mechanism = add_machine(four_bar())
    armature.animation_data_clear()
    armature.pose.bones["crank"].rotation_euler.z = 0.5
    values = driver_values(bpy.context.scene, read_mechanism(armature, mechanism), [1.0, 2.0])
    assert values["crank"] == pytest.approx([0.5, 0.5])


def test_a_ram_has_its_part_of_the_stroke():
    armature, mechanism = add_machine(landing_gear())
    armature.animation_data_clear()
    mechanism.drivers[0].length = 0.25
    mechanism.joints[-1].stroke = 1.0, 3.0
    values = driver_values(bpy.context.scene, read_mechanism(armature, mechanism), [1.0])
    assert values["ram"] == pytest.approx([1.5])


def askew(rig, times):
    """Return the drivers that their keys turn a little out of the plane."""
    with drivers_read(bpy.context.scene, rig) as drivers:
        return drivers.askew(times)


def test_keys_out_of_the_plane_are_told_apart_from_those_that_only_pass_it():
    rig = crank()
    assert askew(rig, [1.0, 2.0]) == []
    bone = rig.armature.pose.bones["crank"]
    for x, expected in ((0.001, ["crank"]), (0.2, None)):
        bone.rotation_euler = x, 0.0, 0.0
        bone.keyframe_insert("rotation_euler", frame=2)
        if expected:
            assert askew(rig, [1.0, 2.0]) == expected
        else:
            with pytest.raises(IK2DError, match="out of the mechanism's plane"):
                askew(rig, [1.0, 2.0])


def test_places_of_a_target_are_those_that_blender_evaluates_and_the_frame_stays():
    armature, mechanism = add_machine(four_bar(), base=True)
    armature.location = 1, 2, 3
    armature.pose.bones["base"].rotation_euler = 0.1, 0.2, 0.3
    target = add_target({1: (0, 0, 0), 3: (2, 1, 4)})
    bpy.context.scene.frame_set(7)
    rig = read_mechanism(armature, mechanism)
    flat = target_places(bpy.context.scene, rig, (target, ""), [1.0, 2.0, 2.5])
    assert bpy.context.scene.frame_current == 7 and flat.shape == (3, 2)
    bpy.context.scene.frame_set(2, subframe=0.5)
    base = armature.pose.bones["base"]
    held = armature.matrix_world @ base.matrix @ base.bone.matrix_local.inverted()
    expected = rig.plane.project(np.array(held.inverted() @ target.matrix_world.translation))
    assert flat[2] == pytest.approx(expected, abs=1e-5)


def test_a_hidden_armature_is_evaluated_and_bones_with_drivers_drive_by_their_evaluated_pose():
    armature, mechanism = add_machine(four_bar())
    armature.hide_viewport = True
    with stepping(bpy.context.scene, armature) as (show, _):
        turned = [show(time).pose.bones["crank"].matrix.copy() for time in (1.0, 5.0)]
    assert turned[0] != turned[1]
    armature.pose.bones["crank"].driver_add("rotation_euler", 2).driver.expression = "2.5 * frame"
    rig = read_mechanism(armature, mechanism)
    assert rig.controlled == {"crank"} and "crank" not in rig.turned_bones
    values = driver_values(bpy.context.scene, rig, [1.0, 1.5, 4.0, 9.0])["crank"]
    assert np.abs(np.diff(values)) == pytest.approx([1.25, 6.25, 12.5], abs=1e-5)
    stepped = SteppedTurns(bpy.context.scene, rig)
    assert stepped.at([2.0, 3.0])["crank"] == pytest.approx(stepped.at([2.0, 2.5, 3.0])["crank"][::2])
    with drivers_read(bpy.context.scene, rig) as drivers:
        assert drivers.key_times() == pytest.approx(range(1, 26))


def test_values_at_some_of_the_times_are_those_that_were_read_at_all_of_them():
    rig, times = crank('ZYX', np.linspace(0.0, 7.0, 8), tilt=TILT), np.linspace(1.0, 8.0, 50)
    with drivers_read(bpy.context.scene, rig) as drivers:
        each = np.asarray(drivers.values(times.tolist())["crank"])
        for rows in (slice(0, None, 3), slice(7, 20), slice(None)):
            assert np.asarray(drivers.values(times[rows].tolist())["crank"]) == pytest.approx(each[rows])
        aside = drivers.values([1.3, 2.7])["crank"]
    assert aside == pytest.approx(driver_values(bpy.context.scene, rig, [1.3, 2.7])["crank"])


def test_values_that_are_no_numbers_are_refused_by_their_frame():
    rig = crank(turns=(0.0, 1.0, 2.0))
    (curve,) = [one for one in existing_fcurves(rig.armature) if one.array_index == 2]
    curve.keyframe_points[1].co.y = np.nan
    with pytest.raises(IK2DError, match="'crank' has no finite value at frame 2;"):
        driver_values(bpy.context.scene, rig, [1.0, 1.5, 2.0, 2.5, 3.0])


def test_the_axis_is_that_of_the_plane_in_the_bone():
    rig = crank(roll=0.7, tilt=TILT)
    for bone in rig.bones:
        there = rig.placed[bone].axes @ turning_axis(rig, bone)
        assert there == pytest.approx(rig.plane.normal, abs=1e-6)
