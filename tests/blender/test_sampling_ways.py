# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake keys the same pose, whether its samples are worked out from F-Curves or stepped through."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, evaluated_tip, leg_with_target

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.rig.scene import sampler

LAST = 120
SAME = 1e-6  # of reach


def swinging_leg():
    """Add a leg on a body that moves, under a parent that turns, with a target under the same parent."""
    armature, _ = leg_with_target()
    holder = add_target({1: (0, 0, 0), LAST: (0.4, 0.2, 0.1)}, "Holder")
    for frame, turn in ((1, 0.0), (LAST, 1.2)):
        holder.rotation_euler.z = turn
        holder.keyframe_insert("rotation_euler", frame=frame)
        armature.pose.bones["body"].location.y = 0.1 * turn
        armature.pose.bones["body"].keyframe_insert("location", frame=frame)
    armature.parent = armature.ik2d.chains[0].target.parent = holder
    return armature


def ten_bones():
    """Add a chain of ten bones with a target that circles."""
    bones = {
        f"b{i}": ((0.1 * i, 0.01 * (i % 2), 0), (0.1 * i + 0.1, 0.01 * ((i + 1) % 2), 0), f"b{i - 1}", 0.0)
        for i in range(10)
    }
    bones["b0"] = (*bones["b0"][:2], "", 0.0)
    armature = add_armature(bones)
    path = {f: (0.5 + 0.2 * np.cos(f / 20.0), 0.2 * np.sin(f / 20.0), 0.0) for f in range(1, LAST + 1, 12)}
    add_chain(armature, "b9", add_target(path), bone_count=10)
    return armature


@pytest.mark.slow
@pytest.mark.parametrize("options", [BakeOptions(), BakeOptions(reduce=1e-3)])
@pytest.mark.parametrize("build", [swinging_leg, ten_bones])
def test_both_ways_key_the_same_pose(build, options, monkeypatch):
    tips = {}
    for way in (sampler.STEP, sampler.CURVES):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        monkeypatch.setattr(sampler, "WAY", way)
        armature = build()
        report = bake(armature, frame_start=1, frame_end=LAST, options=options)
        assert report.all_reached and report.stepped == report.full_scene == ""
        tip, tips[way] = report.chains[0].bones[-1], []
        for frame in range(1, LAST + 1):
            bpy.context.scene.frame_set(frame)
            tips[way].append(tuple(evaluated_tip(armature, tip)))
    reach = report.chains[0].standard.reach
    assert np.array(tips[sampler.CURVES]) == pytest.approx(np.array(tips[sampler.STEP]), abs=SAME * reach)
