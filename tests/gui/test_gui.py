# SPDX-License-Identifier: GPL-3.0-or-later
"""The main job in a real Blender window, from the built and installed extension.

The Blender is the one that the environment variable BLENDER names; without it these tests are skipped.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

import pytest

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
TOOLS = REPOSITORY.parent / "shared" / "tools"  # blender-gui and blender_ui.py: they drive the window
SHOTS = REPOSITORY / "build" / "gui"
SECONDS = 700  # for one scenario; it takes about 30, or 150, on two cores, and more next to other work
AT_A_TIME = 3  # on two cores: a quarter of a scenario's time goes into waiting for events and pictures
# Where the processor draws, most of a scenario's time goes into smooth edges in the viewport. With them, as
# Blender comes, are played: the real mouse, and what the extension draws into the viewport.
SMOOTH = ("by_mouse_with_x_events", "overlay")
QUICK = "import bpy; bpy.context.preferences.system.viewport_aa = 'OFF'"


@pytest.fixture(scope="session")
def blender() -> str:
    """The Blender to test, or a reason to skip."""
    command = os.environ.get("BLENDER", "")
    if not command:
        pytest.skip("set BLENDER to a Blender program to run the GUI tests")
    if shutil.which(command) is None:
        pytest.fail(f"BLENDER={command} is not a program")
    if not (TOOLS / "blender-gui").exists():
        pytest.skip("the GUI tests need the tools folder (blender-gui) beside the repository")
    return command


def run(command: list, environment: dict | None = None, seconds: float = SECONDS) -> str:
    """Run a program with a time limit and return what it printed, which is also the failure's text."""
    done = subprocess.run(
        [str(part) for part in command],
        env={**os.environ, **(environment or {})},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=seconds,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="session")
def installed(blender: str, tmp_path_factory) -> dict[str, str]:
    """An environment in which the extension, built as a zip, is installed and enabled for a new user."""
    folder = tmp_path_factory.mktemp("blender_user")
    environment = {
        "BLENDER_USER_RESOURCES": str(folder / "resources"),
        "IK2D_GUI_TOOLS": str(TOOLS),
    }
    (folder / "resources").mkdir()
    extension = [blender, "--command", "extension"]
    run([*extension, "build", "--source-dir", REPOSITORY, "--output-dir", folder], environment)
    (archive,) = folder.glob("ik2d-*.zip")
    run([*extension, "install-file", "-r", "user_default", "-e", archive], environment)
    return environment


@pytest.fixture(scope="session")
def arm_scene(blender: str, tmp_path_factory) -> Path:
    """The .blend file that the scenarios start from."""
    path = tmp_path_factory.mktemp("scene") / "arm.blend"
    run(
        [
            blender,
            "--background",
            "--factory-startup",
            "--python-exit-code",
            "3",
            "--python",
            HERE / "arm_scene.py",
            "--",
            path,
        ]
    )
    return path


@pytest.fixture(scope="session")
def plays(
    request, blender: str, installed: dict[str, str], arm_scene: Path, tmp_path_factory
) -> Iterator[dict[str, Future[str]]]:
    """What each of the chosen scenarios prints, by its id; AT_A_TIME are played at a time."""
    workers, runs = ThreadPoolExecutor(AT_A_TIME), {}
    # Blender maps files of its cache into memory: no other Blender may be writing them meanwhile.
    caches = SimpleQueue()
    for _ in range(AT_A_TIME):
        caches.put(str(tmp_path_factory.mktemp("cache")))
    for one in (item.callspec for item in request.session.items):
        own = {
            "BLENDER_USER_RESOURCES": str(tmp_path_factory.mktemp("user") / "resources"),
            "IK2D_SHOTS": str(SHOTS / one.id),
        }
        scenario, arguments = one.params["scenario"], one.params["arguments"]
        if one.id not in SMOOTH:
            arguments = [*arguments, "--python-expr", QUICK]
        runs[one.id] = workers.submit(play, blender, installed, own, arm_scene, caches, scenario, arguments)
    yield runs
    workers.shutdown(cancel_futures=True)


def play(
    blender: str,
    installed: dict[str, str],
    own: dict[str, str],
    scene: Path,
    caches: SimpleQueue,
    scenario: str,
    arguments: list,
) -> str:
    """Run a scenario in a window, with user files and pictures of its own; return what it printed.

    caches: folders, one of which Blender takes for its cache.
    """
    # Blender saves changed preferences when it ends.
    shutil.copytree(installed["BLENDER_USER_RESOURCES"], own["BLENDER_USER_RESOURCES"])
    Path(own["IK2D_SHOTS"]).mkdir(parents=True, exist_ok=True)
    command = [TOOLS / "blender-gui", "--blender", blender, "--timeout", SECONDS - 30, "--", scene]
    cache = caches.get()
    try:
        return run(
            [*command, *arguments, "--python", HERE / scenario],
            {**installed, **own, "XDG_CACHE_HOME": cache},
        )
    finally:
        caches.put(cache)


