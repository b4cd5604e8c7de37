# SPDX-License-Identifier: GPL-3.0-or-later
"""Chains on a library override outlive saving and loading, whatever the library's rig has of IK 2D."""

import json
import os
import subprocess
from pathlib import Path

import bpy
import pytest
from programs import python_in_blender
from rigs import add_armature, add_chain, add_target, override_from
from test_live import missed

import ik2d_addon
from ik2d_addon.live.registry import RIGS

ROOT = Path(__file__).resolve().parents[2]
# Opens a file as another session of Blender would, says what is there, and saves it again.
READ = """
import json, os, sys
import bpy, ik2d_addon
ik2d_addon.register()
from ik2d_addon.bake import solve
bpy.ops.wm.open_mainfile(filepath={path!r})
rig = next(ob for ob in bpy.data.objects if ob.override_library)
found = [
    dict(
        name=chain.name, tip=chain.tip, bones=chain.bone_count, bend=chain.bend,
        target=chain.target.name if chain.target else "",
        pole=[chain.plane, chain.pole.name, round(chain.pole_angle, 3)] if chain.pole else [],
        foot=[round(chain.foot.roll, 3), *chain.foot.heel] if chain.foot.is_added else [],
        joints=[[joint.name, joint.use_limit, joint.limit_min, joint.weight] for joint in chain.joints],
    )
    for chain in rig.ik2d.chains
]
reached = solve(rig).all_reached if found else None
verify = rig.ik2d.verify
bpy.ops.wm.save_as_mainfile(filepath={path!r})
print("FOUND" + json.dumps(dict(chains=found, reached=reached, verify=verify)))
sys.stdout.flush()
os._exit(0)
"""
EXPECTED = {
    "name": "Leg",
    "tip": "shin",
    "bones": 2,
    "bend": 'NEGATIVE',
    "target": "Target",
    "pole": ['POLE', "Pole", 0.5],
    "foot": [0.3, 0.0, 0.25, -0.125],
    "joints": [["thigh", False, pytest.approx(-3.14159265), 1.0], ["shin", True, 0.25, 0.5]],
}


def read_in_another_session(path):
    """Return what a Blender of its own finds in a file, which it then saves."""
    code = python_in_blender(READ.format(path=path))
    done = subprocess.run(code, capture_output=True, text=True, timeout=120)
    lines = [line for line in done.stdout.splitlines() if line.startswith("FOUND")]
    assert lines, done.stdout + done.stderr
    return json.loads(lines[0].removeprefix("FOUND"))


def overridden(folder, with_chain):
    """Link a leg, whose library has a chain or nothing of IK 2D, and make an override of it."""
    if not with_chain:
        ik2d_addon.unregister()  # somebody else's rig, in whose Blender there is no IK 2D
    armature = add_armature(
        {
            "body": ((0, 0, 2.0), (0, 0, 2.6), "", 0.0),
            "thigh": ((0, 0, 2.0), (0, -0.1, 1.0), "body", 0.4),
            "shin": ((0, -0.1, 1.0), (0, 0, 0.125), "thigh", -0.2),
            "foot": ((0, 0, 0.125), (0, -0.5, 0), "shin", 0.0),
        }
    )
    if with_chain:
        add_chain(armature, "body", None, bone_count=1, name="Spine", enabled=False)
    library = os.path.join(folder, "library.blend")
    bpy.data.libraries.write(library, {armature, bpy.context.scene})
    if not with_chain:
        ik2d_addon.register()
    override = override_from(library, "Rig")
    bpy.context.view_layer.update()
    return override


def give_chain(override):
    """Give it a chain with settings of every kind."""
    chain = add_chain(override, "shin", add_target({1: (0, -0.6, 0.6)}), name="Leg", bend='NEGATIVE')
    chain.plane, chain.pole, chain.pole_angle = 'POLE', add_target({1: (1, -2, 1)}, "Pole"), 0.5
    joint = chain.joints["shin"]
    joint.use_limit, joint.limit_min, joint.weight = True, 0.25, 0.5
    chain.foot.is_added, chain.foot.roll = True, 0.3
    chain.foot.heel, chain.foot.toe_tip = (0.0, 0.25, -0.125), (0.0, -0.5, -0.125)
    override.ik2d.verify = 'ALL'


@pytest.mark.slow
@pytest.mark.parametrize("with_chain", [False, True], ids=["nothing of ours", "a chain"])
def test_chains_on_an_override_outlive_saving_and_loading(tmp_path, with_chain):
    give_chain(overridden(tmp_path, with_chain))
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    for _ in range(3):  # each session saves it again
        found = read_in_another_session(path)
        assert found["chains"][-1] == EXPECTED and found["verify"] == 'ALL'
        assert len(found["chains"]) == 1 + with_chain and found["reached"] is not None


@pytest.mark.slow
def test_chains_on_an_override_outlive_undo_and_then_saving(tmp_path):
    override = overridden(tmp_path, False)
    bpy.ops.ed.undo_push(message="before")
    give_chain(override)
    bpy.ops.ed.undo_push(message="chain")
    bpy.context.scene.frame_end = 7
    bpy.ops.ed.undo_push(message="something else")
    bpy.ops.ed.undo()
    override = next(ob for ob in bpy.data.objects if ob.override_library)
    assert [chain.name for chain in override.ik2d.chains] == ["Leg"]
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert read_in_another_session(path)["chains"] == [EXPECTED]


@pytest.mark.slow
def test_a_chain_removed_from_an_override_stays_removed(tmp_path):
    override = overridden(tmp_path, False)
    give_chain(override)
    path = str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    override.ik2d.chains.clear()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert read_in_another_session(path)["chains"] == []


@pytest.mark.parametrize("with_chain", [False, True], ids=["nothing of ours", "a chain"])
def test_frames_of_a_live_override_are_kept_and_dropped_at_an_edit(tmp_path, with_chain):
    override = overridden(tmp_path, with_chain)
    places = {frame: (0.0, -0.6 + 0.02 * frame, 0.4 + 0.01 * frame) for frame in (1, 12)}
    chain = add_chain(override, "shin", add_target(places), name="Leg", live=True)
    for frame in (*range(1, 13), *range(1, 13)):
        bpy.context.scene.frame_set(frame)
        assert missed(override, chain) < 1e-5
    (kept,) = RIGS.kept._poses.values()
    assert kept.armature == override and (bpy.context.scene.session_uid, 5.0) in kept
    chain.target.animation_data_clear()
    chain.target.location = (0.0, -0.5, 0.6)
    for frame in (5, 6):
        bpy.context.scene.frame_set(frame)
        assert missed(override, chain) < 1e-5
