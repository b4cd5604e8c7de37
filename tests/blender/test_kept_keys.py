# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys, poses and rotation modes that somebody made are kept from bakes, switches and plantings."""

import json
from pathlib import Path

import bpy
import pytest
from hand_made_actions import HAS_SLOTS, channels_for, curves_of, looks
from rigs import add_armature, add_chain, add_leg, add_target, every_bit_of_animation, override_from
from walkers import walker

from ik2d_addon.bake import BakeOptions, bake, clear
from ik2d_addon.chains import plant_feet, snap_fk, target_to_tip, unplant_feet
from ik2d_addon.core import IK2DError
from ik2d_addon.rig.animation import replacing
from ik2d_addon.rig.animation.kept.giving_back import give_back
from ik2d_addon.rig.animation.kept.marks import SNAP
from ik2d_addon.rig.animation.kept.record import is_kept_action

# Baked by 4.2, frames 5 to 30 of `hand_keyed_leg`, with its looks before.
OLD = Path(__file__).resolve().parents[1] / "data" / "kept" / "baked_in_4.2"
ONE_CURVE = BakeOptions(single_axis=True)


def hand_keyed_leg(mode='XYZ', influence=1.0):
    """Add a leg with keys made by hand in a mode, and a target that swings."""
    armature = add_leg()
    for frame, first, second in ((1, -0.4, 0.6), (12, 0.3, 1.0), (27, -0.1, 0.3), (40, 0.4, 0.8)):
        for name, value in (("thigh", first), ("shin", second)):
            bone = armature.pose.bones[name]
            bone.rotation_mode = mode
            if mode == 'QUATERNION':
                bone.rotation_quaternion = (1.0, value, 0.1 * value, -0.2 * value)
                bone.keyframe_insert("rotation_quaternion", frame=frame)
            else:
                bone.rotation_euler = (value, 0.1 * value, -0.2 * value)
                bone.keyframe_insert("rotation_euler", frame=frame)
    for number, curve in enumerate(curves_of(armature.animation_data.action).values()):
        key = curve.keyframe_points[1]
        key.interpolation, key.type = ('BACK', 'ELASTIC', 'LINEAR')[number % 3], 'EXTREME'
        key.handle_left_type = key.handle_right_type = ('FREE', 'ALIGNED', 'VECTOR')[number % 3]
        curve.extrapolation = 'LINEAR'
        curve.update()
    target = add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8), 40: (0, 0.8, 0.6)})
    chain = add_chain(armature, "shin", target, influence=influence)
    chain.live = False
    bpy.context.scene.frame_end = 40
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(1)
    return armature


def look(ob):
    """Return an object's curves exactly, in order."""
    return list(looks(ob.animation_data.action).items())


def names():
    """Return the names of all actions."""
    return {action.name for action in bpy.data.actions}


def kept_actions():
    """Return the actions that keep motion."""
    return [action for action in bpy.data.actions if is_kept_action(action)]


@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION'])
@pytest.mark.parametrize("influence", [1.0, 0.5])
@pytest.mark.parametrize("options", [BakeOptions(), ONE_CURVE], ids=["all axes", "one curve"])
def test_clearing_a_bake_gives_hand_keys_and_rotation_modes_back(mode, influence, options):
    armature = hand_keyed_leg(mode, influence)
    before, there = look(armature), names()
    report = bake(armature, frame_start=5, frame_end=30, options=options)
    assert report.replaced.keys > 0 and look(armature) != before
    clear(armature)
    assert look(armature) == before and names() == there
    assert {armature.pose.bones[name].rotation_mode for name in ("thigh", "shin")} == {mode}


@pytest.mark.parametrize("options", [BakeOptions(), ONE_CURVE], ids=["all axes", "one curve"])
@pytest.mark.parametrize("mode", ['XYZ', 'QUATERNION', 'AXIS_ANGLE'])
def test_clearing_a_bake_gives_an_unkeyed_pose_back(mode, options):
    armature = add_leg()
    bone = armature.pose.bones["shin"]
    bone.rotation_mode = mode
    bone.rotation_euler, bone.rotation_quaternion = (0.3, 0.2, 0.1), (0.9, 0.2, 0.1, 0.3)
    bone.rotation_axis_angle = (0.4, 0.2, 0.9, 0.1)
    add_chain(armature, "shin", add_target({1: (0, 0.2, 0.3), 40: (0, -0.9, 0.8)})).live = False

    def pose():
        return [tuple(getattr(bone, name)) for name in ("rotation_euler", "rotation_quaternion")] + [
            (bone.rotation_mode, *bone.rotation_axis_angle)
        ]

    before, there = pose(), names()
    bake(armature, frame_start=1, frame_end=40, options=options)
    bpy.context.scene.frame_set(20)
    clear(armature)
    assert pose() == before and names() == there


