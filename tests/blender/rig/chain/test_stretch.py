# SPDX-License-Identifier: GPL-3.0-or-later
"""Which bones may change their length by scale, and what scale they have of their own."""

import bpy
import numpy as np
import pytest
from rigs import stretching_arm

from ik2d_addon.core import IK2DError, Stretch
from ik2d_addon.rig.chain.chain import problem_of, read_chain
from ik2d_addon.rig.chain.stretch import (
    Stretching,
    carried_note,
    read_stretching,
    refuse_unstretchable,
    scale_curve,
)

LENGTHS = (0.8, 0.5, 0.7)


def read(armature, chain):
    return read_stretching(chain, list(armature.pose.bones))


def test_a_chain_whose_bones_keep_their_length_has_none():
    armature, chain = stretching_arm('FULL', stretch=1.0)
    assert read(armature, chain) is None and read_chain(armature, chain).stretching is None


def test_settings_and_the_bones_own_scale_are_read():
    armature, chain = stretching_arm('ALIGNED', LENGTHS, compress=4.0, stretch_bones='LAST')
    armature.data.bones["bone1"].inherit_scale = 'NONE'
    armature.pose.bones["bone2"].scale = (3.0, 1.5, 3.0)
    found = read(armature, chain)
    assert found.limits == Stretch(2.0, 0.25, last_only=True)
    assert found.bases.tolist() == [1.0, 1.0, 1.5] and found.aligned.tolist() == [False, False, True]
    assert found.scaled.tolist() == [False, False, True]
    chain.stretch_bones = 'ALL'
    assert read(armature, chain).scaled.tolist() == [True, True, False]


@pytest.mark.parametrize("compress", (0.0, 1e9))
def test_the_ends_of_the_settings_are_taken(compress):
    armature, chain = stretching_arm(stretch=1e9, compress=compress)
    assert read(armature, chain).limits == Stretch(100.0, 0.01)


def test_aligned_bones_get_the_quotient():
    stretching = Stretching(Stretch(2.0), np.ones(3), np.array([False, True, False]))
    factors = np.array([[1.5, 1.5, 1.5], [1.0, 1.0, 2.0]])
    assert stretching.own_factors(factors).tolist() == [[1.5, 1.0, 1.5], [1.0, 1.0, 2.0]]


def test_a_scale_that_was_keyed_before_does_not_count():
    stretching = Stretching(Stretch(2.0), np.array([1.0, -1.5]), np.zeros(2, np.bool_))
    bases = np.tile(np.diag([2.0, 1.7, 2.0, 1.0]), (3, 2, 1, 1))
    own = stretching.scaled_bases(bases)
    assert own[:, :, 1, 1] == pytest.approx(np.tile([1.0, 1.5], (3, 1))) and (own[:, :, 0, 0] == 2.0).all()
    longer = stretching.scaled_bases(bases, np.full((3, 2), 2.0))
    assert longer[:, :, 1, 1] == pytest.approx(np.tile([2.0, 3.0], (3, 1)))
    assert (bases[:, :, 1, 1] == 1.7).all()


@pytest.mark.parametrize(
    "mode, words",
    (
        ('FULL', "'bone1' would shear, since it inherits scale by 'Full'"),
        ('FIX_SHEAR', "'bone1' would shear, since it inherits scale by 'Fix Shear'"),
        ('AVERAGE', "'bone1' would grow thicker, since it inherits scale by 'Average'"),
    ),
)
def test_each_inheritance_that_spoils_a_bone_is_named_in_the_panel_too(mode, words):
    armature, chain = stretching_arm('NONE', LENGTHS)
    assert problem_of(armature, chain) == ""
    armature.data.bones["bone1"].inherit_scale = mode
    with pytest.raises(IK2DError, match=words):
        read(armature, chain)
    assert words in problem_of(armature, chain)
    chain.stretch_bones = 'LAST'
    assert problem_of(armature, chain) == ""


@pytest.mark.parametrize("mode", ('FULL', 'FIX_SHEAR', 'AVERAGE', 'NONE', 'NONE_LEGACY', 'ALIGNED'))
def test_what_is_refused_is_what_blender_shears_or_thickens(mode):
    armature, chain = stretching_arm(mode)
    armature.pose.bones["bone0"].scale[1] = 2.0
    armature.pose.bones["bone1"].rotation_mode = 'XYZ'
    armature.pose.bones["bone1"].rotation_euler = (0.7, 0.2, 0.3)
    bpy.context.view_layer.update()
    matrix = np.array(armature.pose.bones["bone1"].matrix.to_3x3())
    sizes = np.linalg.norm(matrix, axis=0)
    turned = matrix / sizes
    spoiled = np.abs(turned.T @ turned - np.eye(3)).max() > 1e-3 or np.abs(sizes[[0, 2]] - 1.0).max() > 1e-3
    if spoiled:
        with pytest.raises(IK2DError):
            refuse_unstretchable(chain, list(armature.pose.bones))
    else:
        refuse_unstretchable(chain, list(armature.pose.bones))
        assert sizes[1] == pytest.approx(2.0 if mode == 'ALIGNED' else 1.0, abs=1e-5)


def test_a_locked_scale_is_refused():
    armature, chain = stretching_arm()
    armature.pose.bones["bone0"].lock_scale[1] = True
    with pytest.raises(IK2DError, match="the Y Scale of bone 'bone0' is locked; unlock it"):
        read(armature, chain)
    chain.stretch_bones = 'LAST'
    read(armature, chain)


def test_a_driven_scale_is_refused():
    armature, chain = stretching_arm()
    driver = armature.pose.bones["bone1"].driver_add("scale", 1)
    with pytest.raises(IK2DError, match="the Y Scale of bone 'bone1' is driven; remove the driver"):
        read(armature, chain)
    driver.mute = True
    read(armature, chain)


def test_a_joint_that_is_missing_is_refused_since_it_remembers_the_scale():
    armature, chain = stretching_arm()
    chain.joints.remove(0)
    with pytest.raises(IK2DError, match="press Update Joints"):
        read(armature, chain)


def test_keys_made_by_hand_may_hold_a_scale_but_not_change_it():
    armature, chain = stretching_arm()
    bone = armature.pose.bones["bone0"]
    assert scale_curve(bone) is None
    for frame, scale in ((1, 1.25), (9, 1.25)):
        bone.scale[1] = scale
        bone.keyframe_insert("scale", index=1, frame=frame)
    assert read(armature, chain).bases.tolist() == [1.25, 1.0] and scale_curve(bone).array_index == 1
    bone.scale[1] = 1.5
    bone.keyframe_insert("scale", index=1, frame=20)
    with pytest.raises(IK2DError, match="keys change the Y Scale of bone 'bone0'; delete them"):
        read(armature, chain)
    chain.joints["bone0"].is_scaled, chain.stretch = True, 1.0
    assert read(armature, chain).bases[0] == 1.25


def test_only_what_takes_the_scale_of_the_chain_is_carried():
    armature, chain = stretching_arm('NONE', LENGTHS)
    bones, rig = list(armature.pose.bones), read(armature, chain)
    assert carried_note("arm", bones, rig) == ()
    (note,) = carried_note("arm", bones[:1], rig) or ("",)
    assert note == ""
    armature.data.bones["bone1"].inherit_scale = 'ALIGNED'
    (note,) = carried_note("arm", bones[:1], rig)
    assert note.startswith("Chain 'arm': bone 'bone1', which hangs on it, is scaled as it stretches")
