# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones that a chain or mechanism has baked and turns no more: Clear Bake gives back their keys, too."""

import bpy
import pytest
from machine_rigs import add_machine
from machines import four_bar
from post_rigs import robot_arm
from rigs import add_armature, add_chain, add_target, animation_of
from walkers import walker

from ik2d_addon.bake import bake, clear
from ik2d_addon.bake.keys.baked import baked_keys
from ik2d_addon.bake.keys.left import bones_left, told_left
from ik2d_addon.chains import plant_feet, remove_chain, unplant_feet
from ik2d_addon.features.baking.operators import has_baked_keys
from ik2d_addon.rig.animation.versions import assign_action, existing_fcurves, slot_played

ARM = {
    "upper": ((0, 0, 0), (0, 0.2, 1.0), "", 0.3),
    "lower": ((0, 0.2, 1.0), (0, 0, 2.0), "upper", 0.0),
    "hand": ((0, 0, 2.0), (0, 0.1, 2.5), "lower", -0.5),
}
MODES = ('QUATERNION', 'XYZ', 'AXIS_ANGLE')


def keyed_arm(mode='QUATERNION'):
    """Return an arm whose bones have keys made by hand, and its chain of all three."""
    armature = add_armature(ARM)
    for bone in armature.pose.bones:
        bone.rotation_mode = mode
        path = {'QUATERNION': "rotation_quaternion", 'AXIS_ANGLE': "rotation_axis_angle"}
        for frame, turn in ((1, 0.1), (4, 0.3), (12, -0.2)):
            values = getattr(bone, path.get(mode, "rotation_euler"))
            values[1] = turn
            bone.keyframe_insert(path.get(mode, "rotation_euler"), frame=frame)
    target = add_target({1: (0, 0.8, 1.4), 10: (0, 1.2, 0.6)})
    return armature, add_chain(armature, "hand", target, 3, name="arm")


def fewer(chain):
    chain.bone_count = 2


def lower_tip(chain):
    chain.tip, chain.bone_count = "lower", 2


def one_bone(chain):
    chain.tip, chain.bone_count = "lower", 1


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "change, left", [(fewer, {"upper"}), (lower_tip, {"hand"}), (one_bone, {"upper", "hand"})]
)
def test_clear_gives_back_the_keys_of_bones_that_have_left_the_chain(change, left, mode):
    armature, chain = keyed_arm(mode)
    before = animation_of(armature)
    bake(armature, frame_start=1, frame_end=10)
    assert bones_left(chain) == []
    change(chain)
    assert set(bones_left(chain)) == left
    clear(armature, "arm")
    assert animation_of(armature) == before and not has_baked_keys(armature)


def test_a_post_that_was_chosen_before_is_cleared_too():
    armature, chain = robot_arm(locked=False)
    other = armature.pose.bones["base"]
    other.keyframe_insert("rotation_quaternion", frame=7)
    before = animation_of(armature)
    bake(armature, frame_start=1, frame_end=10)
    chain.plane, chain.post = 'AUTO', ""
    assert bones_left(chain) == ["base"]
    clear(armature)
    assert animation_of(armature) == before


def test_the_button_is_there_where_all_baked_bones_have_left():
    armature, chain = keyed_arm()
    chain.bone_count, chain.tip = 1, "upper"
    before = animation_of(armature)
    bake(armature, frame_start=1, frame_end=10)
    chain.tip = "hand"
    bpy.context.view_layer.objects.active = armature
    assert has_baked_keys(armature) and bpy.ops.ik2d.clear_bake() == {'FINISHED'}
    assert animation_of(armature) == before and not has_baked_keys(armature)