def test_two_bakes_and_two_part_clears_give_all_back():
    armature = hand_keyed_leg()
    before, there = look(armature), names()
    bake(armature, frame_start=5, frame_end=20)
    bake(armature, frame_start=10, frame_end=35)
    clear(armature, "", 5, 15)
    assert look(armature) != before
    clear(armature, "", 16, 40)
    assert look(armature) == before and names() == there


def test_clear_finds_all_after_renames_and_in_another_session(tmp_path):
    armature = hand_keyed_leg()
    before = look(armature)
    bake(armature, frame_start=5, frame_end=30)
    armature.data.bones["shin"].name, armature.name = "calf", "Puppet"
    armature.animation_data.action.name = "Walk 2"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "kept.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "kept.blend"))
    armature = bpy.data.objects["Puppet"]
    assert clear(armature) == 6 * 26 + 2 * 0
    armature.data.bones["calf"].name = "shin"
    assert look(armature) == before and not kept_actions()


def test_clear_right_after_a_scripted_rename_removes_all():
    armature = hand_keyed_leg()
    bake(armature, frame_start=5, frame_end=30)
    armature.data.bones["shin"].name = "calf"
    assert clear(armature) == 6 * 26


def test_clearing_a_duplicate_leaves_the_original_and_then_that_is_cleared():
    armature = hand_keyed_leg()
    before = look(armature)
    bake(armature, frame_start=5, frame_end=30)
    baked = look(armature)
    armature.select_set(True)
    bpy.ops.object.duplicate()
    copy = bpy.context.view_layer.objects.active
    assert copy != armature
    clear(copy)
    assert [it[1] for it in look(copy)] == [it[1] for it in before]
    assert look(armature) == baked
    clear(armature)
    assert look(armature) == before and not kept_actions()


def test_another_action_chosen_since_is_never_written_to():
    armature = hand_keyed_leg()
    before, walk = look(armature), armature.animation_data.action
    walk.use_fake_user = True
    bake(armature, frame_start=5, frame_end=30)
    run = bpy.data.actions.new("Run")
    holder = channels_for(armature, run, "Run")
    holder.fcurves.new('pose.bones["shin"].rotation_euler', index=0).keyframe_points.insert(3, 0.5)
    own = look(armature)
    assert clear(armature) == 0 and look(armature) == own
    armature.animation_data.action = walk
    if HAS_SLOTS:
        armature.animation_data.action_slot = walk.slots[0]
    clear(armature)
    assert look(armature) == before


@pytest.mark.slow
def test_ten_rounds_leave_nothing_over():
    armature = hand_keyed_leg()
    before, there = look(armature), names()
    for count in range(10):
        bake(armature, frame_start=1 + count, frame_end=40 - count)
        snap_fk(armature, None, 3, 9)
        clear(armature)
        give_back(armature, lambda path, index: True, (SNAP,))
        clear(armature)
    assert look(armature) == before and names() == there


def test_a_bake_that_fails_half_way_changes_nothing(monkeypatch):
    armature = hand_keyed_leg()
    before, calls, change = every_bit_of_animation(armature), [], replacing.change_in_place

    def fails(*arguments):
        calls.append(1)
        if len(calls) == 4:
            raise RuntimeError("half-way")
        return change(*arguments)

    monkeypatch.setattr(replacing, "change_in_place", fails)
    with pytest.raises(RuntimeError, match="half-way"):
        bake(armature, frame_start=5, frame_end=30)
    assert every_bit_of_animation(armature) == before and not kept_actions()
    assert not len(armature.animation_data.action.ik2d.kept)


