# SPDX-License-Identifier: GPL-3.0-or-later
"""Which constraints may act on a chain, when they do, and what is said of them."""

import math

import bpy
import pytest
from constrained_legs import FIRST, LAST, SCENE, found, give, ik, influence_curve, key, leg
from rigs import add_armature, add_crane, add_target

from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.bone_constraints import (
    OtherControl,
    other_controls,
    reaching_of,
    sentences,
    with_other_controls,
)

SLOTS = hasattr(bpy.types, "ActionSlot")


def ruler(kind='IK', label="Inverse Kinematics", **settings):
    values = {"owner": "foot", "constraint": "Con", "bones": ("shin",), "below": True, "driven": False}
    return OtherControl(kind, label, **{**values, **settings})


# --- What is said ---------------------------------------------------------------------------------


def test_reaching_constraints_have_a_line_each_by_owner():
    (line,) = sentences("leg", [ruler()])
    assert line == (
        "Chain 'leg': bone 'shin' is moved by the IK constraint 'Con' of bone 'foot' below it; mute it for"
        " these frames, or disable it"
    )
    (line,) = sentences("leg", [ruler('SPLINE_IK', "Spline IK", below=False, owner="shin", driven=True)])
    assert line == (
        "Chain 'leg': bone 'shin' is moved by the Spline IK constraint 'Con' of bone 'shin'; its influence is"
        " driven: mute it, or disable the driver"
    )
    assert len(sentences("leg", [ruler(), ruler(constraint="Second")])) == 2
    assert sentences("leg", []) == []


def own(bone, constraint="Copy", label="Copy Rotation", driven=False):
    return ruler(
        'COPY_ROTATION', label, owner=bone, constraint=constraint, bones=(bone,), below=False, driven=driven
    )


def test_constraints_of_one_kind_share_a_line():
    assert sentences("leg", [own("a")]) == [
        "Chain 'leg': bone 'a' is moved by its own constraint 'Copy'; mute it for these frames, or disable it"
    ]
    assert sentences("leg", [own("a"), own("a", "Copy.001")]) == [
        "Chain 'leg': bone 'a' is moved by Copy Rotation constraints of its own; mute them for these frames,"
        " or disable them"
    ]
    assert sentences("leg", [own("a"), own("b")]) == [
        "Chain 'leg': bones 'a' and 'b' are moved by Copy Rotation constraints of their own; mute them for"
        " these frames, or disable them"
    ]
    assert sentences("leg", [own("a", driven=True), own("b", driven=True)]) == [
        "Chain 'leg': bones 'a' and 'b' are moved by Copy Rotation constraints of their own; their influences"
        " are driven: mute them, or disable the drivers"
    ]
    assert len(sentences("leg", [own("a"), own("b", label="Copy Scale"), own("c", driven=True)])) == 3


def test_more_than_four_bones_are_counted():
    for names, words in (
        ("abc", "'a', 'b' and 'c' are"),
        ("abcd", "'a', 'b', 'c' and 'd' are"),
        ("abcde", "'a', 'b', 'c' and 2 more are"),
    ):
        (line,) = sentences("leg", [own(name) for name in names])
        assert f"bones {words} moved" in line


def test_a_chain_gets_its_lines_as_notes_and_is_ruled():
    armature, chain = leg()
    rig = read_chain(armature, chain)
    plain = with_other_controls(rig, FIRST, LAST)
    assert plain.remarks.notes == () and not plain.remarks.other_controls
    give(armature, 'COPY_ROTATION', target=add_target({}, "Other"))
    noted = with_other_controls(with_other_controls(rig, FIRST, LAST), FIRST, LAST)
    assert len(noted.remarks.notes) == 2 and noted.remarks.other_controls
    assert noted.remarks.notes[0] == sentences("shin", found(armature))[0]


