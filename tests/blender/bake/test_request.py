# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked for: options, frames, chains and scene, and the words for what cannot be."""

import math
import re

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target, every_bit_of_animation, leg_with_target

from ik2d_addon.bake import BakeOptions, bake, check
from ik2d_addon.bake.request import (
    chosen_options,
    chosen_range,
    frame_range,
    read_rigs,
    scene_of,
)
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves


def refused(words):
    """Expect an error that says this, all of it."""
    return pytest.raises(IK2DError, match=f"^{re.escape(words)}$")


# --- Options --------------------------------------------------------------------------------------


def test_by_default_every_frame_is_keyed_and_a_sample_played_back():
    options = BakeOptions()
    assert (options.verify, options.reduce) == ('SAMPLE', 0.0)
    assert (options.on_target_keys, options.single_axis) == (False, False)


@pytest.mark.parametrize("verify", ['SAMPLE', 'ALL', 'NONE'])
def test_verify_is_one_of_three(verify):
    assert BakeOptions(verify=verify).verify == verify
    with refused("verify must be 'SAMPLE', 'ALL' or 'NONE', not 'sample'"):
        BakeOptions(verify='sample')


@pytest.mark.parametrize("verify", [None, 1, [], {}, np.zeros(2)])
def test_verify_is_a_word(verify):
    with refused(f"verify must be 'SAMPLE', 'ALL' or 'NONE', not {verify!r}"):
        BakeOptions(verify=verify)


@pytest.mark.parametrize("length", ["1", None, True, [1.0], 1j])
def test_reduce_is_a_number(length):
    with refused(f"reduce must be a length of 0 or more, not {length!r}"):
        BakeOptions(reduce=length)
    for fine in (1, np.float32(0.5), np.int64(2)):
        assert BakeOptions(reduce=fine).reduce == fine


@pytest.mark.parametrize("name", ["on_target_keys", "single_axis", "force", "ease_flips"])
def test_switches_are_on_or_off(name):
    for value in ("yes", None, 1):
        with refused(f"{name} must be True or False, not {value!r}"):
            BakeOptions(**{name: value})
    assert getattr(BakeOptions(**{name: np.bool_(True)}), name)


@pytest.mark.parametrize("length", [-1e-9, math.inf, math.nan])
def test_reduce_is_a_length(length):
    with refused(f"reduce must be a length of 0 or more, not {length}"):
        BakeOptions(reduce=length)
    for fine in (0.0, 1e-9, 1e9):
        assert BakeOptions(reduce=fine).reduce == fine


def test_keys_are_reduced_or_on_the_targets():
    words = "Keys are either reduced or on the target's own key frames; turn off one of them"
    with refused(words):
        BakeOptions(reduce=0.1, on_target_keys=True)
    assert BakeOptions(reduce=0.0, on_target_keys=True).on_target_keys


# --- Frames ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start, end, step, expected",
    [
        (1, 5, 1, [1, 2, 3, 4, 5]),
        (1, 5, 2, [1, 3, 5]),
        (1, 6, 2, [1, 3, 5, 6]),
        (1, 5, 9, [1, 5]),
        (3, 3, 1, [3]),
        (-2, 1, 1, [-2, -1, 0, 1]),
        (None, 12, 1, [10, 11, 12]),
        (18, None, 1, [18, 19, 20]),
        (0, 2, 1, [0, 1, 2]),
        (-5, 0, 5, [-5, 0]),
        (np.int64(4), np.int32(6), np.int64(2), [4, 6]),
    ],
)
def test_the_range_is_closed_at_both_ends(start, end, step, expected):
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 10, 20
    assert frame_range(scene, start, end, step) == expected


def test_ranges_that_are_none_are_refused():
    scene = bpy.context.scene
    with refused("The frame range 3 to 2 is reversed; give the first frame before the last"):
        frame_range(scene, 3, 2, 1)
    for step in (0, -1):
        with refused(f"The step from frame to frame must be 1 or more, not {step}"):
            frame_range(scene, 1, 2, step)
    for arguments in ((1.0, 2, 1), (1, "2", 1), (1, 2, 1.5)):
        with refused("Frames are whole numbers, not {!r}, {!r} and {!r}".format(*arguments)):
            frame_range(scene, *arguments)
    with refused("Frames are whole numbers, not True, 2 and 1"):
        frame_range(scene, True, 2, 1)


@pytest.mark.parametrize("frame", [1048575, 10**30, -1048575])
def test_frames_that_blender_has_not_are_refused(frame):
    scene = bpy.context.scene
    with refused(f"Blender has no frame {frame}, only -1048574 to 1048574; choose one of these"):
        frame_range(scene, min(frame, 1), max(frame, 1), 1)
    assert frame_range(scene, -1048574, 1048574, 10**30) == [-1048574, 1048574]


# --- Chains ---------------------------------------------------------------------------------------


def two_chains():
    armature, target = leg_with_target()
    add_chain(armature, "body", target, bone_count=1)
    return armature


def names(armature, chosen):
    """Return the names of the chains read, and what was left out."""
    rigs, left_out = read_rigs(armature, chosen, [1, 10])
    return [rig.name for rig in rigs], left_out


