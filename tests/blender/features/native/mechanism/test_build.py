# SPDX-License-Identifier: GPL-3.0-or-later
"""Mechanisms on drivers, by Blender's evaluated pose."""

import bpy
import numpy as np
import pytest
from file_contents import changes, contents
from machine_rigs import TILT, add_machine, evaluated_openings, key_turns, make_linear
from machines import (
    coupled_wheels,
    excavator,
    far_stephenson,
    four_bar,
    geared_five_bar,
    jansen_leg,
    landing_gear,
    pantograph,
    peaucellier,
    scissor_lift,
    slider_crank,
    stephenson,
    toggle_clamp,
    watt,
    whitworth,
)

from ik2d_addon.bake import bake
from ik2d_addon.chains import make_native, remove_native
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.value_keys import existing_drivers
from ik2d_addon.rig.chain.native_state import acts, is_native

MACHINES = [
    excavator,
    four_bar,
    jansen_leg,
    landing_gear,
    pantograph,
    peaucellier,
    scissor_lift,
    slider_crank,
    stephenson,
    toggle_clamp,
    watt,
    whitworth,
]
WAYS = [
    {},
    {"mode": 'QUATERNION', "depth": 0.02, "base": True, "roll": 0.3},
    {"mode": 'AXIS_ANGLE', "scale": 0.01, "tilt": TILT},
    {"mode": 'ZYX', "scale": 100.0, "tilt": TILT, "roll": 1.0},
]
KINDS = ("objects", "armatures", "actions")
TIMES = np.arange(1.0, 13.0, 0.5)
# Of the size: 32 bits of driver values, and rest matrices that are off by 1e-5.
CLOSED = 1e-5


def poses(armature, times=TIMES) -> np.ndarray:
    """Return the evaluated pose matrices (times, bones, 4, 4)."""
    found = []
    for time in times:
        bpy.context.scene.frame_set(int(time // 1), subframe=float(time % 1))
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([np.array(bone.matrix) for bone in bones])
    return np.array(found)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.get("mode", "XYZ"))
@pytest.mark.parametrize("machine", MACHINES)
def test_joints_are_closed_on_frames_and_between(machine, way):
    armature, mechanism = add_machine(machine(), frames=13, **way)
    make_native(armature, mechanism)
    assert evaluated_openings(mechanism, TIMES).max() <= CLOSED
    curves = [curve for ob in (armature, mechanism.native_stand) for curve in existing_drivers(ob)]
    assert curves and all(curve.driver.is_simple_expression and curve.is_valid for curve in curves)


@pytest.mark.parametrize("machine", MACHINES)
def test_the_pose_is_that_of_a_bake(machine):
    armature, mechanism = add_machine(machine(), frames=13, tilt=TILT)
    mechanism.dead = 'STOP'
    make_native(armature, mechanism)
    frames = np.arange(1.0, 14.0)
    native = poses(armature, frames)
    remove_native(armature, mechanism)
    report = bake(armature)
    size = report.mechanisms[0].size
    baked = poses(armature, frames)
    assert np.abs(native[..., :3, 3] - baked[..., :3, 3]).max() <= 2e-5 * size
    # A triangle that is nearly flat turns by the root of what 32 bits add to its sides.
    assert np.abs(native[..., :3, :3] - baked[..., :3, :3]).max() <= (
        1e-3 if machine is toggle_clamp else 1e-4
    )


def test_a_triangle_that_is_on_its_other_side_stays_there():
    armature, mechanism = add_machine(four_bar(), frames=13)
    mechanism.bones["rocker"].other_side = True
    make_native(armature, mechanism)
    native = poses(armature, [4.0])
    remove_native(armature, mechanism)
    bake(armature)
    assert np.abs(native - poses(armature, [4.0])).max() <= 1e-5


@pytest.mark.parametrize("machine", [jansen_leg, excavator, toggle_clamp])
def test_removing_leaves_all_as_it_was(machine, tmp_path):
    armature, mechanism = add_machine(machine(), frames=5)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "machine.blend"))
    contents(KINDS)  # reading makes the groups that pointers are to
    before = contents(KINDS)
    make_native(armature, mechanism)
    assert is_native(mechanism) and acts(mechanism)
    bpy.context.view_layer.update()
    remove_native(armature, mechanism)
    bpy.context.view_layer.update()
    assert not is_native(mechanism)
    machine = "OBJECT:Rig.ik2d.mechanisms['machine']['native_"
    settings = "OBJECT:Rig.ik2d['mechanisms']", "OBJECT:Rig['ik2d']", machine
    # Pointers that were set once are stored as nothing.
    assert not [way for way in changes(before, contents(KINDS)) if not way.startswith(settings)]


