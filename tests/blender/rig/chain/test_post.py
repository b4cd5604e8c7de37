# SPDX-License-Identifier: GPL-3.0-or-later
"""The post of a chain, as it is read."""

import numpy as np
import pytest
from post_rigs import robot_arm, turret

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.post import turned_bones_of, turning_axes


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
    import bpy

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
