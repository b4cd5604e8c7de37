# SPDX-License-Identifier: GPL-3.0-or-later
"""What is keyed of scales, what was there before, and how it comes back."""

import bpy
import numpy as np
import pytest
from rigs import stretching_arm

from ik2d_addon.bake import bake
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.stretch import scale_curve
from ik2d_addon.rig.scene.lengths.stretch_scales import (
    put_scales_back,
    scale_channels,
    scaled_joints,
    scales_back,
    scales_remembered,
)


def test_the_own_scale_times_the_factor_is_keyed_along_the_bone_alone():
    armature, chain = stretching_arm('ALIGNED')
    armature.pose.bones["bone0"].scale[1] = 1.5
    rig = read_chain(armature, chain)
    (only,) = scale_channels(rig, np.array([[1.0, 1.0], [2.0, 2.0]]))
    assert (only.bone, only.property, only.channels) == ("bone0", "scale", (1,))
    assert only.values[:, 1].tolist() == [1.5, 3.0]
    assert scale_channels(rig, None) == []


def test_what_was_there_is_noted_and_kept_when_the_rest_fails():
    armature, chain = stretching_arm()
    bone = armature.pose.bones["bone0"]
    bone.scale[1] = 1.5
    rig = read_chain(armature, chain)
    with pytest.raises(KeyError), scales_remembered([rig]):
        bone.scale[1] = 3.0
        assert [joint.name for joint in scaled_joints(armature)] == ["bone0", "bone1"]
        raise KeyError
    assert scaled_joints(armature) == [] and bone.scale[1] == 1.5
    with scales_remembered([rig]):
        bone.scale[1] = 3.0
    assert [joint.scale_base for joint in scaled_joints(armature)] == [1.5, 1.0]
    put_scales_back(armature, ["bone0"])
    assert bone.scale[1] == 1.5 and [joint.name for joint in scaled_joints(armature)] == ["bone1"]


def test_scale_that_is_still_keyed_is_not_put_back():
    armature, _ = stretching_arm()
    bake(armature)
    bpy.context.scene.frame_set(20)
    put_scales_back(armature, ["bone0", "bone1"])
    assert len(scaled_joints(armature)) == 2 and armature.pose.bones["bone0"].scale[1] > 1.0


def test_what_is_no_longer_scaled_comes_back_by_one_value():
    armature, chain = stretching_arm()
    assert scales_back(read_chain(armature, chain)) == []
    bake(armature)
    chain.stretch_bones = 'LAST'
    (back,) = scales_back(read_chain(armature, chain))
    assert back.bone == "bone0" and back.values[:, 1].tolist() == [1.0]


@pytest.mark.slow
def test_keys_made_by_hand_stay_when_those_of_the_bake_go():
    armature, chain = stretching_arm()
    bone = armature.pose.bones["bone0"]
    bone.scale[1] = 1.25
    bone.keyframe_insert("scale", index=1, frame=100)
    bake(armature)
    chain.stretch = 1.0
    bake(armature)
    assert [tuple(point.co) for point in scale_curve(bone).keyframe_points] == [(100.0, 1.25)]
    assert scale_curve(armature.pose.bones["bone1"]) is None and scaled_joints(armature) == []
