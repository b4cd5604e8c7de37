# SPDX-License-Identifier: GPL-3.0-or-later
"""From the bones' own motion to a chain's and back: in each rotation mode, whatever holds the target."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from mathutils import Matrix
from rigs import (
    add_armature,
    add_chain,
    add_leg,
    add_target,
    crane_with_target,
    evaluated_place,
    evaluated_tip,
    every_bit_of_animation,
    settings_of,
)

from ik2d_addon.bake import bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.match.match import snap_fk, target_to_tip
from ik2d_addon.rig.animation import keys
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.chain import read_chain
from ik2d_addon.rig.chain.native_state import controls_of, is_native
from ik2d_addon.rig.pose.rotations import bone_rotations

FRAMES = range(1, 25)
SWITCH = 12


def key_fk(armature, chain, turns, frames=FRAMES):
    """Key turns (frames, n) of a chain's bones about their axes, as by hand."""
    rig = read_chain(armature, chain)
    rotations = [replace(one, generated=False) for one in bone_rotations(rig, turns)]
    with keys.written(armature, list(map(float, frames)), rotations):
        pass


def swing(count=2, frames=FRAMES):
    """Return turns (frames, count) that go on smoothly and bend to both sides."""
    time = np.array(frames, float)[:, None]
    joint = np.arange(count)
    return 0.9 * np.sin(0.27 * time + 0.8 * joint) + 0.2 * joint


def fk_leg(mode='QUATERNION', **settings):
    """Add the leg with motion of its own over 24 frames, and a target that is elsewhere."""
    armature, target = add_leg(), add_target({})
    target.location = (0.0, -0.5, 0.4)
    chain = add_chain(armature, "shin", target, **settings)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
    key_fk(armature, chain, swing())
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 24
    return armature, chain


def poses(armature, bones=("thigh", "shin"), frames=FRAMES):
    """Return the bones' evaluated matrices (frames, bones, 4, 4) in the world."""
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        ob = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(ob.matrix_world @ ob.pose.bones[name].matrix) for name in bones])
    return np.array(found)


def rotations(matrices):
    """Return the matrices without place and scale."""
    linear = matrices[..., :3, :3]
    return linear / np.linalg.norm(linear, axis=-2, keepdims=True)


def turns_between(one, other):
    """Return the angles between rotations, in radians."""
    return 2.0 * np.arcsin(
        np.clip(np.linalg.norm(rotations(one) - rotations(other), axis=(-2, -1)) / np.sqrt(8.0), 0, 1)
    )


def fastest_turn(matrices):
    """Return the largest turn from one frame to the next, in radians, on each of them (frames - 1,)."""
    return turns_between(matrices[1:], matrices[:-1]).max(axis=1)


def misses(chain, before):
    """Return how far the evaluated target is from where the tips were (frames, 3)."""
    found = []
    for frame, tip in zip(FRAMES, before, strict=True):
        bpy.context.scene.frame_set(frame)
        found.append(np.linalg.norm(np.array(evaluated_place(chain.target, chain.subtarget)) - tip))
    return np.array(found)


def tips(armature, tip="shin", frames=FRAMES):
    found = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found.append(evaluated_tip(armature, tip))
    return np.array(found)


def assert_comes_back(armature, chain, bones=("thigh", "shin"), reach=1.92):
    """FK to IK to FK: match, clear the bones' motion, and bake; tips and joints are where they were."""
    before, places = poses(armature, bones), tips(armature, bones[-1])
    report = target_to_tip(armature, None, 1, 24)
    assert report.matches, report.sentence()
    assert misses(chain, places).max() < 1e-5 * reach
    for curve in [curve for curve in existing_fcurves(armature) if "rotation" in curve.data_path]:
        if any(f'"{bone}"' in curve.data_path for bone in bones):
            for point in curve.keyframe_points:
                point.co[1] += 0.3
            curve.update()
    bake(armature, None, 1, 24)
    after = poses(armature, bones)
    assert np.linalg.norm(tips(armature, bones[-1]) - places, axis=1).max() < 1e-5 * reach
    assert turns_between(before, after).max() < 1e-3
    return report


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'ZYX', 'AXIS_ANGLE'])
def test_fk_to_ik_and_back_gives_the_same_pose_on_every_frame(mode):
    armature, chain = fk_leg(mode)
    assert_comes_back(armature, chain)


