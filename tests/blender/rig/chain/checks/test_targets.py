# SPDX-License-Identifier: GPL-3.0-or-later
"""Targets and poles that a chain can follow, and the words for others."""

import pytest
from read_legs import leg, leg_with_pole, refusal
from rigs import add_leg

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import problem_of, read_chain
from ik2d_addon.rig.chain.checks.targets import refuse_own_target


def test_a_bone_that_the_target_has_not_is_told():
    armature, chain = leg(subtarget="control")
    with pytest.raises(IK2DError, match="target 'Target' has no bone 'control'; choose another bone or none"):
        read_chain(armature, chain)
    chain.target = add_leg("Other")
    with pytest.raises(IK2DError, match="target 'Other' has no bone 'control'"):
        read_chain(armature, chain)
    chain.subtarget = "body"
    assert read_chain(armature, chain).subtarget == "body"


def test_a_target_on_the_chains_own_bone_is_refused():
    armature, chain = leg()
    chain.target, chain.subtarget = armature, "thigh"
    with pytest.raises(
        IK2DError, match="its target bone 'thigh' is moved by the chain itself: it depends on bone 'thigh'"
    ):
        read_chain(armature, chain)
    chain.subtarget = "body"
    assert not problem_of(armature, chain)


def test_a_target_that_hangs_on_the_chains_bone_is_refused():
    armature, chain = leg()
    chain.target.parent, chain.target.parent_type, chain.target.parent_bone = armature, 'BONE', "shin"
    with pytest.raises(IK2DError, match="its target 'Target' is moved by the chain itself"):
        read_chain(armature, chain)
    chain.target.parent_bone = "body"
    assert not problem_of(armature, chain)


def test_only_this_armatures_bones_are_the_chains_own():
    armature, other = add_leg(), add_leg("Other")
    refuse_own_target("leg", armature, ["shin"], [(other, "shin"), (armature, "body"), (armature, "")])
    with pytest.raises(IK2DError, match="Chain 'leg': its target bone 'end' .* it depends on bone 'shin'"):
        refuse_own_target("leg", armature, ["shin"], [(other, "end"), (armature, "shin")])


def test_a_plane_towards_a_pole_needs_one():
    assert refusal(*leg_with_pole("")) == (
        "Chain 'shin' has no pole; choose the object that its knee or elbow points at, or set Bends In to "
        "another plane"
    )


def test_a_bone_that_the_pole_has_not_is_told():
    armature, chain = leg_with_pole()
    chain.pole_subtarget = "control"
    words = "Chain 'shin': its pole '{}' has no bone 'control'; choose another bone or none"
    assert refusal(armature, chain) == words.format("Pole")
    chain.pole = add_leg("Other")
    assert refusal(armature, chain) == words.format("Other")
    chain.pole_subtarget = "body"
    assert not problem_of(armature, chain)


@pytest.mark.parametrize("bone", ("thigh", "shin"))
def test_a_pole_on_the_chains_own_bone_is_refused(bone):
    armature, chain = leg_with_pole()
    chain.pole, chain.pole_subtarget = armature, bone
    assert refusal(armature, chain) == (
        f"Chain 'shin': its pole bone '{bone}' is moved by the chain itself: it depends on bone '{bone}';"
        " choose a pole that does not"
    )
    chain.pole_subtarget = "body"
    assert not problem_of(armature, chain)


def test_a_pole_that_hangs_on_the_chains_bone_is_refused():
    armature, chain = leg_with_pole()
    chain.pole.parent, chain.pole.parent_type, chain.pole.parent_bone = armature, 'BONE', "thigh"
    assert "its pole 'Pole' is moved by the chain itself: it depends on bone 'thigh'" in refusal(
        armature, chain
    )
    chain.pole.parent_bone = "body"
    assert not problem_of(armature, chain)
