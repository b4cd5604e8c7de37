# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys and drivers on a chain's settings stay with the chain, whichever way the list of chains is changed."""

import bpy
import numpy as np
import pytest
from keyed_chains import (
    FRAMES,
    HAS_SLOTS,
    REACH,
    holders,
    key,
    make_active,
    moved,
    new_action,
    paths,
    put_into_strip,
    tips,
    two_legs,
)
from rigs import calls_of, evaluated_place, override_from

from ik2d_addon.bake import bake
from ik2d_addon.chains import add_chain, adopt, make_native, release, remove_chain
from ik2d_addon.core import IK2DError
from ik2d_addon.features.setup.operators import move_chain

SAME = 1e-6  # of the reach


def press_move(armature, direction='UP', active=1):
    make_active(armature)
    armature.ik2d.active_index = active
    return bpy.ops.ik2d.chain_move(direction=direction)


def press_remove(armature, active):
    make_active(armature)
    armature.ik2d.active_index = active
    return bpy.ops.ik2d.chain_remove()


def move_by_function(armature):
    armature.ik2d.active_index = 0
    move_chain(armature, 1)


def move_then_update(armature):
    armature.ik2d.chains.move(1, 0)
    bpy.context.view_layer.update()


MOVES = {
    "up": press_move,
    "down": lambda armature: press_move(armature, 'DOWN', 0),
    "function": move_by_function,
    "script": lambda armature: armature.ik2d.chains.move(1, 0),
    "script, updated": move_then_update,
}
REMOVES = {
    "operator": lambda armature: press_remove(armature, 0),
    "function": lambda armature: remove_chain(armature, armature.ik2d.chains["L"]),
    "script": lambda armature: armature.ik2d.chains.remove(0),
}


def test_the_keys_move_the_legs():
    """The tests below would show nothing otherwise."""
    armature = two_legs()
    before = tips(armature)
    for holder in holders(armature.animation_data.action):
        holder.fcurves.remove(holder.fcurves.find("ik2d.chains[1].influence"))
    armature.ik2d.chains["R"].influence = 1.0
    assert moved(before, armature, "R") > 0.1


@pytest.mark.parametrize("way", MOVES)
def test_a_moved_chain_keeps_its_keys(way):
    armature = two_legs()
    before = tips(armature)
    MOVES[way](armature)
    assert moved(before, armature) < SAME
    assert armature.ik2d.chains.keys() == ["R", "L"]


def test_a_bare_move_is_followed_before_keys_are_played_on_the_wrong_chain():
    armature = two_legs()
    armature.ik2d.chains.move(1, 0)
    armature.animation_data.action.update_tag()
    bpy.context.view_layer.update()
    wanted = ["ik2d.chains[0].influence", "ik2d.chains[0].turn_over", "ik2d.chains[1].softness"]
    assert paths(armature.animation_data.action) == wanted
    assert armature.ik2d.chains["L"].influence == 1.0 and armature.ik2d.chains["L"].turn_over == 0.0


@pytest.mark.parametrize("way", REMOVES)
def test_a_chain_keeps_its_keys_where_one_above_it_is_removed(way):
    armature = two_legs()
    before = tips(armature)
    REMOVES[way](armature)
    assert moved(before, armature, "R") < SAME
    assert paths(armature.animation_data.action) == ["ik2d.chains[0].influence", "ik2d.chains[0].turn_over"]


def test_the_keys_of_a_removed_chain_go_with_it_and_a_new_chain_has_none():
    armature = two_legs()
    armature.driver_add("ik2d.chains[1].bend").driver.expression = "1"
    before, target = tips(armature), armature.ik2d.chains["R"].target
    remove_chain(armature, armature.ik2d.chains["R"])
    assert paths(armature.animation_data.action) == ["ik2d.chains[0].softness"]
    assert not len(armature.animation_data.drivers) and moved(before, armature, "L") < SAME
    new = add_chain(armature, "shin.R", 2, target)
    new.live = True
    tips(armature)
    assert new.influence == 1.0 and new.live_reached


