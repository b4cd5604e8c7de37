# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d export`: files for engines, whole or not at all, while the scenes stay as they are."""

import json
import os
import signal
import subprocess
from time import monotonic, sleep

import bpy
import pytest
from clip_rigs import add_clips, part
from gltf_player import Gltf
from programs import ROOT, command
from rigs_of_three_actions import LENGTHS, add_runner

from ik2d_addon.cli.program import run
from ik2d_addon.features.export import exporting

# Other processes are started as the bpy module starts them.
in_bpy = pytest.mark.skipif(bool(bpy.app.binary_path), reason="this is Blender itself")


def export(*words) -> int:
    """Run `export` in this process; return the exit code."""
    return run(["export", *map(str, words)], opens_scene=True)


@pytest.fixture
def scene(tmp_path):
    """A file with a rig of three actions, and its bytes."""
    add_runner()
    path = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path, path.read_bytes()


def files_of(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_file_is_exported_and_the_scene_stays(scene, tmp_path, capsys):
    path, bits = scene
    out = tmp_path / "out"
    out.mkdir()
    told = out / "told.json"
    words = ["--report", told, "--strict", "--max-error", "1e-5"]
    assert export(path, "--output", out / "{name}.glb", *words) == 0
    assert files_of(out) == {"rig.glb", "told.json"}
    assert sorted(Gltf(out / "rig.glb").clips) == sorted(LENGTHS)
    assert path.read_bytes() == bits
    said = capsys.readouterr().out
    assert "Exported 3 clips of 'Runner' to 'rig.glb'" in said and "Runner: Walk: 30 frames" in said
    report = json.loads(told.read_text())
    assert report["files"] == ["rig.glb"] and report["max_difference"] < 1e-6
    assert {clip["clip"]: clip["frames"] for clip in report["clips"]} == LENGTHS


def test_actions_that_nothing_tells_to_go_together_are_paired(tmp_path, capsys):
    armature, _ = add_clips("Leg")
    part("Walk Leg", armature)
    path = tmp_path / "rig.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert export(path, "--output", tmp_path / "rig.glb") == 2
    assert "or pair them" in capsys.readouterr().err and files_of(tmp_path) == {"rig.blend"}
    assert export(path, "--output", tmp_path / "rig.glb", "--strict", "--pair", "Walk Leg=Sprint") == 0
    assert "Walk Leg" in Gltf(tmp_path / "rig.glb").clips


@pytest.mark.parametrize("name, uri", [("rig", "rig.bin"), ("my rig ä", "my%20rig%20%C3%A4.bin")])
def test_the_data_of_a_gltf_file_are_next_to_it(scene, tmp_path, name, uri):
    assert export(scene[0], "--output", tmp_path / f"{name}.gltf") == 0
    assert {f"{name}.gltf", f"{name}.bin"} <= files_of(tmp_path)
    assert json.loads((tmp_path / f"{name}.gltf").read_text())["buffers"][0]["uri"] == uri


@pytest.mark.skipif(not bpy.app.build_options.usd, reason="this Blender was built without USD")
def test_of_usd_each_clip_is_a_file(scene, tmp_path):
    assert export(scene[0], "--output", tmp_path / "rig.usdc") == 0
    assert {f"rig_{clip}.usdc" for clip in LENGTHS} <= files_of(tmp_path)
    assert "rig.usdc" not in files_of(tmp_path)


@pytest.mark.skipif(not bpy.app.build_options.usd, reason="this Blender was built without USD")
def test_nothing_is_written_where_one_of_the_files_cannot_be(scene, tmp_path, capsys):
    (tmp_path / "rig_Idle.usdc").mkdir()
    assert export(scene[0], "--output", tmp_path / "rig.usdc") == 2
    assert "rig_Idle.usdc' is a folder; name a file to write" in capsys.readouterr().err
    assert files_of(tmp_path) == {"rig.blend", "rig_Idle.usdc"}


def test_options_that_do_not_hold_are_exit_code_1(scene, tmp_path, capsys):
    assert export(scene[0], "--output", tmp_path / "rig.glb", "--max-error", "1e-12") == 1
    assert "as read back" in capsys.readouterr().err
    bpy.ops.wm.open_mainfile(filepath=str(scene[0]))
    bpy.data.objects["Runner Target"].delta_location.y = 3.0
    bpy.ops.wm.save_mainfile()
    assert export(scene[0], "--output", tmp_path / "rig.glb", "--strict") == 1
    assert "--strict does not hold: Idle: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, said",
    [
        (["--output", "{here}/rig.obj"], "ending of no known format"),
        (["--output", "{here}/gone/rig.glb"], "there is no folder"),
        (["--output", "{here}"], "ending of no known format"),
        (["--output", ""], "without a name"),
        (["--output", "{here}/rig.glb", "--armature", "Nobody"], "there is no armature 'Nobody'"),
        (["--output", "{here}/rig.glb", "--report", "{here}/rig.blend"], "would overwrite the .blend"),
        ([], "--output"),
    ],
)
def test_bad_input_is_a_sentence_and_writes_nothing(scene, tmp_path, capsys, words, said):
    before = files_of(tmp_path)
    assert export(scene[0], *(word.format(here=tmp_path) for word in words)) == 2
    assert said in capsys.readouterr().err
    assert files_of(tmp_path) == before and scene[0].read_bytes() == scene[1]


