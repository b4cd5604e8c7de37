# SPDX-License-Identifier: GPL-3.0-or-later
"""The overlay of a chain on a post: its plane as it is turned, the post's axis, and its limits about that."""

import bpy
import numpy as np
import pytest
from mathutils import Vector
from post_rigs import robot_arm, turret
from rigs import evaluated_tip, every_bit_of_animation

from ik2d_addon.bake import solve
from ik2d_addon.features.overlay import figure as figures
from ik2d_addon.features.overlay.chain_view import NOT_SOLVED, REACHED, view_chain
from ik2d_addon.features.overlay.figure import BOLD, THIN, Figure
from ik2d_addon.features.overlay.target_path import find_path
from ik2d_addon.rig.chain.chain import read_chain

COLOR, STOP = (1.0, 1.0, 1.0), (1.0, 0.0, 0.0)
SEEDS = [0, 4, 8, 16, 34]


def seen(armature, chain):
    bpy.context.view_layer.update()
    return view_chain(read_chain(armature, chain), chain)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_plane_of_each_frame_holds_the_posed_joints_and_the_target(seed):
    made = turret(seed)
    chain, normals = made.add_chain(), []
    for frame in (2, 13):
        bpy.context.scene.frame_set(frame)
        assert seen(made.armature, chain).why_missed == NOT_SOLVED
        solve(made.armature)
        view = seen(made.armature, chain)
        tip = evaluated_tip(made.armature, made.bones[-1])
        assert (
            np.abs(
                figures.lifted(view, view.joints[-1]) + view.to_world[:3, 2] * view.flat(tip)[2] - tip
            ).max()
            <= 1e-5 * made.reach
        )
        assert view.why_missed == REACHED and view.post.is_solved
        normals.append(view.to_world[:3, 2] / np.linalg.norm(view.to_world[:3, 2]))
    assert normals[0] @ normals[1] < 0.999


@pytest.mark.parametrize("seed", SEEDS)
def test_a_line_goes_along_the_axis_that_the_post_turns_about(seed):
    made = turret(seed)
    chain = made.add_chain()
    bpy.context.scene.frame_set(5)
    solve(made.armature)
    post, figure = seen(made.armature, chain).post, Figure()
    figures.draw_post(figure, seen(made.armature, chain), COLOR)
    ((points, _),) = figure.lines[BOLD]
    along = post.axis[1] - post.axis[0]
    head = np.array(made.armature.matrix_world @ made.post.head)
    assert (
        np.linalg.norm(np.cross(points - head, along / np.linalg.norm(along)), axis=1).max()
        <= 1e-5 * made.reach
    )
    # Places on it stay where they are, however the post turns: those in its own space are found again.
    own = made.post.matrix.inverted() @ made.armature.matrix_world.inverted()
    before = [own @ Vector(end) for end in post.axis]
    made.turn_post(1.0) if made.post.rotation_mode in ('QUATERNION', 'AXIS_ANGLE') else setattr(
        made.post, "rotation_euler", [a + (i == made.axis) for i, a in enumerate(made.post.rotation_euler)]
    )
    bpy.context.view_layer.update()
    own = made.post.matrix.inverted() @ made.armature.matrix_world.inverted()
    for end, place in zip(post.axis, before, strict=True):
        assert (own @ Vector(end) - place).length * made.armature.matrix_world.to_scale()[
            0
        ] <= 1e-4 * made.reach
    joints = np.array([made.armature.matrix_world @ made.armature.pose.bones[b].head for b in made.bones])
    heights, ends = (joints - head) @ along, (post.axis - head) @ along
    assert ends.min() <= min(heights.min(), 0.0) and ends.max() >= max(heights.max(), 0.0)


def test_a_needle_leads_to_the_arm_and_stops_at_the_ends_of_its_fan():
    armature, chain = robot_arm()
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, -0.5, np.pi / 2
    for frame, stopped in ((1, False), (12, False), (24, True)):
        bpy.context.scene.frame_set(frame)
        solve(armature)
        view, figure = seen(armature, chain), Figure()
        figures.draw_post_limits(figure, view, COLOR, STOP)
        ((needle, color),) = figure.lines[BOLD]
        assert (color[:3] == STOP) == stopped
        towards = np.array(evaluated_tip(armature, "lower"))[:2]
        needle = (needle[1] - needle[0])[:2]
        assert needle @ towards >= 0.999999 * np.linalg.norm(needle) * np.linalg.norm(towards)
        ((outline, _),) = figure.lines[THIN]
        assert np.abs(outline[:, 2] - 0.0).max() <= 1e-6  # across the axis, at the post's head
    assert view.why_missed == "stopped by the post's limits"
    bpy.context.scene.frame_set(1)
    chain.use_post_limit = False
    figure = Figure()
    figures.draw_post_limits(figure, seen(armature, chain), COLOR, STOP)
    assert not figure.triangles and figure.lines == Figure().lines


def test_chains_without_a_post_get_no_line():
    armature, chain = robot_arm()
    chain.plane = 'AUTO'
    view, figure = seen(armature, chain), Figure()
    figures.draw_post(figure, view, COLOR)
    figures.draw_post_limits(figure, view, COLOR, STOP)
    assert view.post is None and figure.lines == Figure().lines


@pytest.mark.parametrize("seed", (0, 16))
def test_the_path_of_a_target_all_round_is_followed_and_leaves_no_keys(seed):
    made = turret(seed)
    chain = made.add_chain()
    before = every_bit_of_animation(made.armature)
    assert not find_path(made.armature, chain, bpy.context.scene).missed.any()
    assert every_bit_of_animation(made.armature) == before
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, -0.2, 0.2
    assert find_path(made.armature, chain, bpy.context.scene).missed.any()