@pytest.mark.parametrize(
    "machine, words",
    [
        (geared_five_bar, "Gears cannot be on drivers"),
        (far_stephenson, "hold one another in no triangle"),
        (coupled_wheels, "goes through dead points, as only a bake can"),
    ],
)
def test_what_cannot_be_is_refused_with_nothing_changed(machine, words):
    armature, mechanism = add_machine(machine(), frames=5)
    count = len(bpy.data.objects)
    with pytest.raises(IK2DError, match=words):
        make_native(armature, mechanism)
    assert len(bpy.data.objects) == count and not existing_drivers(armature) and not is_native(mechanism)


def test_a_bone_that_a_constraint_turns_is_refused():
    armature, mechanism = add_machine(four_bar(), frames=5)
    armature.pose.bones["rocker"].constraints.new('LIMIT_ROTATION').name = "Mine"
    with pytest.raises(IK2DError, match="the constraint 'Mine' turns 'rocker' too"):
        make_native(armature, mechanism)
    armature.pose.bones["rocker"].constraints[0].mute = True
    make_native(armature, mechanism)


@pytest.mark.parametrize("way", WAYS[:1] + WAYS[2:3], ids=lambda way: way.get("mode", "XYZ"))
def test_what_drives_stops_at_its_dead_points(way):
    armature, mechanism = add_machine(toggle_clamp(), frames=1, **way)
    armature.animation_data_clear()
    key_turns(armature, "handle", np.linspace(0.0, 0.5, 13))
    native = make_native(armature, mechanism)
    assert any("is not eased into them" in warning for warning in native.warnings)
    assert evaluated_openings(mechanism, TIMES).max() <= CLOSED
    axis = np.array(armature["normal"])
    turned = poses(armature)[:, list(armature.pose.bones.keys()).index("handle"), :3, :3]
    rest = np.array(armature.data.bones["handle"].matrix_local)[:3, :3]
    across = np.cross(axis, rest[:, 1])
    turns = np.arctan2(turned[:, :, 1] @ across, turned[:, :, 1] @ rest[:, 1])
    assert turns.max() == pytest.approx(0.2369546, abs=1e-5), "keyed far beyond"


def test_a_driver_that_stops_about_no_axis_of_its_own_is_refused():
    armature, mechanism = add_machine(toggle_clamp(), frames=5)
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["handle"].roll += 0.4
    bpy.ops.object.mode_set(mode='OBJECT')
    with pytest.raises(IK2DError, match="recalculate its roll"):
        make_native(armature, mechanism)
    assert not is_native(mechanism) and not existing_drivers(armature)
    assert [ob.type for ob in bpy.data.objects].count('EMPTY') == 0
    assert not any(len(bone.constraints) for bone in armature.pose.bones)


