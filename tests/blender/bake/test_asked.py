# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake takes of each armature, and in which order."""

import bpy
import pytest
from clip_rigs import add_clips, everything
from machine_rigs import add_machine
from machines import four_bar
from rigs import add_chain, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, check
from ik2d_addon.bake.asked import Names, baking_order, read_all
from ik2d_addon.core import IK2DError


def test_names_of_one_kind_leave_out_the_other():
    assert Names.of(None, None) == (None, None) and Names.of(["leg"], None) == (["leg"], [])
    assert Names.of(None, ["machine"]).no_chains and not Names.of([], None).no_chains


def test_armatures_with_mechanisms_alone_are_baked_with_others():
    machine, _ = add_machine(four_bar())
    leg, _ = leg_with_target()
    asked = read_all([machine, leg], Names(None, None), [1, 2], BakeOptions())
    assert [len(its.rigs) for its in asked.values()] == [0, 1]
    assert {armature for batch in baking_order(asked, [1, 2], BakeOptions()) for armature in batch} == {
        machine,
        leg,
    }
    report = bake([machine, leg], frame_start=1, frame_end=5)
    assert [len(part.mechanisms) for part in report.by_armature] == [1, 0] and len(report.chains) == 1


def test_a_chain_that_follows_another_armatures_mechanism_is_baked_after_it():
    leg, _ = leg_with_target()
    machine, _ = add_machine(four_bar())
    leg.ik2d.chains[0].target, leg.ik2d.chains[0].subtarget = machine, "coupler"
    asked = read_all([leg, machine], Names(None, None), [1, 2], BakeOptions())
    order = [armature for batch in baking_order(asked, [1, 2], BakeOptions()) for armature in batch]
    assert order == [machine, leg]


def test_check_tells_what_is_wrong_with_a_mechanism():
    armature, mechanism = add_machine(four_bar())
    assert check(armature) == [] and check(armature, None, mechanisms=["machine"]) == []
    mechanism.drivers.clear()
    assert check(armature) == ["Mechanism 'machine': 1 freedom left: choose what drives"]
    add_chain(armature, "coupler", None, bone_count=1)
    assert len(check(armature)) == 2
    with pytest.raises(IK2DError):
        bake(armature)
    assert bpy.context.scene is not None


@pytest.mark.parametrize("mode, refused", [('QUATERNION', True), ('XYZ', False)])
def test_single_axis_leaves_the_modes_that_originals_play_in(mode, refused):
    armature, _ = add_clips("A")
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in armature.data.edit_bones:
        bone.roll = 0.0  # so that the leg turns about each bone's own X
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    before, options = everything(), BakeOptions(into='NEW', single_axis=True)
    if not refused:
        assert check(armature, options=options) == [] and bake(armature, options=options).all_reached
        return
    with pytest.raises(IK2DError, match="turn off Single Axis, or bake into this action"):
        bake(armature, options=options)
    assert everything() == before
    assert any("turn off Single Axis" in problem for problem in check(armature, options=options))
