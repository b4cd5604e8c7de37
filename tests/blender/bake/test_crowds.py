# SPDX-License-Identifier: GPL-3.0-or-later
"""Many unlike chains of one armature, baked together: each gets the keys that it gets by itself."""

import random

import bpy
import numpy as np
import pytest

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation import versions
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
