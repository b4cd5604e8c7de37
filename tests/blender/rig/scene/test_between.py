# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples half-way between frames, where Blender has to be asked for some."""

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target

from ik2d_addon.core.solution import drained
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene import between
from ik2d_addon.rig.scene.between import CERTAIN, half_way, restless_gaps, sampled_between
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


def _leg_with_a_target_that_reads(curve):
    """Return the chain of a leg whose target a driver moves by what keys do: (frame, value) pairs."""
    rig = _leg_with_a_driven_target("0.6 + 0.1 * dial")
    rig.target["dial"] = 0.0
    variable = rig.target.animation_data.drivers[0].driver.variables.new()
    variable.name = "dial"
    variable.targets[0].id, variable.targets[0].data_path = rig.target, '["dial"]'
    for frame, value in curve:
        rig.target["dial"] = value
        rig.target.keyframe_insert('["dial"]', frame=frame)
    bpy.context.view_layer.update()
    return rig


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
    rig = _leg_with_a_target_that_reads([(-40, 0.0), (100, 1.0)])
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
    ways = [(-9, 0.0, 'CONSTANT'), (30.4, 0.4, 'LINEAR'), (44.3, -0.2, 'LINEAR'), (99, 0.9, 'LINEAR')]
    rig = _leg_with_a_target_that_reads([way[:2] for way in ways])
    points = next(iter(existing_fcurves(rig.target))).keyframe_points
    for point, (_, _, kind) in zip(points, ways, strict=True):
        point.interpolation = kind
    rig.target.animation_data.action.update_tag()
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
    _, bounds, _ = half_way(samples, 1.0)
    assert bounds[19] > 0.1 and bounds[40] < 1e-6


def test_few_frames_and_no_numbers_leave_doubt():
    rig = _leg_with_a_driven_target("0.6 + 0.1 * sin(frame / 20)")
    samples = _samples(rig, sample_steps)
    assert np.isinf(half_way(samples.at(range(5)), 1.0)[1]).all()
    targets = samples.targets[: len(FRAMES)].copy()
    targets[30] = np.nan
    broken = between.changed(samples.at(range(len(FRAMES))), targets=targets)
    _, bounds, _ = half_way(broken, 1.0)
    assert np.isinf(bounds[[29, 30]]).all() and np.isfinite(bounds[[10, 50]]).all()


def test_settings_that_change_leave_doubt():
    rig = _leg_with_a_driven_target("0.6 + 0.1 * sin(frame / 20)")
    samples = _samples(rig, sample_steps).at(range(len(FRAMES)))
    changed = samples.with_settings(softness=np.where(np.arange(len(FRAMES)) < 9, 0.0, 0.5))
    _, bounds, _ = half_way(changed, 1.0)
    assert np.flatnonzero(np.isinf(bounds)).tolist() == [8]


def test_a_rig_that_f_curves_place_is_worked_out_as_before():
    armature = add_leg()
    target = add_target({1: (0, -0.3, 0.6), 30: (0, 0.2, 0.7), 60: (0, -0.3, 0.5)})
    rig = read_chain(armature, add_chain(armature, "shin", target))
    exact, found = _samples(rig, sample_steps), _samples(rig, sampled_between)
    assert (found.targets == exact.targets).all() and found.poses is not None


def _held_target(keys, kind='BEZIER', handles='AUTO_CLAMPED'):
    """Return the chain of a leg whose keyed target hangs on something with a constraint."""
    armature, holder = add_leg(), bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    holder.constraints.new('LIMIT_SCALE')
    target = add_target(keys)
    target.parent = holder
    for curve in existing_fcurves(target):
        for point in curve.keyframe_points:
            point.interpolation, point.handle_left_type, point.handle_right_type = kind, handles, handles
        curve.update()
    target.animation_data.action.update_tag()
    bpy.context.view_layer.update()
    return read_chain(armature, add_chain(armature, "shin", target))


CIRCLE = {f: (0.0, 0.9 * np.cos(f / 8), 0.9 + 0.5 * np.sin(f / 8)) for f in FRAMES}


@pytest.mark.parametrize("kind", ['BEZIER', 'CONSTANT', 'LINEAR', 'BOUNCE', 'ELASTIC', 'BACK', 'EXPO'])
def test_what_keys_do_inside_a_gap_is_seen(kind):
    """Of a key on every frame no frame shows how it leads to the next one."""
    rig = _held_target(CIRCLE, kind)
    exact, found = _samples(rig, sample_steps), _samples(rig, sampled_between)
    reach = sum(bone.bone.length for bone in rig.pose_bones)
    assert np.abs(found.targets - exact.targets).max() <= 2.0 * CERTAIN * reach


@pytest.mark.parametrize("kind", ['NOISE', 'STEPPED', 'FNGENERATOR', 'CYCLES', 'LIMITS'])
def test_what_modifiers_do_inside_a_gap_is_seen(kind):
    rig = _held_target({1: (0, -0.5, 0.6), 9: (0, 0.2, 0.7), 17: (0, -0.3, 0.8)})
    for curve in existing_fcurves(rig.target):
        modifier = curve.modifiers.new(kind)
        if kind == 'STEPPED':
            modifier.frame_step = 1.5
        elif kind == 'FNGENERATOR':  # nothing on whole frames
            modifier.use_additive, modifier.amplitude, modifier.phase_multiplier = True, 0.1, np.pi
    rig.target.animation_data.action.update_tag()
    exact, found = _samples(rig, sample_steps), _samples(rig, sampled_between)
    reach = sum(bone.bone.length for bone in rig.pose_bones)
    assert np.abs(found.targets - exact.targets).max() <= 2.0 * CERTAIN * reach


def test_a_full_turn_a_frame_is_seen():
    """On all frames it stands still."""
    rig = _held_target({1: (0.0, -0.5, 0.6)})
    holder = rig.target.parent
    for frame in (1, 60):
        holder.rotation_euler.x = 2.0 * np.pi * frame
        holder.keyframe_insert("rotation_euler", frame=frame)
    for curve in existing_fcurves(holder):
        for point in curve.keyframe_points:
            point.interpolation = 'LINEAR'
    holder.animation_data.action.update_tag()
    exact, found = _samples(rig, sample_steps), _samples(rig, sampled_between)
    assert np.ptp(exact.targets[: len(FRAMES)], axis=0).max() < 1e-4
    assert np.abs(found.targets - exact.targets).max() < 1e-4


@pytest.mark.parametrize(
    "expression", ["0.1 * floor(frame)", "0.1 * sin(6.2831853 * frame)", "1 if frame % 1 else 0"]
)
def test_a_driver_that_may_jump_or_swing_leaves_doubt(expression):
    rig = _leg_with_a_driven_target(expression)
    exact, found = _samples(rig, sample_steps), _samples(rig, sampled_between)
    assert (found.targets == exact.targets).all()


def test_what_keys_do_in_a_gap_is_looked_at_by_quarters():
    frames = np.arange(1.0, 61.0)
    constant = restless_gaps(
        bpy.context.scene,
        [_held_target({1: (0, -0.5, 0.6), 20: (0, 0.2, 0.7)}, 'CONSTANT')],
        frames,
        2.0,
        True,
    )
    assert constant.tolist() == [18]
    smooth = _held_target({-9: (0, -0.5, 0.6), 20: (0, 0.2, 0.7), 90: (0, -0.5, 0.6)})
    assert restless_gaps(bpy.context.scene, [smooth], frames, 2.0, True).tolist() == []