def test_a_file_without_chains_or_actions_is_refused(scene, tmp_path, capsys):
    bpy.ops.wm.open_mainfile(filepath=str(scene[0]))
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    bpy.ops.wm.save_mainfile()
    assert export(scene[0], "--output", tmp_path / "rig.glb") == 2
    assert "No action animates 'Runner'" in capsys.readouterr().err
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "empty.blend"))
    assert export(tmp_path / "empty.blend", "--output", tmp_path / "rig.glb") == 2
    assert "no armature of the scene has an enabled chain" in capsys.readouterr().err


def test_a_linked_rig_is_refused(scene, tmp_path, capsys):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    with bpy.data.libraries.load(str(scene[0]), link=True) as (_, wanted):
        wanted.objects = ["Runner"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert export(tmp_path / "shot.blend", "--output", tmp_path / "rig.glb") == 2
    assert "linked from another file" in capsys.readouterr().err


def test_an_exporter_that_is_off_is_a_sentence(scene, tmp_path, capsys):
    import addon_utils

    addon_utils.disable("io_scene_fbx", default_set=True)
    bpy.context.preferences.is_dirty = True  # the next test gets it back
    assert export(scene[0], "--output", tmp_path / "rig.fbx") == 2
    assert "Blender's add-on for FBX is off: enable 'FBX format'" in capsys.readouterr().err


def test_a_file_that_does_not_come_back_is_not_written(scene, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(exporting.Format, "read", lambda *_: 1.0)
    (tmp_path / "rig.glb").write_bytes(b"before")
    assert export(scene[0], "--output", tmp_path / "rig.glb") == 2
    assert "came back without 'Runner'" in capsys.readouterr().err
    assert (tmp_path / "rig.glb").read_bytes() == b"before" and files_of(tmp_path) == {"rig.blend", "rig.glb"}


def test_one_place_for_several_files_is_refused_with_a_place_of_the_format(scene, tmp_path, capsys):
    (tmp_path / "other.blend").write_bytes(scene[1])
    assert export(scene[0], tmp_path / "other.blend", "--output", tmp_path / "rig.glb") == 2
    assert "put {name} in it, as in baked/{name}.glb" in capsys.readouterr().err


@in_bpy
@pytest.mark.slow
def test_several_files_get_a_process_each(scene, tmp_path):
    other = tmp_path / "other.blend"
    other.write_bytes(scene[1])
    words = command("export", scene[0], other, "--output", tmp_path / "{name}.glb", "--jobs", 2)
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert {"rig.glb", "other.glb"} <= files_of(tmp_path)
    assert "Exported 3 clips" in done.stdout


@in_bpy
@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_an_export_that_is_stopped_leaves_nothing_half_written(scene, tmp_path, number):
    words = command("export", scene[0], "--output", tmp_path / "rig.glb")
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = monotonic() + 60
    while not any(path.name.endswith(".tmp") for path in tmp_path.iterdir()):
        assert process.poll() is None and monotonic() < end
        sleep(0.002)
    process.send_signal(number)
    process.wait(30)
    if not (tmp_path / "rig.glb").exists():  # else it was done before the signal came
        assert process.returncode in (143, -signal.SIGKILL)
    assert export(scene[0], "--output", tmp_path / "rig.glb") == 0
    assert files_of(tmp_path) == {"rig.blend", "rig.glb"}
    assert scene[0].read_bytes() == scene[1]
