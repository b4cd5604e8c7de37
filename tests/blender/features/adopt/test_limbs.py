# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones IK constraints move, and which of them a selected bone means."""

import bpy
import pytest
from ik_rigs import PATH, add_ik, from_below, from_the_tip, leg_with_foot, to_the_root
from rigs import add_armature, add_target

from ik2d_addon.features.adopt.limbs import limbs_meant, limbs_of

FRAMES = (1.0, 20.0)


@pytest.mark.parametrize("make", [from_the_tip, from_below, to_the_root])
def test_the_limb_is_what_blender_moves(make):
    (limb,) = limbs_of(make(), FRAMES).limbs
    assert limb.bones == ("thigh", "shin")


@pytest.mark.parametrize(
    "change",
    [
        lambda c: setattr(c, "mute", True),
        lambda c: setattr(c, "influence", 0.0),
        lambda c: setattr(c, "target", None),
        lambda c: setattr(c, "ik_type", 'DISTANCE'),
    ],
)
def test_what_does_not_act_is_counted(change):
    armature = from_the_tip()
    change(armature.pose.bones["shin"].constraints[0])
    found = limbs_of(armature, FRAMES)
    assert (found.limbs, found.idle) == ((), 1)


def test_an_influence_that_comes_later_counts():
    armature = from_the_tip()
    constraint = armature.pose.bones["shin"].constraints[0]
    for frame, value in ((1, 0.0), (20, 1.0)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(1)
    assert len(limbs_of(armature, FRAMES).limbs) == 1


def test_two_constraints_of_one_limb_are_one_and_the_one_that_acts_leads():
    armature = from_the_tip()
    first = armature.pose.bones["shin"].constraints[0]
    add_ik(armature, "foot", add_target(PATH, "Other"), 2, use_tail=False)
    first.influence = 0.0
    first.keyframe_insert("influence", frame=1)
    first.influence = 1.0
    first.keyframe_insert("influence", frame=20)
    bpy.context.scene.frame_set(1)
    (limb,) = limbs_of(armature, FRAMES).limbs
    assert limb.main.target.name == "Other" and len(limb.constraints) == 2


def test_of_limbs_that_share_bones_the_second_begins_below():
    armature = add_armature(
        {
            "spine": ((0, 0, 1), (0, 0, 2), "", 0),
            "arm.L": ((0, 0, 2), (1, 0, 2), "spine", 0),
            "arm.R": ((0, 0, 2), (-1, 0, 2), "spine", 0),
        }
    )
    for side in "LR":
        add_ik(armature, f"arm.{side}", add_target({1: (0, 0.5, 2)}), 2)
    first, second = limbs_of(armature, FRAMES).limbs
    assert (first.bones, second.bones) == (("spine", "arm.L"), ("arm.R",))
    assert (first.cut, second.cut) == ("", "spine")


def test_of_limbs_that_share_bones_the_one_that_reaches_further_down_has_them():
    armature = from_the_tip()
    add_ik(armature, "thigh", add_target({1: (0, 0.5, 1.2)}, "Knee"), 1)
    (limb,) = limbs_of(armature, FRAMES).limbs
    assert limb.bones == ("thigh", "shin") and limb.main.target.name == "Target"
    assert limb.idle == (("thigh", "IK"),)


def test_of_two_that_share_some_the_shorter_one_keeps_its_own():
    armature = from_the_tip()
    bpy.ops.object.mode_set(mode='EDIT')
    flap = armature.data.edit_bones.new("flap")
    flap.head, flap.tail = (0, -0.1, 1.0), (0, -0.6, 1.0)
    flap.parent = armature.data.edit_bones["thigh"]
    bpy.ops.object.mode_set(mode='OBJECT')
    shin = armature.pose.bones["shin"]
    shin.constraints.remove(shin.constraints[0])
    add_ik(armature, "foot", bpy.data.objects["Target"], 3)
    add_ik(armature, "flap", add_target({1: (0, -0.5, 1.5)}, "Flap"), 2)
    long, short = limbs_of(armature, FRAMES).limbs
    assert (long.bones, long.cut) == (("thigh", "shin", "foot"), "")
    assert (short.bones, short.cut, long.idle) == (("flap",), "thigh", ())


def test_any_bone_of_the_limb_means_it_and_so_do_target_pole_and_what_follows():
    armature = add_armature(
        {
            "thigh": ((0, 0, 2), (0, -0.1, 1), "", 0),
            "shin": ((0, -0.1, 1), (0, 0, 0.1), "thigh", 0),
            "control": ((0, 0, 0.1), (0, 0.4, 0.1), "", 0),
            "target": ((0, 0, 0.1), (0, 0.2, 0.1), "control", 0),
            "pole": ((0, -2, 1), (0, -2, 1.2), "", 0),
            "skin": ((0, -0.1, 1), (0, 0, 0.1), "", 0),
            "head": ((0, 0, 3), (0, 0, 4), "", 0),
        }
    )
    add_ik(armature, "shin", armature, 2, subtarget="target", pole_target=armature, pole_subtarget="pole")
    copy = armature.pose.bones["skin"].constraints.new('COPY_TRANSFORMS')
    copy.target, copy.subtarget = armature, "shin"
    limbs = limbs_of(armature, FRAMES).limbs
    for name in ("thigh", "shin", "control", "target", "pole", "skin"):
        assert limbs_meant(limbs, [name]) == list(limbs), name
    assert limbs_meant(limbs, ["head"]) == []


def test_nothing_is_meant_where_there_is_no_limb():
    assert limbs_meant([], ["thigh"]) == [] and limbs_of(leg_with_foot(), FRAMES).limbs == ()
