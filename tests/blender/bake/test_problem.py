# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver is asked: one chain for all frames wherever that is enough."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target, stretching_arm

from ik2d_addon.bake import problem
from ik2d_addon.bake.problem import Problem
from ik2d_addon.rig.armature import read_chain
from ik2d_addon.rig.sampling import finished, sample_steps


@pytest.mark.parametrize("inherit", ('NONE', 'ALIGNED'))
def test_evenly_stretched_frames_are_one_chain_to_the_solver(inherit):
    keys = {1: (0, 1.2, 0.5), 40: (0, 2.6, 1.2)}
    armature, chain = stretching_arm(inherit, (0.2,) * 10, keys, softness=0.1)
    rig = read_chain(armature, chain)
    samples = finished(sample_steps(bpy.context.scene, [rig], range(1, 41))).chains[0]
    asked = Problem.of(rig, samples)
    assert asked.is_constant and not asked.may_fall_short
    assert not np.ptp(asked.lengths, axis=0).any() and not np.ptp(asked.unturned, axis=0).any()
    assert asked.factors[0, 0] == 1.0 and asked.factors[39, 0] > 1.4
    assert asked.size.tolist() == asked.factors[:, 0].tolist()


@pytest.mark.parametrize("part, one_by_one", [(0.5e-6, False), (3e-6, True)])
def test_lengths_that_hardly_change_are_one(monkeypatch, part, one_by_one):
    armature = add_leg()
    rig = read_chain(armature, add_chain(armature, "shin", add_target({1: (0, -0.3, 0.6)})))
    samples = finished(sample_steps(bpy.context.scene, [rig], range(1, 4))).chains[0]
    calls = []
    at_once = problem._solve

    def counted(*arguments):
        calls.append(len(arguments[2]))
        return at_once(*arguments)

    monkeypatch.setattr(problem, "_solve", counted)
    plain = Problem.of(rig, samples)
    wider = np.array([[0.5, 0.5], [0.5 + part, 0.5], [0.5, 0.5]])
    turned = plain.unturned + [[0, 0], [0, part], [0, 0]]
    for changes in ({"lengths": wider}, {"lengths": wider[:, ::-1]}, {"unturned": turned}):
        calls.clear()
        solution = finished(replace(plain, **changes).all(None))
        assert calls == ([1, 1, 1] if one_by_one else [3])
        assert solution.angles.shape == (3, 2) and solution.status.shape == (3,)
