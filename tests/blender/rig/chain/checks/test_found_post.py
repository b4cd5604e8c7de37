# SPDX-License-Identifier: GPL-3.0-or-later
"""The post that locks show: on rigs of any build that have one, and on limbs that have none."""

import bpy
import numpy as np
import pytest
from post_rigs import robot_arm, turret
from rigs import add_armature

from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.found_post import FoundPost, chains_turning, found_post, post_among
from ik2d_addon.rig.chain.post import turning_axes

EACH_LOCK = pytest.mark.parametrize("lock", ["lock_rotation", "lock_ik"])


def leave(bone, axes, lock):
    """Lock a bone but for some axes, by its rotation locks or its IK locks."""
    for axis in range(3):
        if lock == "lock_rotation":
            bone.lock_rotation[axis] = axis not in axes
        else:
            setattr(bone, f"lock_ik_{'xyz'[axis]}", axis not in axes)


def line_of(made):
    names = ["post", *(f"mid{i}" for i in range(made.between)), *made.bones]
    return [made.armature.pose.bones[name] for name in names]


def aligned(made):
    """Roll the arm's bones so that their Z axis is the normal of their plane, as a rigger has them."""
    normal = read_chain(made.armature, made.add_chain()).plane.normal
    made.armature.ik2d.chains.clear()
    bpy.context.view_layer.objects.active = made.armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name in made.bones:
        made.armature.data.edit_bones[name].align_roll(normal)
    bpy.ops.object.mode_set(mode='OBJECT')


@EACH_LOCK
@pytest.mark.parametrize("seed", range(40))
def test_the_post_of_a_turret_is_found_by_its_locks(seed, lock):
    made = turret(seed)
    made.post.rotation_mode = 'XYZ'
    for name in made.bones:
        made.armature.pose.bones[name].rotation_mode = 'XYZ'
    for i in range(made.between):
        made.armature.pose.bones[f"mid{i}"].rotation_mode = 'XYZ'
    aligned(made)
    leave(made.post, [made.axis], lock)
    for name in made.bones:
        leave(made.armature.pose.bones[name], [2], lock)
    for i in range(made.between):
        leave(made.armature.pose.bones[f"mid{i}"], [], lock)
    bones, free = line_of(made), _by_ik if lock == "lock_ik" else turning_axes
    found = post_among(bones, free)
    assert found is not None
    assert (found.bone, found.axis, found.first) == ("post", "XYZ"[made.axis], 1 + made.between)


def _by_ik(bone):
    return [i for i in range(3) if not getattr(bone, f"lock_ik_{'xyz'[i]}")]


def bones_of(armature, *names):
    return [armature.pose.bones[name] for name in names]


def test_a_robot_arms_base_is_its_post_whether_it_is_among_the_bones_or_above_them():
    armature, chain = robot_arm()
    armature.ik2d.chains.clear()
    found = found_post(bones_of(armature, "base", "upper", "lower"))
    assert (found.bone, found.axis, found.first, found.owner) == ("base", 'Y', 1, "")
    assert np.abs(np.abs(found.normal) - (0.0, 1.0, 0.0)).max() < 1e-6
    assert found_post(bones_of(armature, "upper", "lower")) == FoundPost("base", 'Y', normal=found.normal)
    assert found_post(bones_of(armature, "upper")).bone == "base"


def test_a_single_bone_that_only_turns_is_its_own():
    armature, _ = robot_arm()
    armature.ik2d.chains.clear()
    assert found_post(bones_of(armature, "base")) == FoundPost("base", 'Y')


def test_none_without_locks_and_none_where_hinges_share_a_plane():
    armature, _ = robot_arm(locked=False)
    for names in (("base", "upper", "lower"), ("upper", "lower"), ("lower",), ("base",)):
        assert found_post(bones_of(armature, *names)) is None
    armature, _ = robot_arm()
    for name in ("base", "upper", "lower"):
        leave(armature.pose.bones[name], [2], "lock_rotation")
        leave(armature.pose.bones[name], [2], "lock_ik")
    assert found_post(bones_of(armature, "base", "upper", "lower")) is None
    assert found_post(bones_of(armature, "upper", "lower")) is None


def test_none_where_hinges_have_three_directions_or_the_next_bone_turns_freely():
    armature, _ = robot_arm()
    for lock in ("lock_rotation", "lock_ik"):
        leave(armature.pose.bones["upper"], [0], lock)
    assert found_post(bones_of(armature, "base", "upper", "lower")) is None
    armature, _ = robot_arm()
    for lock in ("lock_rotation", "lock_ik"):
        leave(armature.pose.bones["upper"], [0, 1, 2], lock)
    assert found_post(bones_of(armature, "base", "upper", "lower")) is None  # its plane can swing
    assert found_post(bones_of(armature, "upper", "lower")) is None


def test_a_bone_above_that_turns_freely_is_no_post():
    armature = add_armature(
        {
            "hip": ((0, 0, 2), (0, 0.3, 2), "", 0.0),
            "thigh": ((0, 0, 2), (0, -0.1, 1), "hip", 0.0),
            "shin": ((0, -0.1, 1), (0, 0, 0), "thigh", 0.0),
        }
    )
    leave(armature.pose.bones["shin"], [0], "lock_rotation")
    leave(armature.pose.bones["thigh"], [0], "lock_rotation")
    assert found_post(bones_of(armature, "thigh", "shin")) is None


def test_the_chain_that_turns_a_post_is_named():
    armature, chain = robot_arm()
    assert chains_turning(armature) == dict.fromkeys(("base", "upper", "lower"), "arm")
    assert found_post(bones_of(armature, "upper", "lower"), "arm").owner == ""
    assert found_post(bones_of(armature, "upper", "lower"), "second").owner == "arm"
    chain.enabled = False
    assert found_post(bones_of(armature, "upper", "lower"), "second").owner == ""
