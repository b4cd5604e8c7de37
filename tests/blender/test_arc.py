# SPDX-License-Identifier: GPL-3.0-or-later
"""Arc in the rig: all joints on one circle as Blender plays them, and words for what an arc cannot."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, played_back_errors

from ik2d_addon.bake import bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import problem_of, read_chain

WAY = {1: (0, 1.6, 1.2), 10: (0, -0.4, 2.4), 20: (0, 1.6, 1.2), 30: (0, 0.9, -1.0), 40: (0, 1.6, 1.2)}
LENGTHS = (0.8, 0.5, 0.9, 0.6)


def chain_of(lengths=LENGTHS, curl: float = 0.2, way=None, **settings):
    """Return an armature with a curled chain of bones along Z, and its chain, on an arc."""
    joints, heading = [np.zeros(2)], 0.0
    for length in lengths:
        joints.append(joints[-1] + length * np.array([np.sin(heading), np.cos(heading)]))
        heading += curl
    places, count = [(0.0, float(y), float(z)) for y, z in joints], len(lengths)
    armature = add_armature(
        {f"b{i}": (places[i], places[i + 1], f"b{i - 1}" if i else "", 0.1 * i) for i in range(count)}
    )
    add_chain(armature, f"b{count - 1}", add_target(way or WAY), count, **({"solver": 'ARC'} | settings))
    chain = armature.ik2d.chains[0]
    for i in range(count):
        chain.joints.add().name = f"b{i}"
    return armature, chain


def radii(armature) -> np.ndarray:
    """Return the radius of the circle through each three joints that follow one another, as posed."""
    bones = armature.pose.bones
    points = np.array([bone.head for bone in bones] + [bones[-1].tail], np.float64)
    a, b = points[1:-1] - points[:-2], points[2:] - points[1:-1]
    area = np.linalg.norm(np.cross(a, b), axis=1)
    return np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1) * np.linalg.norm(a + b, axis=1) / (2 * area)


@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
@pytest.mark.parametrize("curl", [0.0, 0.2])
def test_a_bake_puts_tips_on_targets_and_joints_on_circles(curl, bend):
    armature, chain = chain_of(curl=curl, bend=bend)
    report = bake(armature, frame_start=1, frame_end=40)
    assert report.all_reached, report.sentence()
    assert report.chains[0].solver == 'ARC'
    assert max(error for _, error in played_back_errors(armature, chain, range(1, 41))) < 1e-5 * sum(LENGTHS)
    for frame in (1, 10, 15, 30):
        bpy.context.scene.frame_set(frame)
        assert np.ptp(radii(armature)) < 1e-4 * radii(armature).max()


def test_solve_and_live_give_the_pose_of_the_bake():
    armature, chain = chain_of()
    bake(armature, frame_start=1, frame_end=40)
    bpy.context.scene.frame_set(17)
    baked = np.array([bone.matrix for bone in armature.pose.bones])
    armature.animation_data_clear()
    bpy.context.scene.frame_set(17)
    solve(armature)
    bpy.context.view_layer.update()
    assert np.abs(np.array([bone.matrix for bone in armature.pose.bones]) - baked).max() < 1e-5


def test_softness_and_stretch_work_on_an_arc():
    way = {1: (0, 1.0, 1.5), 20: (0, 1.7, 2.8)}
    armature, chain = chain_of(way=way, softness=0.1, stretch=1.5)
    for bone in armature.data.bones:
        bone.inherit_scale = 'ALIGNED'
    report = bake(armature, frame_start=1, frame_end=20)
    assert report.all_reached, report.sentence()
    assert max(error for _, error in played_back_errors(armature, chain, range(1, 21))) < 1e-5 * sum(LENGTHS)


@pytest.mark.parametrize(
    "joint, words",
    [
        (
            {"use_limit": True, "limit_max": 1.0},
            "'b1' has limits, but with the Circle solver .*; turn Limit off",
        ),
        ({"weight": 0.0}, "'b1' has a flexibility of 0, .*; give it some"),
        ({"use_slide": True, "slide_max": 1.0}, "has bones that slide, .* takes rigid ones; turn Slide off"),
    ],
)
def test_what_an_arc_cannot_is_said_before_it_is_solved(joint, words):
    armature, chain = chain_of()
    bpy.ops.object.mode_set(mode='EDIT')
    for bone in armature.data.edit_bones:
        bone.use_connect = False
    bpy.ops.object.mode_set(mode='OBJECT')
    chain = armature.ik2d.chains[0]
    for name, value in joint.items():
        setattr(chain.joints["b1"], name, value)
    with pytest.raises(IK2DError, match=f"Chain 'b3'.*{words}.* or set the solver to Automatic"):
        read_chain(armature, chain)
    assert problem_of(armature, chain)
    chain.solver = 'EVEN'
    assert problem_of(armature, chain) == ""


def test_locks_that_hold_a_joint_are_named():
    armature, chain = chain_of()
    assert problem_of(armature, chain) == ""
    armature.pose.bones["b2"].lock_rotation = (True, True, True)
    with pytest.raises(IK2DError, match="'b2' is held by locks, .*; unlock it or"):
        read_chain(armature, chain)
    assert "unlock it" in problem_of(armature, chain)
