# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of chains: rounds, and the circles and shared bones that have none."""

import bpy
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.order import armatures_in_rounds, in_order, in_rounds, refuse_shared


def add_fingers(name="Rig", letters="abcd"):
    """Add fingers side by side, each of two bones and a third below them: a0, a1, a2, b0 and so on."""
    bones = {}
    for i, letter in enumerate(letters):
        for k in range(3):
            head, tail = (0, i + 0.2 * (k % 2), 2 - k), (0, i + 0.2 * ((k + 1) % 2), 1 - k)
            bones[f"{letter}{k}"] = (head, tail, f"{letter}{k - 1}" if k else "", 0.0)
    return add_armature(bones, name)


def read(armature):
    return [read_chain(armature, chain) for chain in armature.ik2d.chains]


def rounds(armature):
    """Return the names of the chains, round by round."""
    return [[chain.name for chain in ready] for ready in in_order(read(armature))]


def test_chains_that_need_nothing_of_one_another_are_one_round_as_given():
    armature, target = add_fingers(), add_target({})
    for letter in "cab":
        add_chain(armature, f"{letter}1", target)
    assert rounds(armature) == [["c1", "a1", "b1"]]


def test_no_chains_have_no_rounds():
    assert in_order([]) == []
    assert armatures_in_rounds([]) == []


def test_a_chain_comes_after_those_whose_bones_it_follows():
    armature, target = add_fingers(), add_target({})
    add_chain(armature, "c1", armature, subtarget="b2")
    add_chain(armature, "d1", armature, subtarget="a2")
    add_chain(armature, "b1", armature, subtarget="a2")
    add_chain(armature, "a1", target)
    assert rounds(armature) == [["a1"], ["d1", "b1"], ["c1"]]


def test_a_chain_comes_after_the_one_that_it_hangs_on():
    armature, target = add_fingers(letters="a"), add_target({})
    add_chain(armature, "a2", target, bone_count=1)
    add_chain(armature, "a1", target, bone_count=2)
    assert rounds(armature) == [["a1"], ["a2"]]


def test_a_chain_that_shares_no_bone_may_come_after_others_and_one_that_does_may_not():
    armature, target = add_fingers(letters="a"), add_target({})
    add_chain(armature, "a1", target, bone_count=1)
    (rig,) = read(armature)
    refuse_shared([rig], {"a0": "other", "a2": "other"})
    with pytest.raises(IK2DError, match="^'other' and 'a1' share the bone 'a1'"):
        refuse_shared([rig], {"a1": "other"})


def test_bones_of_one_name_in_another_armature_are_others():
    armature, other, target = add_fingers(), add_fingers("Other"), add_target({})
    add_chain(armature, "a1", other, subtarget="b2")
    add_chain(armature, "b1", target)
    assert rounds(armature) == [["a1", "b1"]]


def test_chains_that_share_a_bone_are_named_with_it():
    armature, target = add_fingers(), add_target({})
    add_chain(armature, "a1", target, name="first")
    add_chain(armature, "b1", target)
    add_chain(armature, "a2", target, name="last")
    with pytest.raises(IK2DError, match="^'first' and 'last' share the bone 'a1'; disable one of them$"):
        in_order(read(armature))


def test_a_circle_is_named_without_those_outside_it():
    armature, target = add_fingers(), add_target({})
    add_chain(armature, "a1", armature, subtarget="b2")
    add_chain(armature, "b1", armature, subtarget="a2")
    add_chain(armature, "c1", target)
    with pytest.raises(
        IK2DError, match="^The chains 'a1', 'b1' depend on one another in a circle: bones whose loop"
    ):
        in_order(read(armature))


def test_a_target_that_a_constraint_hangs_on_the_chain_is_refused():
    armature, target = add_fingers(), add_target({})
    add_chain(armature, "a1", target)
    constraint = target.constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = armature, "a2"
    with pytest.raises(IK2DError, match="Chain 'a1': its target 'Target' is moved by the chain itself"):
        in_order(read(armature))
    constraint.subtarget = "b2"
    assert rounds(armature) == [["a1"]]


def test_a_chain_comes_after_those_that_move_its_pole():
    armature, target = add_fingers(), add_target({})
    add_chain(armature, "b1", target, plane='POLE', pole=armature, pole_subtarget="a2")
    add_chain(armature, "a1", target)
    assert rounds(armature) == [["a1"], ["b1"]]
    armature.ik2d.chains[0].plane = 'SWING'
    assert rounds(armature) == [["b1", "a1"]]


