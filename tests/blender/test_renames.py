# SPDX-License-Identifier: GPL-3.0-or-later
"""Names: chains follow bones that are renamed, settings of joints come back, no two chains share a name."""

import bpy
import pytest
from rigs import add_armature, add_chain, add_leg, add_target, leg_with_target

from ik2d_addon.bake import bake, solve
from ik2d_addon.core import IK2DError
from ik2d_addon.features.doctor.fixes import mend
from ik2d_addon.rig.chain.renames import straighten
from ik2d_addon.ui.settings.chain_list import add_chain as add_chain_to
from ik2d_addon.ui.settings.joint_list import joints_missing

LIMITED = {"use_limit": True, "limit_min": 0.25, "limit_max": 2.5, "weight": 0.5}
PLACES = {1: (0, -0.6, 0.6), 3: (0, 0.2, 0.3)}


def set_joint(joint, **settings):
    """Give a joint these settings."""
    for key, value in (settings or LIMITED).items():
        setattr(joint, key, value)


def joint_settings(chain):
    """Return {bone: what its joint is set to}."""
    return {joint.name: {key: getattr(joint, key) for key in LIMITED} for joint in chain.joints}


def rename(armature, **names):
    """Rename bones as a person does in the Outliner, then let Blender update."""
    for old, new in names.items():
        armature.data.bones[old].name = new
    bpy.context.view_layer.update()


def activate(armature):
    """Make an object the active one."""
    bpy.context.view_layer.objects.active = armature


# --- Bones that are renamed --------------------------------------------------


@pytest.mark.parametrize("bone", ["thigh", "shin"])
def test_a_renamed_bone_keeps_its_limit(bone):
    armature, _target = leg_with_target()
    bpy.context.view_layer.update()
    chain = armature.ik2d.chains[0]
    set_joint(chain.joints[bone])
    rename(armature, **{bone: "renamed"})
    assert joint_settings(chain)["renamed"] == LIMITED
    assert [joint.name for joint in chain.joints] == ["thigh", "shin"].__class__(
        "renamed" if name == bone else name for name in ("thigh", "shin")
    )
    assert not joints_missing(chain)


def test_a_renamed_bone_keeps_its_limit_in_a_bake_that_blender_has_not_updated_before():
    armature, _target = leg_with_target()
    chain = armature.ik2d.chains[0]
    set_joint(chain.joints["shin"], use_limit=True, limit_min=0.3, limit_max=0.35)
    kept = bake(armature, frame_start=1, frame_end=40).chains[0]
    armature.data.bones["shin"].name = "calf"
    renamed = bake(armature, frame_start=1, frame_end=40).chains[0]
    assert chain.tip == "calf" and renamed.bones == ("thigh", "calf")
    assert kept.joints.limited.any() and (renamed.joints.limited == kept.joints.limited).all()


def test_a_renamed_tip_leaves_the_chain_working():
    armature, target = leg_with_target()
    rename(armature, shin="calf")
    assert armature.ik2d.chains[0].tip == "calf"
    assert solve(armature).all_reached


def test_a_renamed_target_bone_leaves_the_chain_working():
    armature = add_leg()
    other = add_armature({"pad": ((0, -0.6, 0.6), (0, -0.6, 0.8), "", 0.0)}, "Other")
    chain = add_chain(armature, "shin", other, subtarget="pad")
    bpy.context.view_layer.update()
    rename(other, pad="plate")
    assert chain.subtarget == "plate"
    assert solve(armature).all_reached


def test_names_that_are_swapped_are_followed():
    armature = add_armature(
        {
            "hip": ((0, 0, 2), (0, 0, 2.5), "", 0.0),
            "a.L": ((1, 0, 2), (1, -0.1, 1), "hip", 0.0),
            "b.L": ((1, -0.1, 1), (1, 0, 0), "a.L", 0.0),
            "a.R": ((-1, 0, 2), (-1, -0.1, 1), "hip", 0.0),
            "b.R": ((-1, -0.1, 1), (-1, 0, 0), "a.R", 0.0),
        }
    )
    chain = add_chain(armature, "b.L", None)
    set_joint(chain.joints["b.L"])
    bones = armature.data.bones
    bones["b.L"].name, bones["a.L"].name = "b.X", "a.X"
    bones["b.R"].name, bones["a.R"].name = "b.L", "a.L"
    bones["b.X"].name, bones["a.X"].name = "b.R", "a.R"
    bpy.context.view_layer.update()
    assert chain.tip == "b.R" and joint_settings(chain)["b.R"] == LIMITED
    assert [joint.name for joint in chain.joints] == ["a.R", "b.R"]


