# SPDX-License-Identifier: GPL-3.0-or-later
"""A rest pose laid into its plane on a copy, as *Flatten Rest Pose* leaves it."""

import numpy as np
import pytest
from faults import zigzag

from ik2d_addon.bake.cures.laid_flat import Instead, flat_moves, laid_flat
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints


def test_the_copy_is_what_flatten_makes_of_the_bones():
    armature, chain = zigzag(off=0.3)
    copy = laid_flat(read_chain(armature, chain))
    expected = {bone.name: np.array(bone.bone.matrix_local) for bone in copy.pose.bones}
    flat = read_chain(copy, chain)
    assert flat.remarks.off_plane < 1e-6 < 0.1 < read_chain(armature, chain).remarks.off_plane
    joints = rest_joints(flat.pose_bones)
    mend('FLATTEN', armature, chain)
    for name, rest in expected.items():
        assert np.array(armature.data.bones[name].matrix_local) == pytest.approx(rest, abs=2e-6), name
    assert joints == pytest.approx(rest_joints(read_chain(armature, chain).pose_bones), abs=2e-6)


def test_a_bone_across_the_plane_cannot_be_laid_into_it():
    armature, chain = zigzag()
    chain.plane = 'CUSTOM'
    bone = armature.data.bones["b1"]
    chain.plane_normal = (bone.tail_local - bone.head_local).normalized()
    rig = read_chain(armature, chain)
    with pytest.raises(IK2DError, match="points across the plane"):
        flat_moves(rig, rest_joints(rig.pose_bones))


def test_a_copy_has_all_else_of_the_thing_itself():
    armature, chain = zigzag()
    copy = Instead(chain, plane='X')
    assert (copy.plane, copy.name, copy.target) == ('X', chain.name, chain.target)
    assert copy.__class__ is chain.__class__ and chain.plane == 'AUTO'
