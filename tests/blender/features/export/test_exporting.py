# SPDX-License-Identifier: GPL-3.0-or-later
"""All clips of a rig go out by Blender's exporters, without controls, and come back in place."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import bpy
import numpy as np
import pytest
from gltf_player import Gltf
from rigs import add_target, override_from
from rigs_of_three_actions import BONES, LENGTHS, add_runner, joints, play, saved, worst

from ik2d_addon.bake import BakeOptions, bake
from ik2d_addon.core import IK2DError
from ik2d_addon.features.export.comparing import ReadBack
from ik2d_addon.features.export.exporting import export_open_file
from ik2d_addon.rig.animation.kept.record import is_kept_action

RATE = 24.0
THREE = Path(os.environ.get("THREE", Path(__file__).parents[4] / "node_modules" / "three"))
needs_usd = pytest.mark.skipif(not bpy.app.build_options.usd, reason="this Blender was built without USD")
needs_three = pytest.mark.skipif(
    not (shutil.which("node") and THREE.is_dir()), reason="needs node and three (docs/testing.md)"
)
ENDINGS = [".glb", ".gltf", ".fbx", pytest.param(".usdc", marks=needs_usd)]


def exported(path: Path, ending: str, *names: str, **options):
    """Open a file and export armatures of it; return the report, and the path of what was written."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    folder = path.parent / "out"
    folder.mkdir()
    armatures = [bpy.data.objects[name] for name in names or ("Runner",)]
    return export_open_file(armatures, str(folder), f"rig{ending}", **options), folder / f"rig{ending}"