def test_a_rams_length_that_its_loop_cannot_have_is_eased_as_a_bake_does():
    armature, mechanism = add_machine(landing_gear(), frames=13)
    mechanism.softness = 0.1
    ram = next(joint for joint in mechanism.joints if joint.kind == 'RAM')
    ram.stroke = 0.2, 1.4
    path = mechanism.drivers[0].path_from_id("length")
    armature.animation_data_clear()
    for frame, value in ((1, 0.0), (13, 1.0)):
        mechanism.drivers[0].length = value
        armature.keyframe_insert(path, frame=frame)
    make_linear(armature)
    make_native(armature, mechanism)
    frames = np.arange(1.0, 14.0)
    assert evaluated_openings(mechanism, frames).max() <= CLOSED
    native = poses(armature, frames)
    remove_native(armature, mechanism)
    report = bake(armature).mechanisms[0]
    assert report.held.any()
    off = np.abs(native - poses(armature, frames))[..., :3, 3].max(axis=(1, 2))
    assert off.max() <= 1e-3 * report.size and np.median(off) <= 1e-5 * report.size


def test_a_rams_length_is_a_control_with_its_keys():
    armature, mechanism = add_machine(landing_gear(), frames=13)
    make_native(armature, mechanism)
    controls = mechanism.native_stand
    assert controls["ram length"] == pytest.approx(mechanism.drivers[0].length)
    bpy.context.scene.frame_set(7)
    first = poses(armature, [7.0])
    assert np.abs(first - poses(armature, [2.0])).max() > 0.01, "its keys move it"
    controls.animation_data.action = None
    controls["ram length"] = 0.3
    controls.update_tag()
    bpy.context.view_layer.update()
    assert evaluated_openings(mechanism, [7.0]).max() <= CLOSED


def test_influence_gives_the_bones_their_own_keys_back():
    armature, mechanism = add_machine(four_bar(), frames=13)
    make_native(armature, mechanism)
    mechanism.native_stand["influence"] = 0.0
    mechanism.native_stand.update_tag()
    assert evaluated_openings(mechanism, [5.0]).max() > 0.01


def test_a_bake_mutes_its_constraints_and_making_it_again_has_it_act():
    armature, mechanism = add_machine(jansen_leg(), frames=5)
    make_native(armature, mechanism)
    report = bake(armature).mechanisms[0]
    assert is_native(mechanism) and not acts(mechanism)
    assert report.open.max() <= 2e-6 * report.size
    make_native(armature, mechanism)
    assert acts(mechanism) and evaluated_openings(mechanism, [1.5, 3.0]).max() <= CLOSED
    assert [ob.type for ob in bpy.data.objects].count('EMPTY') == 1


def test_live_is_refused_while_it_is_on_drivers():
    armature, mechanism = add_machine(four_bar(), frames=5)
    mechanism.live = True
    make_native(armature, mechanism)
    assert not mechanism.live
    mechanism.live = True
    bpy.context.scene.frame_set(3)
    assert "on drivers" in mechanism.live_status
    remove_native(armature, mechanism)
    assert mechanism.live


def test_two_mechanisms_of_an_armature_keep_their_own():
    armature, mechanism = add_machine(four_bar(), frames=5)
    other = armature.ik2d.mechanisms.add()
    other.name = "other"
    make_native(armature, mechanism)
    remove_native(armature, other)
    assert acts(mechanism) and evaluated_openings(mechanism, [3.0]).max() <= CLOSED


def test_a_saved_file_plays(tmp_path):
    armature, mechanism = add_machine(jansen_leg(), frames=13, mode='QUATERNION')
    make_native(armature, mechanism)
    path = str(tmp_path / "native.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    (armature,) = [ob for ob in bpy.data.objects if ob.type == 'ARMATURE']
    assert evaluated_openings(armature.ik2d.mechanisms[0], TIMES).max() <= CLOSED


def test_the_operators_convert_and_remove():
    armature, mechanism = add_machine(four_bar(), frames=5)
    bpy.context.view_layer.objects.active = armature
    assert not bpy.ops.ik2d.mechanism_remove_native.poll()
    assert bpy.ops.ik2d.mechanism_make_native() == {'FINISHED'} and acts(mechanism)
    assert bpy.ops.ik2d.mechanism_remove_native() == {'FINISHED'} and not is_native(mechanism)
    mechanism.joints.add().kind = 'GEAR'
    assert not bpy.ops.ik2d.mechanism_make_native.poll()
