# SPDX-License-Identifier: GPL-3.0-or-later
"""The Slurm script that bakes one scene of a folder: the scene of its number, or none."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "farm" / "slurm" / "bake.sbatch"
pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash here")


@pytest.fixture
def folder(tmp_path):
    """A folder of three scenes, whose name has a space."""
    scenes = tmp_path / "seq 10"
    scenes.mkdir()
    for name in "abc":
        (scenes / f"{name}.blend").touch()
    return scenes


def run(folder, number):
    """Run the script as task `number`, with a command that prints what it is to bake."""
    given = {} if number is None else {"SLURM_ARRAY_TASK_ID": number}
    surroundings = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    return subprocess.run(
        ["bash", SCRIPT, folder, folder / "out", "--strict"],
        env={**surroundings, **given, "IK2D": "printf '%s\\n'"},
        text=True,
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("number, name", [("1", "a"), ("2", "b"), ("3", "c")])
def test_a_task_bakes_the_scene_of_its_number(folder, number, name):
    done = run(folder, number)
    assert done.returncode == 0 and not done.stderr
    told = done.stdout.splitlines()
    assert told[:2] == ["bake", str(folder / f"{name}.blend")] and told[-1] == "--strict"


@pytest.mark.parametrize("number", ["0", "-1", "-3", "4", "", "x", None])
def test_any_other_number_bakes_nothing_and_says_which_there_are(folder, number):
    done = run(folder, number)
    assert done.returncode == 2 and not done.stdout
    assert f"no scene '{number or ''}' in {folder}, which has 3" in done.stderr


def test_a_folder_without_scenes_bakes_nothing(tmp_path):
    done = run(tmp_path, "1")
    assert done.returncode == 2 and "which has 0" in done.stderr