def test_bones_that_are_moved_and_keep_their_names_stay_in_the_chain():
    armature = add_leg()
    chain = add_chain(armature, "shin", None)
    set_joint(chain.joints["shin"])
    bpy.context.view_layer.update()
    activate(armature)
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    copy = bones.new("copy")  # where the shin was
    copy.head, copy.tail, copy.parent = bones["shin"].head, bones["shin"].tail, bones["thigh"]
    bones["shin"].tail = (0, 0.4, 0.2)
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.view_layer.update()
    assert chain.tip == "shin" and joint_settings(chain)["shin"] == LIMITED
    rename(armature, shin="calf")  # where it stands now is known too
    assert chain.tip == "calf" and joint_settings(chain)["calf"] == LIMITED


def test_a_deleted_bone_is_not_taken_for_another_in_its_place():
    """As in generated rigs, where bones of several kinds stand in one place."""
    leg = {"thigh": ((0, 0, 2), (0, -0.1, 1), ""), "shin": ((0, -0.1, 1), (0, 0, 0.1), "thigh")}
    bones = {
        f"{kind}-{name}": (head, tail, parent and f"{kind}-{parent}", 0.0)
        for kind in ("FK", "DEF")
        for name, (head, tail, parent) in leg.items()
    }
    armature = add_armature(bones)
    chain = add_chain(armature, "FK-shin", add_target(PLACES))
    activate(armature)
    bpy.ops.object.mode_set(mode='EDIT')
    armature.data.edit_bones.remove(armature.data.edit_bones["FK-shin"])
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.view_layer.update()
    assert chain.tip == "FK-shin"
    with pytest.raises(IK2DError, match="no bone 'FK-shin'"):
        solve(armature)


def test_all_bones_renamed_at_once_are_followed():
    armature, _target = leg_with_target()
    chain = armature.ik2d.chains[0]
    set_joint(chain.joints["thigh"])
    for bone in armature.data.bones:
        bone.name = f"mixamorig:{bone.name}"
    bpy.context.view_layer.update()
    assert chain.tip == "mixamorig:shin"
    assert joint_settings(chain)["mixamorig:thigh"] == LIMITED


def test_undo_and_redo_of_a_rename_are_followed():
    armature, _target = leg_with_target()
    activate(armature)
    set_joint(armature.ik2d.chains[0].joints["shin"])
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="before")
    rename(armature, shin="calf")
    bpy.ops.ed.undo_push(message="renamed")
    bpy.ops.ed.undo()
    chain = bpy.data.objects["Rig"].ik2d.chains[0]
    assert chain.tip == "shin" and joint_settings(chain)["shin"] == LIMITED
    bpy.ops.ed.redo()
    chain = bpy.data.objects["Rig"].ik2d.chains[0]
    assert chain.tip == "calf" and joint_settings(chain)["calf"] == LIMITED


def test_a_chain_of_another_file_follows_what_its_library_renamed(tmp_path):
    armature = add_leg()
    library, shot = str(tmp_path / "rig.blend"), str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.read_factory_settings(use_empty=True)
    with bpy.data.libraries.load(library, link=True) as (_there, wanted):
        wanted.armatures = ["Rig"]
    armature = bpy.data.objects.new("Local", wanted.armatures[0])
    bpy.context.scene.collection.objects.link(armature)
    bpy.context.view_layer.update()
    chain = add_chain(armature, "shin", add_target(PLACES))
    set_joint(chain.joints["shin"])
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=library)
    bpy.data.armatures["Rig"].bones["shin"].name = "calf"
    bpy.ops.wm.save_as_mainfile(filepath=library)
    bpy.ops.wm.open_mainfile(filepath=shot)
    chain = bpy.data.objects["Local"].ik2d.chains[0]
    assert chain.tip == "calf" and joint_settings(chain)["calf"] == LIMITED


# --- Where nobody can know: an offer -----------------------------------------


def edited_and_renamed():
    """Return a leg whose shin was renamed and moved in one go, in Edit Mode."""
    armature, _target = leg_with_target()
    set_joint(armature.ik2d.chains[0].joints["shin"])
    bpy.context.view_layer.update()
    activate(armature)
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    bones["shin"].tail = (0, 0.1, 0.15)
    bones["shin"].name = "shin_bone"
    other = bones.new("antenna")
    other.head, other.tail = (0, 0, 2.6), (0, 0, 3.5)
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.view_layer.update()
    return armature


def test_a_bone_renamed_and_moved_at_once_is_lost_and_said_so():
    armature = edited_and_renamed()
    chain = armature.ik2d.chains[0]
    assert chain.tip == "shin"
    with pytest.raises(IK2DError, match="no bone 'shin'"):
        solve(armature)
    chain.tip = "shin_bone"
    assert solve(armature).all_reached


# --- Settings of joints come back --------------------------------------------


