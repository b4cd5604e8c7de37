# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job on a rig that we did not make: the human metarig of Blender's own Rigify."""

import bpy
import numpy as np
import pytest
from faults import examine
from rigify_rigs import add_metarig, rigify
from rigs import add_chain, add_target, played_back_errors

from ik2d_addon.bake import bake
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints


@pytest.fixture
def metarig():
    """The human metarig."""
    with rigify():
        yield add_metarig("human")


@pytest.mark.slow
def test_nothing_is_wrong_with_its_limbs_of_two_bones(metarig):
    for tip in ("shin.L", "shin.R", "forearm.L", "forearm.R"):
        chain = add_chain(metarig, tip, add_target({1: metarig.data.bones[tip].tail_local}, tip))
        assert examine(metarig, chain, 1, 40) == [], tip


@pytest.mark.slow
@pytest.mark.parametrize("tip, count", [("hand.L", 3), ("toe.R", 3), ("spine.006", 6), ("f_index.03.L", 3)])
def test_its_longer_chains_can_be_laid_flat(metarig, tip, count):
    chain = add_chain(metarig, tip, add_target({1: metarig.data.bones[tip].tail_local}), count)
    lengths = np.array([bone.length for bone in metarig.data.bones])
    before = [finding.kind for finding in examine(metarig, chain, 1, 40)]
    assert bpy.ops.ik2d.mend(way='FLATTEN') == {'FINISHED'}
    chain.target.animation_data_clear()
    chain.target.location = metarig.data.bones[tip].tail_local
    bpy.context.view_layer.update()
    assert examine(metarig, chain, 1, 40) == [] and before in ([], ['OFF_PLANE'])
    rig = read_chain(metarig, chain)
    chain.target.location = rig.plane.lift(0.6 * rig.plane.project(rest_joints(rig.pose_bones)[-1]))
    report = bake(metarig, frame_start=1, frame_end=1)
    assert report.all_reached
    for _, error in played_back_errors(metarig, chain, (1,)):
        assert error <= 1e-5 * report.chains[0].standard.reach
    assert np.abs(np.array([bone.length for bone in metarig.data.bones]) - lengths).max() < 1e-5


@pytest.mark.slow
def test_both_legs_of_the_human_metarig_follow_keyed_feet(metarig):
    chains = []
    for side in ("L", "R"):
        ankle = metarig.data.bones[f"shin.{side}"].tail_local
        sign = 1 if side == "L" else -1
        keys = {
            frame: (ankle.x, ankle.y + 0.25 * sign * swing, ankle.z + lift)
            for frame, swing, lift in ((1, -1, 0.05), (12, 0, 0.30), (25, 1, 0.08), (40, -0.5, 0.2))
        }
        target = add_target(keys, f"Foot.{side}")
        chains.append(add_chain(metarig, f"shin.{side}", target, plane='X', name=f"Leg.{side}"))
    report = bake(metarig, frame_start=1, frame_end=40)
    assert report.all_reached
    for chain, chain_report in zip(chains, report.chains, strict=True):
        assert chain_report.bones == (f"thigh{chain.name[-2:]}", f"shin{chain.name[-2:]}")
        for frame, error in played_back_errors(metarig, chain, range(1, 41)):
            assert error <= 1e-5 * chain_report.standard.reach, (chain.name, frame, error)


@pytest.mark.slow
def test_knees_of_the_metarig_bend_forward_in_the_fitted_plane(metarig):
    for side in ("L", "R"):
        ankle = metarig.data.bones[f"shin.{side}"].tail_local
        add_chain(metarig, f"shin.{side}", add_target({1: (ankle.x, 0.1, 0.5)}, f"Foot.{side}"))
    report = bake(metarig, frame_start=1, frame_end=1)
    assert report.all_reached
    bpy.context.scene.frame_set(1)
    for side in ("L", "R"):
        bone = metarig.pose.bones[f"shin.{side}"]
        straight = (metarig.pose.bones[f"thigh.{side}"].head.y + bone.tail.y) / 2
        assert bone.head.y < straight - 0.1  # forward is -Y in Blender
        assert report.chains[0].off_plane[0] < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("tip, hand", [("shin.L", "foot.L"), ("forearm.R", "hand.R")])
def test_its_feet_and_hands_keep_their_orientation(metarig, tip, hand):
    place = np.array(metarig.pose.bones[tip].tail)
    target = add_target({1: place, 8: place + (0.0, -0.1, 0.1), 16: place + (0.0, 0.1, 0.05)}, tip)
    add_chain(metarig, tip, target, hand_rotation='WORLD')
    assert bake(metarig, frame_start=1, frame_end=16).chains[0].played.hands.bones == (hand,)
    rest = np.array(metarig.data.bones[hand].matrix_local.to_3x3())
    for frame in range(1, 17):
        bpy.context.scene.frame_set(frame)
        evaluated = metarig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        shown = np.array(evaluated.pose.bones[hand].matrix.to_3x3())
        assert np.abs(shown - rest).max() < 3e-5  # rest matrices are that far off rotations
