# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing keys: exactly those asked for, all others left, and what is said where they will not play."""

import itertools

import bpy
import numpy as np
import pytest
from rigs import add_leg, every_bit_of, every_bit_of_animation

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.bone_channels import BoneChannels, BoneRotation
from ik2d_addon.rig.animation.key_faults import check_writable, notes_before
from ik2d_addon.rig.animation.keys import _replace_keys, keep_hand_made, previewed, write, written
from ik2d_addon.rig.animation.times import action_time, animation_times, strip_times
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = [1.0, 3.0, 6.0]
VALUES = np.array([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]])
SLOTS = hasattr(bpy.types, "ActionSlot")
EULER = 'pose.bones["shin"].rotation_euler'


def euler_leg():
    armature = add_leg()
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    return armature


def rotation(bone="shin", values=VALUES, **settings):
    return BoneRotation(bone, "rotation_euler", values, **settings)


def curve_of(armature, index=0, path=EULER):
    return next(c for c in existing_fcurves(armature) if (c.data_path, c.array_index) == (path, index))


def keys_of(armature, index=0):
    return [tuple(key.co) for key in curve_of(armature, index).keyframe_points]


def key_euler(armature, bone="shin", frames=(1, 6)):
    for frame in frames:
        armature.pose.bones[bone].keyframe_insert("rotation_euler", frame=frame, group=bone)


# --- The keys themselves --------------------------------------------------------------------------


def test_the_values_are_keyed_at_the_frames():
    armature = euler_leg()
    write(armature, FRAMES, [rotation(), rotation("thigh", 2 * VALUES)])
    for index in range(3):
        assert np.array(keys_of(armature, index)) == pytest.approx(
            np.column_stack((FRAMES, VALUES[:, index])), abs=1e-6
        )
    assert len(existing_fcurves(armature)) == 6
    assert {curve.group.name for curve in existing_fcurves(armature)} == {"shin", "thigh"}


def test_keys_are_smooth_generated_and_selected():
    armature = euler_leg()
    write(armature, FRAMES, [rotation()])
    for key in curve_of(armature).keyframe_points:
        assert (key.interpolation, key.type, key.easing) == ('BEZIER', 'GENERATED', 'AUTO')
        assert (key.handle_left_type, key.handle_right_type) == ('AUTO_CLAMPED', 'AUTO_CLAMPED')
        assert key.select_control_point and key.select_left_handle and key.select_right_handle


def test_automatic_handles_are_those_that_blender_places_itself():
    armature, other = euler_leg(), add_leg("Other")
    other.pose.bones["shin"].rotation_mode = 'XYZ'
    values = np.array([[0.0] * 3, [2.0] * 3, [1.0] * 3])
    write(armature, FRAMES, [rotation(values=values)])
    for frame, value in zip(FRAMES, values, strict=True):
        other.pose.bones["shin"].rotation_euler = value
        other.pose.bones["shin"].keyframe_insert("rotation_euler", frame=frame)
    ours, theirs = (curve_of(ob).keyframe_points for ob in (armature, other))
    for key, expected in zip(ours, theirs, strict=True):
        assert tuple(key.handle_left) == pytest.approx(tuple(expected.handle_left), abs=1e-6)
        assert tuple(key.handle_right) == pytest.approx(tuple(expected.handle_right), abs=1e-6)


def test_a_single_key_has_its_handles_beside_it():
    armature = euler_leg()
    write(armature, [5.0], [rotation(values=VALUES[:1])])
    (key,) = curve_of(armature).keyframe_points
    assert tuple(key.co) == pytest.approx((5.0, 0.1))
    assert key.handle_left.y == pytest.approx(0.1) and key.handle_right.y == pytest.approx(0.1)
    assert key.handle_left.x <= 5.0 <= key.handle_right.x


