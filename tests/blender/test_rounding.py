# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains far from the origin: what Blender's 32-bit floats cannot hold is no miss."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, errors_on, played_back_errors

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.core import Status

FRAMES = range(1, 25)


def add_finger(bones: int, length: float, root: np.ndarray) -> bpy.types.Object:
    """Add an arm from the armature's origin to a root, and a finger there, bent in the plane x = 0."""
    joints = {"arm": ((0.0, 0.0, 0.0), tuple(root), "", 0.0)}
    parent, place = "arm", root
    for k in range(bones):
        tail = place + length * np.array((0.0, np.cos(0.3 * k), -np.sin(0.3 * k)))
        joints[f"bone{k}"] = (tuple(place), tuple(tail), parent, 0.0)
        parent, place = f"bone{k}", tail
    return add_armature(joints)


def bake_finger(bones: int, length: float, apart: float, reach: tuple[float, float] = (0.5, 0.9), **options):
    """Bake a finger to random targets, so far apart from the armature's origin; return it and its report."""
    random = np.random.default_rng(7)
    root = apart * np.array((0.0, 0.6, 0.8))
    armature = add_finger(bones, length, root)
    far, turns = bones * length * random.uniform(*reach, 24), random.uniform(-1.0, 1.0, 24)
    places = root + far[:, None] * np.column_stack((np.zeros(24), np.cos(turns), -np.sin(turns)))
    target = add_target(dict(zip(FRAMES, places.tolist(), strict=True)))
    add_chain(armature, f"bone{bones - 1}", target, bones, **options)
    return armature, bake(armature, None, 1, 24, options=BakeOptions(verify='ALL')).chains[0]


@pytest.mark.parametrize("apart", [0.0, 1.5, 5.0, 50.0])
@pytest.mark.parametrize("length", [0.005, 0.01, 0.02])
def test_fingers_far_from_the_origin_reach_their_targets(length, apart):
    armature, told = bake_finger(3, length, apart)
    assert not told.missed.any() and "missed" not in told.sentence()
    assert (errors_on(FRAMES, armature, armature.ik2d.chains[0]) <= told.standard.tolerance).all()
    assert told.standard.tolerance <= 1e-4 * told.standard.reach + 2e-6 * apart


@pytest.mark.parametrize("apart", [0.0, 1.5, 5.0])
def test_one_bone_reaches_targets_at_its_length(apart):
    armature, told = bake_finger(1, 0.02, apart, (1.0, 1.0), plane='X')
    assert not told.missed.any() and (told.status == Status.REACHED).all()
    assert max(error for _, error in played_back_errors(armature, armature.ik2d.chains[0], FRAMES)) < 1e-5


def test_a_tip_off_by_more_than_floats_hold_is_a_miss_far_from_the_origin_too():
    _, told = bake_finger(3, 0.01, 5.0, (1.001, 1.002))
    assert told.missed.all() and (told.status == Status.TOO_FAR).all()
    assert "worst by 0 " not in told.sentence()


def test_status_and_missed_agree():
    _, told = bake_finger(3, 0.01, 5.0, (0.999, 1.001))
    assert 0 < told.missed.sum() < 24
    assert (told.missed == (told.status != Status.REACHED)).all()
    assert (told.missed == (told.errors > told.standard.tolerance)).all()


def test_small_bones_on_a_walking_rig_are_sampled_from_f_curves():
    armature = add_finger(3, 0.01, np.array((0.0, 0.9, 1.2)))
    arm = armature.pose.bones["arm"]
    for frame, place, angle in ((1, 0.0, 0.0), (60, 3.0, 0.4), (120, 7.0, -0.3)):
        arm.location = (0.0, 0.0, place)
        arm.rotation_mode, arm.rotation_euler = 'XYZ', (angle, 0.3 * angle, angle)
        arm.keyframe_insert("location", frame=frame)
        arm.keyframe_insert("rotation_euler", frame=frame)
    target = add_target({})
    target.parent, target.parent_type, target.parent_bone = armature, 'BONE', "arm"
    target.location = (0.0, 0.02, -0.01)
    add_chain(armature, "bone2", target, 3)
    report = bake(armature, None, 1, 120)
    assert report.stepped == "" == report.full_scene
