# SPDX-License-Identifier: GPL-3.0-or-later
"""Which axis a bone turns about in the chain's plane, and how near to one of its own that is."""

import itertools
import math
import random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from rigs import add_armature

from ik2d_addon.core import Plane
from ik2d_addon.rig.chain.joints import ALIGNED, CLOSE, EXACT, normal_in_bone, own_axis

NOISE = 5e-5  # 32-bit rest matrices are up to 2.4e-5 off orthonormal, each end of a comparison


@pytest.mark.parametrize("seed", range(6))
def test_turning_about_the_axis_keeps_the_bone_in_the_plane(seed):
    chance = random.Random(seed)
    plane = Plane.facing([(0, 0, 0), (0, 1, 1)], (1, 0, 0))
    tail = (0.0, chance.uniform(-2, 2), chance.uniform(-2, 2))
    armature = add_armature({"a": ((0, 0, 0), tail, "", chance.uniform(-3, 3))})
    bone = armature.pose.bones["a"]
    axis = normal_in_bone(plane, bone)
    assert np.linalg.norm(axis) == pytest.approx(1.0, abs=1e-12)
    assert np.array(bone.bone.matrix_local.to_3x3()) @ axis == pytest.approx(plane.normal, abs=NOISE)
    turn = chance.uniform(-2, 2)
    bone.matrix_basis = Matrix.Rotation(turn, 4, Vector(axis))
    bpy.context.view_layer.update()
    # Seen along +X a positive turn goes from +Y to +Z.
    before, after = math.atan2(tail[2], tail[1]), math.atan2(bone.tail.z, bone.tail.y)
    assert bone.tail.x == pytest.approx(0.0, abs=NOISE)
    assert math.remainder(after - before - turn, 2 * math.pi) == pytest.approx(0.0, abs=NOISE)


@pytest.mark.parametrize("sine", [EXACT, CLOSE, ALIGNED])
def test_an_axis_is_the_bones_own_to_within_the_sine(sine):
    for own, other, sign in itertools.product(range(3), range(3), (1.0, -1.0)):
        if own == other:
            continue
        for part, expected in ((0.0, own), (0.99, own), (1.01, None)):
            axis = np.zeros(3)
            axis[other] = part * sine
            axis[own] = sign * math.sqrt(1.0 - axis[other] ** 2)
            assert own_axis(axis, sine) == expected
            axis[other] *= -1.0
            assert own_axis(axis, sine) == expected


def test_what_an_axis_has_of_both_others_counts_together():
    part = 0.8 * CLOSE
    assert own_axis(np.array([1.0, part, 0.0]), CLOSE) == 0
    assert own_axis(np.array([1.0, part, part]), CLOSE) is None


@pytest.mark.parametrize(
    "sine, within, beyond",
    [
        (EXACT, 1e-6, 2e-6),  # the noise of 32-bit rest matrices is no more
        (CLOSE, math.sin(math.radians(0.05)), math.sin(math.radians(0.06))),  # rolls of generated rigs
        (ALIGNED, math.sin(math.radians(2.8)), math.sin(math.radians(2.9))),
    ],
)
def test_how_near_is_near(sine, within, beyond):
    for part, expected in ((within, 2), (beyond, None)):
        assert own_axis(np.array([part, 0.0, math.sqrt(1.0 - part * part)]), sine) == expected
