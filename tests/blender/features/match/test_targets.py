# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a target has to be for it to stand on a tip."""

import bpy
import numpy as np
import pytest
from rigs import add_chain, add_leg, add_target, evaluated_place, evaluated_tip, leg_with_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.match.targets import current_pose, in_rounds, locations_on_tips, on_frames
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.scene.live_pause import live_paused


def test_locations_bring_the_target_to_the_tip_and_nothing_is_left_behind():
    armature, target = leg_with_target()
    target.parent = add_target({1: (3, 0, 0), 20: (0, 5, 1)}, "Parent")
    target.parent.scale = (2, 1, 0.3)
    rig, before = read_chain(armature, armature.ik2d.chains[0]), tuple(target.location)
    (found,), (seen,) = locations_on_tips(on_frames(bpy.context.scene, [1, 7, 20]), [rig])
    assert tuple(target.location) == before and len(bpy.data.actions) == 2
    assert np.abs(seen.targets - seen.tips).max() < 1e-5
    target.animation_data_clear()
    for frame, location in zip((1, 7, 20), found, strict=True):
        bpy.context.scene.frame_set(frame)
        target.location = location
        bpy.context.view_layer.update()
        assert (evaluated_place(target) - evaluated_tip(armature, "shin")).length < 1e-5


def test_as_it_stands_counts_what_was_moved_by_hand():
    armature, target = leg_with_target()
    armature.pose.bones["shin"].rotation_mode = 'XYZ'
    armature.pose.bones["shin"].rotation_euler.x = 0.7
    bpy.context.view_layer.update()
    before = tuple(target.location)
    (found,), _ = locations_on_tips(
        current_pose(bpy.context.scene), [read_chain(armature, armature.ik2d.chains[0])]
    )
    assert tuple(target.location) == before
    assert np.abs(found[0] - np.array(evaluated_tip(armature, "shin"))).max() < 1e-5


def test_a_constraint_that_is_not_linear_is_refused_where_it_stops_the_target():
    armature, target = leg_with_target()
    limit = target.constraints.new('LIMIT_DISTANCE')
    limit.target, limit.distance, limit.limit_mode = add_target({}, "Ball"), 0.05, 'LIMITDIST_INSIDE'
    limit.target.location = (0, 0, 3.0)
    rig = read_chain(armature, armature.ik2d.chains[0])
    with live_paused(), pytest.raises(IK2DError, match="mute its constraint 'Limit Distance'"):
        locations_on_tips(on_frames(bpy.context.scene, [1, 7]), [rig])


@pytest.mark.parametrize(
    "far, scale, near", [(4000, 900, 1e-3), (4000, 1, 1e-3), (300, 1, 5e-5), (0, 1e4, 1e-5)]
)
def test_a_target_that_hangs_on_something_far_or_large_gets_as_near_as_32_bits_let_it(far, scale, near):
    armature, target = leg_with_target()
    target.parent = add_target({1: (far, 0, 0), 20: (far, 50, 1)}, "Parent")
    target.parent.rotation_euler, target.parent.scale = (0.3, 0.4, 0.5), (scale, scale, scale)
    rig = read_chain(armature, armature.ik2d.chains[0])
    _, (seen,) = locations_on_tips(on_frames(bpy.context.scene, [1, 7, 20]), [rig])
    assert np.abs(seen.targets - seen.tips).max() < near


def test_targets_that_move_others_come_first():
    armature, other = add_leg(), add_leg("Other")
    above, below = add_target({}, "Above"), add_target({}, "Below")
    below.parent = above
    rigs = [
        read_chain(other, add_chain(other, "shin", below, name="second")),
        read_chain(armature, add_chain(armature, "shin", above, name="first")),
    ]
    assert [[rig.name for rig in ready] for ready in in_rounds(rigs)] == [["first"], ["second"]]
    below.parent = None
    assert len(in_rounds(rigs)) == 1
