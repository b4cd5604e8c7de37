# SPDX-License-Identifier: GPL-3.0-or-later
"""Key Target: target, pole and foot get keys where they are, or a sentence says why not."""

import bpy
import pytest
from foot_rigs import plain_leg
from rigs import add_armature, add_chain, add_leg, add_target, animation_of, evaluated_place, leg_with_target

from ik2d_addon.core import IK2DError
from ik2d_addon.features.keying.key_target import key_target
from ik2d_addon.features.native import make_native
from ik2d_addon.features.pole.pole import add_pole

PLACES = {("location", index) for index in range(3)}


def leg(**settings):
    """Return the leg, and its target without any keys."""
    armature, target = leg_with_target(**settings)
    target.animation_data_clear()
    return armature, target


def frames_of(ob, path="location"):
    """Return the frames on which each channel of a property has keys."""
    return {
        index: [int(key[0]) for key in keys]
        for (name, index), keys in animation_of(ob).items()
        if name == path
    }


def test_the_target_stays_on_each_frame_where_it_was_keyed():
    armature, target = leg()
    scene, places = bpy.context.scene, {}
    for frame, height in ((1, 0.3), (12, 0.6), (30, 0.1)):
        scene.frame_set(frame)
        target.location.z = height
        bpy.context.view_layer.update()
        places[frame] = evaluated_place(target)
        assert key_target(scene, armature.ik2d.chains[0]) == ["Target"]
    for frame, place in places.items():
        scene.frame_set(frame)
        assert (evaluated_place(target) - place).length < 1e-6
    assert frames_of(target) == dict.fromkeys(range(3), [1, 12, 30]) and not animation_of(armature)


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_the_operator_keys_it_in_both_modes_without_auto_keying(mode, capfd):
    armature, target = leg()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode=mode)
    bpy.context.scene.frame_set(7)
    assert bpy.ops.ik2d.key_target() == {'FINISHED'}
    assert frames_of(target) == dict.fromkeys(range(3), [7])
    assert "Keyed 'Target' at frame 7" in capfd.readouterr().out


def test_with_the_target_active_its_chain_is_the_one():
    armature, _ = leg()
    other = add_target({}, name="Other")
    add_chain(armature, "thigh", other, bone_count=1)
    bpy.context.view_layer.objects.active = other
    assert bpy.ops.ik2d.key_target() == {'FINISHED'}
    assert set(animation_of(other)) == PLACES and not animation_of(armature.ik2d.chains[0].target)


def test_a_pole_is_keyed_with_the_target():
    armature, target = leg()
    pole = add_pole(armature, armature.ik2d.chains[0])
    assert key_target(bpy.context.scene, armature.ik2d.chains[0]) == ["Target", pole.name]
    assert set(animation_of(pole)) == set(animation_of(target)) == PLACES


def test_a_foots_control_is_keyed_with_its_turn_and_its_roll():
    foot = plain_leg()
    chain = foot.armature.ik2d.chains[0]
    chain.foot.roll, chain.foot.toe = 0.3, -0.2
    key_target(bpy.context.scene, chain)
    assert set(animation_of(foot.control)) == PLACES | {("rotation_euler", index) for index in range(3)}
    assert set(animation_of(foot.armature)) == {
        ("ik2d.chains[0].foot.roll", 0),
        ("ik2d.chains[0].foot.toe", 0),
    }
    chain.foot.roll = 0.0
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    assert chain.foot.roll == pytest.approx(0.3)


def test_a_foot_on_drivers_is_keyed_on_its_controls():
    foot = plain_leg()
    chain = foot.armature.ik2d.chains[0]
    controls = make_native(foot.armature, chain).controls
    key_target(bpy.context.scene, chain)
    assert {path for path, _ in animation_of(controls)} == {'["roll"]', '["toe"]'}


def test_a_target_bone_is_keyed_into_its_own_group():
    bones = {
        "thigh": ((0, 0, 2), (0, 0.1, 1), "", 0.0),
        "shin": ((0, 0.1, 1), (0, 0, 0), "thigh", 0.0),
        "ctrl": ((0, 0, 0), (0, 0.3, 0), "", 0.0),
    }
    armature = add_armature(bones)
    add_chain(armature, "shin", armature, subtarget="ctrl")
    assert key_target(bpy.context.scene, armature.ik2d.chains[0]) == ["ctrl"]
    assert {path for path, _ in animation_of(armature)} == {'pose.bones["ctrl"].location'}


