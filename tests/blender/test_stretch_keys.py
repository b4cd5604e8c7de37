# SPDX-License-Identifier: GPL-3.0-or-later
"""What a chain that stretches does to the scale of its bones, and how it comes back."""

import csv
import json

import bpy
import numpy as np
import pytest
from rigs import (
    add_chain,
    add_leg,
    add_target,
    animation_of,
    but_jumps,
    errors_on,
    evaluated_tip,
    every_bit_of_animation,
    override_from,
    stretching_arm,
)

from ik2d_addon.bake import BakeOptions, bake, clear, solve
from ik2d_addon.cli.program import run
from ik2d_addon.core import IK2DError
from ik2d_addon.features.baking.results import bake_is_stale, solve_is_stale
from ik2d_addon.rig.animation.versions import existing_fcurves
from ik2d_addon.rig.chain.stretch import scale_curve

REACH = 2.0
FRAMES = range(1, 41)


def scales(armature):
    """Return the keys {bone: values} of the bones' scales; nothing else of a scale may be keyed."""
    curves = [curve for curve in existing_fcurves(armature) if curve.data_path.endswith("scale")]
    assert all(curve.array_index == 1 for curve in curves)
    return {
        curve.data_path.split('"')[1]: [point.co[1] for point in curve.keyframe_points] for curve in curves
    }


@pytest.mark.slow
def test_only_the_y_scale_of_bones_that_need_it_is_keyed():
    armature, chain = stretching_arm('NONE', (0.8, 0.5, 0.7))
    bake(armature)
    found = scales(armature)
    assert list(found) == ["bone0", "bone1", "bone2"]
    assert max(found["bone0"]) > 1.2 and found["bone0"] == found["bone1"] == found["bone2"]
    chain.stretch_bones = 'LAST'
    bake(armature)
    assert list(scales(armature)) == ["bone2"]


def test_a_bone_that_is_aligned_has_the_factor_from_its_parent():
    armature, _ = stretching_arm('ALIGNED', (0.8, 0.5, 0.7))
    bake(armature)
    assert list(scales(armature)) == ["bone0"]
    bpy.context.scene.frame_set(20)
    lengths = [(bone.tail - bone.head).length for bone in armature.pose.bones]
    assert lengths[0] / 0.8 == pytest.approx(lengths[1] / 0.5) == pytest.approx(lengths[2] / 0.7)


@pytest.mark.slow
@pytest.mark.parametrize("inherit", ('NONE', 'ALIGNED'))
def test_a_scale_of_ones_own_is_multiplied_and_comes_back_to_the_bit(inherit):
    armature, chain = stretching_arm(inherit, (0.8, 0.5, 0.7))
    own = [(1.0, 1.1, 1.0), (1.0, 0.9, 1.0), (0.7, 1.3, 1.1)]
    for bone, scale in zip(armature.pose.bones, own, strict=True):
        bone.scale = scale
    before = [tuple(bone.scale) for bone in armature.pose.bones]
    for _ in range(2):
        bake(armature)
        assert errors_on(FRAMES, armature, chain).max() <= 1e-5 * REACH
        assert min(scales(armature)["bone0"]) == pytest.approx(1.1)
    bpy.context.scene.frame_set(20)
    assert [tuple(bone.scale) for bone in armature.pose.bones] != before
    assert clear(armature) > 0
    assert [tuple(bone.scale) for bone in armature.pose.bones] == before
    assert not animation_of(armature)


def test_turned_off_again_a_bake_leaves_no_scale():
    armature, chain = stretching_arm()
    armature.pose.bones["bone1"].scale[1] = 0.9
    bake(armature)
    chain.stretch = 1.0
    report = bake(armature)
    assert scales(armature) == {} and report.chains[0].joints.stretch is None
    assert [bone.scale[1] for bone in armature.pose.bones] == [1.0, np.float32(0.9)]
    bpy.context.scene.frame_set(20)
    assert [bone.scale[1] for bone in armature.pose.bones] == [1.0, np.float32(0.9)]


