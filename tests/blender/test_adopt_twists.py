# SPDX-License-Identifier: GPL-3.0-or-later
"""A first bone that is twisted by its own keys below the IK has its knee where Blender's IK has it.

By Blender's evaluated pose, on frames and half-way.
"""

from math import radians

import bpy
import numpy as np
import pytest
from ik_rigs import add_ik
from mathutils import Quaternion
from rigs import add_armature, add_chain, add_target, every_bit_of_animation
from snapshots import differences
from twisted_limbs import FIRST, HALVES, LAST, key_rotation, plane_angles, spans_at, twisted_limb
from whole_rig import whole_rig

from ik2d_addon.bake import bake
from ik2d_addon.bake.now import solve
from ik2d_addon.features.adopt.adopt import adopt, plan_adoption, release
from ik2d_addon.features.adopt.difference import differences as seen_before
from ik2d_addon.rig.animation.value_keys import curve_of

NEAR = 1e-3  # radians, of the plane
SAME = 1e-5  # of the entries of pose matrices


def matrices(armature, frames=range(FIRST, LAST + 1)) -> np.ndarray:
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        evaluated = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(bone.matrix) for bone in evaluated.pose.bones])
    return np.array(found)


def adopted(seed: int, **options):
    """Return a limb, the IK's lines and spans on it, and its chain."""
    armature = twisted_limb(seed, **options)
    bpy.context.view_layer.objects.active = armature
    before = spans_at(armature, HALVES)
    bpy.context.scene.frame_set(FIRST)
    (name,) = adopt(armature)
    return armature, before, armature.ik2d.chains[name]


@pytest.mark.parametrize("seed", range(32))
def test_the_plane_is_turned_as_the_ik_turned_it_live_and_baked(seed):
    armature, before, chain = adopted(seed)
    chain.live = True
    assert plane_angles(before, spans_at(armature, HALVES)).max() <= NEAR
    live = matrices(armature)
    bake(armature, None, FIRST, LAST)
    assert plane_angles(before, spans_at(armature, HALVES)).max() <= NEAR
    assert np.abs(matrices(armature) - live).max() <= SAME
    bake(armature, None, FIRST, LAST)  # whose keys have taken the place of those that twisted it
    assert plane_angles(before, spans_at(armature, HALVES)).max() <= NEAR


@pytest.mark.parametrize("seed", range(4))
def test_pose_this_frame_has_it_too(seed):
    armature, before, _ = adopted(seed)
    bpy.context.scene.frame_set(15)
    solve(armature)
    after = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    assert after is not None
    row = int(np.flatnonzero(HALVES == 15)[0])
    now = shown_now(armature)
    assert plane_angles([part[row : row + 1] for part in before], now).max() <= NEAR


def shown_now(armature):
    bones = [bone for bone in armature.pose.bones if bone.name != "body"]
    bpy.context.view_layer.update()
    joints = np.array([*(bone.head for bone in bones), bones[-1].tail])
    spokes = joints[1:] - joints[0]
    return spokes[-1:], np.cross(spokes[:-1], spokes[1:]).sum(axis=0)[None]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_said_as_carried_over_and_not_as_lost(seed):
    _, _, chain = adopted(seed)
    assert "turns of 'b0' below the IK, which turn its plane, as Plane Turn" in chain.adopted.carried
    assert "b0" not in chain.adopted.lost


@pytest.mark.parametrize("seed", range(6))
def test_restoring_takes_it_out_exactly(seed):
    armature = twisted_limb(seed)
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(FIRST)
    before, bits = whole_rig(armature), every_bit_of_animation(armature)
    (name,) = adopt(armature)
    path = f"{armature.ik2d.chains[name].path_from_id()}.plane_turn"
    assert curve_of(armature, path) is not None
    assert release(armature, name) == []
    bpy.context.scene.frame_set(FIRST)
    assert not differences(before, whole_rig(armature))
    assert every_bit_of_animation(armature) == bits


