# SPDX-License-Identifier: GPL-3.0-or-later
"""The rooms of the code: who may import whom, and what each source file carries."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "ik2d_addon"
# From the top down: each room imports only from itself and from the rooms to its right; the command line
# needs nothing of the interface.
ORDER = ("cli", "features", "ui", "live", "bake", "rig", "core")
# The floors inside a room, in the same order.
RIG = ("mechanism", "pose", "scene", "chain", "animation")
FEATURES = sorted(path.parent.name for path in (PACKAGE / "features").glob("*/__init__.py"))
# Files of a folder that one can take in at a glance, beside its __init__.
MODULES = 14
# Lines of a file, and fields of a record, that one can take in at once.
LINES, FIELDS = 400, 15
SOURCES = sorted(
    path
    for folder in ("ik2d_addon", "core_demo", "tests", "tools", "sample_scenes", "benchmarks")
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


@cache
def imports(path: Path) -> list[tuple[int, str]]:
    """Return (level, dotted name) of everything that a file imports; level counts the leading dots."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            found += [(node.level, f"{base}.{alias.name}".strip(".")) for alias in node.names]
    return found


def room(path: Path) -> str:
    """Return the room that a file of the package belongs to: its folder's or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


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


@pytest.mark.slow
def test_core_and_package_import_without_blender() -> None:
    names = [".".join(("ik2d_addon", *module(path))) for path in sorted((PACKAGE / "core").rglob("*.py"))]
    result = run_python(BLOCKED_BPY + f"import ik2d_addon, {', '.join(names)}")
    assert result.returncode == 0, result.stderr


def test_block_of_bpy_holds() -> None:
    result = run_python(BLOCKED_BPY + "import bpy")
    assert "bpy is blocked" in result.stderr


@pytest.mark.slow
def test_core_imports_only_numpy_and_the_standard_library() -> None:
    """Its demo, which no zip holds and nothing else imports, draws with matplotlib."""
    outside = {}
    for path in (PACKAGE / "core").rglob("*.py"):
        allowed = sys.stdlib_module_names | {"numpy"}
        if wrong := {name.partition(".")[0] for level, name in imports(path) if not level} - allowed:
            outside[relative(path)] = wrong
    assert outside == {}


def test_the_demo_uses_what_the_package_shows_alone() -> None:
    names = [name for path in (ROOT / "core_demo").glob("*.py") for level, name in imports(path) if not level]
    ours = {name for name in names if name.startswith("ik2d")}
    assert ours and all(name.count(".") == 1 and name.startswith("ik2d_core.") for name in ours)


@pytest.mark.slow
def test_no_file_of_the_package_uses_threads() -> None:
    """As the rules of the extensions platform ask; `tools` and tests may."""
    threads = {"threading", "_thread", "queue", "concurrent", "multiprocessing"}
    assert {
        relative(path): name
        for path in [*PACKAGE.rglob("*.py"), ROOT / "__init__.py"]
        for level, name in imports(path)
        if not level and name.partition(".")[0] in threads
    } == {}


def test_package_imports_itself_relatively() -> None:
    """An installed extension lies below bl_ext, where the name `ik2d_addon` does not exist."""
    absolute = {
        relative(path)
        for path in PACKAGE.rglob("*.py")
        if any(not level and name.startswith("ik2d_addon") for level, name in imports(path))
    }
    assert absolute == set()


def upwards(
    names: Sequence[str], allowed: Callable[[str], Iterable[str]], *above: str
) -> dict[str, set[str]]:
    """Return the imports of each file below a folder from rooms of it that its own may not need."""
    found = {}
    for path in PACKAGE.joinpath(*above).rglob("*.py"):
        place = module(path)[len(above) :]
        if place and place[0] in names:
            others = {
                other[len(above)]
                for other in imported_modules(path)
                if other[: len(above)] == above and len(other) > len(above) and other[len(above)] in names
            }
            if wrong := others - {place[0], *allowed(place[0])}:
                found[relative(path)] = wrong
    return found


def below(order: Sequence[str]) -> Callable[[str], Sequence[str]]:
    """Return a function from a room to itself and the rooms to its right."""
    return lambda own: order[order.index(own) :]


def test_imports_point_down() -> None:
    assert upwards(ORDER, lambda own: set(below(ORDER)(own)) - ({"ui"} if own == "cli" else set())) == {}


def test_imports_inside_rig_point_down() -> None:
    assert upwards(RIG, below(RIG), "rig") == {}


def uses(feature: str) -> set[str]:
    """Return the features that a feature's `USES` names."""
    text = (PACKAGE / "features" / feature / "__init__.py").read_text(encoding="utf-8")
    lines = [node for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    named = [ast.literal_eval(line.value) for line in lines if ast.unparse(line.targets[0]) == "USES"]
    return set(" ".join(named).split())


@pytest.mark.parametrize("name", FEATURES)
def test_a_feature_imports_those_that_it_names_and_no_other(name: str) -> None:
    modules = [
        other for path in (PACKAGE / "features" / name).rglob("*.py") for other in imported_modules(path)
    ]
    assert {other[1] for other in modules if other[0] == "features"} - {name} == uses(name)


def test_no_feature_uses_itself_by_way_of_others() -> None:
    refuse_circles({name: uses(name) for name in FEATURES})


def test_every_folder_of_rig_has_its_floor() -> None:
    assert {path.parent.name for path in (PACKAGE / "rig").glob("*/__init__.py")} == set(RIG)


def test_no_folder_outgrows_a_glance() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    sizes = {
        relative(folder): len([path for path in folder.glob("*.py") if path.name != "__init__.py"])
        for folder in folders
    }
    assert {name: size for name, size in sizes.items() if size > MODULES} == {}


def test_no_file_outgrows_a_reading() -> None:
    lines = {
        relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in PACKAGE.rglob("*.py")
    }
    assert {name: count for name, count in lines.items() if count > LINES} == {}


@pytest.mark.slow
def test_no_record_has_too_many_fields() -> None:
    sizes = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(
                "dataclass" in ast.dump(d) for d in node.decorator_list
            ):
                sizes[node.name] = sum(isinstance(line, ast.AnnAssign) for line in node.body)
    assert len(sizes) > 100
    assert {name: count for name, count in sizes.items() if count > FIELDS} == {}


@pytest.mark.slow
def test_no_two_classes_have_one_name() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def test_no_module_imports_itself_by_way_of_others() -> None:
    refuse_circles({module(path): imported_modules(path) for path in PACKAGE.rglob("*.py")})


def refuse_circles(needs: dict[Any, set[Any]]) -> None:
    """Fail where some need one another in a circle."""
    while needs:
        last = {name for name, others in needs.items() if not others & needs.keys()}
        assert last, f"these need one another in a circle: {sorted(needs)}"
        needs = {name: others for name, others in needs.items() if name not in last}


def place_of_tests(path: Path) -> Path:
    """Return where the tests of a source file are: of core by itself, of the others beside Blender."""
    inside = path.relative_to(PACKAGE)
    folder = inside.parent if room(path) == "core" else Path("blender") / inside.parent
    return ROOT / "tests" / folder / f"test_{inside.name}"


def test_source_has_its_test_file() -> None:
    sources = [
        path
        for path in PACKAGE.rglob("*.py")
        if room(path) in {"core", "rig", "bake"} and path.name != "__init__.py"
    ]
    assert [relative(path) for path in sources if not place_of_tests(path).is_file()] == []


def test_every_file_of_the_package_has_a_room() -> None:
    rooms = {room(path) for path in PACKAGE.rglob("*.py")}
    assert rooms <= {*ORDER, "__init__", "__main__", "chains"}


def test_source_names_its_licence_first() -> None:
    licence = "# SPDX-License-Identifier: GPL-3.0-or-later\n"
    assert [
        relative(path) for path in SOURCES if not path.read_text(encoding="utf-8").startswith(licence)
    ] == []
