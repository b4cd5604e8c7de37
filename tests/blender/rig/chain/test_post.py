# SPDX-License-Identifier: GPL-3.0-or-later
"""The post of a chain, as it is read."""

import bpy
import numpy as np
import pytest
from post_rigs import robot_arm, turret
from rigs import add_armature, add_target

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.fingerprint import fingerprint, post_fingerprint
from ik2d_addon.rig.chain.post import held_apart, turned_bones_of, turning_axes


def test_a_post_above_the_chain_and_what_is_between():
    made = turret(0)
    rig = read_chain(made.armature, made.add_chain())
    assert (rig.post.bone, rig.post.between, rig.post.letter) == ("post", ("mid0",), "XYZ"[made.axis])
    assert rig.turned_bones == ("post", *made.bones) and rig.bones_from_post == ("post", "mid0", *made.bones)


def test_the_free_axis_is_taken_where_none_is_chosen():
    armature, chain = robot_arm()
    chain.post_axis = 'AUTO'
    assert read_chain(armature, chain).post.rule.axis == 1
    armature, chain = robot_arm(locked=False)
    chain.post_axis = 'AUTO'
    with pytest.raises(IK2DError, match="may turn about 'X', 'Y' and 'Z', and a post turns about one"):
        read_chain(armature, chain)
    armature.pose.bones["base"].lock_ik_x = True
    assert turning_axes(armature.pose.bones["base"]) == [1, 2]


def test_sides_and_limits():
    armature, chain = robot_arm()
    side = read_chain(armature, chain).post.rule.side
    chain.post_side = 'NEGATIVE'
    assert read_chain(armature, chain).post.rule.side == -side
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, -1.0, 2.0
    assert read_chain(armature, chain).post.rule.limits == (-1.0, 2.0)


def test_a_straight_arm_bends_in_a_plane_that_holds_the_axis():
    armature, chain = robot_arm(locked=False)
    bpy.ops.object.mode_set(mode='EDIT')
    for bone, (head, tail) in {
        "upper": ((0, 0, 0.3), (1, 0, 1.3)),
        "lower": ((1, 0, 1.3), (2, 0, 2.3)),
    }.items():
        armature.data.edit_bones[bone].head, armature.data.edit_bones[bone].tail = head, tail
    bpy.ops.object.mode_set(mode='OBJECT')
    normal = read_chain(armature, chain).plane.normal
    assert abs(abs(normal[1]) - 1.0) < 1e-6
    chain.plane_normal = (-1.0, 1.0, 1.0)
    wanted = np.array((-1.0, 1.0, 1.0)) / np.sqrt(3.0)
    assert np.allclose(read_chain(armature, chain).plane.normal, wanted, atol=1e-6)


def test_the_bones_that_a_chain_turns_by_its_settings():
    armature, chain = robot_arm()
    assert turned_bones_of(chain) == ["base", "upper", "lower"]
    chain.plane = 'AUTO'  # keys of a bake may be left on it
    assert turned_bones_of(chain) == ["base", "upper", "lower"]
    other = armature.ik2d.chains.add()
    other.tip, other.bone_count = "base", 1
    assert turned_bones_of(chain) == ["upper", "lower"]


@pytest.mark.parametrize("owner", ["mid0", "arm0"])
def test_a_bone_on_the_post_that_is_carried_by_it_twice_is_refused(owner):
    made = turret(0)
    constraint = made.armature.pose.bones[owner].constraints.new('CHILD_OF')
    constraint.target, constraint.subtarget = made.armature, "post"
    chain = made.add_chain()
    with pytest.raises(IK2DError, match="carries it besides its parents"):
        read_chain(made.armature, chain)
    constraint.influence = 0.0
    assert read_chain(made.armature, chain).post.bone == "post"


# --- Constraints on what is between ---------------------------------------------

