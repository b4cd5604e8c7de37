# SPDX-License-Identifier: GPL-3.0-or-later
"""Tests in Blender's Python module bpy: each starts from factory settings with the add-on registered."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec

import pytest

HAS_BPY = find_spec("bpy") is not None
# First of all: Blender's other modules, such as mathutils, are found once it is there.
with suppress(ImportError):
    import bpy  # noqa: F401
collect_ignore_glob = [] if HAS_BPY else ["test_*.py", "*/test_*.py"]
# Set once the add-on was registered; it knows the exit status.
_session: pytest.Session | None = None


@pytest.fixture(scope="session", autouse=True)
def registered(request: pytest.FixtureRequest) -> Iterator[None]:
    """Register the add-on for the session: bpy 4.5 never ends with its classes still registered."""
    global _session
    import bpy

    import ik2d_addon

    _session = request.session
    bpy.context.preferences.is_dirty = True  # whoever's they are, the first test gets those of the factory
    ik2d_addon.register()
    yield
    ik2d_addon.unregister()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let all tests sample in one way: pytest tests/blender --sampling=CURVES."""
    parser.addoption("--sampling", choices=("AUTO", "CURVES", "STEP"), default="AUTO")


@pytest.fixture(autouse=True, scope="session")
def sampling_way(request: pytest.FixtureRequest, registered: None) -> None:
    """Sample as the command line says, for whatever asks for no way of its own."""
    from ik2d_addon.rig.scene import sampler

    sampler.WAY = request.config.getoption("--sampling")


@pytest.fixture(autouse=True)
def each_time_is_told(registered: None) -> Iterator[None]:
    """Have steps yield after each time that Blender shows, however fast it is."""
    from ik2d_addon.rig.scene import stepping

    with pytest.MonkeyPatch.context() as patch:  # of its own: a test's is undone before its other fixtures
        patch.setattr(stepping, "TURN", 0.0)
        yield


@pytest.fixture(autouse=True)
def factory_settings(registered: None) -> None:
    """Give the test an empty scene and factory preferences.

    Reading these takes five times as long as the scene alone, so they are read where any was changed.
    """
    import bpy

    if bpy.context.preferences.is_dirty:
        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.context.preferences.is_dirty = False
    else:
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    loaded = bpy.app.handlers.load_post  # where Rigify leaves one, each time that it is switched off
    for handler in [one for one in loaded if one.__module__.partition(".")[0] == "rigify"]:
        loaded.remove(handler)


@pytest.fixture(scope="session")
def generated(registered: None, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Return the file with a rig that Rigify generates, by its name; made once, since that takes seconds."""
    from rigify_rigs import save_generated

    folder = tmp_path_factory.mktemp("rigify")

    def path_of(name: str) -> str:
        path = folder / f"{name}.blend"
        if not path.exists():
            save_generated(name, path)
        return str(path)

    return path_of


def pytest_report_header() -> str:
    """Say which Blender the tests run in."""
    if not HAS_BPY:
        return "Blender: none, tests/blender is left out (no module bpy)"
    import bpy

    return f"Blender: bpy {bpy.app.version_string}"


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Leave without Python's own exit, in which bpy 4.2 crashes once property groups were registered."""
    if _session is not None:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(int(_session.exitstatus))
