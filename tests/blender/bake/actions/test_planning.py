# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of several actions: each is played as Blender evaluates it; all is left as it was otherwise."""

import bpy
import pytest
from clip_rigs import (
    CLIPS,
    action_of,
    add_clips,
    channels_for,
    everything,
    key_path,
    misses,
    playing,
    pose_at,
    swing,
)
from rigs import add_armature, add_chain, add_leg, contents_of

from ik2d_addon.bake import BakeOptions, bake, bake_steps, clear
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import HAS_SLOTS, assign_action

ON_TARGET = 2e-6
SLOTTED = [False, True] if HAS_SLOTS else [False]


def plays_of(armature, target, clip, slotted, baked=""):
    """Return what a leg and its target play for a clip."""
    name = f"{clip} {armature.name}"
    own = bpy.data.actions[name + baked]
    return {armature: own, target: bpy.data.actions[name if slotted else f"{name} targets"]}


@pytest.mark.parametrize("slotted", SLOTTED)
def test_all_actions_of_two_rigs_play_on_their_targets(slotted):
    legs = [add_clips("A", 0.0, slotted), add_clips("B", 3.0, slotted)]
    report = bake([armature for armature, _ in legs], actions='ALL')
    assert report.all_reached and not report.warnings
    assert [one.action for one in report.by_action] == [f"{clip} A, {clip} B" for clip in sorted(CLIPS)]
    assert [len(one.chains[0].frames) for one in report.by_action] == [
        CLIPS[clip][0] for clip in sorted(CLIPS)
    ]
    for armature, target in legs:
        for clip, (last, *_) in CLIPS.items():
            assert misses(armature, plays_of(armature, target, clip, slotted), last) < ON_TARGET


@pytest.mark.parametrize("slotted", SLOTTED)
def test_new_actions_leave_the_originals_as_they_were_to_the_last_bit(slotted):
    armature, target = add_clips("A", 0.0, slotted)
    action = bpy.data.actions["Walk A"]
    action["mine"] = 3
    action.pose_markers.new("step").frame = 4
    bone = armature.pose.bones["shin"]
    curve = channels_for(action, armature).fcurves.new(bone.path_from_id("rotation_quaternion"), index=1)
    curve.keyframe_points.insert(5, 0.25)
    curve.modifiers.new('NOISE').mute = True
    before = everything()
    report = bake(armature, actions='ALL', options=BakeOptions(into='NEW'))
    after = everything()
    for name, contents in before.pop("actions").items():
        assert after["actions"][name] == contents
    made = {name for name in after.pop("actions") if name.endswith(" baked")}
    assert after == before and made == {f"{clip} A baked" for clip in CLIPS}
    assert [(one.source_action, one.action) for one in report.by_action] == [
        (f"{clip} A", f"{clip} A baked") for clip in sorted(CLIPS)
    ]
    for clip, (last, *_) in CLIPS.items():
        assert misses(armature, plays_of(armature, target, clip, slotted, " baked"), last) < ON_TARGET


def test_a_second_bake_replaces_its_own_new_actions_and_no_others():
    armature, target = add_clips("A")
    mine = action_of("Run A baked")
    options = BakeOptions(into='NEW')
    bake(armature, actions='ALL', options=options)
    first = bpy.data.actions["Walk A baked"]
    track = armature.animation_data_create().nla_tracks.new()
    track.mute, strip = True, track.strips.new("walk", 1, first)
    names = {action.name for action in bpy.data.actions}
    report = bake(armature, actions='ALL', options=options)
    assert {action.name for action in bpy.data.actions} == names
    assert bpy.data.actions["Run A baked"] == mine and "Run A baked.001" in [
        r.action for r in report.by_action
    ]
    assert strip.action == bpy.data.actions["Walk A baked"] and strip.action.users == 2
    if HAS_SLOTS:
        assert strip.action_slot.identifier == "OBA"
    assert misses(armature, plays_of(armature, target, "Walk", False, " baked"), CLIPS["Walk"][0]) < ON_TARGET


