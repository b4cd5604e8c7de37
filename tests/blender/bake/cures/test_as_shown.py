# SPDX-License-Identifier: GPL-3.0-or-later
"""Samples that need no change of the scene are those that Blender evaluates."""

import bpy
import numpy as np
import pytest
from faults import aside

from ik2d_addon.bake.cures.as_shown import samples_as_shown
from ik2d_addon.core.solution import drained
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.sampler import STEP, sample_now, sample_steps

TIMES = [1.0, 12.0, 40.0]


@pytest.mark.slow
def test_by_curves_they_are_those_of_stepping():
    armature, chain = aside()
    rig, scene = read_chain(armature, chain), bpy.context.scene
    (found,) = samples_as_shown(scene, [rig], TIMES)
    (stepped,) = drained(sample_steps(scene, [rig], TIMES, way=STEP)).chains
    for name in ("targets", "world", "parent", "bases", "tips", "settings"):
        assert getattr(found, name) == pytest.approx(getattr(stepped, name), abs=1e-5), name


@pytest.mark.parametrize("bone", ["", "body"])
def test_where_more_moves_them_the_shown_frame_is_read(bone):
    armature, chain = aside()
    if bone:
        other = bpy.data.objects.new("Other", armature.data)
        bpy.context.collection.objects.link(other)
        chain.target, chain.subtarget = other, bone
    armature.constraints.new('LIMIT_LOCATION')
    bpy.context.view_layer.update()
    rig, scene = read_chain(armature, chain), bpy.context.scene
    (found,) = samples_as_shown(scene, [rig], TIMES)
    (now,) = sample_now(scene, [rig]).chains
    assert len(found.targets) == 1
    for name in ("targets", "world", "bases"):
        assert np.array(getattr(found, name)) == pytest.approx(np.array(getattr(now, name)), abs=1e-6), name
