# SPDX-License-Identifier: GPL-3.0-or-later
"""Limit Rotation on the bones of a live chain: followed, and said only where it changes the pose."""

import math

import bpy
import constrained_legs
import numpy as np
import pytest
from rigs import evaluated_place, evaluated_tip, leg_with_target, press

from ik2d_addon.bake import bake
from ik2d_addon.features.doctor.findings import findings
from ik2d_addon.rig.chain.chain import reading

REACH = 1.9
FRAMES = range(10, 41, 6)


def leg(mode='QUATERNION', **settings):
    """Return the leg with its target, live, whose shin has a mode and a Limit Rotation of these settings."""
    armature, target = leg_with_target(live=True)
    bone = armature.pose.bones["shin"]
    bone.rotation_mode = mode
    limit = bone.constraints.new('LIMIT_ROTATION')
    for name, value in {"owner_space": 'LOCAL', **settings}.items():
        setattr(limit, name, value)
    return armature, target, limit


def about(axis, degrees):
    """Return the settings of a limit to either side of rest about an axis."""
    ends = {f"min_{axis}": -math.radians(degrees), f"max_{axis}": math.radians(degrees)}
    return {f"use_limit_{axis}": True, **ends}


def missed(armature):
    chain = armature.ik2d.chains[0]
    return (evaluated_tip(armature, chain.tip) - evaluated_place(chain.target, chain.subtarget)).length


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE'])
@pytest.mark.parametrize("wide", [170.0, 80.0])
def test_a_chain_follows_where_a_limit_leaves_its_pose(mode, wide):
    armature, _target, limit = leg(mode)
    for letter in "xyz":
        for name, value in about(letter, wide).items():
            setattr(limit, name, value)
    chain = armature.ik2d.chains[0]
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert missed(armature) < 1e-5 * REACH
        assert chain.live_reached and chain.live_status == "On its target"


def test_where_a_limit_acts_it_is_named_and_the_frame_shows_what_a_bake_keys():
    armature, _target, limit = leg()
    for name, value in about("x", 5.0).items():
        setattr(limit, name, value)
    chain, scene, shown = armature.ik2d.chains[0], bpy.context.scene, {}
    for frame in (*FRAMES, *reversed(FRAMES)):
        scene.frame_set(frame)
        tip = np.array(evaluated_tip(armature, "shin"))
        assert np.abs(tip - shown.setdefault(frame, tip)).max() < 1e-6, frame
        assert chain.live_reached == (missed(armature) < 1e-5 * REACH)
        assert chain.live_distance == pytest.approx(missed(armature), abs=1e-5)
        assert chain.live_reached or "'Limit Rotation'" in chain.live_status
    assert any(missed_on(armature, frame) > 0.01 for frame in FRAMES)
    bake(armature, frame_start=10, frame_end=40)
    for frame, tip in shown.items():
        scene.frame_set(frame)
        assert np.abs(np.array(evaluated_tip(armature, "shin")) - tip).max() < 1e-4 * REACH


def missed_on(armature, frame):
    bpy.context.scene.frame_set(frame)
    return missed(armature)


def test_a_limit_in_another_space_or_beside_another_constraint_pauses():
    armature, target, limit = leg(**about("x", 170.0), owner_space='WORLD')
    chain = armature.ik2d.chains[0]
    bpy.context.scene.frame_set(20)
    assert not chain.live_reached and "'Limit Rotation'" in chain.live_status
    limit.owner_space = 'LOCAL'
    bpy.context.scene.frame_set(21)
    assert chain.live_reached
    copy = armature.pose.bones["thigh"].constraints.new('COPY_ROTATION')
    copy.target = target
    bpy.context.scene.frame_set(22)
    assert not chain.live_reached and "'Copy Rotation'" in chain.live_status


def test_the_doctor_offers_to_copy_limits_about_the_axis_that_the_chain_turns_about():
    armature, chain = constrained_legs.leg()
    chain.target.location, chain.live = (0.0, -0.2, 0.4), True
    constrained_legs.give(armature, 'LIMIT_ROTATION', owner_space='LOCAL', **about("x", 120.0))
    (found,) = findings(armature, chain, reading(armature, chain), 10, 40)
    assert found.kind == 'OTHER_CONTROLS'
    assert [fix.label for fix in found.fixes] == ["Copy Limits from Bones", "Mute Constraints in Range"]
    bpy.context.view_layer.objects.active = armature
    press(found.fixes[0].operator.partition(".")[2])
    assert chain.joints["shin"].use_limit
    assert not findings(armature, chain, reading(armature, chain), 10, 40)
    bpy.context.scene.frame_set(20)
    assert chain.live_status == "On its target" and missed(armature) < 1e-5 * REACH


def test_a_limit_that_cannot_be_copied_is_not_offered():
    armature, _target, _limit = leg(**about("x", 60.0))  # its shin is rolled
    chain = armature.ik2d.chains[0]
    (found,) = findings(armature, chain, reading(armature, chain), 10, 40)
    assert [fix.label for fix in found.fixes] == ["Mute Constraints in Range"]
