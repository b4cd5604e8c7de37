# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of several actions of rigs with poles, feet, contacts and riders, by Blender's evaluated pose."""

import bpy
import numpy as np
import pytest
from clip_rigs import action_of, add_clips, channels_for, everything, key_path, misses, playing, swing
from foot_rigs import lift_control, plain_leg
from rigs import add_chain, add_leg, crane_with_target, evaluated_place, evaluated_tip

from ik2d_addon.bake import BakeOptions, bake, bake_steps, clear
from ik2d_addon.chains import plant_feet
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import HAS_SLOTS, assign_action

ON_TARGET = 2e-6
NAMED = ["Walk", "Run"]


def assigned_alone(plays):
    """Have objects play actions, and keep doing so."""
    for ob, action in plays.items():
        assign_action(ob.animation_data or ob.animation_data_create(), action, f"OB{ob.name}")
    bpy.context.view_layer.update()


def poses(armature, frames):
    """Return the evaluated matrices of all bones at some frames."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(bone.matrix) for bone in evaluated.pose.bones])
    return np.array(found)


def clips_of(armature, others, frames=12):
    """Key clips "Walk" and "Run" of objects, each in actions named after them; return what plays in each."""
    clips = {}
    for number, name in enumerate(NAMED):
        own = action_of(name, (1, frames))
        channels_for(own, armature)
        clips[name] = {armature: own}
        for ob, paths in others.items():
            action = action_of(f"{name} {ob.name}")
            for path, keys in paths[number].items():
                key_path(action, ob, keys, path)
            clips[name][ob] = action
    return clips


def as_baked_one_by_one(armature, clips, frames=12):
    """Return the poses of each clip, baked with its actions assigned by hand, and clear the bakes."""
    found = {}
    for name, plays in clips.items():
        assigned_alone(plays)
        bake(armature, frame_start=1, frame_end=frames)
        found[name] = poses(armature, range(1, frames + 1))
        clear(armature)
    for ob in next(iter(clips.values())):
        ob.animation_data_clear()
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    bpy.context.view_layer.update()
    return found


def assert_same_in_all(armature, clips, frames=12, **options):
    """Check that each clip's evaluated pose is that of a bake of it alone."""
    expected = as_baked_one_by_one(armature, clips, frames)
    before = everything()
    report = bake(armature, actions=NAMED, options=BakeOptions(into='NEW', **options))
    after = everything()
    assert {name: after["actions"][name] for name in before["actions"]} == before["actions"]
    assert after["played"] == before["played"] and after["poses"] == before["poses"]
    for one, (name, plays) in zip(report.by_action, clips.items(), strict=True):
        with playing({**plays, armature: bpy.data.actions[one.action]}):
            assert np.abs(poses(armature, range(1, frames + 1)) - expected[name]).max() < 1e-6
    return report


def test_poles_play_their_own_actions():
    armature = add_leg()
    target, pole = (bpy.data.objects.new(name, None) for name in ("Foot", "Knee"))
    for ob in (target, pole):
        bpy.context.scene.collection.objects.link(ob)
    add_chain(armature, "shin", target, plane='POLE', pole=pole)
    goes = [{"location": swing(0.1, 12, up)} for up in (0.2, 0.5)]
    knees = [{"location": {1: (x, -3.0, 1.0), 12: (-x, -2.0, 1.4)}} for x in (1.5, -0.8)]
    report = assert_same_in_all(armature, clips_of(armature, {target: goes, pole: knees}))
    assert report.all_reached


def test_parents_of_targets_play_their_own_actions():
    armature = add_leg()
    ground, target = (bpy.data.objects.new(name, None) for name in ("Ground", "Foot"))
    for ob in (ground, target):
        bpy.context.scene.collection.objects.link(ob)
    target.parent, target.location = ground, (0.0, -0.3, 0.5)
    add_chain(armature, "shin", target)
    moves = [{"location": {1: (0, 0.3, 0), 12: (0, -0.2, up)}} for up in (0.2, 0.5)]
    report = assert_same_in_all(armature, clips_of(armature, {ground: moves}))
    assert report.all_reached and len(report.by_action) == 2


def test_feet_roll_in_each_action():
    leg = plain_leg()
    lift_control(leg, 0.15)
    place = np.array(leg.control.location)
    turns = [{"rotation_euler": {1: (0, 0, 0), 12: (angle, 0, 0)}} for angle in (0.4, -0.5)]
    for number, path in enumerate(turns):
        path["location"] = {1: tuple(place), 12: tuple(place + (0.0, 0.05 * number, 0.02))}
    assert_same_in_all(leg.armature, clips_of(leg.armature, {leg.control: turns}))


