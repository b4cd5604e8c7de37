# SPDX-License-Identifier: GPL-3.0-or-later
"""Stretch and compress, judged by the pose that Blender evaluates."""

import bpy
import numpy as np
import pytest
from rigs import (
    add_chain,
    add_leg,
    add_target,
    animation_of,
    evaluated_tip,
    every_bit_of_animation,
    played_back_errors,
    stretching_arm,
)

from ik2d_addon.bake import BakeOptions, bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.compat import existing_fcurves
from ik2d_addon.ui.baking import clear_bake

REACH = 2.0
FRAMES = range(1, 41)
# Well beyond double the reach, and back.
TOO_FAR = {1: (0, 0.5, 1.0), 20: (0, 4.0, 4.0), 40: (0, -0.5, 0.8)}
LONG_FIRST, LONG_LAST = (1.4, 0.3, 0.3), (0.3, 0.3, 1.4)  # their inner reach is 0.8
TOO_CLOSE = {1: (0, 1.0, 0.5), 20: (0, 0.5, 0.3), 40: (0, -0.6, 0.9)}


def errors(armature, chain):
    """Return how far Blender's tip is from its target on the frames."""
    return np.array([error for _, error in played_back_errors(armature, chain, FRAMES)])


def scales(armature):
    """Return the keys {bone: values} of the bones' scales; nothing else of a scale may be keyed."""
    curves = [curve for curve in existing_fcurves(armature) if curve.data_path.endswith("scale")]
    assert all(curve.array_index == 1 for curve in curves)
    return {
        curve.data_path.split('"')[1]: [point.co[1] for point in curve.keyframe_points] for curve in curves
    }


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
    assert errors(armature, chain).max() <= 1e-5 * REACH
    factors = report.chains[0].stretch
    assert factors.min() == 1.0 and factors.max() > 1.4


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
        speeds[softness] = bake(armature).chains[0].joint_speed.max()
        assert errors(armature, chain).max() <= 1e-5 * REACH
    assert speeds[0.1] <= 0.5 * speeds[0.0]


@pytest.mark.parametrize("stretch_bones, most", (('ALL', 4.0), ('LAST', 3.0)))
def test_beyond_the_greatest_factor_the_true_distance_is_told(stretch_bones, most):
    armature, chain = stretching_arm(keys=TOO_FAR, stretch_bones=stretch_bones)
    report = bake(armature, options=BakeOptions(verify='ALL'))
    missed = np.array(report.to_dict()["chains"][0]["status"]) == 'TOO_FAR'
    distances = errors(armature, chain)
    assert 3 < missed.sum() < 40 and (distances[~missed] <= 1e-5 * REACH).all()
    bpy.context.scene.frame_set(20)
    assert distances[19] == pytest.approx(np.sqrt(32.0) - most, abs=1e-5)
    assert report.chains[0].residual == pytest.approx(distances, abs=1e-5)
    assert report.chains[0].stretch.max() == 2.0
    (used_up,) = [warning for warning in report.warnings if "stretched to its most" in warning]
    assert used_up.startswith(
        f"Chain '{chain.name}': stretched to its most, 2 times, on {missed.sum()} frames"
    )


def test_softness_with_all_length_used_up_is_told_too():
    armature, chain = stretching_arm(keys=TOO_FAR, softness=0.1)
    report = bake(armature)
    assert "TOO_FAR" in report.to_dict()["chains"][0]["status"]
    assert report.chains[0].residual == pytest.approx(errors(armature, chain), abs=1e-5)


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
    assert report.all_reached and report.chains[0].stretch.min() < 0.8
    assert errors(armature, chain).max() <= 1e-5 * REACH
    chain.compress = 1.0
    bake(armature)
    assert errors(armature, chain).max() > 0.1


def test_closer_than_the_bones_may_shorten_is_too_close():
    armature, chain = stretching_arm(lengths=LONG_FIRST, keys=TOO_CLOSE, stretch=1.0, compress=0.9)
    report = bake(armature)
    assert "TOO_CLOSE" in report.to_dict()["chains"][0]["status"]
    assert report.chains[0].residual == pytest.approx(errors(armature, chain), abs=1e-5)
    assert any("compressed to its least, 0.9 times" in warning for warning in report.warnings)


def test_only_the_y_scale_of_bones_that_need_it_is_keyed():
    armature, chain = stretching_arm('NONE', (0.8, 0.5, 0.7))
    bake(armature)
    found = scales(armature)
    assert list(found) == ["bone0", "bone1", "bone2"]
    assert max(found["bone0"]) > 1.2 and found["bone0"] == found["bone1"] == found["bone2"]
    chain.stretch_bones = 'LAST'
    bake(armature)
    assert list(scales(armature)) == ["bone2"]