def imported(path: Path) -> bpy.types.Object:
    """Import a file by Blender's own importer; return the armature."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    if path.suffix == ".fbx":
        bpy.ops.import_scene.fbx(filepath=str(path), anim_offset=0.0)
    elif path.suffix == ".usdc":
        bpy.ops.wm.usd_import(filepath=str(path))
    else:
        bpy.ops.import_scene.gltf(filepath=str(path))
    return next(ob for ob in bpy.data.objects if ob.type == 'ARMATURE')


def stacks(path: Path) -> list[str]:
    """Return the names of the clips of an FBX file."""
    return sorted(name.decode() for name in re.findall(rb"([ -~]+)\x00\x01AnimStack", path.read_bytes()))


@pytest.mark.slow
@pytest.mark.parametrize("ending", ENDINGS)
def test_joints_of_three_actions_come_back(ending, tmp_path):
    wanted = saved(tmp_path / "rig.blend", add_runner())
    report, path = exported(tmp_path / "rig.blend", ending)
    assert {(clip.clip, clip.frames) for clip in report.clips} == set(LENGTHS.items())
    assert max(clip.part_of_size for clip in report.clips) < 1e-6
    assert not report.warnings and not report.misses
    for clip, length in LENGTHS.items():
        came = imported(path.with_name(f"rig_{clip}.usdc") if ending == ".usdc" else path)
        if ending != ".usdc":
            start = f"{came.name}|" if ending == ".fbx" else ""
            (action,) = (each for each in bpy.data.actions if each.name.startswith(start + clip))
            play(came, action)
        found = joints(came, 0, length)
        assert worst(found[::2], wanted[clip][::2]) < 1e-6
        assert worst(found, wanted[clip]) < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("ending, least, most", [(".glb", 0.0, 4e-6), (".fbx", 1e-5, 2e-4)])
def test_fbx_is_less_exact_where_the_middle_angle_of_a_bone_is_near_a_right_angle(
    ending, least, most, tmp_path
):
    """The middle coxae of sample 07: docs/engines.md tells how far their feet are off."""
    sample = Path(__file__).parents[4] / "sample_scenes" / "07_native.blend"
    shutil.copy(sample, tmp_path / "rig.blend")
    report, _ = exported(tmp_path / "rig.blend", ending, "Beetle")
    assert least <= max(clip.part_of_size for clip in report.clips) < most


def test_engines_play_the_keys_as_blender_does_between_frames_too(tmp_path):
    """The thigh's rest is half a turn from its parent's: the real part of its quaternion is near 0."""
    wanted = saved(tmp_path / "rig.blend", add_runner(has_body=True))
    _, path = exported(tmp_path / "rig.blend", ".glb")
    file = Gltf(path)
    assert set(file.clips) == set(LENGTHS)
    for clip, length in LENGTHS.items():
        times = np.arange(2 * length - 1) / 2 / RATE
        assert worst(file.heads(clip, times, BONES), wanted[clip]) < 5e-6  # 1.8 by the exporter alone
        for channel in file.clips[clip]["channels"]:
            sampler = file.clips[clip]["samplers"][channel["sampler"]]
            assert file.numbers(sampler["input"])[0] == 0.0  # a loop does not wait for its first frame
            if channel["target"]["path"] == "rotation" and sampler["interpolation"] == "CUBICSPLINE":
                values = file.numbers(sampler["output"])[1::3]
                assert ((values[1:] * values[:-1]).sum(axis=1) > 0.0).all()


@needs_three
@pytest.mark.slow
def test_three_js_plays_the_clips_as_blender_does(tmp_path):
    wanted = saved(tmp_path / "rig.blend", add_runner())
    _, path = exported(tmp_path / "rig.blend", ".glb")
    script = Path(__file__).with_name("three_joints.mjs")
    command = ["node", str(script), str(path), str(RATE), str(THREE)]
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout)
    for clip, joints_wanted in wanted.items():
        found = np.array([told["clips"][clip]["heads"][bone] for bone in BONES]).transpose(1, 0, 2)
        assert worst(found[::2], joints_wanted[::2]) < 1e-6
        assert worst(found, joints_wanted) < 5e-6
        assert told["clips"][clip]["start"] == 0.0


@pytest.mark.parametrize("ending", [".glb", ".fbx"])
def test_kept_actions_and_those_of_targets_are_no_clips(ending, tmp_path):
    armature = add_runner()
    thigh = armature.pose.bones["thigh"]
    thigh.rotation_mode = 'QUATERNION'
    thigh.keyframe_insert("rotation_quaternion", frame=3)
    bake(armature, frame_start=1, frame_end=10)
    assert any(map(is_kept_action, bpy.data.actions))
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    _, path = exported(tmp_path / "rig.blend", ending)
    names = stacks(path) if ending == ".fbx" else sorted(Gltf(path).clips)
    assert names == sorted(LENGTHS)


@pytest.mark.parametrize("ending", [".glb", ".fbx", pytest.param(".usdc", marks=needs_usd)])
def test_several_armatures_go_out_together(ending, tmp_path):
    armatures = add_runner("A"), add_runner("B", 2.0)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    assert len(armatures) == 2
    report, path = exported(tmp_path / "rig.blend", ending, "A", "B")
    assert {(clip.clip, clip.rig) for clip in report.clips} == {
        (clip, rig) for clip in LENGTHS for rig in "AB"
    }
    assert max(clip.part_of_size for clip in report.clips) < 1e-6
    if ending == ".glb":  # one clip for both
        assert sorted(Gltf(path).clips) == sorted(LENGTHS)
    if ending == ".fbx":  # whose exporter has one object in a clip
        assert stacks(path) == sorted(f"{rig}|{clip}" for clip in LENGTHS for rig in "AB")


def test_bones_moved_by_constraints_drivers_and_parents_keep_their_motion(tmp_path):
    armature = add_runner()
    turntable = add_target({}, "Turntable")
    turntable.driver_add("location", 0).driver.expression = "frame / 60"
    armature.parent = turntable
    foot = armature.pose.bones["foot"].constraints.new('COPY_ROTATION')
    foot.target = turntable
    turntable.rotation_euler.z = 1.0
    armature.pose.bones["thigh"].driver_add("location", 1).driver.expression = "frame / 300"
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    report, path = exported(tmp_path / "rig.blend", ".glb", "Runner")
    assert max(clip.part_of_size for clip in report.clips) < 2e-6
    file = Gltf(path)
    heads = file.heads("Walk", np.arange(30) / RATE, ("thigh", "foot"))
    assert np.abs(heads[:, 0, 0] - np.arange(1, 31) / 60).max() < 0.02  # by the turntable
    assert abs(heads[-1, 0, 2] - (1.0 - 30 / 300)) < 0.01  # and by the driver, along the thigh
    assert not any(node["name"] in ("Runner Target", "Turntable") for node in file.content["nodes"])


def test_deform_only_leaves_bones_out_that_deform_and_carry_nothing(tmp_path):
    armature = add_runner()
    armature.data.bones["foot"].use_deform = False
    armature.data.bones["thigh"].use_deform = False
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    report, path = exported(tmp_path / "rig.blend", ".glb", deform_only=True)
    names = {node["name"] for node in Gltf(path).content["nodes"]}
    assert {"thigh", "shin"} <= names and "foot" not in names
    assert max(clip.part_of_size for clip in report.clips) < 1e-6


@pytest.mark.parametrize("ending", [".glb", ".fbx"])
def test_stretched_limbs_keep_heads_and_directions(ending, tmp_path):
    """Without a skin: then FBX has no rest pose but the pose at the time of the export."""
    armature = add_runner()
    bpy.data.objects.remove(bpy.data.objects["Runner Skin"])
    chain = armature.ik2d.chains[0]
    for name in ("thigh", "shin", "foot"):
        armature.data.bones[name].inherit_scale = 'ALIGNED'
    chain.stretch = 1.3
    armature.ik2d.chains[0].target.delta_location = (0.0, 0.5, -0.1)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    report, _ = exported(tmp_path / "rig.blend", ending)
    assert max(clip.part_of_size for clip in report.clips) < 2e-6


def test_an_override_of_a_linked_rig_is_exported(tmp_path):
    add_runner()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    override_from(str(tmp_path / "library.blend"), "Runner", "Runner Target", "Runner Skin")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    report, _ = exported(tmp_path / "rig.blend", ".glb")
    assert {clip.clip for clip in report.clips} == {"Run"}  # the one that was linked


def test_frame_rates_with_a_base_come_back(tmp_path):
    add_runner()
    render = bpy.context.scene.render
    render.fps, render.fps_base = 30, 1.001
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    report, path = exported(tmp_path / "rig.blend", ".glb")
    file = Gltf(path)
    sampler = file.clips["Walk"]["samplers"][0]
    assert abs(file.numbers(sampler["input"])[-1, 0] - 29 * 1.001 / 30) < 1e-6
    assert max(clip.part_of_size for clip in report.clips) < 1e-6


HIDDEN = {
    "object": lambda armature, _, layer: setattr(armature, "hide_viewport", True),
    "collection": lambda _, collection, layer: setattr(collection, "hide_viewport", True),
    "eye": lambda _, collection, layer: setattr(layer, "hide_viewport", True),
    "excluded": lambda _, collection, layer: setattr(layer, "exclude", True),
}


@pytest.mark.parametrize("how", HIDDEN)
def test_a_rig_that_is_hidden_moves_all_the_same(how, tmp_path):
    armature = add_runner()
    wanted = saved(tmp_path / "shown.blend", armature)["Walk"]
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shown.blend"))
    armature, scene = bpy.data.objects["Runner"], bpy.context.scene
    collection = bpy.data.collections.new("Rigs")
    scene.collection.children.link(collection)
    collection.objects.link(armature)
    scene.collection.objects.unlink(armature)
    HIDDEN[how](armature, collection, bpy.context.view_layer.layer_collection.children["Rigs"])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    _, path = exported(tmp_path / "rig.blend", ".glb")
    times = np.arange(LENGTHS["Walk"]) / RATE
    assert worst(Gltf(path).heads("Walk", times, BONES), wanted[::2]) < 1e-6


@pytest.mark.parametrize("into, ticked", [('THIS', True), ('THIS', False), ('NEW', False)])
def test_keys_edited_after_a_bake_are_named_and_exported_without_the_chains(into, ticked, tmp_path):
    armature = add_runner()
    bake(armature, actions='ALL', options=BakeOptions(into=into))
    play(armature, bpy.data.actions["Walk" if into == 'THIS' else "Walk baked"])
    bpy.context.scene.frame_set(10)
    armature.pose.bones["thigh"].rotation_quaternion = (1.0, 0.5, 0.0, 0.0)
    armature.pose.bones["thigh"].keyframe_insert("rotation_quaternion")
    edited = joints(armature, 1, LENGTHS["Walk"])
    armature.ik2d.chains[0].enabled = ticked
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    report, path = exported(tmp_path / "rig.blend", ".glb")
    found = Gltf(path).heads("Walk", np.arange(LENGTHS["Walk"]) / RATE, BONES)
    warned = ["Walk: the chains' motion replaces " in sentence for sentence in report.warnings]
    assert warned == ([True] if ticked else []) and {clip.clip for clip in report.clips} == set(LENGTHS)
    assert (worst(found, edited[::2]) < 1e-6) != ticked


def test_a_skin_that_is_hidden_is_named(tmp_path):
    add_runner()
    bpy.data.objects["Runner Skin"].hide_set(True)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    report, path = exported(tmp_path / "rig.blend", ".glb")
    assert report.warnings == ("Left out, since hidden: 'Runner Skin'",)
    assert [ob.name for ob in imported(path).children] == []


@pytest.mark.parametrize(
    "ending, warned",
    [(".glb", ["Unit Scale is 0.01"]), (".fbx", []), pytest.param(".usdc", [], marks=needs_usd)],
)
def test_other_units_come_back_and_gltf_says_that_it_counts_in_meters(ending, warned, tmp_path):
    add_runner()
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    report, _ = exported(tmp_path / "rig.blend", ending)
    assert max(clip.part_of_size for clip in report.clips) < 1e-6
    assert [part in sentence for part, sentence in zip(warned, report.warnings, strict=True)] == [True] * len(
        warned
    )


def test_a_clip_that_comes_back_as_another_motion_is_named(tmp_path, monkeypatch):
    add_runner()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "rig.blend"))
    monkeypatch.setattr(ReadBack, "off", lambda *_: 0.25)
    report, _ = exported(tmp_path / "rig.blend", ".glb")
    assert (
        "Runner: Idle: joints came back off by 25 cm: look at the clip before you use it" in report.warnings
    )
    assert len(report.warnings) == len(LENGTHS)


def test_a_rig_without_actions_is_refused(tmp_path):
    armature = add_runner()
    for action in list(bpy.data.actions):
        bpy.data.actions.remove(action)
    with pytest.raises(IK2DError, match="No action animates 'Runner'"):
        export_open_file([armature], str(tmp_path), "rig.glb")
    assert not any(tmp_path.iterdir())
