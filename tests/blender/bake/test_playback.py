# SPDX-License-Identifier: GPL-3.0-or-later
"""Which times are played back, and what is measured then."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from mathutils import Vector
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, now, pipeline, playback
from ik2d_addon.bake.keys.keying import KeyPlan
from ik2d_addon.bake.pipeline import play_back
from ik2d_addon.bake.playback import NOT_PLAYED
from ik2d_addon.rig.chain.chain import read_chain


def finished(steps):
    yielded = []
    while True:
        try:
            yielded.append(next(steps))
        except StopIteration as stop:
            return yielded, stop.value


class Solved:
    """Stands in for a solved chain: how far off, and how fast, at all times."""

    tolerance = 1e-6

    def __init__(self, rig=None, distance=(), joint_speed=()):
        self.rig, self.distance, self.joint_speed = rig, np.array(distance), np.array(joint_speed)

    def at(self, rows):
        return Solved(self.rig, self.distance[rows], self.joint_speed[rows])


def keyed(frames, rig=None, distance=None, joint_speed=None, doubtful=()):
    """Return a chain that may be further off, or faster, at some frames than at others."""
    flat = np.zeros(frames)
    solved = Solved(rig, flat if distance is None else distance, flat if joint_speed is None else joint_speed)
    return SimpleNamespace(solved=solved, doubtful=np.array(doubtful, np.intp), hands=None, samples=None)


def times(chains, plan, verify='SAMPLE'):
    """Return the times that are looked at, the frames and those half-way apart."""
    found = playback.times_to_play(chains, plan, verify).tolist()
    assert found == sorted(found)
    return [time for time in found if time % 1 == 0], [time for time in found if time % 1]


@pytest.mark.parametrize(
    "count, wanted, expected",
    [
        (0, 5, []),
        (1, 5, [0]),
        (3, 5, [0, 1, 2]),
        (5, 5, [0, 1, 2, 3, 4]),
        (9, 5, [0, 2, 4, 6, 8]),
        (100, 3, [0, 50, 99]),
    ],
)
def test_a_spread_has_the_first_and_the_last(count, wanted, expected):
    assert playback._spread(count, wanted).tolist() == expected
    assert playback._spread(count, wanted).dtype.kind == "i"


def test_a_sample_looks_where_most_may_be_wrong_on_each_chain():
    plan, flat = KeyPlan.every(range(1000)), np.zeros(1000)
    distance, speed = flat.copy(), flat.copy()
    distance[[17, 18]], speed[[501, 777]] = (0.2, 0.3), (-5.0, 1.0)
    one = keyed(1000, None, distance, speed, [55, 56])
    other = keyed(1000, None, np.eye(1000)[333], np.eye(1000)[444], [56, 998])
    spread = playback._spread(1000, playback.ON_FRAMES).tolist()
    between = (playback._spread(999, playback.BETWEEN_FRAMES) + 0.5).tolist()
    assert not {18, 777, 333, 444} & set(spread) and not {55.5, 56.5} & set(between)
    assert times([one], plan) == (sorted({*spread, 18, 777}), sorted({*between, 55.5, 56.5}))
    assert times([one, other], plan) == (
        sorted({*spread, 18, 777, 333, 444}),
        sorted({*between, 55.5, 56.5, 998.5}),
    )


def test_no_frame_is_the_worst_where_a_chain_is_on_its_target_throughout():
    plan, spread = KeyPlan.every(range(1000)), playback._spread(1000, playback.ON_FRAMES).tolist()
    on_target = keyed(1000, None, 0.9 * Solved.tolerance * np.eye(1000)[18])
    assert times([on_target], plan)[0] == spread
    off = keyed(1000, None, 1.1 * Solved.tolerance * np.eye(1000)[18])
    assert times([on_target, off], plan)[0] == sorted({*spread, 18})


def test_a_chain_that_is_hardly_faster_anywhere_than_where_is_looked_has_no_fastest_frame():
    plan, spread = KeyPlan.every(range(1000)), playback._spread(1000, playback.ON_FRAMES).tolist()
    speed = np.full(1000, 0.3)
    speed[spread[7]], speed[18] = 1.0, 1.9
    assert times([keyed(1000, None, None, speed)], plan)[0] == spread
    speed[18] = 2.1
    assert times([keyed(1000, None, None, speed)], plan)[0] == sorted({*spread, 18})


def test_where_keys_are_reduced_the_worst_is_looked_for_on_whole_frames():
    halves = np.arange(0.0, 200.5, 0.5)
    plan = KeyPlan(list(range(201)), halves.tolist(), 0.1)
    one = keyed(401, None, np.eye(401)[2 * 77], np.eye(401)[2 * 131])
    assert {77, 131} <= set(times([one], plan)[0])
    assert len(times([one], plan)[0]) == 26 + 2 and len(times([one], plan)[1]) == 26


def test_where_keys_are_sparse_all_is_looked_at_whatever_was_asked_for():
    """Between keys a tip goes where no solver sent it."""
    plan = KeyPlan(list(range(100)), list(range(100)), own={"leg": [0, 99]})
    whole, halves = times([keyed(100)], plan)
    assert whole == list(range(100)) and halves == [frame + 0.5 for frame in range(99)]
    every = KeyPlan.every(range(100))
    assert len(times([keyed(100)], every)[0]) == 26
    assert times([keyed(100)], every, 'ALL') == (whole, halves)


def test_some_fifty_times_are_looked_at_where_more_than_keys_turns_bones(monkeypatch):
    monkeypatch.setattr(pipeline, "turned_by_keys", lambda rigs: False)
    armature, _ = leg_with_target()
    chain = bake(armature, frame_start=1, frame_end=600).chains[0]
    looked = np.isfinite(chain.played_back)
    assert (playback.ON_FRAMES, playback.BETWEEN_FRAMES) == (26, 26)
    assert 26 <= looked.sum() <= 28 and looked[0] and looked[-1]
    assert chain.between_times[0] == 1.5 and chain.between_times[-1] == 599.5
    assert (chain.between_times % 1 == 0.5).all()
    # The target moves for forty frames: beside the sample, what may go off then is looked at.
    assert (chain.between_times > 40.0).sum() == 24 and 26 <= len(chain.between) <= 26 + 40


def jerky_leg():
    """Add a leg whose target is furthest away on frame 123 of 600 and jumps on frame 456."""
    armature, target = leg_with_target()
    target.animation_data_clear()
    for frame, place in (
        (1, (0, 0.2, 0.3)),
        (83, (0, 0.2, 0.3)),
        (123, (0, 0.2, -3.0)),
        (163, (0, 0.2, 0.3)),
        (466, (0, 0.2, 0.3)),
        (467, (0, 1.4, 1.5)),
        (600, (0, 1.4, 1.5)),
    ):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    return armature


def test_the_worst_and_the_fastest_frame_of_a_long_bake_are_played_back(monkeypatch):
    monkeypatch.setattr(pipeline, "turned_by_keys", lambda rigs: False)
    chain = bake(jerky_leg(), frame_start=1, frame_end=600).chains[0]
    looked = chain.frames[np.isfinite(chain.played_back)].tolist()
    fastest = int(chain.frames[np.argmax(chain.joint_speed)])
    assert chain.worst_frame == 123
    assert fastest == 467
    assert {123, 467} <= set(looked)
    assert {122, 124, 466, 468}.isdisjoint(looked)


def test_all_looks_at_every_frame_and_half_way_between():
    armature, _ = leg_with_target()
    for step in (1, 4):
        options = BakeOptions(verify='ALL')
        chain = bake(armature, frame_start=1, frame_end=9, step=step, options=options).chains[0]
        assert np.isfinite(chain.played_back).all() and len(chain.played_back) == 9
        assert chain.between_times.tolist() == [frame + 0.5 for frame in range(1, 9)]


def test_nothing_looks_at_nothing():
    armature, _ = leg_with_target()
    chain = bake(armature, frame_start=1, frame_end=9, options=BakeOptions(verify='NONE')).chains[0]
    assert np.isnan(chain.played_back).all() and len(chain.between) == len(chain.between_times) == 0
    plan = KeyPlan.every([1, 2])
    yielded, played = finished(play_back(bpy.context.scene, [keyed(2), keyed(2)], plan, 'NONE'))
    assert yielded == [] and played == [NOT_PLAYED] * 2
    unknown = [NOT_PLAYED.times, NOT_PLAYED.distance, NOT_PLAYED.in_plane, NOT_PLAYED.off_plane]
    assert [len(values) for values in unknown] == [0] * 4


def test_a_single_frame_has_nothing_between():
    armature, _ = leg_with_target()
    for verify in ('SAMPLE', 'ALL'):
        options = BakeOptions(verify=verify)
        chain = bake(armature, frame_start=5, frame_end=5, options=options).chains[0]
        assert np.isfinite(chain.played_back).tolist() == [True] and len(chain.between) == 0


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
    chains = [keyed(4, rig) for rig in rigs]
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
    played = now._look_now(bpy.context.scene, [keyed(1, rig) for rig in rigs])
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

    sample_steps = pipeline.sample_steps
    monkeypatch.setattr(pipeline, "sample_steps", recorded)
    finished(play_back(bpy.context.scene, [keyed(3, rigs[0])], KeyPlan.every([1, 4, 5]), 'SAMPLE'))
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
    _, (played,) = finished(play_back(bpy.context.scene, [keyed(4, rig)], plan, 'ALL'))
    assert played.times.tolist() == [1, 1.5, 2, 3, 3.5, 4]
    for values in (played.distance, played.in_plane, played.off_plane):
        assert len(values) == 6 and np.isfinite(values).all()


@pytest.mark.filterwarnings("error")
def test_a_rig_that_is_scaled_to_nothing_between_two_frames_has_no_plane_there():
    rig = two_chains()[0]
    for frame, scale in ((2, 1.0), (3, -1.0)):
        rig.armature.scale = (scale,) * 3
        rig.armature.keyframe_insert("scale", frame=frame)
    plan = KeyPlan.every([2, 3])
    _, (played,) = finished(play_back(bpy.context.scene, [keyed(2, rig)], plan, 'ALL'))
    bpy.context.scene.frame_set(2, subframe=0.5)
    assert played.distance[1] == pytest.approx(rig.target.matrix_world.translation.length, abs=1e-5)
    assert (played.in_plane[1], played.off_plane[1]) == (played.distance[1], 0.0)
