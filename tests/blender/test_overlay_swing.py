# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay of chains whose planes follow a target or a pole: it is that of the frame."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from swing_rigs import RULES, follow, move_about, random_limb

from ik2d_addon.bake import solve
from ik2d_addon.features.overlay import figure as figures
from ik2d_addon.features.overlay.chain_view import OFF_THE_PLANE, REACHED, view_chain
from ik2d_addon.features.overlay.figure import THIN, Figure
from ik2d_addon.rig.chain.chain import read_chain

COLOR = (1.0, 1.0, 1.0)


def seen(limb, chain):
    bpy.context.view_layer.update()
    return view_chain(read_chain(limb.armature, chain), chain)


def moving(seed, rule, count):
    limb = random_limb(seed, count, flat=True, uneven=False)
    chain = follow(limb, rule, pole_angle=limb.rng.uniform(-np.pi, np.pi))
    move_about(limb, chain)
    return limb, chain


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_the_plane_of_each_frame_holds_the_posed_joints_and_the_target(count, rule):
    limb, chain = moving(700 + count, rule, count)
    normals = []
    for frame in (2, 11):
        bpy.context.scene.frame_set(frame)
        solve(limb.armature)
        view = seen(limb, chain)
        posed = [limb.armature.matrix_world @ joint for joint in map(Vector, limb.joints)]
        assert np.abs(figures.lifted(view, view.joints) - posed).max() <= 1e-5 * limb.size
        assert abs(view.flat(view.target)[2]) <= 1e-5 * view.chain.reach[1]
        assert view.why_missed == REACHED
        normals.append(view.to_world[:3, 2] / np.linalg.norm(view.to_world[:3, 2]))
    assert normals[0] @ normals[1] < 0.999


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_line_goes_from_the_knee_to_the_pole(count):
    limb, chain = moving(710 + count, 'POLE', count)
    bpy.context.scene.frame_set(5)
    solve(limb.armature)
    figure, view = Figure(), seen(limb, chain)
    figures.draw_pole(figure, view, COLOR)
    ((points, _),) = figure.lines[THIN]
    assert points[-1] == pytest.approx(np.array(chain.pole.matrix_world.translation), rel=1e-5)
    inside = view.joints[1] if count == 2 else view.joints[2] if count == 4 else view.joints.mean(axis=0)
    assert points[0] == pytest.approx(figures.lifted(view, inside), rel=1e-5)

    chain.plane = 'SWING'
    figure = Figure()
    figures.draw_pole(figure, seen(limb, chain), COLOR)
    assert figure.lines[THIN] == []


def test_one_bone_that_aims_misses_only_what_is_off_its_plane():
    limb, chain = moving(720, 'ARC', 1)
    for frame in (3, 9):
        bpy.context.scene.frame_set(frame)
        solve(limb.armature)
        assert seen(limb, chain).why_missed == REACHED
    chain.plane, chain.plane_normal = 'CUSTOM', tuple(np.cross(limb.rng.normal(size=3), limb.joints[1]))
    solve(limb.armature)
    assert seen(limb, chain).why_missed == OFF_THE_PLANE