def test_handles_that_are_given_stand_at_thirds_and_play_that_cubic():
    armature = euler_leg()
    # The cubic x^3 - x at 1, 3 and 6, by its slopes there.
    x = np.array(FRAMES)
    values, slopes = (x**3 - x) / 100, (3 * x**2 - 1) / 100
    handles = np.stack((values, values))
    handles[0, 1:] -= slopes[1:] * np.diff(x) / 3
    handles[1, :-1] += slopes[:-1] * np.diff(x) / 3
    channels = (np.column_stack((values,) * 3), np.stack((handles,) * 3, axis=2))
    write(armature, [0.0, 9.0], [rotation(values=channels[0], handles=channels[1], frames=x)])
    curve = curve_of(armature, 1)
    first, middle, last = curve.keyframe_points
    assert middle.handle_left.x == pytest.approx(3 - 2 / 3) and middle.handle_right.x == pytest.approx(4)
    assert {middle.handle_left_type, middle.handle_right_type} == {'FREE'}
    assert (first.handle_right_type, last.handle_left_type) == ('FREE', 'FREE')
    assert (first.handle_left_type, last.handle_right_type) == ('ALIGNED', 'ALIGNED')
    assert first.handle_left.x == pytest.approx(1 - 2 / 3) and last.handle_right.x == pytest.approx(7)
    for key in (first, last):
        assert (key.handle_left.y + key.handle_right.y) / 2 == pytest.approx(key.co.y, abs=1e-6)
    for time in np.linspace(1, 6, 21):
        assert curve.evaluate(time) == pytest.approx((time**3 - time) / 100, abs=2e-6)


def test_a_rotation_with_frames_of_its_own_is_keyed_there():
    armature = euler_leg()
    write(armature, FRAMES, [rotation(frames=np.array([2.0, 4.5, 8.0]))])
    assert [x for x, _ in keys_of(armature)] == [2.0, 4.5, 8.0]


def test_locked_channels_get_no_keys():
    armature = euler_leg()
    armature.pose.bones["shin"].lock_rotation[1] = True
    write(armature, FRAMES, [rotation()])
    assert [curve.array_index for curve in existing_fcurves(armature)] == [0, 2]


def test_nothing_to_key_makes_nothing():
    armature = euler_leg()
    write(armature, FRAMES, [])
    assert armature.animation_data is None and not len(bpy.data.actions)


# --- Keys that were there -------------------------------------------------------------------------


def test_keys_within_the_range_go_and_those_outside_stay():
    armature = euler_leg()
    key_euler(armature, frames=(-2, 0, 1, 2, 4, 6, 7, 9))
    write(armature, FRAMES, [rotation()])
    assert [x for x, _ in keys_of(armature)] == [-2, 0, 1, 3, 6, 7, 9]
    kinds = [key.type for key in curve_of(armature).keyframe_points]
    assert kinds == ['KEYFRAME'] * 2 + ['GENERATED'] * 3 + ['KEYFRAME'] * 2
    for key in curve_of(armature).keyframe_points[2:5]:
        assert (key.handle_left_type, key.handle_right_type) == ('AUTO_CLAMPED', 'AUTO_CLAMPED')
        assert (key.interpolation, key.easing) == ('BEZIER', 'AUTO')
        assert key.select_control_point and key.select_left_handle and key.select_right_handle


@pytest.mark.parametrize("off, stays", [(0.0, False), (0.002, False), (0.009, False), (0.011, True)])
def test_a_key_within_a_hundredth_of_a_frame_is_the_same_to_blender(off, stays):
    armature = euler_leg()
    key_euler(armature, frames=(1 - off, 6 + off))
    write(armature, FRAMES, [rotation()])
    found = np.array(keys_of(armature))
    assert len(found) == (5 if stays else 3)
    ours = found[1:-1] if stays else found
    assert ours == pytest.approx(np.column_stack((FRAMES, VALUES[:, 0])), abs=1e-6)