OWN = {"owner_space": 'LOCAL', "target_space": 'LOCAL'}
TURNING = {"map_from": 'ROTATION', "map_to": 'ROTATION', "map_to_x_from": 'Y'}
TURNING |= {"from_min_y_rot": -3, "from_max_y_rot": 3, "to_min_x_rot": -1, "to_max_x_rot": 1}
# Type, target ("outside", "on" the turret, or a bone), settings. These turn along with the post:
ALONG = [
    ('LIMIT_ROTATION', "", {"use_limit_x": True, "max_x": 0.1, "owner_space": 'LOCAL'}),
    ('LIMIT_SCALE', "", {"use_max_x": True, "max_x": 0.5}),
    ('MAINTAIN_VOLUME', "", {"volume": 2.0}),
    ('COPY_SCALE', "outside", {}),
    ('COPY_ROTATION', "side", OWN),
    ('COPY_ROTATION', "out", OWN),
    ('COPY_ROTATION', "outside", OWN),
    ('COPY_ROTATION', "outside", {"owner_space": 'LOCAL'}),
    ('COPY_ROTATION', "out", {"owner_space": 'LOCAL', "target_space": 'POSE'}),
    ('COPY_ROTATION', "out", {"owner_space": 'LOCAL', "target_space": 'LOCAL_OWNER_ORIENT'}),
    ('COPY_ROTATION', "side", {}),
    ('COPY_ROTATION', "side", {"owner_space": 'POSE', "target_space": 'POSE'}),
    ('COPY_ROTATION', "base", {}),
    ('COPY_ROTATION', "on", {}),
    ('COPY_TRANSFORMS', "out", OWN),
    ('COPY_TRANSFORMS', "side", {"influence": 0.5}),
    ('TRANSFORM', "out", {**OWN, **TURNING}),
    ('STRETCH_TO', "side", {}),
    ('STRETCH_TO', "on", {}),
    ('DAMPED_TRACK', "side", {}),
    ('DAMPED_TRACK', "on", {}),
    ('LOCKED_TRACK', "side", {"track_axis": 'TRACK_Y', "lock_axis": 'LOCK_Z'}),
    ('TRACK_TO', "side", {"track_axis": 'TRACK_Y', "up_axis": 'UP_Z', "use_target_z": True}),
    ('IK', "side", {"chain_count": 1}),
]
# And these do not.
APART = [
    ('LIMIT_ROTATION', "", {"use_limit_z": True, "owner_space": 'WORLD'}),
    ('LIMIT_ROTATION', "", {"use_limit_x": True, "max_x": 0.1, "owner_space": 'LOCAL_WITH_PARENT'}),
    ('COPY_ROTATION', "outside", {}),
    ('COPY_ROTATION', "out", {"owner_space": 'LOCAL_WITH_PARENT', "target_space": 'LOCAL_WITH_PARENT'}),
    ('COPY_ROTATION', "side", {"owner_space": 'LOCAL', "target_space": 'POSE'}),
    ('COPY_ROTATION', "base", OWN),
    ('COPY_ROTATION', "side", {"mix_mode": 'ADD'}),
    ('COPY_ROTATION', "side", {"use_y": False}),
    ('COPY_ROTATION', "side", {"invert_x": True}),
    ('COPY_ROTATION', "side", {"owner_space": 'POSE'}),
    ('COPY_ROTATION', "side", {"target_space": 'LOCAL'}),
    ('TRANSFORM', "base", {**OWN, **TURNING}),
    ('STRETCH_TO', "outside", {}),
    ('DAMPED_TRACK', "outside", {}),
    ('TRACK_TO', "side", {"track_axis": 'TRACK_Y', "up_axis": 'UP_Z'}),
    ('CHILD_OF', "base", {}),
    ('CHILD_OF', "on", {}),
    ('ARMATURE', "base", {}),
    ('IK', "outside", {"chain_count": 1}),
]


