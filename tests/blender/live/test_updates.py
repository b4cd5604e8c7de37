# SPDX-License-Identifier: GPL-3.0-or-later
"""An update of the depsgraph has those live chains follow that it concerns, and no others."""

import bpy
import numpy as np
import pytest
from live_arms import arms
from rigs import add_armature, add_target
from test_live import SAME, add_chain, arm_with_target, joints, missed, update
from test_live_kept import followed, go, play  # noqa: F401 (a fixture)

from ik2d_addon.live import registry
from ik2d_addon.live.registry import RIGS


def select(armature: bpy.types.Object, name: str) -> None:
    bone = armature.pose.bones[name]
    (bone if hasattr(bone, "select") else bone.bone).select = True


def test_what_blender_lists_in_an_update():
    armature, target, _ = arm_with_target(2)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    update()
    seen: dict[str, tuple[bool, bool]] = {}

    def listed(_scene, graph):
        seen.clear()
        seen.update(
            (type(each.id).__name__, (each.is_updated_transform, each.is_updated_geometry))
            for each in graph.updates
            if each.id.original in (armature, armature.data)
        )

    bpy.app.handlers.depsgraph_update_post.append(listed)
    try:
        select(armature, "b0")
        update()
        assert seen == {"Object": (False, True), "Armature": (False, False)}
        armature.pose.bones["b0"].lock_rotation[0] = True
        update()
        assert seen["Object"][1] and seen["Armature"][1]
        armature.update_tag(refresh={'OBJECT'})
        update()
        assert seen == {"Object": (True, True)}
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(listed)
        bpy.ops.object.mode_set(mode='OBJECT')


def test_a_target_that_is_moved_has_its_chain_follow_alone(followed, monkeypatch):  # noqa: F811
    armature, targets = arms()
    targets[1].location.x += 0.1
    update()
    update()
    prints = []
    original = registry.fingerprint
    monkeypatch.setattr(registry, "fingerprint", lambda *given: (prints.append(1), original(*given))[1])
    followed.clear()
    targets[1].location.x += 0.1
    for _ in range(3):  # our own writing is an update too
        update()
    assert set(followed) == {"b1"} and len(prints) <= 2
    assert all(missed(armature, chain) < SAME for chain in armature.ik2d.chains)


def test_what_concerns_no_chain_has_none_follow(followed):  # noqa: F811
    armature, targets = arms()
    other = add_target({}, "Other")
    for _ in range(3):
        update()
    followed.clear()
    other.location.x = 1.0
    update()
    select(armature, "a0")
    update()
    assert followed == []


def test_selected_bones_leave_the_frames_kept():
    armature, _, _ = arm_with_target(2, live=True)
    play()
    kept = RIGS.kept
    select(armature, "b0")
    update()
    assert RIGS.kept is kept is not None


@pytest.mark.parametrize("how", ["location", "parent", "above", "constraint"])
def test_an_armature_that_moves_has_all_its_chains_follow(how):
    armature, targets = arms()
    holder = add_target({}, "Holder")
    update()
    if how == "location":
        armature.location.x = 0.2
    elif how == "parent":
        armature.parent = holder
        update()
        holder.location.z = 0.1
    elif how == "above":
        armature.pose.bones["a0"].location.y = 0.1  # in the plane
    else:
        armature.constraints.new('COPY_LOCATION').target = holder
        update()
        holder.location.z = 0.1
    update()
    update()
    assert all(missed(armature, chain) < 3.0 * SAME for chain in armature.ik2d.chains)


def test_a_bone_of_a_chain_that_is_turned_by_hand_is_turned_back():
    armature, targets = arms()
    before = joints(armature)
    for turn in (0.1, 0.2, 0.3):
        targets[0].location.x += 0.05  # so that our own writing comes in between
        update()
        armature.pose.bones["a1"].rotation_quaternion = (1.0, turn, 0.0, 0.0)
        update()
        update()
    assert np.abs(joints(armature)[4:8] - before[4:8]).max() < SAME
    assert all(missed(armature, chain) < SAME for chain in armature.ik2d.chains)


@pytest.mark.parametrize("channel", ["location", "scale"])
def test_a_bone_that_is_moved_in_the_update_of_our_own_writing_counts(channel):
    armature, targets = arms()
    targets[1].location.x += 0.05
    update()
    values = np.empty(3 * len(armature.pose.bones), np.float32)
    armature.pose.bones.foreach_get(channel, values)
    first = 3 * armature.pose.bones.find("a0")
    if channel == "scale":
        values[first : first + 3] *= 1.1
    else:
        values[first + 1] += 0.1  # along the bone, in the chain's plane
    armature.pose.bones.foreach_set(channel, values)
    armature.update_tag(refresh={'OBJECT'})  # as our own writing does
    for _ in range(3):
        update()
    assert all(missed(armature, chain) < 3.0 * SAME for chain in armature.ik2d.chains)


def test_a_bone_that_carries_the_chain_and_follows_something_else_is_followed():
    armature = add_armature(
        {
            "base": ((0.0, 0.0, -1.0), (0.0, 0.0, 0.0), "", 0.0),
            "a": ((0.0, 0.0, 0.0), (0.3, 0.0, 1.0), "base", 0.0),
            "b": ((0.3, 0.0, 1.0), (0.0, 0.0, 2.0), "a", 0.0),
        }
    )
    target, leader = add_target({}, "Target"), add_target({}, "Leader")
    target.location, leader.location = (0.5, 0.0, 1.4), (0.0, 0.0, -1.0)
    chain = add_chain(armature, "b", target, 2, live=True)
    armature.pose.bones["base"].constraints.new('COPY_LOCATION').target = leader
    for _ in range(3):
        update()
    for step in (0.1, 0.2):
        target.location.x += 0.05
        update()
        leader.location.z += step  # with our own writing in the same update
        update()
        update()
        assert missed(armature, chain) < 3.0 * SAME


def test_a_target_under_another_parent_is_read_again():
    armature, targets = arms()
    holder = add_target({}, "Holder")
    holder.location.x = 0.2
    targets[2].parent = holder
    update()
    holder.location.x = 0.4
    update()
    go(2)
    assert all(missed(armature, chain) < SAME for chain in armature.ik2d.chains)
