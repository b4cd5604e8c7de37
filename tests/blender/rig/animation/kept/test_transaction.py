# SPDX-License-Identifier: GPL-3.0-or-later
"""Several writes are done as a whole or not at all, with what they have kept."""

import bpy
import pytest
from rig.animation.kept.test_keeping import keyed_leg
from rigs import every_bit_of_animation, leg_with_target

from ik2d_addon.bake import bake, clear
from ik2d_addon.rig.animation.kept.transaction import restored_on_error


def contents(armature):
    """Return an armature's F-Curves, and the names of all actions."""
    return every_bit_of_animation(armature).get("curves"), sorted(action.name for action in bpy.data.actions)


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("baked_before", [True, False])
def test_a_failure_restores_keys_kept_motion_and_properties(keyed, baked_before):
    armature, target = leg_with_target()
    chain = armature.ik2d.chains[0]
    if keyed:
        for frame in (1, 9, 30):
            armature.pose.bones["shin"].keyframe_insert("rotation_quaternion", frame=frame)
    if baked_before:
        bake(armature, frame_start=3, frame_end=12)
    before = contents(armature)
    with pytest.raises(RuntimeError), restored_on_error([armature, target], [(chain, "softness")]):
        clear(armature)
        bake(armature, frame_start=1, frame_end=40)
        chain.softness = 0.25
        raise RuntimeError
    assert contents(armature) == before and chain.softness == 0.0


def test_without_a_failure_all_stays_and_nothing_is_left_over():
    armature, _curve = keyed_leg()
    before = contents(armature)[1]
    with restored_on_error([armature], []):
        armature.pose.bones["shin"].keyframe_insert("rotation_euler", frame=50)
    assert contents(armature)[1] == before
