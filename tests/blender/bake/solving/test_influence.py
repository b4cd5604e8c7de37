# SPDX-License-Identifier: GPL-3.0-or-later
"""Below full influence all of a bone's own rotation is blended, not its turn about the hinge alone."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion
from rigs import add_chain, add_leg, add_target

from ik2d_addon.bake import bake
from ik2d_addon.bake.pipeline import BakeOptions

MODES = ['XYZ', 'ZYX', 'QUATERNION', 'AXIS_ANGLE']
FRAMES = (1, 5, 9)
OWN = {1: (0.9, 0.3, -0.2, 0.1), 9: (0.8, -0.2, 0.4, 0.3)}
CLOSE = 2e-6


def leg(mode: str, plane: str, influence: float):
    """Return a leg with keys of its own that turn its bones off their hinges, and its chain."""
    armature = add_leg()
    chain = add_chain(armature, "shin", add_target({1: (0, 0.4, 0.6), 9: (0.1, -0.5, 0.8)}))
    chain.plane, chain.influence = plane, influence
    for name in ("thigh", "shin"):
        bone = armature.pose.bones[name]
        bone.rotation_mode = mode
        for frame, own in OWN.items():
            bone.matrix_basis = Quaternion(own).normalized().to_matrix().to_4x4()
            for prop in ("rotation_quaternion", "rotation_axis_angle", "rotation_euler"):
                bone.keyframe_insert(prop, frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    bpy.context.scene.frame_set(FRAMES[0])
    return armature, chain


def shown(armature) -> np.ndarray:
    """Return the rotations (frames, 2, 3, 3) of thigh and shin by their channels, as Blender shows them."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        found.append([np.array(bones[name].matrix_basis.to_3x3()) for name in ("thigh", "shin")])
    return np.array(found)


def half_way(one, other, part) -> np.ndarray:
    pairs = zip(one.reshape(-1, 3, 3), other.reshape(-1, 3, 3), strict=True)
    turned = [Matrix(a).to_quaternion().slerp(Matrix(b).to_quaternion(), part) for a, b in pairs]
    return np.array([np.array(each.to_matrix()) for each in turned]).reshape(one.shape)


@pytest.mark.parametrize("plane", ['AUTO', 'SWING'])
@pytest.mark.parametrize("mode", MODES)
def test_without_influence_the_bones_keep_their_own_rotations(mode, plane):
    armature, chain = leg(mode, plane, 0.0)
    own = shown(armature)
    chain.live = True
    assert np.abs(shown(armature) - own).max() < CLOSE
    chain.live = False
    report = bake(armature, None, FRAMES[0], FRAMES[-1])
    assert np.abs(shown(armature) - own).max() < CLOSE
    assert not report.chains[0].warnings


@pytest.mark.parametrize("plane", ['AUTO', 'SWING'])
@pytest.mark.parametrize("mode", MODES)
def test_between_them_the_whole_rotations_are_half_way(mode, plane):
    armature, chain = leg(mode, plane, 0.3)
    own = shown(armature)
    chain.live = True
    live = shown(armature)
    chain.live = False
    bake(armature, None, FRAMES[0], FRAMES[-1])
    baked = shown(armature)
    chain.influence = 1.0
    bake(armature, None, FRAMES[0], FRAMES[-1])
    wanted = half_way(own, shown(armature), 0.3)
    assert np.abs(baked - wanted).max() < 1e-5 and np.abs(live - wanted).max() < 1e-5


def test_the_tip_is_promised_where_it_plays():
    armature, _ = leg('XYZ', 'AUTO', 0.4)
    (result,) = bake(armature, None, FRAMES[0], FRAMES[-1]).chains
    assert result.plays_back_worse_by < 1e-5 and not result.warnings
    assert result.distance == pytest.approx(result.errors, abs=1e-5)


@pytest.mark.parametrize("options", [{"single_axis": True}, {"reduce": 0.01}])
def test_other_ways_to_key_keep_them_too(options):
    armature, _ = leg('XYZ', 'AUTO', 0.0)
    own = shown(armature)
    bake(armature, None, FRAMES[0], FRAMES[-1], options=BakeOptions(**options))
    assert np.abs(shown(armature)[[0, -1]] - own[[0, -1]]).max() < 0.02


def test_turns_about_the_hinge_alone_are_blended_as_turns():
    armature, chain = leg('XYZ', 'AUTO', 0.0)
    for bone in armature.pose.bones:
        bone.rotation_mode = 'XYZ'
    (result,) = bake(armature, None, FRAMES[0], FRAMES[-1]).chains
    assert result.is_off and chain.influence == 0.0
