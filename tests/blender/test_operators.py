# SPDX-License-Identifier: GPL-3.0-or-later
"""The operators: each does what its function does, says what came of it, and says why it cannot run."""

import bpy
import numpy as np
import pytest
from rigs import (
    add_chain,
    add_leg,
    add_target,
    animation_of,
    evaluated_place,
    evaluated_tip,
    is_selected,
    leg_with_target,
)

from ik2d_addon import bake as baking
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.operators import chosen_bake
from ik2d_addon.features.setup import operators
from ik2d_addon.ui import context
from ik2d_addon.ui.settings import chain_list

IN_REACH, TOO_FAR = (0, -0.6, 0.6), (0, 0, -3)


def select(*objects, mode='OBJECT', tip=""):
    """Select objects, the last one active; an armature then enters `mode` and gets its active bone."""
    bpy.ops.object.select_all(action='DESELECT')
    for thing in objects:
        thing.select_set(True)
    bpy.context.view_layer.objects.active = objects[-1]
    if tip:
        objects[-1].data.bones.active = objects[-1].data.bones[tip]
    if objects[-1].mode != mode:
        bpy.ops.object.mode_set(mode=mode)


def select_bone(armature, name):
    """Select a pose bone, wherever this Blender keeps that."""
    bone = armature.pose.bones[name]
    (bone if hasattr(bone, "select") else bone.bone).select = True


def settings_of(chain):
    """Return what a chain is set to."""
    keys = ("name", "enabled", "tip", "bone_count", "target", "subtarget", "solver", "bend", "plane")
    return {key: getattr(chain, key) for key in keys}


def pose_of(armature):
    """Return every bone's rotation, as numbers."""
    return [list(bone.rotation_quaternion) for bone in armature.pose.bones]


def printed_reports(capfd):
    """Return what the operators reported: Blender prints it when a script calls them."""
    return capfd.readouterr().out


# --- The list of chains ------------------------------------------------------


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_chain_add_takes_the_active_bone_and_the_other_selected_object(mode):
    armature, target = add_leg(), add_target({1: IN_REACH})
    select(target, armature, mode=mode, tip="shin")
    assert bpy.ops.ik2d.chain_add() == {'FINISHED'}
    by_operator = settings_of(armature.ik2d.chains[0])
    assert by_operator["tip"] == by_operator["name"] == "shin"
    assert (by_operator["bone_count"], by_operator["target"]) == (2, target)
    armature.ik2d.chains.clear()
    chain_list.add_chain(armature, "shin", target=target)
    assert settings_of(armature.ik2d.chains[0]) == by_operator


def test_chain_add_passes_over_bones_that_the_chain_moves():
    armature, target = add_leg(), add_target({1: IN_REACH})
    select(target, armature, mode='POSE', tip="shin")
    select_bone(armature, "shin")
    select_bone(armature, "thigh")
    bpy.ops.ik2d.chain_add()
    assert (armature.ik2d.chains[0].target, armature.ik2d.chains[0].subtarget) == (target, "")


def test_chain_add_without_a_target_makes_one_at_the_tip(capfd):
    armature = add_leg()
    select(armature, mode='POSE', tip="shin")
    assert bpy.ops.ik2d.chain_add() == {'FINISHED'}
    target = armature.ik2d.chains[0].target
    assert (target.name, target.type) == ("shin Target", 'EMPTY')
    assert (evaluated_place(target) - evaluated_tip(armature, "shin")).length < 1e-6
    assert set(target.users_collection) == set(armature.users_collection)
    assert 0.01 < target.empty_display_size < 0.3
    assert "Info: Added chain 'shin', which follows the new 'shin Target'" in printed_reports(capfd)
    assert bpy.context.object == armature and target.select_get() and armature.mode == 'POSE'


def test_in_object_mode_the_new_target_can_be_moved_at_once():
    armature = add_leg()
    armature.location, armature.scale = (1, 2, 3), (2, 2, 2)
    bpy.context.view_layer.update()
    select(armature, tip="shin")
    bpy.ops.ik2d.chain_add()
    target = armature.ik2d.chains[0].target
    bpy.context.view_layer.update()
    assert (evaluated_place(target) - evaluated_tip(armature, "shin")).length < 1e-5
    assert bpy.context.object == armature and bpy.context.selected_objects == [target]
    assert bpy.ops.ik2d.solve() == {'FINISHED'}


