# SPDX-License-Identifier: GPL-3.0-or-later
"""The rooms of the code: who may import whom, and what each source file carries."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "ik2d_addon"
# From the top down: each room imports only from itself and from the rooms to its right.
ORDER = ("ui", "cli", "bake", "reduce", "cubics", "playback", "solving", "report", "rig", "core")
SOURCES = sorted(
    path
    for folder in ("ik2d_addon", "tests", "tools", "sample_scenes", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
) + [ROOT / "__init__.py"]
BLOCKED_BPY = """
import importlib.abc, sys

class NoBlender(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"bpy", "mathutils", "bmesh", "gpu", "blf", "bpy_extras", "bl_math"}:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, NoBlender())
"""


def relative(path: Path) -> str:
    """Return the path below the repository's root, as a test's name."""
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (level, dotted name) of everything that a file imports; level counts the leading dots."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            yield from ((node.level, f"{base}.{alias.name}".strip(".")) for alias in node.names)


def room(path: Path) -> str:
    """Return the room that a file of the package belongs to: its folder's or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[str]:
    """Yield the rooms that a file of the package imports from."""
    folder = path.parent.relative_to(PACKAGE).parts
    for level, name in imports(path):
        if level:
            inside = (*folder[: len(folder) - level + 1], *name.split("."))
            if inside[0] in ORDER:
                yield inside[0]


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python of its own, from the repository's root."""
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_core_and_package_import_without_blender() -> None:
    names = [f"ik2d_addon.core.{path.stem}" for path in sorted((PACKAGE / "core").glob("[!_]*.py"))]
    result = run_python(BLOCKED_BPY + f"import ik2d_addon, ik2d_addon.core, {', '.join(names)}")
    assert result.returncode == 0, result.stderr


def test_block_of_bpy_holds() -> None:
    result = run_python(BLOCKED_BPY + "import bpy")
    assert "bpy is blocked" in result.stderr


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("core/*.py")), ids=relative)
def test_core_imports_only_numpy_and_the_standard_library(path: Path) -> None:
    allowed = sys.stdlib_module_names | {"numpy"}
    outside = {name for level, name in imports(path) if level == 0 and name.partition(".")[0] not in allowed}
    assert not outside


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=relative)
def test_package_imports_itself_relatively(path: Path) -> None:
    """An installed extension lies below bl_ext, where the name `ik2d_addon` does not exist."""
    absolute = {name for level, name in imports(path) if level == 0 and name.startswith("ik2d_addon")}
    assert not absolute


@pytest.mark.parametrize("path", sorted(p for p in PACKAGE.rglob("*.py") if room(p) in ORDER), ids=relative)
def test_imports_point_down(path: Path) -> None:
    below = ORDER[ORDER.index(room(path)) :]
    assert set(imported_rooms(path)) <= set(below)


def test_every_file_of_the_package_has_a_room() -> None:
    rooms = {room(path) for path in PACKAGE.rglob("*.py")}
    assert rooms <= {*ORDER, "__init__", "__main__"}


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_source_names_its_licence_first(path: Path) -> None:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    assert first == "# SPDX-License-Identifier: GPL-3.0-or-later"
