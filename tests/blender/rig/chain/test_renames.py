# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones found again by their place, and names that are free."""

import bpy
import pytest
from rigs import add_armature, add_chain, add_leg, add_target

from ik2d_addon.rig.chain.renames import (
    bones_of,
    follow_joints,
    follow_renames,
    found_bone,
    free_name,
    is_other_bone,
    remember,
    straighten,
    unique_name,
)


class Place:
    """Where a bone stood, as `place` of a joint keeps it."""

    def __init__(self):
        self.head = self.tail = (0.0, 0.0, 0.0)
        self.parent, self.index, self.count = "", -1, 0
        self.written = 0

    def __setattr__(self, name, value):
        if name in ("head", "tail", "parent", "index", "count") and hasattr(self, "written"):
            super().__setattr__("written", self.written + 1)
        super().__setattr__(name, value)


def bones(**extra):
    """Add three bones in a row, of which the last hangs on none; extra: more of them."""
    return add_armature(
        {
            "a": ((0, 0, 0), (0, 0, 1), "", 0.0),
            "b": ((0, 0, 1), (0, 0.5, 2), "a", 0.0),
            "c": ((0, 3, 0), (0, 3, 2), "", 0.0),
            **extra,
        }
    ).data


def place_of(data, name):
    place = Place()
    remember(place, data, name)
    return place


def edit(data):
    """Enter Edit Mode of an armature; return its edit bones."""
    bpy.context.view_layer.objects.active = next(ob for ob in bpy.data.objects if ob.data == data)
    bpy.ops.object.mode_set(mode='EDIT')
    return data.edit_bones


def done():
    bpy.ops.object.mode_set(mode='OBJECT')


# --- Places ---------------------------------------------------------------------------------------


def test_a_place_is_all_that_tells_a_bone_from_others():
    data = bones()
    place = place_of(data, "b")
    assert (place.head, place.tail) == ((0, 0, 1), (0, 0.5, 2))
    assert (place.parent, place.index, place.count) == ("a", 1, 3)
    place = place_of(data, "c")
    assert (place.parent, place.index) == ("", 2)
    assert place_of(data, "no such bone").index == -1


def test_only_what_differs_is_written():
    data = bones()
    place = place_of(data, "b")
    written = place.written
    assert written == 5
    remember(place, data, "b")
    assert place.written == written
    place.parent = "z"
    remember(place, data, "b")
    assert place.parent == "a" and place.written == written + 2


def test_a_bone_without_a_known_place_is_found_by_its_name_alone():
    data = bones()
    assert found_bone(data, "b", Place()) == "b"
    assert found_bone(data, "z", Place()) == ""


def test_a_bone_is_found_in_its_place_and_by_its_name_where_it_has_moved():
    data = bones()
    place = place_of(data, "b")
    assert found_bone(data, "b", place) == "b"
    data.bones["b"].name = "z"
    assert found_bone(data, "b", place) == "z"
    data.bones["c"].name = "b"  # its name, but not its place
    assert found_bone(data, "b", place) == "z"
    edit(data)["z"].tail = (0, 2, 2)
    done()
    assert found_bone(data, "b", place) == "b"
    data.bones["b"].name = "c"
    assert found_bone(data, "b", place) == ""


def test_among_more_bones_than_before_it_is_sought_by_place_and_parent():
    data = bones()
    place = place_of(data, "b")
    data.bones["b"].name = "z"
    fresh = edit(data).new("first")
    fresh.head, fresh.tail = (9, 9, 9), (9, 9, 10)
    done()
    assert found_bone(data, "b", place) == "z"
    place.parent = "c"  # which there is: another bone then
    assert found_bone(data, "b", place) == ""
    place.parent = "gone"  # it may be renamed too
    assert found_bone(data, "b", place) == "z"
    place.parent = ""
    assert found_bone(data, "b", place) == ""
    place = place_of(data, "c")
    data.bones["c"].name = "y"
    place.count = 0
    assert found_bone(data, "c", place) == "y"
    place.parent = "a"
    assert found_bone(data, "c", place) == ""