@pytest.mark.parametrize("frames", [(-2, 0), (7, 9), (-2, 9)])
@pytest.mark.parametrize("kind", ['FREE', 'ALIGNED'])
def test_keys_outside_keep_handles_to_the_last_bit(frames, kind):
    armature = euler_leg()
    key_euler(armature, frames=frames)
    for key in curve_of(armature).keyframe_points:
        key.handle_left_type = key.handle_right_type = kind
        key.handle_left = (key.co.x - 1.37, key.co.y - 0.123)
        key.handle_right = (key.co.x + 2.11, key.co.y + 0.071)
        key.interpolation, key.easing, key.type = 'BACK', 'EASE_IN', 'EXTREME'
        key.select_control_point = False
    before = {bits[0]: bits for bits in every_bit_of(curve_of(armature))}
    write(armature, FRAMES, [rotation()])
    after = {bits[0]: bits for bits in every_bit_of(curve_of(armature))}
    assert len(after) == 5 and {x: after[x] for x in before} == before


@pytest.mark.parametrize("kind", ['AUTO_CLAMPED', 'AUTO', 'VECTOR', 'ALIGNED', 'FREE'])
def test_keys_outside_do_not_turn_the_handles_that_are_given(kind):
    alone, handles = euler_leg(), np.stack((VALUES - 0.3, VALUES + 0.2))
    write(alone, FRAMES, [rotation(handles=handles)])
    for frames, smoothing in itertools.product([(-9, 20), (-9,), (20,)], ['NONE', 'CONT_ACCEL']):
        armature = euler_leg()
        key_euler(armature, frames=frames)
        for curve in existing_fcurves(armature):
            curve.auto_smoothing = smoothing
            for key in curve.keyframe_points:
                key.handle_left_type = key.handle_right_type = kind
        write(armature, FRAMES, [rotation(handles=handles)])
        curve_of(armature).update()  # as Blender does after any edit
        for time in np.linspace(1, 6, 21):
            assert curve_of(armature).evaluate(time) == pytest.approx(
                curve_of(alone).evaluate(time), abs=1e-6
            )


# --- One channel alone ----------------------------------------------------------------------------


def test_one_turning_channel_is_keyed_and_the_others_rest():
    armature = euler_leg()
    armature.pose.bones["shin"].rotation_euler = (1.0, 1.0, 1.0)
    write(armature, FRAMES, [rotation(values=VALUES * (1, 0, 0), turning=0)])
    assert [curve.array_index for curve in existing_fcurves(armature)] == [0]
    assert np.array(keys_of(armature)) == pytest.approx(np.array([(1, 0.1), (3, 0.4), (6, 0.7)]), abs=1e-6)
    assert tuple(armature.pose.bones["shin"].rotation_euler)[1:] == (0.0, 0.0)


def test_channels_with_curves_rest_by_a_key_at_each_end():
    armature = euler_leg()
    armature.pose.bones["shin"].rotation_euler = (1.0, 1.0, 1.0)
    key_euler(armature, frames=(-2, 2, 9))
    write(armature, FRAMES, [rotation(values=VALUES * (0, 1, 0), turning=1)])
    for index in (0, 2):
        assert keys_of(armature, index) == [(-2, 1), (1, 0), (6, 0), (9, 1)]
        assert curve_of(armature, index).evaluate(3.5) == pytest.approx(0.0, abs=1e-6)
    assert [x for x, _ in keys_of(armature, 1)] == [-2, 1, 3, 6, 9]


def test_a_channel_that_rests_for_one_frame_gets_one_key():
    armature = euler_leg()
    key_euler(armature, frames=(5,))
    write(armature, [5.0], [rotation(values=VALUES[:1] * (1, 0, 0), turning=0)])
    assert keys_of(armature, 2) == [(5, 0)]


def test_the_mode_that_a_rotation_needs_is_set():
    armature = add_leg()
    write(armature, FRAMES, [rotation(mode='ZYX')])
    assert [bone.rotation_mode for bone in armature.pose.bones] == ['QUATERNION', 'QUATERNION', 'ZYX']


# --- Failing, and for a while ---------------------------------------------------------------------


