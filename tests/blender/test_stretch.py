# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and compress, judged by the pose that Blender evaluates."""

import bpy
import numpy as np
import pytest
from rigs import (
    add_chain,
    add_leg,
    add_target,
    errors_on,
    stretching_arm,
)

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.core import IK2DError

REACH = 2.0
FRAMES = range(1, 41)
# Well beyond double the reach, and back.
TOO_FAR = {1: (0, 0.5, 1.0), 20: (0, 4.0, 4.0), 40: (0, -0.5, 0.8)}
LONG_FIRST, LONG_LAST = (1.4, 0.3, 0.3), (0.3, 0.3, 1.4)  # their inner reach is 0.8
TOO_CLOSE = {1: (0, 1.0, 0.5), 20: (0, 0.5, 0.3), 40: (0, -0.6, 0.9)}


@pytest.mark.slow
@pytest.mark.parametrize("stretch_bones, stretch", (('ALL', 2.0), ('LAST', 6.0)))
@pytest.mark.parametrize(
    "inherit, lengths, solver, softness",
    (
        ('NONE', (1.0, 1.0), 'AUTO', 0.0),
        ('NONE', (0.8, 0.5, 0.7), 'CCD', 0.1),
        ('ALIGNED', (1.0, 1.0), 'CCD', 0.0),
        ('ALIGNED', (0.8, 0.5, 0.7), 'AUTO', 0.1),
        ('NONE_LEGACY', (0.8, 0.5, 0.7), 'CCD', 0.0),
    ),
)
def test_the_tip_stays_on_a_target_that_goes_beyond_reach(
    inherit, lengths, solver, stretch_bones, stretch, softness
):
    settings = {"stretch_bones": stretch_bones, "stretch": stretch, "softness": softness, "solver": solver}
    armature, chain = stretching_arm(inherit, lengths, **settings)
    report = bake(armature)
    assert report.all_reached and report.max_error <= 1e-3
    assert errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH
    factors = report.chains[0].joints.stretch
    assert factors.min() == 1.0 and factors.max() > 1.4


@pytest.mark.slow
@pytest.mark.parametrize("stretch_bones", ('ALL', 'LAST'))
@pytest.mark.parametrize("lengths", ((1.0, 1.0), (0.8, 0.5, 0.7)))
def test_with_softness_no_joint_snaps(lengths, stretch_bones):
    speeds = {}
    for softness in (0.0, 0.1):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        keys = {1: (0, 1.2, 0.5), 40: (0, 2.2, 1.0)}
        armature, chain = stretching_arm(
            lengths=lengths, keys=keys, softness=softness, stretch_bones=stretch_bones, stretch=3.0
        )
        speeds[softness] = bake(armature).chains[0].joints.speed.max()
        assert errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH
    assert speeds[0.1] <= 0.5 * speeds[0.0]


@pytest.mark.slow
@pytest.mark.parametrize("stretch_bones, most", (('ALL', 4.0), ('LAST', 3.0)))
def test_beyond_the_greatest_factor_the_true_distance_is_told(stretch_bones, most):
    armature, chain = stretching_arm(keys=TOO_FAR, stretch_bones=stretch_bones)
    report = bake(armature, options=BakeOptions(verify='ALL'))
    missed = np.array(report.to_dict()["chains"][0]["status"]) == 'TOO_FAR'
    distances = errors_on(FRAMES, armature, chain)
    assert 3 < missed.sum() < 40 and (distances[~missed] <= 1e-5 * REACH).all()
    bpy.context.scene.frame_set(20)
    assert distances[19] == pytest.approx(np.sqrt(32.0) - most, abs=1e-5)
    assert report.chains[0].residual == pytest.approx(distances, abs=1e-5)
    assert report.chains[0].joints.stretch.max() == 2.0
    (used_up,) = [warning for warning in report.warnings if "stretched to its most" in warning]
    assert used_up.startswith(
        f"Chain '{chain.name}': stretched to its most, 2 times, on {missed.sum()} frames"
    )


def test_softness_with_all_length_used_up_is_told_too():
    armature, chain = stretching_arm(keys=TOO_FAR, softness=0.1)
    report = bake(armature)
    assert "TOO_FAR" in report.to_dict()["chains"][0]["status"]
    assert report.chains[0].residual == pytest.approx(errors_on(FRAMES, armature, chain), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    "lengths, stretch_bones, compress, softness",
    (
        (LONG_FIRST, 'ALL', 0.3, 0.05),
        (LONG_FIRST, 'ALL', 4.0, 0.0),
        (LONG_LAST, 'ALL', 0.3, 0.0),
        (LONG_LAST, 'LAST', 0.3, 0.05),
        (LONG_LAST, 'LAST', 4.0, 0.0),
    ),
)
def test_bones_shorten_where_the_target_is_too_close(lengths, stretch_bones, compress, softness):
    settings = {"stretch": 1.0, "stretch_bones": stretch_bones, "softness": softness}
    armature, chain = stretching_arm(lengths=lengths, keys=TOO_CLOSE, compress=compress, **settings)
    report = bake(armature)
    assert report.all_reached and report.chains[0].joints.stretch.min() < 0.8
    assert errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH
    chain.compress = 1.0
    bake(armature)
    assert errors_on(FRAMES, armature, chain).max() > 0.1


def test_closer_than_the_bones_may_shorten_is_too_close():
    armature, chain = stretching_arm(lengths=LONG_FIRST, keys=TOO_CLOSE, stretch=1.0, compress=0.9)
    report = bake(armature)
    assert "TOO_CLOSE" in report.to_dict()["chains"][0]["status"]
    assert report.chains[0].residual == pytest.approx(errors_on(FRAMES, armature, chain), abs=1e-5)
    assert any("compressed to its least, 0.9 times" in warning for warning in report.warnings)


