# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes and outputs in odd places: links, names that are not UTF-8, folders that are gone, full disks."""

import os
import resource
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import bpy
import pytest
from programs import ROOT, bake_here, command, is_baked, leg_file

ODD = os.fsdecode(b"\xff")  # no UTF-8


@pytest.fixture
def scene(tmp_path) -> Path:
    return leg_file(tmp_path)


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# --- Names that are not UTF-8 -----------------------------------------------------------------------


def test_a_scene_whose_name_and_folder_are_not_utf_8(scene):
    folder = scene.with_name(f"folder{ODD}")
    folder.mkdir()
    odd = scene.rename(folder / f"scene{ODD}.blend")
    assert bake_here(odd) == 0
    assert names(folder) == [odd.name, f"{odd.name}1"]
    assert is_baked(odd.rename(scene))


def test_an_output_and_a_report_whose_names_are_not_utf_8(scene):
    before = scene.read_bytes()
    out, report = scene.with_name(f"out{ODD}.blend"), scene.with_name(f"report{ODD}.json")
    assert bake_here(scene, "--output", out, "--report", report) == 0
    assert scene.read_bytes() == before
    assert names(scene.parent) == sorted(["leg.blend", out.name, report.name])
    assert is_baked(out.rename(scene))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems know no such names")
