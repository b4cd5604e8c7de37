# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigify's generated human, 706 bones with their drivers and constraints: chains on its FK limbs."""

import bpy
import numpy as np
import pytest
from faults import examine
from rigs import add_chain, add_target, animation_of, calls_of, evaluated_tip, played_back_errors

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.features.doctor import operators
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.scene import own_scene

PLAYED_BACK = 1e-5  # of reach
LAST = 13
# Calls of the panel for one chain: some 1,050, on a rig of 700 bones.
CALLS = 1500
EVERY_FRAME = range(1, LAST + 1)
LIMBS = {
    f"{name}.{side}": (f"{upper}.{side}", f"{lower}.{side}")
    for side in ("L", "R")
    for name, upper, lower in (
        ("arm", "upper_arm_fk", "forearm_fk"),
        ("leg", "thigh_fk", "shin_fk"),
    )
}


@pytest.fixture
def human(generated):
    """The generated rig, its limbs switched to FK, in the rest pose."""
    bpy.ops.wm.open_mainfile(filepath=generated("human"))
    rig = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    assert len(rig.pose.bones) > 700
    for name in ("upper_arm_parent.L", "upper_arm_parent.R", "thigh_parent.L", "thigh_parent.R"):
        rig.pose.bones[name]["IK_FK"] = 1.0
    rig.update_tag()
    return rig


def joints(rig, limb):
    upper, lower = (rig.data.bones[name] for name in LIMBS[limb])
    return upper.head_local, lower.head_local, lower.tail_local


def add_limb(rig, limb):
    """Add a chain on a limb, and a target that goes about in the plane of its rest pose."""
    root, elbow, tip = joints(rig, limb)
    reach = (elbow - root).length + (tip - elbow).length
    ahead = (tip - root).normalized()
    across = (elbow - root) - (elbow - root).dot(ahead) * ahead
    across.normalize()
    keys = {
        frame: root + reach * (distance * ahead + side * across)
        for frame, distance, side in ((1, 0.9, 0.0), (5, 0.6, 0.35), (9, 0.5, -0.4), (LAST, 0.8, 0.2))
    }
    target = add_target(keys, f"Target {limb}")
    for curve in existing_fcurves(target):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'  # eased, each axis for itself, it would leave the plane
    return add_chain(rig, LIMBS[limb][1], target, name=limb)


def move_the_body(rig):
    """Key the root, the torso and the hips, turned and scaled."""
    for name, turn, place, scale in (
        ("root", (0.95, 0.1, 0.2, 0.3), (0.3, 0.2, 0.1), 1.3),
        ("torso", (0.97, 0.2, -0.1, 0.1), (0.1, -0.1, 0.05), 1.0),
        ("hips", (0.98, -0.1, 0.1, 0.1), (0, 0, 0), 1.0),
    ):
        bone = rig.pose.bones[name]
        for frame, values in ((1, ((1, 0, 0, 0), (0, 0, 0), 1.0)), (LAST, (turn, place, scale))):
            bone.rotation_quaternion, bone.location, bone.scale = values[0], values[1], (values[2],) * 3
            for channel in ("rotation_quaternion", "location", "scale"):
                bone.keyframe_insert(channel, frame=frame)


def assert_plays_back(rig, report):
    """Hold every tip, on every frame, to what the report says: on the target as seen in the plane."""
    for result in report.chains:
        chain = rig.ik2d.chains[result.name]
        promised = np.hypot(result.residual, result.off_plane)
        for frame, error in played_back_errors(rig, chain, EVERY_FRAME):
            assert abs(error - promised[frame - 1]) <= PLAYED_BACK * result.standard.reach, (
                chain.name,
                frame,
                error,
            )
        assert result.played.on_frames == pytest.approx(promised, abs=PLAYED_BACK * result.standard.reach)


@pytest.mark.slow
def test_fk_arms_and_legs_reach_their_targets(human):
    for limb in LIMBS:
        add_limb(human, limb)
    report = bake(human, frame_start=1, frame_end=LAST, options=BakeOptions(verify='ALL'))
    assert report.all_reached
    assert not report.warnings
    assert not report.full_scene
    for result in report.chains:
        assert result.bones == LIMBS[result.name]
        assert result.off_plane.max() <= PLAYED_BACK * result.standard.reach
    assert_plays_back(human, report)


@pytest.mark.slow
def test_nothing_is_wrong_with_the_limbs(human):
    """And the panel asks for that in few calls, whatever else the rig has."""
    for limb in LIMBS:
        chain = add_limb(human, limb)
        bpy.context.view_layer.update()
        assert examine(human, chain, 1, LAST) == []
    operators.findings_of(bpy.context, human, human.ik2d.chains[0])
    found = []
    calls = calls_of(lambda: found.extend(operators.findings_of(bpy.context, human, human.ik2d.chains[0])))
    assert found == [] and calls < CALLS, calls


@pytest.mark.slow
def test_the_deforming_bones_follow_the_baked_limbs(human):
    for limb in LIMBS:
        add_limb(human, limb)
    bake(human, frame_start=1, frame_end=LAST)
    for frame in (1, 5, 9, LAST):
        bpy.context.scene.frame_set(frame)
        for name, (_, lower) in LIMBS.items():
            target = human.ik2d.chains[name].target.matrix_world.translation
            assert (evaluated_tip(human, "ORG-" + lower.replace("_fk", "")) - target).length < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("follow", [0.0, 1.0])
def test_limbs_under_a_body_that_moves_turns_and_grows(human, follow):
    move_the_body(human)
    for name in ("upper_arm_parent.L", "upper_arm_parent.R", "thigh_parent.L", "thigh_parent.R"):
        human.pose.bones[name]["FK_limb_follow"] = follow
    for limb in LIMBS:
        add_limb(human, limb)
    report = bake(human, frame_start=1, frame_end=LAST, options=BakeOptions(verify='ALL'))
    assert not report.full_scene
    assert max(result.off_plane.max() for result in report.chains) > 0.05
    assert_plays_back(human, report)


@pytest.mark.slow
def test_fk_limbs_follow_the_rigs_own_ik_controls(human):
    controls = {"arm.L": "hand_ik.L", "leg.R": "foot_ik.R"}
    for limb, control in controls.items():
        bone = human.pose.bones[control]
        for frame, place in ((1, (0, 0, 0)), (LAST, (0.02, 0.1, 0.15))):
            bone.location = place
            bone.keyframe_insert("location", frame=frame)
        add_chain(human, LIMBS[limb][1], human, subtarget=control, name=limb)
    report = bake(human, frame_start=1, frame_end=LAST, options=BakeOptions(verify='ALL'))
    assert not report.full_scene
    assert_plays_back(human, report)


@pytest.mark.slow
def test_the_full_scene_gives_the_same_keys(human, monkeypatch):
    move_the_body(human)
    for limb in LIMBS:
        add_limb(human, limb)
    bake(human, frame_start=1, frame_end=LAST)
    own = animation_of(human)
    monkeypatch.setattr(own_scene, "doubt", lambda *_: "because the test says so")
    report = bake(human, frame_start=1, frame_end=LAST)
    assert report.full_scene == "because the test says so"
    full = animation_of(human)
    assert own.keys() == full.keys()
    for channel, keys in own.items():
        values = np.array([key[:2] for key in keys]), np.array([key[:2] for key in full[channel]])
        assert np.abs(values[0] - values[1]).max() < 1e-5