def test_what_reaches_up_is_the_same_looked_up_for_one_chain_or_for_all():
    armature, chain = leg()
    give(armature, 'IK', "foot", target=add_target({}, "Other"))
    rig, reaching = read_chain(armature, chain), reaching_of(armature)
    assert [bone.name for bone, _ in reaching] == ["foot"]
    assert (
        with_other_controls(rig, FIRST, LAST, reaching).remarks.notes
        == with_other_controls(rig, FIRST, LAST).remarks.notes
        != ()
    )
    assert with_other_controls(rig, FIRST, LAST, []).remarks.notes == ()


# --- What may act ---------------------------------------------------------------------------------


def test_rulers_say_who_they_are():
    armature, _ = leg()
    target = add_target({}, "Other")
    give(armature, 'COPY_ROTATION', "thigh", target=target, name="Copy")
    give(armature, 'IK', "shin", target=target, name="Own IK", chain_count=1)
    give(armature, 'IK', "foot", target=target, name="Foot IK").driver_add("influence")
    give(armature, 'COPY_ROTATION', "foot", target=target)
    give(armature, 'COPY_ROTATION', "body", target=target)
    assert [
        (r.kind, r.label, r.owner, r.constraint, r.bones, r.below, r.driven) for r in found(armature)
    ] == [
        ('COPY_ROTATION', "Copy Rotation", "thigh", "Copy", ("thigh",), False, False),
        ('IK', "Inverse Kinematics", "shin", "Own IK", ("shin",), False, False),
        ('IK', "Inverse Kinematics", "foot", "Foot IK", ("thigh", "shin"), True, True),
    ]


def test_ik_reaches_as_far_as_its_length():
    armature, _ = leg()
    constraint = give(armature, 'IK', "foot", target=add_target({}, "Other"))
    for count, tail, moved in (
        (0, True, 2),
        (1, True, 0),
        (2, True, 1),
        (3, True, 2),
        (1, False, 1),
        (2, False, 2),
        (0, False, 2),
    ):
        constraint.chain_count, constraint.use_tail = count, tail
        assert [r.bones for r in found(armature)] == ([("thigh", "shin")[-moved:]] if moved else [])


@pytest.mark.parametrize("kind, acts", [('LIMIT_SCALE', 0), ('MAINTAIN_VOLUME', 0), ('LIMIT_DISTANCE', 1)])
def test_scale_alone_rules_nothing(kind, acts):
    armature, _ = leg()
    constraint = give(armature, kind)
    if acts:
        constraint.target = add_target({}, "Other")
    assert len(found(armature)) == acts


LOCAL = {"owner_space": 'LOCAL'}


def assert_acts(armature, kind, cases):
    """Hold constraints of a kind, (settings, whether it acts) each, to what is found."""
    for settings, acts in cases:
        constraint = give(armature, kind, **settings)
        assert len(found(armature)) == acts, settings
        armature.pose.bones["shin"].constraints.remove(constraint)


def test_limits_of_rotation_act_where_they_may_stop_a_turn():
    cases = [
        ({}, False),
        (LOCAL, False),
        ({"use_limit_y": True}, True),  # in the world
        ({"use_limit_y": True, **LOCAL}, False),
        ({"use_limit_y": True, "min_y": -0.1, "max_y": 0.1, **LOCAL}, False),
        ({"use_limit_y": True, "min_y": 2e-5, "max_y": 0.1, **LOCAL}, True),
        ({"use_limit_z": True, "min_z": -0.1, "max_z": -2e-5, **LOCAL}, True),
        ({"use_limit_z": True, "min_z": -0.1, "max_z": -0.9e-5, **LOCAL}, False),
        ({"use_limit_z": True, "min_z": 0.9e-5, "max_z": 1.0, **LOCAL}, False),
        ({"use_limit_x": True, "min_x": -7.0, "max_x": 7.0, **LOCAL}, True),  # no limit of ours
        ({"use_limit_y": True, "min_y": 0.1, "max_y": -0.1, **LOCAL}, False),  # ends the wrong way round
    ]
    armature, _ = leg()
    assert_acts(armature, 'LIMIT_ROTATION', cases)


