# SPDX-License-Identifier: GPL-3.0-or-later
"""What Blender's extensions platform asks for: docs/publishing.md names what holds each of its rules."""

import ast
import re
from pathlib import Path

import bpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "publishing.md").read_text(encoding="utf-8")
PICTURES = ROOT / "docs" / "publishing"
SOURCES = sorted((ROOT / "ik2d_addon").rglob("*.py"))
# Modules that a reviewer stops at, and where they are allowed: the command line's own processes.
NOT_HERE = {
    **dict.fromkeys(("threading", "_thread", "multiprocessing", "socket", "urllib", "http", "ftplib"), ()),
    **dict.fromkeys(("pickle", "marshal", "runpy", "site", "pip", "ensurepip"), ()),
    "subprocess": ("cli/commands/several_files.py", "features/export/process.py"),
    "ctypes": ("cli/parent.py",),
}


@pytest.fixture(scope="module")
def nodes() -> list[tuple[str, ast.AST]]:
    """Return each part of the runtime's code, with its file."""
    return [
        (path.relative_to(ROOT / "ik2d_addon").as_posix(), node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    ]


def test_no_module_that_a_reviewer_stops_at_is_imported(nodes):
    found = set()
    for name, node in nodes:
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [node.module]
        tops = {module.partition(".")[0] for module in modules}
        found |= {(name, top) for top in tops & set(NOT_HERE) if name not in NOT_HERE[top]}
    assert found == set()


def test_the_code_does_not_reach_into_python_itself(nodes):
    """No sys.path, sys.modules, eval or exec, and `__file__` for the folder of presets that Blender reads."""
    found = set()
    for name, node in nodes:
        if isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.path", "sys.modules"):
            found.add((name, ast.unparse(node)))
        elif isinstance(node, ast.Name) and node.id in ("eval", "exec", "__file__", "compile"):
            found.add((name, node.id))
    assert found == {
        ("features/setup/chain_presets.py", "__file__"),
        # Where a new process of the command line finds it.
        ("cli/commands/several_files.py", "__file__"),
        ("features/export/process.py", "__file__"),
    }


def test_imports_of_ours_are_relative(nodes):
    absolute = [
        name
        for name, node in nodes
        if (isinstance(node, ast.Import) and any(alias.name.startswith("ik2d") for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.level == 0 and node.module.startswith("ik2d"))
    ]
    assert absolute == []


@pytest.mark.parametrize("name, size", [("icon.png", (256, 256)), ("featured.jpg", (1920, 1080))])
def test_pictures_are_as_large_as_the_platform_wants(name, size):
    picture = bpy.data.images.load(str(PICTURES / name))
    assert tuple(picture.size) == size
    bpy.data.images.remove(picture)


def test_the_gallery_is_light():
    gallery = sorted(PICTURES.glob("gallery_*.jpg"))
    assert len(gallery) >= 4
    assert all(path.stat().st_size < 400_000 for path in PICTURES.iterdir())


def test_each_test_that_the_page_names_is_there():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 8
    for file, test in named:
        assert f"def {test}" in (ROOT / file).read_text(encoding="utf-8"), (file, test)


def test_only_a_person_has_lines_left_to_fill_in():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    open_rows = [row for row in rows if "**open**" in row]
    assert all("a person" in row for row in open_rows)
    assert len(open_rows) <= 4
