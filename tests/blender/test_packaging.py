# SPDX-License-Identifier: GPL-3.0-or-later
"""The extension as users get it: what the zip holds, and that it works once installed."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from ik2d_addon import core

ROOT = Path(__file__).resolve().parent.parent.parent
MANIFEST = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
# Ends without Python's own exit, in which bpy 4.2 crashes and 4.5 hangs once our classes were registered.
pages = pytest.importorskip("tools.manual_page", reason="needs markdown and pymdownx")
USE_ENABLED = """
import importlib, os, sys, traceback, urllib.parse, urllib.request
try:
    assert hasattr(bpy.types.Object, "ik2d"), "Object.ik2d is missing"
    assert "bake" in dir(bpy.ops.ik2d), "the operators are missing"
    assert "ik2d_addon" not in sys.modules, "the source was imported, not the installed copy"
    bake = importlib.import_module("bl_ext.user_default.ik2d.ik2d_addon.bake").bake
    manual = importlib.import_module("bl_ext.user_default.ik2d.ik2d_addon.ui.manual").address()
    page = urllib.request.url2pathname(urllib.parse.urlparse(manual).path)
    assert manual.startswith("https:") or os.path.isfile(page), manual
    preferences = bpy.context.preferences.addons["bl_ext.user_default.ik2d"].preferences
    assert preferences.live_at_once and preferences.overlay.plane and not preferences.overlay.show
    bpy.ops.wm.open_mainfile(filepath=SCENE)
    report = bake(bpy.data.objects["Excavator"], frame_start=1, frame_end=5)
    assert report.all_reached, report.sentence()
    assert addon_utils.check("bl_ext.user_default.ik2d") == (True, True)
    addon_utils.disable("bl_ext.user_default.ik2d", default_set=True)
    assert not hasattr(bpy.types.Object, "ik2d"), "disabling left Object.ik2d behind"
    print("works")
except BaseException:
    traceback.print_exc()
sys.stdout.flush()
sys.stderr.flush()
os._exit(0)
"""
INSTALL = """
import bpy, addon_utils
bpy.ops.extensions.package_install_files(filepath=ZIP, repo="user_default", enable_on_install=True)
"""
ENABLE = """
import bpy, addon_utils
addon_utils.enable("bl_ext.user_default.ik2d", default_set=True)
"""


def run_python(
    *arguments: object, cwd: Path, resources: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the Python of these tests in `cwd`, with Blender's user files below `resources`."""
    environment = {**os.environ, "PYTHONPATH": ""}
    if resources:
        environment["BLENDER_USER_RESOURCES"] = str(resources)
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=180)


def use(enable: str, resources: Path, archive: Path | None = None) -> str:
    """Enable the extension in a Blender of its own, bake with it, disable it; return what was printed."""
    scene = ROOT / "sample_scenes" / "02_excavator.blend"
    values = f"ZIP = {str(archive)!r}\nSCENE = {str(scene)!r}\n"
    result = run_python("-c", values + enable + USE_ENABLED, cwd=resources, resources=resources)
    return result.stdout + result.stderr


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The extension's zip, built as `make build` does."""
    folder = tmp_path_factory.mktemp("dist")
    result = run_python("tools/build_extension.py", folder, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder / f"ik2d-{MANIFEST['version']}.zip"


@pytest.mark.slow
def test_zip_holds_the_runtime_and_nothing_else(archive: Path) -> None:
    demo = ROOT / "ik2d_addon" / "core" / "demo"  # of the package for Python
    files = [path for path in (ROOT / "ik2d_addon").rglob("*.*") if path.suffix in (".py", ".json")]
    files = [path for path in files if not path.is_relative_to(demo)]
    package = {path.relative_to(ROOT).as_posix() for path in files}
    held = {name for name in zipfile.ZipFile(archive).namelist() if not name.endswith("/")}
    assert held == package | {
        *("blender_manifest.toml", "__init__.py", "LICENSE", "manual.html", "troubleshooting.html")
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["manual", "troubleshooting"])
def test_zip_holds_each_page_that_the_window_opens(archive: Path, name: str) -> None:
    held = zipfile.ZipFile(archive)
    page = held.read(f"{name}.html").decode()
    assert page == pages.zip_page(name)
    elsewhere = re.findall(r"(?:src|href)=\"(?!#)([^\"]*)", page)
    assert {link.partition("#")[0] for link in elsewhere} <= {"manual.html", "troubleshooting.html"}


def built_with(folder: Path, old: str, new: str) -> subprocess.CompletedProcess[str]:
    """Build the extension with another text in its manifest."""
    for name in ("ik2d_addon", "tools"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "__init__.py", folder)
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "manual.md", folder / "docs")
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "blender_manifest.toml").write_text(text.replace(old, new), encoding="utf-8")
    return run_python("tools/build_extension.py", "dist", cwd=folder)


@pytest.mark.slow
def test_builder_refuses_a_tag_that_blender_does_not_know(tmp_path: Path) -> None:
    result = built_with(tmp_path, '"Rigging"', '"Juggling"')
    assert result.returncode != 0
    assert "Juggling" in result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("reason", ["Save scenes.", "Save scenes and reports " * 3])
def test_builder_refuses_a_reason_that_is_long_or_ends_in_a_full_stop(reason: str, tmp_path: Path) -> None:
    result = built_with(tmp_path, MANIFEST["permissions"]["files"], reason)
    assert result.returncode != 0
    assert "permissions" in result.stdout + result.stderr


def test_manifest_asks_for_blender_4_2() -> None:
    assert MANIFEST["blender_version_min"] == "4.2.0"
    assert MANIFEST["license"] == ["SPDX:GPL-3.0-or-later"]


@pytest.mark.slow
def test_manifest_asks_for_what_the_code_does_and_no_more() -> None:
    """It writes the files that a user names; nothing in it knows of a network, a clipboard, or a device."""
    assert list(MANIFEST["permissions"]) == ["files"]
    other = re.compile(
        r"\b(socket|urllib|http|ssl|ftplib|smtplib|xmlrpc|requests|webbrowser|clipboard|camera_device|microphone)\b"
    )
    sources = (ROOT / "ik2d_addon").rglob("*.py")
    assert [path for path in sources if other.search(path.read_text(encoding="utf-8"))] == []


@pytest.mark.slow
def test_version_is_written_in_the_manifest_and_the_solvers_package_alone() -> None:
    face = ROOT / "ik2d_addon" / "core" / "__init__.py"
    sources = [ROOT / "__init__.py", ROOT / "pyproject.toml", *(ROOT / "ik2d_addon").rglob("*.py")]
    statement = re.compile(r"bl_info|__version__|^version\b", re.MULTILINE)
    found = [path for path in sources if statement.search(path.read_text(encoding="utf-8"))]
    assert found == [face] and core.__version__ == MANIFEST["version"]


@pytest.mark.parametrize("page", ["README.md", "docs/animators.md"])
def test_pages_name_the_zip_of_this_version(page: str) -> None:
    names = set(re.findall(r"ik2d-[\d.]+\.zip", (ROOT / page).read_text(encoding="utf-8")))
    assert names == {f"ik2d-{MANIFEST['version']}.zip"}


def test_the_changelog_has_this_version() -> None:
    assert f"\n## [{MANIFEST['version']}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_installed_zip_bakes(archive: Path, tmp_path: Path) -> None:
    assert "works" in use(INSTALL, tmp_path, archive).splitlines()
    held = {name for name in zipfile.ZipFile(archive).namelist() if not name.endswith("/")}
    (installed,) = tmp_path.rglob("extensions/user_default/ik2d")
    there = {path.relative_to(installed) for path in installed.rglob("*") if path.is_file()}
    there = {path.as_posix() for path in there if path.suffix != ".pyc"}
    assert there == held  # nothing was written there


@pytest.mark.slow
def test_link_to_the_source_bakes(tmp_path: Path) -> None:
    repository = tmp_path / "extensions" / "user_default"
    repository.mkdir(parents=True)
    (repository / "ik2d").symlink_to(ROOT, target_is_directory=True)
    assert "works" in use(ENABLE, tmp_path).splitlines()
