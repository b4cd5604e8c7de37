# SPDX-License-Identifier: GPL-3.0-or-later
"""Export for Engine: another process exports a copy, while what is open stays as it is."""

import os

import bpy
import pytest
from gltf_player import Gltf
from rigs_of_three_actions import LENGTHS, add_runner
from snapshots import differences, everything, poses

from ik2d_addon.core import IK2DError
from ik2d_addon.features.export import process
from ik2d_addon.features.export.process import export_copy_steps

pytestmark = pytest.mark.slow


def here() -> dict:
    """Return all that is open, saved or not."""
    return {**everything(), "poses": poses(), "file": bpy.data.filepath}


@pytest.mark.parametrize("is_saved", [True, False])
def test_the_button_exports_what_is_open_and_changes_nothing(is_saved, tmp_path, capfd):
    armature = add_runner()
    if is_saved:
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
        armature.ik2d.chains[0].target.delta_location.y = 0.01  # not saved
    bpy.ops.object.mode_set(mode='POSE')
    before, bits = here(), {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert bpy.ops.ik2d.export(filepath=str(tmp_path / "rig.glb")) == {'FINISHED'}
    assert "Exported 3 clips of 'Runner' to 'rig.glb'" in capfd.readouterr().out
    assert differences(before, here()) == []
    assert sorted(Gltf(tmp_path / "rig.glb").clips) == sorted(LENGTHS)
    after = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert after.pop("rig.glb") and after == bits


def test_steps_tell_frames_and_return_the_report(tmp_path):
    steps = export_copy_steps([add_runner()], str(tmp_path / "rig.fbx"), deform_only=True)
    told = []
    while True:
        try:
            told.append(next(steps))
        except StopIteration as ended:
            report = ended.value
            break
    assert told and all(0 <= done <= total for done, total in told)
    assert {clip.clip for clip in report.clips} == set(LENGTHS) and report.files == ("rig.fbx",)
    assert report.max_difference < 1e-6


def test_closing_the_steps_ends_the_process_and_writes_nothing(tmp_path, monkeypatch):
    started = []
    popen = process.subprocess.Popen

    def start(*words, **more):
        started.append(popen(*words, **more))
        return started[-1]

    monkeypatch.setattr(process.subprocess, "Popen", start)
    steps = export_copy_steps([add_runner()], str(tmp_path / "rig.glb"))
    assert next(steps) == (0, 1) and started[0].poll() is None
    left = set(os.listdir(bpy.app.tempdir))
    steps.close()
    assert started[0].poll() is not None and not (tmp_path / "rig.glb").exists()
    assert len(os.listdir(bpy.app.tempdir)) < len(left) or not left


def test_the_button_is_there_where_all_chains_are_unticked():
    armature = add_runner()
    armature.ik2d.chains[0].enabled = False
    assert bpy.ops.ik2d.export.poll()
    armature.ik2d.chains.clear()
    assert not bpy.ops.ik2d.export.poll()


@pytest.mark.parametrize("name", ["rig.glb", "//rig.glb"])
def test_a_place_counts_from_the_working_folder_where_the_file_is_not_saved(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    steps = export_copy_steps([add_runner()], name)
    assert next(steps) == (0, 1)  # not refused: the process runs
    steps.close()


@pytest.mark.parametrize(
    "name, said",
    [("rig.abc", "ending of no known format"), ("gone/rig.glb", "There is no folder")],
)
def test_bad_places_are_refused_before_a_process_starts(name, said, tmp_path, monkeypatch):
    add_runner()
    monkeypatch.setattr(process.subprocess, "Popen", lambda *_, **__: pytest.fail("started"))
    with pytest.raises(RuntimeError, match=said):
        bpy.ops.ik2d.export(filepath=str(tmp_path / name))


def test_what_the_process_refuses_is_told(tmp_path):
    armature = add_runner()
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    steps = export_copy_steps([armature], str(tmp_path / "rig.glb"))
    with pytest.raises(IK2DError, match="No action animates 'Runner'"):
        list(steps)
    assert not any(tmp_path.iterdir())


def test_the_ending_follows_the_format():
    from ik2d_addon.features.export.operators import IK2D_OT_export

    class Dialog:
        check = IK2D_OT_export.check

        def __init__(self, filepath, chosen):
            self.filepath, self.format = filepath, chosen

    for name, chosen, wanted in (
        ("/a/rig.glb", ".fbx", "/a/rig.fbx"),
        ("/a/rig", ".glb", "/a/rig.glb"),
        ("/a/rig.v2", ".usdc", "/a/rig.v2.usdc"),
    ):
        dialog = Dialog(name, chosen)
        assert dialog.check(None) and dialog.filepath == wanted and not dialog.check(None)
