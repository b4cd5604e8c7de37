# SPDX-License-Identifier: GPL-3.0-or-later
"""On which frames a target has keys of its own."""

import bpy
import pytest
from rigs import add_chain, add_leg, add_target

from ik2d_addon.bake.keys.target_keys import target_key_frames
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain


def add_empty(name, parent=None):
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    ob.parent = parent
    return ob


def chain_to(target, subtarget=""):
    armature = add_leg()
    return read_chain(armature, add_chain(armature, "shin", target, subtarget=subtarget))


def key(owner, name, *frames):
    for frame in frames:
        owner.keyframe_insert(name, frame=frame)


def test_a_targets_keys_within_the_range_with_both_its_ends():
    rig = chain_to(add_target({-5: (0, 0, 0), 3: (0, 1, 0), 10: (0, 0, 0), 12.5: (0, 1, 1), 20: (0, 0, 0)}))
    assert target_key_frames(rig, 1, 15) == [1, 3, 10, 12.5, 15]
    assert target_key_frames(rig, 3, 20) == [3, 10, 12.5, 20]
    assert target_key_frames(rig, 4, 5) == [4, 5]


def test_two_keys_nearer_than_a_thousandth_of_a_frame_are_one():
    rig = chain_to(add_target({4.0001: (0, 0, 0)}))
    assert target_key_frames(rig, 1, 9) == [1, 4, 9]
    key(rig.target, "delta_location", 4.0, 6.25)
    assert target_key_frames(rig, 1, 9) == [1, 4, 6.25, 9]


@pytest.mark.parametrize(
    "pace, expected", [(1.0, [1, 4, 8, 20]), (2.0, [1, 2, 4, 10, 20]), (0.5, [1, 8, 16, 20])]
)
def test_keys_are_found_at_the_scenes_frames_where_time_is_remapped(pace, expected):
    rig = chain_to(add_target({4: (0, 0, 0), 8: (0, 1, 0), 20: (0, 0, 0)}))
    assert target_key_frames(rig, 1, 20, pace) == expected


@pytest.mark.parametrize("name", ["location", "delta_location"])
def test_only_what_moves_a_point_counts_of_its_own_channels(name):
    target = add_empty("Target")
    key(target, name, 5)
    for other in ("rotation_euler", "delta_rotation_euler", "scale", "delta_scale"):
        key(target, other, 7)
    assert target_key_frames(chain_to(target), 1, 9) == [1, 5, 9]


@pytest.mark.parametrize(
    "name",
    [
        "location",
        "delta_location",
        "rotation_euler",
        "rotation_quaternion",
        "delta_rotation_euler",
        "scale",
        "delta_scale",
    ],
)
def test_without_keys_of_its_own_all_that_moves_its_parents_counts(name):
    top = add_empty("Top")
    middle = add_empty("Middle", top)
    target = add_empty("Target", middle)
    key(top, name, 4)
    key(middle, "rotation_euler", 6)
    key(target, "scale", 8)  # moves no point
    rig = chain_to(target)
    assert target_key_frames(rig, 1, 9) == [1, 4, 6, 9]
    key(target, "location", 5)
    assert target_key_frames(rig, 1, 9) == [1, 5, 9]


def test_channels_that_move_nothing_or_are_muted_do_not_count():
    parent = add_empty("Parent")
    target = add_empty("Target", parent)
    key(parent, "hide_viewport", 3)
    key(target, "location", 5)
    rig = chain_to(target)
    assert target_key_frames(rig, 1, 9) == [1, 5, 9]
    for curve in existing_fcurves(target):
        curve.mute = True
    with pytest.raises(IK2DError, match="its target 'Target' has no keys in its action, nor has what it is"):
        target_key_frames(rig, 1, 9)
    key(parent, "location", 6)
    assert target_key_frames(rig, 1, 9) == [1, 6, 9]


def test_a_bone_brings_its_own_keys_then_its_parents_and_its_objects():
    other = add_leg("Other")
    rig = chain_to(other, "thigh")
    with pytest.raises(
        IK2DError, match="Chain 'shin': its target 'Other/thigh' has no keys .* key the target"
    ):
        target_key_frames(rig, 1, 9)
    key(other.pose.bones["shin"], "location", 2)  # below it
    key(other, "location", 3)
    assert target_key_frames(rig, 1, 9) == [1, 3, 9]
    key(other.pose.bones["body"], "rotation_quaternion", 4)
    assert target_key_frames(rig, 1, 9) == [1, 3, 4, 9]
    key(other.pose.bones["thigh"], "rotation_quaternion", 5)  # turns about its head, which is the target
    assert target_key_frames(rig, 1, 9) == [1, 3, 4, 9]
    key(other.pose.bones["thigh"], "location", 6)
    assert target_key_frames(rig, 1, 9) == [1, 6, 9]


def test_the_poles_keys_count_too():
    armature, target, pole = add_leg(), add_empty("Target"), add_empty("Pole", add_empty("Holder"))
    rig = read_chain(armature, add_chain(armature, "shin", target, plane='POLE', pole=pole))
    key(pole.parent, "rotation_euler", 4)
    assert target_key_frames(rig, 1, 9) == [1, 4, 9]  # though the target has none
    key(pole, "location", 6)
    key(target, "location", 3, 6)
    assert target_key_frames(rig, 1, 9) == [1, 3, 6, 9]
    swings = add_chain(armature, "shin", target, plane='SWING', pole=pole, name="swings")
    assert target_key_frames(read_chain(armature, swings), 1, 9) == [1, 3, 6, 9]
    key(pole, "location", 7)
    assert target_key_frames(read_chain(armature, swings), 1, 9) == [1, 3, 6, 9]


def test_what_holds_the_target_by_a_bone_counts():
    other = add_leg("Other")
    target = add_empty("Target", other)
    target.parent_type, target.parent_bone = 'BONE', "shin"
    key(other.pose.bones["body"], "scale", 4)
    assert target_key_frames(chain_to(target), 1, 9) == [1, 4, 9]