@pytest.mark.slow
def test_turned_off_for_a_part_the_rest_of_the_stretch_stays():
    armature, chain = stretching_arm()
    bake(armature)
    chain.stretch = 1.0
    bake(armature, frame_start=1, frame_end=10)
    assert errors_on(FRAMES, armature, chain)[19] <= 1e-5 * REACH
    bpy.context.scene.frame_set(5)
    assert [bone.scale[1] for bone in armature.pose.bones] == pytest.approx([1.0, 1.0], abs=1e-6)
    bake(armature)
    assert scales(armature) == {}


def test_solve_poses_the_stretch_once_and_takes_it_back():
    armature, chain = stretching_arm()
    armature.pose.bones["bone0"].scale[1] = 1.25
    bpy.context.scene.frame_set(20)
    for _ in range(2):
        assert solve(armature).all_reached
        bpy.context.view_layer.update()
        assert (evaluated_tip(armature, "bone1") - chain.target.location).length <= 1e-5 * REACH
    assert armature.pose.bones["bone0"].scale[1] > 1.5
    chain.stretch = 1.0
    solve(armature)
    assert [bone.scale[1] for bone in armature.pose.bones] == [1.25, 1.0]


def test_a_scale_set_by_hand_after_a_solve_is_the_bones_own():
    armature, chain = stretching_arm()
    bpy.context.scene.frame_set(20)
    solve(armature)
    armature.pose.bones["bone0"].scale[1] = 0.75
    chain.stretch = 1.0
    solve(armature)
    assert armature.pose.bones["bone0"].scale[1] == 0.75


def test_influence_blends_the_length_too():
    armature, chain = stretching_arm()
    armature.pose.bones["bone0"].scale[1] = 1.5
    full = bake(armature).chains[0].joints.stretch
    chain.influence = 0.5
    report = bake(armature)
    assert report.chains[0].joints.stretch == pytest.approx(1.0 + 0.5 * (full - 1.0))
    assert report.chains[0].distance == pytest.approx(errors_on(FRAMES, armature, chain), abs=1e-5)
    assert max(scales(armature)["bone0"]) == pytest.approx(
        1.5 * report.chains[0].joints.stretch.max(), abs=1e-5
    )


@pytest.mark.parametrize(
    "inherit, stretch_bones, softness, bound",
    (
        ('NONE', 'ALL', 0.1, 0.1),
        ('NONE', 'ALL', 0.0, 0.001),
        ('NONE', 'LAST', 0.1, 0.001),
        ('ALIGNED', 'ALL', 0.1, 0.02),
    ),
)
def test_reduced_keys_keep_the_bound(inherit, stretch_bones, softness, bound):
    settings = {"stretch_bones": stretch_bones, "softness": softness, "stretch": 5.0}
    armature, chain = stretching_arm(inherit, **settings)
    (told,) = bake(armature, options=BakeOptions(reduce=bound, verify='ALL')).chains
    assert errors_on(FRAMES, armature, chain).max() <= bound + 1e-5 * REACH
    halves = told.played.between_times % 1 == 0.5
    assert told.played.between[halves].max() <= bound + 1e-5 * REACH
    # Where joints turn far in a frame its quarters may be further off, and are told as Blender plays them.
    true = []
    for time in told.played.between_times:
        bpy.context.scene.frame_set(int(time), subframe=float(time % 1))
        true.append((evaluated_tip(armature, chain.tip) - chain.target.matrix_world.translation).length)
    assert told.played.between == pytest.approx(true, abs=1e-4 * REACH)
    assert all(len(values) <= 40 for values in scales(armature).values())


def test_reduced_scales_get_few_keys_where_these_do():
    armature, chain = stretching_arm(softness=0.2)
    bake(armature, options=BakeOptions(reduce=0.1))
    assert 2 <= len(scales(armature)["bone0"]) < 20


