# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d native`: chains of a file become drivers, and back, with the safety of a bake."""

from pathlib import Path

import bpy
import pytest
from machine_rigs import add_machine, evaluated_openings
from machines import four_bar
from programs import leg_file
from rigs import add_chain, add_leg, add_target, evaluated_tip

from ik2d_addon.cli.program import run
from ik2d_addon.rig.chain.native_state import is_native


def native(*words) -> int:
    """Run `native` in this process; return the exit code."""
    return run(["native", *map(str, words)], opens_scene=True)


def refused(capsys, *words) -> str:
    """Run with bad input; return the one line of complaint."""
    assert native(*words) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ik2d: ")]
    assert len(lines) == 1 and lines[0].startswith("ik2d: error: ")
    return lines[0]


def worst_miss(armature) -> float:
    """Return the furthest that the leg's tip is from its target over the scene's frames, in reaches."""
    scene = bpy.context.scene
    chain = armature.ik2d.chains[0]
    reach = sum(armature.data.bones[name].length for name in ("thigh", "shin"))
    worst = 0.0
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        goal = chain.target.evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
        worst = max(worst, (evaluated_tip(armature, "shin") - goal).length / reach)
    return worst


def contents() -> dict[str, list[str]]:
    """Return the names of the open file's objects, collections, actions, drivers and constraints."""
    return {
        "objects": sorted(ob.name for ob in bpy.data.objects),
        "collections": sorted(collection.name for collection in bpy.data.collections),
        "actions": sorted(action.name for action in bpy.data.actions),
        "drivers": [
            f"{ob.name} {curve.data_path}"
            for ob in bpy.data.objects
            if ob.animation_data
            for curve in ob.animation_data.drivers
        ],
        "constraints": [
            f"{ob.name} {bone.name} {constraint.name}"
            for ob in bpy.data.objects
            if ob.pose
            for bone in ob.pose.bones
            for constraint in bone.constraints
        ],
    }


