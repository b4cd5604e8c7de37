# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes towards a pole with few keys, keys on the frames of others, eased flips, and on an override."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion
from pole_rigs import FRAMES, REACH, joints, leg
from rigs import add_target, errors_on, override_from

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.cli.program import run
from ik2d_addon.rig.animation.versions import existing_fcurves

ROUNDED = 2e-5 * REACH


def spread(one, other):
    """Return how far joints are from others at most."""
    return np.linalg.norm(one - other, axis=2).max()


def keyed_frames(armature):
    """Return the frames of the keys of the first bone."""
    curves = [curve for curve in existing_fcurves(armature) if '"thigh"' in curve.data_path]
    return sorted({key.co[0] for curve in curves for key in curve.keyframe_points})


@pytest.mark.parametrize("mode", ['QUATERNION', 'YXZ'])
@pytest.mark.parametrize("still", [False, True])
def test_few_keys_keep_the_knee_too_also_where_the_pole_alone_moves(mode, still):
    armature, chain = leg(mode)
    if still:
        armature.animation_data_clear()
        chain.target.animation_data_clear()
    bake(armature, None, 1, 12)
    full = joints(armature)
    assert np.ptp(full[:, 1], axis=0).max() > 0.1 * REACH
    error = 0.002 * REACH
    report = bake(armature, None, 1, 12, options=BakeOptions(reduce=error))
    assert report.all_reached and 2 < len(keyed_frames(armature)) < 9
    assert spread(joints(armature), full) <= error


def test_on_the_targets_keys_are_the_poles_too():
    armature, chain = leg()
    for owner, frames in ((chain.target, (1, 6, 12)), (chain.pole, (1, 4, 12))):
        owner.animation_data_clear()
        for frame in frames:
            owner.location[0] += 0.1
            owner.keyframe_insert("location", frame=frame)
    bake(armature, None, 1, 12, options=BakeOptions(on_target_keys=True))
    assert keyed_frames(armature) == [1, 4, 6, 12]
    assert errors_on([1, 4, 6, 12], armature, chain).max() < ROUNDED


def through_the_pole():
    """Add a leg whose target passes the pole 0.3 degrees off it; return armature and chain."""
    armature, chain = leg()
    armature.animation_data_clear()
    armature.pose.bones["body"].rotation_euler = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    for ob in (chain.target, chain.pole):
        ob.animation_data_clear()
    root = armature.matrix_world @ armature.data.bones["thigh"].head_local
    way, across = np.array((0.8, 0.2, -0.57)), np.array((0.24, -0.97, 0.0))
    way /= np.linalg.norm(way)
    chain.pole.location = np.array(root) + 1.5 * way + (0.0, 0.0, 0.008)
    for frame in range(1, 25):
        turn = np.radians(4.0 * (frame - 12.5))
        chain.target.location = np.array(root) + 1.2 * (np.cos(turn) * way + np.sin(turn) * across)
        chain.target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 24
    bpy.context.view_layer.objects.active = armature
    return armature, chain


def knee_steps(armature):
    """Return how far the knee goes from frame to frame, of the reach."""
    knees = []
    for frame in range(1, 25):
        bpy.context.scene.frame_set(frame)
        ob = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        knees.append(ob.matrix_world @ ob.pose.bones["shin"].head)
    return np.linalg.norm(np.diff(np.array(knees), axis=0), axis=1) / REACH


def test_the_button_eases_flips_as_the_option_says():
    armature, chain = through_the_pole()
    steps = []
    for ease in (False, True):
        armature.ik2d.ease_flips = ease
        assert bpy.ops.ik2d.bake() == {'FINISHED'}
        steps.append(knee_steps(armature).max())
        assert errors_on(range(1, 25), armature, chain).max() < ROUNDED
        assert ("Ease Flips" in armature.ik2d.last_bake) != ease
    assert steps[0] > 0.5 and steps[1] < 0.3 * steps[0], steps


@pytest.mark.slow
def test_the_command_line_eases_flips(tmp_path):
    through_the_pole()
    path = str(tmp_path / "leg.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    steps = []
    for more in ([], ["--ease-flips"]):
        out = str(tmp_path / f"out{len(more)}.blend")
        assert run(["bake", path, "--output", out, *more], opens_scene=True) == 0
        bpy.ops.wm.open_mainfile(filepath=out)
        steps.append(knee_steps(bpy.data.objects["Rig"]).max())
    assert steps[0] > 0.5 and steps[1] < 0.3 * steps[0], steps


@pytest.mark.slow
@pytest.mark.parametrize("plane", ['SWING', 'POLE', 'ARC'])
def test_half_the_influence_turns_the_bones_half_way_and_is_no_miss_of_the_plane(plane):
    turns = []
    for influence in (1.0, 0.5):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature, chain = leg(influence=influence)
        chain.plane = plane
        report = bake(armature, None, 1, 12)
        assert report.warnings == () and report.chains[0].played.worse_by < ROUNDED
        bpy.context.scene.frame_set(4)
        turns.append(armature.pose.bones["thigh"].rotation_quaternion.copy())
    assert "12 of 12 frames held back by IK Blend, worst by" in report.sentence()
    half = Quaternion().slerp(turns[0], 0.5)
    assert turns[0].angle > 0.3 and half.rotation_difference(turns[1]).angle < 1e-3


@pytest.mark.slow
def test_an_override_of_a_linked_rig_bends_towards_a_pole_in_the_scene(tmp_path):
    armature, chain = leg()
    bake(armature, None, 1, 12)
    wanted = joints(armature)
    library = str(tmp_path / "library.blend")
    for curve in [one for one in existing_fcurves(armature) if "body" not in one.data_path]:
        for key in curve.keyframe_points:
            key.co[1] = 0.1
    bpy.data.libraries.write(library, {armature, chain.target, chain.pole, bpy.context.scene})
    override = override_from(library, "Rig", "Target", "Pole")
    override.animation_data.action = override.animation_data.action.copy()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.context.view_layer.update()
    chain = override.ik2d.chains[0]
    assert (chain.plane, chain.pole.name) == ('POLE', "Pole")
    assert bake(override, None, 1, 12).all_reached
    assert spread(joints(override), wanted) < ROUNDED
    chain.pole, chain.pole_angle = add_target({}, "Mine"), 1.0
    bpy.context.view_layer.update()
    assert bake(override, None, 1, 12).all_reached
    assert spread(joints(override), wanted) > 0.05 * REACH
