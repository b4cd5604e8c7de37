# SPDX-License-Identifier: GPL-3.0-or-later
"""Unlike chains, of one armature or several: baked together each gets the keys that it gets by itself."""

import random

import bpy
import numpy as np
import pytest

from ik2d_addon.bake import BakeOptions, bake, pipeline
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation import versions
from ik2d_addon.rig.chain.chain import read_chain
from tools import crowds
from tools.compare_bakes import random_settings, random_target
from tools.crowds import random_crowd


def crowd(number):
    """Add the crowd of a number to an empty file; return the armature."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return random_crowd(random.Random(f"together {number}"), random_target, random_settings)


def keys_of(armature):
    """Return the places of keys and handles of each channel, in 32 bits."""
    places = {}
    for curve in versions.existing_fcurves(armature):
        columns = np.empty((3, 2 * len(curve.keyframe_points)), "f4")
        for name, column in zip(("co", "handle_left", "handle_right"), columns, strict=True):
            curve.keyframe_points.foreach_get(name, column)
        places[curve.data_path, curve.array_index] = columns
    return places


def baked_alone(armature):
    """Bake each chain by itself, one after another; return the names of those that can be baked."""
    names = []
    for chain in armature.ik2d.chains:
        try:
            bake(armature, [chain.name], options=BakeOptions(verify='NONE'))
            names.append(chain.name)
        except IK2DError:
            pass
    return names


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_chains_baked_together_get_the_keys_of_chains_baked_alone(number):
    armature = crowd(number)
    before = keys_of(armature)
    names = baked_alone(armature)
    assert names
    alone = keys_of(armature)
    armature = crowd(number)
    bake(armature, names, options=BakeOptions(verify='NONE'))
    together = keys_of(armature)
    assert together.keys() == alone.keys() > before.keys()
    different = [channel for channel in alone if not np.array_equal(alone[channel], together[channel])]
    assert different == []


def several(number):
    """Add four crowds of a number to an empty file; F-Curves alone place and turn the first three of them.

    Chains that cannot be baked are disabled.
    """
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    rng = random.Random(f"armatures {number}")
    armatures = [random_crowd(rng, random_target, random_settings) for _ in range(4)]
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 12
    for armature in armatures:
        plain = armature != armatures[-1]
        for constraint in armature.pose.bones["body"].constraints if plain else ():
            armature.pose.bones["body"].constraints.remove(constraint)
        for chain in armature.ik2d.chains:
            try:
                rig = read_chain(armature, chain)
                bake(armature, [chain.name], frame_end=2, options=BakeOptions(verify='NONE'))
                chain.enabled = not plain or rig.hands is None and rig.slides is None
            except IK2DError:
                chain.enabled = False
        bpy.data.actions.remove(armature.animation_data.action)
        for bone in armature.pose.bones:
            bone.matrix_basis.identity()
    bpy.context.view_layer.update()
    return armatures


@pytest.fixture
def together(monkeypatch):
    """Return a list that gets the number of armatures of each Sampler."""
    numbers, made = [], pipeline.Sampler.__init__

    def noting(self, scene, chains, *others):
        numbers.append(len({chain.armature for chain in chains}))
        made(self, scene, chains, *others)

    monkeypatch.setattr(pipeline.Sampler, "__init__", noting)
    monkeypatch.setattr(crowds, "_RARELY", 0.0)
    return numbers


@pytest.mark.parametrize("number", range(3))
def test_armatures_baked_together_get_the_keys_and_reports_of_armatures_baked_alone(number, together):
    alone = [(bake(armature).to_dict(), keys_of(armature)) for armature in several(number)]
    assert set(together) == {1}
    armatures = several(number)
    del together[:]
    report = bake(armatures)
    assert together[0] == 3
    assert [part.to_dict() for part in report.by_armature] == [told for told, _ in alone]
    for armature, (_, keys) in zip(armatures, alone, strict=True):
        there = keys_of(armature)
        assert there.keys() == keys.keys()
        assert [channel for channel in keys if not np.array_equal(keys[channel], there[channel])] == []