def two_legs_file(folder: Path) -> Path:
    """Save a file with two armatures with a leg each, 'Left' and 'Right'."""
    for name in ("Left", "Right"):
        target = add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8)}, f"{name} Target")
        add_chain(add_leg(name), "shin", target, name=f"{name} Leg")
    path = folder / "legs.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def opened(path) -> bpy.types.Object:
    """Open a file and return its first armature."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')


def test_a_chain_by_name_follows_its_target_in_the_file_that_is_saved(tmp_path, capsys):
    scene = leg_file(tmp_path)
    before = scene.read_bytes()
    assert native(scene, "--chain", "shin", "--output", tmp_path / "out.blend") == 0
    said = capsys.readouterr().out
    assert f"ik2d: saved '{tmp_path / 'out.blend'}'" in said
    assert "ik2d: Rig: 1 chain is on drivers now\n" in said
    assert "ik2d:   shin (thigh, shin): follows 'Target'\n" in said
    assert scene.read_bytes() == before
    armature = opened(tmp_path / "out.blend")
    assert is_native(armature.ik2d.chains[0])
    assert armature.animation_data is None or armature.animation_data.action is None
    assert worst_miss(armature) < 1e-5


def test_remove_gives_back_what_was_there(tmp_path, capsys):
    scene = leg_file(tmp_path)
    opened(scene)
    before = contents()
    assert native(scene, "--all") == 0
    opened(scene)
    assert contents() != before
    assert native(scene, "--all", "--remove", "--output", tmp_path / "back.blend") == 0
    assert "ik2d: Rig: 1 chain is on drivers no more" in capsys.readouterr().out
    armature = opened(tmp_path / "back.blend")
    assert not is_native(armature.ik2d.chains[0])
    assert contents() == before


def test_one_of_two_armatures(tmp_path):
    scene = two_legs_file(tmp_path)
    assert native(scene, "--chain", "Right Leg") == 0
    opened(scene)
    made = {ob.name: is_native(ob.ik2d.chains[0]) for ob in bpy.data.objects if ob.type == 'ARMATURE'}
    assert made == {"Left": False, "Right": True}


def test_all_again_is_no_error_and_changes_nothing(tmp_path, capsys):
    scene = leg_file(tmp_path)
    assert native(scene, "--all") == 0
    opened(scene)
    before = contents()
    assert native(scene, "--all") == 0
    assert "ik2d: Rig: all that is enabled is on drivers already" in capsys.readouterr().out
    opened(scene)
    assert contents() == before


def test_all_takes_the_enabled_chains_of_all_armatures(tmp_path):
    scene = two_legs_file(tmp_path)
    armature = opened(scene)
    off = add_chain(armature, "thigh", bpy.data.objects["Left Target"], bone_count=1, name="Off")
    off.enabled = False
    bpy.ops.wm.save_mainfile()
    assert native(scene, "--all") == 0
    opened(scene)
    chains = [chain for ob in bpy.data.objects if ob.type == 'ARMATURE' for chain in ob.ik2d.chains]
    made = {chain.name: is_native(chain) for chain in chains}
    assert made == {"Left Leg": True, "Right Leg": True, "Off": False}


def test_mechanisms_by_name_or_with_all_chains_and_back(tmp_path, capsys):
    machine, mechanism = add_machine(four_bar())
    machine.name, mechanism.name = "Machine", "Bars"
    add_chain(add_leg("Leg"), "shin", add_target({1: (0, 0.2, 0.3), 20: (0, -0.9, 0.8)}))
    scene = tmp_path / "both.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(scene))
    before = contents()
    assert native(scene, "--mechanism", "Bars", "--output", tmp_path / "one.blend") == 0
    said = capsys.readouterr().out
    assert "ik2d: Machine: 1 mechanism is on drivers now\n" in said
    assert "ik2d:   Bars (mechanism, 3 bones): loops closed\n" in said
    opened(tmp_path / "one.blend")
    machine, leg = bpy.data.objects["Machine"], bpy.data.objects["Leg"]
    assert is_native(machine.ik2d.mechanisms[0]) and not is_native(leg.ik2d.chains[0])
    assert evaluated_openings(machine.ik2d.mechanisms[0], range(1, 26)).max() < 1e-5
    assert native(tmp_path / "one.blend", "--all") == 0
    said = capsys.readouterr().out
    assert "ik2d: Machine: all that is enabled is on drivers already\n" in said
    assert "ik2d: Leg: 1 chain is on drivers now\n" in said
    assert native(tmp_path / "one.blend", "--all", "--remove") == 0
    opened(tmp_path / "one.blend")
    assert contents() == before
    sentence = refused(capsys, scene, "--mechanism", "Bars", "--remove")
    assert "the mechanism 'Bars' is not on drivers; leave it out" in sentence


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "native takes --all, or names: --chain NAME, --mechanism NAME"),
        (("--chain", "shin", "--all"), "native takes --all, or names"),
        (("--mechanism", "Crane"), "no armature of the scene has a mechanism 'Crane'"),
        (("--armature", "Rig", "--mechanism", "Crane"), "'Rig' has no mechanism 'Crane'"),
        (("--chain", "knee"), "no armature of the scene has a chain 'knee'; the chains are: 'shin'"),
        (("--armature", "Rig", "--chain", "knee"), "'Rig' has no chain 'knee'; its chains are: 'shin'"),
        (("--armature", "Cat", "--all"), "there is no armature 'Cat'"),
        (("--chain", "shin", "--remove"), "the chain 'shin' is not on drivers; leave it out"),
        (("--all", "--remove"), "nothing is on drivers; leave --remove out"),
        (("--all", "--output", ""), "--output is given without a name"),
        (("--all", "--report", "r.json"), "--report"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(tmp_path, capsys, words, says):
    scene = leg_file(tmp_path)
    before = scene.read_bytes()
    sentence = refused(capsys, scene, *words)
    assert any(part in sentence for part in says.split("|")), sentence
    assert scene.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["leg.blend"]


def test_chains_that_cannot_be_native_are_all_named_and_nothing_is_written(tmp_path, capsys):
    scene = two_legs_file(tmp_path)
    opened(scene)
    for name in ("Left", "Right"):
        bpy.data.objects[name].ik2d.chains[0].target = None
    bpy.ops.wm.save_mainfile()
    before = scene.read_bytes()
    sentence = refused(capsys, scene, "--all", "--output", tmp_path / "out.blend")
    assert "Left Leg" in sentence and "Right Leg" in sentence
    assert scene.read_bytes() == before and not (tmp_path / "out.blend").exists()


@pytest.mark.slow
def test_several_files_get_a_process_each(tmp_path, capsys):
    scenes = [leg_file(tmp_path, f"{name}.blend") for name in ("a", "b")]
    assert native(*scenes, "--all", "--jobs", "2", "--output", tmp_path / "{name}_native.blend") == 0
    said = capsys.readouterr().out
    for name in ("a", "b"):
        assert f"{tmp_path / name}.blend: Rig: 1 chain is on drivers now" in said.replace("ik2d: ", "")
        assert is_native(opened(tmp_path / f"{name}_native.blend").ik2d.chains[0])


def test_the_file_that_blender_has_open(tmp_path):
    scene = leg_file(tmp_path)
    opened(scene)
    assert run(["native", "--all", "--output", str(tmp_path / "out.blend")]) == 0
    assert is_native(opened(tmp_path / "out.blend").ik2d.chains[0])
