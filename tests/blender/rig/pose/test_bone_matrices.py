# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain's bones in space, held to the pose that Blender evaluates."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import add_armature, add_chain, add_leg, add_target
from swing_rigs import follow, move_about, random_limb

from ik2d_addon.core.affine import inverse, rotations_about
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.bone_matrices import (
    bone_poses,
    carried_by_swings,
    first_rotations,
    posed,
    rotations_of,
    takes_all,
    transforms,
    translation,
)
from ik2d_addon.rig.pose.swings import swung
from ik2d_addon.rig.rest import rest_matrix
from ik2d_addon.rig.scene.sampler import sample_now, sample_steps

EXACT = 1e-9
CLOSE = 3e-6  # what Blender's 32 bits keep of matrices of some three units


@pytest.mark.parametrize("mode", ['FULL', 'FIX_SHEAR', 'ALIGNED', 'AVERAGE', 'NONE', 'NONE_LEGACY'])
@pytest.mark.parametrize("turns_along", [True, False])
def test_bones_are_where_blender_has_them(mode, turns_along):
    armature = add_armature(
        {
            "base": ((0, 0, 0), (0, 0.4, 0.6), "", 1.1),
            "a": ((0, 0.5, 0.5), (0, 1.2, 0.9), "base", -0.7),
            "b": ((0, 1.3, 0.9), (0, 1.9, 0.4), "a", 2.2),
        }
    )
    add_chain(armature, "b", add_target({}), bone_count=2, plane='X')
    armature.data.bones["b"].inherit_scale = mode
    armature.data.bones["b"].use_inherit_rotation = turns_along
    base, moved = armature.pose.bones["base"], armature.pose.bones["b"]
    base.matrix_basis = Matrix.LocRotScale((0.1, 0.2, 0.3), Matrix.Rotation(0.4, 3, (3, 1, 2)), (1.5,) * 3)
    moved.location, moved.scale = (0.05, -0.1, 0.2), (1.2, 1.2, 1.2)
    bpy.context.view_layer.update()
    rig = read_chain(armature, armature.ik2d.chains[0])
    (samples,) = sample_now(bpy.context.scene, [rig]).chains
    rotations = rotations_of(rig, np.array([[0.7, -1.3]]))
    found = [poses[0] for poses in bone_poses(rig, samples, rotations)]
    for bone, rotation in zip(rig.pose_bones, rotations, strict=True):
        bone.rotation_quaternion = Matrix(rotation[0].tolist()).to_quaternion()
    bpy.context.view_layer.update()
    for bone, expected in zip(rig.pose_bones, found, strict=True):
        assert np.array(bone.matrix) == pytest.approx(expected, abs=CLOSE), bone.name


def test_a_bone_without_a_parent_is_posed_in_rest_space():
    bone = add_leg().pose.bones["thigh"]
    own = transforms(rotations_about(np.array((0.0, 0.6, 0.8)), np.array([0.4, 1.9])))
    assert posed(bone, None, own) == pytest.approx(rest_matrix(bone.bone) @ own, abs=EXACT)


def test_linear_maps_become_matrices_that_move_nothing():
    found = transforms(np.arange(9.0).reshape(1, 3, 3))
    assert (found[0, :3, :3] == np.arange(9.0).reshape(3, 3)).all()
    assert found[0, 3].tolist() == [0, 0, 0, 1] == [*found[0, :3, 3], 1]


def test_a_connected_bone_has_no_location():
    armature = add_armature(
        {"root": ((0, 0, 0), (0, 0, 1), "", 0.0), "next": ((0, 0, 1), (0, 0, 2), "root", 0.0)}
    )
    place = np.array((0.1, 0.2, 0.3))
    assert translation(armature.pose.bones["root"], place)[:3, 3].tolist() == place.tolist()
    assert (translation(armature.pose.bones["next"], place) == np.eye(4)).all()


@pytest.mark.parametrize(
    "settings, follows, with_location",
    [
        ({}, True, True),
        ({"inherit_scale": 'ALIGNED'}, False, False),
        ({"use_inherit_rotation": False}, False, False),
        ({"use_local_location": False}, True, False),
    ],
)
def test_a_bone_takes_all_of_its_parents_transforms_by_its_settings(settings, follows, with_location):
    bone = add_leg().pose.bones["shin"]
    for name, value in settings.items():
        setattr(bone.bone, name, value)
    assert takes_all(bone, np.zeros(3)) == follows
    assert takes_all(bone, np.array((0.0, 0.1, 0.0))) == with_location


def test_the_first_bone_turns_with_the_plane_and_by_itself():
    armature = add_leg()
    add_chain(armature, "shin", add_target({}))
    rig = read_chain(armature, armature.ik2d.chains[0])
    swings, turns = rotations_about(rig.plane.x, np.array([0.8, -0.3])), np.array([[0.2, 0.4], [-0.5, 1.0]])
    first, second = rotations_of(rig, turns, swings)
    assert (first == first_rotations(rig, turns[:, 0], swings)).all()
    assert second == pytest.approx(rotations_about(rig.joints.axes[1], turns[:, 1]), abs=EXACT)
    rest = transforms(rest_matrix(rig.pose_bones[0].bone)[None, :3, :3])
    alone = transforms(rotations_about(rig.joints.axes[0], turns[:, 0]))
    carried = (rest @ transforms(first) @ inverse(alone) @ inverse(rest))[:, :3, :3]
    assert carried == pytest.approx(carried_by_swings(rig, swings), abs=EXACT)


@pytest.mark.slow
def test_swings_are_carried_out_but_for_the_noise_of_32_bits():
    for seed in range(900, 906):
        limb = random_limb(seed)
        chain = follow(limb, 'POLE', pole_angle=limb.rng.uniform(-3.0, 3.0))
        move_about(limb, chain, speed=12.0, frames=6)
        rig = read_chain(limb.armature, chain)
        (samples,) = drained(sample_steps(bpy.context.scene, [rig], range(1, 7))).chains
        swings = swung(rig, samples).swings
        assert np.abs(carried_by_swings(rig, swings) - swings).max() < 5e-5
        rest = np.array(rig.pose_bones[0].bone.matrix_local)[:3, :3]
        own = first_rotations(rig, np.zeros(len(swings)), swings)
        assert carried_by_swings(rig, swings) @ rest == pytest.approx(rest @ own, abs=EXACT)