def test_a_twist_without_keys_is_one_value():
    armature = twisted_limb(1)
    armature.animation_data_clear()
    for ob in bpy.data.objects:
        ob.animation_data_clear()
    first = armature.pose.bones["b0"]
    first.rotation_mode = 'YXZ'
    first.rotation_euler = (0.0, radians(40.0), 0.0)
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    before = shown_now(armature.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    (name,) = adopt(armature)
    chain = armature.ik2d.chains[name]
    assert abs(chain.plane_turn) > 0.1 and armature.animation_data is None
    solve(armature)
    assert plane_angles(before, shown_now(armature)).max() <= NEAR
    release(armature, name)
    assert first.rotation_euler[:] == pytest.approx((0.0, radians(40.0), 0.0))


def test_a_bend_in_the_plane_turns_nothing():
    armature = twisted_limb(1, degrees=0.0)
    curves = armature.animation_data.action
    armature.animation_data_clear()
    bpy.data.actions.remove(curves)
    first = armature.pose.bones["b0"]
    first.matrix_basis = first.matrix_basis.Identity(4)
    bpy.context.view_layer.objects.active = armature
    bpy.context.view_layer.update()
    (name,) = adopt(armature)
    assert armature.ik2d.chains[name].plane_turn == 0.0


def test_the_dialog_compares_with_the_plane_turned():
    armature = twisted_limb(2)
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(FIRST)
    bits = every_bit_of_animation(armature)
    adoption = plan_adoption(armature, bpy.context.scene, None, 20)
    (found,) = seen_before(adoption, bpy.context.scene).values()
    assert found.part < 5e-3 and not found.unknown
    assert every_bit_of_animation(armature) == bits and not len(armature.ik2d.chains)


@pytest.mark.parametrize("mode", ['YXZ', 'QUATERNION'])
def test_a_single_bone_keeps_its_twist(mode):
    armature = add_armature(
        {"body": ((0, 0, 0), (0, 0, 1), "", 0.3), "b0": ((0, 0, 1), (0, 0.2, 2), "body", 0.7)}
    )
    target = add_target({FIRST: (0.3, 0.5, 1.8), 10: (1, 0, 1.3), LAST: (0, -1, 1.5)})
    add_ik(armature, "b0", target, 1, iterations=500)
    bone = armature.pose.bones["b0"]
    bone.rotation_mode = mode
    for frame, angle in ((FIRST, 0.0), (12, 1.0), (LAST, -0.5)):
        key_rotation(bone, Quaternion((0, 1, 0), angle), frame)
    bpy.context.view_layer.objects.active = armature
    before = matrices(armature)
    bpy.context.scene.frame_set(FIRST)
    (name,) = adopt(armature, ["b0"])
    assert armature.ik2d.chains[name].plane == 'ARC'
    bake(armature, None, FIRST, LAST)
    assert np.abs(matrices(armature) - before).max() <= NEAR


def test_a_linked_action_stays_and_the_twist_is_told_as_lost(tmp_path):
    armature = twisted_limb(1)
    bpy.context.view_layer.objects.active = armature
    path, action = str(tmp_path / "action.blend"), armature.animation_data.action
    bpy.data.libraries.write(path, {action})
    with bpy.data.libraries.load(path, link=True) as (_, here):
        here.actions = [action.name]
    (linked,) = here.actions
    armature.animation_data.action = linked
    if hasattr(armature.animation_data, "action_slot"):
        armature.animation_data.action_slot = linked.slots[0]
    bpy.context.scene.frame_set(FIRST)
    (name,) = adopt(armature)
    assert armature.animation_data.action == linked
    assert "turns of b0 besides the IK" in armature.ik2d.chains[name].adopted.lost.replace("'", "")


def test_a_limb_that_is_a_chain_already_stays_as_it_is():
    armature = twisted_limb(1)
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(FIRST)
    count = len(armature.pose.bones) - 1
    chain = add_chain(armature, f"b{count - 1}", bpy.data.objects["Target"], count)
    assert adopt(armature) == [chain.name] and chain.plane_turn == 0.0