def test_a_target_that_the_chain_moves_is_kept_and_its_fault_told(capfd):
    armature, target = add_leg(), add_target({1: IN_REACH})
    target.parent, target.parent_type, target.parent_bone = armature, 'BONE', "shin"
    select(target, armature, tip="shin")
    bpy.ops.ik2d.chain_add()
    assert armature.ik2d.chains[0].target == target
    assert "Warning: Added chain 'shin'. Chain 'shin': its target 'Target' is moved by the chain" in (
        printed_reports(capfd)
    )


@pytest.mark.parametrize("select_target", [True, False])
def test_what_add_chain_says_beforehand_is_what_it_makes(select_target):
    armature, target = add_leg(), add_target({1: IN_REACH}, "Foot Target")
    select(*[target] * select_target, armature, mode='POSE', tip="shin")
    said = operators.plan_in_words(bpy.context)
    assert said == ("thigh, shin to Foot Target" if select_target else "thigh, shin to a new target")
    bpy.ops.ik2d.chain_add()
    chain = armature.ik2d.chains[0]
    assert [joint.name for joint in chain.joints] == ["thigh", "shin"]
    assert chain.target.name == ("Foot Target" if select_target else "shin Target")


@pytest.mark.parametrize(
    "asked, tip, count", [({}, "body", 1), ({"bone_count": 3}, "shin", 3), ({}, "shin", 2)]
)
def test_chain_add_counts_bones(asked, tip, count):
    armature = add_leg()
    select(armature, tip=tip)
    bpy.ops.ik2d.chain_add(**asked)
    assert armature.ik2d.chains[0].bone_count == count


def test_chain_add_refuses_more_bones_than_there_are():
    armature = add_leg()
    select(armature, tip="shin")
    with pytest.raises(RuntimeError, match="only 3"):
        bpy.ops.ik2d.chain_add(bone_count=4)
    assert not armature.ik2d.chains
    with pytest.raises(IK2DError, match="only 3"):
        chain_list.add_chain(armature, "shin", 4)
    with pytest.raises(IK2DError, match="no bone 'foot'"):
        chain_list.add_chain(armature, "foot")
    assert not armature.ik2d.chains


def test_chains_added_twice_have_names_of_their_own_and_the_last_is_active():
    armature = add_leg()
    select(armature, tip="shin")
    for _ in range(3):
        bpy.ops.ik2d.chain_add()
    assert [chain.name for chain in armature.ik2d.chains] == ["shin", "shin.001", "shin.002"]
    assert armature.ik2d.active_index == 2


def rig_with_chains(*names):
    """Return an active leg with chains of these names."""
    armature = add_leg()
    for name in names:
        add_chain(armature, "shin", None, name=name)
    select(armature)
    return armature


@pytest.mark.parametrize("active, left, then_active", [(0, "bc", "b"), (1, "ac", "c"), (2, "ab", "b")])
def test_chain_remove_removes_the_active_chain(active, left, then_active):
    armature = rig_with_chains(*"abc")
    armature.ik2d.active_index = active
    assert bpy.ops.ik2d.chain_remove() == {'FINISHED'}
    assert [chain.name for chain in armature.ik2d.chains] == list(left)
    assert context.active_chain(armature).name == then_active
    assert operators.remove_chain(armature) == then_active


@pytest.mark.parametrize(
    "active, direction, order",
    [
        (0, 'DOWN', "bac"),
        (2, 'UP', "acb"),
        (0, 'UP', "abc"),
        (2, 'DOWN', "abc"),
    ],
)
def test_chain_move_keeps_the_moved_chain_active(active, direction, order):
    armature = rig_with_chains(*"abc")
    armature.ik2d.active_index = active
    assert bpy.ops.ik2d.chain_move(direction=direction) == {'FINISHED'}
    assert [chain.name for chain in armature.ik2d.chains] == list(order)
    assert context.active_chain(armature).name == "abc"[active]


# --- Solve and bake ----------------------------------------------------------


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_solve_does_what_its_function_does(mode):
    armature, target = leg_with_target()
    rest = pose_of(armature)
    baking.solve(armature)
    by_function = pose_of(armature)
    assert by_function != rest
    for bone, rotation in zip(armature.pose.bones, rest, strict=True):
        bone.rotation_quaternion = rotation
    select(armature, mode=mode)
    assert bpy.ops.ik2d.solve() == {'FINISHED'}
    assert pose_of(armature) == by_function
    assert (evaluated_tip(armature, "shin") - evaluated_place(target)).length < 2e-5
    assert armature.animation_data is None
    assert armature.ik2d.chains[0].last_solve and not armature.ik2d.last_bake