def test_planted_feet_stay_where_they_are():
    leg = plain_leg()
    lift_control(leg, 0.1)
    place = np.array(leg.control.location)
    steps = []
    for up in (0.1, 0.15):
        keys = {1: 0.0, 8: 0.0, 14: up, 20: 0.0, 28: 0.0}
        drift = {frame: 0.002 * number for number, frame in enumerate(keys)}
        steps.append({"location": {f: tuple(place + (0, drift[f], z)) for f, z in keys.items()}})
    clips = clips_of(leg.armature, {leg.control: steps}, 28)
    held = {}
    for name, plays in clips.items():
        assigned_alone(plays)
        plant_feet(leg.armature, None, 1, 28)
        held[name] = poses(leg.armature, range(1, 29))
    leg.armature.animation_data.action = leg.control.animation_data.action = None
    report = bake(leg.armature, actions=NAMED)
    assert len(report.by_action) == 2
    for name, plays in clips.items():
        with playing(plays):
            assert np.abs(poses(leg.armature, range(1, 29)) - held[name]).max() < 1e-5


def test_a_rider_follows_the_bones_of_another_armature():
    rider, horse = add_leg("Rider"), add_leg("Horse")
    horse.location.y = 0.1
    add_chain(rider, "shin", horse, subtarget="shin")
    path = horse.pose.bones["body"].path_from_id("location")
    saddle = [{path: {1: (0, 0.1, 0.4), 12: (0, up, 0.5)}} for up in (0.3, 0.6)]
    report = assert_same_in_all(rider, clips_of(rider, {horse: saddle}))
    assert [one.chains[0].frames[-1] for one in report.by_action] == [12, 12]


def test_a_rig_that_follows_another_is_baked_with_it_clip_by_clip():
    first, target = add_clips("A")
    second = add_leg("B")
    second.location.x = 0.4
    add_chain(second, "shin", first, subtarget="shin")
    for clip in ("Idle", "Walk", "Run"):
        channels_for(action_of(f"{clip} B"), second)
    report = bake([second, first], actions='ALL')
    assert [one.armature for one in report.by_armature] == ["B", "A"]
    assert {one.action for one in report.by_action} == {
        f"{clip} B, {clip} A" for clip in ("Idle", "Walk", "Run")
    }
    name = "Walk"
    plays = {
        first: bpy.data.actions[f"{name} A"],
        second: bpy.data.actions[f"{name} B"],
        target: bpy.data.actions[f"{name} A targets"],
    }
    assert misses(first, plays, 16) < ON_TARGET
    with playing(plays):
        off = []
        for frame in range(1, 17):
            bpy.context.scene.frame_set(frame)
            chain = second.ik2d.chains[0]
            place = evaluated_place(first, chain.subtarget)
            off.append((evaluated_tip(second, "shin") - place).length)
    reached = [one for one in report.by_action if one.action.startswith("Walk")][0].by_armature[0]
    assert reached.armature == "B" and abs(max(off) - reached.max_error) < 1e-5


def test_settings_that_one_action_animates_do_not_go_to_the_next():
    armature, target = add_clips("A")
    chain = armature.ik2d.chains[0]
    holder = channels_for(bpy.data.actions["Idle A"], armature)
    curve = holder.fcurves.new("ik2d.chains[0].influence")
    curve.keyframe_points.insert(1, 0.0)
    report = bake(armature, actions=["Idle A", "Walk A"])
    assert chain.influence == 1.0
    idle, walk = report.by_action
    assert idle.chains[0].is_off and walk.all_reached


@pytest.mark.skipif(not HAS_SLOTS, reason="Before 4.4 actions have no slots")
def test_slots_of_one_action_are_one_clip_with_one_copy():
    legs = [add_clips(name, 3.0 * number) for number, name in enumerate("AB")]
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    action = action_of("Walk", (1, 14))
    for number, (armature, target) in enumerate(legs):
        channels_for(action, armature)
        key_path(action, target, swing(3.0 * number, 14, 0.2))
    report = bake([armature for armature, _ in legs], actions='ALL', options=BakeOptions(into='NEW'))
    assert [one.action for one in report.by_action] == ["Walk baked"] and len(bpy.data.actions) == 2
    for armature, target in legs:
        assert misses(armature, {armature: bpy.data.actions["Walk baked"], target: action}, 14) < ON_TARGET


def test_live_chains_pause_once_and_are_live_no_more():
    armature, _ = add_clips("A", live=True)
    bake(armature, actions='ALL')
    chain = armature.ik2d.chains[0]
    assert not chain.live and chain.was_live
    clear(armature, actions='ALL')
    assert chain.live and not chain.was_live