@pytest.mark.parametrize("live", (False, True), ids=("baked", "live"))
@pytest.mark.parametrize("lengths", ((0.9, 1.1), (0.2, 0.8, 1.1)), ids=str)
def test_a_last_bone_that_shortens_softly_lets_the_tip_go_to_the_root(lengths, live):
    keys = {1: (0, 0.5, 0.3), 20: (0, 0.02, 0.01), 40: (0, -0.4, 0.3)}
    settings = {"stretch": 1.0, "compress": 0.1, "softness": 0.5, "stretch_bones": 'LAST'}
    armature, chain = stretching_arm(lengths=lengths, keys=keys, **settings)
    if live:
        chain.live = True
    else:
        report = bake(armature)
        assert report.all_reached and report.chains[0].joints.stretch.min() < 0.85
    assert errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH


@pytest.mark.slow
@pytest.mark.parametrize("mode", ('FULL', 'FIX_SHEAR', 'AVERAGE'))
def test_inherit_scale_that_would_shear_or_thicken_is_refused(mode):
    armature, chain = stretching_arm('NONE', (0.8, 0.5, 0.7))
    armature.data.bones["bone1"].inherit_scale = mode
    for attempt in (bake, solve):
        with pytest.raises(IK2DError, match="'bone1' would .* set its Inherit Scale to Aligned or None"):
            attempt(armature)
    assert armature.animation_data is None and armature.data.bones["bone1"].inherit_scale == mode
    chain.stretch_bones, chain.stretch = 'LAST', 6.0
    assert bake(armature).all_reached and errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH


def test_a_first_bone_of_any_inheritance_stretches():
    armature = add_leg()
    armature.data.bones["shin"].inherit_scale = 'NONE'
    chain = add_chain(armature, "shin", add_target({1: (0, 0.2, 0.3), 40: (0, 0, -1.0)}), stretch=2.0)
    armature.pose.bones["body"].scale = (1.2, 1.2, 1.2)
    bpy.context.scene.frame_end = 40
    assert bake(armature).all_reached and errors_on(FRAMES, armature, chain).max() <= 2e-5


@pytest.mark.slow
def test_a_chain_above_another_carries_it_while_it_stretches():
    armature, chain = stretching_arm('NONE', (0.8, 0.5, 0.7, 0.6))
    chain.name, chain.tip, chain.bone_count, chain.stretch = "upper", "bone1", 2, 3.0
    lower = add_chain(armature, "bone3", add_target({1: (0, 1.0, 1.5), 40: (0, 2.5, 1.5)}, "Other"))
    report = bake(armature)
    assert report.left_out == () and report.chains[0].reached
    assert errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH
    assert report.chains[1].distance == pytest.approx(errors_on(FRAMES, armature, lower), abs=1e-5)
    assert 5 < (report.chains[1].distance <= 1e-5).sum() < 40


@pytest.mark.slow
@pytest.mark.parametrize(
    "stretch_bones, stretch, solver", (('ALL', 2.0, 'AUTO'), ('LAST', 6.0, 'AUTO'), ('ALL', 2.0, 'CCD'))
)
@pytest.mark.parametrize("lengths", ((1.0, 1.0), (0.8, 0.5, 0.7)))
def test_a_knee_that_cannot_straighten_is_made_up_for(lengths, stretch_bones, stretch, solver):
    settings = {"stretch_bones": stretch_bones, "stretch": stretch, "solver": solver}
    armature, chain = stretching_arm(lengths=lengths, keys={1: (0, 1.0, 1.0), 40: (0, 2.5, 2.0)}, **settings)
    knee = chain.joints["bone1"]
    knee.use_limit, knee.limit_min, knee.limit_max = True, -0.2, 2.0  # bent by 0.2 radians at least
    report = bake(armature)
    assert report.all_reached and errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH
    assert report.chains[0].joints.stretch[-1] > 1.6


def test_a_root_that_cannot_turn_to_its_target_does_not_stretch_for_it():
    armature, chain = stretching_arm(keys={1: (0, 1.5, 0.5), 40: (0, -0.7, 1.8)})
    for joint, low in ((chain.joints["bone0"], -0.5), (chain.joints["bone1"], -0.3)):
        joint.use_limit, joint.limit_min, joint.limit_max = True, low, 0.5
    report = bake(armature)
    assert report.to_dict()["chains"][0]["status"][-1] == 'LIMITED'
    assert report.chains[0].joints.stretch[-1] == 1.0 and report.chains[0].distance[-1] > 0.3


@pytest.mark.slow
@pytest.mark.parametrize("inherit", ('NONE', 'ALIGNED'))
def test_bones_that_start_beside_their_parents_tails_reach_too(inherit):
    armature, chain = stretching_arm(inherit, (0.8, 0.5, 0.7))
    bpy.ops.object.mode_set(mode='EDIT')
    for name in ("bone1", "bone2"):
        bone = armature.data.edit_bones[name]
        bone.use_connect = False
        bone.head.z, bone.tail.z = bone.head.z + 0.1, bone.tail.z + 0.1
    bpy.ops.object.mode_set(mode='OBJECT')
    assert bake(armature, step=4).chains[0].reached is False
    assert errors_on(FRAMES, armature, chain)[::4].max() <= 1e-5 * REACH


@pytest.mark.slow
def test_limits_hold_while_the_chain_stretches():
    armature, chain = stretching_arm('NONE', (0.8, 0.5, 0.7), softness=0.1)
    chain.joints["bone1"].use_limit = True
    chain.joints["bone1"].limit_min, chain.joints["bone1"].limit_max = -1.0, 1.5
    assert bake(armature).all_reached and errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH
