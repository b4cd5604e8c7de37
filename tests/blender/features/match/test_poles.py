# SPDX-License-Identifier: GPL-3.0-or-later
"""From bones that turn out of any one plane to a target and a pole, and back."""

import bpy
import numpy as np
import pytest
from pole_rigs import BONES, REACH, joints, leg

from ik2d_addon.bake import bake
from ik2d_addon.features.match.match import snap_fk, target_to_tip
from ik2d_addon.rig.animation.versions import existing_fcurves


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


@pytest.mark.parametrize("mode", ['QUATERNION', 'YXZ'])
def test_without_a_pole_the_plane_is_turned_to_where_the_bones_own_keys_have_the_knee(mode):
    armature, chain = leg(mode)
    assert snap_fk(armature, None, 1, 12).all_reached
    before = joints(armature)
    chain.pole, chain.plane = None, 'SWING'
    report = target_to_tip(armature, None, 1, 12)
    assert report.matches, report.sentence()
    bake(armature, None, 1, 12)
    assert np.abs(joints(armature) - before).max() < 2e-5 * REACH