@pytest.mark.slow
@pytest.mark.parametrize("inherit", ('NONE', 'ALIGNED'))
def test_a_second_bake_gives_the_same_keys(inherit):
    armature, _ = stretching_arm(inherit, (0.8, 0.5, 0.7), softness=0.1)
    bake(armature)
    first = animation_of(armature)
    bpy.context.scene.frame_set(20)
    bake(armature)
    second = animation_of(armature)
    assert second.keys() == first.keys()
    for place, points in first.items():  # frame, values, handles; then their types
        assert [point[6:] for point in second[place]] == [point[6:] for point in points]
        assert np.allclose([point[:6] for point in second[place]], [point[:6] for point in points], atol=1e-5)


def test_every_second_frame_and_the_targets_own_keys():
    armature, chain = stretching_arm(softness=0.1)
    bake(armature, step=3)
    assert len(scales(armature)["bone0"]) == 14
    bake(armature, options=BakeOptions(on_target_keys=True))
    assert len(scales(armature)["bone0"]) == 3
    assert errors_on(FRAMES, armature, chain)[[0, 19, 39]].max() <= 1e-5 * REACH


@pytest.mark.slow
def test_a_bake_that_fails_leaves_scale_and_keys_as_they_were(monkeypatch):
    armature, chain = stretching_arm()
    armature.pose.bones["bone0"].scale[1] = 1.5
    bake(armature)

    def fail(*_arguments, **_settings):
        raise IK2DError("no")

    state = every_bit_of_animation(armature), [tuple(bone.scale) for bone in armature.pose.bones]
    for name in ("pipeline", "now"):
        monkeypatch.setattr(f"ik2d_addon.bake.{name}.report_of", fail)
    for stretch in (3.0, 1.0):
        chain.stretch = stretch
        with pytest.raises(IK2DError):
            bake(armature)
        with pytest.raises(IK2DError):
            solve(armature)
        assert (
            every_bit_of_animation(armature),
            [tuple(bone.scale) for bone in armature.pose.bones],
        ) == state
    monkeypatch.undo()
    clear(armature)
    assert [bone.scale[1] for bone in armature.pose.bones] == [1.5, 1.0]


def test_bones_beside_the_chain_that_are_scaled_with_it_are_told():
    armature, chain = stretching_arm()
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode='EDIT')
    for name in ("hand", "glove"):
        bone = armature.data.edit_bones.new(name)
        bone.head, bone.tail = armature.data.edit_bones["bone1"].tail, (0, 2, 2)
        bone.parent = armature.data.edit_bones["bone1"]
    bpy.ops.object.mode_set(mode='OBJECT')
    (note,) = [warning for warning in bake(armature).warnings if "hangs on it" in warning]
    assert "'hand', and 1 more," in note
    for name in ("hand", "glove"):
        armature.data.bones[name].inherit_scale = 'NONE'
    assert not but_jumps(bake(armature).warnings)


@pytest.mark.slow
def test_the_command_line_bakes_it_and_reports_the_factor_by_frame(tmp_path):
    armature, chain = stretching_arm()
    add_chain(add_leg("Rigid"), "shin", add_target({1: (0, 0.2, 0.3)}, "Foot"))
    path, report, table = (str(tmp_path / name) for name in ("arm.blend", "arm.json", "arm.csv"))
    bpy.ops.wm.save_as_mainfile(filepath=path)
    for out in (report, table):
        assert run(["bake", path, "--report", out], opens_scene=True) == 0
    with open(report, encoding="utf-8") as file:
        chains = {found["armature"]: found["chains"][0] for found in json.load(file)["armatures"]}
    assert "stretch" not in chains["Rigid"] and len(chains["Arm"]["stretch"]) == 40
    assert max(chains["Arm"]["stretch"]) == pytest.approx(np.hypot(2.5, 2.0) / REACH, abs=1e-5)
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    found = [float(row["stretch"]) for row in rows if row["armature"] == "Arm"]
    assert found == chains["Arm"]["stretch"]
    assert {row["stretch"] for row in rows if row["armature"] == "Rigid"} == {""}
    armature = bpy.data.objects["Arm"]
    assert errors_on(FRAMES, armature, armature.ik2d.chains[0]).max() <= 1e-5 * REACH