@pytest.mark.parametrize(
    "scenario, arguments",
    [
        pytest.param("scenario_by_mouse.py", ["--enable-event-simulate"], id="by_mouse"),
        pytest.param("scenario_by_mouse.py", [], id="by_mouse_with_x_events"),
        pytest.param("scenario_states.py", ["--enable-event-simulate"], id="states_of_the_sidebar"),
        pytest.param("scenario_panel.py", ["--enable-event-simulate"], id="panel"),
        pytest.param(
            "scenario_small_window.py",
            ["--enable-event-simulate", "--window-geometry", "0", "0", "1280", "800"],
            id="result_in_sight",
        ),
        pytest.param(
            "scenario_four_chains.py",
            ["--enable-event-simulate", "--window-geometry", "0", "0", "1280", "800"],
            id="four_chains",
        ),
        pytest.param("scenario_post.py", ["--enable-event-simulate"], id="post"),
        pytest.param("scenario_pictures.py", ["--enable-event-simulate"], id="panel_pictures"),
        pytest.param("scenario_long_bake.py", ["--enable-event-simulate"], id="long_bake"),
        pytest.param("scenario_export.py", ["--enable-event-simulate"], id="export"),
        pytest.param("scenario_all_actions.py", ["--enable-event-simulate"], id="all_actions"),
        pytest.param("scenario_by_name.py", ["--enable-event-simulate"], id="by_name"),
        pytest.param("scenario_live.py", ["--enable-event-simulate"], id="live"),
        pytest.param("scenario_live.py", [], id="live_with_x_events"),
        pytest.param("scenario_kept.py", ["--enable-event-simulate"], id="kept"),
        pytest.param("scenario_overlay.py", ["--enable-event-simulate"], id="overlay"),
        pytest.param("scenario_handles.py", ["--enable-event-simulate"], id="handles"),
        pytest.param("scenario_menus.py", ["--enable-event-simulate"], id="menus"),
        pytest.param("scenario_drag.py", ["--enable-event-simulate"], id="drag"),
        pytest.param("scenario_drag_keys.py", ["--enable-event-simulate"], id="drag_keys"),
        pytest.param("scenario_drag_mechanism.py", ["--enable-event-simulate"], id="drag_mechanism"),
        pytest.param("scenario_first_pose.py", ["--enable-event-simulate"], id="first_pose"),
        pytest.param("scenario_clicked_chain.py", ["--enable-event-simulate"], id="clicked_chain"),
        pytest.param("scenario_ccd.py", ["--enable-event-simulate"], id="ccd"),
        pytest.param("scenario_doctor.py", ["--enable-event-simulate"], id="doctor"),
        pytest.param("scenario_adopt.py", ["--enable-event-simulate"], id="adopt"),
        pytest.param("scenario_adopt_pole.py", ["--enable-event-simulate"], id="pole_adopted"),
        pytest.param("scenario_pole.py", ["--enable-event-simulate"], id="pole"),
        pytest.param("scenario_foot.py", ["--enable-event-simulate"], id="foot"),
        pytest.param("scenario_plant.py", ["--enable-event-simulate"], id="plant"),
        pytest.param("scenario_posed.py", ["--enable-event-simulate"], id="posed"),
        pytest.param("scenario_live_walk.py", ["--enable-event-simulate"], id="live_walk"),
        pytest.param("scenario_ram.py", ["--enable-event-simulate"], id="ram"),
        pytest.param("scenario_four_bar.py", ["--enable-event-simulate"], id="four_bar"),
        pytest.param("scenario_two_targets.py", ["--enable-event-simulate"], id="two_targets"),
        pytest.param("scenario_match.py", ["--enable-event-simulate"], id="match"),
        pytest.param("scenario_native.py", ["--enable-event-simulate"], id="native"),
        pytest.param("scenario_chain_keys.py", ["--enable-event-simulate"], id="chain_keys"),
        pytest.param("scenario_straight.py", ["--enable-event-simulate"], id="straight"),
        pytest.param("scenario_biped.py", ["--enable-event-simulate"], id="biped"),
        pytest.param("scenario_tail.py", ["--enable-event-simulate"], id="tail"),
        pytest.param("scenario_rigify.py", ["--enable-event-simulate"], id="rigify"),
        pytest.param("scenario_rigify_limbs.py", ["--enable-event-simulate"], id="rigify_limbs"),
        pytest.param("scenario_thrower.py", ["--enable-event-simulate"], id="thrower"),
    ],
)
def test_main_job_in_the_window(plays, request, scenario, arguments):
    """The scenario's own assertions hold; it ends Blender with exit code 1 where one does not."""
    printed = plays[request.node.callspec.id].result()
    assert "GUI TEST PASSED" in printed and "Traceback" not in printed, printed
