# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever turns the bones on some frames only is said, on every one of them."""

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target, evaluated_place, evaluated_tip

from ik2d_addon.bake import BakeOptions, arithmetic, bake, rounds
from ik2d_addon.bake.request import read_rigs
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.scene.by_curves import turned_by_more

LAST, FIRST_OFF, LAST_OFF = 240, 100, 102


def _empty(place=(0.0, 0.3, 0.5)):
    ob = bpy.data.objects.new("Else", None)
    bpy.context.scene.collection.objects.link(ob)
    ob.location = place
    return ob


def _on_some_frames(owner, path, on, off):
    for frame, value in ((1, off), (FIRST_OFF, on), (LAST_OFF + 1, off)):
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)
    for curve in existing_fcurves(owner.id_data):
        for point in curve.keyframe_points if curve.data_path.endswith(path) else ():
            point.interpolation = 'CONSTANT'


def _ik(armature):
    constraint = armature.pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.chain_count = _empty(), 2
    _on_some_frames(constraint, "mute", False, True)


def _copied(armature):
    constraint = armature.pose.bones["shin"].constraints.new('COPY_ROTATION')
    constraint.target = _empty()
    _on_some_frames(constraint, "influence", 1.0, 0.0)


def _at_rest(armature):
    _on_some_frames(armature.data, "pose_position", 'REST', 'POSE')


def _inherits(armature):
    armature.pose.bones["body"].rotation_quaternion = (1.0, 0.3, 0.0, 0.0)
    _on_some_frames(armature.data.bones["thigh"], "use_inherit_rotation", False, True)


def _modified(armature):
    armature.pose.bones["shin"].keyframe_insert("rotation_quaternion", frame=1)
    noise = existing_fcurves(armature)[1].modifiers.new('NOISE')
    noise.strength, noise.use_restricted_range = 2.0, True
    noise.frame_start, noise.frame_end = FIRST_OFF, LAST_OFF


def _driven(armature):
    curve = armature.pose.bones["shin"].driver_add("rotation_quaternion", 1)
    curve.driver.expression = f"0.4 if {FIRST_OFF} <= frame <= {LAST_OFF} else 0.1"


