# SPDX-License-Identifier: GPL-3.0-or-later
"""From bones that turn out of any one plane to a target and a pole, and back."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.bake import bake
from ik2d_addon.features.match.match import snap_fk, target_to_tip
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = range(1, 13)
BONES = ("thigh", "shin")
REACH = 1.92


def leg(mode='QUATERNION', **settings):
    """Add a leg on a body that turns, with a target that goes round it and a pole that goes elsewhere."""
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0.3, -0.5, 1.1), "body", 0.4),
            "shin": ((0.3, -0.5, 1.1), (0.2, 0.3, 0.6), "thigh", -0.2),
        }
    )
    armature.location, armature.rotation_euler = (0.2, 0.1, 0.2), (0.2, 0.1, 0.7)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    body = armature.pose.bones["body"]
    body.rotation_mode = 'XYZ'
    for frame, turn in ((1, 0.2), (12, -0.3)):
        body.rotation_euler = turn, 0.0, 2.0 * turn
        body.keyframe_insert("rotation_euler", frame=frame)
    target = add_target({1: (0.9, 0.4, 0.8), 6: (0.6, 0.2, 0.9), 12: (-0.3, 0.6, 1.0)})
    pole = add_target({1: (1.5, -1.5, 1.5), 6: (0.2, -1.8, 1.0), 12: (-1.0, -1.0, 1.5)}, "Pole")
    chain = add_chain(armature, "shin", target, plane='POLE', pole=pole, pole_angle=0.3, **settings)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.context.view_layer.update()
    return armature, chain


def joints(armature):
    """Return where Blender has the joints (frames, 3, 3), in the world."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        ob = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        points = [*(ob.pose.bones[name].head for name in BONES), ob.pose.bones["shin"].tail]
        found.append([tuple(ob.matrix_world @ point) for point in points])
    return np.array(found)


def spoil(*obs):
    """Give the channels of objects other keys."""
    for ob in obs:
        for curve in existing_fcurves(ob):
            for point in curve.keyframe_points:
                point.co[1] = 0.7 - 0.5 * point.co[1]
            curve.update()


@pytest.mark.parametrize("mode", ['QUATERNION', 'YXZ', 'AXIS_ANGLE'])
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
def test_from_target_and_pole_to_keys_and_back(mode, bend):
    armature, chain = leg(mode, bend=bend)
    assert snap_fk(armature, None, 1, 12).all_reached
    before = joints(armature)
    spoil(chain.target, chain.pole)
    report = target_to_tip(armature, None, 1, 12)
    assert report.matches, report.sentence()
    for curve in existing_fcurves(armature):
        if '"thigh"' in curve.data_path or '"shin"' in curve.data_path:
            for point in curve.keyframe_points:
                point.co[1] += 0.3
            curve.update()
    bake(armature, None, 1, 12)
    assert np.abs(joints(armature) - before).max() < 2e-5 * REACH


def test_the_current_pose_moves_target_and_pole_without_keys():
    armature, chain = leg()
    chain.target.animation_data_clear()
    chain.pole.animation_data_clear()
    bpy.context.scene.frame_set(5)
    thigh, shin = (armature.pose.bones[name] for name in BONES)
    thigh.rotation_quaternion = (0.8, 0.3, -0.5, 0.2)
    bpy.context.view_layer.update()
    wanted = [tuple(bone.tail) for bone in (thigh, shin)]
    report = target_to_tip(armature)
    assert [moved.holder for moved in report.moved][:2] == [chain.target, chain.pole]
    assert report.matches, report.sentence()
    bpy.ops.object.select_all(action='DESELECT')
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.solve()
    bpy.context.view_layer.update()
    now = [tuple(bone.tail) for bone in (thigh, shin)]
    assert np.abs(np.array(now) - wanted).max() < 2e-5 * REACH


def test_a_pole_that_hangs_on_the_target_is_moved_after_it():
    armature, chain = leg()
    assert snap_fk(armature, None, 1, 12).all_reached
    before = joints(armature)
    spoil(chain.target, chain.pole)
    chain.pole.parent = chain.target
    bpy.context.view_layer.update()
    report = target_to_tip(armature, None, 1, 12)
    assert report.matches, report.sentence()
    bake(armature, None, 1, 12)
    assert np.abs(joints(armature) - before).max() < 2e-5 * REACH


def test_a_pole_that_cannot_be_moved_is_named_and_so_is_the_bone_that_turns():
    armature, chain = leg()
    assert snap_fk(armature, None, 1, 12).all_reached
    spoil(chain.pole)
    chain.pole.lock_location[1] = True
    bpy.context.view_layer.update()
    report = target_to_tip(armature, None, 1, 12)
    assert not report.matches and "bone 'thigh'" in report.sentence()
    (warning,) = [one for one in report.warnings if "pole" in one]
    assert "its pole 'Pole' stays where it is (the location of 'Pole' is locked)" in warning


def test_bones_that_turn_as_a_swinging_plane_would_have_them_come_back_too():
    armature, chain = leg()
    chain.plane = 'SWING'
    assert snap_fk(armature, None, 1, 12).all_reached
    before = joints(armature)
    spoil(chain.target)
    report = target_to_tip(armature, None, 1, 12)
    assert report.matches, report.sentence()
    bake(armature, None, 1, 12)
    assert np.abs(joints(armature) - before).max() < 2e-5 * REACH