def test_a_pole_that_a_constraint_hangs_on_the_chain_is_refused():
    armature, pole = add_fingers(), add_target({}, "Pole")
    add_chain(armature, "a1", add_target({}), plane='POLE', pole=pole)
    constraint = pole.constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = armature, "a2"
    with pytest.raises(IK2DError, match="Chain 'a1': its pole 'Pole' is moved by the chain itself"):
        in_order(read(armature))
    constraint.subtarget = "b2"
    assert rounds(armature) == [["a1"]]


def test_chains_that_are_one_anothers_poles_are_a_circle():
    armature, target = add_fingers(), add_target({})
    add_chain(armature, "a1", target, plane='POLE', pole=armature, pole_subtarget="b2")
    add_chain(armature, "b1", target, plane='POLE', pole=armature, pole_subtarget="a2")
    with pytest.raises(IK2DError, match="'a1'.*'b1'"):
        in_order(read(armature))


# --- Armatures ------------------------------------------------------------------------------------


def chains_of(*armatures):
    return [chain for armature in armatures for chain in read(armature)]


def test_armatures_come_after_those_that_move_their_targets():
    first, second, third = (add_fingers(name, "ab") for name in ("First", "Second", "Third"))
    add_chain(first, "a1", second, subtarget="a2")
    add_chain(second, "a1", third, subtarget="a2")
    add_chain(third, "a1", add_target({}))
    assert armatures_in_rounds(chains_of(first, second, third)) == [[third], [second], [first]]


def test_armatures_that_need_nothing_stay_as_given():
    first, second = (add_fingers(name, "ab") for name in ("First", "Second"))
    add_chain(second, "a1", add_target({}))
    add_chain(first, "a1", second, subtarget="b2")  # which no chain moves
    add_chain(first, "b1", first, subtarget="a2")  # itself is no other armature
    assert armatures_in_rounds(chains_of(second, first)) == [[second, first]]
    assert armatures_in_rounds(chains_of(first, second)) == [[first, second]]


def test_an_armature_that_stands_on_anothers_bone_comes_after_it():
    first, second = (add_fingers(name, "ab") for name in ("First", "Second"))
    first.parent, first.parent_type, first.parent_bone = second, 'BONE', "a2"
    target = add_target({})
    add_chain(first, "a1", target)
    add_chain(second, "a1", target)
    assert armatures_in_rounds(chains_of(first, second)) == [[second], [first]]
    bpy.data.objects["First"].parent_bone = "b2"
    assert armatures_in_rounds(chains_of(first, second)) == [[first, second]]


def test_armatures_in_a_circle_are_named():
    first, second, third = (add_fingers(name, "ab") for name in ("First", "Second", "Third"))
    add_chain(first, "a1", second, subtarget="a2")
    add_chain(second, "a1", first, subtarget="a2")
    add_chain(third, "a1", add_target({}))
    with pytest.raises(
        IK2DError, match="^The chains of the armatures 'First', 'Second' depend on one another in a circle;"
    ):
        armatures_in_rounds(chains_of(first, second, third))


def test_chains_of_several_armatures_come_after_those_that_move_what_they_follow():
    leader, follower, target = add_fingers("Leader", "a"), add_fingers("Follower", "a"), add_target({})
    add_chain(follower, "a1", leader, subtarget="a2", name="second")
    add_chain(leader, "a1", target, name="first")
    add_chain(follower, "a2", target, bone_count=1, name="third")
    rounds, circle = in_rounds([*read(follower), *read(leader)])
    assert [[chain.name for chain in ready] for ready in rounds] == [["first"], ["second"], ["third"]]
    assert circle == []


def test_chains_of_several_armatures_in_a_circle_are_told_apart_from_the_others():
    one, two, target = add_fingers("One", "ab"), add_fingers("Two", "a"), add_target({})
    add_chain(one, "a1", two, subtarget="a2", name="one")
    add_chain(two, "a1", one, subtarget="a2", name="two")
    add_chain(one, "b1", target, name="free")
    rounds, circle = in_rounds([*read(one), *read(two)])
    assert [[chain.name for chain in ready] for ready in rounds] == [["free"]]
    assert [chain.name for chain in circle] == ["one", "two"]