def test_the_side_is_keyed_where_it_changes_and_softness_goes_off():
    armature, chain = fk_leg(softness=0.2, bend='NEGATIVE')
    assert_comes_back(armature, chain)
    assert chain.softness == 0.0
    curve = next(curve for curve in existing_fcurves(armature) if curve.data_path.endswith("bend"))
    assert all(point.interpolation == 'CONSTANT' for point in curve.keyframe_points)
    sides = {round(curve.evaluate(frame)) for frame in FRAMES}
    assert sides == {0, 1}
    assert len(curve.keyframe_points) < 10
    assert curve.evaluate(0) == 1 and curve.evaluate(25) == 1  # the frames beside keep their side
    assert not any(curve.data_path.endswith("softness") for curve in existing_fcurves(armature))


def test_keyed_softness_and_turn_over_are_keyed_off_and_stay_as_they_are_beside():
    armature, chain = fk_leg()
    for frame, value in ((-10, 0.1), (60, 0.3)):
        chain.softness, chain.turn_over = value, value
        chain.keyframe_insert("softness", frame=frame)
        chain.keyframe_insert("turn_over", frame=frame)
    curve = next(curve for curve in existing_fcurves(armature) if curve.data_path.endswith("softness"))
    before = curve.evaluate(0), curve.evaluate(25)
    assert_comes_back(armature, chain)
    curve = next(curve for curve in existing_fcurves(armature) if curve.data_path.endswith("softness"))
    assert np.abs([curve.evaluate(frame) for frame in FRAMES]).max() == 0.0
    assert np.allclose((curve.evaluate(0), curve.evaluate(25)), before, atol=1e-6)


def parented(chain):
    parent = add_target({1: (0, 0, 0), 24: (0.5, 2.0, -1.0)}, "Parent")
    parent.rotation_euler, parent.scale = (0.3, 0.2, 0.1), (2.0, 1.0, 0.5)
    chain.target.parent, chain.target.delta_location = parent, (1, 2, 3)
    chain.target.matrix_parent_inverse = Matrix.Translation((0.2, 0.3, 0.4))
    chain.target.keyframe_insert("location", frame=3)


def child_of(chain):
    other = add_target({1: (0, 0, 0), 24: (0.5, 2.0, -1.0)}, "Other")
    other.rotation_euler = (0.3, 0.2, 0.1)
    constraint = chain.target.constraints.new('CHILD_OF')
    constraint.target = other
    constraint.keyframe_insert("influence", frame=1)
    constraint.influence = 0.5
    constraint.keyframe_insert("influence", frame=24)


def bone(chain):
    rig = add_armature(
        {
            "root": ((0, 0, 0), (0.3, 0.5, 0.2), "", 0.3),
            "ctrl": ((1, 0.2, 0.3), (0, 0.5, 0.3), "root", 0.8),
        },
        "Controls",
    )
    rig.scale = (2.0, 2.0, 2.0)
    root = rig.pose.bones["root"]
    root.rotation_mode = 'XYZ'
    for frame, angle in ((1, 0.0), (24, 1.0)):
        root.rotation_euler = (angle, 0.3, 0.1)
        root.keyframe_insert("rotation_euler", frame=frame)
    chain.target, chain.subtarget = rig, "ctrl"


def moving_armature(chain):
    armature = chain.id_data
    armature.scale = (0.1, 0.1, 0.1)
    for frame, place in ((1, (0, 0, 0)), (24, (1.0, 2.0, 0.5))):
        armature.location, armature.rotation_euler = place, (0.1 * frame, 0.0, 0.02 * frame)
        armature.keyframe_insert("location", frame=frame)
        armature.keyframe_insert("rotation_euler", frame=frame)


