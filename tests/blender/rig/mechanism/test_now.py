# SPDX-License-Identifier: GPL-3.0-or-later
"""A mechanism on the frame that Blender shows: as a bake poses it, unkeyed edits included."""

import bpy
import numpy as np
import pytest
from machine_rigs import MODES, TILT, add_machine, key_turns, make_linear, set_turn
from machines import MACHINES, four_bar, geared_five_bar, landing_gear, slider_crank, toggle_clamp
from rigs import add_target

from ik2d_addon.bake.pipeline import bake
from ik2d_addon.chains import drive
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.mechanism.now import pose_now, solve_now, values_now
from ik2d_addon.rig.mechanism.posing import evaluated_motions, openings, pose_of
from ik2d_addon.rig.mechanism.read import read_mechanism
from ik2d_addon.rig.mechanism.values import driver_values, turning_axis


def shown(armature):
    """Return the armature as Blender evaluates it now."""
    return armature.evaluated_get(bpy.context.evaluated_depsgraph_get())


def pose(armature):
    """Return the evaluated pose matrices (bones, 4, 4)."""
    return np.array([bone.matrix for bone in shown(armature).pose.bones])


def open_now(rig):
    """Return how far joints are open in the evaluated pose, in sizes."""
    return openings(rig, evaluated_motions(rig, [pose_of(rig, shown(rig.armature))])).max() / rig.size


def posed_on(rig, frame, place=None):
    """Return the evaluated pose after a frame was shown and its mechanism posed."""
    scene = bpy.context.scene
    scene.frame_set(frame)
    pose_now(scene, rig, shown(rig.armature), place=place)
    return pose(rig.armature)


@pytest.mark.parametrize("make", MACHINES, ids=lambda make: make.__name__)
def test_frames_in_any_order_are_posed_as_a_bake_poses_them(make):
    armature, mechanism = add_machine(make(), 13, mode='ZXY', tilt=TILT, roll=0.3)
    rig, frames = read_mechanism(armature, mechanism), np.random.default_rng(7).permutation(13) + 1
    found = {frame: posed_on(rig, frame) for frame in frames.tolist()}
    bake(armature)
    for frame, matrices in found.items():
        bpy.context.scene.frame_set(frame)
        assert np.abs(pose(armature) - matrices).max() < 1e-5 * rig.size


@pytest.mark.parametrize("mode", MODES)
def test_a_driver_that_is_turned_without_a_key_moves_the_machine(mode):
    armature, mechanism = add_machine(four_bar(), mode=mode, tilt=TILT)
    rig, bone = read_mechanism(armature, mechanism), armature.pose.bones["crank"]
    bpy.context.scene.frame_set(1)
    set_turn(bone, turning_axis(rig, "crank"), 0.7)
    now = pose_now(bpy.context.scene, rig, shown(armature))
    assert now.turns["crank"] == pytest.approx(0.7, abs=1e-6)
    assert set(now.written) == {"rocker", "coupler"}
    assert open_now(rig) < 2e-6
    assert now.values(shown(armature)) == []


def test_what_is_shown_as_it_is_to_be_is_not_written():
    armature, mechanism = add_machine(slider_crank())
    rig = read_mechanism(armature, mechanism)
    posed_on(rig, 3)
    assert solve_now(bpy.context.scene, rig, shown(armature)).values(shown(armature)) == []
    armature.pose.bones["rod"].rotation_euler.x += 0.1
    assert {value[0] for value in solve_now(bpy.context.scene, rig, shown(armature)).values(armature)} == {
        "rod"
    }


def test_a_ram_that_is_drawn_out_without_a_key():
    armature, mechanism = add_machine(landing_gear())
    armature.animation_data_clear()
    rig = read_mechanism(armature, mechanism)
    for share in (0.2, 0.7):
        mechanism.drivers[0].length = share
        armature.update_tag()
        now = pose_now(bpy.context.scene, rig, shown(armature))
        low, high = mechanism.joints[-1].stroke
        assert now.solution.length("ram")[0] == pytest.approx(low + share * (high - low), abs=1e-6)
        assert open_now(rig) < 2e-6


