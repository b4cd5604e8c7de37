# SPDX-License-Identifier: GPL-3.0-or-later
"""A chain as it stands in the viewport now."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import evaluated_tip, leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.native import make_native
from ik2d_addon.features.overlay import chain_view as module
from ik2d_addon.features.overlay.chain_view import ChainView, view_chain
from ik2d_addon.rig.chain.chain import read_chain


def seen(armature: bpy.types.Object) -> ChainView:
    """Return how the armature's first chain stands now."""
    bpy.context.view_layer.update()
    settings = armature.ik2d.chains[0]
    return view_chain(read_chain(armature, settings), settings)


def in_the_world(chain_view: ChainView, point) -> np.ndarray:
    """Return a point of the chain's plane in the world."""
    return (chain_view.to_world @ (*point, 0.0, 1.0))[:3]


def test_joints_are_where_blender_has_them_wherever_the_rig_is() -> None:
    armature, _ = leg_with_target()
    armature.matrix_world = Matrix.LocRotScale((3, 1, -2), Matrix.Rotation(0.7, 3, 'Y'), (2, 2, 2))
    armature.pose.bones["body"].rotation_quaternion = (0.9, 0.1, 0.2, 0.3)
    armature.pose.bones["body"].location = (0.3, 0.1, 0)
    solve(armature)
    chain_view = seen(armature)
    bones = [armature.pose.bones[name] for name in chain_view.bones]
    posed = [armature.matrix_world @ place for place in (bones[0].head, bones[1].head, bones[1].tail)]
    for joint, place in zip(chain_view.joints, posed, strict=True):
        assert in_the_world(chain_view, joint) == pytest.approx(np.array(place), abs=1e-5)
    assert chain_view.tip == pytest.approx(np.array(evaluated_tip(armature, "shin")), abs=1e-6)
    assert chain_view.scale == pytest.approx(2.0, abs=1e-5)
    assert chain_view.joints[0] == pytest.approx([0, 0], abs=1e-5)


def test_a_reached_target_needs_no_reason() -> None:
    armature, _ = leg_with_target()
    bpy.context.scene.frame_set(10)
    solve(armature)
    assert seen(armature).why_missed == module.REACHED


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ((0, 0, -2), module.OUT_OF_REACH),
        ((0, 0, 1.95), module.TOO_CLOSE),
        ((0, -0.9, 0.8), module.NOT_SOLVED),
    ],
)
def test_a_missed_target_has_one(place, why) -> None:
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = place
    assert seen(armature).why_missed == why


def test_limits_and_the_plane_are_reasons_too() -> None:
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0.4, -0.9, 0.8)
    solve(armature)
    assert seen(armature).why_missed == module.OFF_THE_PLANE
    joint = armature.ik2d.chains[0].joints[1]
    joint.limit_min, joint.limit_max, joint.use_limit = 0.0, 0.1, True
    target.location = (0, -0.5, 1.7)
    assert seen(armature).why_missed == module.STOPPED


def test_a_fan_opens_about_the_bone_before_and_the_needle_is_the_bone() -> None:
    armature, _ = leg_with_target()
    joint = armature.ik2d.chains[0].joints["shin"]
    joint.limit_min, joint.limit_max, joint.use_limit = math.radians(-20), math.radians(150), True
    bpy.context.scene.frame_set(10)
    solve(armature)
    chain_view = seen(armature)
    low, high, needle = chain_view.fan(1)
    assert high - low == pytest.approx(math.radians(170), abs=1e-6)
    assert low <= needle <= high
    bone = chain_view.joints[2] - chain_view.joints[1]
    pointing = math.atan2(bone[1], bone[0])
    assert math.remainder(needle - pointing, 2 * math.pi) == pytest.approx(0, abs=1e-9)
    turned = needle - low + joint.limit_min  # from rest, by the needle
    quaternion = armature.pose.bones["shin"].matrix_basis.to_quaternion()
    assert abs(turned) == pytest.approx(quaternion.angle, abs=1e-4)
    assert not np.isfinite(chain_view.fan(0)[:2]).any()


def test_a_chain_that_stretches_reaches_further_and_is_seen_as_it_was() -> None:
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0, -0.2, -0.2)
    for name in ("thigh", "shin"):
        armature.data.bones[name].inherit_scale = 'ALIGNED'
    rigid = seen(armature)
    armature.ik2d.chains[0].stretch = 1.5
    solve(armature)
    stretched = seen(armature)
    assert stretched.why_missed == module.REACHED
    assert stretched.reach[1] == pytest.approx(1.5 * rigid.reach[1], rel=1e-5)
    assert stretched.chain.lengths == pytest.approx(rigid.chain.lengths, rel=1e-5)
    assert np.linalg.norm(stretched.joints[-1]) > 1.05 * rigid.reach[1]
    target.location = (0, -0.2, -2.0)
    assert seen(armature).why_missed == module.OUT_OF_REACH


def test_a_chain_that_slides_reaches_further_too() -> None:
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0, -0.2, -0.2)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones["shin"].use_connect = False
    bpy.ops.object.mode_set(mode='OBJECT')
    armature.ik2d.chains[0].joints["shin"].use_slide = True
    armature.ik2d.chains[0].joints["shin"].slide_max = 0.5
    armature.ik2d.chains[0].solver = 'EVEN'
    before = seen(armature)
    solve(armature)
    after = seen(armature)
    assert after.why_missed == module.REACHED
    assert after.reach == pytest.approx(before.reach, rel=1e-5)
    assert before.why_missed == module.NOT_SOLVED
    rigid = sum(np.linalg.norm(np.diff(before.joints, axis=0), axis=1))
    assert after.reach[1] == pytest.approx(rigid + 0.5, rel=1e-4)


def test_a_native_chain_is_seen_as_its_controls_are_set() -> None:
    armature, _ = leg_with_target()
    controls = make_native(armature, armature.ik2d.chains[0]).controls
    controls["bend"], controls["softness"] = -1.0, 0.25
    chain_view = seen(armature)
    assert (chain_view.settings.bend, chain_view.settings.softness) == (-1.0, 0.25)


def test_numbers_that_are_none_are_refused() -> None:
    armature, target = leg_with_target()
    target.animation_data_clear()
    settings = armature.ik2d.chains[0]
    rig = read_chain(armature, settings)
    target.matrix_world[0][3] = math.nan
    with pytest.raises(IK2DError, match="no finite place"):
        view_chain(rig, settings)


def test_reading_leaves_everything_as_it_was() -> None:
    armature, _ = leg_with_target()
    bpy.context.view_layer.update()
    objects = set(bpy.data.objects)
    settings = armature.ik2d.chains[0]
    rig = read_chain(armature, settings)
    updates = []
    handler = lambda *_: updates.append(1)  # noqa: E731
    bpy.app.handlers.depsgraph_update_post.append(handler)
    try:
        view_chain(rig, settings)
        bpy.context.view_layer.update()
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(handler)
    assert set(bpy.data.objects) == objects and not updates