@pytest.mark.parametrize("mode", ['OBJECT', 'POSE'])
def test_bake_does_what_its_function_does(mode):
    armature, _target = leg_with_target()
    bpy.context.scene.frame_end = 40
    report = baking.bake(armature)
    by_function = animation_of(armature)
    assert by_function
    armature.animation_data_clear()
    select(armature, mode=mode)
    assert bpy.ops.ik2d.bake() == {'FINISHED'}
    assert animation_of(armature) == by_function
    assert armature.ik2d.last_bake == report.sentence()
    assert armature.ik2d.chains[0].last_bake == report.chains[0].sentence()


def keyed_frames(armature):
    """Return the frames that the armature's first curve has keys on."""
    return [key[0] for key in next(iter(animation_of(armature).values()))]


@pytest.mark.parametrize(
    "custom, asked, frames",
    [
        (False, {}, [3, 4, 5, 6, 7]),
        (True, {}, [10, 12, 14, 15]),
        (True, {"frame_start": 12}, [12, 14, 15]),
        (True, {"frame_start": 1, "frame_end": 9, "step": 4}, [1, 5, 9]),
        (False, {"frame_end": 4}, [3, 4]),
    ],
)
def test_bake_takes_the_range_asked_for_then_the_rigs_then_the_scenes(custom, asked, frames):
    armature, _target = leg_with_target()
    scene, settings = bpy.context.scene, armature.ik2d
    scene.frame_start, scene.frame_end = 3, 7
    settings.use_custom_range = custom
    settings.frame_start, settings.frame_end, settings.frame_step = 10, 15, 2
    select(armature)
    bpy.ops.ik2d.bake(**asked)
    assert keyed_frames(armature) == frames


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen, options",
    [
        ({"use_reduce": True, "reduce_error": 0.01}, {"reduce": 0.01}),
        ({"use_reduce": False, "reduce_error": 0.01}, {}),
        ({"on_target_keys": True}, {"on_target_keys": True}),
        ({"single_axis": True}, {"single_axis": True}),
        ({"ease_flips": True}, {"ease_flips": True}),
    ],
)
def test_bake_takes_the_options_that_the_sidebar_shows(chosen, options):
    baked = []
    for by_operator in (False, True):
        bpy.ops.wm.read_factory_settings(use_empty=True)
        armature, _target = leg_with_target()
        bpy.context.scene.frame_end = 40
        if by_operator:
            for key, value in chosen.items():
                setattr(armature.ik2d, key, value)
            select(armature)
            bpy.ops.ik2d.bake()
        else:
            # As a property keeps it, in 32 bits.
            if "reduce" in options:
                options = {"reduce": np.float32(options["reduce"]).item()}
            baking.bake(armature, options=baking.BakeOptions(**options))
        baked.append((animation_of(armature), [bone.rotation_mode for bone in armature.pose.bones]))
    assert baked[0] == baked[1]
    keys = len(next(iter(baked[0][0].values())))
    assert keys < 40 if {"reduce", "on_target_keys"} & set(options) else keys == 40


@pytest.mark.parametrize("verify, looked_at", [('NONE', 0), ('ALL', 40), ('SAMPLE', 40)])
def test_verify_is_the_one_that_the_sidebar_shows(verify, looked_at):
    armature, _target = leg_with_target()
    armature.ik2d.verify = verify
    steps, report = chosen_bake(armature, 1, 40, 1), None
    while report is None:
        try:
            next(steps)
        except StopIteration as finished:
            report = finished.value
    (chain,) = report.chains
    assert chain.standard.verified == verify and int(np.isfinite(chain.played.on_frames).sum()) == looked_at


def test_keys_are_reduced_or_on_the_targets_keys_but_not_both():
    settings = add_leg().ik2d
    settings.use_reduce = True
    settings.on_target_keys = True
    assert (settings.use_reduce, settings.on_target_keys) == (False, True)
    settings.use_reduce = True
    assert (settings.use_reduce, settings.on_target_keys) == (True, False)
    settings.use_reduce = settings.on_target_keys = False
    assert (settings.use_reduce, settings.on_target_keys) == (False, False)