@pytest.mark.slow
def test_three_chains_in_any_order_keep_their_keys():
    armature = two_legs()
    before = tips(armature)
    extra = add_chain(armature, "body", 1)
    for _ in range(2):
        for old, new in ((2, 0), (0, 1), (1, 2), (0, 2)):
            armature.ik2d.chains.move(old, new)
        assert moved(before, armature) < SAME
    armature.ik2d.chains.remove(armature.ik2d.chains.find("body"))
    armature.ik2d.chains.move(1, 0)
    assert extra is not None and moved(before, armature) < SAME


@pytest.mark.slow
def test_undo_and_redo_keep_the_keys_on_their_chain():
    bpy.context.preferences.edit.use_global_undo = True
    armature = two_legs()
    before, action = tips(armature), paths(armature.animation_data.action)
    bpy.ops.ed.undo_push(message="before")
    remove_chain(armature, armature.ik2d.chains["L"])
    bpy.ops.ed.undo_push(message="removed")
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert paths(armature.animation_data.action) == action and moved(before, armature) < SAME
    bpy.ops.ed.redo()
    armature = bpy.data.objects["Rig"]
    assert len(armature.ik2d.chains) == 1 and moved(before, armature, "R") < SAME


@pytest.mark.slow
def test_undo_to_a_step_that_a_script_left_half_done_is_set_right():
    """A script's bare move may be in an undo step before any path was rewritten."""
    bpy.context.preferences.edit.use_global_undo = True
    armature = two_legs()
    before = tips(armature)
    armature.ik2d.chains.move(1, 0)
    bpy.ops.ed.undo_push(message="moved")
    assert moved(before, armature) < SAME
    bpy.ops.ed.undo_push(message="followed")
    bpy.ops.ed.undo()
    assert moved(before, bpy.data.objects["Rig"]) < SAME
    bpy.ops.ed.redo()
    assert moved(before, bpy.data.objects["Rig"]) < SAME


