# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys go where the object's animation lives, and leave all else in it to the last bit."""

import bpy
import pytest
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    animation_of,
    contents_of,
    every_bit_of,
    every_bit_of_animation,
    leg_with_target,
    played_back_errors,
    plays_back_worse,
)

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError, Status
from ik2d_addon.features.baking.operators import frozen_motion_notes
from ik2d_addon.rig.animation.key_faults import notes_before
from ik2d_addon.rig.animation.versions import existing_channels, existing_fcurves

PLAYED_BACK = 1e-5  # of reach
SLOTS = hasattr(bpy.types, "ActionSlot")
THIGH = 'pose.bones["thigh"].rotation_quaternion'
CHANNELS = {(f'pose.bones["{name}"].rotation_quaternion', i) for name in ("thigh", "shin") for i in range(4)}


def assert_plays_back(armature, report, frames):
    chain = armature.ik2d.chains[0]
    for frame, error in played_back_errors(armature, chain, frames):
        assert error <= PLAYED_BACK * report.chains[0].standard.reach, (frame, error)


def curve_of(armature, path=THIGH, index=0):
    return next(c for c in existing_fcurves(armature) if (c.data_path, c.array_index) == (path, index))


def warnings_of(report):
    return " / ".join(report.warnings)


# --- Actions, slots, groups -----------------------------------------------------------------------


@pytest.mark.slow
def test_an_object_without_animation_gets_an_action_of_its_name():
    armature, _ = leg_with_target()
    report = bake(armature, frame_start=1, frame_end=10)
    assert armature.animation_data.action.name == "RigAction"
    if SLOTS:
        assert armature.animation_data.action_slot.identifier == "OBRig"
        assert len(armature.animation_data.action.slots) == 1
    assert set(animation_of(armature)) == CHANNELS
    assert not report.warnings
    assert_plays_back(armature, report, range(1, 11))


def test_the_objects_own_action_and_slot_are_used():
    armature, _ = leg_with_target()
    armature.pose.bones["body"].keyframe_insert("location", frame=3)
    animation = armature.animation_data
    animation.action.name = "Walk"
    action, slot = animation.action, getattr(animation, "action_slot", None)
    report = bake(armature, frame_start=1, frame_end=10)
    assert (animation.action, getattr(animation, "action_slot", None)) == (action, slot)
    assert set(animation_of(armature)) == CHANNELS | {('pose.bones["body"].location', i) for i in range(3)}
    assert_plays_back(armature, report, range(1, 11))


@pytest.mark.skipif(not SLOTS, reason="4.4 brought slots")
def test_an_action_shared_through_slots_keeps_the_others_curves():
    armature, _ = leg_with_target()
    other = add_leg("Other")
    other.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=4)
    other.keyframe_insert("location", frame=7)
    action = other.animation_data.action
    before = contents_of(action)["curves"]
    armature.animation_data_create().action = action
    report = bake(armature, frame_start=1, frame_end=10)
    assert armature.animation_data.action == action
    assert armature.animation_data.action_slot != other.animation_data.action_slot
    after = contents_of(action)["curves"]
    assert {key: after[key] for key in before} == before
    assert len(after) == len(before) + len(CHANNELS)
    assert not report.warnings
    assert_plays_back(armature, report, range(1, 11))


@pytest.mark.skipif(not SLOTS, reason="4.4 brought slots")
def test_an_action_whose_slot_was_not_chosen_gets_one_for_the_object():
    armature, _ = leg_with_target()
    action = bpy.data.actions.new("Walk")
    action.slots.new(id_type='OBJECT', name="Somebody")
    animation = armature.animation_data_create()
    animation.action = action
    animation.action_slot = None
    report = bake(armature, frame_start=1, frame_end=10)
    assert [slot.identifier for slot in action.slots] == ["OBSomebody", "OBRig"]
    assert animation.action_slot.identifier == "OBRig"
    assert_plays_back(armature, report, range(1, 11))


