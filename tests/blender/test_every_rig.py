# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that nobody made for this: no bake on Rigify's rigs says "reached" where the tip is elsewhere.

The suite takes a seeded sample of the chains on the metarigs, and of those on the generated human.
IK2D_CHAINS=0 takes every leaf chain of 2, 3 and 5 bones, on all eight generated rigs too: hours.
"""

import os

import bpy
import numpy as np
import pytest
from rigify_rigs import add_metarig, rigify
from rigs import add_target, evaluated_place, evaluated_tip

from ik2d_addon.bake import bake
from ik2d_addon.bake.reporting.chain_result import HALF_WAY
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints
from ik2d_addon.rig.scene.rounding import PLAYED_BACK

CHAINS = int(os.environ.get("IK2D_CHAINS", "5"))  # of each rig; 0: all
METARIGS = ("basic_human", "basic_quadruped", "bird", "cat", "horse", "human", "shark", "wolf")
GENERATED = METARIGS if CHAINS == 0 else ("human",)
LAST = 8


def leaf_chains(rig: bpy.types.Object) -> list[tuple[str, int]]:
    """Return every leaf bone that has parents enough with each of 2, 3 and 5 bones."""
    return [
        (bone.name, count)
        for bone in rig.data.bones
        if not bone.children
        for count in (2, 3, 5)
        if len(bone.parent_recursive) >= count - 1
    ]


def sampled(chains: list, seed: int) -> list:
    if CHAINS == 0 or len(chains) <= CHAINS:
        return chains
    rows = np.random.default_rng(seed).choice(len(chains), CHAINS, replace=False)
    return [chains[row] for row in sorted(rows)]


def place_target(rig: bpy.types.Object, chain, target: bpy.types.Object, rng: np.random.Generator) -> None:
    """Key the target along a way within reach: in the chain's plane two times of three, else anywhere."""
    try:
        plane = read_chain(rig, chain).plane
    except IK2DError:
        plane = None
    bones = [rig.pose.bones[chain.tip], *rig.pose.bones[chain.tip].parent_recursive][: chain.bone_count]
    joints = rest_joints(bones[::-1])
    reach = np.linalg.norm(np.diff(joints, axis=0), axis=1).sum()
    if target.animation_data:
        bpy.data.actions.remove(target.animation_data.action)
    flat = plane is not None and rng.random() < 0.67
    along = rng.normal(size=2)
    for frame in range(1, LAST + 1):
        along = along + 0.3 * rng.normal(size=2)
        place = rng.uniform(0.3, 0.9) * reach * along / np.linalg.norm(along)
        if flat:
            height = (joints[-1] - plane.origin) @ plane.normal
            point = plane.lift(place) + height * plane.normal
        else:
            point = joints[0] + np.array((*place, 0.2 * reach * rng.normal()))
        target.location = rig.matrix_world @ type(target.location)(point)
        target.keyframe_insert("location", frame=frame)
    for curve in existing_fcurves(target):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'  # eased, each axis for itself, it would leave the plane


def hold_to_the_truth(rig: bpy.types.Object, chain) -> bool:
    """Bake a chain; whatever it says of its tip must be so. Return whether it says "reached"."""
    try:
        report = bake(rig, [chain.name], 1, LAST)
    except IK2DError:
        return False  # a sentence is no claim
    (told,) = report.chains
    fine = PLAYED_BACK * told.standard.reach

    def distances(times) -> np.ndarray:
        found = []
        for time in times:
            bpy.context.scene.frame_set(int(time // 1), subframe=time % 1)
            found.append((evaluated_tip(rig, chain.tip) - evaluated_place(chain.target)).length)
        return np.array(found)

    whole, halves = distances(range(1, LAST + 1)), distances(np.arange(1, LAST) + 0.5)
    assert told.errors == pytest.approx(whole, abs=2.0 * fine), (chain.tip, chain.bone_count)
    assert max(whole.max(), halves.max()) <= told.max_error + max(fine, HALF_WAY * told.standard.reach)
    if report.all_reached:
        assert "reached" in report.sentence()
        assert whole.max() <= 2.0 * fine and halves.max() <= HALF_WAY * told.standard.reach + 2.0 * fine
    return report.all_reached


def hold_all(rig: bpy.types.Object, chains: list[tuple[str, int]], seed: int) -> int:
    """Bake each of the chains alone, from the same pose; return how many say "reached"."""
    rng, reached = np.random.default_rng(seed), 0
    target = add_target({}, "Target")
    rests = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    for tip, count in chains:
        rig.ik2d.chains.clear()
        chain = rig.ik2d.chains.add()
        chain.tip, chain.bone_count, chain.target = tip, count, target
        place_target(rig, chain, target, rng)
        reached += hold_to_the_truth(rig, chain)
        action = rig.animation_data.action if rig.animation_data else None
        if action:
            rig.animation_data.action = None
            bpy.data.actions.remove(action)
        for name, basis in rests.items():
            rig.pose.bones[name].matrix_basis = basis
        bpy.context.view_layer.update()
    return reached


@pytest.mark.slow
@pytest.mark.parametrize("name", METARIGS)
def test_chains_of_metarigs(name):
    with rigify():
        rig = add_metarig(name)
        chains = sampled(leaf_chains(rig), seed=len(name))
        assert hold_all(rig, chains, seed=1) >= len(chains) // 5


@pytest.mark.slow
@pytest.mark.parametrize("name", GENERATED)
def test_chains_of_generated_rigs(generated, name):
    bpy.ops.wm.open_mainfile(filepath=generated(name))
    rig = next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')
    hold_all(rig, sampled(leaf_chains(rig), seed=2), seed=3)
