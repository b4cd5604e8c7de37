# SPDX-License-Identifier: GPL-3.0-or-later
"""Plane Turn turns a plane that follows its target about the line to that, wherever a chain is solved."""

from math import radians

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector
from rigs import add_chain, add_target, stored_settings
from swing_rigs import LAST, RULES, follow, joints_on, misses, move_about, random_limb
from test_mirror import MIRROR, joints, legs

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.bake.motionless import may_move
from ik2d_addon.chains import mirror_chain
from ik2d_addon.core import IK2DError
from ik2d_addon.features.drag.drag import take_hold
from ik2d_addon.features.overlay import figure as figures
from ik2d_addon.features.overlay.chain_view import view_chain
from ik2d_addon.rig.animation.value_keys import curve_of
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.pose.pole_angle import keep_pose

FRAMES = range(1, LAST + 1)
NEAR = 2e-5  # of the limb's length
TURN = 0.7


def turning(seed: int, rule: str, count: int):
    """Return a limb whose chain's target moves, and the chain."""
    limb = random_limb(seed, count, flat=True, uneven=False)
    chain = follow(limb, rule, pole_angle=limb.rng.uniform(-np.pi, np.pi))
    move_about(limb, chain)
    return limb, chain


def key_turn(limb, chain) -> None:
    """Key the turn of a chain's plane over the frames, back and forth."""
    for frame, turn in ((1, 0.0), (LAST // 2, 1.2), (LAST, -0.8)):
        chain.plane_turn = turn
        chain.keyframe_insert("plane_turn", frame=frame)


def turned(before: np.ndarray, angle: float) -> np.ndarray:
    """Return joints (n + 1, 3) turned about the line from root to tip."""
    about = Matrix.Rotation(angle, 3, Vector(before[-1] - before[0]))
    return (before - before[0]) @ np.array(about).T + before[0]


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("rule", RULES)
def test_the_joints_turn_about_the_line_to_the_tip(rule, count):
    limb, chain = turning(810 + count, rule, count)
    bpy.context.scene.frame_set(4)
    solve(limb.armature)
    before = limb.joints
    for turn in (TURN, -2.0, 3.0):
        chain.plane_turn = turn
        solve(limb.armature)
        assert np.abs(limb.joints - turned(before, turn)).max() <= NEAR * limb.reach


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_a_keyed_turn_is_the_same_live_and_baked_on_frames_and_half_way(rule, count):
    limb, chain = turning(820 + count, rule, count)
    bake(limb.armature, None, 1, LAST)
    plain = joints_on(limb, FRAMES)
    bpy.ops.ik2d.clear_bake()
    chain.live = False
    key_turn(limb, chain)
    chain.live = True
    live = joints_on(limb, FRAMES)
    again = joints_on(limb, FRAMES)  # as they were kept
    chain.live = False
    bake(limb.armature, None, 1, LAST)
    baked = joints_on(limb, FRAMES)
    assert np.abs(live - baked).max() <= NEAR and np.abs(again - baked).max() <= NEAR
    curve = curve_of(limb.armature, f"{chain.path_from_id()}.plane_turn")
    for frame in FRAMES:
        wanted = turned(plain[frame - 1], curve.evaluate(frame))
        assert np.abs(baked[frame - 1] - wanted).max() <= 2.0 * NEAR
    if count > 1:
        assert misses(limb, chain, np.arange(1.5, LAST)).max() <= 2e-3


def test_flips_are_eased_with_the_turn_on_top():
    limb, chain = turning(830, 'SWING', 2)
    chain.plane_turn = TURN
    bake(limb.armature, None, 1, LAST)
    own = joints_on(limb, FRAMES)
    bake(limb.armature, None, 1, LAST, options=BakeOptions(ease_flips=True))
    assert np.abs(joints_on(limb, FRAMES) - own).max() <= 0.2
    assert misses(limb, chain, FRAMES).max() <= NEAR


def test_a_kept_frame_is_not_shown_after_its_turn_has_changed():
    limb, chain = turning(831, 'SWING', 2)
    chain.live = True
    before = joints_on(limb, FRAMES)
    bpy.context.scene.frame_set(1)
    chain.plane_turn = TURN
    bpy.context.view_layer.update()
    after = joints_on(limb, FRAMES)
    for one, other in zip(before, after, strict=True):
        assert np.abs(other - turned(one, TURN)).max() <= 2.0 * NEAR


@pytest.mark.parametrize("rule", RULES)
def test_the_overlay_and_a_drag_have_the_plane_turned(rule):
    limb, chain = turning(840, rule, 3)
    bpy.context.scene.frame_set(5)
    chain.target.animation_data_clear()
    chain.plane_turn = TURN
    solve(limb.armature)
    before = limb.joints
    bpy.context.view_layer.update()
    view = view_chain(read_chain(limb.armature, chain), chain)
    posed = [limb.armature.matrix_world @ joint for joint in map(Vector, before)]
    assert np.abs(figures.lifted(view, view.joints) - posed).max() <= NEAR * limb.size
    drag = take_hold(bpy.context.scene, limb.armature, chain.name)
    drag.to((0.0, 0.0))
    assert np.abs(limb.joints - before).max() <= NEAR * limb.reach
    drag.to((0.1 * limb.size, -0.05 * limb.size))
    shown = limb.joints
    assert np.abs(shown - before).max() > 0.01 * limb.reach
    solve(limb.armature)
    assert np.abs(limb.joints - shown).max() <= NEAR * limb.reach


def test_the_angle_that_keeps_a_pose_keeps_a_plane_that_is_turned():
    limb, chain = turning(850, 'POLE', 2)
    bpy.context.scene.frame_set(5)
    chain.plane_turn = TURN
    solve(limb.armature)
    before = limb.joints
    chain.pole_angle = 0.0
    keep_pose(chain)
    solve(limb.armature)
    assert np.abs(limb.joints - before).max() <= NEAR * limb.reach


def test_it_is_mirrored():
    armature = legs(front=True)
    chain = add_chain(armature, "shin.L", add_target({1: (0.7, -0.3, 0.6)}), plane='SWING')
    bpy.context.scene.frame_set(1)
    chain.plane_turn = TURN
    other = mirror_chain(armature, chain)
    assert other.plane_turn == pytest.approx(-TURN)
    solve(armature)
    assert np.abs(joints(armature, "R") - MIRROR * joints(armature, "L")).max() <= 1e-5


def test_a_chain_whose_turn_has_keys_does_not_keep_still():
    armature = legs(front=True)
    chain = add_chain(armature, "shin.L", add_target({}), plane='SWING')
    assert not may_move(chain)
    chain.plane_turn = radians(10.0)
    chain.keyframe_insert("plane_turn", frame=1)
    assert may_move(chain)


@pytest.mark.parametrize("plane", ['AUTO', 'X'])
def test_a_plane_that_stays_is_not_turned(plane):
    armature = legs(front=True)
    chain = add_chain(armature, "shin.L", add_target({1: (0.7, -0.3, 0.6)}), plane=plane)
    solve(armature)
    before = joints(armature, "L")
    chain.plane_turn = TURN
    solve(armature)
    assert np.abs(joints(armature, "L") - before).max() == 0.0
    chain.live = True
    bpy.context.scene.frame_set(2)
    assert np.abs(joints(armature, "L") - before).max() <= 1e-6


def test_a_turn_that_is_no_number_is_refused_and_named():
    armature = legs(front=True)
    chain = add_chain(armature, "shin.L", add_target({1: (0.7, -0.3, 0.6)}), plane='SWING')
    solve(armature)
    chain.live = True
    before = joints(armature, "L")
    stored_settings(armature)["chains"][0]["plane_turn"] = float("nan")
    with pytest.raises(IK2DError, match="its setting Plane Turn holds nan"):
        solve(armature)
    bpy.context.scene.frame_set(2)
    assert np.abs(joints(armature, "L") - before).max() <= 1e-6
