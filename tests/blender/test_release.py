# SPDX-License-Identifier: GPL-3.0-or-later
"""Release gives the IK back after renames and from damaged notes, and takes nothing of the user's away."""

import bpy
import ik_rigs
import numpy as np
import pytest
from ik_rigs import LAST, add_ik
from rigs import add_target, evaluated_tip, stored_settings

from ik2d_addon.chains import add_foot
from ik2d_addon.features.adopt import keep
from ik2d_addon.features.adopt.adopt import adopt, release
from ik2d_addon.rig.animation.versions import existing_fcurves

FRAMES = range(1, LAST + 1, 4)
REACH = 1.9


def tips(armature, bone="shin"):
    """Return where Blender has the tip of the leg on some frames."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(evaluated_tip(armature, bone))
    return np.array(found)


def adopted(make=ik_rigs.keyed_mute):
    """Return the rig with its leg adopted, and where the IK had the tip."""
    armature = make()
    bpy.context.view_layer.objects.active = armature
    before = tips(armature)
    (name,) = adopt(armature)
    return armature, name, before


def is_back(armature, before, bone="shin"):
    """Return whether the IK has the tip where it had it."""
    return np.abs(tips(armature, bone) - before).max() < 1e-5 * REACH


def rename_action(armature):
    armature.animation_data.action.name = "walk\n\t2"


def rename_slot(armature):
    if hasattr(armature.animation_data, "action_slot"):
        armature.animation_data.action_slot.name_display = "other"


def rename_constraint(armature):
    armature.pose.bones["shin"].constraints[0].name = "IK of mine"


def rename_bone(armature):
    armature.data.bones["shin"].name = "shank"


def rename_foot(armature):
    armature.data.bones["foot"].name = "paw"


def copy_action(armature):
    animation, old = armature.animation_data, armature.animation_data.action
    slot = getattr(animation, "action_slot", None)
    name = slot.identifier if slot else ""
    animation.action = old.copy()
    if slot:
        animation.action_slot = animation.action.slots[name]
    bpy.data.actions.remove(old)


def rename_while_another_action_plays(armature):
    animation, old = armature.animation_data, armature.animation_data.action
    slot = getattr(animation, "action_slot", None)
    animation.action = bpy.data.actions.new("meanwhile")
    rename_constraint(armature)
    armature.pose.bones["shin"].constraints[0].name = "IK"
    animation.action = old
    if slot:
        animation.action_slot = slot


RENAMES = [
    [rename_action],
    [rename_slot],
    [rename_constraint],
    [rename_bone],
    [rename_action, rename_slot, rename_constraint, rename_bone],
    [copy_action],
    [copy_action, rename_constraint],
    [rename_while_another_action_plays],
]


@pytest.mark.parametrize("renames", RENAMES, ids=lambda each: "+".join(one.__name__ for one in each))
def test_after_renames_the_ik_is_back_with_the_curve_of_its_mute(renames):
    armature, name, before = adopted()
    for rename in renames:
        rename(armature)
    bone = "shank" if rename_bone in renames else "shin"
    assert not is_back(armature, before, bone)  # neither solved nor baked
    assert release(armature, name) == []
    assert is_back(armature, before, bone) and not len(armature.ik2d.chains)
    assert not any(curve.mute for curve in existing_fcurves(armature))


def test_a_saved_file_gives_back_after_its_action_was_renamed(tmp_path):
    armature, name, before = adopted()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "leg.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "leg.blend"))
    armature = bpy.data.objects["Rig"]
    rename_action(armature)
    assert release(armature, name) == [] and is_back(armature, before)


def test_the_bone_below_the_limb_may_be_renamed_too():
    armature, name, before = adopted(ik_rigs.from_below)
    rename_foot(armature)
    assert release(armature, name) == [] and is_back(armature, before)


def two_candidates():
    """Return an adopted leg whose constraint was renamed and has a muted one next to it."""
    armature, name, before = adopted()
    armature.pose.bones["shin"].constraints[0].name = "renamed"
    add_ik(armature, "shin", add_target({1: (0, 1, 1)}, "Other"), 2, mute=True, name="too")
    return armature, name, before


def test_a_constraint_that_may_be_one_of_several_keeps_the_chain(capfd):
    armature, name, before = two_candidates()
    assert bpy.ops.ik2d.release() == {'FINISHED'}
    said, words = capfd.readouterr().out, "give it its name back and restore again, or remove the chain if"
    assert "Released" not in said
    assert f"'IK' of bone 'shin' is not found, and may be 'renamed' and 'too': {words} it is none" in said
    assert [chain.name for chain in armature.ik2d.chains] == [name]
    armature.pose.bones["shin"].constraints[0].name = "IK"
    assert release(armature, name) == []
    assert is_back(armature, before) and not len(armature.ik2d.chains)


def to_a_bone():
    """Add a leg whose IK has the bone 'body' for its target, with its mute keyed."""
    armature = ik_rigs.keyed_mute()
    constraint = armature.pose.bones["shin"].constraints[0]
    constraint.target, constraint.subtarget = armature, "body"
    return armature


def test_a_target_that_was_taken_out_comes_back_after_its_bone_was_renamed():
    armature, name, before = adopted(to_a_bone)
    constraint = armature.pose.bones["shin"].constraints[0]
    assert constraint.target is None and not is_back(armature, before)
    armature.data.bones["body"].name = "hips"
    assert release(armature, name) == [] and is_back(armature, before)
    assert (constraint.target, constraint.subtarget) == (armature, "hips")


def test_a_target_that_is_gone_is_said():
    armature, name, _before = adopted()
    bpy.data.objects.remove(armature.ik2d.chains[0].target)
    (sentence,) = release(armature, name)
    assert sentence == "The target of 'IK' of bone 'shin' is gone" and not len(armature.ik2d.chains)


def test_a_chain_that_keeps_something_can_be_removed():
    armature, name, _ = two_candidates()
    release(armature, name)
    bpy.ops.ik2d.chain_remove()
    assert not len(armature.ik2d.chains)


# --- Files that say what is not so -------------------------------------------


def curves(armature):
    return sorted((curve.data_path, curve.array_index) for curve in existing_fcurves(armature))


def test_notes_of_levels_and_groups_that_are_not_ours_take_no_curve_away():
    armature = ik_rigs.keyed_influence()
    for bone in armature.pose.bones:
        bone.keyframe_insert("rotation_quaternion", frame=1)
    armature.keyframe_insert("location", frame=1)
    before = curves(armature)
    (name,) = adopt(armature)
    found = armature.ik2d.chains[0].adopted
    found.levels, found.group = "DATA ACTION SLOT LAYER STRIP BAG", "Rig"
    assert release(armature, name) == []
    assert curves(armature) == before and not len(armature.ik2d.chains)


def test_an_action_that_others_use_is_not_removed():
    armature = ik_rigs.from_the_tip()
    (name,) = adopt(armature)
    action = bpy.data.actions.new("empty")
    armature.animation_data_create().action = action
    bpy.data.objects["Target"].animation_data.action = action
    armature.ik2d.chains[0].adopted.levels = "DATA ACTION"
    release(armature, name)
    assert "empty" in bpy.data.actions


NOTED = [
    (ik_rigs.from_the_tip, False, "mute\t0"),
    (ik_rigs.from_the_tip, True, "mute\t1"),
    (ik_rigs.driven_mute, False, ""),  # it loses its target, which 1.0.0 cannot give back
]
NOTES = [
    *("x", "mute", "mute\t", "mute\t2", "mute\t1\n", "curve\tmute", "mute\t0\ncurve\tx\t1"),
    *(
        "mute\t0\ncurve\tmute\tx",
        "mute\t0\ncurve\tmute\t1\t2",
        "mute\t0\ndriver",
        "mute\t0\ndriver\tinfluence",
    ),
    *("{}", "\x07", '{"mute": 0}', "mute\t0\ncurve\tmute\t" + "9" * 5000),
]


@pytest.mark.parametrize("make, was_muted, note", NOTED)
def test_a_plain_mute_has_the_note_by_which_1_0_restores_it(make, was_muted, note):
    armature = make()
    constraint = armature.pose.bones["shin"].constraints[0]
    constraint.mute = was_muted
    chain = armature.ik2d.chains.add()
    keep.take(chain, "shin", constraint)
    assert chain.adopted.constraints[0].note == note


def test_the_note_for_1_0_is_not_read_where_the_mute_is_known():
    armature, name, before = adopted(ik_rigs.from_the_tip)
    armature.ik2d.chains[0].adopted.constraints[0].note = "mute\t1"
    assert release(armature, name) == [] and is_back(armature, before)


@pytest.mark.parametrize("note", NOTES, ids=range(len(NOTES)))
def test_a_damaged_note_is_a_sentence_and_the_ik_acts_again(note):
    armature, name, before = adopted()
    taken = armature.ik2d.chains[0].adopted.constraints[0]
    taken.property_unset("was_muted")
    taken.note = note
    (sentence,) = release(armature, name)
    assert sentence == "The note on 'IK' of bone 'shin' is damaged: it acts now; look at its mute"
    assert is_back(armature, before) and not len(armature.ik2d.chains)


@pytest.mark.parametrize(
    "damage",
    [("rotation_mode", "ABC"), ("location", [float("nan")] * 3), ("scale", [float("inf")] * 3)],
    ids=lambda damage: damage[0],
)
def test_a_damaged_note_of_a_bone_is_a_sentence_and_the_rest_is_back(damage):
    armature, name, before = adopted(ik_rigs.hinges)
    stored_settings(armature)["chains"][0]["adopted"]["bones"][0][damage[0]] = damage[1]
    (sentence,) = release(armature, name)
    assert "The note on bone 'thigh' is damaged" in sentence
    assert is_back(armature, before) and not len(armature.ik2d.chains)


def test_a_foot_added_to_an_adopted_leg_goes_with_it():
    armature = ik_rigs.keyed_mute()
    bpy.context.view_layer.objects.active = armature
    before = tips(armature, "foot")
    (name,) = adopt(armature)
    chain = armature.ik2d.chains[name]
    add_foot(armature, chain)
    chain.foot.roll, chain.live = 0.5, True
    chain.foot.keyframe_insert("roll", frame=3)
    assert not is_back(armature, before, "foot")
    assert release(armature, name) == [] and not armature.ik2d.chains
    assert is_back(armature, before, "foot")
    assert not any("foot" in curve.data_path for curve in existing_fcurves(armature))
