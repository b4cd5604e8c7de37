# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of a chain, by Blender's own preset system."""

from pathlib import Path

import bpy
import pytest
from post_rigs import robot_arm
from rigs import add_target, leg_with_target

from ik2d_addon.bake import solve
from ik2d_addon.features.native import make_native
from ik2d_addon.features.setup import chain_presets
from ik2d_addon.features.setup.chain_presets import SUBDIR, VALUES, apply_preset

SHIPPED = sorted(Path(chain_presets.FOLDER, "presets", SUBDIR).glob("*.py"))


def found() -> list[Path]:
    """Return the presets that Blender finds by its own paths."""
    return [path for folder in bpy.utils.preset_paths(SUBDIR) for path in sorted(Path(folder).glob("*.py"))]


def test_blender_finds_the_presets_that_come_with_the_add_on() -> None:
    limbs, machines = ["Limb,_Exact", "Limb,_Soft"], ["Robot_Arm", "Robot_Arm_on_a_Table", "Slewing_Crane"]
    assert [path.stem for path in SHIPPED] == [*limbs, *machines, "Tentacle"]
    assert set(SHIPPED) <= set(found())


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_preset_sets_all_that_presets_hold_and_the_chain_can_be_solved(path) -> None:
    armature, _ = leg_with_target(softness=0.5, iterations=7)
    chain = armature.ik2d.chains[0]
    chain.post, chain.post_axis = "body", 'Y'
    assert bpy.ops.ik2d.preset_apply(filepath=str(path)) == {'FINISHED'}
    assert all(f"chain.{name} = " in path.read_text(encoding="utf-8") for name in VALUES)
    assert chain.softness < 0.1 and chain.iterations >= 60
    assert solve(armature).chains[0].residual.max() < 0.1


@pytest.mark.parametrize("name, angle", [("Robot_Arm_on_a_Table", 'WORLD'), ("Slewing_Crane", 'FREE')])
def test_a_machine_on_a_post_keeps_the_bone_its_axis_and_its_limits(name, angle) -> None:
    armature, chain = robot_arm()
    bpy.context.view_layer.objects.active = armature
    chain.plane, chain.use_post_limit, chain.post_limit_max, chain.post_side = 'AUTO', True, 1.5, 'NEGATIVE'
    (path,) = (path for path in SHIPPED if path.stem == name)
    assert bpy.ops.ik2d.preset_apply(filepath=str(path)) == {'FINISHED'}
    assert (chain.plane, chain.post, chain.post_axis, chain.tip_rotation) == ('POST', "base", 'Y', angle)
    assert (chain.use_post_limit, chain.post_limit_max, chain.post_side) == (True, 1.5, 'NEGATIVE')


def test_a_machine_without_a_post_is_told_to_choose_one(capfd) -> None:
    armature, chain = robot_arm()
    bpy.context.view_layer.objects.active = armature
    chain.plane, chain.post = 'AUTO', ""
    (path,) = (path for path in SHIPPED if path.stem == "Slewing_Crane")
    assert bpy.ops.ik2d.preset_apply(filepath=str(path)) == {'FINISHED'}
    told = capfd.readouterr().out
    assert "choose its Post" in told and "bake" not in told


def test_a_preset_is_for_the_chain_that_is_shown_also_with_its_target_active() -> None:
    armature, _ = leg_with_target()
    other = armature.ik2d.chains.add()
    other.tip, other.bone_count, other.target = "body", 1, add_target({1: (0, 0, 3)}, "Other")
    armature.ik2d.active_index = 0
    bpy.context.view_layer.objects.active = other.target
    assert bpy.ops.ik2d.preset_apply(filepath=str(SHIPPED[-1])) == {'FINISHED'}
    assert (other.solver, armature.ik2d.chains[0].solver) == ('EVEN', 'AUTO')


def test_a_preset_of_ones_own_is_written_and_comes_back(monkeypatch, tmp_path) -> None:
    def folder(_kind, path="", create=False):
        made = tmp_path / path
        made.mkdir(parents=True, exist_ok=True)
        return str(made)

    monkeypatch.setattr(bpy.utils, "user_resource", folder)
    panel = chain_presets.IK2D_PT_presets
    monkeypatch.setattr(panel, "bl_label", panel.bl_label)  # Blender puts the preset's name there
    armature, _ = leg_with_target(softness=0.25, solver='EVEN')
    chain = armature.ik2d.chains[0]
    assert bpy.ops.ik2d.preset_add(name="My Own") == {'FINISHED'}
    (path,) = tmp_path.rglob("*.py")
    assert path.stem == "My_Own" and path.parent.as_posix().endswith(SUBDIR)
    chain.softness, chain.solver = 0.0, 'AUTO'
    apply_preset(chain, str(path))
    assert (chain.softness, chain.solver) == (0.25, 'EVEN')


def test_a_file_that_fails_is_told_in_a_sentence_and_the_active_chain_stays(tmp_path) -> None:
    armature, _ = leg_with_target()
    path = tmp_path / "broken.py"
    path.write_text("no python", encoding="utf-8")
    with pytest.raises(RuntimeError, match="'broken.py' could not be applied"):
        bpy.ops.ik2d.preset_apply(filepath=str(path))
    with pytest.raises(RuntimeError, match="There is no preset"):
        bpy.ops.ik2d.preset_apply(filepath=str(tmp_path / "none.py"))
    assert armature.ik2d.active_index == 0


def test_without_a_chain_there_is_nothing_to_apply_it_to() -> None:
    assert not bpy.ops.ik2d.preset_apply.poll()


def test_a_preset_sets_the_controls_of_a_native_chain() -> None:
    armature, _ = leg_with_target()
    controls = make_native(armature, armature.ik2d.chains[0]).controls
    soft = next(path for path in SHIPPED if path.stem == "Limb,_Soft")
    assert bpy.ops.ik2d.preset_apply(filepath=str(soft)) == {'FINISHED'}
    chain = armature.ik2d.chains[0]
    assert controls["softness"] == chain.softness > 0.0 and "stretch" not in controls