def test_curves_that_another_object_plays_too_are_warned_about():
    """Before 4.4 whoever shares an action shares its curves; later, whoever shares the slot."""
    armature, _ = leg_with_target()
    other = add_leg("Other")
    bake(armature, frame_start=1, frame_end=3)
    assert "Other" not in warnings_of(bake(armature, frame_start=1, frame_end=3))
    animation = other.animation_data_create()
    animation.action = armature.animation_data.action
    if SLOTS:
        animation.action_slot = armature.animation_data.action_slot
    report = bake(armature, frame_start=1, frame_end=3)
    assert "'Other' plays the same action" in warnings_of(report)
    assert_plays_back(armature, report, range(1, 4))


def play_the_same(armature, other):
    """Have another object play the armature's action, and its slot."""
    animation = other.animation_data_create()
    animation.action = armature.animation_data.action
    if SLOTS:
        animation.action_slot = armature.animation_data.action_slot
    return other


def test_objects_that_the_curves_cannot_move_are_no_reason_for_a_word():
    """A mesh has no bones, an armature may have others, or turn them by another channel."""
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=3)
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    without = add_armature({"tail": ((0, 0, 0), (0, 0, 1), "", 0.0)}, "Snake")
    euler = add_leg("Euler")
    for bone in euler.pose.bones:
        bone.rotation_mode = 'XYZ'
    for other in (mesh, without, euler):
        play_the_same(armature, other)
    assert bake(armature, frame_start=1, frame_end=3).warnings == ()
    euler.pose.bones["shin"].rotation_mode = 'QUATERNION'
    warnings = bake(armature, frame_start=1, frame_end=3).warnings
    assert len(warnings) == 1 and "'Euler' plays the same action" in warnings[0]


def test_another_rig_that_plays_the_action_in_a_strip_is_warned_about():
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=3)
    other = play_the_same(armature, add_leg("Other"))
    strip = strip_of(other, start=1)
    assert "'Other' plays the same action" in warnings_of(bake(armature, frame_start=1, frame_end=3))
    strip.mute = True
    assert not bake(armature, frame_start=1, frame_end=3).warnings


def test_channels_go_into_the_bones_group():
    armature, _ = leg_with_target()
    bake(armature, frame_start=1, frame_end=3)
    groups = {(c.data_path.split('"')[1], c.group.name) for c in existing_fcurves(armature)}
    assert groups == {("thigh", "thigh"), ("shin", "shin")}


def test_a_channel_that_is_in_a_group_of_the_users_stays_there():
    armature, _ = leg_with_target()
    armature.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=2, group="Legs")
    bake(armature, frame_start=1, frame_end=3)
    groups = {(c.data_path.split('"')[1], c.group.name) for c in existing_fcurves(armature)}
    assert groups == {("thigh", "Legs"), ("shin", "shin")}


def test_bone_names_with_quotes_and_backslashes():
    armature, target = leg_with_target()
    names = {"thigh": 'th"igh\\', "shin": "sh[in]'s"}
    for old, new in names.items():
        armature.data.bones[old].name = new
    armature.ik2d.chains[0].tip = names["shin"]
    report = bake(armature, frame_start=1, frame_end=10)
    assert_plays_back(armature, report, range(1, 11))
    assert {c.group.name for c in existing_fcurves(armature)} == set(names.values())


# --- NLA ------------------------------------------------------------------------------------------


def strip_of(armature, start=11, scale=1.0, reverse=False):
    """Push the armature's action down into a strip that starts at a frame; return the strip."""
    animation = armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Walk", start, action)
    if SLOTS:
        strip.action_slot = slot
    strip.scale, strip.use_reverse = scale, reverse
    return strip


def enter_tweak_mode(armature, strip):
    for track in armature.animation_data.nla_tracks:
        track.select = strip.name in track.strips
        for each in track.strips:
            each.select = each == strip
    armature.animation_data.nla_tracks.active = next(
        track for track in armature.animation_data.nla_tracks if strip.name in track.strips
    )
    armature.animation_data.use_tweak_mode = True
    assert armature.animation_data.use_tweak_mode


