# SPDX-License-Identifier: GPL-3.0-or-later
"""The bones of a chain, and where their joints are in rest."""

import bpy
import numpy as np
import pytest
from read_legs import EXACT
from rigs import add_armature, add_leg

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.checks.bones import chain_bones, is_joined, pose_bones_of, rest_joints


@pytest.mark.parametrize(
    "count, expected",
    [(0, ["body", "thigh", "shin"]), (1, ["shin"]), (2, ["thigh", "shin"]), (3, ["body", "thigh", "shin"])],
)
def test_bones_are_counted_from_the_tip_and_run_from_the_root(count, expected):
    assert [bone.name for bone in chain_bones(add_leg(), "shin", count)] == expected


@pytest.mark.parametrize("name, start", [("left", "Chain 'left'"), ("", "The chain")])
def test_bones_that_are_not_there_are_told(name, start):
    armature = add_leg()
    with pytest.raises(IK2DError, match=f"^{start} has no tip bone; set Last Bone to one"):
        chain_bones(armature, "", 0, name)
    with pytest.raises(
        IK2DError, match=f"^{start}: armature 'Rig' has no bone 'foot'; set Last Bone to another one"
    ):
        chain_bones(armature, "foot", 0, name)
    with pytest.raises(
        IK2DError,
        match=f"^{start} asks for 4 bones, but 'shin' and those above it are only 3; set Chain Length to 3",
    ):
        chain_bones(armature, "shin", 4, name)


@pytest.mark.parametrize("kind", ['CHILD_OF', 'ARMATURE'])
def test_a_bone_that_hangs_on_another_by_a_constraint_is_told_of_it(kind):
    armature = add_armature({"a": ((0, 0, 0), (0, 1, 0), "", 0.0), "b": ((0, 1, 0), (0, 2, 0.5), "", 0.0)})
    constraint = armature.pose.bones["b"].constraints.new(kind)
    constraint.name = "Hold"
    source = constraint if kind == 'CHILD_OF' else constraint.targets.new()
    plain = "are only 1; set Chain Length to 1 or less"

    def told():
        with pytest.raises(IK2DError) as caught:
            chain_bones(armature, "b", 2, "arm")
        return str(caught.value)

    assert told().endswith(plain)
    source.target = armature
    assert told().endswith(plain)  # on the object
    source.subtarget = "a"
    assert told() == (
        "Chain 'arm': 'b' hangs on 'a' by its constraint 'Hold', and a chain goes along parents alone; make"
        " 'a' its parent and disable the constraint, or set Chain Length to fewer"
    )
    constraint.mute = True
    assert told().endswith(plain)
    constraint.mute, constraint.influence = False, 0.0
    assert told().endswith(plain)
    constraint.influence = 0.1
    assert "hangs on" in told()
    source.target = add_leg("Other")
    source.subtarget = "shin"
    assert told().endswith(plain)


def test_other_constraints_hold_no_bone_of_another():
    armature = add_armature({"a": ((0, 0, 0), (0, 1, 0), "", 0.0), "b": ((0, 1, 0), (0, 2, 0.5), "", 0.0)})
    constraint = armature.pose.bones["b"].constraints.new('COPY_LOCATION')
    constraint.target, constraint.subtarget = armature, "a"
    with pytest.raises(IK2DError, match="are only 1"):
        chain_bones(armature, "b", 2)


def test_an_armature_that_no_scene_has_shown_has_no_bones_yet():
    armature = bpy.data.objects.new("New", bpy.data.armatures.new("New"))
    with pytest.raises(IK2DError, match="'New' is new and has no pose yet; update the view layer first"):
        pose_bones_of(armature)
    assert pose_bones_of(add_leg()).keys() == ["body", "thigh", "shin"]


def test_joints_are_the_heads_and_the_tips_tail_in_rest():
    armature = add_armature(
        {"a": ((0, 0, 0), (1, 0, 0), "", 0.0), "b": ((1.5, 0, 0.25), (2, 0.5, 0), "a", 0.0)}
    )
    armature.pose.bones["a"].location = (3, 3, 3)  # rest is what counts
    bpy.context.view_layer.update()
    joints = rest_joints([armature.pose.bones[name] for name in "ab"])
    assert joints == pytest.approx(np.array([(0, 0, 0), (1.5, 0, 0.25), (2, 0.5, 0)]), abs=EXACT)


@pytest.mark.parametrize("gap, joined", [(0.0, True), (0.0009, True), (0.0011, False)])
def test_a_bone_joins_its_parent_within_a_thousandth_of_its_length(gap, joined):
    armature = add_armature(
        {"a": ((0, 0, 2), (0, 0, 1), "", 0.0), "b": ((2.0 * gap, 0, 1), (2.0 * gap, 0, -1), "a", 0.0)}
    )
    bones = armature.data.bones
    assert is_joined(bones["b"]) == joined and not is_joined(bones["a"])
