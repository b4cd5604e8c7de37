# SPDX-License-Identifier: GPL-3.0-or-later
"""Clips that play in a loop: closed to the last bit, or it is said how far they are open."""

import bpy
import numpy as np
import pytest
from clip_rigs import action_of, add_clips, channels_for, key_path, misses, playing, pose_at
from rigs import add_armature, add_chain

from ik2d_addon.bake import bake
from ik2d_addon.rig.animation.versions import HAS_SLOTS


def tentacle(limit=0.0, **settings):
    """Add a chain of four bones with limits whose target runs in a circle in the action "Swing"."""
    bones, parent = {}, ""
    for i in range(4):
        bones[f"bone{i}"] = ((0.02 * i, 0, float(i)), (0.02 * (i + 1), 0, i + 1.0), parent, 0.0)
        parent = f"bone{i}"
    armature = add_armature(bones, "Arm")
    target = bpy.data.objects.new("Tip", None)
    bpy.context.scene.collection.objects.link(target)
    chain = add_chain(armature, "bone3", target, 4, **settings)
    for joint in chain.joints if limit else ():
        joint.use_limit, joint.limit_min, joint.limit_max = True, -limit, limit
    own, other = action_of("Swing", (1, 24), cyclic=True), action_of("Swing targets")
    channels_for(own, armature)
    turns = np.linspace(0.0, 2.0 * np.pi, 24)
    key_path(other, target, {i + 1: (1.4 * np.cos(t), 0.0, 2.6 + np.sin(t)) for i, t in enumerate(turns)})
    return armature, target, own, other


@pytest.mark.parametrize("solver, limit", [('CCD', 0.0), ("EVEN", 1.3)])
def test_chains_that_go_on_say_how_far_they_are_open(solver, limit):
    armature, target, own, other = tentacle(limit, solver=solver)
    report = bake(armature, actions=["Swing"] if not HAS_SLOTS else 'ALL')
    assert misses(armature, {armature: own, target: other}, 24, "bone3") < 1e-4
    with playing({armature: own, target: other}):
        gap = np.abs(np.array(pose_at(armature, 1)) - np.array(pose_at(armature, 24))).max()
    told = [warning for warning in report.warnings if "its loop is open by" in warning]
    assert (gap > 1e-4) == bool(told)
    if solver == 'CCD':
        assert "set Start Each Frame From to Rest Pose" in told[0]


@pytest.mark.parametrize("settings", [{"solver": 'EVEN'}, {"solver": 'CCD', "start_from": 'REST'}])
def test_chains_without_memory_are_closed(settings):
    armature, target, own, other = tentacle(**settings)
    report = bake(armature, actions=["Swing"])
    assert not [warning for warning in report.warnings if "loop" in warning]
    with playing({armature: own, target: other}):
        assert pose_at(armature, 1) == pose_at(armature, 24)


def test_a_target_that_does_not_come_back_is_told():
    armature, target, own, other = tentacle(solver='EVEN')
    curve = channels_for(other, target).fcurves.find("location", index=2)
    curve.keyframe_points[-1].co[1] += 0.2
    curve.update()
    (told,) = [warning for warning in bake(armature, actions=["Swing"]).warnings if "loop" in warning]
    assert "since its target does not end where it began" in told


def test_an_action_without_a_manual_range_is_no_loop():
    """As Blender has it: Cyclic Animation is a setting of the range."""
    armature, target = add_clips("A")
    action = bpy.data.actions["Idle A"]
    action.use_frame_range, action.use_cyclic = False, True
    curve = channels_for(bpy.data.actions["Idle A targets"], target).fcurves.find("location", index=1)
    curve.keyframe_points[-1].co.y += 0.2
    curve.update()
    assert not any("loop" in warning for warning in bake(armature, actions=["Idle A"]).warnings)