@pytest.mark.parametrize("scale", [1.0, 2.5, 0.5])
@pytest.mark.parametrize("reverse", [False, True])
def test_in_tweak_mode_keys_land_in_the_strips_time(scale, reverse):
    armature, _ = leg_with_target()
    for frame in (1, 21):
        for name in ("thigh", "shin"):
            armature.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    action = armature.animation_data.action
    strip = strip_of(armature, scale=scale, reverse=reverse)
    first, last = int(strip.frame_start), int(strip.frame_end)
    assert first == 11
    enter_tweak_mode(armature, strip)
    report = bake(armature, frame_start=first, frame_end=last)
    assert not report.warnings
    assert armature.animation_data.use_tweak_mode
    assert armature.animation_data.action == action
    assert_plays_back(armature, report, range(first, last + 1))
    times = [key[0] for key in animation_of(armature)[THIGH, 0]]
    assert times[0] == pytest.approx(1.0, abs=1e-3)
    assert times[-1] == pytest.approx(21.0, abs=1e-3)
    assert len(times) == last - first + 1
    armature.animation_data.use_tweak_mode = False
    assert_plays_back(armature, report, range(first, last + 1))


def test_a_pushed_down_action_stays_and_a_new_one_plays_on_top():
    armature, _ = leg_with_target()
    for frame, turn in ((1, (1, 0, 0, 0)), (21, (0.7, 0.7, 0, 0))):
        armature.pose.bones["thigh"].rotation_quaternion = turn
        armature.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=frame)
    old = armature.animation_data.action
    before = contents_of(old)
    strip_of(armature, start=1)
    report = bake(armature, frame_start=1, frame_end=21)
    assert armature.animation_data.action != old
    assert contents_of(old) == before
    assert not report.warnings
    assert_plays_back(armature, report, range(1, 22))


def leg_with_a_strip(first=1, last=41):
    """Return a leg that an NLA strip moves from frame 1 to 41, baked action and all else still to come."""
    armature, target = leg_with_target()
    for frame, turn in ((first, (1, 0, 0, 0)), (last, (0.7, 0.7, 0, 0))):
        armature.pose.bones["thigh"].rotation_quaternion = turn
        armature.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=frame)
    strip_of(armature, start=first)
    return armature, target