@pytest.mark.slow
def test_a_file_saved_right_after_a_bare_move_opens_with_the_keys_on_their_chain(tmp_path):
    armature = two_legs()
    before = tips(armature)
    armature.ik2d.chains.move(1, 0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "moved.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "moved.blend"))
    assert moved(before, bpy.data.objects["Rig"]) < SAME


def test_a_bake_right_after_a_bare_move_reads_each_chains_own_keys():
    armature = two_legs()
    before = tips(armature)
    armature.ik2d.chains.move(1, 0)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 30
    bake(armature)
    assert not any(chain.live for chain in armature.ik2d.chains)
    whole = [at for at, frame in enumerate(FRAMES) if frame == int(frame)]
    assert np.linalg.norm(tips(armature)[whole] - before[whole], axis=2).max() < 1e-4 * REACH


def test_chains_converted_to_drivers_right_after_a_bare_move_keep_each_its_own_keys():
    found = []
    for number, is_moved in enumerate((False, True)):
        armature = two_legs(f"Rig {number}")
        if is_moved:
            armature.ik2d.chains.move(1, 0)
        for name in "LR":
            make_native(armature, armature.ik2d.chains[name])
        found.append(tips(armature))
    assert np.abs(found[1] - found[0]).max() < 1e-5 * REACH
    armature.ik2d.chains.move(1, 0)
    assert moved(found[0], armature) < 1e-5


def test_an_nla_strip_keeps_its_keys_on_their_chain():
    armature = two_legs()
    put_into_strip(armature)
    before = tips(armature)
    press_move(armature)
    assert moved(before, armature) < SAME


@pytest.mark.parametrize("tweak", [False, True])
def test_all_actions_of_an_armature_follow(tweak):
    """Played, in a muted strip, in tweak mode or waiting for its end, and with no user at all."""
    armature = two_legs()
    playing = armature.animation_data.action
    muted, idle = playing.copy(), playing.copy()
    idle.use_fake_user = True
    strip = put_into_strip(armature, muted)
    armature.animation_data.action = playing
    if HAS_SLOTS:
        armature.animation_data.action_slot = playing.slots[0]
    if tweak:
        armature.animation_data.nla_tracks[0].select = strip.select = True
        armature.animation_data.nla_tracks.active = armature.animation_data.nla_tracks[0]
        armature.animation_data.use_tweak_mode = True
        assert armature.animation_data.action == muted
    strip.mute = not tweak
    armature.ik2d.chains.move(1, 0)
    bpy.context.scene.frame_set(7)
    wanted = ["ik2d.chains[0].influence", "ik2d.chains[0].turn_over", "ik2d.chains[1].softness"]
    assert [paths(action) for action in (playing, muted, idle)] == 3 * [wanted]


def test_drivers_and_what_drivers_read_follow():
    armature = two_legs()
    armature.driver_add("ik2d.chains[1].softness").driver.expression = "0.125"
    empty = bpy.data.objects.new("Reader", None)
    material = bpy.data.materials.new("Reader")
    if not material.node_tree:
        material.use_nodes = True
    mesh = bpy.data.objects.new("Mesh", bpy.data.meshes.new("Mesh"))
    for ob in (empty, mesh):
        bpy.context.scene.collection.objects.link(ob)
    mesh.shape_key_add(name="Basis")
    shape = mesh.shape_key_add(name="Bulge")
    node = next(one for one in material.node_tree.nodes if one.type == 'BSDF_PRINCIPLED')
    curves = [
        empty.driver_add("location", 0),
        shape.driver_add("value"),
        node.inputs["Roughness"].driver_add("default_value"),
        armature.driver_add('pose.bones["body"].location', 0),
    ]
    for curve in curves:
        read(curve, armature, "ik2d.chains[1].influence")
    group = bpy.data.collections.new("Rigs")  # a user of the rig that has no animation data
    bpy.context.scene.collection.children.link(group)
    group.objects.link(armature)
    keying_set = bpy.context.scene.keying_sets.new(name="Legs")
    keyed = keying_set.paths.add(armature, "ik2d.chains[1].influence")
    bpy.context.scene.frame_set(8)
    place, body = evaluated_place(empty).x, armature.pose.bones["body"].location.x
    assert 0.2 < place < 0.8 and abs(body - place) < SAME
    press_move(armature)
    wanted = "ik2d.chains[0].influence"
    assert [curve.driver.variables[0].targets[0].data_path for curve in curves] == 4 * [wanted]
    assert keyed.data_path == wanted
    assert armature.animation_data.drivers.find("ik2d.chains[0].softness")
    bpy.context.scene.frame_set(9)
    bpy.context.scene.frame_set(8)
    assert abs(evaluated_place(empty).x - place) < SAME
    assert abs(armature.pose.bones["body"].location.x - place) < SAME


def read(curve, armature, path):
    """Have a driver read a path of an armature."""
    variable = curve.driver.variables.new()
    variable.targets[0].id, variable.targets[0].data_path = armature, path
    curve.driver.expression = variable.name


def test_a_driver_that_reads_a_removed_chain_reads_no_other_one():
    """It is broken, as Blender leaves one that reads a removed modifier."""
    armature = two_legs()
    empty = bpy.data.objects.new("Reader", None)
    bpy.context.scene.collection.objects.link(empty)
    curve = empty.driver_add("location", 0)
    read(curve, armature, "ik2d.chains[0].influence")
    bpy.context.scene.frame_set(1)
    assert evaluated_place(empty).x == 1.0
    remove_chain(armature, armature.ik2d.chains["L"])
    bpy.context.scene.frame_set(15)
    assert curve.driver.variables[0].targets[0].data_path == 'ik2d.chains["L"].influence'
    assert evaluated_place(empty).x == 0.0 and armature.ik2d.chains["R"].influence == 1.0
    assert not curve.driver.is_valid


def test_a_driver_that_reads_a_joint_stays_with_it_when_the_chain_gets_longer():
    armature = two_legs()
    chain = armature.ik2d.chains["L"]
    chain.joints["shin.L"].limit_max = 0.75
    empty = bpy.data.objects.new("Reader", None)
    bpy.context.scene.collection.objects.link(empty)
    curve = empty.driver_add("location", 0)
    read(curve, armature, "ik2d.chains[0].joints[1].limit_max")
    chain.bone_count = 3
    assert curve.driver.variables[0].targets[0].data_path == "ik2d.chains[0].joints[2].limit_max"
    press_move(armature)
    assert curve.driver.variables[0].targets[0].data_path == "ik2d.chains[1].joints[2].limit_max"
    bpy.context.scene.frame_set(2)
    assert abs(evaluated_place(empty).x - 0.75) < SAME
    chain = armature.ik2d.chains["L"]
    chain.bone_count = 2
    chain.tip = "thigh.L"
    assert curve.driver.variables[0].targets[0].data_path == 'ik2d.chains[1].joints["shin.L"].limit_max'
    chain.tip = "shin.L"
    for frame in (3, 2):
        bpy.context.scene.frame_set(frame)
    assert abs(evaluated_place(empty).x - 0.75) < SAME


def test_paths_by_name_follow_a_renamed_chain():
    armature = two_legs()
    for holder in holders(armature.animation_data.action):
        for curve in holder.fcurves:
            curve.data_path = curve.data_path.replace("chains[1]", 'chains["R"]')
    bpy.context.view_layer.update()
    before = tips(armature)
    armature.ik2d.chains["R"].name = 'Leg "R"'
    assert moved(before, armature) < SAME
    armature.ik2d.chains.move(1, 0)
    assert moved(before, armature) < SAME


def test_an_adopted_chain_takes_its_keys_with_it_and_others_keep_theirs():
    armature = two_legs()
    constraint = armature.pose.bones["body"].constraints.new('IK')
    target = bpy.data.objects.new("Above", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = (0.1, 0.3, 2.5)
    constraint.target, constraint.chain_count = target, 1
    for frame, value in ((1, 0.0), (30, 1.0)):
        constraint.influence = value
        constraint.keyframe_insert("influence", frame=frame)
    before = tips(armature)
    (name,) = adopt(armature, ["body"])
    armature.ik2d.chains.move(2, 0)
    bpy.context.scene.frame_set(3)
    release(armature, name)
    assert moved(before, armature) < SAME
    wanted = ["ik2d.chains[0].softness", "ik2d.chains[1].influence", "ik2d.chains[1].turn_over"]
    assert [path for path in paths(armature.animation_data.action) if "ik2d" in path] == wanted


def test_a_chain_copied_within_the_list_gets_a_number_of_its_own_and_the_original_keeps_its_keys():
    armature = two_legs()
    before, chains = tips(armature), armature.ik2d.chains
    copy = chains.add()
    copy.uid, copy.name = chains["R"].uid, "copy"
    chains.move(2, 0)
    assert moved(before, armature) < SAME
    assert len({chain.uid for chain in chains}) == 3 and all(chain.uid for chain in chains)


# --- Whose keys they are -----------------------------------------------------


@pytest.mark.slow
def test_another_rigs_keys_stay_where_they_are():
    armature, other = two_legs(), two_legs("Other", 3.0)
    before, action = tips(other), paths(other.animation_data.action)
    remove_chain(armature, armature.ik2d.chains["L"])
    assert paths(other.animation_data.action) == action and moved(before, other) < SAME


CHAINS = [("ik2d.chains[0].influence", 0), ("ik2d.chains[1].turn_over", 0)]
MOVED = ["ik2d.chains[0].turn_over", "ik2d.chains[1].influence"]


@pytest.mark.parametrize("other", [False, True])
def test_an_action_that_nobody_plays_belongs_to_the_rig_with_its_bones(other):
    armature = two_legs()
    if other:
        two_legs("Other", 3.0, "other ")
    mine = new_action("Idle", "Anyone", [('pose.bones["shin.R"].location', 0), *CHAINS])
    its = new_action("Its Idle", "Anyone", [('pose.bones["other shin.R"].location', 0), *CHAINS])
    press_move(armature)
    assert paths(mine)[:2] == MOVED
    assert (paths(its)[:2] == MOVED) != other


@pytest.mark.skipif(not HAS_SLOTS, reason="actions have no slots")
def test_an_action_that_nobody_plays_belongs_to_the_rig_that_its_slot_is_named_after():
    armature = two_legs()
    two_legs("Other", 3.0)
    bones = [('pose.bones["shin.R"].location', 0), *CHAINS]
    mine, its = new_action("Idle", "Rig", bones), new_action("Its Idle", "Other", bones)
    press_move(armature)
    assert paths(mine)[:2] == MOVED and paths(its)[:2] == [path for path, _ in CHAINS]
    assert armature.ik2d.paths_left == ""


@pytest.mark.slow
def test_an_action_that_may_be_either_rigs_is_named_and_left(capfd):
    armature = two_legs()
    two_legs("Other", 3.0)
    unclear = new_action("Idle", "Anyone", [('pose.bones["shin.R"].location', 0), *CHAINS])
    before = tips(armature)
    assert press_move(armature) == {'FINISHED'}
    assert paths(unclear)[:2] == [path for path, _ in CHAINS]
    assert moved(before, armature) < SAME
    said = capfd.readouterr().out
    assert "'Idle' may belong to 'Rig' or to 'Other'" in said
    assert "'Idle'" in armature.ik2d.paths_left


@pytest.mark.slow
def test_a_list_whose_action_another_rig_plays_too_is_not_changed():
    armature, other = two_legs(), two_legs("Other", 3.0)
    action = armature.animation_data.action
    other.animation_data.action = action
    if HAS_SLOTS:
        other.animation_data.action_slot = action.slots[0]
    before, its = tips(armature), tips(other)
    with pytest.raises(RuntimeError, match="'Rig Walk' is played by 'Other' too"):
        press_move(armature)
    with pytest.raises(IK2DError, match="single-user"):
        remove_chain(armature, armature.ik2d.chains["L"])
    assert armature.ik2d.chains.keys() == ["L", "R"]
    assert moved(before, armature) < SAME and moved(its, other) < SAME
    armature.ik2d.chains.move(1, 0)  # a script asks nobody: it is told
    assert moved(its, other) < SAME
    assert "'Rig Walk'" in armature.ik2d.paths_left


def linked_action(tmp_path, armature):
    """Put the armature's action into a library and assign it from there."""
    path = str(tmp_path / "actions.blend")
    name = armature.animation_data.action.name
    bpy.data.libraries.write(path, {armature.animation_data.action})
    bpy.data.actions.remove(armature.animation_data.action)
    with bpy.data.libraries.load(path, link=True) as (_there, wanted):
        wanted.actions = [name]
    armature.animation_data.action = wanted.actions[0]
    if HAS_SLOTS:
        armature.animation_data.action_slot = wanted.actions[0].slots[0]
    return wanted.actions[0]


def test_a_list_whose_action_is_linked_is_not_changed_where_keys_would_act_on_another_chain(tmp_path):
    armature = two_legs()
    action = linked_action(tmp_path, armature)
    before, there = tips(armature), paths(action)
    with pytest.raises(RuntimeError, match="'Rig Walk' is linked, so its keys on chains of 'Rig' cannot"):
        press_move(armature)
    with pytest.raises(RuntimeError, match="make it local first"):
        press_remove(armature, 0)
    assert armature.ik2d.chains.keys() == ["L", "R"] and moved(before, armature) < SAME
    assert press_remove(armature, 1) == {'FINISHED'}  # its keys act on nothing then
    assert moved(before, armature, "L") < SAME and paths(action) == there


def test_a_script_that_moves_chains_under_a_linked_action_is_told_and_nothing_linked_is_written(tmp_path):
    armature = two_legs()
    action = linked_action(tmp_path, armature)
    there = paths(action)
    armature.ik2d.chains.move(1, 0)
    bpy.context.scene.frame_set(2)
    assert "'Rig Walk' is linked" in armature.ik2d.paths_left and paths(action) == there
    armature.ik2d.chains.move(1, 0)
    bpy.context.scene.frame_set(3)
    assert paths(action) == there


# --- Files -------------------------------------------------------------------


def test_a_linked_rig_is_not_written_to(tmp_path):
    two_legs()
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_there, wanted):
        wanted.objects = ["Rig", "Rig L", "Rig R"]
    for ob in wanted.objects:
        bpy.context.scene.collection.objects.link(ob)
    armature = wanted.objects[0]
    order = armature.ik2d.chain_order
    bpy.context.scene.frame_set(3)
    with pytest.raises(RuntimeError, match="linked from another file"):
        press_move(armature)
    assert armature.ik2d.chain_order == order and armature.ik2d.chains.keys() == ["L", "R"]


@pytest.mark.slow
def test_the_keys_on_an_override_follow_their_chain_when_its_library_reorders_the_list(tmp_path):
    library, shot = str(tmp_path / "rig.blend"), str(tmp_path / "shot.blend")
    armature = two_legs()
    armature.animation_data.action = None
    bpy.ops.wm.save_as_mainfile(filepath=library)
    armature = override_from(library, "Rig", "Rig L", "Rig R")
    for frame, value in ((1, 0.0), (15, 1.0), (30, 0.25)):
        key(armature, "R", "influence", frame, value)
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    before = tips(armature)
    bpy.ops.wm.open_mainfile(filepath=library)
    bpy.data.objects["Rig"].ik2d.chains.move(1, 0)
    bpy.context.scene.frame_set(5)
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.open_mainfile(filepath=shot)
    armature = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == 'ARMATURE')
    assert armature.ik2d.chains.keys() == ["R", "L"]
    assert moved(before, armature) < SAME
    assert paths(armature.animation_data.action) == ["ik2d.chains[0].influence"]


