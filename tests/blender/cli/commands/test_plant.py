# SPDX-License-Identifier: GPL-3.0-or-later
"""`ik2d plant`: feet of a file are planted, and moved back, with the safety of a bake."""

import bpy
import numpy as np
import pytest
from walkers import FRAMES, Walker, walker

from ik2d_addon.cli.program import run


def plant(*words) -> int:
    """Run `plant` in this process; return the exit code."""
    return run(["plant", *map(str, words)], opens_scene=True)


@pytest.fixture
def scene(tmp_path):
    """A file with a walker whose feet slide, and the pose that it has."""
    made = walker()
    path = tmp_path / "walker.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path, made.pose()


def pose_of(path) -> np.ndarray:
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return Walker(bpy.data.objects["Rig"], (), 1.0).pose()


def test_a_file_is_planted_and_cleared_in_another_session(scene, capsys):
    path, before = scene
    assert plant(path, "--strict") == 0
    assert "Rig: Planted 2 chains in 13 contacts: slides of up to 4.81 cm" in capsys.readouterr().out
    assert np.abs(pose_of(path) - before).max() > 0.01
    assert plant(path, "--clear") == 0
    assert np.abs(pose_of(path) - before).max() < 1e-6


def test_contacts_alone_move_nothing(scene, capsys):
    path, before = scene
    assert plant(path, "--contacts", "--frames", f"{FRAMES[0]}:{FRAMES[-1]}") == 0
    assert "shin.L: 6 contacts" in capsys.readouterr().out
    assert np.abs(pose_of(path) - before).max() == 0.0


@pytest.mark.parametrize(
    "words, said",
    [
        (["--frames", "200:220"], "Nothing moves on frames 200 to 220"),
        (["--frames", "1:72:2"], "every frame"),
        (["--clear"], "no feet are planted"),
        (["--ground-velocity", "-1,2"], "is not X,Y,Z"),
        (["--chain", "tail"], "a chain 'tail'; the chains are: "),
    ],
)
def test_bad_input_saves_nothing(scene, capsys, words, said):
    path, _ = scene
    bits = path.read_bytes()
    assert plant(path, *words) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("ik2d: ")]
    assert len(lines) == 1 and said in lines[0]
    assert path.read_bytes() == bits


def test_a_ground_velocity_below_zero_is_read(scene):
    path, _ = scene
    assert plant(path, "--ground-velocity", "-0.001,0,0", "--contacts") == 0
