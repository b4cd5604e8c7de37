# SPDX-License-Identifier: GPL-3.0-or-later
"""Which times are played back, and what is measured then."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, now, playback, rounds
from ik2d_addon.bake.keys.keying import KeyPlan
from ik2d_addon.bake.playback import NOT_PLAYED, play_back
from ik2d_addon.rig.chain.chain import read_chain


def finished(steps):
    yielded = []
    while True:
        try:
            yielded.append(next(steps))
        except StopIteration as stop:
            return yielded, stop.value


class Solved:
    """Stands in for a solved chain."""

    tolerance, reach, factors = 1e-6, 1.0, None

    def __init__(self, rig=None):
        self.rig = rig


def keyed(rig=None):
    """Return a chain that was keyed."""
    return SimpleNamespace(solved=Solved(rig), hands=None, samples=None)


@pytest.mark.parametrize("own", [{}, {"leg": [0, 99]}], ids=["keyed on all", "keyed on few"])
def test_all_frames_and_half_way_times_are_looked_at(own):
    plan = KeyPlan(list(range(100)), list(range(100)), own=own)
    expected = [*range(100), *(frame + 0.5 for frame in range(99))]
    assert playback.times_to_play(plan).tolist() == expected


def test_where_more_than_keys_turns_bones_blender_is_asked_at_all_times(monkeypatch):
    monkeypatch.setattr(rounds, "turned_by_keys", lambda rigs: False)
    armature, _ = leg_with_target()
    chain = bake(armature, frame_start=1, frame_end=600).chains[0]
    assert np.isfinite(chain.played.on_frames).all()
    assert chain.played.between_times.tolist() == [frame + 0.5 for frame in range(1, 600)]


def test_all_looks_at_every_frame_and_half_way_between():
    armature, _ = leg_with_target()
    for step in (1, 4):
        options = BakeOptions(verify='ALL')
        chain = bake(armature, frame_start=1, frame_end=9, step=step, options=options).chains[0]
        assert np.isfinite(chain.played.on_frames).all() and len(chain.played.on_frames) == 9
        assert chain.played.between_times.tolist() == [frame + 0.5 for frame in range(1, 9)]


def test_nothing_looks_at_nothing():
    armature, _ = leg_with_target()
    chain = bake(armature, frame_start=1, frame_end=9, options=BakeOptions(verify='NONE')).chains[0]
    assert (
        np.isnan(chain.played.on_frames).all()
        and len(chain.played.between) == len(chain.played.between_times) == 0
    )
    plan = KeyPlan.every([1, 2])
    yielded, played = finished(play_back(bpy.context.scene, [keyed(), keyed()], plan, 'NONE'))
    assert yielded == [] and played == [NOT_PLAYED] * 2
    unknown = [NOT_PLAYED.times, NOT_PLAYED.distance, NOT_PLAYED.in_plane, NOT_PLAYED.off_plane]
    assert [len(values) for values in unknown] == [0] * 4


def test_a_single_frame_has_nothing_between():
    armature, _ = leg_with_target()
    for verify in ('SAMPLE', 'ALL'):
        options = BakeOptions(verify=verify)
        chain = bake(armature, frame_start=5, frame_end=5, options=options).chains[0]
        assert np.isfinite(chain.played.on_frames).tolist() == [True] and len(chain.played.between) == 0


def two_chains():
    armature = add_armature({name: ((0, y, 2), (0, y, 1), "", 0.0) for name, y in (("a", 0.0), ("b", 1.0))})
    first = add_target({1: (0, 0, 0), 9: (1.7, 1, 0.5)}, "First")
    second = add_target({1: (0, 1, 0), 9: (0, 2, 1)}, "Second")
    for name, target in (("a", first), ("b", second)):
        add_chain(armature, name, target, bone_count=1, plane='X', aim_distance=True)
    armature.rotation_euler, armature.scale = (0.3, 0.5, -0.4), (1.0, 1.0, 2.0)
    bpy.context.view_layer.update()
    return [read_chain(armature, chain) for chain in armature.ik2d.chains]


def distance_now(rig):
    return evaluated_tip(rig.armature, rig.name) - evaluated_place(rig.target)


def test_each_chains_distance_is_blenders_at_each_time():
    """Nothing is keyed: the tips stay where they are, and the targets move away."""
    rigs, plan = two_chains(), KeyPlan.every([1, 4, 5, 9])
    chains = [keyed(rig) for rig in rigs]
    yielded, played = finished(play_back(bpy.context.scene, chains, plan, 'ALL'))
    assert yielded[-1] == 7
    across = rigs[0].armature.matrix_world.to_3x3()
    normal = (across @ Vector((0, 1, 0))).cross(across @ Vector((0, 0, 1))).normalized()
    for rig, result in zip(rigs, played, strict=True):
        assert result.times.tolist() == [1, 2.5, 4, 4.5, 5, 7, 9]
        columns = result.times, result.distance, result.in_plane, result.off_plane
        for time, distance, in_plane, off_plane in zip(*columns, strict=True):
            bpy.context.scene.frame_set(int(time), subframe=time % 1)
            missed = distance_now(rig)
            height = missed.dot(normal)
            assert distance == pytest.approx(missed.length, abs=1e-5)
            assert off_plane == pytest.approx(abs(height), abs=1e-5)
            assert in_plane == pytest.approx((missed - height * normal).length, abs=1e-5)
    assert played[0].off_plane.max() > 0.5


def test_now_is_the_time_that_the_scene_shows():
    rigs = two_chains()
    bpy.context.scene.frame_set(4, subframe=0.25)
    played = now._look_now(bpy.context.scene, [keyed(rig) for rig in rigs])
    for rig, result in zip(rigs, played, strict=True):
        assert result.times.tolist() == [4.25]
        assert result.distance.tolist() == pytest.approx([distance_now(rig).length], abs=1e-5)


def test_times_are_played_forwards(monkeypatch):
    rigs = two_chains()[:1]
    asked = []

    def recorded(scene, rigs, times, **settings):
        asked.extend(times)
        # A target may be nowhere between two frames; and it is Blender's own word that counts.
        assert settings == {"checked": False, "way": "STEP"}
        return sample_steps(scene, rigs, times, **settings)

    sample_steps = playback.sample_steps
    monkeypatch.setattr(playback, "sample_steps", recorded)
    finished(play_back(bpy.context.scene, [keyed(rigs[0])], KeyPlan.every([1, 4, 5]), 'SAMPLE'))
    assert asked == [1, 2.5, 4, 4.5, 5]


@pytest.mark.filterwarnings("error")
def test_a_target_that_is_nowhere_between_two_frames_is_left_out():
    rig = two_chains()[0]
    holder = add_target({}, "Holder")
    rig.target.parent = holder
    rig.target.delta_location = (0, 1e3, 0)
    for frame, scale in ((2, 1.0), (2.5, 1e38), (3, 1.0)):
        holder.scale = (scale,) * 3
        holder.keyframe_insert("scale", frame=frame)
    plan = KeyPlan.every([1, 2, 3, 4])
    _, (played,) = finished(play_back(bpy.context.scene, [keyed(rig)], plan, 'ALL'))
    known = [1, 1.5, 2, 3, 3.5, 4]
    assert [time for time in played.times.tolist() if time % 0.5 == 0] == known
    for values in (played.distance, played.in_plane, played.off_plane):
        assert len(values) == len(played.times) >= len(known) and np.isfinite(values).all()


@pytest.mark.filterwarnings("error")
def test_a_rig_that_is_scaled_to_nothing_between_two_frames_has_no_plane_there():
    rig = two_chains()[0]
    for frame, scale in ((2, 1.0), (3, -1.0)):
        rig.armature.scale = (scale,) * 3
        rig.armature.keyframe_insert("scale", frame=frame)
    plan = KeyPlan.every([2, 3])
    _, (played,) = finished(play_back(bpy.context.scene, [keyed(rig)], plan, 'ALL'))
    bpy.context.scene.frame_set(2, subframe=0.5)
    assert played.distance[1] == pytest.approx(rig.target.matrix_world.translation.length, abs=1e-5)
    assert (played.in_plane[1], played.off_plane[1]) == (played.distance[1], 0.0)
