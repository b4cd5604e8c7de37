# SPDX-License-Identifier: GPL-3.0-or-later
"""A pole is added in front of the knee, and its angle is fitted, so that the chain stays as it is."""

from math import degrees

import bpy
import numpy as np
import pytest
from mathutils import Vector
from rigs import add_armature, add_chain, add_leg, add_target

from ik2d_addon import chains
from ik2d_addon.bake import solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.pole.pole import angle_to_bend, bends_aside
from ik2d_addon.rig.chain.checks.bones import chain_bones


def joints(armature, names=("thigh", "shin")):
    """Return the heads of bones as Blender has them, and the last one's tail (n + 1, 3), in the world."""
    bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    points = [*(bones[name].head for name in names), bones[names[-1]].tail]
    return np.array([tuple(armature.matrix_world @ point) for point in points])


@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
@pytest.mark.parametrize("turned", [False, True])
def test_a_chain_that_gets_a_pole_stays_as_it_is(bend, turned):
    armature = add_leg()
    chain = add_chain(armature, "shin", add_target({}), bend=bend)
    chain.target.location = 0.0, -0.3, 0.6
    if turned:
        armature.location, armature.rotation_euler, armature.scale = (1, 2, 3), (0.3, 0.5, 1.0), (2, 2, 2)
        bpy.context.view_layer.update()
        chain.target.location = armature.matrix_world @ chain.target.location
    bpy.context.view_layer.update()
    solve(armature)
    before = joints(armature)
    pole = chains.add_pole(armature, chain)
    assert (chain.plane, chain.pole, pole.name) == ('POLE', pole, "shin Pole")
    assert not bends_aside(chain)
    bpy.context.view_layer.update()
    solve(armature)
    assert np.abs(joints(armature) - before).max() < 1e-4 * np.linalg.norm(before[0] - before[1])


def test_the_button_adds_a_pole_and_another_points_the_knee_at_it():
    armature = add_leg()
    chain = add_chain(armature, "shin", add_target({}), plane='POLE')
    chain.target.location = 0.2, -0.3, 0.6
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.ik2d.pole_add() == {'FINISHED'}
    fitted = chain.pole_angle
    chain.pole_angle = 2.0
    assert bends_aside(chain)
    assert bpy.ops.ik2d.pole_fit() == {'FINISHED'}
    assert degrees(chain.pole_angle) == pytest.approx(degrees(fitted), abs=1e-3) and not bends_aside(chain)
    chain.plane = 'SWING'
    with pytest.raises(RuntimeError, match="Set Bends In to Towards Pole first"):
        bpy.ops.ik2d.pole_fit()


def test_a_straight_limb_bends_towards_its_pole_at_any_angle():
    bones = {"thigh": ((0, 0, 2), (0, 0, 1), "", 0.4), "shin": ((0, 0, 1), (0, 0, 0), "thigh", 0.0)}
    armature = add_armature(bones)
    chain = add_chain(armature, "shin", add_target({}))
    chain.target.location = 0.0, 0.0, 0.8
    chains.add_pole(armature, chain)
    assert not bends_aside(chain)
    with pytest.raises(IK2DError, match="bends towards its pole at any Pole Angle"):
        chains.fit_pole_angle(chain)
    for angle in (0.0, 1.0, 3.0):
        chain.pole_angle = angle
        chain.pole.location = 2.0, 1.0, 1.5
        bpy.context.view_layer.update()
        solve(armature)
        knee = joints(armature)[1]
        assert knee[:2] / np.hypot(*knee[:2]) == pytest.approx(np.array((2.0, 1.0)) / 5.0**0.5, abs=1e-4)


def test_a_single_bone_gets_a_pole_too():
    armature = add_leg()
    chain = add_chain(armature, "shin", add_target({}), bone_count=1)
    assert chains.add_pole(armature, chain) == chain.pole and chain.plane == 'POLE'
    chain.tip = "none"
    with pytest.raises(IK2DError, match="no bone 'none'"):
        chains.add_pole(armature, chain)


