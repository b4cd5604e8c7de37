# SPDX-License-Identifier: GPL-3.0-or-later
"""Which FK and IK controls a chain's rig has of its own."""

import bpy
import pytest
from fk_ik_rigs import LAST, RIGS, arp, key_fk, key_ik, mixamo, off, show, shown, two_sets
from rigs import add_chain, every_bit_of_animation

from ik2d_addon.bake import bake
from ik2d_addon.features.match.match import snap_fk, target_to_tip
from ik2d_addon.features.match.own_limbs import acting, limb_of
from ik2d_addon.rig.chain.chain import read_chain


def limb(armature, chain):
    return limb_of(read_chain(armature, chain))


def add_bones(armature, bones: dict) -> None:
    """Add bones, name: (head, tail, parent)."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name, (head, tail, parent) in bones.items():
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = armature.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode='OBJECT')


@pytest.mark.parametrize("kind", RIGS)
def test_the_controls_of_each_kind_of_rig(kind):
    make, names = RIGS[kind]
    found = limb(*make())
    assert tuple(part.bone for part in found.parts) == names["shown"]
    assert tuple(part.control for part in found.parts) == names["fk"]
    assert (found.target, found.pole) == (names["control"], names["pole"])
    assert found.hands[0].ik_control == names["control"]


def test_without_shapes_the_bones_that_are_copied_are_the_controls():
    armature, chain = mixamo()
    for bone in armature.pose.bones:
        bone.custom_shape = None
    found = limb(armature, chain)
    assert tuple(part.control for part in found.parts) == RIGS["mixamo"][1]["fk"]
    assert found.target == "Ctrl_Foot_IK_Left"


def test_a_control_above_carries_the_target_unless_it_moves_another_limb_too():
    armature, chain = arp()
    add_bones(armature, {"feet": ((0, 0, 0), (0, 0.3, 0), "root"), "other": ((1, 0, 0), (1, 0, 1), "feet")})
    add_bones(armature, {"arm": ((1, 0, 1), (1, 0, 2), "hip")})
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["c_foot_ik"].parent = armature.data.edit_bones["feet"]
    bpy.ops.object.mode_set(mode='OBJECT')
    armature.pose.bones["feet"].custom_shape = armature.pose.bones["root"].custom_shape
    assert limb(armature, chain).target == "feet"
    ik = armature.pose.bones["arm"].constraints.new('IK')
    ik.target, ik.subtarget, ik.chain_count = armature, "other", 1
    assert limb(armature, chain).target == "c_foot_ik"


def test_muted_copies_are_no_fk_controls():
    armature, chain = two_sets()
    armature.pose.bones["leg"].constraints[0].mute = True
    assert limb(armature, chain) is None


def test_a_chain_on_the_fk_bones_themselves_has_no_others():
    armature, chain = mixamo()
    names = RIGS["mixamo"][1]
    ik = armature.pose.bones[names["ik"][1]].constraints.new('IK')
    ik.target, ik.subtarget, ik.chain_count = armature, names["control"], 2
    chain.pole, chain.plane, chain.tip = None, 'AUTO', names["fk"][1]
    assert limb(armature, chain) is None


@pytest.mark.parametrize("what", ['COPY_SCALE', 'COPY_ROTATION'])
def test_a_copy_that_always_acts_is_left_to_act(what):
    armature, chain = mixamo()
    copy = armature.pose.bones["mixamorig:LeftLeg"].constraints.new(what)
    copy.target, copy.subtarget, copy.influence = armature, "root", 0.3
    with acting([limb(armature, chain)], fk=True):
        assert copy.influence == pytest.approx(0.3)


@pytest.mark.parametrize("fk", [True, False])
@pytest.mark.parametrize("kind", RIGS)
def test_either_kind_of_bones_acts_alone_for_a_while(kind, fk):
    make, names = RIGS[kind]
    armature, chain = make()
    key_ik(armature, names)
    key_fk(armature, names, seed=3)
    show(armature, names, float(fk))
    wanted = shown(armature, names["shown"], [6])
    show(armature, names, 0.3)
    before, other = every_bit_of_animation(armature), shown(armature, names["shown"], [6])
    with acting([limb(armature, chain)], fk=fk):
        assert off(wanted, shown(armature, names["shown"], [6]))[0] < 1e-6
    assert off(other, shown(armature, names["shown"], [6]))[0] < 1e-6
    assert every_bit_of_animation(armature) == before


def test_chains_with_controls_and_without_are_taken_together():
    armature, _ = arp()
    names = RIGS["arp"][1]
    add_bones(
        armature, {"one": ((0, 0, 1.3), (0, 0.4, 1.4), "hip"), "two": ((0, 0.4, 1.4), (0, 0.8, 1.3), "one")}
    )
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (0, 0.6, 1.6)
    add_chain(armature, "two", target, name="tail")
    key_ik(armature, names)
    bake(armature, None, 1, LAST)
    bones = (*names["shown"], "one", "two")
    before = shown(armature, bones)
    report = snap_fk(armature, None, 4, 9)
    assert report.all_reached and [chain.name for chain in report.chains] == ["leg", "tail"]
    assert "of 'leg' on 6 frames" in report.sentence() and "1 chain" in report.sentence()
    show(armature, names, 1.0)
    assert off(before[3:9], shown(armature, bones)[3:9])[0] < 1e-4
    matched = target_to_tip(armature, None, 4, 9)
    assert matched.matches and [chain.name for chain in matched.chains] == ["leg", "tail"]