@pytest.mark.parametrize("hold", [parented, child_of, bone, moving_armature])
def test_targets_go_to_tips_whatever_holds_them(hold):
    armature, chain = fk_leg('XYZ')
    hold(chain)
    reach = 0.19 if hold is moving_armature else 1.92
    assert_comes_back(armature, chain, reach=reach)


def test_a_bone_of_the_same_armature_goes_to_the_tip():
    armature = add_armature(
        {
            "root": ((0, 0, 0), (0, 0.3, 0), "", 0.1),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "root", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
            "foot": ((0, 0, 0.1), (0, -0.3, 0.1), "root", 0.5),
        }
    )
    chain = add_chain(armature, "shin", armature, subtarget="foot")
    key_fk(armature, chain, swing())
    root = armature.pose.bones["root"]
    for frame, place in ((1, (0, 0, 0)), (24, (0.5, 1.0, 0.2))):
        root.location = place
        root.keyframe_insert("location", frame=frame)
    assert_comes_back(armature, chain)
    assert chain.target == armature and not chain.live


@pytest.mark.slow
def test_two_chains_at_once_are_as_good_as_one_by_one():
    armature, chain = fk_leg()
    other = add_armature({"a": ((1, 0, 0), (1, 1, 0), "", 0), "b": ((1, 1, 0), (1, 2, 0.3), "a", 0)}, "Other")
    second = add_chain(other, "b", add_target({}, "Second"))
    key_fk(other, second, swing())
    second.target.parent = chain.target
    assert_comes_back(armature, chain)
    assert_comes_back(other, second, ("a", "b"), 2.04)


@pytest.mark.slow
def test_longer_chains_have_their_tips_back_and_say_how_far_their_joints_are_off():
    bones, above = {}, ""
    for i in range(6):
        bones[f"b{i}"] = ((0, i, 0.02 * i * i), (0, i + 1, 0.02 * (i + 1) ** 2), above, 0.0)
        above = f"b{i}"
    armature = add_armature(bones)
    chain = add_chain(armature, "b5", add_target({}), bone_count=6)
    key_fk(armature, chain, swing(6) / 2.0)
    places = tips(armature, "b5")
    report = target_to_tip(armature, None, 1, 24)
    assert misses(chain, places).max() < 6e-5
    (match,) = report.chains
    assert match.tips_match and not match.joints_match
    before = poses(armature, tuple(bones))
    bake(armature, None, 1, 24)
    after = poses(armature, tuple(bones))
    assert np.linalg.norm(tips(armature, "b5") - places, axis=1).max() < 6e-5
    local = [
        turns_between(np.linalg.inv(one[:, :-1]) @ one[:, 1:], np.linalg.inv(two[:, :-1]) @ two[:, 1:])
        for one, two in [(before, after)]
    ][0]
    assert np.isclose(local.max(), match.joints[:, 1:].max(), atol=1e-3)
    assert "degrees off" in report.sentence()


def test_motion_off_the_plane_is_told_and_the_target_is_at_the_tip():
    armature, chain = fk_leg('XYZ')
    armature.pose.bones["thigh"].rotation_euler = (0.2, 0.3, 0.4)
    armature.pose.bones["thigh"].keyframe_insert("rotation_euler", frame=12)
    places = tips(armature)
    report = target_to_tip(armature, None, 1, 24)
    assert misses(chain, places).max() < 2e-5
    assert not report.chains[0].tips_match and "off (frame 12)" in report.sentence()


# --- One frame -----------------------------------------------------------------


def test_without_frames_the_pose_as_it_stands_counts_and_nothing_is_keyed():
    armature, chain = fk_leg('XYZ', softness=0.1)
    bpy.context.scene.frame_set(7)
    armature.pose.bones["thigh"].rotation_euler = (0.4, 0.0, 0.0)  # by hand, not keyed
    bpy.context.view_layer.update()
    place, before = evaluated_tip(armature, "shin"), every_bit_of_animation(armature)
    report = target_to_tip(armature)
    bpy.context.view_layer.update()
    assert (evaluated_place(chain.target) - place).length < 2e-5
    assert every_bit_of_animation(armature) == before and chain.target.animation_data is None
    assert len(report.moved) == 1 and len(report.chains[0].frames) == 1
    assert armature.pose.bones["thigh"].rotation_euler[0] == pytest.approx(0.4)