@pytest.mark.parametrize("switch", [False, True])
def test_switches_keep_what_they_replace(switch):
    armature = hand_keyed_leg()
    target = armature.ik2d.chains[0].target
    before = look(armature), look(target)
    target_to_tip(armature, None, 5, 30, switch=switch)
    snap_fk(armature, None, 12, 20, switch=switch)
    assert (look(armature), look(target)) != before
    for ob in (armature, target):
        give_back(ob, lambda path, index: True, (SNAP,))
    assert (look(armature), look(target)) == before and not kept_actions()


def test_moved_and_new_keys_stay_and_the_kept_one_is_named():
    armature = hand_keyed_leg()
    bake(armature, frame_start=5, frame_end=30)
    curve = next(iter(curves_of(armature.animation_data.action).values()))
    (key,) = (key for key in curve.keyframe_points if key.co.x == 12.0)
    key.co.y += 0.25
    curve.keyframe_points.insert(60, 0.5)
    curve.update()
    mine = tuple(key.co)
    from ik2d_addon.bake.keys.clearing import clear_bakes

    given = clear_bakes(armature)
    curve = next(iter(curves_of(armature.animation_data.action).values()))
    there = [tuple(key.co) for key in curve.keyframe_points]
    assert mine in there and (60.0, 0.5) in there
    (sentence,) = given.lost
    assert " at 12 stay" in sentence


def crafted(marked, *paths):
    """Return an action of somebody's own, as a file may name it: with our mark, or curves of some paths."""
    mine = bpy.data.actions.new("Precious")
    holder = channels_for(add_target({}, "Other"), mine, "Other")
    for path in paths:
        holder.fcurves.new(path).keyframe_points.insert(12, 99)
    if marked:
        mine["ik2d_kept"] = 1
    return mine


@pytest.mark.parametrize("marked", [False, True])
@pytest.mark.parametrize("path", ["location", 'ik2d_kept[0].pose.bones["thigh"].rotation_euler'])
def test_crafted_pointers_delete_nothing(marked, path):
    armature = hand_keyed_leg()
    bake(armature, frame_start=5, frame_end=30)
    mine = crafted(marked, "location", path) if path != "location" else crafted(marked, path)
    armature.animation_data.action.ik2d.kept[0].action = mine
    before = looks(mine)
    clear(armature)
    assert looks(bpy.data.actions["Precious"]) == before


@pytest.mark.parametrize(
    "name, note",
    [
        ("ik2d_value[0][0]", {"path": "hide_render", "values": [1.0]}),
        ("ik2d_value[0][0]", {"path": "location", "values": [float("inf")]}),
        ("ik2d_value[0][0]", "text"),
        ("ik2d_mode[0][0]", {"path": 'pose.bones["body"]', "values": [99.0] * 13}),
        ("ik2d_mode[0][0]", {"path": "data", "values": [1.0]}),
        ("ik2d_value[9999999][99]", {"path": "x" * 2000, "values": [1.0]}),
    ],
)
def test_crafted_values_change_nothing_else(name, note):
    armature = hand_keyed_leg()
    before = look(armature)
    body = armature.pose.bones["body"]
    bake(armature, frame_start=5, frame_end=30)
    armature.animation_data.action.ik2d.kept[0].action[name] = note
    clear(armature)
    assert look(armature) == before and not armature.hide_render
    assert body.rotation_mode == 'QUATERNION' and tuple(armature.location) == (0.0, 0.0, 0.0)


@pytest.mark.slow
def test_an_override_of_a_baked_rig_says_so_and_bakes_into_a_copy(tmp_path):
    hand_keyed_leg()
    bake(bpy.data.objects["Rig"], frame_start=5, frame_end=30)
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    override = override_from(library, "Rig", "Target")
    with pytest.raises(IK2DError, match="linked"):
        clear(override)
    bake(override, frame_start=10, frame_end=35)
    action = override.animation_data.action
    assert action.library is None
    clear(override)
    assert [kept.library is not None for kept in kept_actions()] == [True]


def test_undo_and_redo_keep_the_record():
    bpy.context.preferences.edit.use_global_undo = True
    armature = hand_keyed_leg()
    before = look(armature)
    bpy.ops.ed.undo_push(message="hand")
    bake(armature, frame_start=5, frame_end=30)
    baked = look(armature)
    bpy.ops.ed.undo_push(message="bake")
    bpy.ops.ed.undo()
    assert look(bpy.data.objects["Rig"]) == before
    bpy.ops.ed.redo()
    armature = bpy.data.objects["Rig"]
    assert look(armature) == baked
    clear(armature)
    assert look(armature) == before and not [one for one in kept_actions() if one.users]


def test_tweak_mode_is_refused_or_keeps_all():
    armature = hand_keyed_leg()
    before, animation = look(armature), armature.animation_data
    action = animation.action
    track = animation.nla_tracks.new()
    strip = track.strips.new("Walk", 1, action)
    animation.action = None
    track.select = strip.select = True
    animation.use_tweak_mode = True
    try:
        bake(armature, frame_start=5, frame_end=30)
    except IK2DError:
        assert list(looks(action).items()) == before
        return
    clear(armature)
    assert list(looks(action).items()) == before


@pytest.mark.skipif(not HAS_SLOTS, reason="actions have no slots before 4.4")
def test_two_rigs_in_one_action_keep_their_own():
    first = hand_keyed_leg()
    armature = add_leg("Second")
    holder = channels_for(armature, first.animation_data.action, "Second")
    for frame, value in ((1, 0.1), (15, 0.4), (40, 0.2)):
        curve = holder.fcurves.find('pose.bones["shin"].rotation_quaternion', index=1)
        curve = curve or holder.fcurves.new('pose.bones["shin"].rotation_quaternion', index=1)
        curve.keyframe_points.insert(frame, value)
    add_chain(armature, "shin", first.ik2d.chains[0].target).live = False
    before = look(first)
    bake(first, frame_start=5, frame_end=30)
    once = look(first)
    bake(armature, frame_start=8, frame_end=33)
    clear(armature)
    assert look(first) == once
    clear(first)
    assert look(first) == before and not kept_actions()


def test_an_appended_rig_brings_its_kept_motion(tmp_path):
    armature = hand_keyed_leg()
    before = look(armature)
    bake(armature, frame_start=5, frame_end=30)
    library = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(library, link=False) as (_there, wanted):
        wanted.objects = ["Rig", "Target"]
    for ob in wanted.objects:
        bpy.context.scene.collection.objects.link(ob)
    clear(bpy.data.objects["Rig"])
    assert look(bpy.data.objects["Rig"]) == before and not kept_actions()


def test_a_file_baked_in_4_2_is_cleared_in_every_version():
    bpy.ops.wm.open_mainfile(filepath=f"{OLD}.blend")
    armature = bpy.data.objects["Rig"]
    clear(armature)
    was = json.loads(Path(f"{OLD}.json").read_text(encoding="utf-8"))
    assert plain(armature) == was and not kept_actions()


def plain(armature):
    """Return an armature's curves as JSON has them."""
    return [
        [*place[1:], {name: v.hex() if isinstance(v, bytes) else v for name, v in sorted(found.items())}]
        for place, found in json.loads(json.dumps(look(armature), default=lambda v: v.hex()))
    ]


# --- Plant Feet --------------------------------------------------------------


def objects_of(armature):
    """Return an armature and its chains' targets."""
    return [armature, *(chain.target for chain in armature.ik2d.chains)]


@pytest.mark.slow
def test_planting_a_later_range_leaves_the_earlier_one():
    armature = walker().armature
    plant_feet(armature, None, 1, 36)
    target = armature.ik2d.chains[0].target
    early = [
        [tuple(key.co) for key in curve.keyframe_points if key.co.x < 36]
        for curve in curves_of(target.animation_data.action).values()
    ]
    plant_feet(armature, None, 37, 66)
    assert early == [
        [tuple(key.co) for key in curve.keyframe_points if key.co.x < 36]
        for curve in curves_of(target.animation_data.action).values()
    ]


@pytest.mark.slow
def test_later_keys_survive_planting_again_and_clear():
    armature = walker().armature
    plant_feet(armature)
    target = armature.ik2d.chains[0].target
    target.location = (0, 0, 3)
    target.keyframe_insert("location", frame=100)

    def late():
        curves = curves_of(target.animation_data.action).values()
        return sum(key.co.x > 90 for curve in curves for key in curve.keyframe_points)

    assert late() == 3
    plant_feet(armature)
    assert late() == 3
    unplant_feet(armature)
    assert late() == 3