def test_a_held_driver_is_turned_back_to_its_dead_point():
    armature, mechanism = add_machine(toggle_clamp())
    armature.animation_data_clear()
    mechanism.dead = 'STOP'
    rig = read_mechanism(armature, mechanism)
    set_turn(armature.pose.bones["handle"], turning_axis(rig, "handle"), 1.6)
    now = pose_now(bpy.context.scene, rig, shown(armature))
    assert "handle" in now.written and now.turns["handle"] < 1.0 and now.solution.held["handle"].all()
    assert open_now(rig) < 1e-5


@pytest.mark.parametrize("mode", ['QUATERNION', 'AXIS_ANGLE', 'XYZ'])
def test_whole_turns_of_a_geared_driver_are_counted(mode):
    machine = geared_five_bar()
    armature, mechanism = add_machine(machine, mode=mode, tilt=TILT, roll=0.4)
    driver = mechanism.drivers[0].bone
    armature.animation_data_clear()
    key_turns(armature, driver, np.linspace(0.0, 30.0, 61))
    make_linear(armature)
    rig = read_mechanism(armature, mechanism)
    times = np.arange(1.0, 62.0).tolist()
    keyed = driver_values(bpy.context.scene, rig, times)[driver]
    assert keyed[-1] == pytest.approx(30.0, abs=1e-4)
    for frame in (61, 7, 40, 25):
        bpy.context.scene.frame_set(frame)
        found = values_now(bpy.context.scene, rig, shown(armature))
        assert found[driver] == pytest.approx(keyed[frame - 1], abs=1e-4)


def test_a_target_drags_the_end_of_a_bone():
    armature, mechanism = add_machine(four_bar())
    armature.animation_data_clear()
    mechanism.drivers.clear()
    target = add_target({1: (2.0, 0.0, 2.0)})
    drive(mechanism, "coupler", target)
    rig, scene = read_mechanism(armature, mechanism), bpy.context.scene
    now = pose_now(scene, rig, shown(armature), values={rig.drivers[0].body: 0.6})
    tail = shown(armature).pose.bones["coupler"].tail.copy()
    pose_now(scene, rig, shown(armature), values={rig.drivers[0].body: -0.2})
    again = pose_now(scene, rig, shown(armature), place=tail)
    assert again.solution.residual[0] < 1e-6
    assert [again.turns[bone] for bone in rig.bones] == pytest.approx(
        [now.turns[bone] for bone in rig.bones], abs=1e-5
    )


def test_a_driver_that_a_constraint_turns_is_as_it_is_shown():
    armature, mechanism = add_machine(four_bar(), tilt=TILT)
    armature.animation_data_clear()
    rig, bone = read_mechanism(armature, mechanism), armature.pose.bones["crank"]
    other = armature.pose.bones["rocker"]
    held = bone.constraints.new('TRANSFORM')
    held.target, held.subtarget, held.owner_space, held.target_space = armature, other.name, 'LOCAL', 'LOCAL'
    held.map_from = 'LOCATION'
    held.map_to = 'ROTATION'
    axis = int(np.argmax(np.abs(turning_axis(rig, "crank"))))
    setattr(held, f"to_min_{'xyz'[axis]}_rot", 0.4)
    setattr(held, f"to_max_{'xyz'[axis]}_rot", 0.4)
    sign = np.sign(turning_axis(rig, "crank")[axis])
    rig = read_mechanism(armature, mechanism)  # it says which drivers others turn
    now = pose_now(bpy.context.scene, rig, shown(armature))
    assert now.turns["crank"] == pytest.approx(0.4 * sign, abs=1e-5)
    assert "crank" not in now.written and open_now(rig) < 2e-6


def test_no_number_and_a_turn_out_of_the_plane_are_refused():
    armature, mechanism = add_machine(four_bar())
    rig, crank = read_mechanism(armature, mechanism), armature.pose.bones["crank"]
    armature.animation_data_clear()
    assert not list(existing_fcurves(armature))
    crank.rotation_euler = 0.0, 0.0, float("nan")
    with pytest.raises(IK2DError, match="finite"):
        pose_now(bpy.context.scene, rig, shown(armature))
    crank.rotation_euler = 0.5, 0.5, 0.5
    with pytest.raises(IK2DError, match="out of the mechanism's plane"):
        pose_now(bpy.context.scene, rig, shown(armature))
    crank.rotation_euler = 0.0, 0.0, 0.0
    with pytest.raises(IK2DError, match="finite place"):
        pose_now(bpy.context.scene, rig, shown(armature), place=(np.inf, 0.0, 0.0))