def test_a_bone_that_is_aligned_has_the_factor_from_its_parent():
    armature, _ = stretching_arm('ALIGNED', (0.8, 0.5, 0.7))
    bake(armature)
    assert list(scales(armature)) == ["bone0"]
    bpy.context.scene.frame_set(20)
    lengths = [(bone.tail - bone.head).length for bone in armature.pose.bones]
    assert lengths[0] / 0.8 == pytest.approx(lengths[1] / 0.5) == pytest.approx(lengths[2] / 0.7)


@pytest.mark.parametrize("mode", ('FULL', 'FIX_SHEAR', 'AVERAGE'))
def test_inherit_scale_that_would_shear_or_thicken_is_refused(mode):
    armature, chain = stretching_arm('NONE', (0.8, 0.5, 0.7))
    armature.data.bones["bone1"].inherit_scale = mode
    for attempt in (bake, solve):
        with pytest.raises(IK2DError, match="'bone1' would .* set its Inherit Scale to Aligned or None"):
            attempt(armature)
    assert armature.animation_data is None and armature.data.bones["bone1"].inherit_scale == mode
    chain.stretch_bones, chain.stretch = 'LAST', 6.0
    assert bake(armature).all_reached and errors(armature, chain).max() <= 1e-5 * REACH


def test_a_first_bone_of_any_inheritance_stretches():
    armature = add_leg()
    armature.data.bones["shin"].inherit_scale = 'NONE'
    chain = add_chain(armature, "shin", add_target({1: (0, 0.2, 0.3), 40: (0, 0, -1.0)}), stretch=2.0)
    armature.pose.bones["body"].scale = (1.2, 1.2, 1.2)
    bpy.context.scene.frame_end = 40
    assert bake(armature).all_reached and errors(armature, chain).max() <= 2e-5


@pytest.mark.parametrize("inherit", ('NONE', 'ALIGNED'))
def test_a_scale_of_ones_own_is_multiplied_and_comes_back_to_the_bit(inherit):
    armature, chain = stretching_arm(inherit, (0.8, 0.5, 0.7))
    own = [(1.0, 1.1, 1.0), (1.0, 0.9, 1.0), (0.7, 1.3, 1.1)]
    for bone, scale in zip(armature.pose.bones, own, strict=True):
        bone.scale = scale
    before = [tuple(bone.scale) for bone in armature.pose.bones]
    for _ in range(2):
        bake(armature)
        assert errors(armature, chain).max() <= 1e-5 * REACH
        assert min(scales(armature)["bone0"]) == pytest.approx(1.1)
    bpy.context.scene.frame_set(20)
    assert [tuple(bone.scale) for bone in armature.pose.bones] != before
    assert clear_bake(armature) > 0
    assert [tuple(bone.scale) for bone in armature.pose.bones] == before
    assert not animation_of(armature)


def test_turned_off_again_a_bake_leaves_no_scale():
    armature, chain = stretching_arm()
    armature.pose.bones["bone1"].scale[1] = 0.9
    bake(armature)
    chain.stretch = 1.0
    report = bake(armature)
    assert scales(armature) == {} and report.chains[0].stretch is None
    assert [bone.scale[1] for bone in armature.pose.bones] == [1.0, np.float32(0.9)]
    bpy.context.scene.frame_set(20)
    assert [bone.scale[1] for bone in armature.pose.bones] == [1.0, np.float32(0.9)]


def test_turned_off_for_a_part_the_rest_of_the_stretch_stays():
    armature, chain = stretching_arm()
    bake(armature)
    chain.stretch = 1.0
    bake(armature, frame_start=1, frame_end=10)
    assert errors(armature, chain)[19] <= 1e-5 * REACH
    bpy.context.scene.frame_set(5)
    assert [bone.scale[1] for bone in armature.pose.bones] == pytest.approx([1.0, 1.0], abs=1e-6)
    bake(armature)
    assert scales(armature) == {}


def test_solve_poses_the_stretch_once_and_takes_it_back():
    armature, chain = stretching_arm()
    armature.pose.bones["bone0"].scale[1] = 1.25
    bpy.context.scene.frame_set(20)
    for _ in range(2):
        assert solve(armature).all_reached
        bpy.context.view_layer.update()
        assert (evaluated_tip(armature, "bone1") - chain.target.location).length <= 1e-5 * REACH
    assert armature.pose.bones["bone0"].scale[1] > 1.5
    chain.stretch = 1.0
    solve(armature)
    assert [bone.scale[1] for bone in armature.pose.bones] == [1.25, 1.0]


def test_a_scale_set_by_hand_after_a_solve_is_the_bones_own():
    armature, chain = stretching_arm()
    bpy.context.scene.frame_set(20)
    solve(armature)
    armature.pose.bones["bone0"].scale[1] = 0.75
    chain.stretch = 1.0
    solve(armature)
    assert armature.pose.bones["bone0"].scale[1] == 0.75


