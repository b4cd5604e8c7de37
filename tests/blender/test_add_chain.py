# SPDX-License-Identifier: GPL-3.0-or-later
"""Add Chain takes the selected bones, names them before, and its chain is live at once."""

import bpy
import pytest
from rigs import add_armature, add_leg, add_target, evaluated_place, evaluated_tip

from ik2d_addon.features.setup import adding, operators, selection
from ik2d_addon.rig.animation import versions

IN_REACH = (0, -0.6, 0.6)


def select(*objects, tip):
    """Select objects, the last one active in Pose Mode with an active bone, and that bone alone."""
    bpy.ops.object.select_all(action='DESELECT')
    for thing in objects:
        thing.select_set(True)
    armature = objects[-1]
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    for bone in armature.pose.bones:
        versions.select_bone(bone, bone.name == tip)
    armature.data.bones.active = armature.data.bones[tip]


def select_bone(armature, name):
    versions.select_bone(armature.pose.bones[name], True)


LEG = {
    "hip": ((0, 0, 2), (0, 0, 2.5), "", 0.0),
    "thigh": ((0, 0, 2), (0, -0.1, 1), "hip", 0.0),
    "shin": ((0, -0.1, 1), (0, 0, 0), "thigh", 0.0),
    "foot": ((0, 0, 0), (0, -0.3, 0), "shin", 0.0),
    "foot_ctrl": ((0, 0, 0), (0, 0.4, 0), "", 0.0),
}


def test_chain_add_takes_the_other_selected_bone_before_an_object():
    armature, target = add_armature(LEG), add_target({1: IN_REACH})
    select(target, armature, tip="shin")
    select_bone(armature, "foot_ctrl")
    assert selection.plan_in_words(bpy.context) == "thigh, shin to foot_ctrl"
    bpy.ops.ik2d.chain_add()
    chain = armature.ik2d.chains[0]
    assert (chain.target, chain.subtarget, chain.bone_count) == (armature, "foot_ctrl", 2)


@pytest.mark.parametrize("also", ["hip", "foot"])
def test_a_bone_above_or_below_the_active_one_is_no_target(also):
    armature, target = add_armature(LEG), add_target({1: IN_REACH})
    select(target, armature, tip="shin")
    select_bone(armature, also)
    bpy.ops.ik2d.chain_add()
    assert armature.ik2d.chains[0].target == target


@pytest.mark.parametrize("active", ["thigh", "shin", "foot"])
def test_the_run_of_selected_bones_is_the_chain_whichever_is_active(active):
    armature = add_armature(LEG)
    select(armature, tip=active)
    for name in ("thigh", "shin", "foot"):
        select_bone(armature, name)
    assert selection.plan_in_words(bpy.context) == "thigh, shin, foot to a new target"
    bpy.ops.ik2d.chain_add()
    assert [joint.name for joint in armature.ik2d.chains[0].joints] == ["thigh", "shin", "foot"]


def test_a_gap_in_the_selection_ends_the_run():
    armature = add_armature(LEG)
    select(armature, tip="foot")
    select_bone(armature, "foot")
    select_bone(armature, "thigh")
    bpy.ops.ik2d.chain_add()
    assert [joint.name for joint in armature.ik2d.chains[0].joints] == ["shin", "foot"]
    assert armature.ik2d.chains[0].target.name == "foot Target"


def tail(count=10):
    """Return an armature with a tail beside a leg, both on one hip."""
    bones = {"hip": ((0, 0, 2), (0, 0.2, 2), "", 0.0), "leg": ((0, 0.2, 2), (0, 0.2, 1), "hip", 0.0)}
    for i in range(count):
        parent = f"tail.{i:02d}" if i else "hip"
        bones[f"tail.{i + 1:02d}"] = ((0, 0.2 + 0.3 * i, 2), (0, 0.5 + 0.3 * i, 2), parent, 0.0)
    return add_armature(bones)


@pytest.mark.parametrize("active", ["tail.01", "tail.04", "tail.10"])
def test_whole_branch_takes_all_bones_from_where_they_branch_off(active):
    armature = tail()
    select(armature, tip=active)
    said = selection.plan_in_words(bpy.context, whole_branch=True)
    assert said == "tail.01 … tail.10 (10 bones) to a new target"
    bpy.ops.ik2d.chain_add(whole_branch=True)
    chain = armature.ik2d.chains[0]
    assert [joint.name for joint in chain.joints] == [f"tail.{i:02d}" for i in range(1, 11)]
    assert chain.live


def test_ten_selected_bones_make_a_chain_of_ten():
    armature = tail()
    select(armature, tip="tail.03")
    for i in range(1, 11):
        select_bone(armature, f"tail.{i:02d}")
    bpy.ops.ik2d.chain_add()
    assert armature.ik2d.chains[0].tip == "tail.10" and armature.ik2d.chains[0].bone_count == 10


@pytest.mark.parametrize("at_once", [True, False])
def test_a_new_chain_is_live_unless_the_preferences_say_no(at_once, monkeypatch):
    monkeypatch.setattr(operators, "is_live_at_once", lambda: at_once)
    armature, target = add_leg(), add_target({})
    target.location = IN_REACH
    select(target, armature, tip="shin")
    bpy.ops.ik2d.chain_add()
    assert armature.ik2d.chains[0].live is at_once
    bpy.context.view_layer.update()
    off = (evaluated_tip(armature, "shin") - evaluated_place(target)).length
    assert off < 1e-5 if at_once else off > 0.1


def test_another_chain_is_offered_on_bones_without_one_that_carry_no_target():
    armature = add_armature({**LEG, "mover": ((0, 1, 0), (0, 1, 1), "", 0.0)})
    select(armature, tip="shin")
    select_bone(armature, "foot_ctrl")
    bpy.ops.ik2d.chain_add()
    offered = []
    for bone in armature.data.bones:
        armature.data.bones.active = bone
        if adding.offers_another(bpy.context):
            offered.append(bone.name)
    assert offered == ["hip", "foot", "mover"]
