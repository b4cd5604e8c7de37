# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of what was replaced: an action of its own, of which damaged parts are not read."""

from contextlib import ExitStack

import bpy
import pytest
from keyed_legs import curve_of, euler_leg

from ik2d_addon.rig.animation.kept.marks import BAKE, PLANT, number_for
from ik2d_addon.rig.animation.kept.record import (
    KEPT,
    VALUE,
    WHOLE,
    KeptMotion,
    StoredValue,
    has_record,
    is_kept_action,
    origin_of,
    remove_with_kept,
    rewrite_paths,
)
from ik2d_addon.rig.animation.key_columns import columns_of
from ik2d_addon.rig.animation.versions import existing_channels, place_of


def keyed_leg():
    """Return a leg with three keys, their F-Curve, and its place."""
    armature = euler_leg()
    for frame in (1, 5, 9):
        armature.pose.bones["shin"].rotation_euler.x = 0.1 * frame
        armature.pose.bones["shin"].keyframe_insert("rotation_euler", frame=frame)
    curve = next(c for c in existing_channels(armature).fcurves if c.array_index == 0)
    return armature, curve, place_of(existing_channels(armature))


def kept():
    """Return the actions that keep motion."""
    return [action for action in bpy.data.actions if is_kept_action(action)]


def test_rows_are_kept_read_again_and_taken_back():
    _armature, curve, place = keyed_leg()
    with ExitStack() as undo:
        record = KeptMotion(place)
        number = record.new_number(BAKE, undo)
        record.set_rows(KEPT, number, curve, columns_of(curve), undo)
        again = KeptMotion(place)
        assert again.number_at(curve.data_path, 0, BAKE) == number
        assert again.number_at(curve.data_path, 0, PLANT) is None
        assert (again.rows(KEPT, number, 0)["co"] == columns_of(curve)["co"]).all()
        assert list(again.kept_curves()) == [(number, 0, curve.data_path)]
        assert again.is_kept(curve.data_path, 0) and not again.is_kept(curve.data_path, 1)
        assert has_record(place[0]) and origin_of(again.curve(KEPT, number, 0)) == curve.data_path
    assert not kept() and not has_record(place[0]) and place[0].ik2d.count == 0


def test_numbers_are_never_used_again():
    _armature, _curve, place = keyed_leg()
    with ExitStack() as undo:
        record = KeptMotion(place)
        numbers = [record.new_number(purpose, undo) for purpose in (BAKE, PLANT, BAKE)]
        undo.pop_all()
    assert numbers == [number_for(0, BAKE), number_for(1, PLANT), number_for(2, BAKE)]
    assert KeptMotion(place).new_number(BAKE, ExitStack()) == number_for(3, BAKE)


def test_tidying_removes_the_action_with_its_last_key():
    _armature, curve, place = keyed_leg()
    with ExitStack() as undo:
        record = KeptMotion(place)
        number = record.new_number(BAKE, undo)
        for kind in (KEPT, WHOLE):
            record.set_rows(kind, number, curve, columns_of(curve), undo)
        record.set_value(StoredValue(VALUE, number, 1, curve.data_path, (0.5,)), undo)
        undo.pop_all()
    record.tidy()
    assert len(kept()) == 1
    for kind in (KEPT, WHOLE):
        record.shorten(kind, number, 0, {}, ExitStack())
    record.drop(record.values()[0], ExitStack())
    record.tidy()
    assert not kept() and not has_record(place[0])


def test_what_others_use_is_copied_before_it_is_changed():
    armature, curve, place = keyed_leg()
    with ExitStack() as undo:
        record = KeptMotion(place)
        number = record.new_number(BAKE, undo)
        record.set_rows(KEPT, number, curve, columns_of(curve), undo)
        undo.pop_all()
    (first,) = kept()
    copy = place[0].copy()
    assert first.users == 2
    KeptMotion(place).shorten(KEPT, number, 0, {}, ExitStack())
    assert len(kept()) == 2 and copy.ik2d.kept[0].action == first
    assert list(KeptMotion((copy, place[1])).kept_curves()) == [(number, 0, curve.data_path)]
    assert curve_of(armature) is not None


@pytest.mark.parametrize(
    "note",
    [
        "text",
        7,
        {},
        {"path": "", "values": [1.0]},
        {"path": "x" * 1001, "values": [1.0]},
        {"path": "location", "values": [float("nan")]},
        {"path": "location", "values": [0.0] * 17},
        {"path": 5, "values": [1.0]},
        {"path": "location", "values": "text"},
    ],
    ids=str,
)
def test_damaged_values_are_not_read(note):
    _armature, curve, place = keyed_leg()
    with ExitStack() as undo:
        record = KeptMotion(place)
        record.set_rows(KEPT, record.new_number(BAKE, undo), curve, columns_of(curve), undo)
        undo.pop_all()
    kept()[0]["ik2d_value[0][0]"] = note
    assert KeptMotion(place).values() == []


def test_paths_are_renamed_in_curves_and_values():
    _armature, curve, place = keyed_leg()
    with ExitStack() as undo:
        record = KeptMotion(place)
        number = record.new_number(BAKE, undo)
        record.set_rows(KEPT, number, curve, columns_of(curve), undo)
        record.set_value(StoredValue(VALUE, number, 1, curve.data_path, (0.5,)), undo)
        undo.pop_all()
    rewrite_paths(place, lambda path: path.replace("shin", "calf"))
    again = KeptMotion(place)
    assert [path for _, _, path in again.kept_curves()] == ['pose.bones["calf"].rotation_euler']
    assert [value.path for value in again.values()] == ['pose.bones["calf"].rotation_euler']


def test_an_action_that_was_made_here_goes_with_what_is_kept_of_it():
    armature, curve, place = keyed_leg()
    with ExitStack() as undo:
        record = KeptMotion(place)
        record.set_rows(KEPT, record.new_number(BAKE, undo), curve, columns_of(curve), undo)
        undo.pop_all()
    armature.animation_data_clear()
    remove_with_kept(place[0])
    assert len(kept()) == 1  # somebody's own action stays
    place[0].ik2d.made = True
    remove_with_kept(place[0])
    assert not len(bpy.data.actions)