def test_a_bake_stopped_halfway_leaves_the_file_as_it_was():
    armature, _target = leg_with_target()
    baking.bake(armature, frame_start=1, frame_end=40)
    bpy.context.scene.frame_set(7)

    def everything():
        kinds = (bpy.data.scenes, bpy.data.objects, bpy.data.actions, bpy.data.collections)
        names = [sorted(block.name for block in kind) for kind in kinds]
        return animation_of(armature), pose_of(armature), names, bpy.context.scene.frame_current

    before = everything()
    armature.ik2d.chains[0].bend = 'NEGATIVE'  # what is baked now would be seen
    steps = chosen_bake(armature, 1, 500, 1)
    assert any(done >= total // 2 for done, total in steps)
    steps.close()
    assert everything() == before


def test_a_range_given_once_is_not_kept_for_the_next_bake():
    armature, _target = leg_with_target()
    bpy.context.scene.frame_end = 5
    select(armature)
    bpy.ops.ik2d.bake(frame_start=20, frame_end=22)
    armature.animation_data_clear()
    bpy.ops.ik2d.bake('INVOKE_DEFAULT')
    assert keyed_frames(armature) == [1, 2, 3, 4, 5]


def test_bake_reports_success_as_information(capfd):
    armature, _target = leg_with_target()
    select(armature)
    bpy.ops.ik2d.bake(frame_start=1, frame_end=40)
    assert "Info: Baked 40 frames on 1 chain; every target reached" in printed_reports(capfd)


def test_bake_warns_with_numbers_where_the_target_is_out_of_reach(capfd):
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = TOO_FAR
    select(armature)
    assert bpy.ops.ik2d.bake(frame_start=1, frame_end=4) == {'FINISHED'}
    printed = printed_reports(capfd)
    assert "Warning: Baked 4 frames on 1 chain; 4 of 4 frames out of reach, worst by " in printed
    assert "4 of 4 frames out of reach" in armature.ik2d.last_bake


def test_bake_reports_each_warning_and_keeps_it_for_the_sidebar(capfd):
    armature, target = leg_with_target()
    target.animation_data_clear()
    target.location = (0.5, *IN_REACH[1:])  # beside the leg's plane
    select(armature)
    bpy.ops.ik2d.bake(frame_start=1, frame_end=4)
    printed = printed_reports(capfd)
    assert "Warning: Chain 'shin': its target is up to " in printed
    assert "off the chain's plane" in armature.ik2d.last_bake
    assert "off the chain's plane" in armature.ik2d.chains[0].last_bake


@pytest.mark.parametrize("operator", ["solve", "bake"])
def test_an_error_is_a_sentence_and_changes_nothing(operator):
    armature, _target = leg_with_target()
    armature.ik2d.chains[0].target = None
    select(armature)
    before = pose_of(armature)
    with pytest.raises(RuntimeError, match="Error: Chain 'shin' has no target; choose the object") as caught:
        getattr(bpy.ops.ik2d, operator)()
    assert "Traceback" not in str(caught.value)
    assert pose_of(armature) == before and armature.animation_data is None
    assert armature.ik2d.last_bake == armature.ik2d.last_solve == ""


def test_a_reversed_range_is_an_error():
    armature, _target = leg_with_target()
    select(armature)
    with pytest.raises(RuntimeError, match="range 9 to 3 is reversed"):
        bpy.ops.ik2d.bake(frame_start=9, frame_end=3)
    assert armature.animation_data is None


def test_bake_leaves_disabled_chains_alone():
    armature, target = leg_with_target()
    add_chain(armature, "body", target, bone_count=1, enabled=False)
    select(armature)
    bpy.ops.ik2d.bake(frame_start=1, frame_end=3)
    assert {path.split('"')[1] for path, _ in animation_of(armature)} == {"thigh", "shin"}
    assert armature.ik2d.chains[1].last_bake == ""


def test_one_undo_takes_the_whole_bake_away_and_redo_brings_it_back():
    armature, _target = leg_with_target()
    select(armature)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.ik2d.bake('EXEC_DEFAULT', True, frame_start=1, frame_end=40)
    baked = animation_of(armature)
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert animation_of(armature) == {} and armature.ik2d.last_bake == ""
    bpy.ops.ed.redo()
    assert animation_of(bpy.data.objects["Rig"]) == baked


# --- From the target ---------------------------------------------------------


def test_with_a_target_active_its_chain_is_solved_baked_and_flipped():
    armature, target = leg_with_target()
    other = add_leg("Other")
    select(target)
    assert context.active_armature(bpy.context) == armature
    assert bpy.ops.ik2d.solve() == {'FINISHED'}
    assert bpy.ops.ik2d.bake(frame_start=1, frame_end=4) == {'FINISHED'}
    assert bpy.ops.ik2d.flip() == {'FINISHED'}
    assert keyed_frames(armature) == [1, 2, 3, 4] and not animation_of(other)
    assert armature.ik2d.chains[0].bend == 'NEGATIVE'
    assert bpy.context.object == target


def test_with_a_target_active_the_chain_that_follows_it_is_shown():
    armature, target = leg_with_target()
    second = add_target({1: (0, 0, 3)}, "Second")
    add_chain(armature, "body", second, bone_count=1)
    for thing, name in ((second, "body"), (target, "shin"), (second, "body")):
        select(thing)
        assert context.shown_chain(bpy.context).name == name
        bpy.context.view_layer.update()  # then the list highlights it too
        assert context.active_chain(armature).name == name


def test_with_a_pole_active_its_chain_is_shown_and_solved():
    armature, target = leg_with_target()
    pole = add_target({1: (0, -2, 1)}, "Pole")
    chain = add_chain(armature, "body", add_target({}, "Other"), bone_count=1, pole=pole)
    select(pole)
    assert context.active_armature(bpy.context) is None  # its plane does not go there
    chain.plane = 'POLE'
    assert context.active_armature(bpy.context) == armature
    assert context.shown_chain(bpy.context).name == "body"
    select(target)
    bpy.context.view_layer.update()
    select(pole)
    bpy.context.view_layer.update()
    assert context.active_chain(armature).name == "body"
    assert bpy.ops.ik2d.solve(chain="body") == {'FINISHED'}


def test_of_several_armatures_that_follow_a_target_it_is_one_whose_active_chain_does():
    first, target = leg_with_target()
    second = add_leg("Second")
    add_chain(second, "shin", target)
    add_chain(first, "body", None, bone_count=1)
    select(target)
    assert context.active_armature(bpy.context) == first
    first.ik2d.active_index = 1
    assert context.active_armature(bpy.context) == second


def test_an_object_that_no_chain_follows_is_no_target():
    _armature, _target = leg_with_target()
    select(add_target({1: IN_REACH}, "Lamp"))
    assert context.active_armature(bpy.context) is None
    assert "or the target of one of its chains" in refusal("solve")


def test_from_the_target_no_chain_is_added():
    _armature, target = leg_with_target()
    select(target)
    assert "Make 'Rig' the active object to add a chain to it" in refusal("chain_add")


# --- This chain or all, and what is seen afterwards --------------------------


def two_chains():
    """Return the active leg with a chain for the leg and one for the body."""
    armature, _target = leg_with_target()
    add_chain(armature, "body", add_target({1: (0, 0.3, 2.5)}, "Head"), bone_count=1)
    bpy.context.scene.frame_end = 3
    select(armature)
    return armature


@pytest.mark.parametrize("asked, bones", [("", {"thigh", "shin", "body"}), ("body", {"body"})])
def test_bake_and_solve_take_the_chain_that_is_named_or_all(asked, bones):
    armature = two_chains()
    bpy.ops.ik2d.bake(chain=asked)
    assert {path.split('"')[1] for path, _ in animation_of(armature)} == bones
    bpy.ops.ik2d.solve(chain=asked)
    assert [chain.name for chain in armature.ik2d.chains if chain.last_solve] == (
        [asked] if asked else ["shin", "body"]
    )
    with pytest.raises(RuntimeError, match="no chain 'tail'"):
        bpy.ops.ik2d.bake(chain="tail")


def test_a_name_given_once_is_not_kept_for_the_next_bake():
    armature = two_chains()
    bpy.ops.ik2d.bake(chain="body")
    bpy.ops.ik2d.bake('INVOKE_DEFAULT')
    assert {path.split('"')[1] for path, _ in animation_of(armature)} == {"thigh", "shin", "body"}


def test_in_pose_mode_the_baked_bones_are_selected_afterwards():
    armature = two_chains()
    bpy.ops.object.mode_set(mode='POSE')
    select_bone(armature, "body")
    bpy.ops.ik2d.bake(chain="shin")
    assert [bone.name for bone in armature.pose.bones if is_selected(bone)] == ["thigh", "shin"]


# --- The rig's own range -----------------------------------------------------


def test_a_range_of_its_own_starts_from_the_scenes():
    settings, scene = add_leg().ik2d, bpy.context.scene
    scene.frame_start, scene.frame_end = 7, 77
    settings.use_custom_range = True
    assert (settings.frame_start, settings.frame_end) == (7, 77)
    settings.use_custom_range = False
    scene.frame_end = 99
    settings.use_custom_range = True
    assert (settings.frame_start, settings.frame_end) == (7, 99)


def test_a_range_of_its_own_that_was_set_stays():
    settings = add_leg().ik2d
    settings.frame_start, settings.frame_end = 3, 9
    for _ in range(2):
        settings.use_custom_range = True
        assert (settings.frame_start, settings.frame_end) == (3, 9)
        settings.use_custom_range = False


# --- Why a button is greyed out ----------------------------------------------

EVERY = [
    "chain_add",
    "flip",
    "clear_bake",
    "chain_remove",
    "chain_move",
    "solve",
    "bake",
    "limits_from_bones",
]


def refusal(operator):
    """Return the reason that an operator gives for not running."""
    assert not getattr(bpy.ops.ik2d, operator).poll()
    with pytest.raises(RuntimeError) as caught:
        getattr(bpy.ops.ik2d, operator)()
    return str(caught.value)


@pytest.mark.parametrize("operator", EVERY)
def test_without_an_armature_every_operator_says_so(operator):
    assert "Make an armature the active object" in refusal(operator)
    select(add_target({1: IN_REACH}))
    assert "Make an armature the active object" in refusal(operator)


@pytest.mark.parametrize("operator", EVERY)
def test_in_edit_mode_every_operator_says_so(operator):
    armature, _target = leg_with_target()
    select(armature, mode='EDIT')
    assert "Switch to Object Mode or Pose Mode" in refusal(operator)
    bpy.ops.object.mode_set(mode='OBJECT')


@pytest.fixture
def rig_file(tmp_path):
    """A .blend file with a leg and its chain, to link from."""
    armature, _target = leg_with_target()
    path = str(tmp_path / "rig.blend")
    bpy.data.libraries.write(path, {armature, bpy.context.scene})
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return path


def linked_rig(path):
    """Link the leg into the scene and make it active."""
    with bpy.data.libraries.load(path, link=True) as (_there, wanted):
        wanted.objects = ["Rig"]
    (armature,) = wanted.objects
    bpy.context.scene.collection.objects.link(armature)
    select(armature)
    return armature


@pytest.mark.slow
@pytest.mark.parametrize("operator", EVERY)
def test_on_a_linked_armature_every_operator_says_what_to_do(operator, rig_file):
    linked_rig(rig_file)
    assert "'Rig' is linked from another file; make a library override of it (Object >" in refusal(operator)


@pytest.mark.slow
def test_an_override_gets_chains_of_its_own_and_keeps_the_librarys(rig_file):
    override = linked_rig(rig_file).override_create()
    bpy.context.scene.collection.objects.link(override)
    override.override_library.is_system_override = False
    select(override, tip="body")
    bpy.ops.ik2d.chain_add()
    assert [chain.name for chain in override.ik2d.chains] == ["shin", "body"]
    bpy.ops.ik2d.chain_remove()
    assert [chain.name for chain in override.ik2d.chains] == ["shin"]
    with pytest.raises(RuntimeError, match="Chain 'shin' comes from the linked library: disable it instead"):
        bpy.ops.ik2d.chain_remove()
    assert [chain.name for chain in override.ik2d.chains] == ["shin"]
    bpy.ops.ik2d.bake(frame_start=1, frame_end=3)
    assert keyed_frames(override) == [1, 2, 3]


def test_without_a_chain_there_is_nothing_to_remove_move_solve_or_bake():
    select(add_leg())
    assert "There is no chain to remove" in refusal("chain_remove")
    assert all("Add a chain first" in refusal(name) for name in ("chain_move", "solve", "bake"))


@pytest.mark.parametrize("operator", ["solve", "bake"])
def test_without_an_enabled_chain_there_is_nothing_to_solve(operator):
    armature, _target = leg_with_target(enabled=False)
    select(armature)
    assert "Enable a chain first" in refusal(operator)


def test_one_chain_cannot_be_moved():
    select(leg_with_target()[0])
    assert "There is only one chain" in refusal("chain_move")


def test_without_an_active_bone_chain_add_says_where_to_get_one():
    armature = add_leg()
    select(armature)
    armature.data.bones.active = None
    assert "Select the last bone of the chain in Pose Mode" in refusal("chain_add")
