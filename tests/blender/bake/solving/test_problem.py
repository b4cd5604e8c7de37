# SPDX-License-Identifier: GPL-3.0-or-later
"""What the solver is asked: one chain for all frames wherever that is enough."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_leg, add_target

from ik2d_addon.bake.solving import problem
from ik2d_addon.bake.solving.problem import Problem
from ik2d_addon.bake.solving.stretching import problem_of
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.sampler import sample_steps


@pytest.mark.parametrize("part, one_by_one", [(0.5e-6, False), (3e-6, True)])
def test_lengths_that_hardly_change_are_one(monkeypatch, part, one_by_one):
    armature = add_leg()
    rig = read_chain(armature, add_chain(armature, "shin", add_target({1: (0, -0.3, 0.6)})))
    samples = drained(sample_steps(bpy.context.scene, [rig], range(1, 4))).chains[0]
    calls = []
    at_once = problem.solved_steps

    def counted(*arguments):
        calls.append(len(arguments[2]))
        return at_once(*arguments)

    monkeypatch.setattr(problem, "solved_steps", counted)
    monkeypatch.setattr(problem, "are_plain", lambda *_: False)  # else pairs of any lengths are one array
    plain = problem_of([rig], [samples])
    wider = np.array([[0.5, 0.5], [0.5 + part, 0.5], [0.5, 0.5]])
    turned = plain.unturned + [[0, 0], [0, part], [0, 0]]
    for changes in ({"lengths": wider}, {"lengths": wider[:, ::-1]}, {"unturned": turned}):
        calls.clear()
        solution = drained(replace(plain, **changes).all(None))
        assert calls == ([1, 1, 1] if one_by_one else [3])
        assert solution.angles.shape == (3, 2) and solution.status.shape == (3,)


# --- What small turns mend ------------------------------------------------------------------------


def asked_of_five() -> Problem:
    """Return the problem of a chain of five bones at three frames."""
    bones, head = {}, np.zeros(3)
    for i, length in enumerate((0.5, 0.3, 0.4, 0.2, 0.1)):
        tail = head + length * np.array([0.0, np.cos(0.2 * i), np.sin(0.2 * i)])
        bones[f"b{i}"] = (tuple(head), tuple(tail), f"b{i - 1}" if i else "", 0.3 * i)
        head = tail
    armature = add_armature(bones)
    rig = read_chain(armature, add_chain(armature, "b4", add_target({}), bone_count=0))
    return problem_of([rig], drained(sample_steps(bpy.context.scene, [rig], range(1, 4))).chains)


def test_small_turns_move_the_tip_by_what_it_missed_and_are_the_least():
    asked = asked_of_five()
    angles = np.array([[0.4, 0.5, 0.3, -0.2, 0.6], [1.0, 0.2, 0.2, 0.2, 0.2], [0.0, -1.0, 0.5, 0.5, 0.3]])
    missed = 1e-5 * np.array([[1.0, -2.0], [0.0, 1.0], [0.5, 0.0]])
    still = np.zeros_like(angles)
    before = asked.joints(asked.turns(angles), still)
    change, small = asked.mended(before, missed)
    assert small.all()
    moved = asked.joints(asked.turns(angles + change), still)[:, -1] - before[:, -1]
    assert moved == pytest.approx(missed, abs=1e-9)
    for row, arms in enumerate(before[:, -1:] - before[:, :-1]):
        expected = np.linalg.pinv(np.stack((-arms[:, 1], arms[:, 0]))) @ missed[row]
        assert change[row] == pytest.approx(expected, abs=1e-9)


def test_where_only_large_turns_would_do_none_are_made():
    asked = asked_of_five()
    angles = np.array([[0.3, 0.0, 0.0, 0.0, 0.0], [0.3, 1e-4, 0.0, 0.0, 0.0], [0.3, 0.2, 0.1, 0.0, 0.0]])
    along = np.array([np.cos(0.3), np.sin(0.3)])
    joints = asked.joints(asked.turns(angles), np.zeros_like(angles))
    change, small = asked.mended(joints, np.tile(-1e-5 * along, (3, 1)))
    assert small.tolist() == [False, False, True]
    assert not change[:2].any() and np.isfinite(change).all()


def test_joints_with_limits_are_left_to_the_solver():
    asked = asked_of_five()
    limits = np.full((5, 2), np.nan)
    limits[2] = -0.5, 0.5
    rig = replace(asked.rig, joints=replace(asked.rig.joints, limits=limits))
    joints = asked.joints(asked.turns(np.full((3, 5), 0.3)), np.zeros((3, 5)))
    change, small = replace(asked, rig=rig).mended(joints, np.full((3, 2), 1e-6))
    assert not small.any() and not change.any()
