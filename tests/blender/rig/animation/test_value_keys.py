# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys on single values, and what is put back where something goes wrong."""

import bpy
import numpy as np
import pytest
from rigs import add_target, every_bit_of_animation, leg_with_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.kept.marks import SNAP
from ik2d_addon.rig.animation.value_keys import (
    ValueKeys,
    check_values,
    curve_of,
    driven_paths,
    existing_drivers,
    values_keyed,
    values_previewed,
)
from ik2d_addon.rig.animation.versions import existing_channels, existing_fcurves


def keys_of(owner, path="location", index=2, stepped=False, values=(1.0, 2.0)):
    return ValueKeys(owner, path, index, [5.0, 6.0], np.array(values), "Object Transforms", stepped)


def test_keys_count_as_made_by_hand_and_take_the_place_of_those_between():
    target = add_target({1: (0, 0, 7), 5: (0, 0, 8), 9: (0, 0, 9)})
    with values_keyed(bpy.context.scene, [keys_of(target, stepped=True)], SNAP):
        pass
    points = curve_of(target, "location", 2).keyframe_points
    assert [tuple(point.co) for point in points] == [(1, 7), (5, 1), (6, 2), (9, 9)]
    assert {point.type for point in points} == {'KEYFRAME'}
    assert [point.interpolation for point in points] == ['BEZIER', 'CONSTANT', 'CONSTANT', 'BEZIER']


@pytest.mark.parametrize("keyed_before", [False, True])
def test_an_error_inside_puts_all_back(keyed_before):
    target = add_target({1: (0, 0, 7), 5: (0, 0, 8)} if keyed_before else {})
    target.location = (1, 2, 3)
    before = every_bit_of_animation(target)
    with pytest.raises(ZeroDivisionError), values_keyed(bpy.context.scene, [keys_of(target)], SNAP):
        bpy.context.scene.frame_set(6)
        assert target.location[2] == 2.0
        raise ZeroDivisionError
    assert every_bit_of_animation(target) == before and target.location[2] == 3.0
    assert not [action for action in bpy.data.actions if not action.users]


@pytest.mark.parametrize("keyed_before", [False, True])
def test_a_preview_shows_keys_for_a_while_and_leaves_no_trace(keyed_before):
    target = add_target({1: (0, 0, 7)} if keyed_before else {})
    target.location = (1, 2, 3)
    before, actions = every_bit_of_animation(target), len(bpy.data.actions)
    with values_previewed(bpy.context.scene, [keys_of(target)]):
        bpy.context.scene.frame_set(6)
        assert target.location[2] == 2.0
    assert every_bit_of_animation(target) == before and len(bpy.data.actions) == actions
    assert target.location[2] == 3.0


def test_settings_and_custom_properties_take_keys_and_are_put_back():
    armature, target = leg_with_target()
    chain, target["bend"] = armature.ik2d.chains[0], 0.5
    path = chain.path_from_id()
    channels = [
        keys_of(armature, f"{path}.bend", 0, values=(1.0, 0.0)),
        keys_of(armature, f"{path}.softness", 0, values=(0.3, 0.4)),
        keys_of(target, '["bend"]', 0),
    ]
    with values_previewed(bpy.context.scene, channels):
        bpy.context.scene.frame_set(5)
        assert (chain.bend, round(chain.softness, 5), target["bend"]) == ('NEGATIVE', 0.3, 1.0)
    assert (chain.bend, chain.softness, target["bend"]) == ('POSITIVE', 0.0, 0.5)


def test_what_cannot_be_keyed_is_refused_and_what_would_not_play_is_told():
    target = add_target({1: (0, 0, 7)})
    curve = curve_of(target, "location", 2)
    curve.lock = True
    with pytest.raises(IK2DError, match="is locked"):
        check_values([keys_of(target)])
    if curve.group is None:  # Blender 4.2
        curve.group = existing_channels(target).groups.new("Object Transforms")
    curve.lock, curve.group.lock = False, True
    with pytest.raises(IK2DError, match="is locked"):
        check_values([keys_of(target)])
    curve.group.lock, curve.mute = False, True
    with pytest.raises(IK2DError, match="is muted"):
        check_values([keys_of(target)])
    curve.mute = False
    curve.modifiers.new('NOISE')
    assert "F-Curve modifiers" in check_values([keys_of(target)])[0]
    curve.modifiers.remove(curve.modifiers[0])
    other = add_target({}, "Other")
    other.animation_data_create().action = target.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = target.animation_data.action_slot
    assert "'Other' plays the same action" in check_values([keys_of(target)])[0]
    assert len(existing_fcurves(target)) == 3
    target.driver_add("location", 2)
    with pytest.raises(IK2DError, match="has a driver"):
        check_values([keys_of(target)])
    target.animation_data.drivers[0].mute = True  # keys play
    check_values([keys_of(target)])


def test_drivers_are_those_of_a_data_block_and_muted_ones_drive_nothing():
    target = add_target({})
    assert list(existing_drivers(target)) == [] == list(existing_drivers(bpy.data.collections.new("rig")))
    turned, hidden = target.driver_add("rotation_euler", 1), target.driver_add("hide_viewport")
    assert {driver.data_path for driver in existing_drivers(target)} == {"rotation_euler", "hide_viewport"}
    assert driven_paths(target) == {"rotation_euler", "hide_viewport"}
    hidden.mute = True
    assert len(existing_drivers(target)) == 2 and driven_paths(target) == {"rotation_euler"}
    turned.mute = True
    assert driven_paths(target) == set()
