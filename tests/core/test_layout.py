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
# From the top down: each room imports only from itself and from the rooms to its right; ui and cli, both at
# the top, not from one another.
ORDER = ("ui", "cli", "live", "bake", "rig", "core")
TOP = {"ui", "cli"}
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


def module(path: Path) -> tuple[str, ...]:
    """Return the dotted name of a file of the package, below it, as a tuple; a folder's for its __init__."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def imported_modules(path: Path) -> set[tuple[str, ...]]:
    """Return the modules of the package that a file imports, at whatever place in it.

    A package's own __init__ counts where a name is taken from it, not where one of its modules is.
    """
    folder = path.parent.relative_to(PACKAGE).parts
    found = set()
    for level, name in imports(path):
        if level:
            inside = (*folder[: len(folder) - level + 1], *name.split("."))
            while inside and not is_module(inside):
                inside = inside[:-1]
            found.add(inside)
    return found


def is_module(name: tuple[str, ...]) -> bool:
    """Return whether the package has a module of that name."""
    place = PACKAGE.joinpath(*name)
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python of its own, from the repository's root."""
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_core_and_package_import_without_blender() -> None:
    names = [".".join(("ik2d_addon", *module(path))) for path in sorted((PACKAGE / "core").rglob("*.py"))]
    result = run_python(BLOCKED_BPY + f"import ik2d_addon, {', '.join(names)}")
    assert result.returncode == 0, result.stderr


def test_block_of_bpy_holds() -> None:
    result = run_python(BLOCKED_BPY + "import bpy")
    assert "bpy is blocked" in result.stderr


@pytest.mark.parametrize("path", sorted((PACKAGE / "core").rglob("*.py")), ids=relative)
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
    own = room(path)
    below = {own, *ORDER[ORDER.index(own) :]} - (TOP - {own})
    assert set(imported_rooms(path)) <= below


def test_no_module_imports_itself_by_way_of_others() -> None:
    needs = {module(path): imported_modules(path) for path in PACKAGE.rglob("*.py")}
    while needs:
        last = {name for name, others in needs.items() if not others & needs.keys()}
        assert last, f"these import one another in a circle: {sorted(needs)}"
        needs = {name: others for name, others in needs.items() if name not in last}


def place_of_tests(path: Path) -> Path:
    """Return where the tests of a source file are: of core by itself, of the others beside Blender."""
    inside = path.relative_to(PACKAGE)
    folder = inside.parent if room(path) == "core" else Path("blender") / inside.parent
    return ROOT / "tests" / folder / f"test_{inside.name}"


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in sorted(PACKAGE.rglob("*.py"))
        if room(p) in {"core", "rig", "bake"} and p.name != "__init__.py"
    ],
    ids=relative,
)
def test_source_has_its_test_file(path: Path) -> None:
    assert place_of_tests(path).is_file(), f"{relative(place_of_tests(path))} is missing"


def test_every_file_of_the_package_has_a_room() -> None:
    rooms = {room(path) for path in PACKAGE.rglob("*.py")}
    assert rooms <= {*ORDER, "__init__", "__main__"}


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_source_names_its_licence_first(path: Path) -> None:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    assert first == "# SPDX-License-Identifier: GPL-3.0-or-later"
