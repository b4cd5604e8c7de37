# SPDX-License-Identifier: GPL-3.0-or-later
"""A target off its chain's plane: each cure leaves what was said of it, by Blender's evaluated pose."""

import bpy
import numpy as np
import pytest
from faults import aside, zigzag
from faulty_posts import arm_on_a_plate
from rigs import add_target, errors_on
from straight_arms import BENT, STRAIGHT, add_arm

from ik2d_addon.bake import bake
from ik2d_addon.bake.cures.as_shown import samples_as_shown
from ik2d_addon.bake.cures.off_plane import LABELS, off_plane
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.features.doctor.planes import plane_to_target
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.checks.bones import rest_joints
from ik2d_addon.rig.chain.planes import reach_of
from ik2d_addon.rig.chain.post import POST

FIRST, LAST = 1, 40
# The predicted and the evaluated distance agree to this part of the reach.
SAME = 2e-5
ROUND = {1: (0.4, 0.9, 1.2), 15: (-0.3, -0.8, 0.9), 28: (0.6, -0.2, 0.5), 40: (-0.5, 0.7, 1.0)}


def moved(armature):
    """Place the armature elsewhere, turned, scaled and with its target."""
    holder = add_target({}, "Holder")
    armature.parent = armature.ik2d.chains[0].target.parent = holder
    holder.location, holder.rotation_euler, holder.scale = (2.0, -1.0, 0.5), (0.3, -0.5, 0.8), (1.5, 1.5, 1.5)
    bpy.context.view_layer.update()


def zigzag_aside():
    """Return an arm whose joints and target are off its plane."""
    armature, chain = zigzag(off=0.3)
    for frame, shift in ((1, 0.5), (20, -0.7), (40, 0.4)):
        bpy.context.scene.frame_set(frame)
        chain.target.location.x += shift
        chain.target.keyframe_insert("location", frame=frame)
    return armature, chain


def far_zigzag():
    """Return an arm whose joints are off its plane, the target in it."""
    return zigzag(off=0.4)


def straight_round():
    """Return a straight arm whose target goes round it."""
    return add_arm(STRAIGHT, ROUND)


def bent_round_ccd():
    """Return a bent arm with CCD whose target leaves its plane."""
    return add_arm(BENT, ROUND, solver='CCD')


def in_a_moved_armature():
    """Return an arm of another place, turn and size."""
    armature, chain = zigzag_aside()
    moved(armature)
    return armature, chain


def with_a_turned_parent():
    """Return a leg that hangs on a keyed bone."""
    armature, chain = aside()
    body = armature.pose.bones["body"]
    for frame, turn in ((1, 0.0), (25, 0.6), (40, -0.3)):
        body.rotation_mode, body.rotation_euler = 'XYZ', (0.0, turn, 0.2)
        body.keyframe_insert("rotation_euler", frame=frame)
    return armature, chain


BUILDS = (
    *(aside, zigzag_aside, far_zigzag, straight_round, bent_round_ccd),
    *(in_a_moved_armature, with_a_turned_parent),
)


def judged(armature, chain):
    """Return how far the target is off the chain's plane, with the cures."""
    rig = read_chain(armature, chain)
    return off_plane(bpy.context.scene, chain, rig, FIRST, LAST, samples_as_shown)


def measured(armature, chain):
    """Return the mean distance from tip to target of the baked chain, by the evaluated pose."""
    bake(armature, [chain.name], FIRST, LAST)
    return float(np.mean(errors_on(range(FIRST, LAST + 1), armature, chain)))


def arm_on_a_table():
    """Return a robot arm in a plane that stays, whose table may turn."""
    armature, chain = arm_on_a_plate()
    bpy.context.scene.frame_end = LAST
    chain.plane, chain.post = 'AUTO', ""
    moved(armature)
    return armature, chain


@pytest.mark.parametrize(
    ("build", "way"),
    [*((build, way) for build in BUILDS for way in LABELS if way != POST), (arm_on_a_table, POST)],
)
def test_a_cure_leaves_what_was_said_of_it(build, way):
    armature, chain = build()
    off = judged(armature, chain)
    reach = reach_of(rest_joints(read_chain(armature, chain).pose_bones)) * armature.matrix_world.median_scale
    left = {cure.way: cure.left for cure in off.cures}
    before = measured(armature, chain)
    # A bake turns the plane of a straight chain by the times between the frames too.
    same = 1e-3 if build is straight_round else SAME
    assert off.mean == pytest.approx(before, abs=same * reach)
    if way == 'PLANE_TO_TARGET':
        plane_to_target(armature, chain, bpy.context.scene, FIRST, LAST)
    else:
        mend(way, armature, chain)
    after = measured(armature, chain)
    if way in left:
        assert after == pytest.approx(left[way], abs=SAME * reach)
        assert after <= 0.95 * before + SAME * reach
    else:
        assert after >= 0.95 * before - SAME * reach


@pytest.mark.parametrize("build", BUILDS)
def test_the_cure_that_brings_the_tip_nearest_is_first_and_a_bake_names_it(build):
    armature, chain = build()
    off = judged(armature, chain)
    assert off.cures and all(off.cures[0].left <= cure.left + 5e-3 for cure in off.cures)
    report = bake(armature, [chain.name], FIRST, LAST)
    assert [w for w in report.chains[0].warnings if f"; {off.cures[0].label} brings the tip" in w]


def test_flatten_is_not_first_where_the_target_is_off_the_plane():
    armature, chain = zigzag_aside()
    off = judged(armature, chain)
    assert off.cures[0].way == 'SWING' and off.cures[0].left <= off.tolerance
    assert off.advice == "; Swing with Target brings the tip to it"


def test_a_straight_arm_whose_target_is_off_its_plane_is_told():
    armature, chain = straight_round()
    off = judged(armature, chain)
    assert off.furthest > 0.1 and off.cures[0].way == 'SWING'
    chain.plane = 'SWING'
    assert judged(armature, chain) is None


def test_nothing_is_changed_by_judging():
    armature, chain = zigzag_aside()
    scene, objects = bpy.context.scene, len(bpy.data.objects)
    before = scene.frame_float, [tuple(bone.matrix_basis.translation) for bone in armature.pose.bones]
    plane, rest = chain.plane, rest_joints(read_chain(armature, chain).pose_bones)
    judged(armature, chain)
    assert (scene.frame_float, len(bpy.data.objects), chain.plane) == (before[0], objects, plane)
    assert (rest_joints(read_chain(armature, chain).pose_bones) == rest).all()


def test_a_target_that_a_constraint_moves_is_judged_where_it_is_shown():
    armature, chain = aside()
    carrier = add_target({1: (0.6, -0.4, 0.7), 40: (0.6, -0.4, 0.7)}, "Carrier")
    chain.target.animation_data_clear()
    chain.target.constraints.new('COPY_LOCATION').target = carrier
    bpy.context.view_layer.update()
    off = judged(armature, chain)
    assert off.frame == bpy.context.scene.frame_float
    assert off.cures[0].left == pytest.approx(0.0, abs=1e-4)
    assert off.mean == pytest.approx(measured(armature, chain), abs=1e-4)