def test_what_fails_inside_puts_all_back():
    armature = add_leg()
    key_euler(armature, frames=(2, 9))
    armature.pose.bones["shin"].rotation_euler = (1.0, 1.0, 1.0)
    before = every_bit_of_animation(armature)
    with (
        pytest.raises(KeyboardInterrupt),
        written(armature, FRAMES, [rotation(mode='XYZ'), rotation("thigh")]),
    ):
        assert len(existing_fcurves(armature)) == 6
        raise KeyboardInterrupt
    assert every_bit_of_animation(armature) == before
    assert armature.pose.bones["shin"].rotation_mode == 'QUATERNION'
    assert tuple(armature.pose.bones["shin"].rotation_euler) == (1.0, 1.0, 1.0)


def test_what_ends_well_stays():
    armature = add_leg()
    with written(armature, FRAMES, [rotation(mode='XYZ')]):
        pass
    assert len(existing_fcurves(armature)) == 3
    assert armature.pose.bones["shin"].rotation_mode == 'XYZ'


def test_a_preview_plays_for_a_while_and_leaves_no_trace():
    armature = add_leg()
    key_euler(armature, frames=(2, 9))
    before = every_bit_of_animation(armature)
    with previewed(armature, FRAMES, [rotation(mode='XYZ')]):
        assert [x for x, _ in keys_of(armature)] == [1, 3, 6, 9]
        assert armature.pose.bones["shin"].rotation_mode == 'XYZ'
    assert every_bit_of_animation(armature) == before
    assert armature.pose.bones["shin"].rotation_mode == 'QUATERNION'
    assert len(bpy.data.actions) == 1


def add_strip(armature):
    """Push the action down into a strip at frame 11, scaled by 2, and tweak it."""
    animation = armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    track = animation.nla_tracks.new()
    strip = track.strips.new("Walk", 11, action)
    if slot is not None:
        strip.action_slot = slot
    strip.scale = 2.0
    track.select = strip.select = True
    animation.nla_tracks.active = track
    animation.use_tweak_mode = True
    return strip


def test_in_tweak_mode_keys_stand_in_the_strips_time_and_previews_are_refused():
    armature = euler_leg()
    key_euler(armature, frames=(1, 6))
    add_strip(armature)
    write(armature, [11.0, 15.0, 21.0], [rotation()])
    assert [x for x, _ in keys_of(armature)] == pytest.approx([1, 3, 6], abs=1e-3)
    with pytest.raises(IK2DError, match="'Rig' is in the NLA's tweak mode, where chains that hang on one"):
        previewed(armature, FRAMES, [rotation()]).__enter__()


def test_frames_take_place_where_the_scene_maps_them():
    scene = bpy.context.scene
    assert animation_times(scene, [1, 2.5]) == [1, 2.5]
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    assert animation_times(scene, [1, 2.5, 100]) == [0.5, 1.25, 50]


def test_frames_are_told_in_the_time_of_the_action_that_is_played():
    armature, scene = euler_leg(), bpy.context.scene
    assert action_time(armature, scene, 15) == 15
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    assert action_time(armature, scene, 15) == 7.5
    key_euler(armature, frames=(1, 6))
    add_strip(armature)
    assert action_time(armature, scene, 30) == pytest.approx(3, abs=1e-3)
    assert strip_times(armature, [11, 15, 21]).tolist() == pytest.approx([1, 3, 6], abs=1e-3)


def test_in_strips_that_run_backwards_keys_and_handles_run_the_other_way():
    armature, other = euler_leg(), euler_leg()
    handles = np.stack((VALUES - 0.3, VALUES + 0.2))
    for ob, turn in ((armature, 1), (other, -1)):
        key_euler(ob, frames=(1, 6))
        _replace_keys(
            curve_of(ob), np.array(FRAMES, "f4")[::turn], VALUES[::turn, 0], handles[::turn, ::turn, 0]
        )
    assert every_bit_of(curve_of(other)) == every_bit_of(curve_of(armature))