def test_a_live_chain_takes_the_motion_that_it_hides():
    armature, chain = fk_leg('XYZ')
    bpy.context.scene.frame_set(7)
    place = evaluated_tip(armature, "shin")
    chain.live = True
    bpy.context.scene.frame_set(7)
    assert (evaluated_tip(armature, "shin") - place).length > 0.1
    target_to_tip(armature)
    bpy.context.view_layer.update()
    assert (evaluated_place(chain.target) - place).length < 2e-5
    assert (evaluated_tip(armature, "shin") - place).length < 2e-5
    assert chain.live


# --- Bones to the solved pose --------------------------------------------------


@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_snapped_bones_stand_there_without_the_chain_and_the_target_stays(mode):
    armature, chain = fk_leg(mode, softness=0.05)
    chain.target = add_target({1: (0, 0.2, 0.3), 12: (0, -0.9, 0.8), 24: (0, 0.8, 0.6)}, "Moving")
    chain.live = True
    with_us, before = poses(armature), every_bit_of_animation(chain.target)
    report = snap_fk(armature, None, 5, 15)
    assert chain.live and every_bit_of_animation(chain.target) == before
    assert report.sentence().startswith("Snapped 11 frames on 1 chain")
    chain.live = False
    without_us = poses(armature)
    assert turns_between(with_us, without_us)[4:15].max() < 1e-4
    assert turns_between(with_us, without_us)[20:].max() > 0.1
    curve = next(curve for curve in existing_fcurves(armature) if "shin" in curve.data_path)
    assert keys.made_by_hand(curve).all()


def test_one_snapped_frame_is_posed_whatever_the_influence_and_nothing_is_keyed():
    armature, chain = fk_leg(influence=0.3)
    bpy.context.scene.frame_set(7)
    before = every_bit_of_animation(armature)
    snap_fk(armature)
    bpy.context.view_layer.update()
    assert (evaluated_tip(armature, "shin") - evaluated_place(chain.target)).length < 2e-5
    assert every_bit_of_animation(armature) == before


# --- Switches ------------------------------------------------------------------


def make_native(armature):
    bpy.context.view_layer.objects.active = armature
    assert bpy.ops.ik2d.make_native() == {'FINISHED'}


def show(way, armature, chain):
    """Have the chain's pose shown, blended by its influence with the bones' own keys."""
    if way == "bake":
        bake(armature, None, 1, 24)
    elif way == "live":
        chain.live = True


@pytest.mark.parametrize("way", ["bake", "live", "native"])
def test_a_switch_to_ik_does_not_pop(way):
    armature, chain = fk_leg('XYZ')  # it bends to the other side there
    before = poses(armature)
    if way == "native":
        make_native(armature)
    bpy.context.scene.frame_set(SWITCH)
    target_to_tip(armature, switch=True)
    chain.target.location.z += 0.3
    chain.target.keyframe_insert("location", frame=24)
    show(way, armature, chain)
    after = poses(armature)
    assert turns_between(before, after)[:SWITCH].max() < 1e-3  # up to and on the frame of the switch
    own, switched = fastest_turn(before), fastest_turn(after)
    assert switched[SWITCH - 2 : SWITCH].max() <= own.max()
    tip = tips(armature, frames=[20])[0]
    assert np.linalg.norm(tip - np.array(evaluated_place(chain.target))) < 2e-5  # the target rules by now