def test_influence_blends_the_length_too():
    armature, chain = stretching_arm()
    armature.pose.bones["bone0"].scale[1] = 1.5
    full = bake(armature).chains[0].stretch
    chain.influence = 0.5
    report = bake(armature)
    assert report.chains[0].stretch == pytest.approx(1.0 + 0.5 * (full - 1.0))
    assert report.chains[0].distance == pytest.approx(errors(armature, chain), abs=1e-5)
    assert max(scales(armature)["bone0"]) == pytest.approx(1.5 * report.chains[0].stretch.max(), abs=1e-5)


@pytest.mark.parametrize(
    "stretch_bones, softness, bound", (('ALL', 0.1, 0.1), ('ALL', 0.0, 0.001), ('LAST', 0.1, 0.001))
)
def test_reduced_keys_keep_the_bound(stretch_bones, softness, bound):
    armature, chain = stretching_arm(stretch_bones=stretch_bones, softness=softness, stretch=5.0)
    report = bake(armature, options=BakeOptions(reduce=bound, verify='ALL'))
    assert errors(armature, chain).max() <= bound + 1e-5 * REACH
    assert report.chains[0].between.max() <= 1.1 * bound
    assert all(len(values) <= 40 for values in scales(armature).values())


def test_reduced_scales_get_few_keys_where_these_do():
    armature, chain = stretching_arm(softness=0.2)
    bake(armature, options=BakeOptions(reduce=0.1))
    assert 2 <= len(scales(armature)["bone0"]) < 20


def test_every_second_frame_and_the_targets_own_keys():
    armature, chain = stretching_arm(softness=0.1)
    bake(armature, step=3)
    assert len(scales(armature)["bone0"]) == 14
    bake(armature, options=BakeOptions(on_target_keys=True))
    assert len(scales(armature)["bone0"]) == 3
    assert errors(armature, chain)[[0, 19, 39]].max() <= 1e-5 * REACH


def test_a_bake_that_fails_leaves_scale_and_keys_as_they_were(monkeypatch):
    armature, chain = stretching_arm()
    armature.pose.bones["bone0"].scale[1] = 1.5
    bake(armature)

    def fail(*_arguments, **_settings):
        raise IK2DError("no")

    state = every_bit_of_animation(armature), [tuple(bone.scale) for bone in armature.pose.bones]
    monkeypatch.setattr("ik2d_addon.bake.pipeline.report_of", fail)
    for stretch in (3.0, 1.0):
        chain.stretch = stretch
        with pytest.raises(IK2DError):
            bake(armature)
        with pytest.raises(IK2DError):
            solve(armature)
        assert (
            every_bit_of_animation(armature),
            [tuple(bone.scale) for bone in armature.pose.bones],
        ) == state
    monkeypatch.undo()
    clear_bake(armature)
    assert [bone.scale[1] for bone in armature.pose.bones] == [1.5, 1.0]


def test_bones_beside_the_chain_that_are_scaled_with_it_are_told():
    armature, chain = stretching_arm()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name in ("hand", "glove"):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = armature.data.edit_bones["bone1"].tail, (0, 2, 2)
        bone.parent = armature.data.edit_bones["bone1"]
    bpy.ops.object.mode_set(mode='OBJECT')
    (note,) = [warning for warning in bake(armature).warnings if "hangs on it" in warning]
    assert "'hand', and 1 more," in note
    for name in ("hand", "glove"):
        armature.data.bones[name].inherit_scale = 'NONE'
    assert not bake(armature).warnings


def test_a_chain_above_another_carries_it_while_it_stretches():
    armature, chain = stretching_arm('NONE', (0.8, 0.5, 0.7, 0.6))
    chain.name, chain.tip, chain.bone_count, chain.stretch = "upper", "bone1", 2, 3.0
    lower = add_chain(armature, "bone3", add_target({1: (0, 1.0, 1.5), 40: (0, 2.5, 1.5)}, "Other"))
    report = bake(armature)
    assert report.left_out == () and report.chains[0].reached
    assert errors(armature, chain).max() <= 1e-5 * REACH
    assert report.chains[1].distance == pytest.approx(errors(armature, lower), abs=1e-5)
    assert 5 < (report.chains[1].distance <= 1e-5).sum() < 40


def test_limits_hold_while_the_chain_stretches():
    armature, chain = stretching_arm('NONE', (0.8, 0.5, 0.7), softness=0.1)
    chain.joints["bone1"].use_limit = True
    chain.joints["bone1"].limit_min, chain.joints["bone1"].limit_max = -1.0, 1.5
    assert bake(armature).all_reached and errors(armature, chain).max() <= 1e-5 * REACH