def poses_at(armature, frames):
    """Return the evaluated matrices of the thigh at the frames."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([list(row) for row in evaluated.pose.bones["thigh"].matrix])
    return found


FREEZES = (
    "'Rig': NLA strips move 'thigh' from frame 1 to 41; before frame 10 and after frame 20 the new keys"
    " hold the pose: bake all these frames, or set Action Extrapolation to Nothing in the NLA Editor"
)


def test_motion_of_strips_that_new_keys_freeze_outside_the_baked_frames_is_said():
    armature, _ = leg_with_a_strip()
    outside = (1, 5, 9, 21, 30, 41)
    before = poses_at(armature, outside)
    assert notes_before(armature, ["thigh", "shin"], range(10, 21)) == [FREEZES]
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 10, 20
    assert frozen_motion_notes(armature, scene) == [FREEZES]  # as the panel says it
    scene.frame_start, scene.frame_end = 1, 41
    assert frozen_motion_notes(armature, scene) == []
    assert bake(armature, frame_start=10, frame_end=20).warnings == (FREEZES,)
    after = poses_at(armature, outside)
    assert after[0] == after[2] and after[3] == after[5], "it is frozen"
    armature.animation_data.action_extrapolation = 'NOTHING'
    assert poses_at(armature, outside) == before, "the way out leads out"
    assert not bake(armature, frame_start=10, frame_end=20).warnings, "keyed already: nothing new freezes"


@pytest.mark.parametrize("frames", [(1, 41), (-5, 60)])
def test_frames_that_hold_all_motion_of_the_strips_need_no_word(frames):
    armature, _ = leg_with_a_strip()
    assert notes_before(armature, ["thigh"], frames) == []
    assert not bake(armature, frame_start=frames[0], frame_end=frames[1]).warnings


def mute_strip(armature):
    armature.animation_data.nla_tracks[0].strips[0].mute = True


def mute_track(armature):
    armature.animation_data.nla_tracks[0].mute = True


def leave_the_nla(armature):
    armature.animation_data.use_nla = False


def extrapolate_nothing(armature):
    armature.animation_data.action_extrapolation = 'NOTHING'


def tweak(armature):
    enter_tweak_mode(armature, armature.animation_data.nla_tracks[0].strips[0])


def turn_by_other_channels(armature):
    armature.pose.bones["thigh"].rotation_mode = 'XYZ'


@pytest.mark.parametrize(
    "change", [mute_strip, mute_track, leave_the_nla, extrapolate_nothing, tweak, turn_by_other_channels]
)
def test_strips_that_new_keys_freeze_nothing_of_need_no_word(change):
    armature, _ = leg_with_a_strip()
    change(armature)
    assert notes_before(armature, ["thigh", "shin"], (10, 20)) == []


def test_motion_before_the_baked_frames_goes_on_where_the_action_holds_forward_only():
    armature, _ = leg_with_a_strip()
    armature.animation_data.action_extrapolation = 'HOLD_FORWARD'
    (note,) = notes_before(armature, ["thigh"], (10, 20))
    assert "; after frame 20 the new keys" in note
    before = poses_at(armature, (1, 9))
    assert bake(armature, frame_start=10, frame_end=20).warnings == (note,)
    assert poses_at(armature, (1, 9)) == before
    assert notes_before(armature, ["thigh"], (10, 41)) == []


def test_an_action_beside_the_strips_that_lacks_the_channels_is_no_exception():
    armature, _ = leg_with_a_strip()
    armature.pose.bones["body"].keyframe_insert("location", frame=1)
    (note,) = notes_before(armature, ["thigh"], (10, 20))
    assert note == FREEZES.partition(", or")[0], "its extrapolation is other curves' too"


def test_a_track_that_plays_solo_silences_the_action():
    armature, _ = leg_with_a_strip()
    armature.animation_data.nla_tracks[0].is_solo = True
    report = bake(armature, frame_start=1, frame_end=41)
    (warning,) = report.rig_warnings
    assert "an NLA track plays solo, so that new keys do not play; turn solo off" in warning
    assert plays_back_worse(report.chains[0])


@pytest.mark.parametrize(
    ("setting", "value"), [("action_blend_type", 'ADD'), ("action_influence", 0.5)], ids=str
)
def test_an_action_that_is_mixed_with_strips_is_warned_about(setting, value):
    armature, _ = leg_with_target()
    armature.pose.bones["thigh"].keyframe_insert("rotation_quaternion", frame=1)
    strip_of(armature, start=1)
    setattr(armature.animation_data, setting, value)
    assert "mixed with NLA strips" in warnings_of(bake(armature, frame_start=1, frame_end=5))


# --- Muted, locked, linked ------------------------------------------------------------------------


def keyed_leg():
    armature, target = leg_with_target()
    for frame in (1, 30):
        for name in ("thigh", "shin"):
            armature.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame, group=name)
    return armature, target


@pytest.mark.parametrize("what", ["channel", "group"])
def test_a_muted_channel_is_warned_about_and_stays_muted(what):
    armature, _ = keyed_leg()
    muted = curve_of(armature) if what == "channel" else curve_of(armature).group
    muted.mute = True
    report = bake(armature, frame_start=1, frame_end=5)
    if what == "channel":
        assert f"channel {THIGH} is muted: its keys do not play" in warnings_of(report)
    else:
        assert warnings_of(report).count("is muted") == 1
        assert "channel group 'thigh' is muted" in warnings_of(report)
    assert (curve_of(armature) if what == "channel" else curve_of(armature).group).mute
    errors = [error for _, error in played_back_errors(armature, armature.ik2d.chains[0], range(1, 6))]
    assert report.chains[0].played.on_frames == pytest.approx(errors, abs=1e-5)


@pytest.mark.parametrize("what", ["channel", "group"])
def test_a_locked_channel_is_refused_and_nothing_changes(what):
    armature, _ = keyed_leg()
    (curve_of(armature) if what == "channel" else curve_of(armature).group).lock = True
    before = every_bit_of_animation(armature)
    with pytest.raises(IK2DError, match="thigh.*is locked; unlock it to bake"):
        bake(armature, frame_start=1, frame_end=5)
    assert every_bit_of_animation(armature) == before


def leg_with_groups():
    """Return a leg whose action has a group for the thigh, but no curve of its rotation."""
    armature, _ = leg_with_target()
    armature.pose.bones["thigh"].keyframe_insert("location", frame=1, group="thigh")
    return armature, curve_of(armature, 'pose.bones["thigh"].location').group


def test_a_locked_group_is_refused_for_new_curves_too():
    armature, group = leg_with_groups()
    group.lock = True
    before = every_bit_of_animation(armature)
    with pytest.raises(IK2DError, match="channel group 'thigh' is locked; unlock it to bake"):
        bake(armature, frame_start=1, frame_end=5)
    assert every_bit_of_animation(armature) == before


def beside_nothing(_armature):
    return not SLOTS


def beside_a_strip(armature):
    action = bpy.data.actions.new("Below")
    armature.animation_data.nla_tracks.new().strips.new("Below", 1, action)
    return True


def in_a_tweaked_strip(armature):
    enter_tweak_mode(armature, strip_of(armature, start=1))
    return True


@pytest.mark.parametrize("where", [beside_nothing, beside_a_strip, in_a_tweaked_strip])
def test_a_muted_group_is_warned_about_for_new_curves_too_in_one_line(where):
    """From 4.4 on Blender plays a muted group all the same, but in the NLA."""
    armature, group = leg_with_groups()
    armature.pose.bones["thigh"].keyframe_insert("location", frame=9, group="thigh")
    group.mute = True
    silent = where(armature)
    report = bake(armature, frame_start=1, frame_end=5)
    assert warnings_of(report).count("is muted") == 1
    assert ("channel group 'thigh' is muted: its keys do not play" in warnings_of(report)) == silent
    assert existing_channels(armature).groups["thigh"].mute
    assert plays_back_worse(report.chains[0]) == silent


def test_a_locked_group_that_no_new_curve_goes_into_does_not_matter():
    armature, _ = keyed_leg()
    for curve in existing_fcurves(armature):
        if "thigh" in curve.data_path:
            curve.group.name = "Legs"
    existing_channels(armature).groups.new("thigh").lock = True
    assert_plays_back(armature, bake(armature, frame_start=1, frame_end=5), range(1, 6))


def test_a_locked_channel_of_another_bone_does_not_matter():
    armature, _ = keyed_leg()
    armature.pose.bones["body"].keyframe_insert("location", frame=1)
    curve_of(armature, 'pose.bones["body"].location').lock = True
    assert_plays_back(armature, bake(armature, frame_start=1, frame_end=5), range(1, 6))


def test_modifiers_on_a_channel_are_warned_about():
    armature, _ = keyed_leg()
    curve_of(armature).modifiers.new('NOISE')
    assert "F-Curve modifiers" in warnings_of(bake(armature, frame_start=1, frame_end=5))


def test_a_curve_that_holds_samples_is_refused():
    armature, _ = keyed_leg()
    curve_of(armature).convert_to_samples(1, 30)
    with pytest.raises(IK2DError, match="holds samples"):
        bake(armature, frame_start=1, frame_end=5)


def test_a_linked_action_is_copied_and_the_librarys_stays(tmp_path):
    armature, _ = keyed_leg()
    library = tmp_path / "library.blend"
    armature.animation_data.action.name = "Walk"
    bpy.data.libraries.write(str(library), {armature.animation_data.action})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.actions = ["Walk"]
    (linked,) = into.actions
    before = contents_of(linked)
    armature, _ = leg_with_target()
    armature.animation_data_create().action = linked
    if SLOTS:
        armature.animation_data.action_slot = linked.slots[0]
    report = bake(armature, frame_start=1, frame_end=20)
    action = armature.animation_data.action
    assert action != linked and not action.library and linked.library
    assert contents_of(linked) == before
    assert [key[0] for key in animation_of(armature)[THIGH, 0]] == [*range(1, 21), 30]
    assert_plays_back(armature, report, range(1, 21))


@pytest.mark.slow
def test_an_override_of_a_linked_rig_is_baked_into_a_local_action(tmp_path):
    armature, target = keyed_leg()
    library, shot = tmp_path / "library.blend", tmp_path / "shot.blend"
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for ob in (armature, target):
        collection.objects.link(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(str(library), link=True) as (_, into):
        into.collections = ["Character"]
    instance = bpy.data.objects.new("Character", None)
    instance.instance_type, instance.instance_collection = 'COLLECTION', into.collections[0]
    bpy.context.scene.collection.objects.link(instance)
    into.collections[0].override_hierarchy_create(
        bpy.context.scene, bpy.context.view_layer, reference=instance
    )
    local = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE' and not ob.library)
    local.override_library.is_system_override = False
    linked = next(action for action in bpy.data.actions if action.library and action.name == "RigAction")
    before = contents_of(linked)
    report = bake(local, frame_start=1, frame_end=20)
    assert local.animation_data.action != linked and not local.animation_data.action.library
    assert contents_of(linked) == before
    assert_plays_back(local, report, range(1, 21))
    keys = animation_of(local)
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    bpy.ops.wm.open_mainfile(filepath=str(shot))
    local = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE' and not ob.library)
    assert animation_of(local) == keys
    assert_plays_back(local, report, range(1, 21))


# --- Keys outside the range, other channels, other bones ------------------------------------------

HANDLES = ['FREE', 'ALIGNED', 'VECTOR', 'AUTO', 'AUTO_CLAMPED']
INTERPOLATIONS = ['BEZIER', 'LINEAR', 'CONSTANT', 'ELASTIC', 'BACK', 'BOUNCE', 'SINE']


def decorate(curve, handle, shift=0.0):
    """Give every key of a curve handles and settings of its own."""
    for i, key in enumerate(curve.keyframe_points):
        key.handle_left_type = key.handle_right_type = handle
        if handle in ('FREE', 'ALIGNED'):
            key.handle_left = (key.co.x - 1.37 - 0.1 * i, key.co.y - 0.123 * (i + 1) + shift)
            key.handle_right = (key.co.x + 2.11 / (i + 1), key.co.y + 0.071 * (i + 2))
        key.interpolation = INTERPOLATIONS[i % len(INTERPOLATIONS)]
        key.easing = ['AUTO', 'EASE_IN', 'EASE_OUT', 'EASE_IN_OUT'][i % 4]
        key.type = ['KEYFRAME', 'EXTREME', 'BREAKDOWN', 'JITTER'][i % 4]
        key.amplitude, key.period, key.back = 0.3 + i, 4.1 + i, 1.7 - i
        key.select_control_point = i % 2 == 0
    curve.update()


TIMES = (-7.25, -3, 0.0, 4.5, 9.875, 10, 14, 20, 20.125, 23.4, 31, 44.6)


def richly_keyed_leg(handle):
    armature, target = leg_with_target()
    for name in ("thigh", "shin", "body"):
        bone = armature.pose.bones[name]
        for i, time in enumerate(TIMES):
            bone.rotation_quaternion = (1.0, 0.11 * i, -0.07 * i, 0.3 / (i + 1))
            bone.location = (0.0, 0.01 * i, 0.02)
            bone.keyframe_insert("rotation_quaternion", frame=time)
            if name == "body":
                bone.keyframe_insert("location", frame=time)
    for curve in existing_fcurves(armature):
        decorate(curve, handle)
    return armature, target


@pytest.mark.slow
@pytest.mark.parametrize("handle", HANDLES)
def test_keys_outside_the_range_stay(handle):
    armature, _ = richly_keyed_leg(handle)
    path = [(c.data_path, c.array_index) for c in existing_fcurves(armature)]
    before = {key: every_bit_of(curve_of(armature, *key)) for key in path}
    kept_at = [i for i, time in enumerate(TIMES) if not 10 <= time <= 20]
    report = bake(armature, frame_start=10, frame_end=20)
    for key in path:
        after = every_bit_of(curve_of(armature, *key))
        if "body" in key[0]:
            assert after == before[key], key
            continue
        assert len(after) == len(kept_at) + 11
        kept = [values for values in after if not 10 <= float.fromhex(values[0][0]) <= 20]
        for new, old in zip(kept, [before[key][i] for i in kept_at], strict=True):
            if handle in ('FREE', 'ALIGNED'):
                assert new == old, key
            else:  # Blender places automatic handles by the neighbours
                assert (new[0], *new[3:]) == (old[0], *old[3:]), key
    assert (report.chains[0].status == Status.REACHED).all()


@pytest.mark.parametrize("handle", HANDLES)
def test_automatic_handles_away_from_the_seam_stay_too(handle):
    armature, _ = richly_keyed_leg(handle)
    for curve in existing_fcurves(armature):
        curve.auto_smoothing = 'NONE'  # otherwise Blender smoothes over all neighbours in a row
        curve.update()
    before = every_bit_of(curve_of(armature))
    bake(armature, frame_start=10, frame_end=20)
    after = every_bit_of(curve_of(armature))
    # The last key before the range and the first after it have a new neighbour.
    assert after[:4] == before[:4]
    assert after[-3:] == before[-3:]


def test_the_range_itself_is_keyed_plainly_and_marked_as_generated():
    armature, _ = richly_keyed_leg('FREE')
    bake(armature, frame_start=10, frame_end=20)
    keys = [key for key in curve_of(armature).keyframe_points if 10 <= key.co.x <= 20]
    assert [key.co.x for key in keys] == list(range(10, 21))
    assert {key.interpolation for key in keys} == {'BEZIER'}
    assert {key.type for key in keys} == {'GENERATED'}


def test_curves_that_repeat_in_both_directions_and_extrapolate_keep_doing_so():
    armature, _ = keyed_leg()
    curve_of(armature).extrapolation = 'LINEAR'
    bake(armature, frame_start=1, frame_end=5)
    assert curve_of(armature).extrapolation == 'LINEAR'


def test_other_animation_of_the_object_and_its_data_stays_to_the_last_bit():
    armature, target = leg_with_target()
    armature.keyframe_insert("location", frame=5)
    armature.pose.bones["thigh"].keyframe_insert("scale", frame=5.5)
    armature.pose.bones["thigh"].keyframe_insert("rotation_euler", frame=5.5)
    armature.ik2d.chains[0].keyframe_insert("softness", frame=2)
    armature.data.keyframe_insert("display_type", frame=3)  # from 4.4 on, into the same action
    blocks = (armature, target, armature.data)
    before = [every_bit_of_animation(block)["curves"] for block in blocks]
    bake(armature, frame_start=1, frame_end=20)
    for block, curves in zip(blocks, before, strict=True):
        after = every_bit_of_animation(block)["curves"]
        assert {key: after[key] for key in curves} == curves
        new = {key[1:] for key in after.keys() - curves.keys()}
        assert new == (CHANNELS if block == armature else set()) or new == CHANNELS and SLOTS


def test_a_target_with_one_key_and_a_range_of_one_frame():
    armature = add_leg()
    add_chain(armature, "shin", add_target({5: (0, 0.3, 0.6)}))
    report = bake(armature, frame_start=5, frame_end=5)
    assert_plays_back(armature, report, [5])
    assert {len(keys) for keys in animation_of(armature).values()} == {1}