@pytest.mark.parametrize("turned", [0.0, math.pi])
def test_limits_that_a_joint_keeps_itself_do_not_act(turned):
    """To either side: of a bone that is turned round its own X points the other way."""
    armature, chain = leg(turned)
    joint = chain.joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max = True, -0.5, 0.75
    axis = read_chain(armature, chain).joints.axes[1]
    assert abs(axis[0]) > 0.99
    cases = []
    for low, high, acts in (
        (-0.5, 0.75, False),
        (-0.5 + 0.9e-5, 0.75 - 0.9e-5, False),
        (-0.5 + 1.2e-5, 0.75, True),
        (-0.5, 0.75 - 1.2e-5, True),
    ):
        low, high = (low, high) if axis[0] > 0.0 else (-high, -low)
        cases.append(({"use_limit_x": True, "min_x": low, "max_x": high, **LOCAL}, acts))
    assert_acts(armature, 'LIMIT_ROTATION', cases)


def test_a_joint_that_is_held_turns_by_nothing():
    armature, _ = leg()
    give(armature, 'LIMIT_ROTATION', use_limit_x=True, min_x=-0.1, max_x=0.1, **LOCAL)
    assert len(found(armature)) == 1
    armature.pose.bones["shin"].lock_rotation = (True, True, True)
    assert found(armature) == []


def test_limits_about_the_axes_of_a_bone_that_turns_about_none_of_them_act():
    armature, _ = leg(0.7)
    constraint = give(armature, 'LIMIT_ROTATION', **LOCAL)
    assert found(armature) == []
    constraint.use_limit_y = True
    assert len(found(armature)) == 1


def test_limits_of_location_act_where_the_bone_is_beyond():
    cases = [
        ({}, False),
        (LOCAL, False),
        ({"use_min_x": True, "min_x": -9.0}, True),  # in the world
        ({"use_max_x": True, "max_x": 9.0}, True),
        ({"use_min_x": True, "min_x": 0.25, **LOCAL}, False),
        ({"use_min_x": True, "min_x": 0.26, **LOCAL}, True),
        ({"use_max_x": True, "max_x": 0.25, **LOCAL}, False),
        ({"use_max_x": True, "max_x": 0.24, **LOCAL}, True),
        ({"use_max_z": True, "max_z": 0.01, **LOCAL}, False),
        ({"use_max_z": True, "max_z": -0.01, **LOCAL}, True),
        ({"use_min_y": True, "min_y": 0.01, **LOCAL}, True),
    ]
    armature, _ = leg()
    armature.pose.bones["shin"].location = (0.25, 0.0, 0.0)
    assert_acts(armature, 'LIMIT_LOCATION', cases)


@pytest.mark.parametrize("low, high, acts", [(0.0, 1.0, False), (0.01, 1.0, True), (0.0, 0.99, True)])
def test_limits_of_location_act_where_they_stop_a_slide(low, high, acts):
    armature, chain = add_crane({"boom": (0.0, 1.0)})
    chain.target = add_target({1: (0, 3.0, 2.0)})
    limit = armature.pose.bones["inner"].constraints.new('LIMIT_LOCATION')
    limit.owner_space, limit.use_min_y, limit.use_max_y, limit.min_y, limit.max_y = (
        'LOCAL',
        True,
        True,
        low,
        high,
    )
    assert bool(other_controls(read_chain(armature, chain), *SCENE)) == acts


# --- What has all it needs ------------------------------------------------------------------------


def test_what_has_no_target_does_not_act():
    armature, _ = leg()
    other = add_armature({"pad": ((0, 0, 0), (0, 0, 1), "", 0.0)}, "Other")
    for kind, whole in (('COPY_ROTATION', True), ('IK', False)):
        constraint = give(armature, kind)
        assert found(armature) == []
        constraint.target = other
        assert len(found(armature)) == whole  # of an armature IK wants a bone
        constraint.subtarget = "pod"
        assert found(armature) == []
        constraint.subtarget = "pad"
        assert len(found(armature)) == 1
        constraint.target = add_target({}, "Empty")
        assert len(found(armature)) == 1
        armature.pose.bones["shin"].constraints.remove(constraint)


