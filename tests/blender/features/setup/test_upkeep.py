# SPDX-License-Identifier: GPL-3.0-or-later
"""What handlers keep in order after undo and edits."""

import bpy
import pytest
from rigs import add_armature, add_chain, leg_with_target

from ik2d_addon.bake import bake
from ik2d_addon.features.doctor.planes import keep_plane
from ik2d_addon.features.overlay.target_path import find_path
from ik2d_addon.features.setup import upkeep
from ik2d_addon.rig.animation import versions
from ik2d_addon.rig.chain import renames


def test_undo_and_redo_leave_no_pose_of_a_hidden_armature_on_freed_bones():
    armature, _ = leg_with_target()
    armature.hide_viewport = True
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="Hidden")
    for kind in ('NONE', 'FULL', 'NONE'):
        bpy.data.objects["Rig"].data.bones["thigh"].inherit_scale = kind
        bpy.ops.ed.undo_push(message=kind)
    for step in (bpy.ops.ed.undo, bpy.ops.ed.undo, bpy.ops.ed.redo, bpy.ops.ed.redo):
        step()
        armature = bpy.data.objects["Rig"]
        assert all(posed.bone == armature.data.bones[posed.name] for posed in armature.pose.bones)


# --- Edited bones ---------------------------------------------------------------------------------


@pytest.fixture
def straightened(monkeypatch):
    """Return the names of armatures, each as often as it was straightened after an edit."""
    names, straighten = [], upkeep.straighten

    def noting(rig):
        names.append(rig.name)
        return straighten(rig)

    monkeypatch.setattr(upkeep, "straighten", noting)
    return names


def edited(data):
    """Have Blender tell of an edit of an armature, whatever it was."""
    data.update_tag()
    bpy.context.view_layer.update()


def test_bones_that_come_into_a_chain_by_an_edit_have_joints():
    armature, _ = leg_with_target()
    chain = armature.ik2d.chains[0]
    chain.joints["shin"].weight = 0.5
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    bones = armature.data.edit_bones
    middle = bones.new("knee")
    middle.head, middle.tail, middle.parent = (0, -0.1, 1), (0, -0.1, 0.9), bones["thigh"]
    bones["shin"].parent = middle
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.view_layer.update()
    assert chain.joints.keys() == ["knee", "shin"] and chain.joints["shin"].weight == 0.5


def rig_with_a_target_bone():
    """Add a leg whose target is a bone of another armature; return its chain and that armature."""
    armature, _ = leg_with_target()
    other = add_armature({"goal": ((0, -0.4, 0.7), (0, -0.4, 1.0), "", 0.0)}, "Goals")
    chain = armature.ik2d.chains[0]
    chain.target, chain.subtarget = other, "goal"
    return chain, other


def _renamed_tip(chain, _other):
    chain.id_data.data.bones["shin"].name = "calf"


def _renamed_target(_chain, other):
    other.data.bones["goal"].name = "aim"


def _other_chain(chain, _other):
    add_chain(chain.id_data, "foot", chain.target, bone_count=1)


def _other_tip(chain, _other):
    chain["tip"] = "thigh"


def _moved_bone(chain, _other):
    bpy.context.view_layer.objects.active = chain.id_data
    bpy.ops.object.mode_set(mode='EDIT')
    chain.id_data.data.edit_bones["shin"].tail.x += 0.1
    bpy.ops.object.mode_set(mode='OBJECT')


def _other_parent(chain, _other):
    bpy.context.view_layer.objects.active = chain.id_data
    bpy.ops.object.mode_set(mode='EDIT')
    chain.id_data.data.edit_bones["thigh"].parent = None
    bpy.ops.object.mode_set(mode='OBJECT')


@pytest.mark.parametrize(
    "edit", [_renamed_tip, _renamed_target, _other_chain, _other_tip, _moved_bone, _other_parent]
)
def test_after_each_edit_of_bones_or_names_chains_are_straightened_once(straightened, edit):
    chain, other = rig_with_a_target_bone()
    edited(chain.id_data.data)
    straightened.clear()
    edit(chain, other)
    edited(chain.id_data.data)
    edited(other.data)
    assert set(straightened) == {chain.id_data.name}
    straightened.clear()
    edited(chain.id_data.data)
    assert straightened == []
    assert all(joint.place.index >= 0 for joint in chain.joints)