def test_check_names_the_bone_that_would_shear(tmp_path, capsys):
    stretching_arm('FULL')
    path = str(tmp_path / "arm.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    assert run(["check", path], opens_scene=True) == 2
    assert "'bone1' would shear" in "".join(capsys.readouterr())


def test_undo_takes_scale_and_keys_away_and_redo_brings_them_back():
    armature, _ = stretching_arm()
    armature.pose.bones["bone0"].scale[1] = 1.5
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.ik2d.bake('EXEC_DEFAULT', True) == {'FINISHED'}
    bpy.ops.ed.undo()
    armature = bpy.data.objects["Arm"]
    assert not animation_of(armature) and armature.pose.bones["bone0"].scale[1] == 1.5
    assert not any(joint.is_scaled for joint in armature.ik2d.chains[0].joints)
    bpy.ops.ed.redo()
    armature = bpy.data.objects["Arm"]
    assert list(scales(armature)) == ["bone0", "bone1"]
    clear(armature)
    assert armature.pose.bones["bone0"].scale[1] == 1.5


@pytest.mark.slow
def test_an_override_stretches_and_keeps_what_was_there_when_saved(tmp_path):
    armature, _ = stretching_arm()
    armature.pose.bones["bone0"].scale[1] = 1.5
    library, shot = str(tmp_path / "rig.blend"), str(tmp_path / "shot.blend")
    bpy.ops.wm.save_as_mainfile(filepath=library)
    armature = override_from(library, "Arm", "Target")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 40
    assert bake(armature).all_reached
    bpy.ops.wm.save_as_mainfile(filepath=shot)
    bpy.ops.wm.open_mainfile(filepath=shot)
    armature = next(ob for ob in bpy.data.objects if ob.override_library and ob.type == 'ARMATURE')
    assert errors_on(FRAMES, armature, armature.ik2d.chains[0]).max() <= 1e-5 * REACH
    clear(armature)
    assert armature.pose.bones["bone0"].scale[1] == 1.5


@pytest.mark.slow
def test_a_limit_scale_on_a_bone_that_stretches_is_named():
    armature, chain = stretching_arm()
    limit = armature.pose.bones["bone0"].constraints.new('LIMIT_SCALE')
    limit.use_max_y, limit.max_y, limit.owner_space = True, 1.1, 'LOCAL'
    report = bake(armature)
    assert any(
        "'bone0' is moved by its own constraint 'Limit Scale'" in warning for warning in report.warnings
    )
    chain.stretch = 1.0
    assert not any("is moved by" in warning for warning in bake(armature).warnings)


def test_a_scale_key_or_scale_that_is_changed_by_hand_makes_the_result_stale():
    armature, _ = stretching_arm()
    bpy.context.view_layer.objects.active = armature
    bpy.context.scene.frame_set(20)
    assert bpy.ops.ik2d.bake() == {'FINISHED'}
    assert bake_is_stale(armature, bpy.context.scene) == ""
    curve = scale_curve(armature.pose.bones["bone0"])
    curve.keyframe_points[20].co[1] += 0.1
    assert bake_is_stale(armature, bpy.context.scene) == "the keys"
    bpy.ops.ik2d.clear_bake()
    bpy.ops.ik2d.solve()
    assert solve_is_stale(armature, bpy.context.scene) == ""
    armature.pose.bones["bone1"].scale[1] += 0.1
    assert solve_is_stale(armature, bpy.context.scene) == "the pose"