@pytest.mark.slow
def test_clear_after_planting_gives_all_back_and_leaves_no_action():
    armature = walker(aside=15.0).armature
    before, there = [look(ob) for ob in objects_of(armature)], names()
    plant_feet(armature)
    plant_feet(armature, None, 10, 40)
    unplant_feet(armature)
    assert [look(ob) for ob in objects_of(armature)] == before and names() == there


@pytest.mark.slow
def test_planting_another_action_leaves_the_first_alone():
    armature = walker().armature
    walk = {ob: ob.animation_data.action for ob in objects_of(armature)}
    run = {ob: action.copy() for ob, action in walk.items()}

    def use(actions):
        for ob, action in actions.items():
            slot = ob.animation_data.action_slot.identifier if HAS_SLOTS else ""
            ob.animation_data.action = action
            if HAS_SLOTS:
                ob.animation_data.action_slot = action.slots[slot]

    for action in (*walk.values(), *run.values()):
        action.use_fake_user = True
    use(run)
    for place, curve in curves_of(run[armature]).items():
        if "thigh" in place[1] and place[2]:
            for key in curve.keyframe_points:
                key.co.y *= 0.7
            curve.update()
    before = [look(ob) for ob in objects_of(armature)]
    use(walk)
    plant_feet(armature)
    planted = [look(ob) for ob in objects_of(armature)]
    use(run)
    assert [look(ob) for ob in objects_of(armature)] == before
    with pytest.raises(IK2DError, match="planted in"):
        unplant_feet(armature)
    plant_feet(armature)
    unplant_feet(armature)
    assert [look(ob) for ob in objects_of(armature)] == before
    use(walk)
    assert [look(ob) for ob in objects_of(armature)] == planted


@pytest.mark.slow
def test_clearing_a_copy_of_a_planted_character_leaves_the_originals_poles_and_targets():
    armature = walker(aside=15.0).armature
    plant_feet(armature)
    before = [look(ob) for ob in objects_of(armature)[1:]]
    poles = [chain.pole for chain in armature.ik2d.chains]
    for ob in bpy.data.objects:
        ob.select_set(ob == armature)
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.duplicate()
    unplant_feet(bpy.context.view_layer.objects.active)
    assert [chain.pole for chain in armature.ik2d.chains] == poles and None not in poles
    assert [look(ob) for ob in objects_of(armature)[1:]] == before


@pytest.mark.slow
def test_clear_after_a_bone_of_a_planted_leg_was_renamed_gives_its_keys_back():
    armature = walker().armature
    before = [it[1] for it in look(armature)]
    plant_feet(armature)
    armature.data.bones["shin.L"].name = "calf.L"
    unplant_feet(armature)
    armature.data.bones["calf.L"].name = "shin.L"
    assert [it[1] for it in look(armature)] == before


@pytest.mark.parametrize("shows", [False, True])
@pytest.mark.parametrize("axes", [(False, True), (True, False), (False, True, False)])
@pytest.mark.parametrize("mode", ['QUATERNION', 'XYZ', 'AXIS_ANGLE'])
def test_an_unkeyed_pose_comes_back_after_bakes_in_several_modes(mode, axes, shows):
    """A bake that changes the mode finds the pose of the bake before, once it was shown."""
    armature = add_armature(
        {
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "", 0.0),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.1), "thigh", 0.0),
        }
    )
    add_chain(armature, "shin", add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8), 40: (0, 0.8, 0.6)}))
    bones = [armature.pose.bones[name] for name in ("thigh", "shin")]
    for bone in bones:
        bone.rotation_mode = mode
        bone.rotation_quaternion, bone.rotation_euler = (0.9, 0.3, 0.1, 0.2), (0.1, 0.2, 0.3)
        bone.rotation_axis_angle = (0.4, 0.1, 1.1, 0.2)
    bpy.context.scene.frame_set(5)

    def pose():
        return [
            (bone.rotation_mode, *bone.rotation_quaternion, *bone.rotation_euler, *bone.rotation_axis_angle)
            for bone in bones
        ]

    before = pose()
    for number, single_axis in enumerate(axes):
        first = 1 + 15 * number
        bake(armature, None, first, first + 9, options=BakeOptions(single_axis=single_axis))
        if shows:
            bpy.context.scene.frame_set(5)
    clear(armature)
    bpy.context.scene.frame_set(5)
    for now, then in zip(pose(), before, strict=True):
        assert now[0] == then[0] and now[1:] == pytest.approx(then[1:], abs=1e-5)
