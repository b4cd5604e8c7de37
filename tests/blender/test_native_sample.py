# SPDX-License-Identifier: GPL-3.0-or-later
"""The native sample plays where the add-on is not, and no script may run."""

import json
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import play_native
import pytest
from check_samples import CLOSE, ROOT

from ik2d_addon.rig.chain.checks.bones import chain_bones
from ik2d_addon.rig.chain.native_state import is_native

SCENE = ROOT / "sample_scenes" / "07_native.blend"
FRAME = 9


def tips() -> list:
    """Return armature, tip bone, target and reach of each chain of the open file."""
    return [
        [ob.name, chain.tip, chain.target.name, reach(ob, chain)]
        for ob in bpy.context.scene.objects
        if ob.type == 'ARMATURE'
        for chain in ob.ik2d.chains
    ]


def reach(armature, chain) -> float:
    """Return the length of a chain's bones."""
    return sum(bone.length for bone in chain_bones(armature, chain.tip, chain.bone_count))


@pytest.fixture(scope="module")
def seen(registered, tmp_path_factory) -> tuple[dict, Path]:
    """Play the sample in a process without the add-on; return what was seen, and a picture of a frame."""
    folder = tmp_path_factory.mktemp("native")
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    out, picture = folder / "seen.json", folder / "without.png"
    out.write_text(json.dumps(tips()))
    script = Path(play_native.__file__)
    program = [sys.executable, script]
    if bpy.app.binary_path:
        safe = ("--background", "--factory-startup", "--disable-autoexec", "--python-exit-code", "3")
        program = [bpy.app.binary_path, *safe, "--python", script]
    words = [*program, "--", SCENE, out, picture, str(FRAME)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text()), picture


@pytest.mark.slow
def test_all_six_legs_are_native():
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    (chains,) = (ob.ik2d.chains for ob in bpy.context.scene.objects if ob.type == 'ARMATURE')
    assert [is_native(chain) for chain in chains] == [True] * 6


@pytest.mark.slow
def test_the_other_process_has_no_addon_and_blocks_scripts(seen):
    assert not seen[0]["add-on"]
    assert seen[0]["blocked in a control"]


def test_every_foot_is_on_its_target_on_every_frame_without_the_addon(seen):
    worst = seen[0]["worst"]
    assert len(worst) == 6
    assert max(worst.values()) < CLOSE, worst


def test_no_driver_is_blocked_or_broken(seen):
    found = seen[0]
    assert found["expressions"]
    assert all(found["expressions"].values()), found["expressions"]
    assert not found["invalid"] and not found["blocked"]


@pytest.mark.slow
def test_a_frame_renders_as_with_the_addon(seen, tmp_path):
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    picture = tmp_path / "with.png"
    play_native.render(str(picture), FRAME)
    ours, other = pixels(picture), pixels(seen[1])
    assert ours.std() > 0.05
    assert np.abs(ours - other).max() <= 1.01 / 255.0


@pytest.mark.slow
def test_feet_stand_still_on_the_ground_while_they_stand():
    """At least three of six stand on each frame and do not slip, and none is below the ground."""
    bpy.ops.wm.open_mainfile(filepath=str(SCENE))
    scene = bpy.context.scene
    (armature,) = (ob for ob in scene.objects if ob.type == 'ARMATURE')
    feet = [bone.name for bone in armature.pose.bones if "tarsus" in bone.name]
    places = []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        rig = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append([[*(rig.matrix_world @ rig.pose.bones[name].tail)] for name in feet])
    ends = np.array(places)
    assert ends[..., 2].min() > 0.0
    still = np.linalg.norm(np.diff(ends, axis=0), axis=-1) < 1e-4
    assert still.sum(axis=1).min() >= 3


def pixels(path: Path) -> np.ndarray:
    """Return an image's pixels as floats."""
    image = bpy.data.images.load(str(path))
    return np.array(image.pixels[:])