@pytest.mark.slow
def test_a_file_from_before_gets_numbers_and_keeps_its_pose(tmp_path):
    armature = two_legs()
    before = tips(armature)
    for name in ("chain_order", "paths_left"):
        armature.ik2d.property_unset(name)
    for chain in armature.ik2d.chains:
        chain.property_unset("uid")
    there = paths(armature.animation_data.action)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "before.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "before.blend"))
    armature = bpy.data.objects["Rig"]
    assert moved(before, armature) < SAME and paths(armature.animation_data.action) == there
    assert [chain.uid for chain in armature.ik2d.chains] == [1, 2]
    armature.ik2d.chains.move(1, 0)
    assert moved(before, armature) < SAME


# --- Cost --------------------------------------------------------------------


@pytest.mark.slow
def test_moving_a_chain_looks_at_far_fewer_things_than_all_actions_have_curves():
    armature = two_legs()
    curves = [(f'pose.bones["b{j // 4}"].location', j % 4) for j in range(198)]
    for i in range(100):
        new_action(f"Clip {i}", "Rig", [*curves, *CHAINS])
    for i in range(300):
        ob = bpy.data.objects.new(f"Driven {i}", None)
        bpy.context.scene.collection.objects.link(ob)
        ob.driver_add("location", 0)
    for i in range(4):
        direction = 1 - 2 * (armature.ik2d.active_index > 0)
        calls = calls_of(lambda direction=direction: move_chain(armature, direction))
        assert calls < 100 * 200 / 2
        assert paths(bpy.data.actions["Clip 7"])[:2] == (_as_made() if i % 2 else MOVED)


def _as_made():
    return [path for path, _ in CHAINS]