def test_keys_of_a_bake_are_taken_away_and_those_made_by_hand_stay():
    armature = euler_leg()
    key_euler(armature, frames=(1, 3, 6))
    curve = curve_of(armature)
    for key, kind in zip(curve.keyframe_points, ('FREE', 'ALIGNED', 'FREE'), strict=True):
        key.handle_left_type = key.handle_right_type = kind
        key.handle_left = (key.co.x - 0.37, 0.123)
        key.handle_right = (key.co.x + 0.11, 0.071)
    before = every_bit_of(curve)
    assert keep_hand_made(curve) and every_bit_of(curve) == before
    curve.keyframe_points[1].type = 'GENERATED'
    assert keep_hand_made(curve)
    assert every_bit_of(curve) == [before[0], before[2]]
    for key in curve.keyframe_points:
        key.type = 'GENERATED'
    assert not keep_hand_made(curve)


# --- What keeps keys from playing -----------------------------------------------------------------


def test_a_plain_rig_has_nothing_to_warn_of():
    armature = euler_leg()
    assert check_writable(armature, [rotation()], FRAMES) == []
    key_euler(armature)
    assert check_writable(armature, [rotation()], FRAMES) == []


@pytest.mark.parametrize("what", ["curve", "group"])
def test_locked_channels_are_refused_and_muted_ones_told(what):
    armature = euler_leg()
    key_euler(armature)
    curve = curve_of(armature, 1)
    holder = curve if what == "curve" else curve.group
    holder.mute = True
    silent = f"'Rig': channel {EULER} is muted: its keys do not play; unmute it"
    if what == "group" and SLOTS:
        silent = (
            "'Rig': channel group 'shin' is muted, which Blender heeds in NLA strips only: its keys play"
            " until the action becomes one; unmute it"
        )
    elif what == "group":
        silent = "'Rig': channel group 'shin' is muted: its keys do not play; unmute it"
    assert check_writable(armature, [rotation()], FRAMES) == [silent]
    assert check_writable(armature, [rotation("thigh")], FRAMES) == []
    holder.lock = True
    with pytest.raises(IK2DError, match="is locked; unlock it to bake$"):
        check_writable(armature, [rotation()], FRAMES)
    assert check_writable(armature, [rotation("thigh")], FRAMES) == []


def test_an_animated_rotation_mode_is_refused_by_its_bones_name():
    armature = euler_leg()
    armature.pose.bones["shin"].keyframe_insert("rotation_mode", frame=1)
    assert check_writable(armature, [rotation("thigh")], FRAMES) == []
    with pytest.raises(
        IK2DError, match="'Rig': the rotation mode of bone 'shin' is animated; delete its keys"
    ):
        check_writable(armature, [rotation("thigh"), rotation()], FRAMES)


def test_curves_that_hold_samples_are_refused():
    armature = euler_leg()
    key_euler(armature)
    curve_of(armature, 2).convert_to_samples(1, 6)
    with pytest.raises(IK2DError, match="holds samples; turn them into keys to bake"):
        check_writable(armature, [rotation()], FRAMES)


def test_modifiers_are_told_unless_muted():
    armature = euler_leg()
    key_euler(armature)
    modifier = curve_of(armature).modifiers.new('NOISE')
    (warning,) = check_writable(armature, [rotation()], FRAMES)
    assert warning == f"'Rig': channel {EULER} has F-Curve modifiers, which act on top of the keys; mute them"
    modifier.mute = True
    assert check_writable(armature, [rotation()], FRAMES) == []


def test_others_that_play_the_same_action_are_told():
    armature, other = euler_leg(), add_leg("Other")
    other.pose.bones["shin"].rotation_mode = 'XYZ'
    key_euler(armature)
    other.animation_data_create().action = armature.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = armature.animation_data.action_slot
    assert check_writable(armature, [rotation()], FRAMES) == [
        "'Rig': 'Other' plays the same action and gets these keys too; give it a copy"
    ]


