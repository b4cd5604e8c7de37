# SPDX-License-Identifier: GPL-3.0-or-later
"""A native mechanism says what changed since it was made, and another conversion follows that."""

import bpy
import numpy as np
import pytest
from machine_rigs import add_machine, evaluated_openings
from machines import excavator, four_bar
from rigs import edit

from ik2d_addon.chains import make_native, remove_native
from ik2d_addon.features.native.changes import acts_as_set, changed_since_made
from ik2d_addon.rig.chain.renames import straighten

TIMES = np.arange(1.0, 13.0, 0.5)


def lengthen(bones):
    """Move the pin of coupler and rocker, which stay joined."""
    for name in ("coupler", "rocker"):
        bones[name].tail = bones[name].tail * 1.02


def longer_stroke(mechanism):
    """Let the ram get longer."""
    joint = next(one for one in mechanism.joints if one.kind == 'RAM')
    joint.stroke = (joint.stroke[0], joint.stroke[1] * 1.1)


@pytest.mark.parametrize(
    "machine, change, words",
    [
        (four_bar, lambda mechanism: edit(mechanism.id_data, lengthen), "its bones are others in rest"),
        (four_bar, lambda mechanism: setattr(mechanism, "dead", 'STOP'), "its settings are others"),
        (four_bar, lambda mechanism: mechanism.bones.remove(2), "it has other bones"),
        (excavator, longer_stroke, "its settings are others"),
        (four_bar, lambda mechanism: bpy.data.objects.remove(mechanism.native_stand), "parts of it are gone"),
    ],
)
def test_what_drivers_do_not_follow_is_told(machine, change, words):
    armature, mechanism = add_machine(machine(), frames=13)
    make_native(armature, mechanism)
    assert acts_as_set(mechanism) and changed_since_made(mechanism) == ""
    change(mechanism)
    assert changed_since_made(mechanism) == words and not acts_as_set(mechanism)


def test_names_keys_lengths_and_edit_mode_alone_are_no_change():
    armature, mechanism = add_machine(excavator(), frames=13)
    make_native(armature, mechanism)
    for bone in list(armature.data.bones):
        bone.name = f"new {bone.name}"
    straighten(armature)
    mechanism.name, mechanism.open_between = "Digger", 1e-3
    mechanism.drivers[0].length = 0.9
    edit(armature, lambda bones: None)
    bpy.context.scene.frame_set(7)
    assert changed_since_made(mechanism) == "" and acts_as_set(mechanism)


def test_converting_again_follows_the_bones_and_removing_forgets():
    armature, mechanism = add_machine(four_bar(), frames=13)
    make_native(armature, mechanism)
    edit(armature, lengthen)
    assert evaluated_openings(mechanism, TIMES).max() > 1e-3
    make_native(armature, mechanism)
    assert changed_since_made(mechanism) == "" and evaluated_openings(mechanism, TIMES).max() < 1e-5
    remove_native(armature, mechanism)
    assert not mechanism.native_print and changed_since_made(mechanism) == ""