def test_names_follow_after_many_edits_that_changed_nothing(straightened):
    chain, other = rig_with_a_target_bone()
    for _ in range(3):
        chain.softness += 0.1
        edited(chain.id_data.data)
    chain.id_data.data.bones["shin"].name = "calf"
    other.data.bones["goal"].name = "aim"
    edited(chain.id_data.data)
    edited(other.data)
    assert (chain.tip, chain.subtarget) == ("calf", "aim")
    assert [joint.name for joint in chain.joints] == ["thigh", "calf"]


def test_after_undo_and_loading_chains_are_looked_at_anew(straightened, tmp_path):
    chain, _ = rig_with_a_target_bone()
    edited(chain.id_data.data)
    assert renames.is_straight(chain.id_data)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    straightened.clear()
    upkeep._forget_rigs()
    assert not renames.is_straight(bpy.data.objects["Rig"])
    edited(bpy.data.objects["Rig"].data)
    assert straightened == ["Rig"]


def test_a_file_of_an_earlier_version_gets_the_target_that_hands_follow(tmp_path):
    armature, target = leg_with_target(hand_rotation='TARGET')
    for name in ("offset_target", "offset_bone"):
        armature.ik2d.chains[0].property_unset(name)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "leg.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "leg.blend"))
    chain = bpy.data.objects["Rig"].ik2d.chains[0]
    assert chain.offset_target == chain.target == bpy.data.objects["Target"]


def edited_all(*datas):
    """Have Blender tell of an edit of armatures, together."""
    for data in datas:
        data.update_tag()
    bpy.context.view_layer.update()


def test_a_poles_bone_is_followed_whatever_the_plane_is():
    chain, _ = rig_with_a_target_bone()
    poles = add_armature({"knee": ((0, 1, 0.7), (0, 1, 1), "", 0.0)}, "Poles")
    chain.plane, chain.pole, chain.pole_subtarget = 'AUTO', poles, "knee"
    both = chain.id_data.data, poles.data
    edited_all(*both)
    edited_all(*both)
    poles.data.bones["knee"].name = "elbow"
    edited_all(*both)
    assert chain.pole_subtarget == "elbow"


def test_a_target_that_gets_other_data_is_looked_at_anew():
    chain, one = rig_with_a_target_bone()
    other = add_armature(
        {"x": ((2, 0, 0), (2, 0, 1), "", 0.0), "goal": ((2, -0.4, 0.7), (2, -0.4, 1), "", 0.0)}, "Others"
    )
    add_chain(chain.id_data, "foot", other, bone_count=1, subtarget="goal")
    every = chain.id_data.data, one.data, other.data
    edited_all(*every)
    edited_all(*every)
    one.data, other.data = other.data, one.data
    edited_all(*every)
    assert tuple(chain.subtarget_place.head) == tuple(one.data.bones["goal"].head_local)
    one.data.bones["goal"].name = "aim"
    edited_all(*every)
    assert chain.subtarget == "aim"


# --- Lists that a script has changed, right before frames are looked at ---------------------------


@pytest.mark.parametrize("has_handler", [False, True])
@pytest.mark.parametrize(
    "work",
    [
        lambda rig, scene: find_path(rig, rig.ik2d.chains["leg"], scene),
        lambda rig, scene: keep_plane(rig, rig.ik2d.chains["leg"], scene, 1, 20),
        lambda rig, _: bake(rig, ["leg"], 1, 20),
    ],
    ids=["path", "plane", "bake"],
)
def test_keys_play_on_their_own_chain_where_frames_are_looked_at(work, has_handler, monkeypatch):
    armature, target = leg_with_target()
    add_chain(armature, "body", target, bone_count=1, name="other")
    chain, scene = armature.ik2d.chains[0], bpy.context.scene
    chain.name = "leg"
    for frame, softness in ((1, 0.02), (20, 0.06)):
        chain.softness = softness
        chain.keyframe_insert("softness", frame=frame)
    scene.frame_set(5)
    if has_handler:  # of somebody else: then the scene itself is stepped through
        bpy.app.handlers.frame_change_pre.append(_nothing)
    try:
        armature.ik2d.chains.move(0, 1)
        work(armature, scene)
    finally:
        if has_handler:
            bpy.app.handlers.frame_change_pre.remove(_nothing)
    assert armature.ik2d.chains["other"].softness == 0.0
    assert [path for path, _ in keyed_channels(armature)] == ["ik2d.chains[1].softness"]


def _nothing(*_arguments):
    pass


def keyed_channels(armature):
    """Return the paths and indices of an armature's F-Curves on chains."""
    curves = versions.existing_fcurves(armature)
    return [(curve.data_path, curve.array_index) for curve in curves if "ik2d" in curve.data_path]
