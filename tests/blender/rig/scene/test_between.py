# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples half-way between frames, where Blender has to be asked for some."""

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target

from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene import between
from ik2d_addon.rig.scene.between import CERTAIN, half_way, sampled_between
from ik2d_addon.rig.scene.sampler import Sampler, sample_steps

FRAMES = list(range(1, 61))
HALVES = [frame + 0.5 for frame in FRAMES[:-1]]
MOTIONS = {
    "step": lambda t, at: 1.0 * (t > at),
    "corner": lambda t, at: np.maximum(t - at, 0.0),
    "bend": lambda t, at: np.maximum(t - at, 0.0) ** 2,
    "turning point": lambda t, at: np.abs(t - at) ** 3,
    "wave": lambda t, at: np.sin(0.7 * (t - at)),
}


def _leg_with_a_driven_target(expression):
    """Return the chain of a leg whose target a driver moves, so that Blender has to be stepped."""
    armature, target = add_leg(), add_target({})
    target.location = (0.0, -0.3, 0.6)
    target.driver_add("location", 2).driver.expression = expression
    return read_chain(armature, add_chain(armature, "shin", target))


def _samples(rig, way):
    with Sampler(bpy.context.scene, [rig]) as sampler:
        return drained(way(sampler, [rig], FRAMES, [*HALVES, 70.0])).chains[0]


@pytest.mark.parametrize("kind", MOTIONS)
def test_the_bound_holds_whatever_moves(kind):
    times = np.arange(20.0)
    worst = 0.0
    for at in np.linspace(-0.5, 19.5, 401):
        values = MOTIONS[kind](times, at)[:, None]
        bounds, starts = between._smoothest([values], len(times))
        there = between._middles(values, starts)[:, 0]
        off = np.abs(there - MOTIONS[kind](times[:-1] + 0.5, at))
        worst = max(worst, float(np.max(off / np.maximum(bounds, 1e-9))))
    assert 1e-4 < worst <= 1.0


def test_smooth_motion_is_not_stepped_through_half_way(monkeypatch):
    rig = _leg_with_a_driven_target("0.6 + 0.1 * sin(frame / 20)")
    exact = _samples(rig, sample_steps)
    asked = []

    def counted(sampler, chains, times, extra=(), **settings):
        asked.extend([*times, *extra])
        return (yield from sample_steps(sampler, chains, times, extra, **settings))

    monkeypatch.setattr(between, "sample_steps", counted)
    found = _samples(rig, sampled_between)
    assert [time for time in asked if time % 1] == []
    assert found.targets == pytest.approx(exact.targets, abs=1e-6)
    assert len(found.targets) == len(FRAMES) + len(HALVES) + 1


def test_blender_is_asked_where_motion_jumps_or_turns():
    rig = _leg_with_a_driven_target("0.6 if frame < 30.4 else 0.5 + abs(frame - 44.3) / 30")
    exact, found = _samples(rig, sample_steps), _samples(rig, sampled_between)
    reach = sum(bone.bone.length for bone in rig.pose_bones)
    off = np.abs(found.targets - exact.targets).max(axis=1) / reach
    assert 0.0 < off.max() <= CERTAIN
    halves = slice(len(FRAMES), -1)
    assert off[halves][29] == off[halves][43] == 0.0  # after frames 30 and 44
    assert (found.targets[: len(FRAMES)] == exact.targets[: len(FRAMES)]).all()
    assert (found.targets[-1] == exact.targets[-1]).all()


def test_what_moves_above_the_chain_counts_too():
    rig = _leg_with_a_driven_target("0.6")
    rig.armature.driver_add("location", 0).driver.expression = "0.0 if frame < 20.7 else 0.2"
    samples = _samples(rig, sample_steps).at(range(len(FRAMES)))
    _, bounds = half_way(samples, 1.0)
    assert bounds[19] > 0.1 and bounds[40] < 1e-6


def test_few_frames_and_no_numbers_leave_doubt():
    rig = _leg_with_a_driven_target("0.6 + 0.1 * sin(frame / 20)")
    samples = _samples(rig, sample_steps)
    assert np.isinf(half_way(samples.at(range(5)), 1.0)[1]).all()
    targets = samples.targets[: len(FRAMES)].copy()
    targets[30] = np.nan
    broken = between.replace(samples.at(range(len(FRAMES))), targets=targets)
    _, bounds = half_way(broken, 1.0)
    assert np.isinf(bounds[[29, 30]]).all() and np.isfinite(bounds[[10, 50]]).all()


def test_settings_that_change_leave_doubt():
    rig = _leg_with_a_driven_target("0.6 + 0.1 * sin(frame / 20)")
    samples = _samples(rig, sample_steps).at(range(len(FRAMES)))
    changed = samples.with_settings(softness=np.where(np.arange(len(FRAMES)) < 9, 0.0, 0.5))
    _, bounds = half_way(changed, 1.0)
    assert np.flatnonzero(np.isinf(bounds)).tolist() == [8]


def test_a_rig_that_f_curves_place_is_worked_out_as_before():
    armature = add_leg()
    target = add_target({1: (0, -0.3, 0.6), 30: (0, 0.2, 0.7), 60: (0, -0.3, 0.5)})
    rig = read_chain(armature, add_chain(armature, "shin", target))
    exact, found = _samples(rig, sample_steps), _samples(rig, sampled_between)
    assert (found.targets == exact.targets).all() and found.poses is not None
