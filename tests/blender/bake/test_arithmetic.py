# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that are played back by arithmetic, against Blender's own evaluation."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_leg, add_target, evaluated_place, evaluated_tip, stretching_arm

from ik2d_addon.bake import arithmetic, bake, playback, rounds
from ik2d_addon.bake.request import read_rigs

MODES = ('QUATERNION', 'AXIS_ANGLE', 'XYZ', 'ZXY')


def _distance(armature, tip, target, time):
    bpy.context.scene.frame_set(int(time), subframe=time % 1)
    return (evaluated_tip(armature, tip) - evaluated_place(target)).length


def _stepped(monkeypatch):
    """Return a list that gets the times that Blender is stepped through in playback."""
    asked, steps = [], playback.sample_steps

    def counted(scene, rigs, times, *rest, **settings):
        if settings.get("way") == 'STEP':
            asked.extend(times)
        return (yield from steps(scene, rigs, times, *rest, **settings))

    monkeypatch.setattr(playback, "sample_steps", counted)
    return asked


@pytest.mark.parametrize("seed", range(12))
def test_every_frame_and_half_way_time_is_as_blender_plays_it(seed, monkeypatch):
    """Rolls, gaps, scales, moving parents and all kinds of rotation modes."""
    rng = np.random.default_rng(seed)
    bones, above = {"hip": ((0, 0, 2.5), (0, 0, 2), "", float(rng.uniform(-3, 3)))}, "hip"
    at = np.array((0.0, 0.0, 2.0))
    count = int(rng.integers(2, 5))
    for i in range(count):
        end = at + (0.0, rng.uniform(0.1, 0.4), -rng.uniform(0.3, 0.8))
        bones[f"b{i}"] = (tuple(at), tuple(end), above, float(rng.uniform(-3, 3)))
        at, above = end + (0.0, 0.0, -0.05 * (seed % 2)), f"b{i}"
    armature = add_armature(bones)
    for bone in armature.pose.bones:
        bone.rotation_mode = MODES[int(rng.integers(len(MODES)))]
    armature.location, armature.rotation_euler = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    armature.scale = (float(rng.uniform(0.5, 2)),) * 3
    hip = armature.pose.bones["hip"]
    hip.rotation_mode = 'XYZ'
    for frame in (1, 20, 40):
        hip.location = rng.uniform(-0.2, 0.2, 3)
        hip.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()
    root = armature.matrix_world @ armature.pose.bones["b0"].head
    keys = {f: tuple(np.array(root) + rng.uniform(-0.9, 0.9, 3) * armature.scale[0]) for f in range(1, 41, 6)}
    target = add_target(keys)
    add_chain(armature, f"b{count - 1}", target, bone_count=count)
    asked = _stepped(monkeypatch)
    chain = bake(armature, frame_start=1, frame_end=40).chains[0]
    assert 2 <= len(asked) <= arithmetic.LOOKS + 1
    tip, within = f"b{count - 1}", 4e-6 * chain.standard.reach
    for times, distances in (
        (chain.frames, chain.played.on_frames),
        (chain.played.between_times, chain.played.between),
    ):
        for time, told in zip(times, distances, strict=True):
            assert _distance(armature, tip, target, float(time)) == pytest.approx(told, abs=within)
    assert len(chain.played.between) == 39


@pytest.mark.parametrize("which", ['ALL', 'LAST'])
def test_bones_that_stretch_are_played_too(which, monkeypatch):
    armature, settings = stretching_arm()
    settings.stretch_bones = which
    asked = _stepped(monkeypatch)
    chain = bake(armature, frame_start=1, frame_end=30).chains[0]
    assert chain.joints.stretch.max() > 1.01 and len(asked) <= arithmetic.LOOKS + 1
    tip, target, within = settings.tip, settings.target, 4e-6 * chain.standard.reach
    for time, told in zip(chain.played.between_times[::3], chain.played.between[::3], strict=True):
        assert _distance(armature, tip, target, float(time)) == pytest.approx(told, abs=within)


def test_the_worst_time_of_all_is_told():
    """A jerk of the target between two of the times that a sample would look at is measured too."""
    armature = add_leg()
    keys = {1: (0, -0.3, 0.6), 466: (0, -0.3, 0.6), 467: (0, 0.3, 0.9), 468: (0, -0.3, 0.6)}
    target = add_target(keys)
    add_chain(armature, "shin", target)
    chain = bake(armature, frame_start=1, frame_end=600).chains[0]
    assert np.isfinite(chain.played.on_frames).all() and len(chain.played.between) == 599
    rows = {
        int(np.argmax(chain.played.between)),
        *np.flatnonzero(np.abs(chain.played.between_times - 467) < 3).tolist(),
    }
    assert len(rows) >= 6
    for row in rows:
        far = _distance(armature, "shin", target, float(chain.played.between_times[row]))
        assert far == pytest.approx(chain.played.between[row], abs=1e-5)


def test_blender_is_asked_everywhere_where_it_disagrees(monkeypatch):
    armature, target = add_leg(), add_target({1: (0, -0.3, 0.6), 30: (0, 0.2, 0.8)})
    add_chain(armature, "shin", target)
    monkeypatch.setattr(arithmetic.Expected, "agrees", lambda *_: False)
    asked = _stepped(monkeypatch)
    chain = bake(armature, frame_start=1, frame_end=30).chains[0]
    assert len(set(asked)) == 59 and np.isfinite(chain.played.on_frames).all()


def test_a_tip_elsewhere_is_a_disagreement():
    armature, target = add_leg(), add_target({1: (0, -0.3, 0.6), 30: (0, 0.2, 0.8)})
    add_chain(armature, "shin", target)
    (rig,), _ = read_rigs(armature, None, [1, 30], False)
    with rounds.Sampler(bpy.context.scene, [rig]) as sampler:
        samples = rounds.drained(rounds.sample_steps(sampler, [rig], [1, 15, 30])).chains[0]
    there = arithmetic.Expected(np.array([1.0, 15.0, 30.0]), [samples])
    reach = sum(bone.bone.length for bone in rig.pose_bones)
    assert there.agrees([0, 2], [samples.at([0, 2])], [reach])
    off = samples.tips + (0.0, 0.0, 4e-6 * reach)
    moved = rounds.changed(samples, tips=off)
    assert not there.agrees([0, 2], [moved.at([0, 2])], [reach])
    moved = rounds.changed(samples, targets=samples.targets + (0.0, 0.0, 4e-6 * reach))
    assert not there.agrees([0, 2], [moved.at([0, 2])], [reach])


@pytest.mark.parametrize("cause", ["constraint", "driver", "none"])
def test_bones_that_more_than_keys_turn_are_stepped(cause, monkeypatch):
    armature, target = add_leg(), add_target({1: (0, -0.3, 0.6), 30: (0, 0.2, 0.8)})
    add_chain(armature, "shin", target)
    thigh = armature.pose.bones["thigh"]
    if cause == "constraint":
        thigh.constraints.new('LIMIT_SCALE')
    elif cause == "driver":
        armature.driver_add('pose.bones["thigh"].scale', 0).driver.expression = "1.0"
    asked = _stepped(monkeypatch)
    bake(armature, frame_start=1, frame_end=60)
    assert (len(asked) > 40) == (cause != "none")