def test_drivers_are_told_by_bone_unless_muted():
    armature = euler_leg()
    for name in ("thigh", "shin", "body"):
        armature.pose.bones[name].driver_add("rotation_euler", 0)
    armature.pose.bones["shin"].driver_add("location", 0)
    rotations = [rotation("thigh"), rotation()]
    assert check_writable(armature, rotations, FRAMES) == [
        f"'Rig': bone '{name}' is driven; drivers win over keys" for name in ("shin", "thigh")
    ]
    for curve in armature.animation_data.drivers:
        curve.mute = True
    assert check_writable(armature, rotations, FRAMES) == []


@pytest.mark.parametrize("setting, value", [("action_influence", 0.99), ("action_blend_type", 'ADD')])
def test_an_action_that_is_mixed_is_told(setting, value):
    armature = euler_leg()
    setattr(armature.animation_data_create(), setting, value)
    assert check_writable(armature, [rotation()], FRAMES) == [
        "'Rig': its action is mixed with NLA strips; set it to Replace, influence 1"
    ]


def test_keys_in_a_mode_that_is_left_are_told():
    armature = add_leg()
    armature.pose.bones["shin"].keyframe_insert("rotation_quaternion", frame=1)
    armature.pose.bones["thigh"].keyframe_insert("location", frame=1)
    rotations = [rotation("thigh", mode='XYZ'), rotation(mode='XYZ')]
    (warning,) = check_writable(armature, rotations, FRAMES)
    assert warning.startswith("'Rig': bone 'shin' has keys in another rotation mode; they stay, but")
    assert warning.endswith("in XYZ Euler")
    assert check_writable(armature, [rotation()], FRAMES) == []  # a mode that stays leaves nothing behind
    armature.pose.bones["thigh"].keyframe_insert("rotation_euler", frame=1)
    assert len(check_writable(armature, rotations, FRAMES)) == 1  # these go on playing


def test_groups_that_new_keys_would_go_into_count_too():
    armature = euler_leg()
    armature.pose.bones["shin"].keyframe_insert("location", frame=1, group="shin")
    (group,) = {curve.group for curve in existing_fcurves(armature)}
    group.lock = True
    assert check_writable(armature, [rotation("thigh")], FRAMES) == []
    with pytest.raises(IK2DError, match="^'Rig': channel group 'shin' is locked; unlock it to bake$"):
        check_writable(armature, [rotation()], FRAMES)
    armature.pose.bones["shin"].lock_rotation = (True, True, True)
    assert check_writable(armature, [rotation()], FRAMES) == []  # gets none


def test_a_group_is_none_of_a_channel_that_rests_without_a_curve():
    armature = euler_leg()
    armature.pose.bones["shin"].keyframe_insert("rotation_euler", index=1, frame=1, group="apart")
    armature.pose.bones["shin"].keyframe_insert("location", frame=1, group="shin")
    groups = {curve.group.name: curve.group for curve in existing_fcurves(armature)}
    groups["shin"].lock = True
    assert check_writable(armature, [rotation(turning=1)], FRAMES) == []
    with pytest.raises(IK2DError, match="group 'shin' is locked"):
        check_writable(armature, [rotation(turning=0)], FRAMES)
    groups["shin"].lock, groups["apart"].lock = False, True
    with pytest.raises(IK2DError, match="is locked"):
        check_writable(armature, [rotation(turning=0)], FRAMES)


def test_a_muted_group_keeps_keys_from_playing_where_the_action_is_mixed():
    armature = euler_leg()
    key_euler(armature)
    curve_of(armature).group.mute = True
    animation = armature.animation_data
    other = bpy.data.actions.new("Other")
    animation.nla_tracks.new().strips.new("Strip", 1, other)
    assert "'Rig': channel group 'shin' is muted: its keys do not play; unmute it" in check_writable(
        armature, [rotation()], FRAMES
    )


