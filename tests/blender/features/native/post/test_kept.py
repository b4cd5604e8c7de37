# SPDX-License-Identifier: GPL-3.0-or-later
"""Native posts through bakes, undo, saved files, library overrides and a Blender without the add-on."""

import json
import subprocess

import bpy
import numpy as np
import pytest
from native_rigs import poses
from post_rigs import FRAMES, robot_arm, turret
from programs import python_in_blender
from rigs import errors_on, override_from

from ik2d_addon.bake import bake
from ik2d_addon.features.native import is_native, make_native, remove_native
from ik2d_addon.features.native.changes import changed_since_made
from ik2d_addon.rig.chain.native_state import acts

# Of the arm, whose bones are 1.86 long.
EXACT = 5e-6


@pytest.fixture(autouse=True)
def frames():
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]


def active_arm():
    armature, chain = robot_arm()
    bpy.context.view_layer.objects.active = armature
    return armature, chain


def errors(armature):
    return errors_on(FRAMES, armature, armature.ik2d.chains[0]).max()


@pytest.mark.parametrize("influence, off", [(1.0, 2e-5), (0.4, 1e-3)])
@pytest.mark.parametrize("seed", [0, 4, 6, 16])
def test_a_bake_has_the_drivers_poses_and_mutes_them_until_they_act_again(seed, influence, off):
    made = turret(seed, rate=0.3, still=True)
    chain, names = made.add_chain(), ["post", *made.bones]
    chain.influence = influence
    make_native(made.armature, chain)
    native = poses(made.armature, FRAMES, names)
    bake(made.armature, frame_start=FRAMES[0], frame_end=FRAMES[-1])
    baked = poses(made.armature, FRAMES, names)
    assert np.abs(native - baked)[..., :3, :3].max() < off
    assert not acts(chain) and changed_since_made(chain) == ""
    warnings = make_native(made.armature, chain).warnings
    assert acts(chain) and bool(warnings) == (influence < 1.0)
    if influence == 1.0:
        assert np.abs(native - poses(made.armature, FRAMES, names))[..., :3, :3].max() < 2e-5


def test_a_live_chain_is_live_again_after_removing():
    armature, chain = robot_arm()
    chain.live = True
    make_native(armature, chain)
    assert not chain.live and errors(armature) < EXACT
    remove_native(armature, chain)
    assert chain.live


def test_chains_that_stretch_reach_further_from_a_post():
    armature, chain = robot_arm({1: (1.9, 0.2, 1.0), 24: (-0.5, 1.8, 0.9)})
    armature.data.bones["lower"].inherit_scale, chain.stretch = 'ALIGNED', 1.5
    make_native(armature, chain)
    assert errors(armature) < EXACT


def test_a_bone_of_the_armature_is_followed():
    armature, chain = robot_arm()
    bpy.ops.object.mode_set(mode='EDIT')
    control = armature.data.edit_bones.new("control")
    control.head, control.tail = (0.3, 0.8, 0.8), (0.3, 0.8, 1.0)
    bpy.ops.object.mode_set(mode='OBJECT')
    chain.target, chain.subtarget = armature, "control"
    make_native(armature, chain)
    for place in ((0.0, 0.0, 0.0), (-0.4, 0.2, 0.1)):
        armature.pose.bones["control"].location = place
        assert errors_on([1], armature, chain).max() < EXACT


def test_undo_and_redo_take_one_step_each():
    active_arm()
    bpy.ops.ed.undo_push(message="before")
    objects = bpy.data.objects.keys()
    assert bpy.ops.ik2d.make_native('EXEC_DEFAULT', True) == {'FINISHED'}
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Rig"]
    assert not is_native(armature.ik2d.chains[0]) and bpy.data.objects.keys() == objects
    assert not any(len(bone.constraints) for bone in armature.pose.bones)
    bpy.ops.ed.redo()
    assert errors(bpy.data.objects["Rig"]) < EXACT


def test_an_override_of_a_library_keeps_its_drivers(tmp_path):
    robot_arm()
    library, shot = str(tmp_path / "library.blend"), str(tmp_path / "shot.blend")
    objects = {bpy.data.objects["Rig"], bpy.data.objects["Target"]}
    bpy.data.libraries.write(library, {*objects, bpy.context.scene})
    override = override_from(library, "Rig", "Target")
    make_native(override, override.ik2d.chains[0])
    for _ in range(2):
        bpy.ops.wm.save_as_mainfile(filepath=shot)
        bpy.ops.wm.open_mainfile(filepath=shot)
        override = next(ob for ob in bpy.data.objects if ob.override_library)
        assert errors(override) < EXACT
    remove_native(override, override.ik2d.chains[0])
    assert not any(len(bone.constraints) for bone in override.pose.bones)


WITHOUT = """
import bpy, json
armature = bpy.data.objects["Rig"]
found = []
for frame in (1, 7, 12, 24):
    bpy.context.scene.frame_set(frame)
    shown = armature.evaluated_get(bpy.context.evaluated_depsgraph_get())
    tip = shown.matrix_world @ shown.pose.bones["lower"].tail
    found.append((tip - bpy.data.objects["Target"].matrix_world.translation).length)
assert not hasattr(bpy.types.Object, "ik2d") and not bpy.app.autoexec_fail
print("FOUND", json.dumps(found))
"""


@pytest.mark.slow
def test_the_file_plays_without_the_add_on_and_without_scripts(tmp_path):
    armature, chain = robot_arm()
    chain.use_post_limit, chain.post_limit_min, chain.post_limit_max = True, -3.2, 3.2
    make_native(armature, chain)
    path = str(tmp_path / "native.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    opened = f"import bpy; bpy.ops.wm.open_mainfile(filepath={path!r}, use_scripts=False)\n"
    run = subprocess.run(python_in_blender(opened + WITHOUT), capture_output=True, text=True, timeout=120)
    line = next(line for line in run.stdout.splitlines() if line.startswith("FOUND"))
    assert max(json.loads(line.removeprefix("FOUND"))) < EXACT, run.stderr
