# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains whose planes follow, with any settings at once: what their bakes say is what Blender plays."""

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector
from rigs import disconnect, plays_back_worse, set_slide
from swing_rigs import LAST, RULES, follow, misses, move_about, random_limb

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.core import IK2DError

FRAMES = range(1, LAST + 1)
# Of the reach: what a solve may promise beyond what 32 bits of keys hold.
TRUE = 3e-5
PATHS = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}


class Chances:
    """Seeded choices of settings."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed + 1_000_000)

    def happens(self, part: float) -> bool:
        return self.rng.random() < part

    def between(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def one_of(self, choices):
        return choices[self.rng.integers(len(choices))]


def set_anything(limb, chain, by: Chances) -> None:
    """Give a chain some of all settings, its bones some of what bones may have."""
    bones = [limb.armature.pose.bones[name] for name in limb.bones]
    if by.happens(0.3):
        chain.softness = by.between(0.1, 0.6)
    if by.happens(0.2):
        chain.bend = 'NEGATIVE'
    if by.happens(0.2) and len(bones) == 2:
        chain.turn_over = by.between(0.1, 0.9)
    if by.happens(0.5) and len(bones) > 2:
        chain.solver = by.one_of(('CCD', 'ARC', 'EVEN'))
        chain.start_from = by.one_of(('REST', 'PREVIOUS'))
    if by.happens(0.2):
        chain.tip_rotation = by.one_of(('TARGET', 'WORLD'))
    elif by.happens(0.2):
        for bone in bones:
            bone.bone.inherit_scale = 'ALIGNED'
        chain.stretch = by.between(1.1, 2.0)
    for joint in chain.joints:
        if by.happens(0.15):
            joint.use_limit, joint.limit_max, joint.limit_min = (
                True,
                by.between(0.0, 1.5),
                -by.between(0.0, 1.5),
            )
        if by.happens(0.1) and len(bones) > 1 and chain.tip_rotation == 'FREE':
            disconnect(limb.armature)
            set_slide(chain, joint.name, 0.0, by.between(0.1, 0.5))
    for bone in bones[1:]:
        bone.lock_rotation = [by.happens(0.1) for _ in range(3)]
        if by.happens(0.1):
            bone.scale = (by.between(0.7, 1.4),) * 3
    if by.happens(0.15):
        limb.first.location = by.rng.normal(0.0, 0.1, 3)
    if by.happens(0.3):
        chain.influence = by.between(0.1, 0.9)
        for bone in bones:
            for frame in (1, 9):
                turn = Quaternion(by.rng.normal(size=4)).normalized()
                bone.matrix_basis = turn.to_matrix().to_4x4()
                bone.keyframe_insert(PATHS.get(bone.rotation_mode, "rotation_euler"), frame=frame)
    if by.happens(0.3):
        above = limb.armature.pose.bones["p"]
        for frame in (1, 8, 14):
            above.location += Vector(by.rng.normal(0.0, 0.1, 3))
            above.keyframe_insert("location", frame=frame)


@pytest.mark.slow
def test_a_bake_says_what_blender_plays_whatever_is_set(some):
    told_of = 0
    for seed in range(some(400, 20)):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        by = Chances(seed)
        limb = random_limb(seed, int(by.rng.integers(1, 6)), flat=by.happens(0.6))
        chain = follow(limb, by.one_of(RULES), pole_angle=by.between(-3.0, 3.0))
        if by.happens(0.2):
            limb.armature.scale[int(by.rng.integers(3))] *= -1.0
            bpy.context.view_layer.update()
        move_about(limb, chain, speed=by.between(1.0, 8.0))
        set_anything(limb, chain, by)
        wanted = by.one_of(({}, {"reduce": 2e-3 * limb.size}, {"single_axis": True}, {"ease_flips": True}))
        step = by.one_of((1, 1, 1, 3))
        try:
            report = bake(
                limb.armature,
                step=step,
                options=BakeOptions(verify=by.one_of(('ALL', 'SAMPLE')), **(wanted if step == 1 else {})),
            )
        except IK2DError:
            continue  # a sentence is no claim
        (told,) = report.chains
        told_of += 1
        assert "moved by something else" not in told.sentence(), seed
        assert not plays_back_worse(told), seed
        if len(limb.bones) > 1:  # one bone aims: its miss is counted at the distance of its tip
            off = misses(limb, chain, FRAMES) * limb.size / told.standard.reach
            assert told.errors / told.standard.reach == pytest.approx(off, abs=TRUE), seed
            if "reduce" not in wanted:
                assert (told.distance / told.standard.reach)[told.played.keyed] == pytest.approx(
                    off[told.played.keyed], abs=TRUE
                ), seed
    assert told_of > 0.7 * some(400, 20)
