# SPDX-License-Identifier: GPL-3.0-or-later
"""The menu beside the list of chains, and what a bone's right-click menu has."""

from types import SimpleNamespace

import bpy
import pytest
from rigs import add_armature, add_chain, add_target

from ik2d_addon.features.setup import menus
from ik2d_addon.features.setup.chain_operators import chain_here
from ik2d_addon.features.setup.copying import copy_settings
from ik2d_addon.rig.animation.versions import select_bone


@pytest.fixture
def rig() -> bpy.types.Object:
    """Three legs of two bones with a chain each; the third is disabled."""
    bones = {}
    for number in range(3):
        x = float(number)
        bones[f"thigh{number}"] = ((x, 0, 2), (x, -0.1, 1), "", 0.0)
        bones[f"shin{number}"] = ((x, -0.1, 1), (x, 0, 0.1), f"thigh{number}", 0.0)
    armature = add_armature(bones)
    for number in range(3):
        add_chain(armature, f"shin{number}", add_target({1: (number, 0, 0.3)}, f"Foot{number}"))
    armature.ik2d.chains[2].enabled = False
    return armature


def pose_mode(armature: bpy.types.Object, *selected: str) -> None:
    """Go to Pose Mode with some bones selected, the last one active."""
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='POSE')
    for bone in armature.pose.bones:
        select_bone(bone, bone.name in selected)
    armature.data.bones.active = armature.data.bones[selected[-1]]


def softness(armature: bpy.types.Object) -> list[float]:
    """Return the chains' softness, to two digits."""
    return [round(chain.softness, 2) for chain in armature.ik2d.chains]


def test_settings_go_to_the_enabled_chains_alone(rig) -> None:
    rig.ik2d.chains[0].softness = 0.2
    assert bpy.ops.ik2d.copy_settings(to='ENABLED') == {'FINISHED'}
    assert softness(rig) == [0.2, 0.2, 0.0]
    assert [chain.target.name for chain in rig.ik2d.chains] == ["Foot0", "Foot1", "Foot2"]
    assert [chain.tip for chain in rig.ik2d.chains] == ["shin0", "shin1", "shin2"]


def test_settings_go_to_the_chains_of_the_selected_bones(rig) -> None:
    rig.ik2d.chains[0].softness = 0.2
    pose_mode(rig, "thigh2", "shin0")
    assert bpy.ops.ik2d.copy_settings(to='SELECTED') == {'FINISHED'}
    assert softness(rig) == [0.2, 0.0, 0.2]


def test_with_no_other_bone_selected_nothing_is_copied(rig) -> None:
    pose_mode(rig, "shin0")
    assert bpy.ops.ik2d.copy_settings(to='SELECTED') == {'CANCELLED'}


def test_limits_go_along_where_asked(rig) -> None:
    first, second, third = rig.ik2d.chains
    joint = first.joints[1]
    joint.use_limit, joint.limit_min, joint.limit_max, joint.weight = True, 2.0, 3.5, 0.5
    second.joints[1].limit_max = -1.0
    third.bone_count = 1
    assert copy_settings(first, [second, third]) == 2
    assert not second.joints[1].use_limit
    assert copy_settings(first, [second, third], joints=True) == 2
    copied = second.joints[1]
    assert (copied.use_limit, copied.limit_min, copied.limit_max, copied.weight) == (True, 2.0, 3.5, 0.5)
    assert not third.joints[0].use_limit


def test_chains_are_enabled_all_or_one_alone(rig) -> None:
    rig.ik2d.active_index = 1
    bpy.ops.ik2d.enable_chains(which='ACTIVE')
    assert [chain.enabled for chain in rig.ik2d.chains] == [False, True, False]
    bpy.ops.ik2d.enable_chains(which='ALL')
    assert all(chain.enabled for chain in rig.ik2d.chains)


class Menu:
    """A menu that keeps its operators' buttons."""

    def __init__(self) -> None:
        self.layout, self.buttons = self, {}

    def operator(self, name: str, **_looks) -> SimpleNamespace:
        return self.buttons.setdefault(name, SimpleNamespace())

    def label(self, **_looks) -> None:
        pass

    separator = label

    def prop(self, *_names, **_looks) -> None:
        pass


def test_the_chain_of_a_bone_is_found_and_made_active(rig) -> None:
    rig_name = rig.name
    pose_mode(rig, "thigh2")
    bpy.context.view_layer.update()  # which shows the bone's chain
    rig.ik2d.active_index = 0
    bpy.context.view_layer.update()
    assert chain_here(bpy.context).name == "shin2"
    menus.IK2D_MT_bone.draw(menu := Menu(), bpy.context)
    button = vars(menu.buttons["wm.context_set_int"])
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.wm.context_set_int('EXEC_DEFAULT', True, **button) == {'FINISHED'}
    assert rig.ik2d.active_index == 2
    menus.IK2D_MT_bone.draw(menu := Menu(), bpy.context)
    assert "wm.context_set_int" not in menu.buttons  # it is the active one
    bpy.ops.ed.undo()
    assert bpy.data.objects[rig_name].ik2d.active_index == 0


def test_a_bone_in_no_chain_has_none(rig) -> None:
    rig.ik2d.chains.clear()
    pose_mode(rig, "shin0")
    assert chain_here(bpy.context) is None
    assert not bpy.ops.ik2d.copy_settings.poll()
