# SPDX-License-Identifier: GPL-3.0-or-later
"""Clear Bake takes away the keys that a bake made, and no others."""

import bpy
import pytest
from rigs import (
    add_chain,
    add_target,
    animation_of,
    every_bit_of_animation,
    leg_with_target,
    settings_of,
    stretching_arm,
)

from ik2d_addon.bake import bake, clear
from ik2d_addon.bake.keys.clearing import clear_keys
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.results import bake_is_stale


def baked_leg():
    """Return an active leg that is baked from 1 to 40."""
    armature, _target = leg_with_target()
    bpy.context.scene.frame_end = 40
    bpy.context.view_layer.objects.active = armature
    bpy.ops.ik2d.bake()
    return armature


def frames_of(armature):
    """Return the frames of each curve."""
    return {channel: [key[0] for key in keys] for channel, keys in animation_of(armature).items()}


def test_it_removes_all_keys_of_the_bake_and_forgets_its_result():
    armature = baked_leg()
    assert bpy.ops.ik2d.clear_bake() == {'FINISHED'}
    assert not frames_of(armature)
    assert armature.ik2d.last_bake == armature.ik2d.chains[0].last_bake == ""


def test_the_function_does_what_the_operator_does():
    armature = baked_leg()
    assert clear(armature) == 8 * 40
    assert not frames_of(armature)


def test_keys_made_by_hand_stay_to_the_last_bit():
    armature, _target = leg_with_target()
    bone = armature.pose.bones["thigh"]
    for frame in (-20, 60):
        bone.rotation_quaternion = (0.8, 0.6 * frame / 60, 0, 0)
        bone.keyframe_insert("rotation_quaternion", frame=frame)
        bone.keyframe_insert("location", frame=frame)
        armature.pose.bones["body"].keyframe_insert("rotation_quaternion", frame=frame)
    by_hand = animation_of(armature)
    bake(armature, frame_start=1, frame_end=40)
    assert len(frames_of(armature)['pose.bones["thigh"].rotation_quaternion', 0]) == 42
    clear(armature)
    assert animation_of(armature) == by_hand


def test_a_range_is_cleared_alone():
    armature = baked_leg()
    bpy.ops.ik2d.clear_bake(frame_start=10, frame_end=20)
    assert set(map(tuple, frames_of(armature).values())) == {(*range(1, 10), *range(21, 41))}


@pytest.mark.parametrize("frames", [{}, {"frame_start": 1, "frame_end": 40}, {"frame_end": 60}])
def test_no_result_is_left_once_all_baked_keys_are_cleared(frames):
    armature = baked_leg()
    bpy.ops.ik2d.clear_bake(**frames)
    assert not frames_of(armature) and armature.ik2d.last_bake == armature.ik2d.chains[0].last_bake == ""
    assert bake_is_stale(armature, bpy.context.scene) == ""


def test_the_panels_own_range_is_the_one_that_is_cleared():
    armature = baked_leg()
    settings = armature.ik2d
    settings.use_custom_range, settings.frame_start, settings.frame_end = True, 5, 40
    bpy.ops.ik2d.clear_bake()
    assert set(map(tuple, frames_of(armature).values())) == {(1, 2, 3, 4)}


@pytest.mark.slow
def test_one_chain_is_cleared_alone():
    armature = baked_leg()
    add_chain(armature, "body", add_target({1: (0.0, 0.3, 2.5)}, "Head"), bone_count=1)
    bpy.ops.ik2d.bake()
    bpy.ops.ik2d.clear_bake(chain="body")
    assert {path.split('"')[1] for path, _ in frames_of(armature)} == {"thigh", "shin"}
    chains = armature.ik2d.chains
    assert chains["shin"].last_bake and not chains["body"].last_bake
    with pytest.raises(RuntimeError, match="no chain 'tail'"):
        bpy.ops.ik2d.clear_bake(chain="tail")


def test_one_undo_brings_the_keys_back():
    armature = baked_leg()
    before = every_bit_of_animation(armature)
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ik2d.clear_bake('EXEC_DEFAULT', True)
    assert not frames_of(armature)
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert every_bit_of_animation(armature) == before and armature.ik2d.last_bake


def test_locked_channels_keep_their_keys_and_are_named(capfd):
    from ik2d_addon.rig.animation.versions import existing_fcurves

    armature = baked_leg()
    for curve in existing_fcurves(armature):
        curve.lock = "thigh" in curve.data_path
    bpy.ops.ik2d.clear_bake()
    assert {path.split('"')[1] for path, _ in frames_of(armature)} == {"thigh"}
    assert "locked" in capfd.readouterr().out


def test_without_keys_there_is_nothing_to_clear():
    armature, _target = leg_with_target()
    bpy.context.view_layer.objects.active = armature
    with pytest.raises(RuntimeError, match="no baked keys"):
        bpy.ops.ik2d.clear_bake()
    assert clear_keys(armature, ["thigh", "shin"]).removed == 0


def everything(armature):
    """Return all that a refused Clear Bake must leave as it was."""
    chain = armature.ik2d.chains[0]
    owners = [armature.ik2d, chain, *chain.joints, *armature.pose.bones]
    return [settings_of(owner) for owner in owners], animation_of(armature)


REFUSED = [(False, {}), (False, {"frame_end": 9}), (True, {"frame_start": 80}), (True, {"chain": "gone"})]


@pytest.mark.parametrize(("is_baked", "arguments"), REFUSED)
def test_a_refused_clear_changes_nothing(is_baked, arguments):
    armature, _chain = stretching_arm()
    bpy.context.view_layer.objects.active = armature
    armature.keyframe_insert("location", frame=1)
    bpy.context.scene.frame_set(20)
    if is_baked:
        bpy.ops.ik2d.bake(frame_start=1, frame_end=3)
    else:
        bpy.ops.ik2d.solve()
        assert armature.pose.bones["bone0"].scale.y > 1.01
    before = everything(armature)
    with pytest.raises(RuntimeError, match="no baked keys|no chain"):
        bpy.ops.ik2d.clear_bake(**arguments)
    assert everything(armature) == before


def test_keys_of_a_linked_action_are_refused(tmp_path):
    armature = baked_leg()
    path = str(tmp_path / "rig.blend")
    bpy.data.libraries.write(path, {armature.animation_data.action})
    with bpy.data.libraries.load(path, link=True) as (_there, wanted):
        wanted.actions = [armature.animation_data.action.name]
    armature.animation_data.action = wanted.actions[0]
    if hasattr(armature.animation_data, "action_slot"):
        armature.animation_data.action_slot = wanted.actions[0].slots[0]
    with pytest.raises(IK2DError, match="linked"):
        clear(armature)
