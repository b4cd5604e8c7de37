# SPDX-License-Identifier: GPL-3.0-or-later
"""Flip: one button for the side that a chain bends to."""

import bpy
import pytest
from rigs import add_chain, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.ui.settings.chain_list import flip


def active_leg(**settings):
    """Return the active leg with its chain."""
    armature, _target = leg_with_target(**settings)
    bpy.context.view_layer.objects.active = armature
    return armature


@pytest.mark.parametrize("before, after", [('POSITIVE', 'NEGATIVE'), ('NEGATIVE', 'POSITIVE')])
def test_flip_changes_the_side_and_does_what_its_function_does(before, after):
    armature = active_leg(bend=before)
    chain = armature.ik2d.chains[0]
    assert bpy.ops.ik2d.flip() == {'FINISHED'}
    assert chain.bend == after
    flip(chain)
    assert chain.bend == before


def test_the_knee_is_on_the_other_side_of_the_line_from_hip_to_target_after_flip_and_solve():
    armature = active_leg()
    hip, foot = armature.data.bones["thigh"].head_local, evaluated_place(armature.ik2d.chains[0].target)
    aside = []
    for _ in range(2):
        assert solve(armature).all_reached
        aside.append((foot - hip).cross(evaluated_tip(armature, "thigh") - hip).x)
        bpy.ops.ik2d.flip()
    assert aside[0] * aside[1] < 0.0
    assert aside[1] == pytest.approx(-aside[0], rel=1e-4)  # as far, in the mirror image


def test_flip_takes_the_chain_that_is_named_and_else_the_active_one():
    armature = active_leg()
    add_chain(armature, "body", None, bone_count=1)
    armature.ik2d.active_index = 1
    bpy.ops.ik2d.flip(chain="shin")
    assert [chain.bend for chain in armature.ik2d.chains] == ['NEGATIVE', 'POSITIVE']
    bpy.ops.ik2d.flip()
    assert [chain.bend for chain in armature.ik2d.chains] == ['NEGATIVE', 'NEGATIVE']
    with pytest.raises(RuntimeError, match="no chain 'tail'"):
        bpy.ops.ik2d.flip(chain="tail")


def test_without_a_chain_there_is_nothing_to_flip():
    armature = active_leg()
    armature.ik2d.chains.clear()
    assert not bpy.ops.ik2d.flip.poll()
