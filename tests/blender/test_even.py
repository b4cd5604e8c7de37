# SPDX-License-Identifier: GPL-3.0-or-later
"""Even in the rig: Automatic takes it, no frame knows of another, and the root's turn counts or not."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target, evaluated_tip, played_back_errors

from ik2d_addon.bake import bake, solve

WAY = {1: (0, 1.6, 1.2), 10: (0, -0.4, 2.4), 20: (0, 1.6, 1.2), 30: (0, 0.9, -1.0), 40: (0, 1.6, 1.2)}
REACH = 3.0


def tentacle(bones: int = 6, curl: float = 0.15, **settings):
    """Return an armature with a curled chain of equal bones along Z, and its chain."""
    joints, heading = [np.zeros(2)], 0.0
    for _ in range(bones):
        joints.append(joints[-1] + REACH / bones * np.array([np.sin(heading), np.cos(heading)]))
        heading += curl
    places = [(0.0, float(y), float(z)) for y, z in joints]
    armature = add_armature(
        {f"b{i}": (places[i], places[i + 1], f"b{i - 1}" if i else "", 0.1 * i) for i in range(bones)}
    )
    add_chain(armature, f"b{bones - 1}", add_target(WAY), bones, **settings)
    chain = armature.ik2d.chains[0]
    for i in range(bones):
        chain.joints.add().name = f"b{i}"
    return armature, chain


def poses(armature, frames) -> np.ndarray:
    """Return the bones' places (frames, n, 4, 4) as Blender plays them."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append([np.array(bone.matrix) for bone in armature.pose.bones])
    return np.array(found)


@pytest.mark.parametrize("bones, solver", [(1, 'EVEN'), (2, 'TWO_BONE'), (3, 'EVEN'), (6, 'EVEN')])
def test_automatic_takes_even_but_for_two_bones(bones, solver):
    armature, _ = tentacle(bones)
    (report,) = bake(armature, frame_start=1, frame_end=3).chains
    assert report.solver == solver


@pytest.mark.slow
@pytest.mark.parametrize("curl", [0.0, 0.15, -0.3])
@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("bend", ['POSITIVE', 'NEGATIVE'])
def test_the_tip_is_on_its_target_as_blender_plays_it(curl, free, bend):
    armature, chain = tentacle(curl=curl, root_turns_freely=free, bend=bend)
    report = bake(armature, frame_start=1, frame_end=40)
    assert report.all_reached, report.sentence()
    errors = [error for _, error in played_back_errors(armature, chain, range(1, 41))]
    assert max(errors) < 1e-5 * REACH


@pytest.mark.slow
@pytest.mark.parametrize("free", [True, False])
def test_the_same_target_gives_the_same_pose_whatever_came_before(free):
    armature, _ = tentacle(root_turns_freely=free)
    bake(armature, frame_start=1, frame_end=40)
    first, again, last = poses(armature, (1, 20, 40))
    assert np.abs(first - again).max() < 1e-5 and np.abs(first - last).max() < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"solver": 'EVEN'}, {"solver": 'CCD', "start_from": 'REST'}])
def test_solve_shows_what_bake_keys(settings):
    armature, _ = tentacle(**settings)
    bake(armature, frame_start=1, frame_end=40)
    frames = (1, 7, 23, 40)
    baked = poses(armature, frames)
    armature.animation_data.action = None
    for frame, expected in zip(frames, baked, strict=True):
        bpy.context.scene.frame_set(frame)
        solve(armature)
        bpy.context.view_layer.update()
        shown = np.array([np.array(bone.matrix) for bone in armature.pose.bones])
        assert np.abs(shown - expected).max() < 1e-5


@pytest.mark.slow
def test_ccd_from_rest_knows_nothing_of_other_frames_and_from_the_frame_before_does():
    parts = {}
    for start in ('REST', 'PREVIOUS'):
        armature, _ = tentacle(solver='CCD', start_from=start)
        whole = bake(armature, frame_start=1, frame_end=40)
        assert whole.all_reached
        at_once = poses(armature, (20,))
        armature.animation_data_clear()
        bake(armature, frame_start=20, frame_end=20)
        parts[start] = np.abs(at_once - poses(armature, (20,))).max()
        bpy.data.objects.remove(armature)
    assert parts['REST'] < 1e-5 < 1e-3 < parts['PREVIOUS']


def inner_turns(armature, frame) -> np.ndarray:
    """Return by how much each bone but the first is turned from rest, in radians."""
    bpy.context.scene.frame_set(frame)
    bones = list(armature.pose.bones)[1:]
    return np.array([bone.matrix_basis.to_quaternion().angle for bone in bones])


@pytest.mark.slow
def test_all_joints_share_the_bend_and_a_root_that_counts_takes_a_part_of_it():
    turned = {}
    for free in (True, False):
        armature, _ = tentacle(curl=0.1, root_turns_freely=free)
        bake(armature, frame_start=1, frame_end=1)
        turned[free] = inner_turns(armature, 1)
        bpy.context.scene.frame_set(1)
        root = armature.pose.bones[0].matrix_basis.to_quaternion().angle
        turned[free, "root"] = root
        bpy.data.objects.remove(armature)
    # The bend is spread: no joint turns three times as far as another, but the last, whose lever is short.
    assert turned[True][:-1].max() < 3.0 * turned[True][:-1].min()
    assert (turned[True] ** 2).sum() < (turned[False] ** 2).sum()
    assert turned[False, "root"] < turned[True, "root"]


@pytest.mark.slow
def test_limits_hold():
    armature, chain = tentacle(curl=0.0)
    for joint in chain.joints[1:]:
        joint.use_limit, joint.limit_min, joint.limit_max = True, -0.3, 0.3
    report = bake(armature, frame_start=1, frame_end=40)
    for frame in range(1, 41, 3):
        assert inner_turns(armature, frame).max() < 0.3 + 1e-4
    (chain_report,) = report.chains
    assert set(chain_report.status.tolist()) <= {0, 3}  # reached, or stopped by limits


@pytest.mark.slow
def test_a_root_that_is_held_does_not_turn():
    armature, chain = tentacle()
    chain.joints[0].weight = 0.0
    bake(armature, frame_start=1, frame_end=10)
    for frame in (1, 10):
        bpy.context.scene.frame_set(frame)
        assert armature.pose.bones[0].matrix_basis.to_quaternion().angle < 1e-5


@pytest.mark.slow
def test_a_chain_that_changes_its_lengths_is_followed():
    armature, chain = tentacle()
    bone = armature.pose.bones["b2"]
    for frame, scale in ((1, 1.0), (40, 1.4)):
        bone.scale = (1.0, scale, 1.0)
        bone.keyframe_insert("scale", frame=frame)
    for other in armature.data.bones:
        other.inherit_scale = 'NONE'
    report = bake(armature, frame_start=1, frame_end=40)
    assert report.all_reached, report.sentence()
    target = chain.target
    for frame in (1, 17, 40):
        bpy.context.scene.frame_set(frame)
        tip = evaluated_tip(armature, "b5")
        assert (tip - target.matrix_world.translation).length < 1e-4 * REACH