def test_of_two_bones_in_one_place_none_is_sure():
    data = bones(twin=((0, 0, 1), (0, 0.5, 2), "a", 0.0))
    place = place_of(data, "b")
    data.bones["b"].name = "z"
    assert found_bone(data, "b", place) == "z"  # the same one in order
    place.count = 9
    assert found_bone(data, "b", place) == ""
    data.bones["z"].name = "b"
    assert found_bone(data, "b", place) == "b"


@pytest.mark.parametrize("end", ["head", "tail"])
@pytest.mark.parametrize("off, same", [(0.9e-4, True), (1.1e-4, False)])
def test_places_are_one_within_a_ten_thousandth_of_the_bones_length(end, off, same):
    data = bones()
    place = place_of(data, "c")  # 2 long
    data.bones["c"].name = "z"
    for axis in range(3):
        for sign in (1, -1):
            moved = list(getattr(place, end))
            before = tuple(moved)
            moved[axis] += sign * 2 * off
            setattr(place, end, moved)
            assert found_bone(data, "c", place) == ("z" if same else "")
            setattr(place, end, before)


# --- Chains ---------------------------------------------------------------------------------------


def leg():
    armature = add_leg()
    chain = add_chain(armature, "shin", None)
    follow_renames(chain)
    return armature, chain


def names(chain):
    return [joint.name for joint in chain.joints]


def test_a_chain_follows_and_says_whether_it_did():
    armature, chain = leg()
    assert not follow_renames(chain) and not straighten(armature)
    armature.data.bones["shin"].name = "calf"
    armature.data.bones["thigh"].name = "femur"
    assert straighten(armature)
    assert chain.tip == "calf" and names(chain) == ["femur", "calf"]
    assert chain.joints["femur"].place.parent == "body"
    assert chain.joints["calf"].place.parent == "femur"
    assert not straighten(armature)


def test_while_bones_are_edited_nothing_is_followed():
    armature, chain = leg()
    edit(armature.data)["shin"].name = "calf"
    assert not follow_joints(chain)
    done()
    assert straighten(armature) or chain.tip == "calf"


def test_joints_that_are_out_of_the_chain_for_now_follow_too():
    armature, chain = leg()
    chain.joints["thigh"].weight = 0.5
    chain.bone_count = 1
    assert [joint.name for joint in chain.dormant] == ["thigh"]
    armature.data.bones["thigh"].name = "femur"
    assert follow_joints(chain)
    assert [joint.name for joint in chain.dormant] == ["femur"] and names(chain) == ["shin"]


def test_joints_whose_places_are_not_known_are_paired_by_order():
    armature, chain = leg()
    for joint in chain.joints:
        joint.property_unset("place")
    armature.data.bones["thigh"].name = "femur"
    assert follow_joints(chain)
    assert names(chain) == ["femur", "shin"]
    assert chain.joints["femur"].place.index == 1


def test_they_are_not_paired_with_bones_that_have_joints_nor_where_numbers_differ():
    armature, chain = leg()
    for joint in chain.joints:
        joint.property_unset("place")
    armature.data.bones["thigh"].name = "femur"
    chain["bone_count"] = 3
    assert not follow_joints(chain) and names(chain) == ["thigh", "shin"]
    chain["bone_count"] = 2
    chain.joints[0].name = "body"  # is no lost one
    assert not follow_joints(chain) and names(chain) == ["body", "shin"]


@pytest.mark.parametrize("role, bone", [("target", "subtarget"), ("pole", "pole_subtarget")])
def test_the_bone_of_a_target_and_of_a_pole_is_followed(role, bone):
    armature, chain = leg()
    other = add_leg("Other")
    setattr(chain, role, other)
    setattr(chain, bone, "thigh")
    other.data.bones["thigh"].name = "femur"
    assert follow_renames(chain) and getattr(chain, bone) == "femur"
    place = chain.subtarget_place if role == "target" else chain.pole_place
    assert place.parent == "body" and place.index == 1
    assert not follow_renames(chain)
    other.data.bones.active = None
    edit(other.data)["femur"].name = "bone"
    assert not follow_renames(chain)
    done()