def test_locked_channels_are_left_out():
    armature, target = leg()
    target.lock_location = True, False, False
    key_target(bpy.context.scene, armature.ik2d.chains[0])
    assert set(animation_of(target)) == PLACES - {("location", 0)}


def locked_everywhere(target):
    target.lock_location = (True, True, True)


def driven(target):
    target.driver_add("location", 1)


def curve_locked(target):
    target.keyframe_insert("location", frame=1)
    for curve in curves_of(target):
        curve.lock = True


def in_tweak_mode(target):
    target.keyframe_insert("location", frame=1)
    animation = target.animation_data
    strip = animation.nla_tracks.new().strips.new("Walk", 1, animation.action)
    strip.frame_end = 100
    animation.action = None
    animation.use_tweak_mode = True


def curves_of(ob):
    """Return an object's F-Curves in any version."""
    action = ob.animation_data.action
    if hasattr(action, "layers") and action.layers:
        return action.layers[0].strips[0].channelbags[0].fcurves
    return action.fcurves


@pytest.mark.parametrize(
    "spoil, words",
    [
        (locked_everywhere, "All channels of 'Target' are locked"),
        (driven, "has a driver"),
        (curve_locked, "is locked, or its group is"),
    ],
)
def test_a_target_that_takes_no_keys_gets_a_sentence_and_nothing_is_keyed(spoil, words):
    armature, target = leg()
    pole = add_pole(armature, armature.ik2d.chains[0])
    spoil(target)
    before = animation_of(target)
    with pytest.raises(IK2DError, match=words):
        key_target(bpy.context.scene, armature.ik2d.chains[0])
    assert animation_of(target) == before and not animation_of(pole)
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.ik2d.key_target()


def test_in_tweak_mode_there_is_a_sentence():
    armature, target = leg()
    in_tweak_mode(target)
    if not target.animation_data.use_tweak_mode:
        pytest.skip("this Blender enters tweak mode from its editor alone")
    with pytest.raises(IK2DError, match="tweak mode"):
        key_target(bpy.context.scene, armature.ik2d.chains[0])


def test_a_linked_target_gets_a_sentence(tmp_path):
    add_target({})
    target = bpy.data.objects["Target"]
    bpy.data.libraries.write(str(tmp_path / "target.blend"), {target})
    bpy.data.objects.remove(target)
    with bpy.data.libraries.load(str(tmp_path / "target.blend"), link=True) as (_, to):
        to.objects = ["Target"]
    linked = bpy.data.objects["Target"]
    bpy.context.scene.collection.objects.link(linked)
    armature = add_leg()
    add_chain(armature, "shin", linked)
    with pytest.raises(IK2DError, match="'Target' is linked from another file"):
        key_target(bpy.context.scene, armature.ik2d.chains[0])
    assert not animation_of(linked)


def test_without_a_target_the_button_says_so():
    armature = add_leg()
    add_chain(armature, "shin", None)
    bpy.context.view_layer.objects.active = armature
    assert not bpy.ops.ik2d.key_target.poll()
    with pytest.raises(IK2DError, match="has no target to key"):
        key_target(bpy.context.scene, armature.ik2d.chains[0])


@pytest.mark.parametrize("subframe", [0.0, 0.5])
def test_with_remapped_time_the_key_is_where_blender_shows_it(subframe):
    armature, target = leg()
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    places = {}
    for frame, height in ((10, 0.3), (20, 0.6)):
        scene.frame_set(frame, subframe=subframe)
        target.location.z = height
        bpy.context.view_layer.update()
        places[frame] = evaluated_place(target)
        key_target(scene, armature.ik2d.chains[0])
    for frame, place in places.items():
        scene.frame_set(frame, subframe=subframe)
        assert (evaluated_place(target) - place).length < 1e-6
    times = [key[0] for key in animation_of(target)["location", 0]]
    assert times == pytest.approx([(frame + subframe) / 2.0 for frame in places])
