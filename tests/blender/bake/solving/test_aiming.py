# SPDX-License-Identifier: GPL-3.0-or-later
"""Tips that Blender puts elsewhere than the solver are aimed again."""

from dataclasses import replace

import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target
from tentacles import add_tentacle, at_targets, sampled

from ik2d_addon.bake.solving import aiming
from ik2d_addon.bake.solving.problem import Problem
from ik2d_addon.bake.solving.stretching import problem_of
from ik2d_addon.core.solution import drained


@pytest.mark.parametrize("seed", range(3))
def test_aiming_again_takes_up_what_blenders_kinematics_differ_by(monkeypatch, seed):
    """Rest matrices of 32 bits are not quite orthonormal: the first solve misses by some 1e-7 to 1e-5."""
    chance = np.random.default_rng(seed)
    knee, foot = 10.0 ** -chance.uniform(2, 4, 2)
    armature = add_armature(
        {
            "a": ((0, 0, 0), (knee, 0, -1), "", chance.uniform(-3, 3)),
            "b": ((knee, 0, -1), (foot, 0, -2), "a", chance.uniform(-3, 3)),
        }
    )
    add_chain(armature, "b", add_target({}), plane='Y')
    rig, samples = sampled(armature)
    path = np.array([(1.0 + 0.1 * i, 0, -1.2 + 0.2 * i) for i in range(5)])
    asked = problem_of([rig], [at_targets(samples, path)])

    def missed():
        turns = drained(aiming.aim(asked, None, range(5))).turns
        return np.linalg.norm(asked.linkage.tips(turns) - asked.targets, axis=1).max()

    assert missed() <= aiming.FINE * 2.0
    assert (aiming.FINE, aiming.CORRECTIONS) == (1e-8, 2)
    monkeypatch.setattr(aiming, "CORRECTIONS", 0)
    assert missed() > aiming.FINE * 2.0


@pytest.mark.parametrize("solver", ['TWO_BONE', 'EVEN', 'CCD'])
def test_only_frames_that_no_small_turns_mend_are_solved_again(monkeypatch, solver):
    """Next to full reach small turns move the tip hardly any further; everywhere else they do."""
    armature, _ = add_tentacle(2, side=0.4, solver=solver)
    rig, samples = sampled(armature)
    reach = problem_of([rig], [samples]).lengths[0].sum()
    places = [(0, 0.5, 0.5), (0, (1.0 - 1e-11) * reach, 0.0), (0, 0.7, 0.1)]
    asked = problem_of([rig], [at_targets(samples, places)])
    asked = replace(asked, targets=asked.targets * (1.0 - 1e-11))
    frames = []
    again = Problem.again

    def counted(self, targets, start, rows):
        frames.append(rows.tolist())
        return again(self, targets, start, rows)

    monkeypatch.setattr(Problem, "again", counted)
    off = 1e-6 * np.array([[1.0, 1.0], [1.0, 0.0], [-1.0, 1.0]])
    joints = Problem.joints
    monkeypatch.setattr(Problem, "joints", lambda self, *of: joints(self, *of) + off[:, None])
    aimed = drained(aiming.aim(asked, None, range(3)))
    assert frames and all(rows == [1] for rows in frames)
    tips = asked.linkage.tips(aimed.turns) + off
    assert np.linalg.norm(tips - asked.targets, axis=1)[[0, 2]].max() < 1e-8