@pytest.mark.parametrize("slotted", SLOTTED)
@pytest.mark.parametrize("into", ['THIS', 'NEW'])
def test_loops_are_closed_to_the_last_bit(slotted, into):
    armature, target = add_clips("A", 0.0, slotted)
    bake(armature, actions='ALL', options=BakeOptions(into=into))
    for clip in ("Walk", "Run"):
        with playing(plays_of(armature, target, clip, slotted, " baked" if into == 'NEW' else "")):
            assert pose_at(armature, 1) == pose_at(armature, CLIPS[clip][0])


def test_the_baked_action_is_assigned_where_that_is_asked_for():
    armature, target = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    assign_action(armature.animation_data_create(), walk, "OBA")
    assign_action(target.animation_data_create(), bpy.data.actions["Walk A targets"], f"OB{target.name}")
    bake(armature, actions='ALL', options=BakeOptions(into='NEW'))
    assert armature.animation_data.action == walk
    bake(armature, actions='ALL', options=BakeOptions(into='NEW', assign_baked=True))
    assert armature.animation_data.action.name == "Walk A baked"
    if HAS_SLOTS:
        assert armature.animation_data.action_slot.identifier == "OBA"


def test_the_active_action_goes_into_a_new_one_which_is_then_assigned():
    armature, target = add_clips("A")
    walk = bpy.data.actions["Walk A"]
    assign_action(armature.animation_data_create(), walk, "OBA")
    assign_action(target.animation_data_create(), bpy.data.actions["Walk A targets"], f"OB{target.name}")
    before = contents_of(walk)
    report = bake(armature, frame_start=1, frame_end=16, options=BakeOptions(into='NEW'))
    assert contents_of(walk) == before and walk.users == 1
    assert armature.animation_data.action.name == "Walk A baked" == report.action
    assert report.source_action == "Walk A" and len(report.chains[0].frames) == 16
    plays = plays_of(armature, target, "Walk", False, " baked")
    assert misses(armature, plays, 16) < ON_TARGET


# --- Nothing is left half done ----------------------------------------------------------------------


