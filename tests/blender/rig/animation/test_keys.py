# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing keys: exactly those asked for, all others left, and what is said where they will not play."""

import itertools
from contextlib import ExitStack
from dataclasses import replace

import bpy
import numpy as np
import pytest
from keyed_legs import (
    FRAMES,
    LOCATION,
    VALUES,
    add_strip,
    curve_of,
    euler_leg,
    key_euler,
    keys_of,
    location,
    rotation,
)
from rigs import add_leg, every_bit_of, every_bit_of_animation

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.key_columns import new_keys
from ik2d_addon.rig.animation.keys import previewed, written
from ik2d_addon.rig.animation.replacing import replace_keys
from ik2d_addon.rig.animation.versions import existing_channels, existing_fcurves, place_of


def write(armature, frames, rotations):
    """Key rotations at the frames."""
    with written(armature, frames, rotations):
        pass


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


@pytest.mark.parametrize("locked", [False, True])
def test_a_rotation_mode_is_set_only_with_keys_that_give_it_back(locked):
    armature = euler_leg()
    bone = armature.pose.bones["shin"]
    bone.rotation_mode = 'QUATERNION'
    bone.rotation_quaternion = (0.8, 0.0, 0.6, 0.0)
    bone.lock_rotation[1] = locked
    before = [*bone.rotation_quaternion, *bone.rotation_euler]
    write(armature, FRAMES, [replace(rotation(), mode='XYZ', turning=1)])
    if locked:
        assert bone.rotation_mode == 'QUATERNION' and not existing_fcurves(armature)
        assert [*bone.rotation_quaternion, *bone.rotation_euler] == before
    else:
        assert bone.rotation_mode == 'XYZ' and len(existing_fcurves(armature)) == 1


def test_automatic_handles_are_those_that_blender_places_itself():
    armature, other = euler_leg(), add_leg("Other")
    other.pose.bones["shin"].rotation_mode = 'XYZ'
    values = np.array([[0.0] * 3, [2.0] * 3, [1.0] * 3])
    write(armature, FRAMES, [rotation(values=values)])
    for frame, value in zip(FRAMES, values, strict=True):
        other.pose.bones["shin"].rotation_euler = value
        other.pose.bones["shin"].keyframe_insert("rotation_euler", frame=frame)
    curve_of(other).auto_smoothing = 'NONE'  # Blender's own ones smooth over neighbours in a row
    curve_of(other).update()
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


def test_in_tweak_mode_keys_stand_in_the_strips_time_and_previews_are_refused():
    armature = euler_leg()
    key_euler(armature, frames=(1, 6))
    add_strip(armature)
    write(armature, [11.0, 15.0, 21.0], [rotation()])
    assert [x for x, _ in keys_of(armature)] == pytest.approx([1, 3, 6], abs=1e-3)
    with pytest.raises(IK2DError, match="'Rig' is in the NLA's tweak mode, where chains that depend on one"):
        previewed(armature, FRAMES, [rotation()]).__enter__()


def test_in_strips_that_run_backwards_keys_and_handles_run_the_other_way():
    armature, other = euler_leg(), euler_leg()
    handles = np.stack((VALUES - 0.3, VALUES + 0.2))
    for ob, turn in ((armature, 1), (other, -1)):
        key_euler(ob, frames=(1, 6))
        times = np.array(FRAMES, "f4")[::turn]
        (new,) = new_keys(times, VALUES[::turn, :1], handles[::turn, ::turn, :1])
        with ExitStack() as undo:
            replace_keys([curve_of(ob)], [new], place_of(existing_channels(ob)), undo)
            undo.pop_all()
    assert every_bit_of(curve_of(other)) == every_bit_of(curve_of(armature))


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


def test_a_location_is_put_back_where_a_bake_fails():
    armature = euler_leg()
    shin = armature.pose.bones["shin"]
    shin.location = (0.125, 0.25, 0.5)
    with pytest.raises(ZeroDivisionError), written(armature, FRAMES, [location(1)]):
        shin.location = (1.0, 2.0, 3.0)
        _ = 1 / 0
    assert tuple(shin.location) == (0.125, 0.25, 0.5)
    assert every_bit_of_animation(armature) == {}
