# SPDX-License-Identifier: GPL-3.0-or-later
"""A hydraulic ram of two bones, a cylinder and a rod that aim at one another: no circle, live or baked."""

import bpy
import numpy as np
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.order import in_order

CYLINDER, ROD = "cylinder", "rod"
# The sine of an angle that 32-bit rotations leave.
CLOSE = 1e-5


def digger():
    """Return an arm of two bones on a base, with a ram from the base to the upper arm's middle."""
    armature = add_armature(
        {
            "base": ((0, 0, 0), (0, 0, 0.5), "", 0.0),
            "arm": ((0, 0, 0.5), (0, 1.0, 1.5), "base", 0.0),
            "fore": ((0, 1.0, 1.5), (0, 2.0, 1.2), "arm", 0.0),
            CYLINDER: ((0, 0.5, 0.1), (0, 0.55, 0.5), "base", 0.0),
            ROD: ((0, 0.6, 1.1), (0, 0.58, 0.7), "arm", 0.0),
        }
    )
    add_chain(armature, "fore", add_target({1: (0, 1.6, 1.0), 10: (0, 1.2, 2.0), 20: (0, 1.9, 0.6)}))
    add_chain(armature, CYLINDER, armature, 1, subtarget=ROD)
    add_chain(armature, ROD, armature, 1, subtarget=CYLINDER)
    return armature


def off_the_line(armature):
    """Return the sines between each bone of the ram, as Blender evaluates it, and the line of their heads."""
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    one, other = (np.array(shown.pose.bones[name].matrix) for name in (CYLINDER, ROD))
    line = other[:3, 3] - one[:3, 3]
    line /= np.linalg.norm(line)
    return [float(np.linalg.norm(np.cross(m[:3, 1], line))) for m in (one, other)], float(one[:3, 1] @ line)


def test_two_bones_that_aim_at_one_another_come_after_the_arm_that_moves_one():
    armature = digger()
    assert names_in_rounds(armature) == [["fore"], [CYLINDER, ROD]]


def test_the_baked_ram_is_one_line_on_every_frame():
    armature = digger()
    report = bake(armature, frame_start=1, frame_end=20)
    assert report.all_reached and not report.left_out, report.warnings
    for frame in range(1, 21):
        bpy.context.scene.frame_set(frame)
        sines, along = off_the_line(armature)
        assert max(sines) < CLOSE and along > 0, (frame, sines)


def test_the_live_ram_is_one_line():
    armature = digger()
    for chain in armature.ik2d.chains:
        chain.live = True
    for frame in (1, 7, 10, 16, 20):
        bpy.context.scene.frame_set(frame)
        sines, along = off_the_line(armature)
        assert max(sines) < CLOSE and along > 0, (frame, sines)
    assert not any("circle" in chain.live_status for chain in armature.ik2d.chains)


def names_in_rounds(armature):
    """Return the names of the chains, round by round."""
    rigs = [read_chain(armature, chain) for chain in armature.ik2d.chains]
    return [[rig.name for rig in ready] for ready in in_order(rigs)]


def test_a_hand_that_turns_with_a_bone_comes_after_the_chain_of_that_bone():
    armature = digger()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    hand = armature.data.edit_bones.new("hand")
    hand.parent = armature.data.edit_bones[CYLINDER]
    hand.head, hand.tail = hand.parent.tail, hand.parent.tail + hand.parent.vector
    bpy.ops.object.mode_set(mode='OBJECT')
    armature.ik2d.chains[CYLINDER].hand_rotation = 'TARGET'
    assert names_in_rounds(armature) == [["fore"], [ROD], [CYLINDER]]


def test_a_bone_that_slides_moves_its_own_head_and_what_aims_at_it():
    armature = digger()
    for name in (ROD, CYLINDER):
        joint = armature.ik2d.chains[name].joints[name]
        armature.ik2d.chains[name].aim_distance = True
        joint.use_slide, joint.slide_max = True, 0.2
        if name == ROD:
            assert names_in_rounds(armature) == [["fore"], [ROD], [CYLINDER]]
    with pytest.raises(IK2DError, match="circle"):
        names_in_rounds(armature)


def test_a_second_bone_of_a_chain_is_moved_by_the_first():
    armature = digger()
    armature.ik2d.chains[CYLINDER].subtarget = "fore"
    assert names_in_rounds(armature) == [["fore"], [CYLINDER, ROD]]