def test_an_armature_constraint_needs_one_bone_at_least():
    armature, _ = leg()
    constraint = give(armature, 'ARMATURE')
    target = constraint.targets.new()
    assert found(armature) == []
    target.target = armature
    assert found(armature) == []
    second = constraint.targets.new()
    second.target, second.subtarget = armature, "body"
    assert len(found(armature)) == 1


def test_an_action_constraint_needs_an_action_too():
    armature, _ = leg()
    constraint = give(armature, 'ACTION', target=add_target({}, "Other"))
    assert found(armature) == []
    constraint.action = add_target({1: (0, 0, 0)}, "Keyed").animation_data.action
    assert len(found(armature)) == 1
    constraint.target = None
    assert found(armature) == []


# --- When -----------------------------------------------------------------------------------------


def test_influence_as_it_stands_counts_where_nothing_animates_it():
    armature, _ = leg()
    constraint = ik(armature)
    constraint.influence = 0.0
    assert found(armature) == []
    constraint.influence = 0.01
    assert len(found(armature)) == 1
    constraint.mute = True
    assert found(armature) == []


def test_a_mute_that_something_animates_may_end():
    armature, _ = leg()
    constraint = ik(armature)
    key(constraint, {1: True}, "mute")
    assert constraint.mute and len(found(armature)) == 1
    armature.animation_data_clear()
    constraint.mute = True
    driver = constraint.driver_add("mute")
    assert len(found(armature)) == 1
    driver.mute = True
    assert found(armature) == []


def test_keyed_influence_counts_at_its_keys_and_at_both_ends():
    armature, _ = leg()
    constraint = ik(armature)
    for keys, acts in (
        ({1: 0.0, 30: 0.0}, False),
        ({1: 0.0, 15: 0.5, 30: 0.0}, True),
        ({10: 1.0, 11: 0.0, 20: 0.0, 21: 1.0}, False),
        ({11: 1.0, 12: 0.0}, True),
        ({19: 0.0, 20: 0.5}, True),
        ({1: 1.0, 40: 0.0}, True),
        ({1: 0.0, 40: 1.0}, True),
    ):
        armature.animation_data_clear()
        key(constraint, keys)
        assert len(found(armature)) == acts, keys
        constraint.influence = 0.0 if acts else 1.0  # as it stands says nothing
        assert len(found(armature)) == acts, keys


def test_keys_that_do_not_play_do_not_count():
    armature, _ = leg()
    constraint = ik(armature)
    key(constraint, {1: 1.0})
    constraint.influence = 0.0
    curve = influence_curve(armature)
    assert len(found(armature)) == 1
    curve.mute = True
    assert found(armature) == []
    curve.mute, curve.group.mute = False, True
    assert len(found(armature)) == SLOTS  # from 4.4 on Blender plays them all the same


def test_keys_count_in_the_scenes_time():
    armature, _ = leg()
    key(ik(armature), {5: 0.0, 7: 1.0, 11: 0.0})
    assert len(found(armature, 6, 8)) == 1
    assert found(armature, 12, 20) == []
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 200
    assert len(found(armature, 12, 20)) == 1


def test_keys_count_in_the_time_of_the_scene_that_the_armature_is_in():
    armature, _ = leg()
    key(ik(armature), {5: 0.0, 7: 1.0, 11: 0.0})
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 200
    bpy.context.window.scene = bpy.data.scenes.new("Another")
    assert len(found(armature, 12, 20)) == 1
    assert found(armature, 24, 40) == []


def test_driven_influence_counts_unless_the_driver_is_muted():
    armature, _ = leg()
    constraint = ik(armature)
    constraint.influence = 0.0
    driver = constraint.driver_add("influence")
    assert [r.driven for r in found(armature)] == [True]
    driver.mute = True
    assert found(armature) == []
    constraint.influence = 1.0
    assert [r.driven for r in found(armature)] == [False]
