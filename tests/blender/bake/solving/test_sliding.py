# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that slide, as their solver sees them."""

import bpy
import numpy as np
import pytest
from rigs import crane_with_target

from ik2d_addon.bake.solving.stretching import problem_of
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.keyed_pose import KeyedPose, NeighborPoses
from ik2d_addon.rig.scene.sampler import sample_steps


def test_the_slides_before_the_frames_are_gone_on_from():
    armature, chain = crane_with_target(drop=0.1, solver='CCD')
    rig = read_chain(armature, chain)
    samples = drained(sample_steps(bpy.context.scene, [rig], range(1, 3))).chains[0]
    slid = rig.slides.ranges.mean(axis=1)
    before = KeyedPose(0.0, np.full(len(rig.bones), 0.1), {}, slid)
    start = problem_of([rig], [samples], [NeighborPoses(before)]).start
    assert slid.any() and start.slides == pytest.approx(slid)