@pytest.mark.parametrize("way", ["bake", "live", "native"])
def test_a_switch_to_fk_does_not_pop(way):
    armature, chain = fk_leg('XYZ')
    for curve in existing_fcurves(armature):  # motion of its own after the switch alone
        while len(curve.keyframe_points) and curve.keyframe_points[0].co[0] < 22:
            curve.keyframe_points.remove(curve.keyframe_points[0])
    chain.target = add_target({1: (0, 0.2, 0.3), 12: (0, -0.6, 0.6), 24: (0, 0.8, 0.6)}, "Moving")
    chain.live = True
    solved = poses(armature)
    chain.live = False
    later = poses(armature, frames=[22, 24])
    if way == "native":
        make_native(armature)
    bpy.context.scene.frame_set(SWITCH)
    snap_fk(armature, switch=True)
    show(way, armature, chain)
    after = poses(armature)
    assert turns_between(solved, after)[:SWITCH].max() < 1e-4
    assert turns_between(later, after[[21, 23]]).max() < 1e-4  # what was keyed by hand rules by now
    speed, turn = fastest_turn(after), turns_between(after[SWITCH - 1], after[21]).max()
    assert speed[SWITCH - 2 : SWITCH + 1].max() <= max(fastest_turn(solved).max(), 2.0 * turn / 10.0)


@pytest.mark.slow
def test_there_and_back_keys_the_influence_in_steps():
    armature, chain = fk_leg('XYZ')
    before = poses(armature)
    bpy.context.scene.frame_set(6)
    target_to_tip(armature, switch=True)
    bpy.context.scene.frame_set(18)
    snap_fk(armature, switch=True)
    curve = next(curve for curve in existing_fcurves(armature) if curve.data_path.endswith("influence"))
    assert [tuple(point.co) for point in curve.keyframe_points] == [(5, 0), (6, 1), (17, 1), (18, 0)]
    assert [curve.evaluate(frame) for frame in (1, 5.9, 6, 17.9, 18, 30)] == [0, 0, 1, 1, 0, 0]
    chain.live = True
    after = poses(armature)
    assert turns_between(before, after)[:6].max() < 1e-3 and turns_between(before, after)[18:].max() < 1e-3


def test_a_switch_over_a_range_follows_the_motion_there():
    armature, chain = fk_leg('QUATERNION')
    before = poses(armature)
    target_to_tip(armature, None, 8, 20, switch=True)
    chain.live = True
    assert turns_between(before, poses(armature))[:20].max() < 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("way", ["bake", "live"])
def test_a_foot_that_is_kept_flat_does_not_pop_when_its_leg_switches_to_fk(way):
    armature = add_armature(
        {
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", -0.2),
            "foot": ((0, 0, 0.1), (0.05, -0.3, 0), "shin", 0.7),
        }
    )
    target = add_target({1: (0, 0.2, 0.3), 12: (0, -0.6, 0.6), 24: (0, 0.8, 0.6)})
    chain = add_chain(armature, "shin", target, hand_rotation='WORLD')
    bones = ("thigh", "shin", "foot")
    chain.live = True
    solved = poses(armature, bones)
    chain.live = False
    bpy.context.scene.frame_set(SWITCH)
    snap_fk(armature, switch=True)
    show(way, armature, chain)
    after = poses(armature, bones)
    assert turns_between(solved, after)[:SWITCH].max() < 1e-4
    assert turns_between(after[SWITCH - 1 :], after[SWITCH - 1]).max() < 1e-4  # its own keys hold it there
    assert target_to_tip(armature, None, 24, 24).matches


@pytest.mark.slow
def test_a_native_chain_stays_native_and_matches_too():
    armature, chain = fk_leg('XYZ', bend='NEGATIVE', softness=0.1)
    before = poses(armature)
    make_native(armature)
    assert turns_between(before, poses(armature)).max() > 0.1
    assert target_to_tip(armature, None, 1, 24).matches
    assert turns_between(before, poses(armature)).max() < 1e-3
    controls = controls_of(armature.ik2d.chains[0])
    assert controls["softness"] == 0.0 and is_native(chain)
    chain.target.animation_data_clear()
    chain.target.location = (0.0, -0.5, 0.4)
    solved = poses(armature)
    snap_fk(armature, None, 1, 24)
    assert not any(one.mute for bone in armature.pose.bones for one in bone.constraints)
    assert turns_between(solved, poses(armature)).max() < 1e-4
    controls["influence"] = 0.0
    controls.update_tag()
    assert turns_between(solved, poses(armature)).max() < 1e-4


