# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of the list of chains."""

import json

import bpy
import pytest
from keyed_chains import moved, paths, tips, two_legs
from rigs import add_armature

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.paths import follow
from ik2d_addon.rig.chain.paths.follow import follow_changed_lists, follow_list, refuse_stuck

SAME = 1e-6  # of the reach


def test_a_list_that_has_not_changed_is_not_written_to():
    armature = two_legs()
    order = armature.ik2d.chain_order
    assert [entry[1] for entry in json.loads(order)] == ["L", "R"]
    assert not follow_list(armature) and armature.ik2d.chain_order == order


def test_numbers_are_not_used_again():
    armature = two_legs()
    chains = armature.ik2d.chains
    follow_list(armature)
    last = chains[1].uid
    chains.move(1, 0)
    follow_list(armature)
    chains.remove(0)
    new = chains.add()
    new.name = "New"
    follow_list(armature)
    assert new.uid > last
    assert paths(armature.animation_data.action) == ["ik2d.chains[0].softness"]


@pytest.mark.parametrize(
    "record", ["", "no json", "5", "[1, 2]", '[["1", "L"]]', '[[1, 2]]', "[[1]]", "{}", "[[]]"]
)
def test_a_damaged_record_moves_nothing(record):
    armature = two_legs()
    before = tips(armature)
    armature.ik2d.chain_order = record
    assert not follow_list(armature)
    assert moved(before, armature) < SAME
    assert [name for _, name in json.loads(armature.ik2d.chain_order)] == ["L", "R"]


def test_an_armature_that_has_no_chains_gets_no_record():
    armature = add_armature({"bone": ((0, 0, 0), (0, 0, 1), "", 0.0)})
    assert armature.ik2d.active_index == 0
    follow_changed_lists()
    assert not follow_list(armature) and armature.ik2d.chain_order == ""


def test_a_rig_that_comes_or_goes_is_noticed():
    armature = two_legs()
    follow_changed_lists()
    other = two_legs("Other", 3.0)
    before = tips(other)
    bpy.data.objects.remove(armature)
    other.ik2d.chains.move(1, 0)
    follow_changed_lists()
    assert moved(before, other) < SAME


def test_live_chains_are_told():
    armature, told = two_legs(), []
    follow.followed.append(lambda: told.append(1))
    try:
        armature.ik2d.chains.move(1, 0)
        assert follow_list(armature) and told == [1]
        assert not follow_list(armature) and told == [1]
    finally:
        follow.followed.pop()


def test_a_new_order_is_refused_only_where_keys_would_act_on_another_chain():
    armature, other = two_legs(), two_legs("Other", 3.0)
    other.animation_data_clear()
    other.animation_data_create().action = armature.animation_data.action
    if hasattr(other.animation_data, "action_slot"):
        other.animation_data.action_slot = armature.animation_data.action_slot
    refuse_stuck(armature, [0, 1])
    refuse_stuck(armature, [0])  # what the keys of R are on is gone
    for order in ([1, 0], [1]):
        with pytest.raises(IK2DError, match="'Rig Walk' is played by 'Other' too"):
            refuse_stuck(armature, order)


def test_a_copy_that_a_script_makes_is_noticed_at_once():
    armature = two_legs()
    follow_changed_lists()
    copy = armature.copy()
    copy.animation_data.action = armature.animation_data.action.copy()
    bpy.context.scene.collection.objects.link(copy)
    copy.ik2d.chains.move(1, 0)
    bpy.context.scene.frame_set(2)
    wanted = ["ik2d.chains[0].influence", "ik2d.chains[0].turn_over", "ik2d.chains[1].softness"]
    assert paths(copy.animation_data.action) == wanted
    assert paths(armature.animation_data.action) != wanted