def test_all_enabled_chains_are_taken_or_those_named_once_each():
    armature = two_chains()
    assert names(armature, None) == (["shin", "body"], [])
    assert names(armature, ["body", "shin", "body"]) == (["body", "shin"], [])
    armature.ik2d.chains["shin"].enabled = False
    assert names(armature, None) == (["body"], [])
    assert names(armature, ("shin",)) == (["shin"], [])


def test_chains_that_are_not_there_are_told_with_those_that_are():
    armature = two_chains()
    with refused("'Rig' has no chain 'arm'; its chains are: 'shin', 'body'"):
        names(armature, ["shin", "arm"])
    with refused("chains takes a list of names; write ['shin']"):
        names(armature, "shin")
    with refused("No chain is named; name one or more"):
        names(armature, [])
    for chain in armature.ik2d.chains:
        chain.enabled = False
    with refused("'Rig' has no enabled chain; add one in the IK 2D tab of the sidebar"):
        names(armature, None)
    with refused("'Other' has no chain 'arm'; its chains are: none"):
        names(add_leg("Other"), ["arm"])


def test_names_of_chains_are_names():
    armature = two_chains()
    for name in (1, None, b"shin", armature):
        with refused(f"chains takes a list of names, and {name!r} is none"):
            names(armature, [name])
    for no_list in (5, True, 1.5):
        with refused(f"chains takes a list of names, not {no_list!r}"):
            names(armature, no_list)
    with refused("'Rig' has no chain '\udcff'; its chains are: 'shin', 'body'"):
        names(armature, ["\udcff"])  # as the command line has bytes that are no text
    assert names(armature, (name for name in ("body", "shin"))) == (["body", "shin"], [])


def test_of_all_chains_the_faulty_ones_are_left_out_but_one_that_is_named_is_refused():
    armature = two_chains()
    armature.ik2d.chains["body"].tip = "gone"
    with pytest.raises(IK2DError, match="^Chain 'body': ") as error:
        names(armature, ["shin", "body"])
    assert names(armature, None) == (["shin"], [f"Left out: {error.value}"])
    armature.ik2d.chains["shin"].tip = "gone"
    with pytest.raises(IK2DError, match="^Chain 'shin': "):  # all are faulty: the first's fault
        names(armature, None)


def test_a_chain_that_shares_a_bone_with_one_before_it_is_left_out():
    armature, target = leg_with_target()
    add_chain(armature, "thigh", target, bone_count=1)
    shared = "'shin' and 'thigh' share the bone 'thigh'; disable one of them"
    assert names(armature, None) == (["shin"], [f"Left out: {shared}"])
    assert names(armature, ["shin", "thigh"]) == (["shin", "thigh"], [])  # their order refuses them
    armature.ik2d.chains["shin"].target = None
    assert names(armature, None)[0] == ["thigh"]  # a faulty chain shares nothing


def test_a_chain_that_moves_its_own_target_is_left_out():
    armature, target = leg_with_target()
    add_chain(armature, "body", target, bone_count=1)
    own = add_target({1: (0, 0, 0)}, "Own")
    own.parent, own.parent_type, own.parent_bone = armature, 'BONE', "shin"
    armature.ik2d.chains["shin"].target = own
    taken, (fault,) = names(armature, None)
    assert taken == ["body"] and fault.startswith("Left out: Chain 'shin': ")


def test_a_chain_whose_inputs_are_missing_is_left_out():
    armature = two_chains()
    gone = bpy.data.objects.new("Gone", None)
    armature.ik2d.chains["body"].target = gone
    taken, (fault,) = names(armature, None)
    assert taken == ["shin"] and "its target 'Gone' is in no scene: it was deleted" in fault
    with pytest.raises(IK2DError, match="its target 'Gone' is in no scene: it was deleted"):
        names(armature, ["body"])


def test_what_rules_the_bones_on_the_frames_is_a_warning():
    armature, target = leg_with_target()
    ik = armature.pose.bones["shin"].constraints.new('IK')
    ik.target = target
    for frame, influence in ((1, 0.0), (20, 0.0), (21, 1.0), (40, 1.0)):
        ik.influence = influence
        ik.keyframe_insert("influence", frame=frame)
    for frames, other_controls in (([1, 5, 20], False), ([1, 5, 21], True), ([30], True)):
        ((rig,), _) = read_rigs(armature, None, frames)
        assert rig.remarks.other_controls is other_controls
        assert any("moved by" in warning for warning in rig.warnings) is other_controls


# --- What would stop a bake -----------------------------------------------------------------------


def test_a_chain_that_can_be_baked_has_no_problem_and_stays_as_it_is():
    armature = two_chains()
    before = every_bit_of_animation(armature), [chain.name for chain in armature.ik2d.chains]
    assert check(armature) == []
    assert check(armature, ["shin"], (1, 5, 2), BakeOptions(reduce=0.1)) == []
    assert (every_bit_of_animation(armature), [chain.name for chain in armature.ik2d.chains]) == before