@pytest.mark.parametrize("into", ['THIS', 'NEW'])
@pytest.mark.parametrize("slotted", SLOTTED)
def test_a_bake_that_is_stopped_anywhere_leaves_all_as_it_was(slotted, into):
    legs = [add_clips("A", 0.0, slotted), add_clips("B", 3.0, slotted)]
    armatures = [armature for armature, _ in legs]
    assign_action(armatures[0].animation_data_create(), bpy.data.actions["Run A"], "OBA")
    bpy.context.scene.frame_set(7)
    before, count = everything(), 0
    options = BakeOptions(into=into)
    for _ in bake_steps(armatures, actions='ALL', options=options):
        count += 1
    for action in list(bpy.data.actions):
        if action.name not in before["actions"]:
            bpy.data.actions.remove(action)
    clear(armatures[0], actions='ALL')
    clear(armatures[1], actions='ALL')
    assert everything() == before
    for stop in range(1, count, max(1, count // 7)):
        steps = bake_steps(armatures, actions='ALL', options=options)
        for _ in range(stop):
            next(steps)
        steps.close()
        assert everything() == before, stop


def test_progress_counts_the_frames_of_all_actions():
    armature, _ = add_clips("A")
    told = []
    bake(armature, actions='ALL', progress=lambda done, total: told.append((done, total)))
    frames = sum(last for last, *_ in CLIPS.values())
    assert told[-1] == (frames, frames) and {total for _, total in told} == {frames}
    assert told == sorted(told)


def test_an_error_in_progress_leaves_all_as_it_was():
    armature, _ = add_clips("A")
    before = everything()

    def failing(done, total):
        if done > 20:
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        bake(armature, actions='ALL', progress=failing)
    assert everything() == before


# --- What belongs together --------------------------------------------------------------------------


def two_targets(slotted=False):
    """Add a rig of two legs with a pole and a body that moves, for one clip."""
    armature = add_armature(
        {
            "thigh.L": ((0.2, 0, 2.0), (0.2, -0.1, 1.0), "", 0.0),
            "shin.L": ((0.2, -0.1, 1.0), (0.2, 0, 0.1), "thigh.L", 0.0),
            "thigh.R": ((-0.2, 0, 2.0), (-0.2, -0.1, 1.0), "", 0.0),
            "shin.R": ((-0.2, -0.1, 1.0), (-0.2, 0, 0.1), "thigh.R", 0.0),
        },
        "Rig",
    )
    targets = {}
    for side, x in (("L", 0.2), ("R", -0.2)):
        target = bpy.data.objects.new(f"foot.{side}", None)
        bpy.context.scene.collection.objects.link(target)
        add_chain(armature, f"shin.{side}", target)
        targets[side] = target, x
    return armature, targets


def test_each_target_has_an_action_that_is_named_after_it():
    armature, targets = two_targets()
    for clip, up in (("Walk", 0.3), ("Run", 0.6)):
        channels_for(action_of(clip), armature)
        for target, x in targets.values():
            key_path(action_of(f"{clip} {target.name}"), target, swing(x, 12, up))
    report = bake(armature, actions=["Walk", "Run"] if not HAS_SLOTS else 'ALL')
    assert report.all_reached and len(report.by_action) == 2
    for clip in ("Walk", "Run"):
        plays = {target: bpy.data.actions[f"{clip} {target.name}"] for target, _ in targets.values()}
        for side in targets:
            assert (
                misses(armature, {armature: bpy.data.actions[clip], **plays}, 12, f"shin.{side}") < ON_TARGET
            )


def test_actions_are_paired_by_strips():
    armature, target = add_leg(), bpy.data.objects.new("Foot", None)
    bpy.context.scene.collection.objects.link(target)
    add_chain(armature, "shin", target)
    for number, name in enumerate(("one", "two")):
        own, other = action_of(name), action_of(f"of the foot, {number}")
        channels_for(own, armature)
        key_path(other, target, swing(0.0, 10 + 4 * number, 0.2 + 0.2 * number))
        for ob, action in ((armature, own), (target, other)):
            track = (ob.animation_data or ob.animation_data_create()).nla_tracks.new()
            track.name, track.mute = name, True
            strip = track.strips.new(name, 1 + 40 * number, action)
            if HAS_SLOTS:
                strip.action_slot = action.slots[f"OB{ob.name}"]
    report = bake(armature, actions='ALL')
    assert [(one.action, len(one.chains[0].frames)) for one in report.by_action] == [("one", 10), ("two", 14)]
    for number, name in enumerate(("one", "two")):
        plays = {armature: bpy.data.actions[name], target: bpy.data.actions[f"of the foot, {number}"]}
        for ob in plays:
            ob.animation_data.use_nla = False
        assert misses(armature, plays, 10) < ON_TARGET


def test_pairs_say_what_names_do_not():
    armature, target = add_clips("A")
    bpy.data.actions["Walk A targets"].name = "Something else"
    before = everything()
    with pytest.raises(IK2DError, match="'Walk A'.*pair them"):
        bake(armature, actions=["Walk A", "Run A"])
    assert everything() == before
    report = bake(armature, actions=["Walk A", "Run A"], pairs={"Walk A": "Something else"})
    assert report.all_reached
    plays = {armature: bpy.data.actions["Walk A"], target: bpy.data.actions["Something else"]}
    assert misses(armature, plays, 16) < ON_TARGET


def test_targets_alone_make_actions_for_the_rig():
    armature, target = add_clips("A")
    for clip in CLIPS:
        bpy.data.actions.remove(bpy.data.actions[f"{clip} A"])
        bpy.data.actions[f"{clip} A targets"].name = f"{clip} {target.name}"
    names = [f"{clip} {target.name}" for clip in sorted(CLIPS)]
    if not HAS_SLOTS:
        for name in names:  # nothing else tells whose they are
            strip = (target.animation_data or target.animation_data_create()).nla_tracks.new()
            strip.strips.new(name, 1, bpy.data.actions[name])
    report = bake(armature, actions='ALL')
    assert report.all_reached and [one.action for one in report.by_action] == sorted(CLIPS)
    for clip, (last, *_) in CLIPS.items():
        assert bpy.data.actions[clip].use_fake_user
        plays = {armature: bpy.data.actions[clip], target: bpy.data.actions[f"{clip} {target.name}"]}
        assert misses(armature, plays, last) < ON_TARGET


def test_targets_with_blenders_own_names_make_one_clip():
    armature, targets = two_targets()
    for target, x in targets.values():
        for frame, place in swing(x, 12, 0.3).items():
            target.location = place
            target.keyframe_insert("location", frame=frame)
    report = bake(armature, actions='ALL')
    assert report.all_reached and [one.action for one in report.by_action] == ["RigAction"]
    assert armature.animation_data is None and len(bpy.data.actions) == 3
    plays = {armature: bpy.data.actions["RigAction"]}
    plays |= {target: target.animation_data.action for target, _ in targets.values()}
    for ob, action in plays.items():
        assign_action(ob.animation_data or ob.animation_data_create(), action, f"OB{ob.name}")
    if HAS_SLOTS:  # whose names Blender has made
        assert all(ob.animation_data.action_slot for ob in plays)
    assert misses(armature, {armature: plays[armature]}, 12, "shin.L") < ON_TARGET


@pytest.mark.skipif(not HAS_SLOTS, reason="Before 4.4 nothing tells whose the second action is")
def test_the_second_action_of_a_name_is_the_targets():
    armature, target = add_leg(), bpy.data.objects.new("Foot", None)
    bpy.context.scene.collection.objects.link(target)
    add_chain(armature, "shin", target)
    for clip, up in (("Walk", 0.2), ("Run", 0.5)):
        channels_for(action_of(clip), armature)
        key_path(action_of(clip), target, swing(0.0, 12, up))
    report = bake(armature, actions='ALL')
    assert report.all_reached and [one.action for one in report.by_action] == ["Run", "Walk"]
    plays = {armature: bpy.data.actions["Walk"], target: bpy.data.actions["Walk.001"]}
    assert misses(armature, plays, 12) < ON_TARGET


def test_targets_that_are_bones_of_the_rig_are_in_its_own_actions():
    armature = add_leg()
    bpy.ops.object.mode_set(mode='EDIT')
    bone = armature.data.edit_bones.new("control")
    bone.head, bone.tail = (0, 0, 0.1), (0, 0.2, 0.1)
    bpy.ops.object.mode_set(mode='OBJECT')
    add_chain(armature, "shin", armature, subtarget="control")
    path = armature.pose.bones["control"].path_from_id("location")
    for clip, last in (("Idle", 8), ("Walk", 14)):
        key_path(action_of(clip), armature, {1: (0, 0.2, 0.4), last: (0, -0.5, last / 20)}, path)
    report = bake(armature, actions='ALL')
    assert report.all_reached
    assert [(one.action, len(one.chains[0].frames)) for one in report.by_action] == [
        ("Idle", 8),
        ("Walk", 14),
    ]
    for clip, last in (("Idle", 8), ("Walk", 14)):
        assert misses(armature, {armature: bpy.data.actions[clip]}, last) < ON_TARGET
    assert clear(armature, actions='ALL') > 0
    for clip in ("Idle", "Walk"):
        assert len(channels_for(bpy.data.actions[clip], armature).fcurves) == 3


def test_kept_actions_are_not_among_all():
    armature, _ = add_clips("A")
    bone = armature.pose.bones["shin"]
    curve = channels_for(bpy.data.actions["Walk A"], armature).fcurves.new(
        bone.path_from_id("rotation_quaternion"), index=1
    )
    curve.keyframe_points.insert(5, 0.25)
    report = bake(armature, actions='ALL')
    assert report.replaced.keys == 1 and "Walk A, before IK 2D" in bpy.data.actions
    assert len(bake(armature, actions='ALL').by_action) == 3
    with pytest.raises(IK2DError, match="keeps the keys that a bake has replaced"):
        bake(armature, actions=["Walk A, before IK 2D"])
    assert clear(armature, actions=["Walk A"]) > 0
    assert "Walk A, before IK 2D" not in bpy.data.actions and curve.evaluate(5) == 0.25
    assert len(channels_for(bpy.data.actions["Run A"], armature).fcurves) == 8


# --- Bad input --------------------------------------------------------------------------------------


def refused(match, *arguments, **options):
    """Check that a bake is refused with words, and that nothing changes."""
    before = everything()
    with pytest.raises(IK2DError, match=match):
        bake(*arguments, **options)
    assert everything() == before


def test_bad_names_are_refused():
    armature, target = add_clips("A")
    refused("no action 'Jump'; there are 'Idle A'", armature, actions=["Walk A", "Jump"])
    refused("No action is named", armature, actions=[])
    refused(r"write \['Walk A'\]", armature, actions="Walk A")
    refused("actions takes", armature, actions=3)
    refused("is none", armature, actions=[3])
    refused("pairs goes with actions", armature, pairs={"Walk A": "x"})
    refused("no action 'x'", armature, actions='ALL', pairs={"Walk A": "x"})
    refused("pairs takes", armature, actions='ALL', pairs=["x"])
    refused(
        "which is not one of the actions", armature, actions=["Run A"], pairs={"Walk A": "Walk A targets"}
    )
    with pytest.raises(IK2DError, match="into must be"):
        BakeOptions(into='OTHER')
    with pytest.raises(IK2DError, match="assign_baked must be"):
        BakeOptions(assign_baked=3)


def test_an_action_of_another_rig_is_refused():
    armature, _ = add_clips("A")
    other, _ = add_clips("B", 3.0)
    assign_action(other.animation_data_create(), bpy.data.actions["Walk B"], "OBB")
    refused("'Walk B' is of 'B'.*not of 'A'", armature, actions=["Walk B"])


def test_an_action_that_two_rigs_play_is_refused():
    armature, target = add_clips("A")
    other = add_leg("B")
    for ob in (armature, other):
        assign_action(ob.animation_data_create(), bpy.data.actions["Walk A"], "OBA")
    refused("play the same action 'Walk A'", armature, actions=["Walk A"])
    report = bake(armature, actions=["Walk A"], options=BakeOptions(into='NEW'))
    assert report.all_reached


def test_tweak_mode_is_refused():
    armature, _ = add_clips("A")
    track = armature.animation_data_create().nla_tracks.new()
    strip = track.strips.new("Walk", 1, bpy.data.actions["Walk A"])
    track.select = strip.select = True
    armature.animation_data.nla_tracks.active = track
    armature.animation_data.use_tweak_mode = True
    refused("'A' is in the NLA's tweak mode", armature, actions='ALL')


def test_an_action_without_frames_is_refused():
    armature, target = add_clips("A")
    refused("has frames 1 to 16, of which", armature, frame_start=30, frame_end=40, actions=["Walk A"])
    empty = action_of("Empty A")
    channels_for(empty, armature)
    refused("No action of|no keys and no manual", armature, actions=["Empty A"])
    report = bake(armature, frame_start=4, frame_end=12, actions=["Walk A", "Idle A"])
    assert [(one.chains[0].frames[0], one.chains[0].frames[-1]) for one in report.by_action] == [
        (4, 12),
        (4, 10),
    ]


@pytest.mark.skipif(not HAS_SLOTS, reason="Before 4.4 actions have no slots")
def test_slots_that_may_each_be_meant_are_refused():
    armature, target = add_clips("A")
    action = action_of("Jump A")
    layer = action.layers.new("Layer").strips.new(type='KEYFRAME')
    path = armature.pose.bones["body"].path_from_id("location")
    for name in ("one", "two"):
        slot = action.slots.new(id_type='OBJECT', name=name)
        layer.channelbag(slot, ensure=True).fcurves.new(path).keyframe_points.insert(1, 0.0)
    refused("slots 'one' and 'two' of the action 'Jump A' may each", armature, actions=["Jump A"])


def test_an_armature_that_nothing_animates_is_refused():
    armature = add_leg("A")
    target = bpy.data.objects.new("T", None)
    bpy.context.scene.collection.objects.link(target)
    add_chain(armature, "shin", target)
    refused("No action animates 'A'", armature, actions='ALL')
