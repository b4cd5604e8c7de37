# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that lengthen as their targets need."""

import bpy
import numpy as np
import pytest
from rigs import stretching_arm

from ik2d_addon.bake.solving.stretching import problem_of
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.sampler import sample_steps


@pytest.mark.parametrize("inherit", ('NONE', 'ALIGNED'))
def test_evenly_stretched_frames_are_one_chain_to_the_solver(inherit):
    keys = {1: (0, 1.2, 0.5), 40: (0, 2.6, 1.2)}
    armature, chain = stretching_arm(inherit, (0.2,) * 10, keys, softness=0.1)
    rig = read_chain(armature, chain)
    samples = drained(sample_steps(bpy.context.scene, [rig], range(1, 41))).chains[0]
    asked = problem_of([rig], [samples])
    assert asked.is_constant
    assert not np.ptp(asked.lengths, axis=0).any() and not np.ptp(asked.unturned, axis=0).any()
    assert asked.stretched.factors[0, 0] == 1.0 and asked.stretched.factors[39, 0] > 1.4
    assert asked.stretched.size.tolist() == asked.stretched.factors[:, 0].tolist()
