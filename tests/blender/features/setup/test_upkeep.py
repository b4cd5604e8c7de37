# SPDX-License-Identifier: GPL-3.0-or-later
"""What handlers keep in order after undo and edits."""

import bpy
import pytest
from rigs import add_armature, add_chain, leg_with_target

from ik2d_addon.features.setup import upkeep


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
    assert upkeep._left_as
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "rig.blend"))
    straightened.clear()
    upkeep._forget_rigs()
    assert not upkeep._left_as
    edited(bpy.data.objects["Rig"].data)
    assert straightened == ["Rig"]
