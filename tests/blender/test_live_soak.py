# SPDX-License-Identifier: GPL-3.0-or-later
"""Live chains through random actions: none fails, none says what is not so. `make soak` does thousands."""

import bpy
import pytest
from rigs import add_armature, add_target
from soak import races, soak


@pytest.mark.slow
def test_nothing_that_one_does_makes_live_chains_say_what_is_not_so(tmp_path):
    animator = soak(500, 3, str(tmp_path / "soak.blend"))
    assert animator.checked > 300
    animator.leave_modes()
    for armature in animator.armatures:
        bpy.data.objects.remove(armature)
    bpy.context.scene.frame_set(7)
    chains = animator.armature.ik2d.chains  # of a new rig
    bpy.context.view_layer.update()
    assert all("arget" in chain.live_status for chain in chains), [chain.live_status for chain in chains]


@pytest.mark.parametrize(
    ("has_target", "count", "differs"),
    [(False, 2, True), (False, 0, True), (False, 1, False), (True, 2, False)],
)
def test_a_pose_may_differ_where_ik_without_a_target_shares_a_bone_alone(has_target, count, differs):
    armature = add_armature(
        {f"b{i}": ((0.0, 0.0, i), (0.0, 0.0, i + 1.0), f"b{i - 1}" if i else "", 0.0) for i in range(3)}
    )
    for bone, chain_count, target in (("b1", 2, True), ("b2", count, has_target)):
        constraint = armature.pose.bones[bone].constraints.new('IK')
        constraint.target = add_target({1: (1.0, 0.0, 1.0)}, "Target") if target else None
        constraint.chain_count = chain_count
    assert races(armature) == differs