def test_another_bake_leaves_them_and_says_so():
    armature, chain = keyed_arm()
    before = animation_of(armature)
    bake(armature, frame_start=1, frame_end=10)
    baked = animation_of(armature)
    fewer(chain)
    report = bake(armature, frame_start=1, frame_end=10)
    assert [one for one in report.warnings if "Clear Bake" in one] == [
        "'arm': keys of an earlier bake stay on 'upper', which it does not turn any more; Clear Bake takes"
        " these, too"
    ]
    path = 'pose.bones["upper"].rotation_quaternion'
    after = animation_of(armature)
    assert [after[path, i] for i in range(4)] == [baked[path, i] for i in range(4)]
    clear(armature)
    assert animation_of(armature) == before


def other_chain(armature):
    """Add a chain of the upper arm alone, with a target of its own."""
    target = add_target({1: (0, 0.5, 0.5), 10: (0, 0.9, 0.3)}, "Other")
    add_chain(armature, "upper", target, 1, name="other")


def test_what_a_chain_has_baked_since_stays_where_that_is_removed():
    armature, chain = keyed_arm()
    bake(armature, frame_start=1, frame_end=10)
    fewer(chain)
    other_chain(armature)
    assert bones_left(armature.ik2d.chains["arm"]) == []  # the other one's now
    bake(armature, ["other"], frame_start=1, frame_end=10)
    remove_chain(armature, armature.ik2d.chains["other"])
    clear(armature, "arm")
    assert baked_keys(armature, ["upper"]) and not baked_keys(armature, ["lower", "hand"])


def test_keys_in_another_action_are_cleared_there():
    armature, chain = keyed_arm()
    before, first = animation_of(armature), armature.animation_data.action
    bake(armature, frame_start=1, frame_end=10)
    fewer(chain)
    other_chain(armature)
    slot = slot_played(armature.animation_data)
    second = first.copy()
    assign_action(armature.animation_data, second, slot)
    clear(armature)
    bake(armature, ["other"], frame_start=1, frame_end=10)
    clear(armature)
    remove_chain(armature, armature.ik2d.chains["other"])
    assign_action(armature.animation_data, first, slot)
    clear(armature, "arm")
    assert animation_of(armature) == before


def test_bones_that_have_left_are_found_by_their_new_names():
    armature, chain = keyed_arm()
    bake(armature, frame_start=1, frame_end=10)
    fewer(chain)
    armature.data.bones["upper"].name = "shoulder"
    clear(armature, "arm")
    assert bones_left(armature.ik2d.chains["arm"]) == ["shoulder"]
    assert not baked_keys(armature, ["shoulder", "lower", "hand"])
    (curve,) = [
        curve
        for curve in existing_fcurves(armature)
        if curve.data_path == 'pose.bones["shoulder"].rotation_quaternion' and curve.array_index == 1
    ]
    assert [key.co[0] for key in curve.keyframe_points] == [1.0, 4.0, 12.0]


def test_planted_keys_are_given_back_too():
    armature = walker(feet=False).armature
    before = animation_of(armature)
    plant_feet(armature)
    assert animation_of(armature) != before
    for chain in armature.ik2d.chains:
        chain.bone_count = 1
    unplant_feet(armature)
    assert animation_of(armature) == before


def test_a_bake_that_fails_notes_nothing():
    armature, chain = keyed_arm()

    def stop(done, total):
        if done > 0.9 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bake(armature, frame_start=1, frame_end=10, progress=stop)
    assert chain.bones_baked == ""


def test_a_bone_that_has_left_a_mechanism_gets_its_keys_back():
    armature, mechanism = add_machine(four_bar(), 12)
    armature.pose.bones["rocker"].keyframe_insert("rotation_quaternion", frame=5)
    before = animation_of(armature)
    bake(armature, frame_start=1, frame_end=12)
    mechanism.bones.remove(mechanism.bones.find("rocker"))
    assert bones_left(mechanism) == ["rocker"]
    (told,) = told_left(armature, [], [mechanism.name])
    assert told.startswith("'machine': keys of an earlier bake stay on 'rocker', which")
    clear(armature, mechanism=mechanism.name)
    assert animation_of(armature) == before
