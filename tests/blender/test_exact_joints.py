# SPDX-License-Identifier: GPL-3.0-or-later
"""The joints are where Blender's pose has them, to the last digits that 32 bits hold."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from rigs import add_armature, add_chain, add_target, evaluated_tip

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.rig.chain.chain import read_chain

LINKS, HELD = 3, 20


def small_chain_below_many_bones(seed):
    """Return an armature whose last bones, short ones in one plane, stand at the end of many loose long ones.

    Blender adds the bones' places up from the root, in 32 bits: the pose follows these sums
    (`matrix_local`), and not the heads that were typed in (`head_local`).
    """
    random = np.random.default_rng(seed)
    steps = np.array((0.0, 0.0, -1.0)) + 0.02 * random.normal(size=(HELD, 3))  # near -Z, where it is worst
    steps *= random.uniform(1.0, 6.0, (HELD, 1))
    gaps = random.normal(size=(HELD, 3))
    place, bones, parent = -(steps + gaps).sum(axis=0), {}, ""  # so that they end at the origin
    for i, (step, gap) in enumerate(zip(steps, gaps, strict=True)):
        bones[f"held{i}"] = (tuple(place), tuple(place + step), parent, random.uniform(-3.0, 3.0))
        parent, place = f"held{i}", place + step + gap
    for i, slope in enumerate((0.5, -0.3, 0.4)):
        end = place + 0.1 * np.array((0.0, slope, -1.0))
        bones[f"link{i}"] = (tuple(place), tuple(end), parent, random.uniform(-3.0, 3.0))
        parent, place = f"link{i}", end
    return add_armature(bones, f"Rig {seed}")


def apart(armature):
    """Return how far heads are from where the pose has them, at most."""
    bones = armature.data.bones
    return max((bone.head_local - bone.matrix_local.translation).length for bone in bones)


@pytest.mark.parametrize("seed", range(6))
def test_the_joints_are_where_the_pose_has_them(seed):
    armature = small_chain_below_many_bones(seed)
    assert apart(armature) > 1e-6  # else the rig shows nothing
    root, tail = (armature.data.bones[f"link{i}"] for i in (0, LINKS - 1))
    chain = add_chain(armature, "link2", add_target({1: root.head_local}), bone_count=LINKS)
    plane = read_chain(armature, chain).plane
    assert np.array_equal(plane.origin, np.array(root.matrix_local.translation, np.float64))
    tip = evaluated_tip(armature, "link2")
    assert (tail.matrix_local @ Vector((0.0, tail.length, 0.0)) - tip).length <= 8e-6  # its own rounding


@pytest.mark.slow
def test_a_chain_far_down_a_hierarchy_plays_back_as_promised():
    worst = 0.0
    for seed in range(12):
        armature = small_chain_below_many_bones(seed)
        bones = [armature.data.bones[f"link{i}"] for i in range(LINKS)]
        root, tip = bones[0].matrix_local.translation, bones[-1].tail_local
        target = add_target({1: root.lerp(tip, 0.8), 2: root.lerp(tip, 0.5)}, f"Target {seed}")
        chain = add_chain(armature, "link2", target, bone_count=LINKS)
        report = bake(armature, frame_start=1, frame_end=2, options=BakeOptions(verify='ALL')).chains[0]
        for row, frame in enumerate((1, 2)):
            bpy.context.scene.frame_set(frame)
            measured = (evaluated_tip(armature, chain.tip) - target.matrix_world.translation).length
            promised = np.hypot(report.residual[row], report.off_plane[row])
            worst = max(worst, (measured - promised) / report.standard.reach)
    assert worst <= 1e-6
