# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake is worked off in slices: between two of its yields at most one target, or one start, is solved."""

import math

import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, leg_with_target

from ik2d_addon.bake import bake_steps
from ik2d_addon.bake.solving import solvers
from ik2d_addon.core import Chain, ccd_steps, path_steps, posture_of, solve_even
from ik2d_addon.core.ccd import limited, solve
from ik2d_addon.core.path import Posture, posture
from ik2d_addon.core.region import sets
from ik2d_addon.rig.scene import sampler


def add_snake(bones: int, target: tuple[float, float, float], **settings):
    """Add an upright chain of some bones, and a target that hardly moves."""
    names = [f"bone.{i}" for i in range(bones)]
    armature = add_armature(
        {
            name: (
                (0, 0.001 * i * i, 0.1 * i),
                (0, 0.001 * (i + 1) ** 2, 0.1 * (i + 1)),
                names[i - 1] if i else "",
                0,
            )
            for i, name in enumerate(names)
        }
    )
    x, y, z = target
    chain = add_chain(armature, names[-1], add_target({1: target, 100: (x, y, z + 0.01)}), bones, **settings)
    return armature, chain


def counted(monkeypatch, module, name: str) -> list[int]:
    """Count the calls of a function from now on."""
    calls, function = [0], getattr(module, name)

    def counting(*args):
        calls[0] += 1
        return function(*args)

    monkeypatch.setattr(module, name, counting)
    return calls


def most_between_yields(steps, calls: list[int]) -> int:
    """Run steps to their end; return the most calls from one yield to the next."""
    most, last = 0, calls[0]
    for _ in steps:
        most, last = max(most, calls[0] - last), calls[0]
    return max(most, calls[0] - last)


@pytest.mark.slow
def test_a_limited_chain_and_a_target_out_of_reach_take_one_frame_or_joint_at_a_time(monkeypatch):
    armature, chain = add_snake(20, (0, 0.2, -1.0), solver='CCD')
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, -0.1, 0.1
    # Without Even's poses, which are found some frames at a time: see below.
    monkeypatch.setattr(Posture, "goals", lambda self, points, bend: np.tile(self.rest, (len(points), 1)))
    starts = counted(monkeypatch, limited, "_approached")
    asked = counted(monkeypatch, limited, "asked")
    joints = counted(monkeypatch, sets, "moved")
    assert most_between_yields(bake_steps(armature, None, 1, 100), _Sum(starts, joints)) == 1
    assert (starts[0], joints[0], asked[0]) == (1, 20, 100)


def test_a_free_chain_takes_one_frame_at_a_time(monkeypatch):
    armature, _ = add_snake(12, (0, 0.5, 0.6), solver='CCD')
    calls = counted(monkeypatch, solve, "solve_free")
    assert most_between_yields(bake_steps(armature, None, 1, 100), calls) == 1
    assert calls[0] >= 100


@pytest.mark.slow
def test_a_chain_that_stretches_takes_one_frame_at_a_time(monkeypatch):
    armature, _ = add_snake(6, (0, 0.2, 0.3), solver='CCD')
    bone = armature.pose.bones["bone.2"]
    for frame, scale in ((1, 1.0), (100, 1.4)):
        bone.scale = (scale, scale, scale)
        bone.keyframe_insert("scale", frame=frame)
    calls = counted(monkeypatch, solve, "solve_free")
    assert most_between_yields(bake_steps(armature, None, 1, 100), calls) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver, limited, most",
    [('AUTO', True, 8192), ('AUTO', False, 8192), ('CCD', True, 1024), ('CCD', False, 8192)],
)
def test_even_takes_some_frames_at_a_time(monkeypatch, solver, limited, most):
    armature, chain = add_snake(16, (0, 0.5, 0.6), solver=solver)
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = limited, -0.1, 0.1
    angles: list[int] = []
    function = solve_even

    def measured(chain, targets, **options):
        if len(targets) > 2:  # else the start of a path, and its side
            angles.append(len(chain) * len(targets))
        return function(chain, targets, **options)

    for module in (solvers, posture):
        monkeypatch.setattr(module, "solve_even", measured)
    frames = 1000
    calls, last = 0, 0
    for _ in bake_steps(armature, None, 1, frames):
        calls, last = max(calls, len(angles) - last), len(angles)
    assert calls == 1 and max(angles) == most
    assert sum(angles) >= 16 * frames


def test_rigid_joints_take_one_target_at_a_time(monkeypatch):
    weights = np.where(np.arange(8) % 3, 1.0, 0.0)
    chain = Chain(np.ones(8), [[-0.3, 0.3]] * 8, weights)
    calls = counted(monkeypatch, limited, "_approached")
    targets = np.tile([-3.0, 0.2], (5, 1))
    independent = ccd_steps(chain, targets, start=np.zeros(8))
    path = path_steps(chain, targets, start=np.zeros(8), posture=posture_of(chain, gain=0.0))
    for steps in (independent, path):
        assert most_between_yields(steps, calls) <= 1


@pytest.mark.parametrize(
    "solver, way, least",
    [
        ('TWO_BONE', 'STEP', 30),
        ('CCD', 'STEP', 60),
        ('TWO_BONE', 'CURVES', 5),
        ('CCD', 'CURVES', 30),
    ],
)
def test_progress_never_goes_back_and_stays_within_the_frames(solver, way, least, monkeypatch):
    monkeypatch.setattr(sampler, "WAY", way)
    armature, _ = leg_with_target(solver=solver)
    seen = list(bake_steps(armature, None, 1, 60))
    assert all(0 < done <= total == 60 for done, total in seen)
    solving = [done for done, _ in seen[: seen.index((60, 60)) + 1]]
    assert solving == sorted(solving)
    assert len(set(solving)) >= least


@pytest.mark.slow
def test_a_bake_closed_in_the_middle_of_a_target_changes_nothing():
    armature, chain = add_snake(20, (0, 0.2, -1.0), solver='CCD')
    for joint in chain.joints:
        joint.use_limit, joint.limit_min, joint.limit_max = True, -0.1, 0.1
    steps = bake_steps(armature, None, 1, 100)
    for done, total in steps:
        if done > 0.6 * total:  # sampled, and amid the solving
            break
    steps.close()
    assert armature.animation_data is None
    assert all(math.isclose(bone.rotation_quaternion.w, 1.0) for bone in armature.pose.bones)


class _Sum(list):
    """The sum of some counts, read as one."""

    def __init__(self, *counts: list[int]) -> None:
        self._counts = counts

    def __getitem__(self, _index: int) -> int:
        return sum(count[0] for count in self._counts)
