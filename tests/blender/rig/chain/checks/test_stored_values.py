# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that no one can have chosen: refused in a sentence that names chain, bone and setting."""

import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
from rigs import leg_with_target, stored_settings

from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import problem_of, read_chain
from ik2d_addon.rig.chain.checks.bones import chain_bones
from ik2d_addon.rig.chain.checks.stored_values import refuse_broken_rest


def damaged(armature, name, value, of=lambda stored: stored["chains"][0]):
    """Write a value past Blender's own checks."""
    chain = armature.ik2d.chains[0]
    chain.softness, chain.influence, chain.tolerance = 0.1, 0.9, 0.0
    of(stored_settings(armature))[name] = value
    return chain


def refused(armature, chain, words):
    """Reading must refuse with these words, all of them, and the sidebar say so."""
    with pytest.raises(IK2DError, match=f"^{re.escape(words)}$"):
        read_chain(armature, chain)
    assert problem_of(armature, chain) == words


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("plane", 99, "its setting Bends In has an unknown value"),
        ("solver", -1, "its setting Solver has an unknown value"),
        ("bend", 7, "its setting Bend has an unknown value"),
        ("softness", math.nan, "its setting Softness holds nan, which is not within 0 to 1"),
        ("softness", -0.5, "its setting Softness holds -0.5, which is not within 0 to 1"),
        ("influence", math.inf, "its setting IK Blend holds inf, which is not within 0 to 1"),
        ("iterations", 0, "its setting Iterations holds 0, which is not within 1 to 10000"),
        ("iterations", 2**31 - 1, "its setting Iterations holds 2.14748e+09, which is not within 1 to 10000"),
        ("tolerance", math.inf, "its setting Reached Within holds inf, which is not within 0 to 3.40282e+38"),
    ],
)
def test_a_chains_settings_hold_what_they_can(name, value, words):
    armature, _ = leg_with_target()
    refused(armature, damaged(armature, name, value), f"Chain 'shin': {words}; set it again")


@pytest.mark.parametrize("count", [-1, -(2**31)])
def test_no_chain_has_less_bones_than_none(count):
    armature, _ = leg_with_target()
    chain = damaged(armature, "bone_count", count)
    refused(armature, chain, f"Chain 'shin' asks for {count} bones; set Chain Length to 0 or more")
    with pytest.raises(IK2DError, match=f"^The chain asks for {count} bones"):
        chain_bones(armature, "shin", count)


@pytest.mark.parametrize(
    "name, value, words",
    [
        ("weight", math.nan, "Flexibility holds nan, which is not within 0 to 1"),
        ("weight", -1.0, "Flexibility holds -1, which is not within 0 to 1"),
        ("limit_min", -math.inf, "Min holds -inf radians, which is not an angle"),
        ("limit_max", 1e30, "Max holds 1e+30 radians, which is not an angle"),
    ],
)
def test_a_joints_settings_hold_what_they_can(name, value, words):
    armature, _ = leg_with_target()
    joint = armature.ik2d.chains[0].joints["shin"]
    joint.use_limit, joint.limit_min, joint.limit_max, joint.weight = True, -1.0, 1.0, 0.5
    chain = damaged(armature, name, value, lambda stored: stored["chains"][0]["joints"][1])
    refused(armature, chain, f"Chain 'shin', bone 'shin': its setting {words}; set it again")
    if name != "weight":
        joint.use_limit = False  # then its range says nothing
        assert read_chain(armature, chain).name == "shin"


def test_a_plane_of_its_own_has_a_finite_normal():
    armature, _ = leg_with_target(plane='CUSTOM')
    armature.ik2d.chains[0].plane_normal = (1.0, 0.0, 0.0)
    chain = damaged(armature, "plane_normal", [math.nan, 0.0, 1.0])
    words = "Chain 'shin': its setting Normal holds no finite numbers; set it again"
    refused(armature, chain, words)
    chain.plane = 'X'  # then it says nothing
    assert problem_of(armature, chain) == ""


@pytest.mark.parametrize(
    "entry, value", [((0, 3), math.nan), ((1, 1), math.inf), ((slice(3), 2), 0.0), ((0, 1), 0.5)]
)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_rest_pose_that_is_damaged_is_refused(which, entry, value):
    armature, _ = leg_with_target()
    stood = [armature.pose.bones[name] for name in ("body", "thigh", "shin")]
    matrices = [np.array(bone.bone.matrix_local) for bone in stood]
    # As a damaged file has them: Blender lets nobody write these.
    above, *bones = [
        SimpleNamespace(name=bone.name, bone=SimpleNamespace(matrix_local=matrix), parent=None)
        for bone, matrix in zip(stood, matrices, strict=True)
    ]
    bones[0].parent = above
    refuse_broken_rest("leg", bones)
    matrices[which][entry] = value
    with pytest.raises(
        IK2DError, match=f"Chain 'leg': the rest pose of the bone '{stood[which].name}' is damaged"
    ):
        refuse_broken_rest("leg", bones)