# --- The angle at which the knee faces the pole ---------------------------------------------------


def bent(rng, count=2, straight=False):
    """Add a limb of some bones with any rolls, and a chain with a target and a pole anywhere about it."""
    bones, place, heading = {}, rng.normal(size=3), 0.3
    across = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    for i in range(count):
        heading += 0.0 if straight else rng.uniform(0.2, 0.6)
        tail = place + rng.uniform(0.6, 1.4) * across @ (np.cos(heading), np.sin(heading), 0.0)
        bones[f"b{i}"] = (tuple(place), tuple(tail), f"b{i - 1}" if i else "", rng.uniform(-3.0, 3.0))
        place = tail
    armature = add_armature(bones)
    chain = add_chain(armature, f"b{count - 1}", add_target({}), count, plane='POLE')
    chain.pole = add_target({}, "Pole")
    root = np.array(bones["b0"][0])
    chain.target.location = root + 0.7 * rng.normal(size=3)
    chain.pole.location = root + 3.0 * rng.normal(size=3)
    return armature, chain, root


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
def test_the_knee_is_in_the_half_plane_of_target_and_pole(seed, bend):
    rng = np.random.default_rng(seed)
    armature, chain, root = bent(rng)
    chain.bend = bend
    chain.pole_angle = angle_to_bend(chain, chain_bones(armature, "b1", 2))
    bpy.context.view_layer.update()
    solve(armature)
    bones = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    knee = np.array(bones["b1"].head) - root
    line = np.array(chain.target.location) - root
    line /= np.linalg.norm(line)
    pole = np.array(chain.pole.location) - root
    beside, wanted = knee - (knee @ line) * line, pole - (pole @ line) * line
    size = np.linalg.norm(beside)
    assert size > 1e-3  # stretched out it would be on no side
    assert beside / size == pytest.approx(wanted / np.linalg.norm(wanted), abs=2e-3)


def test_a_straight_chain_bends_towards_its_pole_at_any_angle():
    armature, chain, _root = bent(np.random.default_rng(0), straight=True)
    assert angle_to_bend(chain, chain_bones(armature, "b1", 2)) is None


@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
@pytest.mark.parametrize("pole_first", [False, True])
@pytest.mark.parametrize("place", [(0, -2, 1), (2, 0, 1.5), (-1, 1.5, 0.3), (1, -1, 1.8)])
def test_a_pole_chosen_by_hand_keeps_the_pose(bend, pole_first, place):
    armature = add_leg()
    armature.location, armature.rotation_euler, armature.scale = (1, 2, 3), (0.3, 0.5, 1.0), (2, 2, 2)
    bpy.context.view_layer.update()
    target = add_target({})
    target.location = armature.matrix_world @ Vector((0.0, -0.3, 0.6))
    chain = add_chain(armature, "shin", target, bend=bend)
    bpy.context.view_layer.update()
    solve(armature)
    before = joints(armature)
    pole = bpy.data.objects.new("Elsewhere", None)
    bpy.context.scene.collection.objects.link(pole)
    pole.location = armature.matrix_world @ Vector(place)
    if pole_first:
        chain.pole, chain.plane = pole, 'POLE'
    else:
        chain.plane, chain.pole = 'POLE', pole
    bpy.context.view_layer.update()
    solve(armature)
    assert np.abs(joints(armature) - before).max() < 1e-4 * np.linalg.norm(before[0] - before[1])
    chain.pole = None
    pole.location = armature.matrix_world @ Vector((0.5, -2.0, 1.0))
    chain.pole = pole  # another angle
    bpy.context.view_layer.update()
    solve(armature)
    assert np.abs(joints(armature) - before).max() < 1e-4 * np.linalg.norm(before[0] - before[1])


def test_an_angle_that_was_set_stays_where_the_plane_is_chosen():
    armature = add_leg()
    chain = add_chain(armature, "shin", add_target({}))
    chain.pole, chain.pole_angle = bpy.data.objects["Target"], 0.25
    chain.plane = 'POLE'
    assert chain.pole_angle == 0.25