def test_fewer_bones_and_then_as_many_as_before_lose_nothing():
    chain = add_chain(add_leg(), "shin", None, bone_count=3)
    set_joint(chain.joints["body"])
    set_joint(chain.joints["thigh"], weight=0.75)
    before = joint_settings(chain)
    chain.bone_count = 1
    assert list(joint_settings(chain)) == ["shin"]
    chain.bone_count = 3
    assert joint_settings(chain) == before
    assert not chain.dormant


def test_another_tip_and_back_loses_nothing_also_by_way_of_a_file(tmp_path):
    armature = add_leg()
    chain = add_chain(armature, "shin", None, bone_count=2)
    set_joint(chain.joints["shin"])
    chain.tip = "body"
    chain.bone_count = 1
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    armature = bpy.data.objects["Rig"]
    rename(armature, shin="calf")  # also what is out of the chain for now
    chain = armature.ik2d.chains[0]
    chain.tip, chain.bone_count = "calf", 2
    assert joint_settings(chain)["calf"] == LIMITED


def test_update_joints_throws_no_settings_away():
    armature = add_leg()
    chain = add_chain(armature, "shin", None)
    set_joint(chain.joints["thigh"])
    armature.data.bones["thigh"].name = "femur"
    assert mend('UPDATE_JOINTS', armature, chain) == "Chain 'shin' has 2 joints"
    assert joint_settings(chain)["femur"] == LIMITED


# --- Names of chains ---------------------------------------------------------


def test_two_chains_made_without_a_name_are_two_chains():
    armature = add_armature(
        {
            "a": ((0, 0, 0), (0.2, 0, 1), "", 0.0),
            "b": ((0.2, 0, 1), (0, 0, 2), "a", 0.0),
            "c": ((4, 0, 0), (4.2, 0, 1), "", 0.0),
            "d": ((4.2, 0, 1), (4, 0, 2), "c", 0.0),
        }
    )
    for tip, place in (("b", (1, 0, 1)), ("d", (5, 0, 1))):
        chain = armature.ik2d.chains.add()
        chain.tip, chain.bone_count, chain.target = tip, 2, add_target({1: place}, f"to {tip}")
    report = bake(armature, frame_start=1, frame_end=2)
    assert [chain.name for chain in armature.ik2d.chains] == ["Chain", "Chain.001"]
    assert [chain.bones for chain in report.chains] == [("a", "b"), ("c", "d")]
    for tip in ("b", "d"):
        end = armature.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[tip].tail
        assert (end - bpy.data.objects[f"to {tip}"].location).length < 1e-4


def test_names_are_made_unique_on_loading(tmp_path):
    armature = add_leg()
    for _ in range(3):
        armature.ik2d.chains.add()
    path = str(tmp_path / "rig.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    names = [chain.name for chain in bpy.data.objects["Rig"].ik2d.chains]
    assert names == ["Chain", "Chain.001", "Chain.002"]


def test_a_chain_is_not_named_after_a_bone_that_is_not_its_tip():
    names = ["Bone", "Bone.001", "Bone.002"]
    bones = {
        name: ((0, 0, i), (0.1 * i, 0, i + 1), names[i - 1] if i else "", 0.0) for i, name in enumerate(names)
    }
    armature = add_armature(bones)
    made = [add_chain_to(armature, "Bone.002").name for _ in range(2)]
    assert made[0] == "Bone.002"
    assert made[1] not in {*names, made[0]}


def test_straightening_twice_changes_nothing_more():
    armature, _target = leg_with_target()
    straighten(armature)
    assert not straighten(armature)


def test_a_chain_that_never_got_a_name_is_baked_by_its_default():
    armature, target = leg_with_target()
    armature.ik2d.chains.clear()
    chain = armature.ik2d.chains.add()
    chain.tip, chain.bone_count, chain.target = "shin", 2, target
    assert bake(armature, [chain.name], 1, 2).chains[0].name == chain.name == "Chain"


def test_a_targets_bone_is_followed_from_where_it_was_last():
    armature, _ = leg_with_target()
    other = add_armature({"goal": ((0, -0.4, 0.7), (0, -0.4, 1.0), "", 0.0)}, "Goals")
    chain = armature.ik2d.chains[0]
    chain.target, chain.subtarget = other, "goal"
    activate(other)
    bpy.ops.object.mode_set(mode='EDIT')
    other.data.edit_bones["goal"].head, other.data.edit_bones["goal"].tail = (0, 0.4, 0.7), (0, 0.4, 0.9)
    bpy.ops.object.mode_set(mode='OBJECT')
    straighten(armature)
    other.data.bones["goal"].name = "aim"
    straighten(armature)
    assert chain.subtarget == "aim"