def test_others_that_have_no_such_bone_or_turn_it_otherwise_are_not_told():
    armature, other = euler_leg(), add_leg("Other")  # in quaternions: these keys do nothing to it
    key_euler(armature)
    other.animation_data_create().action = armature.animation_data.action
    if SLOTS:
        other.animation_data.action_slot = armature.animation_data.action_slot
    assert check_writable(armature, [rotation()], FRAMES) == []
    other.pose.bones["shin"].rotation_mode = 'ZYX'
    assert len(check_writable(armature, [rotation()], FRAMES)) == 1
    other.data.bones["shin"].name = "calf"
    assert check_writable(armature, [rotation()], FRAMES) == []


def strip_of_shin(armature, first=1, last=40):
    """Push keys of the shin down into a strip that plays from one frame to another."""
    key_euler(armature, frames=(first, last))
    animation = armature.animation_data
    action, slot = animation.action, getattr(animation, "action_slot", None)
    animation.action = None
    strip = animation.nla_tracks.new().strips.new("Strip", first, action)
    if slot is not None:
        strip.action_slot = slot
    return strip


def test_what_strips_move_and_new_keys_hold_still_is_told_before_and_when_writing():
    armature = euler_leg()
    strip_of_shin(armature)
    (told,) = check_writable(armature, [rotation()], FRAMES)
    assert "NLA strips move 'shin' from frame 1 to 40; after frame 6 the new keys will hold it still" in told
    assert notes_before(armature, ["shin", "no such bone"], FRAMES) == [told]
    assert notes_before(armature, ["thigh"], FRAMES) == []


def test_a_track_that_plays_solo_is_told():
    armature = euler_leg()
    strip_of_shin(armature)
    armature.animation_data.nla_tracks[0].is_solo = True
    (told,) = check_writable(armature, [rotation()], FRAMES)
    assert "plays solo, so that new keys do not play" in told


def test_keys_of_strips_in_a_mode_that_is_left_are_told():
    armature = euler_leg()
    strip_of_shin(armature)
    rotations = [BoneRotation("shin", "rotation_quaternion", np.zeros((3, 4)), mode='QUATERNION')]
    (told,) = check_writable(armature, rotations, FRAMES)
    assert "bone 'shin' has keys in another rotation mode" in told


# --- Beside rotations -----------------------------------------------------------------------------

LOCATION = 'pose.bones["shin"].location'


def location(*channels, values=VALUES):
    return BoneChannels("shin", "location", values, channels=channels)


def test_of_a_location_only_the_channels_asked_for_are_keyed():
    armature = euler_leg()
    write(armature, FRAMES, [location(1)])
    assert [(c.data_path, c.array_index) for c in existing_fcurves(armature)] == [(LOCATION, 1)]
    assert [co for _, co in keys_of_location(armature)] == pytest.approx(VALUES[:, 1])


def keys_of_location(armature):
    return [tuple(key.co) for key in curve_of(armature, 1, LOCATION).keyframe_points]


def test_rotation_locks_are_none_of_a_locations():
    armature = euler_leg()
    armature.pose.bones["shin"].lock_rotation = (True, True, True)
    write(armature, FRAMES, [location(1)])
    assert len(keys_of_location(armature)) == len(FRAMES)


def test_locked_channels_of_a_location_that_are_left_alone_do_not_matter():
    armature = euler_leg()
    for index in (0, 1):
        armature.pose.bones["shin"].keyframe_insert("location", index=index, frame=1)
    curve_of(armature, 0, LOCATION).lock = True
    assert check_writable(armature, [location(1)], FRAMES) == []
    with pytest.raises(IK2DError, match="location is locked"):
        check_writable(armature, [location(0)], FRAMES)


def test_a_location_is_put_back_where_a_bake_fails():
    armature = euler_leg()
    shin = armature.pose.bones["shin"]
    shin.location = (0.125, 0.25, 0.5)
    with pytest.raises(ZeroDivisionError), written(armature, FRAMES, [location(1)]):
        shin.location = (1.0, 2.0, 3.0)
        _ = 1 / 0
    assert tuple(shin.location) == (0.125, 0.25, 0.5)
    assert every_bit_of_animation(armature) == {}