def test_such_a_name_as_bytes_of_the_command_line(scene):
    odd = scene.rename(scene.with_name(f"scene{ODD}.blend"))
    done = subprocess.run(
        [os.fsencode(word) for word in command("bake", odd, "--armature", ODD)],
        cwd=ROOT,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert b"'\\udcff' is not UTF-8, as all names in Blender are" in done.stderr


@pytest.mark.parametrize("option", ["--armature", "--chain"])
def test_what_cannot_be_a_name_in_blender_is_refused(scene, option, capsys):
    assert bake_here(scene, option, ODD) == 2
    assert "is not UTF-8" in capsys.readouterr().err


# --- A working folder that is gone ------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("leg.blend", 2), ("/leg.blend", 0)])
def test_where_the_working_folder_is_gone_whole_paths_work(scene, name, code, tmp_path):
    path = str(scene) if name.startswith("/") else name
    done = subprocess.run(
        ["bash", "-c", 'mkdir gone; cd gone; rmdir ../gone; "$@"', "bash", *command("bake", path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert ("ik2d: error: the working folder is gone, so 'leg.blend' leads nowhere" in done.stderr) == (
        code == 2
    )
    assert is_baked(scene) == (code == 0)


# --- Full disks -------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 4096, 60_000])
def test_a_scene_that_cannot_grow_stays_as_it_is(scene, size):
    before = scene.read_bytes()
    done = subprocess.run(
        command("bake", scene),
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2
    assert "could not be saved (File too large), so nothing is changed" in done.stderr
    assert scene.read_bytes() == before
    assert names(scene.parent) == ["leg.blend"]


@pytest.fixture
def small_disk(tmp_path):
    """A disk on which a scene has no room beside another one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root may mount a disk")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("options", [(), ("--output", "out.blend")])
def test_a_full_disk_says_so_and_the_scene_stays(scene, small_disk, options, capsys, monkeypatch):
    monkeypatch.chdir(small_disk)
    bpy.ops.wm.save_as_mainfile(filepath=str(scene), compress=False)
    there = small_disk / "leg.blend"
    there.write_bytes(scene.read_bytes())
    assert bake_here(there, *options) == 2
    assert "could not be saved (No space left on device), so nothing is changed" in capsys.readouterr().err
    assert there.read_bytes() == scene.read_bytes()
    assert names(small_disk) == ["leg.blend"]


def test_a_report_that_has_no_room_stops_the_saving(scene, small_disk, capsys):
    before = scene.read_bytes()
    (small_disk / "full").write_bytes(bytes(600 * 1024))
    assert bake_here(scene, "--report", small_disk / "report.json") == 2
    assert "could not be written (No space left on device), so nothing is saved" in capsys.readouterr().err
    assert scene.read_bytes() == before
    assert names(small_disk) == ["full"] and names(scene.parent) == ["disk", "leg.blend"]


def test_dev_full_is_no_file(scene, capsys):
    before = scene.read_bytes()
    assert bake_here(scene, "--output", "/dev/full") == 2
    assert "'/dev/full' is no regular file" in capsys.readouterr().err
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode) and scene.read_bytes() == before


# --- Links ------------------------------------------------------------------------------------------


def test_of_a_linked_scene_the_file_is_written_and_the_link_stays(tmp_path):
    folder = tmp_path / "real"
    folder.mkdir()
    image = bpy.data.images.new("picture", 1, 1)
    image.source, image.filepath, image.use_fake_user = 'FILE', "//textures/a.png", True
    scene = leg_file(folder)
    link = tmp_path / "link.blend"
    link.symlink_to("real/leg.blend")
    assert bake_here(link) == 0
    assert link.is_symlink() and os.readlink(link) == "real/leg.blend"
    assert names(tmp_path) == ["link.blend", "real"] and names(folder) == ["leg.blend", "leg.blend1"]
    assert is_baked(scene)
    assert bpy.data.images["picture"].filepath == "//textures/a.png"


def test_in_a_linked_folder_relative_paths_lead_where_they_did(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to("real")
    image = bpy.data.images.new("picture", 1, 1)
    image.source, image.filepath, image.use_fake_user = 'FILE', "//../textures/a.png", True
    leg_file(tmp_path / "real")
    assert bake_here(tmp_path / "linked" / "leg.blend") == 0
    assert is_baked(tmp_path / "real" / "leg.blend")
    assert bpy.data.images["picture"].filepath == "//../textures/a.png"


@pytest.mark.parametrize("dangling", [False, True])
def test_of_a_linked_output_the_file_is_written_and_the_link_stays(scene, dangling):
    before = scene.read_bytes()
    link, out = scene.with_name("link.blend"), scene.with_name("out.blend")
    link.symlink_to("out.blend")
    if not dangling:
        out.write_bytes(b"old")
    assert bake_here(scene, "--output", link) == 0
    assert link.is_symlink() and is_baked(out) and scene.read_bytes() == before


@pytest.mark.slow
def test_another_name_of_the_file_keeps_what_it_was(scene):
    """As Blender itself does it: the new file takes one name, the other one stays with the old."""
    before, other = scene.read_bytes(), scene.with_name("other.blend")
    os.link(scene, other)
    assert bake_here(scene) == 0
    assert other.read_bytes() == before and is_baked(scene)


# --- Permissions and versions -----------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mode", [0o640, 0o600, 0o664])
def test_the_permissions_of_the_scene_stay(scene, mode):
    scene.chmod(mode)
    assert bake_here(scene) == 0
    assert stat.S_IMODE(scene.stat().st_mode) == mode
    assert stat.S_IMODE(scene.with_name("leg.blend1").stat().st_mode) == mode


@pytest.mark.slow
@pytest.mark.parametrize("versions", [0, 1, 2, 32])
def test_as_many_versions_are_kept_as_blender_keeps(scene, versions):
    own = scene.parent / "own"
    own.mkdir()
    bpy.context.preferences.filepaths.save_version = versions
    for _ in range(4):
        bpy.ops.wm.save_as_mainfile(filepath=str(own / "leg.blend"))
    for _ in range(3):
        assert bake_here(scene) == 0
    assert names(scene.parent) == sorted([*names(own), "own"])
    assert bpy.context.preferences.filepaths.save_version == versions


# Root may write anywhere, unless it runs something without that right.
WITHOUT_OVERRIDE = ["setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override"]


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root needs setpriv for it")
@pytest.mark.parametrize("read_only", ["leg.blend", "."])
def test_what_is_read_only_is_refused(scene, read_only):
    before = scene.read_bytes()
    (scene.parent / read_only).chmod(0o555)
    prefix = WITHOUT_OVERRIDE if os.geteuid() == 0 else []
    done = subprocess.run(
        [*prefix, *command("bake", scene)], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    (scene.parent / read_only).chmod(0o755)
    assert done.returncode == 2
    assert f"ik2d: error: '{scene}' cannot be written; choose another place" in done.stderr
    assert scene.read_bytes() == before and names(scene.parent) == ["leg.blend"]