def test_slides_that_are_turned_off_go_from_every_action():
    armature, chain = crane_with_target()
    target = chain.target
    assert target.animation_data.action is not None
    one = target.animation_data.action
    one.name, one.use_fake_user = "One targets", True
    two = one.copy()
    two.name, two.use_fake_user = "Two targets", True
    target.animation_data.action = None
    for name in ("One", "Two"):
        channels_for(action_of(name, (1, 24)), armature)
    before = everything()
    bake(armature, actions=["One", "Two"])
    holders = [channels_for(bpy.data.actions[name], armature) for name in ("One", "Two")]
    slid = [[curve for curve in holder.fcurves if curve.data_path.endswith("location")] for holder in holders]
    assert all(slid)
    for joint in chain.joints:
        joint.use_slide = False
    bake(armature, actions=["One", "Two"])
    for holder in holders:
        assert not [curve for curve in holder.fcurves if curve.data_path.endswith("location")]
    assert everything()["poses"] == before["poses"]


def test_frames_that_cannot_be_are_refused():
    armature, _ = add_clips("A")
    for frames in (("a", None), (3, 2), (None, 2.5), (True, 4), (2**30, None)):
        with pytest.raises(IK2DError):
            bake(armature, None, *frames, actions='ALL')
    with pytest.raises(IK2DError):
        bake(armature, step=0, actions='ALL')


def test_live_chains_stay_live_where_the_keys_are_in_new_actions_that_nobody_plays():
    armature, target = add_clips("A", live=True)
    chain = armature.ik2d.chains[0]
    assigned_alone({armature: bpy.data.actions["Walk A"], target: bpy.data.actions["Walk A targets"]})
    bake(armature, actions='ALL', options=BakeOptions(into='NEW'))
    assert chain.live and not chain.was_live
    bake(armature, options=BakeOptions(into='NEW', assign_baked=False))
    assert chain.live and not chain.was_live
    bake(armature, actions='ALL', options=BakeOptions(into='NEW', assign_baked=True))
    assert not chain.live and chain.was_live


def test_rigs_that_play_one_action_now_are_baked_in_others():
    legs = [add_clips("A"), add_clips("B", 3.0)]
    shared = action_of("Shared")
    for armature, _ in legs:
        assign_action(armature.animation_data_create(), shared, "")
        if HAS_SLOTS:
            slot = shared.slots.get("OBboth") or shared.slots.new(id_type='OBJECT', name="both")
            armature.animation_data.action_slot = slot
    armatures = [armature for armature, _ in legs]
    report = bake(armatures, actions=["Walk A", "Walk B"])
    assert report.all_reached and len(report.by_action) == 1
    assert all(armature.animation_data.action == shared for armature in armatures)
    with pytest.raises(IK2DError, match="play the same action"):
        bake(armatures)
    with pytest.raises(IK2DError, match="play the same action|no keys and no manual"):
        bake(armatures, actions=["Shared"])


@pytest.mark.parametrize("verify", ['SAMPLE', 'ALL'])
def test_a_stopped_bake_shows_the_assigned_actions_own_keys_again(verify):
    """Although a copy is assigned while a chain is solved that hangs on another one."""
    armature, target = add_clips("A")
    bpy.ops.object.mode_set(mode='EDIT')
    toe = armature.data.edit_bones.new("toe")
    toe.parent, toe.head, toe.tail = armature.data.edit_bones["shin"], (0, 0, 0.1), (0, -0.3, 0.1)
    bpy.ops.object.mode_set(mode='OBJECT')
    aim = bpy.data.objects.new("aim", None)
    bpy.context.scene.collection.objects.link(aim)
    aim.location = (0, -2, 0.3)
    add_chain(armature, "toe", aim, bone_count=1)
    path = armature.pose.bones["thigh"].path_from_id("rotation_quaternion")
    for number, clip in enumerate(("Idle", "Walk", "Run")):
        turned = (0.8, 0.1 * number, 0.2, 0.3)
        key_path(bpy.data.actions[f"{clip} A"], armature, {3: turned, 8: turned}, path)
    assigned_alone({armature: bpy.data.actions["Walk A"], target: bpy.data.actions["Walk A targets"]})
    bpy.context.scene.frame_set(5)
    before, shown = everything(), poses(armature, [5])
    options = BakeOptions(verify=verify)
    count = sum(1 for _ in bake_steps(armature, actions='ALL', options=options))
    clear(armature, actions='ALL')
    bpy.context.scene.frame_set(5)
    for stop in range(1, count, max(1, count // 40)):
        steps = bake_steps(armature, actions='ALL', options=options)
        for _ in range(stop):
            next(steps)
        steps.close()
        assert everything() == before, stop
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        assert np.array_equal([np.array(bone.matrix) for bone in evaluated.pose.bones], shown[0]), stop
