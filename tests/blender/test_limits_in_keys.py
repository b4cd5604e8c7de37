# SPDX-License-Identifier: GPL-3.0-or-later
"""Limits hold in the keys as numbers, however often a target goes round."""

import math

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, played_back_errors

from ik2d_addon.bake import bake
from ik2d_addon.rig.animation.versions import existing_fcurves

WIDE = math.radians(200.0)
FRAMES = 120


def arm_on_a_circle(solver: str, mode: str, bones: int = 2, turns: float = 2.3, roll: float = 0.0):
    """Add an arm along Z in the plane x = 0 whose target circles round its root."""
    names = [f"bone.{i}" for i in range(bones)]
    armature = add_armature(
        {
            name: ((0, 0.05 * (i % 2), i), (0, 0.05 * ((i + 1) % 2), i + 1), names[i - 1] if i else "", roll)
            for i, name in enumerate(names)
        }
    )
    angle = np.linspace(0.3, 0.3 + turns * 2.0 * math.pi, FRAMES)
    reach = 0.7 * bones
    target = add_target({f + 1: (0, -reach * math.sin(a), reach * math.cos(a)) for f, a in enumerate(angle)})
    for curve in existing_fcurves(target):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    chain = add_chain(armature, names[-1], target, bones, solver=solver, plane='X')
    return armature, chain


def limit(chain, bone: str, low: float, high: float) -> None:
    joint = chain.joints[bone]
    joint.use_limit, joint.limit_min, joint.limit_max = True, low, high


def numbers(armature, bone: str) -> np.ndarray:
    """Return by how much the keys say that a bone is turned (radians, one a frame); signs are the bone's."""
    mode = armature.pose.bones[bone].rotation_mode
    curves = [c for c in existing_fcurves(armature) if f'"{bone}"' in c.data_path]
    values = np.array([[c.evaluate(f) for f in range(1, FRAMES + 1)] for c in curves])
    if mode == 'AXIS_ANGLE':
        return values[0]
    if mode == 'QUATERNION':  # of the same sign from key to key
        half = np.unwrap(np.arctan2(np.linalg.norm(values[1:], axis=0) * np.sign(values[1]), values[0]))
        return 2.0 * half
    return values[np.abs(values).max(axis=1).argmax()]


@pytest.mark.parametrize("mode", ['XYZ', 'ZXY', 'AXIS_ANGLE', 'QUATERNION'])
@pytest.mark.parametrize(("solver", "bones"), [('TWO_BONE', 2), ('CCD', 2), ('CCD', 4)])
def test_a_limited_root_keeps_its_range_in_the_keys(solver, bones, mode):
    armature, chain = arm_on_a_circle(solver, mode, bones)
    limit(chain, "bone.0", -WIDE, WIDE)
    report = bake(armature, frame_start=1, frame_end=FRAMES, options=None)
    found = numbers(armature, "bone.0")
    if mode == 'QUATERNION':  # that a whole turn lies between two keys does not show in them
        found = np.array([math.remainder(x, 2.0 * math.pi) for x in found])
    assert np.abs(found).max() <= math.radians(200.0001)
    assert np.abs(np.diff(numbers(armature, "bone.1"))).max() <= math.radians(200.0)
    if solver == 'TWO_BONE':
        assert report.all_reached
    for frame, error in played_back_errors(armature, chain, range(1, FRAMES + 1)):
        expected = report.chains[0].residual[frame - 1]
        assert error == pytest.approx(expected, abs=2e-5 * bones), frame


@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_a_target_that_comes_back_takes_the_limited_root_over_half_a_turn_and_back(solver):
    armature, chain = arm_on_a_circle(solver, 'XYZ', turns=0.0)
    limit(chain, "bone.0", -WIDE, WIDE)
    angle = math.radians(186.0) * np.sin(np.linspace(0.0, 2.0 * math.pi, FRAMES))
    for curve in existing_fcurves(chain.target):
        for key, a in zip(curve.keyframe_points, angle, strict=True):
            key.co[1] = (0.0, -1.98 * math.sin(a), 1.98 * math.cos(a))[curve.array_index]
        curve.update()
    report = bake(armature, frame_start=1, frame_end=FRAMES)
    assert report.all_reached
    found = numbers(armature, "bone.0")
    assert np.abs(found).max() > math.radians(182.0)
    assert np.abs(found).max() <= math.radians(200.0001)
    assert np.abs(np.diff(found)).max() <= math.radians(20.0)


@pytest.mark.parametrize("solver", ['TWO_BONE', 'CCD'])
def test_a_range_that_lies_beyond_half_a_turn_is_kept(solver):
    armature, chain = arm_on_a_circle(solver, 'XYZ', turns=0.2)
    low, high = math.radians(300.0), math.radians(500.0)
    limit(chain, "bone.0", low, high)
    bake(armature, frame_start=1, frame_end=FRAMES)
    found = np.abs(numbers(armature, "bone.0"))
    assert found.min() >= low - 1e-5 and found.max() <= high + 1e-5


def test_free_joints_still_go_on_without_a_jump():
    armature, chain = arm_on_a_circle('TWO_BONE', 'XYZ')
    assert bake(armature, frame_start=1, frame_end=FRAMES).all_reached
    found = numbers(armature, "bone.0")
    assert np.abs(np.diff(found)).max() <= math.radians(20.0)
    assert np.abs(found).max() >= math.radians(720.0)
    assert abs(found[0]) <= math.pi
    bpy.context.scene.frame_set(1)