def test_each_problem_is_told_all_faulty_chains_at_once():
    armature = two_chains()
    armature.ik2d.chains["shin"].target = None
    armature.ik2d.chains["body"].tip = "gone"
    found = check(armature)
    assert [sentence.split(":")[0].split(" has ")[0] for sentence in found] == [
        "Chain 'shin'",
        "Chain 'body'",
    ]
    assert check(armature, ["arm"]) == ["'Rig' has no chain 'arm'; its chains are: 'shin', 'body'"]
    (words,) = check(armature, ["body"])
    assert words.startswith("Chain 'body'")


def test_frames_scene_and_targets_without_keys_are_problems_too():
    armature = two_chains()
    reversed_ = "The frame range 3 to 2 is reversed; give the first frame before the last"
    assert check(armature, None, (3, 2, 1)) == [reversed_]
    armature.ik2d.chains["body"].target = add_target({}, "Still")
    (words,) = check(armature, options=BakeOptions(on_target_keys=True))
    assert "'Still'" in words
    armature.data.pose_position = 'REST'
    assert check(armature) == ["'Rig' shows its rest position; set it to Pose Position first"]


@pytest.mark.parametrize("locked", ["curve", "mode"])
def test_channels_that_cannot_take_keys_are_a_problem(locked):
    armature = two_chains()
    shin = armature.pose.bones["shin"]
    if locked == "curve":
        shin.keyframe_insert("rotation_quaternion", frame=1)
        existing_fcurves(armature)[0].lock = True
    else:
        shin.keyframe_insert("rotation_mode", frame=1)
    (words,) = check(armature)
    with refused(words):
        bake(armature, frame_start=1, frame_end=3)


def test_chains_that_share_a_bone_when_named_are_a_problem():
    armature, target = leg_with_target()
    add_chain(armature, "thigh", target, bone_count=1)
    shared = "'shin' and 'thigh' share the bone 'thigh'; disable one of them"
    assert check(armature) == check(armature, ["shin", "thigh"]) == [shared]


# --- What the sidebar shows -----------------------------------------------------------------------


def test_the_sidebars_range_is_the_rigs_own_or_else_the_scenes():
    armature, scene = add_leg(), bpy.context.scene
    settings = armature.ik2d
    scene.frame_start, scene.frame_end = 10, 20
    settings.frame_start, settings.frame_end, settings.frame_step = 3, 7, 2
    assert chosen_range(armature, scene) == (10, 20, 1)
    settings.use_custom_range = True
    assert chosen_range(armature, scene) == (3, 7, 2)


def test_the_sidebars_options_are_those_of_a_bake():
    settings = add_leg().ik2d
    assert chosen_options(settings) == BakeOptions()
    settings.verify, settings.single_axis, settings.reduce_error = 'ALL', True, 0.25
    assert chosen_options(settings) == BakeOptions(verify='ALL', single_axis=True)
    settings.use_reduce = True
    assert chosen_options(settings) == BakeOptions(verify='ALL', single_axis=True, reduce=0.25)
    settings.use_reduce, settings.on_target_keys, settings.ease_flips = False, True, True
    assert chosen_options(settings).on_target_keys and chosen_options(settings).ease_flips


def test_options_are_options():
    for wrong in ("x", 5, {"reduce": 1.0}):
        with refused(f"options takes BakeOptions, not {wrong!r}"):
            bake(leg_with_target()[0], options=wrong)
    assert check(add_leg("Other"), options="x") == ["options takes BakeOptions, not 'x'"]


# --- The scene ------------------------------------------------------------------------------------


def test_the_scene_is_the_one_shown_or_else_the_armatures_own():
    armature, scene = add_leg(), bpy.context.scene
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(armature)
    assert scene_of(armature) == scene
    scene.collection.objects.unlink(armature)
    assert scene_of(armature) == other
    other.collection.objects.unlink(armature)
    with refused("'Rig' is in no scene; link it to one first"):
        scene_of(armature)


def test_what_is_no_armature_is_refused_by_name():
    with refused("'Target' is not an armature; choose an armature object"):
        scene_of(add_target({}))
    with refused("'None' is not an armature; choose an armature object"):
        scene_of(None)
    with refused("'Rig' is not an armature; choose an armature object"):
        scene_of(add_leg().data)


def test_rest_position_and_edit_mode_are_refused():
    armature = add_leg()
    armature.data.pose_position = 'REST'
    with refused("'Rig' shows its rest position; set it to Pose Position first"):
        scene_of(armature)
    armature.data.pose_position = 'POSE'
    bpy.ops.object.mode_set(mode='EDIT')
    with refused("'Rig' is in Edit Mode, here or as another object; leave it (Tab)"):
        scene_of(armature)
    bpy.ops.object.mode_set(mode='POSE')
    assert scene_of(armature) == bpy.context.scene


def test_a_linked_armature_is_refused(tmp_path):
    armature = add_leg()
    library = str(tmp_path / "rig.blend")
    bpy.data.libraries.write(library, {armature})
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["Rig"]
    with refused(
        "'Rig' is linked from another file and cannot be keyed;"
        " make a library override of it (Object > Library Override > Make)"
    ):
        scene_of(wanted.objects[0])
