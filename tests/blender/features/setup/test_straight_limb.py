# SPDX-License-Identifier: GPL-3.0-or-later
"""The plane of a straight limb in words, and the button that turns it."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_leg, add_target

from ik2d_addon import chains
from ik2d_addon.bake import solve
from ik2d_addon.features.setup.straight_limb import shown_straight, straight_in_words, turn_plane


@pytest.fixture
def straight():
    """A straight limb that hangs down, with a chain in XZ."""
    bones = {"thigh": ((0, 0, 2), (0, 0, 1), "", 0.0), "shin": ((0, 0, 1), (0, 0, 0), "thigh", 0.0)}
    armature = add_armature(bones)
    chain = chains.add_chain(armature, "shin", target=add_target({1: (0, 0, 0.5)}))
    bpy.context.view_layer.objects.active = armature
    return chain


def test_it_says_the_axes_that_it_bends_in(straight):
    assert straight_in_words(straight) == "Straight limb: bends in XZ"
    turn_plane(straight, 0.3)
    assert straight_in_words(straight) == "Straight limb: bends in its own plane"
    straight.plane = 'AUTO'
    assert straight_in_words(straight) == "Straight limb: bends towards its target"


def test_each_press_turns_the_plane_by_90_degrees(straight):
    said, normals = [], []
    for _ in range(4):
        assert bpy.ops.ik2d.turn_plane() == {'FINISHED'}
        said.append(straight_in_words(straight)[-2:])
        normals.append([*straight.plane_normal])
    assert said == ["YZ", "XZ", "YZ", "XZ"]
    assert np.allclose(normals, [(1, 0, 0), (0, -1, 0), (-1, 0, 0), (0, 1, 0)], atol=1e-6)


def test_of_an_older_chain_the_first_press_fixes_the_plane(straight):
    straight.plane = 'AUTO'
    bpy.ops.ik2d.turn_plane()
    assert straight.plane == 'CUSTOM' and straight_in_words(straight)[-2:] == "XZ"


def knee_now(chain):
    """Return where Blender has the knee of a chain that is solved now."""
    bpy.context.view_layer.update()
    solve(chain.id_data)
    bones = chain.id_data.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return np.array(bones["shin"].head)


def test_of_a_plane_that_follows_its_target_the_knee_goes_round_by_90_degrees(straight):
    straight.plane = 'SWING'
    straight.target.location = 0.0, 0.0, 0.5
    straight.target.animation_data_clear()
    bpy.context.view_layer.update()
    assert straight_in_words(straight) == "Straight limb: bends in a plane that follows its target"
    before = knee_now(straight)
    assert bpy.ops.ik2d.turn_plane() == {'FINISHED'}
    turned = knee_now(straight)
    assert straight.plane == 'SWING' and np.hypot(*before[:2]) > 0.1
    assert turned == pytest.approx((-before[1], before[0], before[2]), abs=1e-5) or turned == pytest.approx(
        (before[1], -before[0], before[2]), abs=1e-5
    )


@pytest.mark.parametrize("plane, bones, shown", [('SWING', 2, True), ('ARC', 2, True), ('ARC', 1, False)])
def test_a_single_bone_that_aims_has_no_plane_to_turn(straight, plane, bones, shown):
    straight.bone_count, straight.plane = bones, plane
    assert shown_straight(straight) == shown


def test_a_bent_limb_has_no_plane_to_turn():
    armature = add_leg()
    chain = add_chain(armature, "shin", add_target({}))
    bpy.context.view_layer.objects.active = armature
    assert not shown_straight(chain)
    with pytest.raises(RuntimeError, match="not straight at rest"):
        bpy.ops.ik2d.turn_plane()