def test_a_poles_bone_is_followed():
    armature, chain = leg()
    other = add_leg("Other")
    chain.pole, chain.pole_subtarget = other, "thigh"
    other.data.bones["thigh"].name = "femur"
    assert follow_renames(chain) and chain.pole_subtarget == "femur"
    assert chain.pole_place.parent == "body" and chain.pole_place.index == 1
    assert not follow_renames(chain)


def test_the_bones_of_each_armature_are_numbered_once_for_all_chains():
    armature, chain = leg()
    other = add_leg("Other")
    chain.target, chain.subtarget = other, "thigh"
    orders = {}
    assert not follow_renames(chain, orders)
    assert orders == {
        ob.data: {bone.name: i for i, bone in enumerate(ob.data.bones)} for ob in (armature, other)
    }
    orders[other.data] = {"body": 5, "thigh": 7, "shin": 6}
    follow_renames(chain, orders)
    assert (chain.subtarget_place.index, chain.subtarget_place.count) == (7, 3)


def test_targets_without_bones_and_lost_ones_change_nothing():
    armature, chain = leg()
    chain.target, chain.subtarget = add_target({}), "thigh"
    assert not follow_renames(chain)
    other = add_leg("Other")
    chain.target, chain.subtarget = other, "no such bone"
    assert not follow_renames(chain) and chain.subtarget == "no such bone"


def test_bones_are_named_root_to_tip_and_none_where_there_are_too_few():
    data = add_leg().data
    assert bones_of(data, "shin", 0) == ["body", "thigh", "shin"]
    assert bones_of(data, "shin", 2) == ["thigh", "shin"]
    assert bones_of(data, "shin", 3) == ["body", "thigh", "shin"]
    assert bones_of(data, "shin", 4) == [] and bones_of(data, "foot", 1) == []


def test_only_armatures_with_chains_are_straightened():
    assert not straighten(add_target({})) and not straighten(add_leg())


# --- Names ----------------------------------------------------------------------------------------


def test_a_free_name_is_numbered_as_blender_does():
    for name, taken, avoided, expected in (
        ("leg", set(), set(), "leg"),
        ("leg", set(), {"leg"}, "leg"),
        ("leg", {"leg"}, set(), "leg.001"),
        ("leg", {"leg", "leg.001"}, set(), "leg.002"),
        ("leg", {"leg"}, {"leg.001"}, "leg.002"),
        ("leg.004", {"leg.004"}, set(), "leg.001"),
        ("leg.L", {"leg.L"}, set(), "leg.L.001"),
        ("leg.", {"leg."}, set(), "leg..001"),
        ("7", {"7"}, set(), "7.001"),
    ):
        assert unique_name(name, taken, avoided.__contains__) == expected


def test_a_thousandth_name_has_four_digits():
    taken = {"leg", *(f"leg.{i:03d}" for i in range(1000))}
    assert unique_name("leg", taken) == "leg.1000"


def test_a_chains_free_name_is_no_other_bones():
    armature, chain = leg()
    assert free_name(chain) == "shin"
    chain["name"] = ""
    assert free_name(chain) == "Chain"
    armature.data.bones["body"].name = "Chain.001"
    other = armature.ik2d.chains.add()
    other["name"] = "Chain"
    assert free_name(chain) == "Chain.002"
    chain["tip"] = "Chain.001"
    assert free_name(chain) == "Chain.001"
    assert [name for name in ("thigh", "shin", "foot") if is_other_bone(armature, "shin")(name)] == ["thigh"]
    assert not is_other_bone(add_target({}), "")("shin")


def test_chains_of_one_name_are_numbered_and_those_without_one_named():
    armature = add_leg()
    for name in ("leg", "leg", ""):
        armature.ik2d.chains.add()["name"] = name
    assert straighten(armature)
    assert [chain.name for chain in armature.ik2d.chains] == ["leg", "leg.001", "Chain"]
    assert not straighten(armature)
