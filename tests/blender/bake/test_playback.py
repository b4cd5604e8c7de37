# SPDX-License-Identifier: GPL-3.0-or-later
"""Which times are played back, and what is measured then."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, playback
from ik2d_addon.bake.playback import not_played, play_back
from ik2d_addon.rig.armature import read_chain


def finished(steps):
    yielded = []
    while True:
        try:
            yielded.append(next(steps))
        except StopIteration as stop:
            return yielded, stop.value


def solved(residual, joint_speed):
    return SimpleNamespace(residual=np.array(residual), joint_speed=np.array(joint_speed))


@pytest.mark.parametrize(
    "count, wanted, expected",
    [
        (0, 5, []),
        (1, 5, [0]),
        (3, 5, [0, 1, 2]),
        (5, 5, [0, 1, 2, 3, 4]),
        (9, 5, [0, 2, 4, 6, 8]),
        (100, 3, [0, 50, 99]),
        (-1, 5, []),
    ],
)
def test_a_spread_has_the_first_and_the_last(count, wanted, expected):
    assert playback._spread(count, wanted).tolist() == expected
    assert playback._spread(count, wanted).dtype.kind == "i"


def test_a_sample_looks_where_most_may_be_wrong_on_each_chain():
    flat = np.zeros(1000)
    residual, speed = flat.copy(), flat.copy()
    residual[[17, 18]], speed[[501, 777]] = (0.2, 0.3), (-5.0, 1.0)
    one = solved(residual, speed)
    other = solved(np.eye(1000)[333], np.eye(1000)[444])
    spread = playback._spread(1000, playback.ON_KEYS).tolist()
    assert not {18, 777, 333, 444} & set(spread)
    assert playback._chosen_frames([one], 1000).tolist() == sorted({*spread, 18, 777})
    both = playback._chosen_frames([one, other], 1000).tolist()
    assert both == sorted({*spread, 18, 777, 333, 444})


def test_a_sample_of_few_keys_looks_at_these():
    one = solved(np.eye(100)[40], np.eye(100)[60])
    assert playback._chosen_frames([one], 100, [3, 50, 99]).tolist() == [3, 40, 50, 60, 99]


def test_some_fifty_times_are_looked_at():
    armature, _ = leg_with_target()
    chain = bake(armature, frame_start=1, frame_end=600).chains[0]
    looked = np.isfinite(chain.played_back)
    assert (playback.ON_KEYS, playback.BETWEEN_KEYS) == (26, 26)
    assert 26 <= looked.sum() <= 28 and len(chain.between) == 26
    assert looked[0] and looked[-1]
    assert chain.between_times[0] == 1.5 and chain.between_times[-1] == 599.5
    assert not (chain.between_times % 1 == 0).any()


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


def test_the_worst_and_the_fastest_frame_of_a_long_bake_are_played_back():
    chain = bake(jerky_leg(), frame_start=1, frame_end=600).chains[0]
    looked = chain.frames[np.isfinite(chain.played_back)].tolist()
    fastest = int(chain.frames[np.argmax(chain.joint_speed)])
    assert chain.worst_frame == 123
    assert fastest == 467
    assert {123, 467} <= set(looked)
    assert {122, 124, 466, 468}.isdisjoint(looked)


def test_all_looks_at_every_frame_and_half_way_between():
    armature, _ = leg_with_target()
    chain = bake(armature, frame_start=1, frame_end=9, step=2, options=BakeOptions(verify='ALL')).chains[0]
    assert np.isfinite(chain.played_back).all() and len(chain.played_back) == 5
    assert chain.between_times.tolist() == [2.0, 4.0, 6.0, 8.0]


def test_nothing_looks_at_nothing():
    armature, _ = leg_with_target()
    chain = bake(armature, frame_start=1, frame_end=9, options=BakeOptions(verify='NONE')).chains[0]
    assert np.isnan(chain.played_back).all() and len(chain.between) == len(chain.between_times) == 0
    unknown = not_played(3)
    assert np.isnan(unknown.errors).tolist() == [True] * 3
    assert len(unknown.between) == len(unknown.between_times) == 0


def test_a_single_frame_has_nothing_between():
    armature, _ = leg_with_target()
    for verify in ('SAMPLE', 'ALL'):
        options = BakeOptions(verify=verify)
        chain = bake(armature, frame_start=5, frame_end=5, options=options).chains[0]
        assert np.isfinite(chain.played_back).tolist() == [True] and len(chain.between) == 0


def two_chains():
    armature = add_armature({name: ((0, y, 2), (0, y, 1), "", 0.0) for name, y in (("a", 0.0), ("b", 1.0))})
    first = add_target({1: (0, 0, 0), 9: (0, 1, 0.5)}, "First")
    second = add_target({1: (0, 1, 0), 9: (0, 2, 1)}, "Second")
    for name, target in (("a", first), ("b", second)):
        add_chain(armature, name, target, bone_count=1)
    return [read_chain(armature, chain) for chain in armature.ik2d.chains]


def test_each_chains_distance_is_blenders_at_each_time():
    """Nothing is keyed: the tips stay where they are, and the targets move away."""
    rigs, frames = two_chains(), [1, 4, 5, 9]
    chains = [SimpleNamespace(rig=rig, residual=np.zeros(4), joint_speed=np.zeros(4)) for rig in rigs]
    yielded, played = finished(play_back(bpy.context.scene, chains, frames, 'ALL'))
    assert yielded[-1] == 7
    for rig, result in zip(rigs, played, strict=True):
        times = [*frames, *result.between_times]
        assert result.between_times.tolist() == [2.5, 4.5, 7.0]
        for time, error in zip(times, [*result.errors, *result.between], strict=True):
            bpy.context.scene.frame_set(int(time), subframe=time % 1)
            distance = (evaluated_tip(rig.armature, rig.name) - evaluated_place(rig.target)).length
            assert error == pytest.approx(distance, abs=1e-5)


def test_times_are_played_forwards(monkeypatch):
    rigs = two_chains()[:1]
    asked = []

    def recorded(scene, rigs, times, **settings):
        asked.extend(times)
        return sample_steps(scene, rigs, times, **settings)

    sample_steps = playback.sample_steps
    monkeypatch.setattr(playback, "sample_steps", recorded)
    chains = [SimpleNamespace(rig=rigs[0], residual=np.zeros(3), joint_speed=np.zeros(3))]
    finished(play_back(bpy.context.scene, chains, [1, 4, 5], 'SAMPLE'))
    assert asked == [1, 2.5, 4, 4.5, 5]


def test_a_target_that_is_nowhere_between_two_frames_is_left_out():
    rig = two_chains()[0]
    holder = add_target({}, "Holder")
    rig.target.parent = holder
    rig.target.delta_location = (0, 1e3, 0)
    for frame, scale in ((2, 1.0), (2.5, 1e38), (3, 1.0)):
        holder.scale = (scale,) * 3
        holder.keyframe_insert("scale", frame=frame)
    chains = [SimpleNamespace(rig=rig, residual=np.zeros(4), joint_speed=np.zeros(4))]
    _, (played,) = finished(play_back(bpy.context.scene, chains, [1, 2, 3, 4], 'ALL'))
    assert np.isfinite(played.errors).all()
    assert played.between_times.tolist() == [1.5, 3.5] and np.isfinite(played.between).all()