def held_table(kind, target, settings):
    """Add a table on a tilted cart, with a plate that a constraint holds; return armature and constraint."""
    armature = add_armature(
        {
            "cart": ((0, -1, 0), (0, -1, 0.5), "", 0.3),
            "base": ((0, 0, 0), (0, 0, 0.3), "cart", 0.1),
            "plate": ((0, 0, 0.3), (0.2, 0, 0.6), "base", 0.4),
            "arm": ((0.2, 0, 0.6), (0.3, 0, 1.3), "plate", 0.0),
            "side": ((0.1, 0.1, 0.2), (0.4, 0.3, 0.3), "base", 0.7),
            "out": ((2, 0, 0), (2, 0.3, 1), "", 0.2),
        }
    )
    armature.rotation_euler = 0.5, -0.3, 0.7
    for name in ("base", "cart", "side", "out", "plate"):
        armature.pose.bones[name].rotation_mode = 'XYZ'
    for name, angles in {"cart": (0.4, 0.5, 0.3), "side": (0.2, 0.1, 0.3), "out": (0.2, 0.1, 0.3)}.items():
        armature.pose.bones[name].rotation_euler = angles
    armature.pose.bones["plate"].rotation_euler = 0.2, 0.1, 0.3
    outside, on = add_target({}, "Outside"), add_target({}, "On")
    outside.location, outside.rotation_euler = (1, 2, 0.5), (0.3, 0.2, 0.5)
    on.parent, on.parent_type, on.parent_bone = armature, 'BONE', "base"
    on.location = 0.3, 0.4, 0.5
    constraint = armature.pose.bones["plate"].constraints.new(kind)
    followed = {"outside": outside, "on": on}.get(target, armature)
    if kind == 'ARMATURE':
        followed_by = constraint.targets.new()
        followed_by.target, followed_by.subtarget = followed, target
    elif target:
        constraint.target = followed
        if followed == armature:
            constraint.subtarget = target
    for name, value in settings.items():
        setattr(constraint, name, value)
    return armature, constraint


def off_along(armature):
    """Return how far the plate is from where the post's turn alone takes it, by Blender's pose."""
    found = []
    for angle in (0.0, 0.5, 1.7, -2.5):
        armature.pose.bones["base"].rotation_euler[1] = angle
        bpy.context.view_layer.update()
        shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        base, plate = (np.array(shown.pose.bones[name].matrix) for name in ("base", "plate"))
        found.append(np.linalg.inv(base) @ plate)
    armature.pose.bones["base"].rotation_euler[1] = 0.0
    return max(np.abs(each - found[0]).max() for each in found)


@pytest.mark.parametrize(
    ("along", "case"), [*((True, case) for case in ALONG), *((False, case) for case in APART)]
)
def test_a_constraint_between_is_allowed_where_its_bone_turns_with_the_post(along, case):
    armature, constraint = held_table(*case)
    assert (off_along(armature) < 1e-5) == along
    bones = armature.pose.bones
    held = [*held_apart(bones["base"], [bones["arm"]])]
    assert held == ([] if along else [(bones["plate"], constraint)])


@pytest.mark.parametrize(
    ("name", "value"), [("mix_mode", 'ADD'), ("use_y", False), ("target_space", 'LOCAL')]
)
def test_a_reading_is_made_anew_where_a_constraint_no_longer_turns_along(name, value):
    armature, constraint = held_table('COPY_ROTATION', "side", {})
    chain = armature.ik2d.chains.add()
    chain.name, chain.tip, chain.bone_count, chain.target = "arm", "arm", 1, add_target({}, "Goal")
    chain.plane, chain.post, chain.post_axis = 'POST', "base", 'Y'
    before = fingerprint(armature, chain), post_fingerprint(chain)
    assert read_chain(armature, chain).post.between == ("plate",)
    setattr(constraint, name, value)
    with pytest.raises(IK2DError, match="on 'plate' keeps it from turning with its post 'base'"):
        read_chain(armature, chain)
    assert fingerprint(armature, chain) != before[0] and post_fingerprint(chain) != before[1]