def _leg(act):
    bpy.context.scene.frame_end = LAST
    armature = add_leg()
    target = add_target({1: (0, 0.2, 0.3), LAST // 2: (0, -0.9, 0.8), LAST: (0, 0.8, 0.6)})
    chain = add_chain(armature, "shin", target)
    act(armature)
    for action in bpy.data.actions:
        action.update_tag()
    bpy.context.scene.frame_set(1)
    bpy.context.view_layer.update()
    return armature, chain


def _distances(armature, chain, times):
    found = []
    for time in times:
        bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
        found.append((evaluated_tip(armature, chain.tip) - evaluated_place(chain.target)).length)
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("act", [_ik, _copied, _inherits, _modified, _driven])
def test_each_frame_that_something_else_turns_is_said(act):
    armature, chain = _leg(act)
    (told,) = bake(armature, frame_start=1, frame_end=LAST).chains
    true = _distances(armature, chain, np.arange(2, 2 * LAST + 1) / 2.0)
    assert told.played.on_frames == pytest.approx(true[::2], abs=1e-4 * told.standard.reach)
    assert told.played.between[told.played.between_times % 1 == 0.5] == pytest.approx(
        true[1::2], abs=2e-4 * told.standard.reach
    )
    assert true[::2].max() > 0.1 and not told.reached
    assert told.missed.sum() == (true[::2] > 1e-3).sum() >= LAST_OFF - FIRST_OFF


def test_frames_at_rest_are_said():
    """How many: on a busy machine Blender may take a keyed pose_position a frame late, here or there."""
    armature, _ = _leg(_at_rest)
    (told,) = bake(armature, frame_start=1, frame_end=LAST).chains
    assert not told.reached and told.played.on_frames.max() > 0.1
    assert abs(told.missed.sum() - (LAST_OFF + 1 - FIRST_OFF)) <= 1


def _rigs(armature):
    return read_rigs(armature, None, [1, LAST], False)[0]


def _muted(armature):
    constraint = armature.pose.bones["shin"].constraints.new('COPY_ROTATION')
    constraint.target, constraint.mute = _empty(), True


def _muted_with_keys(armature):
    """An FK/IK switch that is keyed, of a constraint that Adopt has muted."""
    _copied(armature)
    armature.pose.bones["shin"].constraints[0].mute = True


def _without_influence(armature):
    constraint = armature.pose.bones["shin"].constraints.new('COPY_ROTATION')
    constraint.target = _empty()
    constraint.influence = 0.0
    constraint.keyframe_insert("influence", frame=1)
    constraint.keyframe_insert("influence", frame=90)


@pytest.mark.parametrize("act", [_muted, _muted_with_keys, _without_influence])
def test_what_never_acts_costs_nothing(act, monkeypatch):
    armature, _ = _leg(act)
    assert arithmetic.turned_by_keys(_rigs(armature))
    asked, steps = [], rounds.sample_steps

    def counted(scene, rigs, times, *rest, **settings):
        asked.extend(times if settings.get("way") == 'STEP' else ())
        return (yield from steps(scene, rigs, times, *rest, **settings))

    monkeypatch.setattr(rounds, "sample_steps", counted)
    assert bake(armature, frame_start=1, frame_end=LAST).all_reached
    # Keys that jump have the quarters of their two gaps looked at.
    assert len(asked) <= arithmetic.LOOKS + 1 + 4


@pytest.mark.parametrize("handle", [0.3, -0.3])
def test_an_influence_between_its_keys_counts(handle):
    """Keys of 0 with a handle away from 0 have an influence between."""
    armature, _ = _leg(_without_influence)
    curve = existing_fcurves(armature)[0]
    for point in curve.keyframe_points:
        point.handle_left_type = point.handle_right_type = 'FREE'
    curve.keyframe_points[0].handle_right.y = handle
    curve.update()
    assert turned_by_more(armature, {"shin"})


@pytest.mark.parametrize("kind", ['CONSTANT', 'BOUNCE', 'ELASTIC', 'EXPO', 'BACK'])
@pytest.mark.parametrize("verify", ['SAMPLE', 'ALL'])
def test_a_target_that_jumps_inside_gaps_is_not_said_to_be_reached(kind, verify):
    armature = add_leg()
    target = add_target({f: (0.0, 0.9 * np.cos(f / 4), 0.9 + 0.5 * np.sin(f / 4)) for f in range(1, 25)})
    for curve in existing_fcurves(target):
        for point in curve.keyframe_points:
            point.interpolation = kind
    target.animation_data.action.update_tag()
    chain = add_chain(armature, "shin", target)
    (told,) = bake(armature, frame_start=1, frame_end=24, options=BakeOptions(verify=verify)).chains
    true = _distances(armature, chain, np.arange(4, 97) / 4.0)
    assert told.max_error == pytest.approx(true.max(), abs=2e-4 * told.standard.reach)
    assert not told.reached and true.max() > 5e-3


@pytest.mark.parametrize("plane", ['ARC', 'SWING'])
def test_a_bone_that_aims_follows_between_frames(plane):
    armature = add_leg()
    places = {1: (0.1, -0.5, 0.6), 2: (0.1, -0.46, 0.65), 3: (0.12, -0.4, 0.7), 8: (0.3, 0.3, 0.9)}
    chain = add_chain(armature, "thigh", add_target(places), bone_count=1, plane=plane)
    (told,) = bake(armature, frame_start=1, frame_end=8).chains
    for time in np.arange(4, 33) / 4.0:
        bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        root, tip = (
            shown.matrix_world @ place
            for place in (shown.pose.bones["thigh"].head, shown.pose.bones["thigh"].tail)
        )
        way, own = evaluated_place(chain.target) - root, tip - root
        assert (way.normalized() * own.length - own).length < 5e-5 * told.standard.reach, time
