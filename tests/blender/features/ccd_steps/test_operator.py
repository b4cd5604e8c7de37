# SPDX-License-Identifier: GPL-3.0-or-later
"""Plain CCD on the current pose; tests/blender/test_ccd_step.py has the operator."""

import bpy
import numpy as np
import pytest
from rigs import evaluated_tip, leg_with_target

from ik2d_addon.core import CCDResult, IK2DError
from ik2d_addon.features.ccd_steps.operator import step_pose
from ik2d_addon.rig.chain.chain import read_chain


def test_a_step_says_what_it_turned_and_how_far_the_tip_is():
    armature, target = leg_with_target()
    scene, chain = bpy.context.scene, armature.ik2d.chains[0]
    scene.frame_set(20)
    step = step_pose(scene, read_chain(armature, chain), joint=1)
    assert step.bones == ("thigh", "shin") and step.result == CCDResult.PROCESSING
    assert step.turned[0] == pytest.approx(0.0, abs=1e-6) and abs(step.turned[1]) > 0.1
    off = (evaluated_tip(armature, "shin") - target.matrix_world.translation).length
    assert step.distance == pytest.approx(off, abs=1e-4)


def test_an_iteration_comes_nearer_each_time():
    armature, _ = leg_with_target()
    scene, chain = bpy.context.scene, armature.ik2d.chains[0]
    scene.frame_set(20)
    off = [step_pose(scene, read_chain(armature, chain)).distance for _ in range(6)]
    assert (np.diff(off) < 0.0).all()


def test_chains_that_stretch_are_refused():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.stretch, chain.stretch_bones = 2.0, 'LAST'
    with pytest.raises(IK2DError, match="slides or stretches"):
        step_pose(bpy.context.scene, read_chain(armature, chain))