# --- What cannot be --------------------------------------------------------------


def all_there_is():
    """Return the animation of all objects, where they and their bones stand, and the chains' settings."""
    return [
        (
            ob.name,
            every_bit_of_animation(ob),
            ob.location[:],
            [[*map(tuple, bone.matrix_basis)] for bone in ob.pose.bones] if ob.pose else [],
            [settings_of(chain) for chain in ob.ik2d.chains],
        )
        for ob in bpy.data.objects
    ]


def refused(words, armature, call=target_to_tip, **options):
    """The call is refused with these words, and nothing has changed."""
    bpy.context.view_layer.update()
    before = all_there_is()
    with pytest.raises(IK2DError, match=words):
        call(armature, None, 1, 24, **options)
    assert all_there_is() == before
    assert not [action for action in bpy.data.actions if not action.users]


def test_a_target_that_cannot_be_moved_is_refused_in_words():
    armature, chain = fk_leg(softness=0.1, bend='NEGATIVE')
    target = chain.target
    target.lock_location[1] = True
    refused("the location of 'Target' is locked", armature)
    target.lock_location[1] = False
    driver = target.driver_add("location", 0)
    refused("the location of 'Target' has a driver", armature)
    target.driver_remove("location", 0)
    assert driver is not None
    constraint = target.constraints.new('COPY_LOCATION')
    constraint.target = add_target({}, "OtherControl")
    refused("'Target' does not go where its location says; mute its constraint 'Copy Location'", armature)
    constraint.mute = True
    target.parent, target.parent_type, target.parent_bone = armature, 'BONE', "shin"
    refused("is moved by the chain itself", armature)
    target.parent = None
    armature.parent = target
    refused("its tip goes along with its target", armature)


def test_bones_that_follow_the_target_by_a_constraint_are_refused_with_the_way_out():
    armature, chain = fk_leg()
    constraint = armature.pose.bones["shin"].constraints.new('IK')
    constraint.target, constraint.chain_count = chain.target, 2
    refused("mute the constraint that has the bones follow it", armature)


def test_two_chains_with_one_target_are_refused():
    armature, chain = fk_leg()
    add_chain(armature, "body", chain.target, bone_count=1)
    refused("follow the same target", armature)


def test_a_driven_setting_is_refused():
    armature, chain = fk_leg()
    chain.driver_add("softness")
    refused("its Softness has a driver", armature)


def test_a_driven_influence_is_no_way_to_switch():
    armature, chain = fk_leg()
    chain.driver_add("influence")
    refused("IK Blend has a driver", armature, switch=True)
    refused("IK Blend has a driver", armature, snap_fk, switch=True)


def test_bones_that_slide_cannot_switch_to_fk():
    armature, _ = crane_with_target()
    refused("change their length.*turn Slide off", armature, snap_fk, switch=True)


def test_a_locked_curve_is_refused_and_settings_go_back():
    armature, chain = fk_leg(softness=0.1)
    chain.target.keyframe_insert("location", frame=1)
    existing_fcurves(chain.target)[0].lock = True
    refused("is locked", armature)


def test_a_chain_that_cannot_be_matched_takes_the_others_back_with_it():
    armature, chain = fk_leg(softness=0.1)
    other = add_target({}, "Below")
    other.parent = chain.target
    add_chain(armature, "body", other, bone_count=1).driver_add("softness")
    refused("Chain 'body': its Softness has a driver", armature)


def test_keys_of_a_bake_beside_those_of_a_switch_are_told():
    armature, _ = fk_leg('XYZ')
    bake(armature, None, 1, 24)
    bpy.context.scene.frame_set(SWITCH)
    assert any("it has keys of a bake" in warning for warning in snap_fk(armature, switch=True).warnings)
    assert not any("it has keys of a bake" in warning for warning in snap_fk(armature, None, 1, 24).warnings)
