# SPDX-License-Identifier: GPL-3.0-or-later
"""What locations are without the slides that they carry, and how they come back."""

import bpy
import numpy as np
import pytest
from rigs import add_crane, add_target, as_baked

from ik2d_addon.core.solution import drained
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.lengths.slide_locations import (
    noted_locations,
    put_slides_back,
    slid_joints,
    slide_channels,
    slides_remembered,
    without_slides,
)
from ik2d_addon.rig.scene.sampler import sample_steps

TIMES = [1.0, 5.0, 9.0]


def crane():
    """Add a crane whose second bone stands off its place; return it and its chain."""
    armature, chain = add_crane({"boom": (0.0, 1.0)})
    chain.target = add_target({1: (0, 3.0, 2.0)})
    armature.pose.bones["inner"].location = (0.0, 0.1, 0.2)
    return armature, read_chain(armature, chain)


def note(rig):
    with slides_remembered([rig]):
        pass


def key_inner(armature, values, baked=False):
    """Key the Y Location of the second bone at frames {frame: value}."""
    inner = armature.pose.bones["inner"]
    for frame, value in values.items():
        inner.location.y = value
        inner.keyframe_insert("location", index=1, frame=frame)
    (curve,) = existing_fcurves(armature)
    for point in curve.keyframe_points:
        if point.co.x in values:
            point.interpolation = 'LINEAR'
            if baked:
                as_baked(point)


def sampled(rig):
    return drained(sample_steps(bpy.context.scene, [rig], TIMES)).chains[0]


def test_only_what_slides_is_noted_and_what_was_noted_stays():
    armature, rig = crane()
    note(rig)
    (joint,) = slid_joints(armature)
    assert (joint.name, tuple(joint.slid)) == ("inner", (False, True, False))
    assert joint.slide_base[1] == np.float32(0.1)
    armature.pose.bones["inner"].location.y = 0.7
    note(rig)
    assert joint.slide_base[1] == np.float32(0.1)


def test_what_fails_leaves_no_note():
    armature, rig = crane()
    with pytest.raises(ZeroDivisionError), slides_remembered([rig]):
        _ = 1 / 0
    assert list(slid_joints(armature)) == []


def test_what_another_chain_has_noted_counts():
    armature, rig = crane()
    note(rig)
    armature.pose.bones["inner"].location.y = 0.7
    other = armature.ik2d.chains.add()
    other.name, other.tip, other.bone_count, other.target = "other", "outer", 3, rig.target
    other.joints["boom"].use_slide = True
    note(read_chain(armature, other))
    assert other.joints["inner"].slide_base[1] == np.float32(0.1)


def test_a_joint_that_leaves_the_chain_and_comes_back_keeps_its_note():
    armature, rig = crane()
    note(rig)
    chain = armature.ik2d.chains[0]
    chain.tip = "boom"
    chain.tip = "outer"
    assert tuple(chain.joints["inner"].slid) == (False, True, False)
    assert chain.joints["inner"].slide_base[1] == np.float32(0.1)


def test_before_anything_is_noted_locations_are_as_they_stand():
    armature, rig = crane()
    key_inner(armature, {1: 0.0, 9: 0.8})
    samples = without_slides(bpy.context.scene, rig, sampled(rig), TIMES)
    assert samples.bases[:, 1, 1, 3] == pytest.approx([0.0, 0.4, 0.8])


def test_afterwards_they_are_what_was_noted():
    armature, rig = crane()
    note(rig)
    key_inner(armature, {1: 0.5, 9: 0.9}, baked=True)
    samples = without_slides(bpy.context.scene, rig, sampled(rig), TIMES)
    assert samples.bases[:, 1, 1, 3] == pytest.approx([0.1] * 3)
    assert samples.bases[:, 1, 2, 3] == pytest.approx([0.2] * 3)


def test_keys_made_by_hand_win_over_the_note():
    armature, rig = crane()
    note(rig)
    key_inner(armature, {1: 0.0, 9: 0.8})
    key_inner(armature, {5: 3.0}, baked=True)
    found = noted_locations(rig, TIMES)[1]
    assert found[:, 1] == pytest.approx([0.0, 0.4, 0.8])
    assert np.isnan(found[:, [0, 2]]).all()
    assert len(existing_fcurves(armature)[0].keyframe_points) == 3


def test_a_rigid_chain_is_left_alone():
    armature, chain = add_crane({})
    chain.target = add_target({1: (0, 3.0, 2.0)})
    rig = read_chain(armature, chain)
    samples = sampled(rig)
    assert without_slides(bpy.context.scene, rig, samples, TIMES) is samples
    assert slide_channels(rig, None) == []


def test_locations_are_put_back_to_the_last_bit():
    armature, rig = crane()
    before = tuple(armature.pose.bones["inner"].location)
    note(rig)
    armature.pose.bones["inner"].location.y = 0.7
    put_slides_back(armature, ["boom"])
    assert armature.pose.bones["inner"].location.y == np.float32(0.7)
    put_slides_back(armature, ["inner"])
    assert tuple(armature.pose.bones["inner"].location) == before
    assert list(slid_joints(armature)) == []


def test_what_keys_rule_still_is_not_put_back():
    armature, rig = crane()
    note(rig)
    key_inner(armature, {1: 0.7})
    put_slides_back(armature, ["inner"])
    assert armature.pose.bones["inner"].location.y == np.float32(0.7)
