# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a foot: all between ankle and toes are of the foot, and what hangs on a toe is left to it."""

import pytest
from foot_rigs import KINDS, plain_leg

from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.foot.bones import FOOT, TOES, children_of, foot_bones
from ik2d_addon.rig.chain.hands import hanging_bones

PARTS = {
    "foot and toes": {"foot": FOOT, "toes": TOES},
    "two toe bones in a row": {"foot": FOOT, "toes": TOES},
    "two toes side by side": {"foot": FOOT, "toes": TOES, "thumb": TOES},
    "three parts": {"foot": FOOT, "instep": FOOT, "toes": TOES},
    "no toes": {"foot": FOOT},
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_bone_has_its_part(kind):
    leg = plain_leg(kind)
    rig = read_chain(leg.armature, leg.chain)
    assert dict(zip(rig.hands.bones, rig.hands.parts, strict=True)) == PARTS[kind]


def test_without_a_toe_only_what_hangs_on_the_tip_is_of_the_foot():
    leg = plain_leg("three parts")
    hanging = hanging_bones(leg.armature.pose.bones["shin"])
    assert [bone.name for bone, _ in foot_bones(hanging, lambda bone: False)] == ["foot"]


def test_a_bone_that_inherits_no_rotation_hangs_on_nothing():
    leg = plain_leg()
    foot = leg.armature.pose.bones["foot"]
    assert [bone.name for bone in children_of(foot)] == ["toes"]
    leg.armature.data.bones["toes"].use_inherit_rotation = False
    assert list(children_of(foot)) == []
